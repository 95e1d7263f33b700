//! Sleep: islands that have been still for a while are left out of the steps until something reaches them.
//!
//! Reads: Model, State (velocities, touching pairs).  Writes: which bodies sleep and how long they have been still (State), whether they
//! answer impulses (Model, a view of it).
//! Called by: `World`, before and after a step and at every edit; only if the user asked for it.
//! Source: docs/methods/two-stage.md, "Sleep".
//!
//! A sleeping body answers no impulse, like a fixed one, so that no phase of a step needs to know of it. A step that lets an awake body
//! touch a sleeping one is taken back, the sleeper's island is woken, and the step is taken again: nothing bounces off a sleeper.

use super::integrate;
use super::island::Islands;
use crate::error::BuildError;
use crate::math::Vec3;
use crate::model::{BodyKind, Model};
use crate::report::ContactForce;
use crate::shape::Aabb;
use crate::state::{BodyState, Load, State};

/// When islands fall asleep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sleeping {
    /// Speed that no point of a body may exceed [m/s].
    pub speed: f64,
    /// For how long [s].
    pub time: f64,
}

impl Default for Sleeping {
    fn default() -> Self {
        Self {
            speed: 1e-3,
            time: 0.5,
        }
    }
}

impl Sleeping {
    /// Checks both numbers for sense.
    ///
    /// # Errors
    /// The field that makes no sense, and why.
    pub fn check(&self) -> Result<(), BuildError> {
        for (field, value) in [("speed", self.speed), ("time", self.time)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(BuildError::new(field, "must be finite and not negative"));
            }
        }
        Ok(())
    }
}

/// Scratch of falling asleep and waking.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    islands: Islands,
    /// Where prescribed bodies move in this step: nothing sleeps there.
    moving: Vec<Aabb>,
    /// Sleepers that the step reached.
    reached: Vec<u32>,
    /// Slots of bodies that touch or are joined.
    pairs: Vec<(u32, u32)>,
    /// Slots of bodies that fall asleep, and the name of their island: its lowest slot.
    falling: Vec<(u32, u32)>,
}

/// Who slept before a step, to be so again if it is interrupted; kept only where that can happen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slept {
    /// `State::asleep` and `State::quiet`; empty if nothing was kept.
    asleep: Vec<Option<u32>>,
    quiet: Vec<f64>,
}

impl Slept {
    pub(crate) fn keep(model: &Model, state: &State, wanted: bool) -> Self {
        if !wanted || model.sleepers == 0 {
            return Self::default();
        }
        Self {
            asleep: state.asleep.clone(),
            quiet: state.quiet.clone(),
        }
    }

    pub(crate) fn give_back(self, model: &mut Model, state: &mut State) {
        if self.asleep.is_empty() {
            return;
        }
        (state.asleep, state.quiet) = (self.asleep, self.quiet);
        for (body, asleep) in model.bodies.iter_mut().zip(&state.asleep) {
            if let Some(body) = body
                && asleep.is_some()
                && !body.asleep
            {
                body.fall_asleep();
                model.sleepers += 1;
            }
        }
    }
}

/// Wakes a body and the island it fell asleep with.
pub(crate) fn wake(model: &mut Model, state: &mut State, slot: usize) {
    model.edits += 1;
    if !matches!(model.bodies.get(slot), Some(Some(_))) {
        return;
    }
    state.quiet[slot] = 0.0;
    if let Some(island) = state.asleep[slot] {
        wake_if(model, state, |asleep| asleep == island);
    }
}

/// Wakes everything.
pub(crate) fn wake_all(model: &mut Model, state: &mut State) {
    model.edits += 1;
    wake_if(model, state, |_| true);
}

fn wake_if(model: &mut Model, state: &mut State, wakes: impl Fn(u32) -> bool) {
    if model.sleepers == 0 {
        return;
    }
    for (slot, asleep) in state.asleep.iter_mut().enumerate() {
        if let Some(body) = &mut model.bodies[slot]
            && asleep.is_some_and(&wakes)
        {
            *asleep = None;
            body.wake();
            model.sleepers -= 1;
            state.quiet[slot] = 0.0;
        }
    }
}

/// Before a step of length `dt`: wakes what prescribed bodies come near to, or hold by a joint.
pub(crate) fn prepare(model: &mut Model, state: &mut State, dt: f64, scratch: &mut Scratch) {
    if model.sleeping.is_none() || !dt.is_finite() || dt <= 0.0 {
        return;
    }
    scratch.moving.clear();
    scratch.reached.clear();
    for (slot, body) in model.present() {
        if !matches!(body.kind, BodyKind::Kinematic(_)) {
            continue;
        }
        let now = &state.bodies[slot];
        let then = integrate::advance(body, now, Vec3::ZERO, state.time, dt);
        if *now == then && now.velocity == Vec3::ZERO && now.angular_velocity == Vec3::ZERO {
            continue;
        }
        let sides = model.present_joints().filter_map(|(_, j)| {
            let a = j.a?;
            let own = slot as u32;
            (a == own)
                .then_some(j.b)
                .or_else(|| (j.b == own).then_some(a))
        });
        scratch.reached.extend(sides);
        // Between its ends a point of a turning body leaves the boxes of both by less than the chord it covers.
        let swing = crate::collide::swing(body.reach, now, &then);
        let bounds = |s: &BodyState| bounds(model, s, slot);
        let swept = bounds(now).merged(&bounds(&then)).grown(swing);
        scratch.moving.push(swept);
    }
    let Scratch {
        moving, reached, ..
    } = scratch;
    if !moving.is_empty() {
        let near = |slot: usize| {
            let own = bounds(model, &state.bodies[slot], slot);
            moving.iter().any(|b| b.overlaps(&own))
        };
        let sleepers = model.present().filter(|(_, body)| body.asleep);
        reached.extend(
            sleepers
                .map(|(i, _)| i as u32)
                .filter(|&i| near(i as usize)),
        );
    }
    for &slot in scratch.reached.iter() {
        wake(model, state, slot as usize);
    }
}

/// The box around a body, with the margin at which contacts are seen.
fn bounds(model: &Model, s: &BodyState, slot: usize) -> Aabb {
    let Some(Some(body)) = model.bodies.get(slot) else {
        return Aabb::EMPTY;
    };
    let frame = s.frame(body);
    let whole = body
        .shapes
        .iter()
        .map(|shape| shape.shape.bounds(&frame.compose(&shape.pose)))
        .fold(Aabb::EMPTY, |all, one| all.merged(&one));
    whole.grown(if body.reach.is_finite() {
        crate::collide::MARGIN * body.reach
    } else {
        0.0
    })
}

/// After a step: whether it let an awake body touch a sleeper. Then the state is `before` again, with the sleeper's island awake.
pub(crate) fn wake_reached(
    model: &mut Model,
    state: &mut State,
    before: &State,
    forces: &[ContactForce],
    scratch: &mut Scratch,
) -> bool {
    if model.sleeping.is_none() {
        return false;
    }
    let asleep = |slot: u32| state.asleep[slot as usize].is_some();
    let awake = |slot: u32| model.is_awake(slot);
    let sleeper = |(a, b): (u32, u32)| match (awake(a), awake(b)) {
        (true, false) => Some(b).filter(|&b| asleep(b)),
        (false, true) => Some(a).filter(|&a| asleep(a)),
        _ => None,
    };
    // Those that touch at the end, and those that were hit on the way.
    let touching = state.touching.iter().map(|p| (p.body_a, p.body_b));
    let pressed = forces.iter().map(|f| (f.body_a.index, f.body_b.index));
    scratch.reached.clear();
    scratch
        .reached
        .extend(touching.chain(pressed).filter_map(sleeper));
    if scratch.reached.is_empty() {
        return false;
    }
    state.copy_from(before);
    for &slot in &scratch.reached {
        wake(model, state, slot as usize);
    }
    true
}

/// After a step: counts how long bodies have been still and puts islands to sleep. If any fell asleep, returns the kinetic energy
/// that was left in them [J].
pub(crate) fn settle(
    model: &mut Model,
    state: &mut State,
    dt: f64,
    scratch: &mut Scratch,
) -> Option<f64> {
    let sleeping = model.sleeping?;
    for (slot, body) in model.present().filter(|(_, body)| body.is_free()) {
        let s = &state.bodies[slot];
        let speed = s.velocity.length() + s.angular_velocity.length() * body.reach;
        let near = || {
            let own = bounds(model, s, slot);
            scratch.moving.iter().any(|b| b.overlaps(&own))
        };
        let pushed = state.loads[slot] != Load::default();
        let still = speed <= sleeping.speed && !pushed && !near();
        state.quiet[slot] = if still { state.quiet[slot] + dt } else { 0.0 };
    }
    let Scratch {
        islands,
        pairs,
        falling,
        ..
    } = scratch;
    let world = model.bodies.len() as u32;
    pairs.clear();
    pairs.extend(state.touching.iter().map(|p| (p.body_a, p.body_b)));
    let joined = model
        .present_joints()
        .map(|(_, j)| (j.a.unwrap_or(world), j.b));
    pairs.extend(joined);
    let awake = |slot: u32| model.is_awake(slot);
    islands.build(model.bodies.len() + 1, awake, pairs.iter().copied());
    let still = |slot: u32| {
        let body = &model.bodies[slot as usize];
        // Trees stay awake.
        let free = body.as_ref().is_some_and(|b| b.is_free());
        free && state.quiet[slot as usize] >= sleeping.time
    };
    falling.clear();
    for island in 0..islands.count() {
        let items = &islands.order[islands.range(island)];
        let bodies = || {
            let ends = items.iter().map(|&item| pairs[item as usize]);
            ends.flat_map(|(a, b)| [a, b]).filter(|&slot| awake(slot))
        };
        if let Some(name) = bodies().min().filter(|_| bodies().all(still)) {
            falling.extend(bodies().map(|slot| (slot, name)));
        }
    }
    if falling.is_empty() {
        return None;
    }
    let mut lost = 0.0;
    for &(slot, island) in falling.iter() {
        let (body, s) = (
            &mut model.bodies[slot as usize],
            &mut state.bodies[slot as usize],
        );
        if let Some(body) = body {
            lost += super::energy::kinetic(body, s);
            body.fall_asleep();
            state.asleep[slot as usize] = Some(island);
            model.sleepers += 1;
            (s.velocity, s.angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
        }
    }
    Some(lost)
}
