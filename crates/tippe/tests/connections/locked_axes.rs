//! Locked axes of bodies: flat mechanics, bodies that never turn, and what is refused.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use crate::support;

use support::{G, add, below, cuboid, floor, near, solid, sphere, world};
use tippe::{BodyDesc, LockedAxes, MassSpec, Method, Pose, Surface, Vec3, World};

fn methods() -> impl Iterator<Item = Method> {
    [
        "sequential",
        "iterative",
        "simultaneous",
        "forces",
        "events",
    ]
    .into_iter()
    .map(|name| Method::from_name(name).unwrap())
}

#[test]
fn a_body_in_a_plane_falls_and_turns_there_alone() {
    for method in methods() {
        let mut w = World::new(method.clone()).unwrap();
        w.set_gravity(Vec3::new(0.0, -3.0, -G)).unwrap();
        let body = add(
            &mut w,
            &BodyDesc {
                velocity: Vec3::new(1.0, 2.0, 3.0),
                angular_velocity: Vec3::new(0.5, 2.0, 0.7),
                ..solid(cuboid(0.1, 0.2, 0.3), 2.0, Vec3::ZERO)
            },
        );
        w.lock_axes(body, LockedAxes::PLANE_XZ).unwrap();
        assert_eq!(w.locked_axes(body).unwrap(), LockedAxes::PLANE_XZ);
        w.step_many(0.01, 100).unwrap();
        let (name, s) = (method.name(), w.body_state(body).unwrap());
        near(name, s.position.x, 1.0, 1e-9);
        near(name, s.position.y, 0.0, 1e-9);
        near(name, s.position.z, 3.0 - 0.5 * G, 1e-6);
        near(name, s.angular_velocity.y, 2.0, 1e-9);
        below(name, (s.rotation * Vec3::Y - Vec3::Y).length(), 1e-9);
        let e = w.ledger();
        below(name, e.unexplained.abs() + e.gained + e.shock, 1e-6);
    }
}

#[test]
fn a_locked_box_does_not_tip_and_a_free_one_does() {
    // A push high on a tall box.
    for locked in [false, true] {
        let mut w = world(G, Surface::new(0.9, 0.0));
        add(&mut w, &floor());
        let tall = solid(cuboid(0.1, 0.1, 0.5), 1.0, Vec3::Z * 0.5);
        let body = add(&mut w, &tall);
        if locked {
            w.lock_axes(body, LockedAxes::UPRIGHT).unwrap();
        }
        for _ in 0..400 {
            let top = w.pose(body).unwrap().point(Vec3::Z * 0.5);
            w.apply_force(body, Vec3::X * 5.0, top).unwrap();
            w.step(0.005).unwrap();
        }
        let up = (w.pose(body).unwrap().rotation * Vec3::Z).z;
        assert_eq!(up > 0.999_999, locked, "{up}");
    }
}

#[test]
fn locks_change_move_end_and_are_kept_by_snapshots() {
    let mut w = world(G, Surface::new(0.5, 0.0));
    let body = add(&mut w, &solid(sphere(0.1), 1.0, Vec3::ZERO));
    let still = LockedAxes {
        translation: [true; 3],
        rotation: [true; 3],
    };
    w.lock_axes(body, still).unwrap();
    w.step_many(0.01, 50).unwrap();
    below("still", w.pose(body).unwrap().position.length(), 1e-12);
    // Put elsewhere, it is locked there.
    w.set_pose(body, Pose::from_position(Vec3::X)).unwrap();
    let mut again = World::restore(&w.snapshot()).unwrap();
    assert_eq!(again.hash(), w.hash());
    for w in [&mut w, &mut again] {
        w.step_many(0.01, 50).unwrap();
        let place = w.pose(body).unwrap().position;
        below("still", (place - Vec3::X).length(), 1e-12);
        assert_eq!(w.locked_axes(body).unwrap(), still);
        // Unlocked, it falls.
        w.lock_axes(body, LockedAxes::default()).unwrap();
        assert_eq!(w.joint_ids().count(), 0);
        w.step_many(0.01, 50).unwrap();
        assert!(w.pose(body).unwrap().position.z < -1.0);
    }
    assert_eq!(again.hash(), w.hash());
    let one = LockedAxes {
        rotation: [true, false, false],
        ..LockedAxes::default()
    };
    assert_eq!(w.lock_axes(body, one).unwrap_err().field, "rotation");
    let ground = add(&mut w, &floor());
    let refused = w.lock_axes(ground, LockedAxes::UPRIGHT).unwrap_err();
    assert_eq!(refused.field, "body");
    w.lock_axes(body, LockedAxes::UPRIGHT).unwrap();
    w.remove_body(body).unwrap();
    assert_eq!(w.joint_ids().count(), 0);
    assert!(World::restore(&w.snapshot()).is_ok());
}

const STILL: LockedAxes = LockedAxes {
    translation: [true; 3],
    rotation: [true; 3],
};

fn locked() -> (World, tippe::BodyId) {
    let mut w = world(G, Surface::new(0.5, 0.0));
    let body = add(&mut w, &solid(sphere(0.1), 1.0, Vec3::ZERO));
    w.lock_axes(body, STILL).unwrap();
    (w, body)
}

#[test]
fn a_locked_body_put_elsewhere_can_go_back() {
    let (mut w, body) = locked();
    w.keep("start");
    let (hash, ids) = (w.hash(), w.joint_ids().collect::<Vec<_>>());
    w.set_pose(body, Pose::from_position(Vec3::X)).unwrap();
    let mut state = *w.body_state(body).unwrap();
    state.position = Vec3::Y;
    w.set_body_state(body, state).unwrap();
    assert_eq!(w.joint_ids().collect::<Vec<_>>(), ids);
    w.step_many(0.01, 20).unwrap();
    let place = w.pose(body).unwrap().position;
    below("moved", (place - Vec3::Y).length(), 1e-12);
    w.reset().unwrap();
    assert_eq!(w.hash(), hash);
    w.step_many(0.01, 20).unwrap();
    below("back", w.pose(body).unwrap().position.length(), 1e-12);
}

#[test]
fn an_edit_locks_the_body_in_its_new_place() {
    let (mut w, body) = locked();
    w.edit_body(body, |d| d.pose.position = Vec3::X).unwrap();
    w.step_many(0.01, 20).unwrap();
    let place = w.pose(body).unwrap().position;
    below("pose", (place - Vec3::X).length(), 1e-12);
    // With its centre of mass elsewhere it is held there.
    w.edit_body(body, |d| {
        if let MassSpec::Explicit { center, .. } = &mut d.mass {
            *center = Vec3::Z * 0.05;
        }
    })
    .unwrap();
    let held = |w: &World| {
        let centre = w.body_state(body).unwrap().position;
        let anchors = w.joint_ids().map(|j| w.joint(j).unwrap().desc.frame_a);
        anchors
            .map(|a| (a.position - centre).length())
            .fold(0.0, f64::max)
    };
    below("centre", held(&w), 1e-12);
    w.step_many(0.01, 20).unwrap();
    below("centre after steps", held(&w), 1e-12);
}

#[test]
fn without_one_of_its_joints_a_lock_ends() {
    let (mut w, body) = locked();
    assert_eq!(w.joint_ids().count(), 2);
    let one = w.joint_ids().next().unwrap();
    w.remove_joint(one).unwrap();
    assert_eq!(w.joint_ids().count(), 0);
    assert_eq!(w.locked_axes(body).unwrap(), LockedAxes::default());
    w.step_many(0.01, 50).unwrap();
    assert!(w.pose(body).unwrap().position.z < -1.0);
}

#[test]
fn what_is_refused_leaves_the_lock() {
    let (mut w, body) = locked();
    w.edit_body(body, |d| {
        if let MassSpec::Explicit { center, .. } = &mut d.mass {
            *center = Vec3::X * 1e300;
        }
    })
    .unwrap();
    let hash = w.hash();
    let far = Pose::from_position(Vec3::X * f64::MAX);
    assert_eq!(w.set_pose(body, far).unwrap_err().field, "pose");
    assert_eq!(w.locked_axes(body).unwrap(), STILL);
    assert_eq!(w.joint_ids().count(), 2);
    assert_eq!(w.hash(), hash);
}
