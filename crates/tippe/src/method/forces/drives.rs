//! Limits, ropes and motors of joints: bounded rows of the complementarity problem; servos: forces.
//!
//! Reads: Model (joints), states, memory of the joints.  Writes: rows that hold by a force within bounds, forces of servos.
//! Called by: `smooth`, `piece`, `impacts`, `locate`, `project`, `method::forces`.
//! Source: [Articulated] slides 32–40 (rows that hold by pushing alone); docs/methods/forces.md, "Limits and motors". A limit is a contact
//! without friction and restitution. A motor that has its speed holds it within its greatest force, as a contact sticks; one that has not
//! pushes with all of it until it has, and that is an event.

use super::ForcesParams;
use super::piece::driven;
use super::smooth::{Scene, Smooth};
use super::system::{Bound, Hold, NO_NODE, System};
use crate::dynamics::joint::{JointPlace, JointRow, unwrapped};
use crate::dynamics::joint_rates::free_biases;
use crate::joint::{Freedom, Motor};
use crate::math::jet::FrameJet;
use crate::model::{Joint, Model};
use crate::state::{BOUNDED, BodyState, JointMemory};
use crate::two_stage::joint_targets::{free_value, translation};

/// First number of a drive among the rows of the holds: those of joints come before.
pub(crate) const DRIVES: u32 = 6;
/// Square of step and frequency, or product of step and rate of decay, of a servo that four evaluations follow [1].
const STIFF: f64 = 0.5;

/// What a bounded row stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// The value stays above (sign 1) or below (−1) this, or there (0).
    Limit {
        /// Where.
        at: f64,
        /// On which side.
        sign: f64,
    },
    /// The speed is the motor's.
    Motor,
}

/// A bounded row of a joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drive {
    /// Place of its joint among those that take part, and place among its drives: motor and limit of the rotation, of the translation.
    pub owner: u32,
    pub which: u32,
    pub kind: Kind,
    pub bound: Bound,
    pub low: f64,
    pub high: f64,
    pub force: f64,
    /// Speed at which an impact has lifted a limit that carried, which may be back at once [m/s or rad/s]; zero for all others.
    pub parts: f64,
}

/// The freedom that a drive acts along.
pub(crate) fn freedom(joint: &Joint, which: u32) -> Freedom {
    if which < 2 {
        joint.desc.rotation
    } else {
        translation(joint)
    }
}

/// Row and value of that freedom; angles are counted through full turns from `angle`.
pub(crate) fn value(joint: &Joint, place: &JointPlace, which: u32, angle: f64) -> (JointRow, f64) {
    let kind = joint.desc.kind;
    if which < 2 {
        let (row, x) = place.turn(kind);
        (row, unwrapped(x, angle))
    } else {
        (place.translation(kind).0, free_value(kind, place))
    }
}

/// Speed along a row of a joint.
pub(crate) fn row_speed(row: &JointRow, joint: &Joint, bodies: &[BodyState]) -> f64 {
    let still = BodyState::REST;
    let a = joint.a.map_or(still, |slot| bodies[slot as usize]);
    let b = &bodies[joint.b as usize];
    row.e.dot(b.velocity - a.velocity)
        + row.ang_a.dot(a.angular_velocity)
        + row.ang_b.dot(b.angular_velocity)
}

/// Speed that a motor asks for at a value, and how fast that changes at a speed.
fn asked(motor: Option<Motor>, x: f64, u: f64, h: f64) -> (f64, f64) {
    match motor {
        Some(Motor::Velocity { target, .. }) => (target, 0.0),
        // Not faster than to arrive in one step.
        Some(Motor::Position { target, time, .. }) => {
            let time = time.max(h);
            ((target - x) / time, -u / time)
        }
        Some(Motor::Servo { .. }) | None => (0.0, 0.0),
    }
}

/// Greatest force of a motor that holds a speed.
fn greatest(motor: Option<Motor>) -> Option<f64> {
    match motor {
        Some(Motor::Velocity { max_force, .. } | Motor::Position { max_force, .. }) => {
            Some(max_force)
        }
        Some(Motor::Servo { .. }) | None => None,
    }
}

/// Row, force and value of the servos of a joint.
pub(crate) fn servo_forces(
    joint: &Joint,
    bodies: &[BodyState],
    angle: f64,
) -> impl Iterator<Item = (JointRow, f64)> {
    let place = joint.place(bodies, &[]);
    [0, 2].into_iter().filter_map(move |which| {
        let Some(Motor::Servo {
            position,
            velocity,
            kp,
            kd,
            max_force,
        }) = freedom(joint, which).motor
        else {
            return None;
        };
        let (row, x) = value(joint, &place, which, angle);
        let u = row_speed(&row, joint, bodies);
        let force = kp * (position - x) + kd * (velocity - u);
        Some((row, force.clamp(-max_force, max_force)))
    })
}

/// A row as it acts on both sides.
fn jacobians(row: &JointRow) -> [[f64; 6]; 2] {
    let side =
        |e: crate::math::Vec3, m: crate::math::Vec3| -> [f64; 6] { [e.x, e.y, e.z, m.x, m.y, m.z] };
    [side(-row.e, row.ang_a), side(row.e, row.ang_b)]
}

/// Angle from which the turns of a joint are counted [rad].
fn angle_of(angles: &[f64], owner: usize) -> f64 {
    angles.get(owner).copied().unwrap_or(0.0)
}

impl Smooth {
    /// Lists the bounded rows that act: limits that are reached and not being left, motors. To be called when the joints are known.
    pub(crate) fn gather_drives(
        &mut self,
        params: &ForcesParams,
        scene: &Scene<'_>,
        bodies: &[BodyState],
        (joints, substep, struck): (&[JointMemory], f64, bool),
        h: f64,
    ) {
        self.step = h;
        self.angles.clear();
        self.drives.clear();
        let to_force = if substep > 0.0 { 1.0 / substep } else { 0.0 };
        for owner in 0..self.joints.len() {
            let slot = self.joints[owner] as usize;
            let Some(joint) = &scene.model.joints[slot] else {
                continue;
            };
            let memory = &joints[slot];
            self.angles.push(memory.angle);
            let place = joint.place(bodies, &[]);
            for which in 0..BOUNDED as u32 {
                let free = freedom(joint, which);
                let (row, x) = value(joint, &place, which, memory.angle);
                let u = row_speed(&row, joint, bodies);
                let found = if which % 2 == 0 {
                    motor(params, &free, x, u, h)
                } else {
                    let carried = memory.bounded_first[which as usize] != 0.0;
                    limit(params, &free, (x, u), struck && carried)
                };
                if let Some(mut drive) = found {
                    drive.owner = owner as u32;
                    drive.which = which;
                    if drive.bound != Bound::Slips {
                        drive.force = memory.bounded_first[which as usize] * to_force;
                    }
                    self.drives.push(drive);
                }
            }
        }
    }

    /// Makes limits one-sided rows and unbounded motors rows that hold, for impacts: others have no impulse.
    pub(crate) fn drives_for_impacts(&mut self) {
        self.drives
            .retain(|d| matches!(d.kind, Kind::Limit { .. }) || d.high == f64::INFINITY);
        for drive in &mut self.drives {
            drive.bound = Bound::Held;
            drive.force = 0.0;
        }
    }

    /// Rows of the drives of one joint.
    pub(super) fn hold_drives(
        &self,
        joint: &Joint,
        owner: usize,
        bodies: &[BodyState],
        frames: [&FrameJet; 2],
        out: &mut Vec<Hold>,
    ) {
        if !self.drives.iter().any(|d| d.owner as usize == owner) {
            return;
        }
        let place = joint.place(bodies, &[]);
        let biases = free_biases(joint.desc.kind, frames[0], frames[1]);
        let end = |slot: u32| self.node_of[slot as usize];
        for (k, drive) in self.drives.iter().enumerate() {
            if drive.owner as usize != owner {
                continue;
            }
            let (row, x) = value(joint, &place, drive.which, angle_of(&self.angles, owner));
            let mut bias = biases[drive.which as usize / 2];
            if drive.kind == Kind::Motor {
                let u = row_speed(&row, joint, bodies);
                bias -= asked(freedom(joint, drive.which).motor, x, u, self.step).1;
            }
            out.push(Hold {
                nodes: [joint.a.map_or(NO_NODE, end), end(joint.b)],
                jacobians: jacobians(&row),
                bias,
                force: drive.force,
                low: drive.low,
                high: drive.high,
                bound: drive.bound,
                owner: owner as u32,
                row: DRIVES + k as u32,
            });
        }
    }

    /// The speed that a drive's row shall have, for rows in terms of velocities.
    pub(super) fn drive_speed(&self, k: usize, joint: &Joint, bodies: &[BodyState]) -> f64 {
        let drive = &self.drives[k];
        if drive.kind != Kind::Motor {
            return 0.0;
        }
        let place = joint.place(bodies, &[]);
        let angle = angle_of(&self.angles, drive.owner as usize);
        let (_, x) = value(joint, &place, drive.which, angle);
        asked(freedom(joint, drive.which).motor, x, 0.0, self.step).0
    }

    /// How far a limit is from where it holds; zero for motors.
    pub(super) fn drive_residual(&self, k: usize, joint: &Joint, bodies: &[BodyState]) -> f64 {
        let drive = &self.drives[k];
        let Kind::Limit { at, .. } = drive.kind else {
            return 0.0;
        };
        let place = joint.place(bodies, &[]);
        let angle = angle_of(&self.angles, drive.owner as usize);
        value(joint, &place, drive.which, angle).1 - at
    }

    /// Distance to a limit, from inside, and slip of a motor against the direction in which it began.
    pub(super) fn limit_gap(
        &self,
        joint: &Joint,
        which: u32,
        owner: usize,
        (at, sign): (f64, f64),
        bodies: &[BodyState],
    ) -> f64 {
        let place = joint.place(bodies, &[]);
        sign * (value(joint, &place, which, angle_of(&self.angles, owner)).1 - at)
    }

    /// How much faster than asked a motor is.
    pub(super) fn motor_slip(&self, k: usize, model: &Model, bodies: &[BodyState]) -> f64 {
        let drive = &self.drives[k];
        let slot = self.joints[drive.owner as usize] as usize;
        let Some(joint) = &model.joints[slot] else {
            return 0.0;
        };
        let place = joint.place(bodies, &[]);
        let angle = angle_of(&self.angles, drive.owner as usize);
        let (row, _) = value(joint, &place, drive.which, angle);
        row_speed(&row, joint, bodies) - self.drive_speed(k, joint, bodies)
    }

    /// Forces of the servos, on all ends.
    pub(super) fn push_servos(
        &self,
        model: &Model,
        bodies: &[BodyState],
        system: &System,
        sums: &mut Vec<[f64; 6]>,
    ) {
        for (owner, &slot) in self.joints.iter().enumerate() {
            let Some(joint) = &model.joints[slot as usize] else {
                continue;
            };
            let end = |slot: u32| self.node_of[slot as usize];
            let ends = [joint.a.map_or(NO_NODE, end), end(joint.b)];
            for (row, force) in servo_forces(joint, bodies, angle_of(&self.angles, owner)) {
                sums.resize(system.nodes.len(), [0.0; 6]);
                for (end, side) in ends.into_iter().zip(jacobians(&row)) {
                    system.push(end, &side, force, sums);
                }
            }
        }
    }

    /// Longest piece that four evaluations follow for all servos [s]. The system must be posed.
    pub(crate) fn longest_of_servos(&self, model: &Model, bodies: &[BodyState]) -> f64 {
        let mut longest = f64::INFINITY;
        for (owner, &slot) in self.joints.iter().enumerate() {
            let Some(joint) = &model.joints[slot as usize] else {
                continue;
            };
            for which in [0, 2] {
                let Some(Motor::Servo { kp, kd, .. }) = freedom(joint, which).motor else {
                    continue;
                };
                let place = joint.place(bodies, &[]);
                let (row, _) = value(joint, &place, which, angle_of(&self.angles, owner));
                let end = |slot: u32| self.node_of[slot as usize];
                let ends = [joint.a.map_or(NO_NODE, end), end(joint.b)];
                let response = self.system.row_response(ends, &jacobians(&row));
                if kp * response > 0.0 {
                    longest = longest.min((STIFF / (kp * response)).sqrt());
                }
                if kd * response > 0.0 {
                    longest = longest.min(STIFF / (kd * response));
                }
            }
        }
        longest
    }

    /// Work of motors at a moment, with its weight [s]; of servos that of prescribed ends as well, which for rows is booked with them.
    pub(super) fn sum_drives(&mut self, model: &Model, weight: f64) {
        let bodies = &self.stage.bodies;
        let (work, sums) = (&mut self.motor_work, &mut self.joint_sums);
        let mut put_in = |owner: usize, power: f64, prescribed: f64| {
            *work += power * weight;
            sums[owner].driven += power * weight;
            sums[owner].prescribed += prescribed * weight;
        };
        for h in self.system.holds.iter().filter(|h| h.row >= DRIVES) {
            let drive = &self.drives[(h.row - DRIVES) as usize];
            let slot = self.joints[h.owner as usize] as usize;
            if let (Kind::Motor, Some(joint)) = (drive.kind, &model.joints[slot]) {
                let place = joint.place(bodies, &[]);
                let angle = angle_of(&self.angles, h.owner as usize);
                let (row, _) = value(joint, &place, drive.which, angle);
                let power = h.force * row_speed(&row, joint, bodies);
                put_in(h.owner as usize, power, 0.0);
            }
        }
        for (owner, &slot) in self.joints.iter().enumerate() {
            if let Some(joint) = &model.joints[slot as usize] {
                for (row, force) in servo_forces(joint, bodies, angle_of(&self.angles, owner)) {
                    let prescribed = force * driven(model, &row, joint, bodies);
                    put_in(owner, force * row_speed(&row, joint, bodies), prescribed);
                }
            }
        }
    }
}

/// A motor's row, if it holds a speed.
fn motor(params: &ForcesParams, free: &Freedom, x: f64, u: f64, h: f64) -> Option<Drive> {
    let most = greatest(free.motor)?;
    let slip = u - asked(free.motor, x, u, h).0;
    let slips = slip.abs() > params.velocity_tolerance && most < f64::INFINITY;
    Some(Drive {
        owner: 0,
        which: 0,
        kind: Kind::Motor,
        bound: if slips { Bound::Slips } else { Bound::Held },
        low: -most,
        high: most,
        force: if slips { -most * slip.signum() } else { 0.0 },
        parts: 0.0,
    })
}

/// A limit's row, if it is reached.
fn limit(params: &ForcesParams, free: &Freedom, (x, u): (f64, f64), lifted: bool) -> Option<Drive> {
    let (min, max) = free.limits?;
    let near = params.touch_tolerance;
    let (at, sign) = if min == max {
        (min, 0.0)
    } else if x <= min + near {
        (min, 1.0)
    } else if x >= max - near {
        (max, -1.0)
    } else {
        return None;
    };
    // A limit that is being left holds nothing, unless it comes back at once.
    let leaves = sign * u > params.velocity_tolerance;
    if leaves && !lifted {
        return None;
    }
    Some(Drive {
        owner: 0,
        which: 0,
        kind: Kind::Limit { at, sign },
        bound: Bound::Held,
        low: if sign > 0.0 { 0.0 } else { f64::NEG_INFINITY },
        high: if sign < 0.0 { 0.0 } else { f64::INFINITY },
        force: 0.0,
        parts: if leaves { u.abs() } else { 0.0 },
    })
}
