//! Mass properties: meshes against closed forms, and the energy in two frames.

use crate::geometry_support;

use geometry_support::Random;
use std::f64::consts::PI;
use std::sync::Arc;
use tippe::math::rotation::world_tensor;
use tippe::math::{Mat3, Pose, Vec3};
use tippe::shape::{ConvexHull, MassProperties, Rounded, Shape, mesh_mass_properties};

/// Largest relative difference of mass, centre (in sizes) and inertia.
fn difference(a: &MassProperties, b: &MassProperties, size: f64) -> f64 {
    let inertia = (a.inertia - b.inertia).to_cols_array();
    let scale = b
        .inertia
        .to_cols_array()
        .iter()
        .fold(0.0_f64, |s, x| s.max(x.abs()));
    let worst = inertia.iter().fold(0.0_f64, |s, x| s.max(x.abs())) / scale;
    ((a.mass - b.mass).abs() / b.mass)
        .max((a.center - b.center).length() / size)
        .max(worst)
}

fn box_mesh(half: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let vertices = (0..8)
        .map(|i| {
            let side = |bit: u32, h: f64| if i & bit != 0 { h } else { -h };
            Vec3::new(side(1, half.x), side(2, half.y), side(4, half.z))
        })
        .collect();
    let quads = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let triangles = quads
        .iter()
        .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]])
        .collect();
    (vertices, triangles)
}

fn moved(vertices: &[Vec3], pose: &Pose) -> Vec<Vec3> {
    vertices.iter().map(|v| pose.point(*v)).collect()
}

/// An icosahedron whose triangles are divided in four, `levels` times, with vertices on the unit sphere.
fn sphere_mesh(levels: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let g = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut vertices: Vec<Vec3> = [
        [-1.0, g, 0.0],
        [1.0, g, 0.0],
        [-1.0, -g, 0.0],
        [1.0, -g, 0.0],
        [0.0, -1.0, g],
        [0.0, 1.0, g],
        [0.0, -1.0, -g],
        [0.0, 1.0, -g],
        [g, 0.0, -1.0],
        [g, 0.0, 1.0],
        [-g, 0.0, -1.0],
        [-g, 0.0, 1.0],
    ]
    .iter()
    .map(|v| Vec3::from(*v).normalize())
    .collect();
    let mut triangles: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    for _ in 0..levels {
        let mut finer = Vec::new();
        let mut middles = std::collections::BTreeMap::new();
        for [a, b, c] in triangles {
            let mut middle = |i: u32, j: u32| {
                *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                    vertices.push((vertices[i as usize] + vertices[j as usize]).normalize());
                    vertices.len() as u32 - 1
                })
            };
            let (x, y, z) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, x, z], [b, y, x], [c, z, y], [x, y, z]]);
        }
        triangles = finer;
    }
    (vertices, triangles)
}

#[test]
fn sr_03_cube_and_brick_meshes_are_exact() {
    let mut random = Random(31);
    for k in 0..200 {
        let half = if k == 0 {
            Vec3::splat(0.5)
        } else {
            random.vector(1.0).abs() + 0.1
        };
        let (vertices, triangles) = box_mesh(half);
        let exact = Shape::Cuboid { half }.mass_properties(700.0);
        let mesh = mesh_mass_properties(&vertices, &triangles, 700.0).unwrap();
        assert!(difference(&mesh, &exact, half.length()) < 1e-12);
        // Anywhere, in any orientation.
        let pose = random.pose(5.0);
        let mesh = mesh_mass_properties(&moved(&vertices, &pose), &triangles, 700.0).unwrap();
        assert!(difference(&mesh, &exact.moved(&pose), half.length()) < 1e-12);
    }
}

#[test]
fn sr_03_tetrahedron_meshes_are_exact() {
    let mut random = Random(32);
    for _ in 0..200 {
        let corners = [
            random.vector(1.0),
            random.vector(1.0),
            random.vector(1.0),
            random.vector(1.0),
        ];
        let [o, a, b, c] = corners;
        let six_volume = (a - o).dot((b - o).cross(c - o));
        if six_volume.abs() < 0.05 {
            continue;
        }
        let outward = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let triangles = if six_volume > 0.0 {
            outward
        } else {
            outward.map(|[a, b, c]| [a, c, b])
        };
        let mesh = mesh_mass_properties(&corners, &triangles, 2.0).unwrap();
        // Closed form about the centre g: mass m = ρV, ∫x xᵀ = m/20 Σ (x_i − g)(x_i − g)ᵀ.
        let g = (o + a + b + c) / 4.0;
        let mass = 2.0 * six_volume.abs() / 6.0;
        let mut second = Mat3::ZERO;
        for x in corners {
            let d = x - g;
            second += Mat3::from_cols(d * d.x, d * d.y, d * d.z) * (mass / 20.0);
        }
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        let inertia = Mat3::from_diagonal(Vec3::splat(trace)) - second;
        assert!(
            difference(
                &mesh,
                &MassProperties {
                    mass,
                    center: g,
                    inertia
                },
                1.0
            ) < 1e-12
        );
    }
}

#[test]
fn sr_03_sphere_meshes_converge() {
    let exact = Shape::Sphere { radius: 1.0 }.mass_properties(1.0);
    let mut before = f64::INFINITY;
    for levels in 0..6 {
        let (vertices, triangles) = sphere_mesh(levels);
        let mesh = mesh_mass_properties(&vertices, &triangles, 1.0).unwrap();
        let error = difference(&mesh, &exact, 1.0);
        // Edges half as long: an error a quarter as large (the first steps are coarser than the rule).
        assert!(
            error < before / if levels > 1 { 3.5 } else { 1.0 },
            "{levels}: {error}"
        );
        before = error;
    }
    assert!(before < 2e-3 && (exact.mass - 4.0 / 3.0 * PI).abs() < 1e-15);
    // Scaled to the exact volume, shape and inertia agree far better.
    let (vertices, triangles) = sphere_mesh(5);
    let mesh = mesh_mass_properties(&vertices, &triangles, 1.0).unwrap();
    let scale = libm::cbrt(exact.mass / mesh.mass);
    let grown: Vec<Vec3> = vertices.iter().map(|v| *v * scale).collect();
    let mesh = mesh_mass_properties(&grown, &triangles, 1.0).unwrap();
    assert!(difference(&mesh, &exact, 1.0) < 1e-6);
}

#[test]
fn sr_03_a_cavity_is_subtracted() {
    let (mut vertices, mut triangles) = box_mesh(Vec3::ONE);
    let (inner, hole) = box_mesh(Vec3::splat(0.5));
    let first = vertices.len() as u32;
    vertices.extend(&inner);
    triangles.extend(
        hole.iter()
            .map(|[a, b, c]| [a + first, c + first, b + first]),
    );
    let mesh = mesh_mass_properties(&vertices, &triangles, 3.0).unwrap();
    assert!((mesh.mass - 3.0 * 7.0).abs() < 1e-12);
    // m/3 (h² + h²) of the outer less the inner cube.
    assert!((mesh.inertia.x_axis.x - (24.0 * 2.0 / 3.0 - 3.0 * 0.5 / 3.0)).abs() < 1e-12);
}

#[test]
fn sr_03_energy_is_the_same_in_both_frames() {
    let mut random = Random(33);
    for _ in 0..1000 {
        let parts = [random.shape(0), random.shape(1), random.shape(2)];
        let bodies = parts
            .iter()
            .map(|s| s.mass_properties(500.0).moved(&random.pose(1.0)));
        let m = MassProperties::sum(bodies).unwrap();
        let (axes, moments) = m.principal().unwrap();
        let turn = random.rotation();
        let w = random.vector(10.0);
        // World: ½ ω · (R J Rᵀ) ω; body: ½ ω' · J ω' with ω' = Rᵀ ω.
        let world = 0.5 * w.dot(world_tensor(turn * axes, moments) * w);
        let turned = m.moved(&Pose::new(Vec3::ZERO, turn)).inertia;
        let local = turn.conjugate() * w;
        let body = 0.5 * local.dot(m.inertia * local);
        assert!((world - body).abs() < 1e-12 * body, "{world} {body}");
        assert!((0.5 * w.dot(turned * w) - body).abs() < 1e-12 * body);
    }
}

/// A prism with a regular polygon of `sides` in a circle of `radius`.
fn prism(sides: u32, radius: f64, half_length: f64) -> Shape {
    let corner = |k: u32, z: f64| {
        let (s, c) = libm::sincos(2.0 * PI * f64::from(k) / f64::from(sides));
        Vec3::new(radius * c, radius * s, z)
    };
    let points: Vec<Vec3> = (0..sides)
        .flat_map(|k| [corner(k, half_length), corner(k, -half_length)])
        .collect();
    Shape::Hull(Arc::new(ConvexHull::new(&points).expect("a solid")))
}

#[test]
fn rounded_solids_against_each_other_and_their_limits() {
    let of = |core: Shape, radius: f64| {
        let rounded = Shape::Rounded(Arc::new(Rounded::new(core, radius).unwrap()));
        rounded.mass_properties(2.5)
    };
    let cylinder = |half_length: f64, radius: f64| Shape::Cylinder {
        half_length,
        radius,
    };
    // Two ways to one answer: slices of revolution, and plates, wedges and sectors on a prism of many sides.
    for (h, rim, r) in [(0.7, 0.4, 0.1), (0.05, 0.9, 0.3), (1.2, 0.02, 0.5)] {
        let (a, b) = (of(cylinder(h, rim), r), of(prism(2000, rim, h), r));
        assert!(difference(&a, &b, 1.0) < 1e-5, "{a:?} {b:?}");
    }
    // Nothing but the radius: a ball; a thin rod: a capsule; hardly any radius: the solid itself.
    let tiny = Vec3::splat(1e-7);
    let ball = Shape::Sphere { radius: 0.3 }.mass_properties(2.5);
    assert!(difference(&of(Shape::Cuboid { half: tiny }, 0.3), &ball, 1.0) < 1e-5);
    let rod = Shape::Cuboid {
        half: Vec3::new(1e-5, 1e-5, 0.6),
    };
    let capsule = Shape::Capsule {
        half_length: 0.6,
        radius: 0.3,
    };
    assert!(difference(&of(rod, 0.3), &capsule.mass_properties(2.5), 1.0) < 3e-4);
    let mut random = Random(25);
    for kind in [1, 4, 6] {
        let core = random.shape(kind);
        let sharp = core.mass_properties(2.5);
        assert!(difference(&of(core, 1e-9), &sharp, 1.0) < 1e-7);
    }
}

#[test]
fn rounded_hulls_are_the_limit_of_the_polyhedra_drawn_for_them() {
    let mut random = Random(26);
    for _ in 0..20 {
        let core = random.shape(6);
        let rounded = Rounded::new(core, random.range(0.05, 0.4)).unwrap();
        let drawn = Shape::Hull(Arc::new(rounded.polyhedron().unwrap())).mass_properties(1.0);
        let exact = Shape::Rounded(Arc::new(rounded)).mass_properties(1.0);
        // Vertices on the surface: the polyhedron is inside, by little.
        assert!(
            drawn.mass < exact.mass && drawn.mass > 0.97 * exact.mass,
            "{drawn:?} {exact:?}"
        );
        assert!(
            difference(&drawn, &exact, 1.0) < 0.05,
            "{drawn:?} {exact:?}"
        );
        // Off centre it is the same solid.
        let apart = (drawn.center - exact.center).length();
        assert!(apart < 0.01, "{apart}");
    }
}

#[test]
fn rounding_that_does_not_fit_is_refused() {
    let half = Vec3::new(0.1, 0.2, 0.3);
    for bad in [0.0, -0.1, 0.1, 0.2, f64::NAN, f64::INFINITY] {
        let error = Rounded::cuboid(half, bad).unwrap_err();
        assert_eq!(error.field, "rounding", "{bad}");
    }
    assert!(Rounded::cylinder(0.1, 0.2, 0.1).is_err());
    assert!(Rounded::new(Shape::Sphere { radius: 1.0 }, 0.1).is_err());
    assert!(Rounded::new(Shape::Cuboid { half: -half }, 0.1).is_err());
}
