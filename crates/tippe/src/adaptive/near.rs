//! Links that are locked to the world and in the way of a prescribed motion.
//!
//! Reads: `Lean` (the lean model, placed).  Writes: nothing.
//! Called by: `adaptive`.
//! Source: docs/methods/adaptive.md, "In a world". Detection looks at pairs of which one can move by itself; a prescribed
//! body and what is locked to the world are no such pair, so they are looked at here, before joints are chosen.

use super::lean::{Lean, NONE};
use crate::articulated::Touch;
use crate::dynamics::integrate;
use crate::geometry::separation_within;
use crate::math::Vec3;
use crate::model::{Body, BodyKind};
use crate::state::BodyState;

impl Lean {
    /// By tree: where prescribed bodies are about to meet links that are locked to the world, and the normal towards the
    /// link. The motion of a body in the step bounds what is near enough.
    pub(super) fn struck(&self, dt: f64) -> Vec<Vec<(Touch, Vec3)>> {
        let mut out = vec![Vec::new(); self.trees.len()];
        for i in 0..self.full_of.len() {
            let Some(body) = self.model.bodies[i].as_ref() else {
                continue;
            };
            if !matches!(body.kind, BodyKind::Kinematic(_)) {
                continue;
            }
            let now = &self.state.bodies[i];
            let then = integrate::advance(body, now, Vec3::ZERO, self.state.time, dt);
            let turn = now.rotation.conjugate() * then.rotation;
            let turn = Vec3::new(turn.x, turn.y, turn.z).length().min(1.0);
            let turn = 2.0 * libm::asin(turn);
            // A half-space reaches without end: one that does not turn travels as far as it shifts.
            let turned = if turn > 0.0 { body.reach * turn } else { 0.0 };
            let travel = (then.position - now.position).length() + turned;
            if travel > 0.0 {
                for (t, found) in out.iter_mut().enumerate() {
                    self.struck_by((i as u32, body), now, &then, travel, t, found);
                }
            }
        }
        out
    }

    /// The links of one tree that a body meets.
    fn struck_by(
        &self,
        (slot, body): (u32, &Body),
        now: &BodyState,
        then: &BodyState,
        travel: f64,
        t: usize,
        out: &mut Vec<(Touch, Vec3)>,
    ) {
        let tree = &self.trees[t];
        let Some(Some(ground)) = self.model.bodies.get(tree.first as usize) else {
            return;
        };
        let (frame, next) = (now.frame(body), then.frame(body));
        for (k, own) in body.shapes.iter().enumerate().filter(|(_, s)| !s.sensor) {
            let pose = frame.compose(&own.pose);
            let way = own.shape.bounds(&pose).grown(travel);
            for (j, other) in ground.shapes.iter().enumerate() {
                let apart = !tree.boxes[j].overlaps(&way)
                    || other.sensor
                    || !own.filter.allows(other.filter)
                    || self
                        .model
                        .are_jointed((slot, k as u32), (tree.first, j as u32));
                if apart {
                    continue;
                }
                let found = separation_within(&own.shape, &pose, &other.shape, &other.pose, travel);
                let Ok(Some(s)) = found else {
                    continue;
                };
                let moved = next.point(frame.point_to_local(s.point_a)) - s.point_a;
                let (link_slot, _) = self.model.owners[tree.first as usize].shapes[j];
                let (owner, link) = self.link_of[link_slot as usize];
                if moved.dot(s.normal) > 0.0 && owner != NONE {
                    out.push((Touch::one(link as usize, s.point_b), s.normal));
                }
            }
        }
    }
}
