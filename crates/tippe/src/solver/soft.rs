//! Soft rows: a spring and damper, or a drive with gains, as a row whose impulse answers the velocity that it leaves.
//!
//! Reads: solver bodies.  Writes: its impulse.
//! Called by: `solver::joint`; aimed by `two_stage::springs`.
//! Source: λ = b + g (u* − u) within bounds, solved with all other rows: an implicit step of a spring and damper, stable at any gain.
//! Letters: λ impulse, u velocity along the row, r = J M⁻¹ Jᵀ its response.

use crate::dynamics::joint::JointRow;
use crate::solver::ends::SolverBody;

/// A row whose impulse is a falling line in the velocity it leaves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Soft {
    pub row: JointRow,
    /// Impulse at the target velocity, and how much it falls with the velocity [N·s], [N·s per m/s].
    pub bias: f64,
    pub gain: f64,
    pub target: f64,
    /// Bounds of the impulse; both zero: the row does nothing.
    pub low: f64,
    pub high: f64,
    pub lambda: f64,
    /// 1 / (J M⁻¹ Jᵀ).
    pub mass: f64,
    /// Where the spring is, and where it was at the start of the substep [m or rad].
    pub value: f64,
    pub start: f64,
    /// For the ledger: the impulse given before the solve, and the velocity along the row before that.
    pub kick: f64,
    pub before: f64,
    /// For the ledger: what of the impulse is the damper's, and what implicit stiffness adds, each as (bias, gain).
    pub damper: (f64, f64),
    pub numerical: (f64, f64),
}

/// What a soft row did in a solve [J].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SoftWork {
    /// Put in by the spring.
    pub spring: f64,
    /// Taken by the damper.
    pub damper: f64,
    /// Taken by implicit stiffness.
    pub numerical: f64,
}

impl Soft {
    /// Lets the row act, if it has anything to do.
    pub(crate) fn open(&mut self) {
        if self.gain > 0.0 || self.bias != 0.0 {
            (self.low, self.high) = (f64::NEG_INFINITY, f64::INFINITY);
        }
    }

    /// Whether the row acts.
    pub(crate) fn acts(&self) -> bool {
        self.low < self.high
    }

    /// The impulse after one visit, which answers the velocity that it leaves: λ = b + g (u* − u − r (λ − λ₀)).
    pub(crate) fn visited(&self, u: f64) -> f64 {
        let response = 1.0 / self.mass;
        let free = self.target - u + response * self.lambda;
        ((self.bias + self.gain * free) / (1.0 + self.gain * response)).clamp(self.low, self.high)
    }

    /// Works in the solve: every impulse at the mean of the velocities before and after.
    pub(crate) fn work(&self, a: &SolverBody, b: &SolverBody) -> SoftWork {
        let u = self.row.velocity(a, b);
        let mean = 0.5 * (self.before + u);
        let part = |(bias, gain): (f64, f64)| bias + gain * (self.target - u);
        // Where a bound holds the impulse back, all parts are held back alike.
        let asked = self.bias + self.gain * (self.target - u);
        let kept = if asked == 0.0 {
            1.0
        } else {
            self.lambda / asked
        };
        let (damper, numerical) = (kept * part(self.damper), kept * part(self.numerical));
        SoftWork {
            spring: (self.kick + self.lambda - damper - numerical) * mean,
            damper: -damper * mean,
            numerical: -numerical * mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;

    #[test]
    fn one_visit_is_the_implicit_answer() {
        let row = JointRow {
            e: Vec3::X,
            ..JointRow::default()
        };
        for gain in [0.0, 1e-3, 1.0, 1e9] {
            let soft = Soft {
                row,
                bias: 0.2,
                gain,
                target: 0.5,
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
                mass: 2.0,
                ..Soft::default()
            };
            let lambda = soft.visited(3.0);
            let u = 3.0 + lambda / soft.mass;
            let wanted = soft.bias + gain * (soft.target - u);
            let error = (lambda - wanted).abs();
            assert!(error <= 1e-6 * (1.0 + lambda.abs()), "{gain}: {error:e}");
        }
    }
}
