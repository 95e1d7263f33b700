//! The methods, the impact law and the kernels they are made of.

#[path = "../cluster_support/mod.rs"]
mod cluster_support;
#[path = "../events_random/mod.rs"]
mod events_random;
#[path = "../geometry_support/mod.rs"]
mod geometry_support;
#[path = "../joint_support/mod.rs"]
mod joint_support;
#[path = "../lcp_support/mod.rs"]
mod lcp_support;
#[path = "../support/mod.rs"]
mod support;

mod compliant;
mod events;
mod events_experiments;
mod events_limits;
mod forces;
mod forces_trees;
mod impact_law;
mod impacts;
mod iterative_collisions;
mod iterative_contacts;
mod laboratory;
mod lcp;
mod one_step;
mod sequential;
mod simultaneous;
mod simultaneous_clusters;
