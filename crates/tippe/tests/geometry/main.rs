//! Shapes, pairs of shapes, distances, casts and queries.

#[path = "../geometry_support/mod.rs"]
mod geometry_support;
#[path = "../geometry_support/oracle.rs"]
mod oracle;
#[path = "../geometry_support/places.rs"]
mod places;
#[path = "../geometry_support/solids.rs"]
mod solids;
#[path = "../support/mod.rs"]
mod support;

mod broad;
mod capsules;
mod cuboids;
mod distance;
mod hulls;
mod manifolds;
mod mass;
mod meshes;
mod moving_meshes;
mod pairs;
mod queries;
mod shapes_mesh;
mod starts;
mod time_of_impact;
