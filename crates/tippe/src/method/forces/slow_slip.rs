//! Slow slip: friction turns with the slip, the faster the slower the slip is, and an explicit step cannot follow.
//!
//! Reads: contacts that slide, their slip and load.  Writes: directions of friction for the piece that begins.
//! Called by: `method::forces`.
//! Source: across its direction, friction damps slip at the rate λ = μ f_n K_t/|u_t|, which has no bound where slip begins or ends. Where
//! λ h > 1 the direction of a piece is that of the slip at its end, found with the forces by one problem of cones (backward Euler, for the
//! direction alone); along a straight slip that is exact. A regularised contact has λ ≤ μ f_n K_t/ε: its pieces are shorter instead.

use super::modes;
use super::smooth::{Scene, Smooth};
use super::system::{Mode, Touch};
use crate::solver::law::length;
use crate::state::BodyState;

/// Share of the cone from which a contact of the solution slides [1].
const ON_CONE: f64 = 1.0 - 1e-6;
/// Turn of a regularised contact's friction that a piece may take [1].
const REGULARISED: f64 = 1.0;

impl Smooth {
    /// Rate λ at which friction damps slip across its direction, times |u_t| [m/s²]. The system must be solved.
    fn turning(&self, touch: &Touch) -> f64 {
        let response = self.system.response(touch);
        touch.friction * touch.force[0] * response.y_axis.y.max(response.z_axis.z)
    }

    /// Longest piece that regularised contacts allow [s].
    pub(crate) fn longest(&self, scene: &Scene<'_>) -> f64 {
        let mut longest = self.longest_of_trees(scene.model);
        for (touch, active) in self.system.touches.iter().zip(&self.active) {
            let slip_speed = scene.contacts[active.contact as usize].surface.slip_speed;
            let turning = self.turning(touch);
            if slip_speed > 0.0 && turning > 0.0 {
                longest = longest.min(REGULARISED * slip_speed / turning);
            }
        }
        longest
    }

    /// Gives contacts that slip slowly the direction of their slip after `h`. The system must be solved at the start of the piece; it is again.
    pub(crate) fn foresee(&mut self, scene: &Scene<'_>, bodies: &[BodyState], t: f64, h: f64) {
        let mut slow = Vec::new();
        for (k, touch) in self.system.touches.iter().enumerate() {
            let c = &scene.contacts[self.active[k].contact as usize];
            let Mode::Slide(_) = touch.mode else {
                continue;
            };
            let u = super::locate::slip(c, bodies);
            if c.surface.slip_speed == 0.0 && self.turning(touch) * h > u.length() {
                slow.push((k, u));
            }
        }
        if slow.is_empty() {
            return;
        }
        self.pose(scene, bodies, t);
        for &(k, u) in &slow {
            let touch = &mut self.system.touches[k];
            let along = touch.along(u / h);
            touch.bias[1] += along[1];
            touch.bias[2] += along[2];
            touch.friction_static = touch.friction;
            touch.mode = Mode::Stick;
        }
        let _ = self
            .solver
            .run(&mut self.system, &mut modes::Solved::default());
        for (k, _) in slow {
            let touch = self.system.touches[k];
            let [n, t1, t2] = touch.force;
            let size = length(t1, t2);
            if n > 0.0 && size > ON_CONE * touch.friction * n && size > 0.0 {
                let d = -(touch.frame[1] * t1 + touch.frame[2] * t2) / size;
                self.active[k].mode = Mode::Slide(d);
                self.active[k].frozen = true;
            }
        }
        self.pose(scene, bodies, t);
        if self.system.solve() {
            self.keep_forces();
        }
    }
}
