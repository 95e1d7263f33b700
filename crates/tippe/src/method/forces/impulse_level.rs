//! The impulse-level form: forces of contacts as impulses of the whole piece, so that nothing approaches and nothing slips at its end.
//!
//! Reads: `Smooth`, states at the start.  Writes: states at the end, sums over the piece.
//! Called by: `piece`, if the parameter asks for it.
//! Source: [StewartTrinkle96]: V⁺ = V + h a + M⁻¹ Jᵀ P, 0 ≤ P ⊥ u⁺ ≥ 0 with Coulomb's cone at the
//! end of the step. It always has an answer, also where no finite force has one, and is of order one; poses follow the mean velocity.

use super::impacts::velocities;
use super::modes;
use super::piece::Course;
use super::smooth::{Scene, Smooth};
use super::system::{Bound, Mode};
use crate::math::block_cholesky::Block6;
use crate::math::{Vec3, rotation};
use crate::solver::law::length;
use crate::state::BodyState;

impl Smooth {
    /// Goes on for `h` with one set of impulses. `end` holds flown and prescribed bodies.
    pub(crate) fn run_impulses(
        &mut self,
        scene: &Scene<'_>,
        start: &[BodyState],
        h: f64,
        end: &mut [BodyState],
    ) -> Course {
        let accelerations: Vec<Block6> = self.system.nodes.iter().map(|n| n.free).collect();
        velocities(self, scene, end);
        let mut before = Vec::new();
        for (node, &slot) in self.system.nodes.iter_mut().zip(&self.slots) {
            let s = &start[slot as usize];
            let (v, w) = (s.velocity, s.angular_velocity);
            before.push([v.x, v.y, v.z, w.x, w.y, w.z]);
            node.free = before[before.len() - 1];
        }
        // Trees after the bodies: `velocities` has left theirs.
        for node in &self.system.nodes[self.slots.len()..] {
            before.push(node.free);
        }
        for (node, a) in self.system.nodes.iter_mut().zip(&accelerations) {
            for (v, a) in node.free.iter_mut().zip(a) {
                *v += h * a;
            }
        }
        let mut slips = Vec::new();
        for k in 0..self.system.touches.len() {
            let u = self.system.contact_rate(&self.system.touches[k], &before);
            let touch = &mut self.system.touches[k];
            slips.push(u);
            if length(u[1], u[2]) > 0.0 && matches!(touch.mode, Mode::Slide(_)) {
                touch.friction_static = touch.friction;
            }
            touch.mode = Mode::Stick;
            touch.force = touch.force.map(|f| f * h);
        }
        for hold in &mut self.system.holds {
            hold.force *= h;
            // A motor has its speed at the end, if the impulse of its greatest force is enough.
            hold.low *= h;
            hold.high *= h;
            hold.bound = Bound::Held;
        }
        let solved = modes::find(&mut self.system, &mut self.solver);
        self.open += u32::from(!solved.met);
        self.sum_impulses(scene, end, &slips, h);
        for (node, &slot) in self.slots.iter().enumerate() {
            let mean: Block6 =
                std::array::from_fn(|k| 0.5 * (before[node][k] + self.system.result[node][k]));
            let [x, y, z, a, b, c] = self.system.result[node];
            let from = &start[slot as usize];
            let turn = Vec3::new(mean[3], mean[4], mean[5]) * h;
            end[slot as usize] = BodyState {
                position: from.position + Vec3::new(mean[0], mean[1], mean[2]) * h,
                rotation: rotation::normalized(rotation::exp(turn) * from.rotation),
                velocity: Vec3::new(x, y, z),
                angular_velocity: Vec3::new(a, b, c),
            };
        }
        self.trees_step(scene.model, &before, h, end);
        // What is remembered are forces again.
        for touch in &mut self.system.touches {
            touch.force = touch.force.map(|f| f / h);
        }
        for hold in &mut self.system.holds {
            hold.force /= h;
        }
        self.keep_forces();
        self.keep_modes();
        Course::Valid
    }

    /// Impulses and works of the piece.
    fn sum_impulses(&mut self, scene: &Scene<'_>, end: &[BodyState], slips: &[[f64; 3]], h: f64) {
        for (k, touch) in self.system.touches.iter().enumerate() {
            let after = self.system.contact_rate(touch, &self.system.result);
            let sum = &mut self.contact_sums[k];
            sum.impulse = touch.vector();
            for j in 1..3 {
                sum.friction -= touch.force[j] * 0.5 * (slips[k][j] + after[j]);
            }
            sum.prescribed = -(0..3).map(|j| touch.force[j] * touch.bias[j]).sum::<f64>();
        }
        for hold in &self.system.holds {
            let slot = self.joints[hold.owner as usize];
            if let Some(joint) = &scene.model.joints[slot as usize] {
                let mut row = *hold;
                row.force /= h;
                self.joint_sums[hold.owner as usize].add(joint, &row, end, scene.model, h);
            }
        }
        for (node, &slot) in self.slots.iter().enumerate() {
            let (load, s) = (&scene.loads[slot as usize], &end[slot as usize]);
            self.external[node] +=
                (load.force.dot(s.velocity) + load.torque.dot(s.angular_velocity)) * h;
        }
    }
}
