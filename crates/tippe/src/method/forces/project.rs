//! After a piece: poses and velocities go back to joints, resting contacts and sticking points. No stabilising force, no Baumgarte.
//!
//! Reads: contacts that carry, joints, states.  Writes: states, position correction of the ledger.
//! Called by: `method::forces`.
//! Source: docs/methods/forces.md, "Projection": the smallest change in the metric of the masses, one linear solve each.

use super::ForcesParams;
use super::drives::{DRIVES, Kind};
use super::impacts::velocities;
use super::smooth::{Part, Scene, Smooth};
use super::system::{Bound, Hold, Mode, NO_NODE};
use crate::dynamics::energy;
use crate::math::{Vec3, rotation};
use crate::model::Model;
use crate::output::balance::Balance;
use crate::report::StepReport;
use crate::state::{BodyState, State};

/// Distance [m] or angle [rad] below which a pose is left as it is: rounding of positions of about a metre.
const EXACT: f64 = 1e-15;
/// Depth beyond which it is removed little by little [m].
const DEEP: f64 = 1e-6;
/// Rounds of the correction of poses.
const ROUNDS: u32 = 3;

/// The projection of a piece.
pub(crate) struct Projection<'a> {
    pub model: &'a Model,
    pub params: &'a ForcesParams,
    pub contacts: &'a [crate::collide::Contact],
    pub marks: &'a [bool],
    pub balance: &'a mut Balance,
    pub report: &'a mut StepReport,
}

impl Projection<'_> {
    /// Projects the states of one part at time `state.time`; what that does to the energy is booked.
    pub(crate) fn run(&mut self, part: Part, smooth: &mut Smooth, state: &mut State) {
        let model = self.model;
        let before = energy::total(model, state);
        self.balance.correct(model, state, -1.0);
        let State {
            bodies,
            loads,
            time,
            articulations,
            ..
        } = state;
        let scene = Scene {
            part,
            marks: self.marks,
            model,
            loads,
            contacts: self.contacts,
        };
        for _ in 0..ROUNDS {
            if !poses(self.params, &scene, smooth, bodies, *time) {
                break;
            }
        }
        let (driven, shock) = speeds(&scene, smooth, bodies, *time, self.report);
        smooth.store_trees(articulations);
        self.report.work.newton_steps += std::mem::take(&mut smooth.system.factorisations);
        self.balance.correct(model, state, 1.0);
        let after = energy::total(model, state);
        let e = &mut self.report.energy;
        e.prescribed += driven;
        e.shock += shock;
        e.position_correction += after.0 + after.1 - (before.0 + before.1) - (driven - shock);
    }
}

/// Largest residual of joints and of contacts that carry [m].
fn off(scene: &Scene<'_>, smooth: &Smooth, bodies: &[BodyState]) -> f64 {
    let mut worst: f64 = 0.0;
    for active in smooth.active.iter().filter(|x| x.mode != Mode::Open) {
        let c = &scene.contacts[active.contact as usize];
        let (a, b) = c.bodies();
        worst = worst.max(c.at(&bodies[a], &bodies[b]).gap.abs());
    }
    for &slot in &smooth.joints {
        if let Some(joint) = &scene.model.joints[slot as usize] {
            let held = joint.place(bodies, &[]).held(joint.desc.kind);
            let rows = &held.residuals[..held.count];
            worst = rows.iter().fold(worst, |w, r| w.max(r.abs()));
        }
    }
    for (k, drive) in smooth.drives.iter().enumerate() {
        let slot = smooth.joints[drive.owner as usize] as usize;
        if let (Bound::Held, Some(joint)) = (drive.bound, &scene.model.joints[slot]) {
            worst = worst.max(smooth.drive_residual(k, joint, bodies).abs());
        }
    }
    worst
}

/// Largest velocity at contacts that touch; infinite where joints hold, whose rows must be asked themselves [m/s].
fn speed_off(scene: &Scene<'_>, smooth: &Smooth, bodies: &[BodyState]) -> f64 {
    if !smooth.joints.is_empty() {
        return f64::INFINITY;
    }
    let mut worst: f64 = 0.0;
    for active in &smooth.active {
        let c = &scene.contacts[active.contact as usize];
        let (a, b) = c.bodies();
        let at = c.at(&bodies[a], &bodies[b]);
        let point = (at.point_a + at.point_b) * 0.5;
        let u = bodies[b].point_velocity(point) - bodies[a].point_velocity(point);
        worst = worst.max(u.length());
    }
    worst
}

/// One correction of the poses; says whether there was something to correct.
fn poses(
    params: &ForcesParams,
    scene: &Scene<'_>,
    smooth: &mut Smooth,
    bodies: &mut [BodyState],
    t: f64,
) -> bool {
    if off(scene, smooth, bodies) <= EXACT {
        return false;
    }
    smooth.pose(scene, bodies, t);
    for node in &mut smooth.system.nodes {
        node.free = [0.0; 6];
    }
    let mut worst: f64 = 0.0;
    for (touch, active) in smooth.system.touches.iter_mut().zip(&smooth.active) {
        let c = &scene.contacts[active.contact as usize];
        let (a, b) = c.bodies();
        let gap = c.at(&bodies[a], &bodies[b]).gap;
        let gap = if gap < -DEEP {
            params.depenetration * gap
        } else {
            gap
        };
        touch.force = [0.0; 3];
        touch.bias = [gap, 0.0, 0.0];
        if touch.mode != Mode::Open {
            touch.mode = Mode::Slide(Vec3::ZERO);
            worst = worst.max(gap.abs());
        }
    }
    for hold in &mut smooth.system.holds {
        hold.force = 0.0;
        let slot = smooth.joints[hold.owner as usize];
        if hold.row >= DRIVES {
            continue;
        }
        if let Some(joint) = &scene.model.joints[slot as usize] {
            let held = joint.place(bodies, &[]).held(joint.desc.kind);
            hold.bias = held.residuals[hold.row as usize];
            worst = worst.max(hold.bias.abs());
        }
    }
    for k in 0..smooth.system.holds.len() {
        let hold = &smooth.system.holds[k];
        if hold.row < DRIVES {
            continue;
        }
        let drive = (hold.row - DRIVES) as usize;
        let slot = smooth.joints[hold.owner as usize] as usize;
        let limit = smooth.drives[drive].kind != Kind::Motor && hold.bound == Bound::Held;
        let left = match &scene.model.joints[slot] {
            Some(joint) if limit => smooth.drive_residual(drive, joint, bodies),
            _ => 0.0,
        };
        let hold = &mut smooth.system.holds[k];
        hold.bound = if limit { Bound::Held } else { Bound::Slips };
        hold.bias = if left.abs() > DEEP {
            params.depenetration * left
        } else {
            left
        };
        worst = worst.max(hold.bias.abs());
    }
    if worst <= EXACT || !smooth.system.solve() {
        return false;
    }
    for (node, &slot) in smooth.slots.iter().enumerate() {
        let [x, y, z, a, b, c] = smooth.system.result[node];
        let s = &mut bodies[slot as usize];
        s.position += Vec3::new(x, y, z);
        s.rotation = rotation::normalized(rotation::exp(Vec3::new(a, b, c)) * s.rotation);
    }
    smooth.displace_trees(scene.model, bodies);
    true
}

/// Velocity along a row that holds beyond which bringing it to rest is a shock [m/s]: a mechanism that was put together in motion.
const SHOCK_SPEED: f64 = 1e-3;

/// What prescribed bodies did through the rows that hold, and what those took, if they came to rest by a shock [J].
fn shocked(smooth: &Smooth, free: &[[f64; 6]]) -> (f64, f64) {
    let holds = &smooth.system.holds;
    let system = &smooth.system;
    let fast = |h: &Hold| system.hold_rate(h, free).abs() > SHOCK_SPEED;
    if !holds.iter().any(fast) {
        return (0.0, 0.0);
    }
    let (mut driven, mut shock) = (0.0, 0.0);
    for h in holds {
        let rates = system.hold_rate(h, free) + system.hold_rate(h, &system.result);
        driven -= h.force * h.bias;
        shock -= h.force * 0.5 * rates;
    }
    (driven, shock)
}

/// Velocities without any along rows that hold, normals that carry, and tangents that stick. Returns what prescribed bodies did and what
/// a shock took [J].
fn speeds(
    scene: &Scene<'_>,
    smooth: &mut Smooth,
    bodies: &mut [BodyState],
    t: f64,
    report: &mut StepReport,
) -> (f64, f64) {
    let none = (0.0, 0.0);
    if smooth.slots.is_empty() && smooth.trees.is_empty() {
        return none;
    }
    // Nothing moves along what holds: there is nothing to take away.
    let still = speed_off(scene, smooth, bodies);
    if still <= EXACT {
        report.residuals.complementarity = report.residuals.complementarity.max(still);
        return none;
    }
    smooth.pose(scene, bodies, t);
    velocities(smooth, scene, bodies);
    let free: Vec<_> = smooth.system.nodes.iter().map(|n| n.free).collect();
    for touch in &mut smooth.system.touches {
        touch.force = [0.0; 3];
        if let Mode::Slide(_) = touch.mode {
            touch.mode = Mode::Slide(Vec3::ZERO);
        }
    }
    for hold in &mut smooth.system.holds {
        hold.force = 0.0;
        if hold.bound != Bound::Held {
            hold.bound = Bound::Slips;
        }
    }
    if !smooth.system.solve() {
        report.work.caps_hit += 1;
        return none;
    }
    for (node, &slot) in smooth.slots.iter().enumerate() {
        let [x, y, z, a, b, c] = smooth.system.result[node];
        bodies[slot as usize].velocity = Vec3::new(x, y, z);
        bodies[slot as usize].angular_velocity = Vec3::new(a, b, c);
    }
    let result = std::mem::take(&mut smooth.system.result);
    smooth.trees_take_velocities(scene.model, &result, bodies);
    smooth.system.result = result;
    let r = &mut report.residuals;
    for hold in smooth
        .system
        .holds
        .iter()
        .filter(|h| h.bound == Bound::Held)
    {
        let left = smooth.system.hold_rate(hold, &smooth.system.result);
        r.joint_velocity = r.joint_velocity.max(left.abs());
    }
    for touch in &smooth.system.touches {
        let u = smooth.system.contact_rate(touch, &smooth.system.result);
        match touch.mode {
            Mode::Open => r.complementarity = r.complementarity.max(-u[0]),
            Mode::Slide(_) => r.complementarity = r.complementarity.max(u[0].abs()),
            Mode::Stick => {
                r.complementarity = r.complementarity.max(u[0].abs());
                r.stick_slip = r.stick_slip.max(u[1].abs().max(u[2].abs()));
            }
        }
    }
    debug_assert!(smooth.system.nodes.len() < NO_NODE as usize);
    shocked(smooth, &free)
}
