//! A leaning stack of bricks in the plane, without friction: which contacts carry, which open, and how the stack begins to fall.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: users, `tippe lab`.
//! Source: [Lecture] "Constructing the LCP": w = A f + b, 0 ≤ f ⊥ w ≥ 0, over the vertical motion and the turn of every brick.

#![allow(non_snake_case)]

use crate::error::BuildError;
use crate::math::lcp::{End, Kernel, Params, Problem, solve};

/// Equal bricks on a fixed one, each shifted against the one below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bricks {
    /// Bricks on top of the fixed one.
    pub count: usize,
    /// Length and height [m].
    pub length: f64,
    /// Height [m].
    pub height: f64,
    /// Mass of each [kg].
    pub mass: f64,
    /// Shift of each against the one below [m].
    pub shift: f64,
    /// Gravity [m/s²].
    pub gravity: f64,
}

/// The stack at the moment it is let go.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Contact forces, left and right end of each overlap, bottom to top [N].
    pub forces: Vec<f64>,
    /// Acceleration of the same gaps [m/s²].
    pub openings: Vec<f64>,
    /// Vertical acceleration of each brick [m/s²].
    pub accelerations: Vec<f64>,
    /// Its angular acceleration, positive to the left [rad/s²].
    pub turns: Vec<f64>,
}

/// Most bricks: the matrix is dense.
pub const BRICKS_MAX: usize = 500;

impl Bricks {
    /// The stack of the lecture: four bricks, 2 m by 0.5 m, 1 kg.
    #[must_use]
    pub const fn lecture(shift: f64) -> Self {
        Self {
            count: 4,
            length: 2.0,
            height: 0.5,
            mass: 1.0,
            shift,
            gravity: 9.81,
        }
    }

    /// Forces and accelerations when it is let go, by a pivoting kernel.
    ///
    /// # Errors
    /// Numbers without sense, bricks that do not overlap, or a kernel that found no answer.
    pub fn release(&self, kernel: Kernel) -> Result<Moment, BuildError> {
        self.check()?;
        let J = self.rows();
        let n = J.len();
        let mut A = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                A[i * n + j] = J[i].iter().zip(&J[j]).map(|(x, y)| x * y).sum();
            }
        }
        // Gravity is the same for all: only the gap to the fixed brick closes by it.
        let b = (0..n).map(|i| if i < 2 { -self.gravity } else { 0.0 });
        let problem = Problem::one_sided(A, b.collect())?;
        let found = solve(kernel, &problem, &Params::default(), None);
        if found.end != End::Solved {
            return Err(BuildError::new("kernel", found.end.name()));
        }
        let along = |k: usize| -> f64 {
            let pushes = J.iter().zip(&found.f);
            pushes.map(|(row, f)| row[k] * f).sum()
        };
        let (up, turn) = (1.0 / self.mass.sqrt(), 1.0 / self.inertia().sqrt());
        Ok(Moment {
            accelerations: (0..self.count)
                .map(|k| along(2 * k) * up - self.gravity)
                .collect(),
            turns: (0..self.count).map(|k| along(2 * k + 1) * turn).collect(),
            openings: found.w,
            forces: found.f,
        })
    }

    fn check(&self) -> Result<(), BuildError> {
        let positive = [
            ("length", self.length),
            ("height", self.height),
            ("mass", self.mass),
            ("gravity", self.gravity),
        ];
        for (field, value) in positive {
            if !value.is_finite() || value <= 0.0 {
                let reason = format!("must be positive and finite, got {value}");
                return Err(BuildError::new(field, reason));
            }
        }
        if self.count == 0 || self.count > BRICKS_MAX {
            let reason = format!("must be between 1 and {BRICKS_MAX}, got {}", self.count);
            return Err(BuildError::new("count", reason));
        }
        if !(0.0..self.length).contains(&self.shift) {
            let reason = format!(
                "must be at least 0 and less than the length, got {}",
                self.shift
            );
            return Err(BuildError::new("shift", reason));
        }
        Ok(())
    }

    fn inertia(&self) -> f64 {
        self.mass * (self.length * self.length + self.height * self.height) / 12.0
    }

    /// Row of each contact over (height, angle) of each brick, by the roots of mass and inertia.
    fn rows(&self) -> Vec<Vec<f64>> {
        let mut rows = Vec::new();
        for k in 0..self.count {
            let left = (k + 1) as f64 * self.shift - 0.5 * self.length;
            let right = k as f64 * self.shift + 0.5 * self.length;
            for x in [left, right] {
                let mut row = vec![0.0; 2 * self.count];
                for (brick, sign) in [(k, -1.0), (k + 1, 1.0)] {
                    // Brick 0 is fixed.
                    let Some(place) = brick.checked_sub(1) else {
                        continue;
                    };
                    let lever = x - brick as f64 * self.shift;
                    row[2 * place] = sign / self.mass.sqrt();
                    row[2 * place + 1] = sign * lever / self.inertia().sqrt();
                }
                rows.push(row);
            }
        }
        rows
    }
}
