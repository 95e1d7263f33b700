//! Limits of input: masses by range, joints in linear time, contacts that do not grow with the square of the bodies.

use crate::support;

use cpu_time::ThreadTime;
use support::{add, solid, sphere, world};
use tippe::articulated::{Joint, LinkDesc};
use tippe::joint::{JointDesc, JointKind};
use tippe::shape::mass::MassProperties;
use tippe::{ArticulationDesc, BodyDesc, LinkBodyDesc, MassSpec, Mat3, Pose, Surface, Vec3, World};

#[test]
fn masses_and_inertias_out_of_range_are_refused_by_name() {
    let mut world = World::default();
    for mass in [1e-308, 1e-31, 5e-324, 1e31, 1e308] {
        let e = world
            .add_body(&solid(sphere(0.1), mass, Vec3::ZERO))
            .unwrap_err();
        assert_eq!(e.field, "mass", "{mass:e}: {e}");
    }
    for inertia in [1e-308, 1e-61, 1e61] {
        let desc = BodyDesc {
            mass: MassSpec::Explicit {
                mass: 1.0,
                center: Vec3::ZERO,
                inertia: Mat3::from_diagonal(Vec3::splat(inertia)),
            },
            ..solid(sphere(0.1), 1.0, Vec3::ZERO)
        };
        let e = world.add_body(&desc).unwrap_err();
        assert_eq!(e.field, "inertia", "{inertia:e}: {e}");
    }
    for mass in [1e-29, 1e29] {
        assert!(
            world
                .add_body(&solid(sphere(0.1), mass, Vec3::ZERO))
                .is_ok(),
            "{mass:e}"
        );
    }
}

/// Twice as many joints take about twice as long: ten times as many would take a hundred times as long otherwise.
#[test]
fn joints_are_added_in_linear_time() {
    let chain = |count: u32| {
        let mut world = World::default();
        let at = Pose::from_position;
        let bodies: Vec<_> = (0..=count)
            .map(|i| add(&mut world, &solid(sphere(0.1), 1.0, Vec3::X * f64::from(i))))
            .collect();
        let start = ThreadTime::now();
        for pair in bodies.windows(2) {
            let joint = JointDesc::new(
                JointKind::Ball,
                Some(pair[0]),
                at(Vec3::X * 0.5),
                pair[1],
                at(Vec3::X * -0.5),
            );
            world.add_joint(&joint).unwrap();
        }
        start.elapsed().as_secs_f64()
    };
    chain(1000);
    let (small, large) = (chain(2000), chain(20_000));
    assert!(large < 60.0 * small.max(1e-3), "{small} s, then {large} s");
}

#[test]
fn bodies_in_one_place_are_bounded_and_reported() {
    let mut world = world(0.0, Surface::new(0.0, 0.0));
    let count = 600;
    for _ in 0..count {
        add(&mut world, &solid(sphere(0.1), 1.0, Vec3::ZERO));
    }
    let report = world.step(1e-3).unwrap();
    // 179,700 pairs; so many contacts and no more.
    assert!(
        report.contacts <= (1 << 16) + 64 * count,
        "{}",
        report.contacts
    );
    assert!(report.work.caps_hit > 0);
}

/// Found by the campaign `joints`: the ledger was infinite afterwards, and no snapshot of the world could be read again.
#[test]
fn impulses_whose_energy_no_number_can_say_are_refused() {
    let mut world = World::default();
    let ball = add(&mut world, &solid(sphere(0.1), 1.0, Vec3::ZERO));
    let mass = MassProperties {
        mass: 1.0,
        center: Vec3::X,
        inertia: Mat3::IDENTITY,
    };
    let hinge = Joint::Revolute { axis: Vec3::Y };
    let link = LinkDesc::new(None, hinge, Pose::IDENTITY, mass);
    let tree = world
        .add_articulation(&ArticulationDesc {
            links: vec![LinkBodyDesc::new(link)],
            ..ArticulationDesc::default()
        })
        .unwrap();
    let link = world.link_bodies(tree).unwrap()[0];
    let before = world.hash();
    for body in [ball, link] {
        for (impulse, point) in [(1e300, 1.0), (50.0, 1e160), (f64::MAX, 1.0)] {
            let pushed = world.apply_impulse(body, Vec3::Z * impulse, Vec3::X * point);
            assert_eq!(
                pushed.unwrap_err().field,
                "impulse",
                "{impulse:e} {point:e}"
            );
            assert_eq!(world.hash(), before);
        }
    }
    for body in [ball, link] {
        world.apply_impulse(body, Vec3::Z, Vec3::X).unwrap();
    }
    world.step(0.01).unwrap();
    assert!(World::restore(&world.snapshot()).is_ok());
}
