//! Bodies that are triangle meshes: they land, lie, nest and screw like the solids they are.

use crate::solids;
use crate::support;

use solids::{Parts, bolt, bowl, brick, cup, mesh, nut, torus};
use std::sync::Arc;
use support::{G, add, floor, rough, state, world};
use tippe::geometry::closest_points;
use tippe::math::rotation;
use tippe::{BodyDesc, BodyId, MassSpec, Pose, Shape, Vec3, World};

fn shape(parts: &Parts) -> Shape {
    Shape::Mesh(Arc::new(mesh(parts)))
}

fn body(parts: &Parts, at: Vec3, turn: Vec3) -> BodyDesc {
    BodyDesc {
        pose: Pose::new(at, rotation::exp(turn)),
        mass: MassSpec::Density(1000.0),
        ..BodyDesc::dynamic(shape(parts), at)
    }
}

/// Kinetic energy of one body [J], its spin by its largest moment.
fn kinetic(world: &World, id: BodyId) -> f64 {
    let (b, s) = (world.body(id).expect("a living body"), state(world, id));
    0.5 * b.mass * s.velocity.length_squared()
        + 0.5 * b.moments.max_element() * s.angular_velocity.length_squared()
}

/// Deepest overlap of two bodies of one shape each [m].
fn depth(world: &World, a: BodyId, b: BodyId) -> f64 {
    let place = |id: BodyId| {
        let body = world.body(id).expect("a living body");
        (body.shapes[0].shape.clone(), state(world, id).frame(body))
    };
    let ((x, p), (y, q)) = (place(a), place(b));
    -closest_points(&x, &p, &y, &q).expect("a distance").distance
}

/// Runs, and returns the largest kinetic energy on the way and the last.
fn settle(world: &mut World, ids: &[BodyId], dt: f64, steps: usize) -> (f64, f64) {
    let mut peak = 0.0_f64;
    let mut last = 0.0;
    for _ in 0..steps {
        world.step(dt).expect("a good step");
        last = ids.iter().map(|i| kinetic(world, *i)).sum();
        peak = peak.max(last);
    }
    (peak, last)
}

#[test]
fn solids_of_triangles_come_to_rest_on_a_plane() {
    let mut w = world(G, rough(0.5, 0.5));
    add(&mut w, &floor());
    let all = [
        torus(0.07, 0.03, 24, 12),
        cup(0.06, 0.1, 0.01, 24),
        brick(Vec3::new(0.08, 0.05, 0.03), 4),
        nut(0.07, 0.04, 0.006, 0.001, 0.02, 0.04, 24, 6),
    ];
    let mut ids = Vec::new();
    for (k, parts) in all.iter().enumerate() {
        let at = Vec3::new(0.4 * k as f64, 0.0, 0.15);
        ids.push(add(&mut w, &body(parts, at, Vec3::new(0.3, 0.5, 0.1))));
    }
    let (peak, last) = settle(&mut w, &ids, 1.0 / 60.0, 300);
    println!("peak {peak:e} J, end {last:e} J");
    assert!(last < 1e-6 * peak, "{last:e} of {peak:e}");
    for id in ids {
        let b = w.body(id).unwrap();
        let pose = state(&w, id).frame(b);
        let ground = Shape::HalfSpace { normal: Vec3::Z };
        let s = closest_points(&ground, &Pose::IDENTITY, &b.shapes[0].shape, &pose).unwrap();
        assert!(s.distance.abs() < 1e-5, "{s:?}");
    }
}

#[test]
fn bricks_of_triangles_stack_like_boxes() {
    let mut w = world(G, rough(0.5, 0.5));
    add(&mut w, &floor());
    let parts = brick(Vec3::new(0.1, 0.1, 0.05), 2);
    let ids: Vec<BodyId> = (0..5)
        .map(|k| {
            let at = Vec3::new(0.003 * f64::from(k % 2), 0.0, 0.05 + 0.101 * f64::from(k));
            add(&mut w, &body(&parts, at, Vec3::Z * 0.1 * f64::from(k)))
        })
        .collect();
    let (peak, last) = settle(&mut w, &ids, 1.0 / 60.0, 240);
    println!("peak {peak:e} J, end {last:e} J");
    assert!(last < 1e-6 * peak, "{last:e} of {peak:e}");
    for (k, id) in ids.iter().enumerate() {
        let z = state(&w, *id).position.z;
        assert!((z - 0.05 - 0.1 * k as f64).abs() < 1e-5, "{k}: {z}");
    }
}

#[test]
fn meshes_settle_in_a_bowl() {
    let mut w = world(G, rough(0.5, 0.5));
    let dish = BodyDesc::fixed(shape(&bowl(0.3, 1.2, 0.02, 48, 14)), Vec3::ZERO);
    let dish = add(&mut w, &dish);
    let all = [
        torus(0.07, 0.03, 24, 12),
        cup(0.05, 0.08, 0.008, 20),
        torus(0.05, 0.02, 20, 10),
    ];
    let mut ids = Vec::new();
    for (k, parts) in all.iter().enumerate() {
        let k = k as f64;
        let at = Vec3::new(0.03 * (k - 1.0), 0.02 * k, 0.15 + 0.16 * k);
        ids.push(add(&mut w, &body(parts, at, Vec3::new(0.4 + k, 0.2, 0.1))));
    }
    let (peak, last) = settle(&mut w, &ids, 1.0 / 120.0, 600);
    let mut worst = 0.0_f64;
    for (k, a) in ids.iter().enumerate() {
        worst = worst.max(depth(&w, dish, *a));
        for b in &ids[k + 1..] {
            worst = worst.max(depth(&w, *a, *b));
        }
    }
    println!("peak {peak:e} J, end {last:e} J, deepest {worst:e} m");
    assert!(last < 1e-6 * peak, "{last:e} of {peak:e}");
    assert!(worst < 1e-3, "{worst}");
}

#[test]
fn a_nut_on_a_rough_bolt_holds() {
    // Friction above the tangent of the lead angle, p/2πr = 0.27 at the middle of the flank.
    let p = 0.08;
    let mut w = world(G, rough(0.6, 0.6));
    let screw = bolt(0.05, 0.015, p, 0.2, 24, 24);
    add(&mut w, &BodyDesc::fixed(shape(&screw), Vec3::ZERO));
    let ring = nut(0.08, 0.05, 0.015, 0.001, p, p, 24, 24);
    let id = add(&mut w, &body(&ring, Vec3::Z * p, Vec3::ZERO));
    let (peak, last) = settle(&mut w, &[id], 1.0 / 120.0, 120);
    let s = state(&w, id);
    let sunk = 1.5 * p - s.position.z;
    println!("peak {peak:e} J, end {last:e} J, sunk {sunk} m");
    assert!(last < 1e-6 * peak, "{last:e} of {peak:e}");
    // It falls by its play along the flank and stays, or is lifted by what its facets overlap at the start, and holds at once.
    assert!(sunk > -1e-4 && sunk < 0.003, "{sunk}");
}
