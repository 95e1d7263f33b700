//! Encoding of sensors and time programs.
//!
//! Reads: values or bytes.  Writes: bytes or values.
//! Called by: `snapshot`.
//! Source: —

use super::codec::{Code, Input, Output, code_enum, code_struct};
use crate::error::{BuildError, SnapshotError};
use crate::model::Model;
use crate::model::program::{Driven, Program, Signal, Steady};
use crate::model::sensor::{Sensor, SensorDesc, SensorKind};
use crate::world::Lock;

/// Most numbers that one sensor reads.
const READINGS_MAX: u32 = 16;

code_struct!(Lock { body, axes, joints });
code_struct!(Steady {
    body,
    force,
    torque
});
code_struct!(Sensor { desc, count });
code_struct!(SensorDesc { name, kind });
code_struct!(Program { driven, signal });
code_enum!(SensorKind {
    0 => Pose { body, place },
    1 => Velocity { body, point },
    2 => Imu { body, place },
    3 => JointPosition { joint },
    4 => JointRate { joint },
    5 => JointForce { joint },
    6 => LinkPosition { link },
    7 => LinkRate { link },
    8 => ContactForce { body, other },
    9 => Distance { body, origin, direction, range },
});
code_enum!(Driven {
    0 => Gravity,
    1 => Force { body, point, local },
    2 => Torque { body, local },
    3 => Motor { joint },
    4 => LinkMotor { link },
});
code_enum!(Signal {
    0 => Steps { times, values },
    1 => Table { times, values },
    2 => Sine { offset, amplitude, frequency, phase },
});

/// What a world could have written: the checks of its doors.
pub(super) fn check(model: &Model) -> Result<(), BuildError> {
    for sensor in model.sensors.iter().flatten() {
        sensor.desc.kind.check().map_err(|e| e.inside("sensors"))?;
        if sensor.count > READINGS_MAX {
            return Err(BuildError::new("sensors", "out of range"));
        }
    }
    for lock in &model.locks {
        let bodies = model.bodies.get(lock.body as usize);
        let known = bodies.is_some_and(|b| b.is_some()) && lock.axes < 1 << 6;
        if !known || lock.joints.iter().any(|j| model.get_joint(*j).is_none()) {
            return Err(BuildError::new("locks", "out of range"));
        }
    }
    for steady in &model.steady {
        let finite = steady.force.is_finite() && steady.torque.is_finite();
        if !finite || model.get(steady.body).is_none() {
            return Err(BuildError::new("steady", "out of range"));
        }
    }
    for program in &model.programs {
        program.signal.check().map_err(|e| e.inside("programs"))?;
    }
    Ok(())
}
