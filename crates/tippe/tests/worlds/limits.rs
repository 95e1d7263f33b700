//! Limits of input: masses by range, joints in linear time, contacts that do not grow with the square of the bodies.

use crate::support;

use cpu_time::ThreadTime;
use support::{add, solid, sphere, world};
use tippe::joint::{JointDesc, JointKind};
use tippe::{BodyDesc, MassSpec, Mat3, Pose, Surface, Vec3, World};

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
