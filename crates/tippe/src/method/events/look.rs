//! Looks: how long a near pair stays apart at least, and what happens when it no longer does.
//!
//! Reads: paths, shapes.  Writes: the heap.
//! Called by: `method::events`.
//! Source: [Mirtich94] §3.1. A look follows the bound of `collide::advance` for a few steps; the pair is looked at again where that ended. Two
//! shapes count as touching within TOUCH of the smaller one: a lower bound that gets there has found the root of the gap from above.

use super::Run;
use crate::collide::advance::{self, TimeOfImpact};
use crate::math::Vec3;
use crate::state::PairKey;

/// Distance at which two shapes touch, relative to the smaller body [1].
pub(super) const TOUCH: f64 = 1e-10;
/// The same where the distance is not known better: curved shapes whose closest points are found by search [1].
const TOUCH_ROUND: f64 = 1e-8;
/// Steps of one look, in poses.
const LOOK_POSES: f64 = 24.0;
/// Part of the band that a pair may come closer between two looks if no better bound is found [1].
const UNSEEN_BAND: f64 = 0.1;

impl Run<'_> {
    /// Size of a pair [m]: the reach of its smaller body.
    pub(super) fn size(&self, key: &PairKey) -> f64 {
        let reach = |slot: u32| {
            let body = self.body(slot);
            if body.is_dynamic() {
                body.reach
            } else {
                f64::INFINITY
            }
        };
        reach(key.body_a).min(reach(key.body_b))
    }

    /// The band of a pair ε_c [m].
    pub(super) fn band(&self, key: &PairKey) -> f64 {
        self.params.band * self.size(key)
    }

    /// Speed gained by falling through the band of a pair [m/s]; motors and joints may pull harder than gravity.
    pub(super) fn slow(&self, key: &PairKey) -> f64 {
        let pulls = |slot: u32| {
            let held = self.is_tied(slot) || self.driven[slot as usize];
            if held {
                self.mean_accelerations(slot).0.length()
            } else {
                0.0
            }
        };
        let a = self.model.gravity.length();
        let a = a.max(pulls(key.body_a)).max(pulls(key.body_b));
        (2.0 * a * self.band(key)).sqrt()
    }

    /// Looks at a pair at time `t`: apart for good, apart for a while, or touching. Says whether it touches now.
    pub(super) fn look(&mut self, number: u32, t: f64) -> bool {
        let key = self.s.near.get(number).key;
        self.looks += 1;
        let until = self
            .frame_end()
            .min(self.known_until(key.body_a))
            .min(self.known_until(key.body_b));
        let touch = TOUCH * self.size(&key);
        let horizon = (until - t).max(0.0);
        let found = self.between(&key, t, |a, b| {
            advance::search(a, b, horizon, touch, LOOK_POSES)
        });
        match found {
            Ok(TimeOfImpact::Apart) => self.s.near.schedule(number, f64::INFINITY, false),
            Ok(TimeOfImpact::At { time, .. }) if t + time > t => {
                self.s.near.schedule(number, t + time, true);
            }
            Ok(TimeOfImpact::At { .. }) => return true,
            Ok(TimeOfImpact::Unresolved { time }) => {
                let wait = self.shortest_wait(&key, t);
                if time < wait && self.distance(&key, t) <= TOUCH_ROUND * self.size(&key) {
                    return true;
                }
                self.s.near.schedule(number, t + time.max(wait), false);
            }
            Err(_) => {
                // Checked when the scene began: what has no distance never meets.
                self.s.near.schedule(number, f64::INFINITY, false);
            }
        }
        false
    }

    /// Lets a pair that touches and does not approach go on, until it could have come closer.
    pub(super) fn let_part(&mut self, number: u32, t: f64, n: Vec3) {
        let key = self.s.near.get(number).key;
        let width = 0.5 * TOUCH * self.size(&key);
        let free = self.between(&key, t, |a, b| advance::parting_time(a, b, n, width));
        let wait = free.max(self.shortest_wait(&key, t));
        let until = self
            .frame_end()
            .min(self.known_until(key.body_a))
            .min(self.known_until(key.body_b));
        let next = if t + wait > until {
            f64::INFINITY
        } else {
            t + wait
        };
        self.s.near.schedule(number, next, false);
    }

    /// The shortest time between two looks [s]: in it a pair cannot come closer than a part of its band.
    fn shortest_wait(&mut self, key: &PairKey, t: f64) -> f64 {
        let band = self.band(key);
        let speed = self.between(key, t, advance::closing_speed);
        let fall = 1e-3 * (band / self.model.gravity.length().max(f64::MIN_POSITIVE)).sqrt();
        (UNSEEN_BAND * band / speed.max(f64::MIN_POSITIVE))
            .min(fall)
            .min(self.params.sweep)
    }

    fn distance(&mut self, key: &PairKey, t: f64) -> f64 {
        self.between(key, t, |a, b| {
            crate::geometry::distance(a.0, &a.1.pose, b.0, &b.1.pose).unwrap_or(f64::INFINITY)
        })
    }

    /// Asks a question about the two shapes of a pair and their flights from `t` on.
    pub(super) fn between<T>(
        &mut self,
        key: &PairKey,
        t: f64,
        ask: impl FnOnce(
            (&crate::Shape, &crate::collide::flight::Flight<'_>),
            (&crate::Shape, &crate::collide::flight::Flight<'_>),
        ) -> T,
    ) -> T {
        // Both states are known after this, so that the flights borrow nothing that changes.
        self.at(key.body_a, t);
        self.at(key.body_b, t);
        let (a, b) = (
            self.flight_known(key.body_a, key.shape_a, t),
            self.flight_known(key.body_b, key.shape_b, t),
        );
        let shape = |slot: u32, shape: u32| &self.body(slot).shapes[shape as usize].shape;
        ask(
            (shape(key.body_a, key.shape_a), &a),
            (shape(key.body_b, key.shape_b), &b),
        )
    }
}
