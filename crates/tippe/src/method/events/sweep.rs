//! Sweeps: boxes around the paths until the frame ends, and the pairs of shapes whose boxes overlap.
//!
//! Reads: Model, paths.  Writes: Schedule (boxes, near pairs), the pair search.
//! Called by: `method::events`, once a frame for all and after an impact for the bodies it moved.
//! Source: [Mirtich94] §3.2. The box of a flight holds its centre at both ends and at the apex along each axis, grown by what the shape can
//! reach by turning. The path of a group's body is not known: its box is generous, and is made anew when the body leaves it.

use super::Run;
use super::near::Pair;
use super::paths::Way;
use crate::collide::MARGIN;
use crate::math::Vec3;
use crate::shape::Aabb;
use crate::state::{BodyState, PairKey};

/// Accelerations of a group's body that its box allows for, relative to gravity [1].
const GENEROUS: f64 = 4.0;

impl Run<'_> {
    /// The end of the frame under way [s].
    pub(super) fn frame_end(&self) -> f64 {
        (self.s.frame + 1) as f64 * self.params.sweep
    }

    /// A frame begins at `t`: flights start from there, all boxes and pairs are made anew and looked at.
    pub(super) fn begin_frame(&mut self, t: f64) {
        for slot in 0..self.model.bodies.len() as u32 {
            if self.model.bodies[slot as usize].is_some() && self.way(slot) == Way::Ballistic {
                let state = self.at(slot, t);
                self.s.flights[slot as usize] = super::schedule::Start { time: t, state };
            }
        }
        for item in 0..self.items.len() as u32 {
            self.bound(item, t);
        }
        self.s.near.begin_frame(t);
        for item in 0..self.items.len() as u32 {
            self.find_pairs(item, t);
        }
    }

    /// Bounds and pairs of a body whose path has changed at `t`; all its pairs are looked at.
    pub(super) fn sweep(&mut self, slot: u32, t: f64) {
        let range = self.first_item[slot as usize]..self.first_item[slot as usize + 1];
        for item in range.clone() {
            self.bound(item, t);
        }
        for item in range {
            self.find_pairs(item, t);
        }
        for k in 0..self.s.near.of(slot).len() {
            let number = self.s.near.of(slot)[k];
            self.s.near.schedule(number, t, false);
        }
    }

    /// Bounds of a group's body whose substep leads out of its box.
    pub(super) fn keep_in_box(&mut self, slot: u32, t: f64) {
        let end = self.ahead.bodies[slot as usize];
        let left = (self.first_item[slot as usize]..self.first_item[slot as usize + 1])
            .any(|item| !self.s.boxes[item as usize].contains(&self.bounds_at(item, &end)));
        if left {
            self.sweep(slot, t);
        }
    }

    fn bounds_at(&self, item: u32, s: &BodyState) -> Aabb {
        let (slot, shape) = self.items[item as usize];
        let body = self.body(slot);
        let desc = &body.shapes[shape as usize];
        desc.shape.bounds(&s.frame(body).compose(&desc.pose))
    }

    /// Bounds of a shape from `t` to the end of the frame.
    fn bound(&mut self, item: u32, t: f64) {
        let (slot, shape) = self.items[item as usize];
        let s = self.at(slot, t);
        let here = self.bounds_at(item, &s);
        let dt = (self.frame_end() - t).max(0.0);
        let bounds = match self.way(slot) {
            Way::Still => here,
            Way::Ballistic => {
                let spin = {
                    let flight = self.flight(slot, shape, t);
                    flight.rates(0.0, &flight.pose).spin
                };
                let reach = self.body(slot).reach;
                let way = parabola(s.velocity, self.acceleration(slot), dt);
                let turned = here.grown(reach * (spin * dt).min(2.0));
                // No farther than the shape now, turned, nor than the ball about the centre of mass.
                let min = (turned.min + way.min).max(s.position + way.min - reach);
                let max = (turned.max + way.max).min(s.position + way.max + reach);
                Aabb { min, max }.grown(self.params.band * reach)
            }
            Way::Prescribed => {
                let (speed, spin, reach) = {
                    let flight = self.flight(slot, shape, t);
                    let rates = flight.rates(0.0, &flight.pose);
                    (
                        rates.velocity.length() + rates.speed,
                        rates.spin,
                        flight.center.length(),
                    )
                };
                let reach = reach + self.body(slot).shapes[shape as usize].shape.reach();
                let turn = if spin > 0.0 { reach * spin } else { 0.0 };
                here.grown((speed + turn) * dt)
            }
            Way::Grouped => {
                let reach = self.body(slot).reach;
                let speed = s.velocity.length() + s.angular_velocity.length() * reach;
                let fall = 0.5 * GENEROUS * self.model.gravity.length() * dt * dt;
                here.grown(speed * dt + fall + MARGIN * reach)
            }
        };
        self.s.boxes[item as usize] = bounds;
        self.search.set(item, bounds);
    }

    /// Takes in the pairs of a shape whose boxes overlap, and lets the others go.
    fn find_pairs(&mut self, item: u32, t: f64) {
        let (slot, shape) = self.items[item as usize];
        let mut found = std::mem::take(&mut self.found);
        self.search
            .overlapping(&self.s.boxes[item as usize], &mut found);
        found.retain(|&other| self.may_meet(item, other));
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        numbers.extend_from_slice(self.s.near.of(slot));
        for &number in &numbers {
            let key = self.s.near.get(number).key;
            let (own, other) = if key.body_a == slot {
                (key.shape_a, (key.body_b, key.shape_b))
            } else {
                (key.shape_b, (key.body_a, key.shape_a))
            };
            if own != shape {
                continue;
            }
            let other = self.first_item[other.0 as usize] + other.1;
            match found.binary_search(&other) {
                Ok(k) => {
                    found.remove(k);
                }
                Err(_) => self.s.near.remove(number),
            }
        }
        for &other in &found {
            let (key, sensor) = self.pair_of(item, other);
            let next = if self.is_left_out(&key) || sensor {
                f64::INFINITY
            } else {
                t
            };
            self.s.near.insert(Pair {
                key,
                next,
                arrives: false,
                impacts: 0,
                sensor,
            });
        }
        self.found = found;
        self.numbers = numbers;
    }

    fn pair_of(&self, item: u32, other: u32) -> (PairKey, bool) {
        let (low, high) = (item.min(other), item.max(other));
        let ((a, shape_a), (b, shape_b)) = (self.items[low as usize], self.items[high as usize]);
        let sensor = |slot: u32, shape: u32| self.body(slot).shapes[shape as usize].sensor;
        let key = PairKey {
            body_a: a,
            body_b: b,
            shape_a,
            shape_b,
        };
        (key, sensor(a, shape_a) || sensor(b, shape_b))
    }

    /// Whether two shapes could ever touch: of different bodies, one of them moved by impulses, not kept apart by filters or joints.
    fn may_meet(&self, item: u32, other: u32) -> bool {
        let ((a, shape_a), (b, shape_b)) = (self.items[item as usize], self.items[other as usize]);
        if a == b {
            return false;
        }
        let (body_a, body_b) = (self.body(a), self.body(b));
        let allowed = body_a.shapes[shape_a as usize]
            .filter
            .allows(body_b.shapes[shape_b as usize].filter);
        let jointed = self.model.are_jointed((a, shape_a), (b, shape_b));
        (body_a.is_awake() || body_b.is_awake()) && allowed && !jointed
    }

    /// Whether the solver of groups sees a pair by itself: it rests, or is left to it.
    pub(super) fn is_left_out(&self, key: &PairKey) -> bool {
        if self.s.resting(key).is_some() {
            return true;
        }
        let (a, b) = (key.body_a, key.body_b);
        let handed = self.rules.handed[a as usize] || self.rules.handed[b as usize];
        handed && self.way(a) != Way::Ballistic && self.way(b) != Way::Ballistic
    }
}

/// Where a parabola leads from the origin within `dt`: its box.
fn parabola(v: Vec3, a: Vec3, dt: f64) -> Aabb {
    let at = |t: f64| v * t + a * (0.5 * t * t);
    let end = at(dt);
    let mut bounds = Aabb {
        min: end.min(Vec3::ZERO),
        max: end.max(Vec3::ZERO),
    };
    for k in 0..3 {
        let apex = -v[k] / a[k];
        if apex > 0.0 && apex < dt {
            bounds.min[k] = bounds.min[k].min(at(apex)[k]);
            bounds.max[k] = bounds.max[k].max(at(apex)[k]);
        }
    }
    bounds
}
