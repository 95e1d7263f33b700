//! Large islands of articulated bodies: many contacts between trees, solved sparsely.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use tippe::articulated::{Joint, LinkDesc};
use tippe::{
    ArticulationDesc, BodyDesc, BodyId, LinkBodyDesc, Method, Pose, Shape, Surface, Vec3, World,
};

const G: f64 = 9.81;

fn ground(method: &str) -> World {
    let mut world = World::new(Method::from_name(method).unwrap()).unwrap();
    world.set_default_surface(Surface::new(0.5, 0.0)).unwrap();
    let floor = BodyDesc::fixed(Shape::HalfSpace { normal: Vec3::Z }, Vec3::ZERO);
    world.add_body(&floor).unwrap();
    world
}

/// A floating tree of `count` plates in a row, hinged to each other, its first one at `place`.
fn plates(world: &mut World, count: usize, place: Vec3) -> Vec<BodyId> {
    let plate = Shape::Cuboid {
        half: Vec3::new(0.1, 0.1, 0.05),
    };
    let mass = plate.mass_properties(1000.0);
    let links = (0..count).map(|i| {
        let (place, joint) = if i == 0 {
            (place, Joint::Free)
        } else {
            (Vec3::X * 0.21, Joint::Revolute { axis: Vec3::Y })
        };
        let pose = Pose::from_position(place);
        let mut link = LinkBodyDesc::new(LinkDesc::new(i.checked_sub(1), joint, pose, mass));
        link.shapes.push(plate.clone().into());
        link
    });
    let desc = ArticulationDesc {
        links: links.collect(),
        ..ArticulationDesc::default()
    };
    let id = world.add_articulation(&desc).unwrap();
    world.link_bodies(id).unwrap()
}

/// Stacks trees on each other and lets them rest: nothing sinks or turns, and the floor bears the weight.
fn stands(method: &str, trees: usize, plates_each: usize, seconds: f64) {
    let mut world = ground(method);
    let mut bodies = Vec::new();
    for k in 0..trees {
        let place = Vec3::Z * (0.05 + 0.1 * k as f64);
        bodies.extend(plates(&mut world, plates_each, place));
    }
    let start: Vec<_> = bodies.iter().map(|b| world.pose(*b).unwrap()).collect();
    let mut caps = 0;
    for _ in 0..(60.0 * seconds) as u32 {
        caps += world.step(1.0 / 60.0).unwrap().work.caps_open();
    }
    assert!(world.contacts().len() > 24, "too few for the sparse solve");
    assert_eq!(caps, 0, "{method}: a solve ended at its limit");
    let mut weight = 0.0;
    for (body, start) in bodies.iter().zip(&start) {
        let end = world.pose(*body).unwrap();
        let shift = end.position.distance(start.position);
        assert!(shift < 1e-6, "{method}: {shift:e} m");
        weight += G * world.body(*body).unwrap().mass;
    }
    let floor = |c: &&tippe::ContactForce| !world.body(c.body_a).unwrap().is_dynamic();
    let borne: f64 = world
        .contacts()
        .iter()
        .filter(floor)
        .map(|c| c.force().z)
        .sum();
    assert!(
        (borne / weight - 1.0).abs() < 1e-6,
        "{method}: {borne} of {weight}"
    );
}

#[test]
fn ab_19_a_tower_of_free_links_stands() {
    let seconds = if cfg!(debug_assertions) { 0.25 } else { 1.0 };
    for method in ["sequential", "iterative"] {
        stands(method, 12, 1, seconds);
    }
}

#[test]
fn ab_19_a_pile_of_hinged_plates_stands() {
    // Seven or eight freedoms each: more than one node of the sparse solve, the last not full; both ends of some rows on one tree.
    let seconds = if cfg!(debug_assertions) { 0.25 } else { 1.0 };
    for method in ["sequential", "iterative"] {
        stands(method, 6, 2, seconds);
        stands(method, 6, 3, seconds);
    }
}
