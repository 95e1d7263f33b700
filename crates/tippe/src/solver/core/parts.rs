//! A contact with rolling or spinning resistance or regularised sliding in the interior point: several cones that share one normal.
//!
//! Reads: velocities of the contact.  Writes: its unknowns, weights and directions.
//! Called by: `solver::core::interior`.
//! Source: cones |t| ≤ μ n, |m| ≤ a n, |w| ≤ b n on one normal, [AcaryBourrier21]; equations in docs/solver.md.
//!
//! Letters as in `interior`: x_j = T_j r̂ = (c_j n̂, ẑ_j) for each cone j, and Σ T_jᵀ y_j = û + ŝ n. Then Δy_j = W_j d_j − W_j² T_j Δr̂, and with H = Σ T_jᵀ W_j² T_j
//! the rows answer by Δr̂ = (H + δ)⁻¹ (Σ T_jᵀ W_j d_j − f), f the change of û + ŝ n and what it lacks. Regularised sliding has no cone: its impulse
//! −μ n g(u), g = u/√(u² + ε²), is linearised in n and u, with ε larger while the complementarity is.

use super::interior::after;
use super::scaling::{Point, Scaling, determinant, dot, product, quotient, reach};
use crate::solver::law::{length, smooth_shift};
use crate::solver::problem::Friction;

/// Rows of the three cones beside the normal.
const ROWS: [std::ops::Range<usize>; 3] = [1..3, 3..5, 5..6];

/// Part of its largest value [1] by which a regularised friction may miss its law to be linearised by its derivative.
const NEAR: f64 = 0.1;

/// One contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    friction: Friction,
    /// Scaled coefficients; which cones there are, and whether they have rows of their own (a lone normal has none).
    c: [f64; 3],
    active: [bool; 3],
    bare: bool,
    x: [Point; 3],
    y: [Point; 3],
    dx: [Point; 3],
    dy: [Point; 3],
    first_dx: [Point; 3],
    first_dy: [Point; 3],
    wanted: [Point; 3],
    scalings: [Scaling; 3],
    /// By row, scaled: what û + ŝ n lacks of Σ Tᵀ y; derivative of the shift.
    slack: [f64; 6],
    slope: [f64; 6],
    /// (H + δ)⁻¹, zero at rows without a cone.
    inverse: [f64; 36],
    /// Regularised sliding: g, its derivative times μ n, and what the impulse lacks, scaled.
    g: [f64; 2],
    stiffness: [f64; 3],
    lack: [f64; 2],
    /// Σ Tᵀ W d of the direction at hand.
    pushed: [f64; 6],
}

impl Parts {
    /// The contact at impulses and velocities (scaled), at least `inside` from the boundary.
    pub(super) fn new(friction: &Friction, kappa: f64, r: &[f64], u: &[f64], inside: f64) -> Self {
        let regular = friction.slip_speed > 0.0;
        let c = [
            friction.sliding,
            friction.rolling / kappa,
            friction.spinning / kappa,
        ];
        let mut active = [
            c[0] > 0.0 && !regular,
            c[1] > 0.0 && r.len() == 6,
            c[2] > 0.0 && r.len() == 6,
        ];
        let bare = active == [false; 3];
        active[0] |= bare;
        let mut parts = Self {
            friction: *friction,
            c: if bare { [1.0, 0.0, 0.0] } else { c },
            active,
            bare,
            x: [[0.0; 3]; 3],
            y: [[0.0; 3]; 3],
            dx: [[0.0; 3]; 3],
            dy: [[0.0; 3]; 3],
            first_dx: [[0.0; 3]; 3],
            first_dy: [[0.0; 3]; 3],
            wanted: [[0.0; 3]; 3],
            scalings: [Scaling::default(); 3],
            slack: [0.0; 6],
            slope: [0.0; 6],
            inverse: [0.0; 36],
            g: [0.0; 2],
            stiffness: [0.0; 3],
            lack: [0.0; 2],
            pushed: [0.0; 6],
        };
        let (mut n, mut widest) = (r[0].max(0.0), 0.0_f64);
        for j in parts.cones() {
            let z = parts.beside(j, r);
            n = n.max(length(z[1], z[2]) / parts.c[j]);
            widest = widest.max(parts.c[j]);
        }
        n += inside / widest;
        for j in parts.cones() {
            let (mut x, mut y) = (parts.beside(j, r), parts.beside(j, u));
            x[0] = parts.c[j] * n;
            y[0] = length(y[1], y[2]) + inside;
            (parts.x[j], parts.y[j]) = (x, y);
        }
        parts
    }

    fn cones(&self) -> impl Iterator<Item = usize> + use<> {
        let active = self.active;
        (0..3).filter(move |&j| active[j])
    }

    /// Number of cones.
    pub(super) fn degree(&self) -> f64 {
        self.cones().count() as f64
    }

    /// Rows of a cone beside the normal.
    fn rows_of(&self, j: usize) -> std::ops::Range<usize> {
        if self.bare { 1..1 } else { ROWS[j].clone() }
    }

    /// (0, z_j)
    fn beside(&self, j: usize, z: &[f64]) -> Point {
        let mut point = [0.0; 3];
        for (k, i) in self.rows_of(j).enumerate() {
            point[1 + k] = z[i];
        }
        point
    }

    /// T_j z
    fn spread(&self, j: usize, z: &[f64; 6]) -> Point {
        let mut point = self.beside(j, z);
        point[0] = self.c[j] * z[0];
        point
    }

    /// z + T_jᵀ p
    fn gather(&self, j: usize, p: &Point, z: &mut [f64; 6]) {
        z[0] += self.c[j] * p[0];
        for (k, i) in self.rows_of(j).enumerate() {
            z[i] += p[1 + k];
        }
    }

    fn is_regular(&self) -> bool {
        self.friction.slip_speed > 0.0
    }

    /// The scaled impulses of the cones; others are left as they are.
    pub(super) fn impulse(&self, r: &mut [f64; 6]) {
        for j in self.cones() {
            r[0] = self.x[j][0] / self.c[j];
            for (k, i) in self.rows_of(j).enumerate() {
                r[i] = self.x[j][1 + k];
            }
        }
    }

    /// Σ x·y after α of the direction.
    pub(super) fn complementarity(&self, alpha: f64) -> f64 {
        let at = |j| {
            dot(
                &after(&self.x[j], &self.dx[j], alpha),
                &after(&self.y[j], &self.dy[j], alpha),
            )
        };
        self.cones().map(at).sum()
    }

    /// Largest entry of what velocities lack.
    pub(super) fn slack_size(&self) -> f64 {
        self.slack.iter().fold(0.0, |a: f64, x| a.max(x.abs()))
    }

    /// Scalings, inverse and linearised sliding at scaled velocities and impulses; `smoothing` is that of the shift, in scaled velocities, `slip` the scaled `slip_speed`.
    pub(super) fn prepare(
        &mut self,
        r: &[f64; 6],
        u: &[f64; 6],
        smoothing: f64,
        slip: f64,
        delta: f64,
    ) {
        self.slope = [0.0; 6];
        self.slack = [0.0; 6];
        let mut given = [0.0; 6];
        for j in self.cones() {
            self.gather(j, &self.y[j], &mut given);
            self.scalings[j] = Scaling::new(&self.y[j], &self.x[j], delta);
            let z = self.beside(j, u);
            let (s, slope) = smooth_shift(self.c[j], [z[1], z[2]], smoothing);
            self.slack[0] += s;
            for (k, i) in self.rows_of(j).enumerate() {
                self.slope[i] = slope[k];
                self.slack[i] = u[i] - self.y[j][1 + k];
            }
        }
        self.slack[0] += u[0] - given[0];
        self.invert(delta);
        if self.is_regular() {
            let epsilon = slip + smoothing;
            let root = (u[1] * u[1] + u[2] * u[2] + epsilon * epsilon).sqrt();
            let g = [u[1] / root, u[2] / root];
            let pressed = self.friction.sliding * r[0];
            let s = pressed / root;
            self.g = g;
            self.lack = [-pressed * g[0] - r[1], -pressed * g[1] - r[2]];
            // Far from the law the secant, which never overshoots; near it the tangent.
            let tangent = length(self.lack[0], self.lack[1]) <= NEAR * pressed;
            let t = if tangent { 1.0 } else { 0.0 };
            self.stiffness = [
                s * (1.0 - t * g[0] * g[0]),
                -s * t * g[0] * g[1],
                s * (1.0 - t * g[1] * g[1]),
            ];
        }
    }

    /// (Σ Tᵀ W² T + δ)⁻¹ over the rows that cones have.
    fn invert(&mut self, delta: f64) {
        let mut a = [0.0; 36];
        let mut used = [true, false, false, false, false, false];
        for j in self.cones() {
            for i in self.rows_of(j) {
                used[i] = true;
            }
        }
        for i in (0..6).filter(|&i| used[i]) {
            let mut unit = [0.0; 6];
            unit[i] = 1.0;
            let mut column = [0.0; 6];
            for j in self.cones() {
                let w = &self.scalings[j];
                self.gather(j, &w.times(&w.times(&self.spread(j, &unit))), &mut column);
            }
            for k in 0..6 {
                a[6 * k + i] = column[k];
            }
            a[7 * i] += delta;
        }
        for i in (0..6).filter(|&i| !used[i]) {
            a[7 * i] = 1.0;
        }
        self.inverse = crate::solver::problem::inverted(&a).unwrap_or([0.0; 36]);
        for i in (0..6).filter(|&i| !used[i]) {
            self.inverse[7 * i] = 0.0;
        }
    }

    /// Weights by scaled velocities, and the derivative of the shift; with how friction follows the normal impulse if the matrix need not be symmetric.
    pub(super) fn weights(&self, general: bool) -> ([f64; 36], [f64; 6]) {
        let mut d = self.inverse;
        if self.is_regular() {
            for i in 1..3 {
                for k in 0..6 {
                    d[6 * i + k] = if general {
                        -self.friction.sliding * self.g[i - 1] * d[k]
                    } else {
                        0.0
                    };
                }
            }
            let s = &self.stiffness;
            for (at, s) in [(7, s[0]), (8, s[1]), (13, s[1]), (14, s[2])] {
                d[at] += s;
            }
        }
        (d, self.slope)
    }

    /// Keeps the direction as the predictor's.
    pub(super) fn keep_first(&mut self) {
        self.first_dx = self.dx;
        self.first_dy = self.dy;
    }

    /// Part of Δr̂ that does not depend on Δv.
    pub(super) fn aim(&mut self, target: f64, correct: bool, general: bool) -> [f64; 6] {
        self.pushed = [0.0; 6];
        for j in self.cones() {
            let w = self.scalings[j];
            let scaled = w.times(&self.x[j]);
            let squared = product(&scaled, &scaled);
            let mut rest = [target - squared[0], -squared[1], -squared[2]];
            if correct {
                let second = product(&w.over(&self.first_dy[j]), &w.times(&self.first_dx[j]));
                rest = after(&rest, &second, -1.0);
            }
            self.wanted[j] = w.times(&quotient(&scaled, &rest));
            let (wanted, mut pushed) = (self.wanted[j], self.pushed);
            self.gather(j, &wanted, &mut pushed);
            self.pushed = pushed;
        }
        let rest = std::array::from_fn(|i| self.pushed[i] - self.slack[i]);
        self.answer(&rest, [0.0; 2], general)
    }

    /// Δr̂ for a right-hand side of the cones and changes of the sliding velocity.
    fn answer(&self, rest: &[f64; 6], slip: [f64; 2], general: bool) -> [f64; 6] {
        let mut r = [0.0; 6];
        for i in 0..6 {
            for k in 0..6 {
                r[i] += self.inverse[6 * i + k] * rest[k];
            }
        }
        if self.is_regular() {
            let s = &self.stiffness;
            let back = [
                s[0] * slip[0] + s[1] * slip[1],
                s[1] * slip[0] + s[2] * slip[1],
            ];
            for k in 0..2 {
                let through = if general {
                    self.friction.sliding * self.g[k] * r[0]
                } else {
                    0.0
                };
                r[1 + k] = self.lack[k] - through - back[k];
            }
        }
        r
    }

    /// The direction of all unknowns from the scaled change of velocities; returns Δr̂.
    pub(super) fn follow(&mut self, u: &[f64; 6], general: bool) -> [f64; 6] {
        let mut rest = [0.0; 6];
        for i in 0..6 {
            rest[i] = self.pushed[i] - self.slack[i] - u[i];
            if general {
                rest[0] -= self.slope[i] * u[i];
            }
        }
        let r = self.answer(&rest, [u[1], u[2]], general);
        for j in self.cones() {
            let w = &self.scalings[j];
            self.dx[j] = self.spread(j, &r);
            self.dy[j] = after(&self.wanted[j], &w.times(&w.times(&self.dx[j])), -1.0);
        }
        r
    }

    /// The way to the boundary.
    pub(super) fn longest(&self, far: f64) -> f64 {
        let at = |j| reach(&self.x[j], &self.dx[j], far).min(reach(&self.y[j], &self.dy[j], far));
        self.cones().map(at).fold(far, f64::min)
    }

    /// Whether rounding left all cones positive.
    pub(super) fn stays_inside(&self, alpha: f64) -> bool {
        let fine = |x: &Point, d: &Point| determinant(&after(x, d, alpha)) > 1e-14 * determinant(x);
        self.cones()
            .all(|j| fine(&self.x[j], &self.dx[j]) && fine(&self.y[j], &self.dy[j]))
    }

    /// Goes a part of the direction.
    pub(super) fn go(&mut self, alpha: f64) {
        for j in self.cones() {
            self.x[j] = after(&self.x[j], &self.dx[j], alpha);
            self.y[j] = after(&self.y[j], &self.dy[j], alpha);
        }
    }
}
