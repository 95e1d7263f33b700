//! Promotion: a contact that carries load at low speed joins a group; it leaves when it carries none.
//!
//! Reads: paths, forces of the groups' last substep.  Writes: Schedule (resting pairs, who is in a group).
//! Called by: `method::events`.
//! Source: [Mirtich94] §5.2; docs/methods/events.md, "Resting and groups".

use super::Run;
use super::paths::Way;
use super::schedule::{RestingPair, Start};
use crate::collide::flight::Flight;
use crate::error::StepError;
use crate::geometry::closest_points;
use crate::math::{Pose, Vec3, rotation};
use crate::shape::{Core, Shape};
use crate::state::{PairKey, State};

/// Acceleration together that presses, relative to gravity [1].
const PRESSES: f64 = 1e-3;
/// Substeps without a force after which a pair no longer rests.
const IDLE_MAX: u32 = 2;
/// Time over which the bend of a gap is seen [s], and how far apart the shapes are held for that, relative to the smaller body [1]: distances are
/// more exact than depths.
const BEND_TIME: f64 = 2e-4;
const BEND_APART: f64 = 1e-3;

/// Whether a shape has surfaces that are not flat.
fn is_curved(shape: &Shape) -> bool {
    Core::of(shape).is_some_and(|(core, radius)| radius > 0.0 || !core.is_polyhedral())
}

impl Run<'_> {
    /// Whether the motion without their contact presses the shapes of a pair together along `n` at `point`, as at rest on something. What
    /// nothing presses together bounces however slow it is.
    pub(super) fn presses(&mut self, key: &PairKey, t: f64, n: Vec3, point: Vec3) -> bool {
        let (a, b) = (
            self.point_acceleration(key.body_a, t, point),
            self.point_acceleration(key.body_b, t, point),
        );
        let bend = self.bend(key, t, n, point);
        (b - a).dot(n) + bend < -PRESSES * self.model.gravity.length()
    }

    /// What curved surfaces add to the acceleration of the gap along `n` at `point` [m/s²]: where they roll off each other, other points
    /// touch at every moment, and the gap does not part as those do that touch now. It depends on the velocities alone, so it is the bend of
    /// the gap in even motion, less the acceleration of the points in that.
    fn bend(&mut self, key: &PairKey, t: f64, n: Vec3, point: Vec3) -> f64 {
        let sides = [(key.body_a, key.shape_a), (key.body_b, key.shape_b)];
        let states = sides.map(|(slot, _)| self.at(slot, t));
        let shapes = sides.map(|(slot, shape)| &self.body(slot).shapes[shape as usize]);
        if !shapes.iter().any(|s| is_curved(&s.shape)) {
            return 0.0;
        }
        let apart = BEND_APART * self.size(key);
        let flight = |k: usize| {
            let s = &states[k];
            let mut pose = s.frame(self.body(sides[k].0)).compose(&shapes[k].pose);
            let center = pose.point_to_local(s.position);
            pose.position += n * (apart * k as f64);
            Flight {
                center,
                velocity: s.velocity,
                angular_velocity: s.angular_velocity,
                ..Flight::rest(pose)
            }
        };
        let (a, b) = (flight(0), flight(1));
        let gap = |h: f64| {
            let (a, b): (Pose, Pose) = (a.at(h), b.at(h));
            closest_points(&shapes[0].shape, &a, &shapes[1].shape, &b).map(|s| s.distance)
        };
        let (Ok(before), Ok(now), Ok(after)) = (gap(-BEND_TIME), gap(0.0), gap(BEND_TIME)) else {
            return 0.0;
        };
        let [a, b] = states.map(|s| {
            let (w, r) = (s.angular_velocity, point - s.position);
            w.cross(w.cross(r))
        });
        ((after - now) - (now - before)) / (BEND_TIME * BEND_TIME) - (b - a).dot(n)
    }

    /// Acceleration of a body's material at a point [m/s²]: in free flight, or the mean over the substep of its group.
    fn point_acceleration(&mut self, slot: u32, t: f64, point: Vec3) -> Vec3 {
        let s = self.at(slot, t);
        match self.way(slot) {
            Way::Still | Way::Prescribed => return Vec3::ZERO,
            Way::Grouped => {
                let (a, turning) = self.mean_accelerations(slot);
                let (w, r) = (s.angular_velocity, point - s.position);
                return a + turning.cross(r) + w.cross(w.cross(r));
            }
            Way::Ballistic => {}
        }
        let body = self.body(slot);
        let (w, r) = (s.angular_velocity, point - s.position);
        let axes = s.rotation * body.axes;
        let l = axes * (body.moments * (axes.conjugate() * w));
        let turning = rotation::spin(axes, body.inverse_moments, l.cross(w));
        self.acceleration(slot) + turning.cross(r) + w.cross(w.cross(r))
    }

    /// Lets a pair rest from `t` on: its bodies join the groups.
    pub(super) fn promote(&mut self, key: PairKey, t: f64, handed: bool) -> Result<(), StepError> {
        self.commit(t)?;
        for slot in [key.body_a, key.body_b] {
            if self.way(slot) == Way::Ballistic {
                let state = self.at(slot, t);
                self.join(slot, t);
                if let Some(group) = &mut self.s.group {
                    group.bodies[slot as usize] = state;
                }
            }
        }
        let entry = RestingPair {
            key,
            idle: 0,
            handed,
        };
        if let Err(place) = self.s.resting.binary_search_by_key(&key, |r| r.key) {
            self.report.work.promotions += 1;
            self.s.resting.insert(place, entry);
        }
        self.group_changed = true;
        Ok(())
    }

    /// A body moves with the groups from `t` on, which is the time of their state.
    fn join(&mut self, slot: u32, t: f64) {
        if self.s.group.is_none() {
            let mut group = State {
                time: t,
                ..State::default()
            };
            group.bodies.clone_from(&self.started_from);
            for (i, _) in self.model.present() {
                if self.way(i as u32) != Way::Ballistic {
                    group.bodies[i] = self.at(i as u32, t);
                }
            }
            group
                .loads
                .resize(group.bodies.len(), crate::state::Load::default());
            group.quiet.resize(group.bodies.len(), 0.0);
            group.joints.resize(
                self.model.joints.len(),
                crate::state::JointMemory::default(),
            );
            self.s.group = Some(Box::new(group));
        }
        self.s.grouped[slot as usize] = true;
    }

    /// A substep is over: pairs that carried nothing in two of them no longer rest, and bodies that nothing holds fly on their own.
    pub(super) fn demote(&mut self, t: f64) {
        let Some(group) = &self.s.group else {
            return;
        };
        let mut loaded: Vec<PairKey> = Vec::new();
        for c in &group.contacts {
            if c.first.normal > 0.0 || c.second.normal > 0.0 {
                loaded.push(c.key.pair);
            }
        }
        for r in &mut self.s.resting {
            r.idle = if loaded.binary_search(&r.key).is_ok() {
                0
            } else {
                r.idle + 1
            };
        }
        self.s.resting.retain(|r| r.idle < IDLE_MAX);
        let mut held = std::mem::take(&mut self.held);
        held.clear();
        held.resize(self.model.bodies.len(), false);
        for r in &self.s.resting {
            held[r.key.body_a as usize] = true;
            held[r.key.body_b as usize] = true;
        }
        for slot in 0..held.len() {
            let leaves = self.s.grouped[slot]
                && !held[slot]
                && !self.is_tied(slot as u32)
                && !self.driven[slot];
            if !leaves {
                continue;
            }
            if let Some(group) = &self.s.group {
                let state = group.bodies[slot];
                self.s.grouped[slot] = false;
                self.s.flights[slot] = Start { time: t, state };
                self.memory[slot] = (t, state);
            }
            self.sweep(slot as u32, t);
        }
        self.held = held;
        if !self.s.grouped.contains(&true) {
            self.s.group = None;
        }
    }
}
