//! An engine that is wrong on purpose: each fault turns the cases that ask for it red, and without it they are green.
//!
//! Only with the feature `fault-injection`. One test, since a fault is in force for the whole process.

mod common;

use common::{COARSE, FINE, measure_of, setup_of};
use tippe::fault::{Fault, inject};

/// A fault, a case and the parts of it that must notice, at a step.
struct Trap {
    fault: Fault,
    case: &'static str,
    parts: &'static [&'static str],
    dt: f64,
}

const fn trap(fault: Fault, case: &'static str, parts: &'static [&'static str], dt: f64) -> Trap {
    Trap {
        fault,
        case,
        parts,
        dt,
    }
}

/// What must notice what, with every method.
const TRAPS: [Trap; 9] = [
    trap(Fault::RestitutionSign, "F06", &["a", "b", "c"], COARSE),
    trap(Fault::RestitutionSign, "F10", &["a", "b", "c"], COARSE),
    trap(
        Fault::NoGyroscopicTerm,
        "F13",
        &["a-L", "a-angle", "c-L", "c-angle"],
        COARSE,
    ),
    trap(Fault::NoGyroscopicTerm, "F14", &["b"], FINE),
    trap(
        Fault::FrictionPyramid,
        "F03",
        &["distance", "lateral"],
        COARSE,
    ),
    // The velocity at the end follows from angular momentum alone, whatever the friction.
    trap(Fault::FrictionPyramid, "F05", &["position"], COARSE),
    trap(
        Fault::HalfImpulse,
        "F08",
        &["b-velocity", "b-momentum"],
        FINE,
    ),
    trap(Fault::HalfImpulse, "F09", &["velocity"], FINE),
    trap(
        Fault::HalfImpulse,
        "F20",
        &["displacement", "momentum"],
        COARSE,
    ),
];

#[test]
fn every_fault_turns_its_cases_red() {
    let mut wrong = Vec::new();
    for method in ["sequential", "iterative"] {
        for trap in &TRAPS {
            for (fault, expected) in [(None, true), (Some(trap.fault), false)] {
                inject(fault);
                let rows = measure_of(&setup_of(method, trap.dt), trap.case, trap.parts);
                inject(None);
                assert_eq!(rows.len(), trap.parts.len(), "{}", trap.case);
                for row in rows {
                    if row.pass() != Some(expected) {
                        let line = tippe_validate::json_line(&row);
                        wrong.push(format!("{fault:?}: {line}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    a_ledger_that_is_no_number_fails_the_step();
}

/// A step whose ledger is not a number fails, says where, and leaves the world as it was.
fn a_ledger_that_is_no_number_fails_the_step() {
    let mut world = tippe::World::default();
    let ball = tippe::Shape::Sphere { radius: 0.1 };
    let desc = tippe::BodyDesc::dynamic(ball, tippe::Vec3::Z);
    world.add_body(&desc).expect("a good body");
    world.step(0.01).expect("a good step");
    let before = world.hash();
    inject(Some(Fault::NotANumber));
    let failed = world.step(0.01).expect_err("the ledger is not a number");
    inject(None);
    assert!(failed.to_string().contains("certificate"), "{failed}");
    assert_eq!(world.hash(), before);
    world
        .step(0.01)
        .expect("it goes on from the last good state");
}
