//! Trees as input: what is refused and why, what works at any size, and that calls allocate nothing.

#![allow(clippy::unwrap_used)]

mod articulated_support;

use articulated_support::{Random, rod, rods};
use tippe::articulated::{
    Integrator, Joint, JointFriction, Limits, LinkDesc, Load, Model, Touch, TreeError, Work, aba,
    articulate, collision_matrix, crba, factor, impulse_response, jacobian, joint_response,
    kinematics, link_pose, rnea, solve, step,
};
use tippe::math::{Mat3, Pose, Quat, Vec3};
use tippe::shape::mass::MassProperties;

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

/// Two sound rods, the second changed.
fn refused(change: impl FnOnce(&mut LinkDesc)) -> (String, String) {
    let mut links = rods(2);
    change(&mut links[1]);
    let e = Model::new(&links, DOWN).unwrap_err();
    (e.field, e.reason)
}

#[test]
fn ab_11_senseless_links_are_refused_with_the_reason() {
    let zero = MassProperties::NONE;
    let says = |found: (String, String), field: &str, word: &str| {
        assert_eq!(found.0, field);
        assert!(found.1.contains(word), "{}", found.1);
    };
    says(refused(|l| l.mass = zero), "links[1].mass", "no mass");
    says(
        refused(|l| l.parent = Some(1)),
        "links[1].parent",
        "carries itself",
    );
    says(
        refused(|l| l.parent = Some(9)),
        "links[1].parent",
        "no link 9",
    );
    says(
        refused(|l| l.joint = Joint::Revolute { axis: Vec3::ZERO }),
        "links[1].joint.axis",
        "direction",
    );
    says(
        refused(|l| {
            l.joint = Joint::Universal {
                first: Vec3::X,
                second: Vec3::X * -3.0,
            }
        }),
        "links[1].joint.second",
        "parallel",
    );
    let limits = |min, max| Limits {
        min,
        max,
        restitution: 0.0,
    };
    says(
        refused(|l| l.limits = Some(limits(1.0, -1.0))),
        "links[1].limits",
        "above max",
    );
    says(
        refused(|l| l.limits = Some(limits(f64::NAN, 1.0))),
        "links[1].limits",
        "above max",
    );
    says(
        refused(|l| l.mass.inertia = Mat3::from_diagonal(Vec3::new(1.0, 2.0, 9.0))),
        "links[1].inertia",
        "no solid",
    );
    says(
        refused(|l| l.mass.inertia = Mat3::from_diagonal(Vec3::new(-1.0, 2.0, 2.0))),
        "links[1].inertia",
        "positive definite",
    );
    says(
        refused(|l| l.mass.mass = f64::INFINITY),
        "links[1].mass",
        "negative",
    );
    says(
        refused(|l| l.placement.rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
        "links[1].placement",
        "pose",
    );
    says(
        refused(|l| {
            l.friction = JointFriction {
                viscous: -1.0,
                coulomb: 0.0,
            }
        }),
        "links[1].friction",
        "negative",
    );
    // A rod that may spin about its own line, which has no moment of inertia.
    says(
        refused(|l| l.joint = Joint::Revolute { axis: Vec3::X }),
        "links[1].mass",
        "direction that moves no mass",
    );
    says(
        refused(|l| l.joint = Joint::Spherical),
        "links[1].mass",
        "direction that moves no mass",
    );
}

#[test]
fn ab_11_a_loop_of_parents_is_told_from_a_wrong_order() {
    let mut links = rods(4);
    links[1].parent = Some(3);
    links[3].parent = Some(2);
    links[2].parent = Some(1);
    let e = Model::new(&links, DOWN).unwrap_err();
    assert!(e.reason.contains("carries itself"), "{e}");
    let mut links = rods(3);
    links[1].parent = Some(2);
    links[2].parent = Some(0);
    let e = Model::new(&links, DOWN).unwrap_err();
    assert!(e.reason.contains("must come before"), "{e}");
}

#[test]
fn ab_11_a_joint_that_folds_into_a_singular_pose_is_an_error_not_a_number() {
    // Three hinges about z, y, z without mass between them: a wrist that locks when stretched.
    let hinge =
        |parent, axis, mass| LinkDesc::new(parent, Joint::Revolute { axis }, Pose::IDENTITY, mass);
    let solid = MassProperties {
        mass: 1.0,
        center: Vec3::ZERO,
        inertia: Mat3::IDENTITY,
    };
    let links = [
        hinge(None, Vec3::Z, MassProperties::NONE),
        hinge(Some(0), Vec3::Y, MassProperties::NONE),
        hinge(Some(1), Vec3::Z, solid),
    ];
    let model = Model::new(&links, DOWN).unwrap();
    let mut work = Work::new(&model);
    let mut a = [0.0; 3];
    aba(
        &model,
        &[0.0, 1.0, 0.0],
        &[0.0; 3],
        &[0.0; 3],
        &[],
        &mut work,
        &mut a,
    )
    .unwrap();
    let e = aba(
        &model,
        &[0.0; 3],
        &[0.0; 3],
        &[0.0; 3],
        &[],
        &mut work,
        &mut a,
    );
    assert_eq!(e, Err(TreeError::Singular { link: 0 }));
}

#[test]
fn ab_11_wrong_arguments_are_errors() {
    let model = Model::new(&rods(2), DOWN).unwrap();
    let mut work = Work::new(&model);
    let (q, mut out) = ([0.0; 2], [0.0; 2]);
    let e = aba(&model, &[0.0], &q, &q, &[], &mut work, &mut out);
    assert!(matches!(
        e,
        Err(TreeError::Length {
            argument: "q",
            expected: 2,
            found: 1
        })
    ));
    let e = aba(&model, &q, &[0.0, f64::NAN], &q, &[], &mut work, &mut out);
    assert_eq!(e, Err(TreeError::NonFinite { argument: "v" }));
    let bad = Load::new(7, Vec3::ZERO, Vec3::X);
    let e = aba(&model, &q, &q, &q, &[bad], &mut work, &mut out);
    assert!(matches!(
        e,
        Err(TreeError::OutOfRange {
            found: 7,
            count: 2,
            ..
        })
    ));
    let bad = Load::new(1, Vec3::NAN, Vec3::X);
    let e = aba(&model, &q, &q, &q, &[bad], &mut work, &mut out);
    assert_eq!(e, Err(TreeError::NonFinite { argument: "load" }));
    // Scratch of another model, scratch that was not filled.
    let other = Model::new(&rods(3), DOWN).unwrap();
    let e = aba(&model, &q, &q, &q, &[], &mut Work::new(&other), &mut out);
    assert_eq!(e, Err(TreeError::NotPrepared { call: "Work::new" }));
    let e = link_pose(&model, &Work::new(&model), 0);
    assert_eq!(e, Err(TreeError::NotPrepared { call: "kinematics" }));
    let e = impulse_response(&model, &[], &mut Work::new(&model), &mut out);
    assert_eq!(e, Err(TreeError::NotPrepared { call: "articulate" }));
    // A failed step changes nothing.
    let (mut q, mut v) = ([0.1, 0.2], [1e200, 1e200]);
    let e = step(
        &model,
        Integrator::HighOrder,
        1e200,
        &[0.0; 2],
        &[],
        &mut q,
        &mut v,
        &mut work,
    );
    assert!(e.is_err());
    assert_eq!((q, v), ([0.1, 0.2], [1e200, 1e200]));
    let free = LinkDesc::new(None, Joint::Free, Pose::IDENTITY, ball());
    let model = Model::new(&[free], DOWN).unwrap();
    let e = kinematics(&model, &[0.0; 7], &[0.0; 6], &mut Work::new(&model));
    assert_eq!(e, Err(TreeError::BadQuaternion { link: 0 }));
}

fn ball() -> MassProperties {
    MassProperties {
        mass: 1.0,
        center: Vec3::ZERO,
        inertia: Mat3::IDENTITY * 0.4,
    }
}

#[test]
fn ab_11_a_hundred_thousand_links_work() {
    let n = 100_000;
    // Hinges about y and z in turn. (All about y, a straight chain resists turning about z 10¹⁵ times as much as about y.)
    let mut links = rods(n);
    for l in links.iter_mut().skip(1).step_by(2) {
        l.joint = Joint::Revolute { axis: Vec3::Z };
    }
    let model = Model::new(&links, DOWN).unwrap();
    let mut work = Work::new(&model);
    let mut a = vec![0.0; n];
    // Hanging straight down it stays.
    let mut q = vec![0.0; n];
    q[0] = std::f64::consts::FRAC_PI_2;
    aba(
        &model,
        &q,
        &vec![0.0; n],
        &vec![0.0; n],
        &[],
        &mut work,
        &mut a,
    )
    .unwrap();
    assert!(a.iter().all(|x| x.abs() < 1e-6));
    articulate(&model, &q, &mut work).unwrap();
    let tip = link_pose(&model, &work, n - 1).unwrap().point(Vec3::X);
    let k = collision_matrix(&model, &Touch::one(n - 1, tip), &mut work).unwrap();
    // Nothing moves along a straight chain; across it moves, and not by much more than its last links.
    assert!(k.z_axis.length() < 1e-9 && k.x_axis.z.abs() < 1e-9);
    assert!(k.x_axis.x > 1.0 && k.x_axis.x < 10.0 && k.y_axis.y > 1.0 && k.y_axis.y < 10.0);
    // An empty tree is no error either.
    let none = Model::new(&[], DOWN).unwrap();
    aba(&none, &[], &[], &[], &[], &mut Work::new(&none), &mut []).unwrap();
}

#[test]
fn ab_11_combined_joints_equal_their_parts() {
    let mut random = Random(3);
    for _ in 0..20 {
        let (a, b) = (random.direction(), random.direction());
        let placement = Pose::new(random.vec3(), random.quat());
        let mass = random.mass();
        let joint = Joint::Universal {
            first: a,
            second: b,
        };
        let combined = Model::new(&[LinkDesc::new(None, joint, placement, mass)], DOWN).unwrap();
        let hinge = |axis| Joint::Revolute { axis };
        let parts = Model::new(
            &[
                LinkDesc::new(None, hinge(a), placement, MassProperties::NONE),
                LinkDesc::new(Some(0), hinge(b), Pose::IDENTITY, mass),
            ],
            DOWN,
        )
        .unwrap();
        let (q, v) = (
            [random.next(), random.next()],
            [random.next(), random.next()],
        );
        let accelerations = [&combined, &parts].map(|m| {
            let mut x = [0.0; 2];
            aba(m, &q, &v, &[0.0; 2], &[], &mut Work::new(m), &mut x).unwrap();
            x
        });
        for k in 0..2 {
            let d = accelerations[0][k] - accelerations[1][k];
            assert!(d.abs() < 1e-10 * accelerations[1][k].abs().max(1.0));
        }
    }
}

#[test]
fn ab_09_calls_allocate_nothing() {
    let mut random = Random(11);
    let c = random.tree(20);
    let n = c.model.freedom_count();
    let mut work = Work::new(&c.model);
    let (mut a, mut m, mut j) = (vec![0.0; n], vec![0.0; n * n], vec![0.0; 6 * n]);
    let (mut q, mut v) = (c.q.clone(), c.v.clone());
    let loads = [Load::new(3, Vec3::X, Vec3::Y)];
    let (model, tau) = (&c.model, &c.tau);
    let info = allocation_counter::measure(|| {
        kinematics(model, &q, &v, &mut work).unwrap();
        jacobian(model, 5, Vec3::Z, &work, &mut j).unwrap();
        aba(model, &q, &v, tau, &loads, &mut work, &mut a).unwrap();
        rnea(model, &q, &v, tau, &loads, &mut work, &mut a).unwrap();
        crba(model, &q, &mut work, &mut m).unwrap();
        factor(model, &mut m).unwrap();
        solve(model, &m, &mut a).unwrap();
        articulate(model, &q, &mut work).unwrap();
        impulse_response(model, &loads, &mut work, &mut a).unwrap();
        joint_response(model, tau, &mut work, &mut a).unwrap();
        collision_matrix(model, &Touch::two(2, 9, Vec3::X), &mut work).unwrap();
        for integrator in [Integrator::OneEvaluation, Integrator::HighOrder] {
            step(
                model, integrator, 1e-3, tau, &loads, &mut q, &mut v, &mut work,
            )
            .unwrap();
        }
    });
    assert_eq!(info.count_total, 0);
}

#[test]
fn ab_11_a_rod_may_be_thin_where_nothing_turns_about_it() {
    assert!(Model::new(&rods(3), DOWN).is_ok());
    assert_eq!(rod().inertia.x_axis.x, 0.0);
}
