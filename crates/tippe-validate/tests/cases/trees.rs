//! Articulations against truth: the joint cases in the articulated form, and figures that fall and come to rest.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::Path;
use tippe::{Vec3, World};
use tippe_scene::{LoadOptions, load_file};
use tippe_validate::{Form, Outcome, find_cases, run};

/// Worst error of a part; every part must pass.
fn holds(case: &str, dt: f64) -> Vec<(&'static str, f64)> {
    holds_as(Form::Articulated, case, dt)
}

fn holds_as(form: Form, case: &str, dt: f64) -> Vec<(&'static str, f64)> {
    let rows = run(
        &find_cases(&[case]).unwrap(),
        &["sequential"],
        &[form],
        &[dt],
        None,
        &mut |_| {},
    );
    rows.iter()
        .map(|row| match &row.outcome {
            Outcome::Measured {
                error, tolerance, ..
            } => {
                assert!(error <= tolerance, "{case} {} at {dt}: {error:e}", row.part);
                (row.part, *error)
            }
            other => panic!("{case} {}: {other:?}", row.part),
        })
        .collect()
}

#[test]
fn ab_11_joint_cases_hold_in_the_articulated_form() {
    for dt in [1e-3, 1.0 / 60.0] {
        for case in ["F14", "F16", "F17", "F22"] {
            // Two of them take a minute each in debug at 1 ms.
            if !cfg!(debug_assertions) || dt > 1e-2 {
                holds(case, dt);
            }
        }
    }
    for (part, error) in holds("F15", 1e-3) {
        let asked = if part == "time" { 1e-8 } else { 1e-6 };
        assert!(error < asked, "F15 {part}: {error:e}");
    }
    if !cfg!(debug_assertions) {
        assert!(holds("F17", 5e-4).iter().all(|(_, e)| *e < 1e-4));
    }
}

#[test]
fn ab_33_joint_cases_hold_for_adaptive_trees_of_which_all_joints_move() {
    for case in ["F14", "F15", "F16", "F17", "F22"] {
        let dt = if cfg!(debug_assertions) && case != "F15" {
            1.0 / 60.0
        } else {
            1e-3
        };
        holds_as(Form::Adaptive, case, dt);
    }
}

#[test]
fn ab_26_contact_cases_hold_for_free_links() {
    for case in ["F01", "F02", "F06", "F10", "F24", "F25"] {
        holds(case, 1.0 / 60.0);
    }
}

fn load(scene: &str, method: &str) -> (World, f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let options = LoadOptions {
        method: Some(method.to_owned()),
        ..LoadOptions::default()
    };
    let scene = load_file(&path.join(scene), &options).unwrap();
    (scene.world, scene.dt)
}

/// Runs a scene for `seconds`, then a second more: largest speed of a body in it [m/s], mean force of the ground over the weight, and the
/// worst distance beyond a limit over the whole run [rad].
fn settle(scene: &str, method: &str, seconds: f64) -> (f64, f64, f64) {
    let (mut world, dt) = load(scene, method);
    let mut beyond = 0.0_f64;
    let steps = (seconds / dt).round() as u32;
    for _ in 0..steps {
        let report = world.step(dt).unwrap();
        beyond = beyond.max(report.residuals.joint_position);
    }
    let moving: Vec<_> = world
        .body_ids()
        .filter(|id| world.body(*id).unwrap().is_dynamic())
        .collect();
    let weight: f64 = moving.iter().map(|id| world.body(*id).unwrap().mass).sum();
    let weight = weight * 9.81;
    let (mut fastest, mut force, last) = (0.0_f64, Vec3::ZERO, (1.0 / dt).round() as u32);
    for _ in 0..last {
        world.step(dt).unwrap();
        for id in &moving {
            fastest = fastest.max(world.body_state(*id).unwrap().velocity.length());
        }
        for c in world.contacts() {
            let up = |id| world.body(id).unwrap().is_dynamic();
            let sign = f64::from(i8::from(up(c.body_b)) - i8::from(up(c.body_a)));
            force += c.force() * (sign / f64::from(last));
        }
    }
    (fastest, force.z / weight, beyond)
}

/// Falls, keeps its limits within half a degree and is at rest after 20 s; in debug it only falls.
fn comes_to_rest(scene: &str, method: &str) {
    let seconds = if cfg!(debug_assertions) { 0.3 } else { 20.0 };
    let (speed, load, beyond) = settle(scene, method, seconds);
    println!(
        "{scene} {method}: {speed:e} m/s, force/weight − 1 = {:e}, beyond limits {beyond:e} rad",
        load - 1.0
    );
    assert!(beyond < 0.5_f64.to_radians(), "{scene} {method}");
    if !cfg!(debug_assertions) {
        assert!(speed < 1e-4, "{scene} {method}: {speed:e}");
        assert!((load - 1.0).abs() < 1e-6, "{scene} {method}: {load}");
    }
}

#[test]
fn ab_38_a_quadruped_falls_and_comes_to_rest() {
    comes_to_rest("tree-quadruped.toml", "sequential");
    comes_to_rest("tree-quadruped.toml", "iterative");
}

#[test]
fn ab_38_a_figure_falls_down_stairs_and_comes_to_rest() {
    comes_to_rest("tree-ragdoll.toml", "sequential");
    comes_to_rest("tree-ragdoll.toml", "iterative");
}
