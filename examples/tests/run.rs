//! All examples run to their end; each checks its own physics.

use std::process::Command;

macro_rules! examples {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            let out = Command::new(env!(concat!("CARGO_BIN_EXE_", stringify!($name)))).output();
            match out {
                Ok(out) => assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr)),
                Err(e) => panic!("{e}"),
            }
        }
    )* };
}

examples! {
    first_steps
    stack_with_forces
    car_over_bumps
    arm_with_torques
    many_worlds
    sensors
    steered_lift
    scene_with_parameters
    keyframes_and_snapshots
    time_programs
    rays_and_overlaps
    record_and_export
}
