//! A row of elastic balls on a line: which speeds an impact leaves, and how long it takes to pass.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: users, `tippe lab`, `laboratory::gliders`.
//! Source: [Lecture] "Analyzing Newton's Cradle": m ẍ_i = F(ξ_{i−1}) − F(ξ_i), F = H ξʳ where two overlap by ξ, else 0. Integrated by the pair
//! of orders 5 and 4 of [Dormand80] with its error estimate.

use crate::compliance::ContactLaw;
use crate::error::BuildError;

/// A row of balls from left to right, all just touching.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Mass of each ball [kg].
    pub masses: Vec<f64>,
    /// The law of each contact, one less than balls.
    pub laws: Vec<ContactLaw>,
}

/// What an impact along the row came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// Speeds once nothing touches and nothing will [m/s].
    pub velocities: Vec<f64>,
    /// When the last ball has half of its final speed [s].
    pub propagation: f64,
    /// Time, and all velocities then: one entry for each step of the integration.
    pub course: Vec<(f64, Vec<f64>)>,
    /// Change of the energy relative to that at the start [1].
    pub energy_error: f64,
    /// Whether it came to its end before the limit of steps.
    pub finished: bool,
}

/// Most steps of an integration.
const STEPS_MAX: usize = 2_000_000;
/// Error of a step, relative to the largest speed at the start [1].
const STEP_ERROR: f64 = 1e-12;
/// First step, relative to the shortest time scale of a contact [1].
const FIRST_STEP: f64 = 1e-3;

impl Chain {
    /// `count` equal balls with F = H ξʳ between them.
    ///
    /// # Errors
    /// Fewer than two balls, a mass or stiffness that is not positive and finite, an exponent below 1.
    pub fn equal(count: usize, mass: f64, law: ContactLaw) -> Result<Self, BuildError> {
        let chain = Self {
            masses: vec![mass; count],
            laws: vec![law; count.saturating_sub(1)],
        };
        chain.check()?;
        Ok(chain)
    }

    /// Checks every number for sense.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn check(&self) -> Result<(), BuildError> {
        let count = self.masses.len();
        if count < 2 || self.laws.len() + 1 != count {
            let reason = format!(
                "{count} balls need one contact less, got {}",
                self.laws.len()
            );
            return Err(BuildError::new("masses", reason));
        }
        let good = |x: f64| x.is_finite() && x > 0.0;
        if let Some(m) = self.masses.iter().find(|m| !good(**m)) {
            let reason = format!("must be positive and finite, got {m}");
            return Err(BuildError::new("masses", reason));
        }
        for law in &self.laws {
            if !good(law.stiffness) {
                let reason = format!("must be positive and finite, got {}", law.stiffness);
                return Err(BuildError::new("stiffness", reason));
            }
            if !law.exponent.is_finite() || law.exponent < 1.0 {
                let reason = format!("must be at least 1, got {}", law.exponent);
                return Err(BuildError::new("exponent", reason));
            }
        }
        Ok(())
    }

    /// Time scale of its first contact at a speed of arrival: τ = (m/H)^(1/(r+1)) v^(−(r−1)/(r+1)) [s].
    #[must_use]
    pub fn time_scale(&self, speed: f64) -> f64 {
        time_scale(self.masses[0], self.laws[0], speed)
    }

    /// Lets the balls run into each other with these speeds until nothing touches and nothing will.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn collide(&self, velocities: &[f64]) -> Result<Passage, BuildError> {
        self.check()?;
        if velocities.len() != self.masses.len() || velocities.iter().any(|v| !v.is_finite()) {
            let reason = "needs one finite number for each ball";
            return Err(BuildError::new("velocities", reason));
        }
        Ok(Integration::new(self, velocities).run())
    }

    /// Energy of motion and of the contacts [J].
    fn energy(&self, y: &[f64]) -> f64 {
        let n = self.masses.len();
        let moving = |i: usize| 0.5 * self.masses[i] * y[n + i] * y[n + i];
        let held = |i: usize| self.laws[i].energy(y[i] - y[i + 1]);
        (0..n).map(moving).sum::<f64>() + (0..n - 1).map(held).sum::<f64>()
    }

    /// Rates of displacements and velocities.
    fn rate(&self, y: &[f64], out: &mut [f64]) {
        let n = self.masses.len();
        out[..n].copy_from_slice(&y[n..]);
        out[n..].fill(0.0);
        for i in 0..n - 1 {
            let force = self.laws[i].force(y[i] - y[i + 1]);
            out[n + i] -= force / self.masses[i];
            out[n + i + 1] += force / self.masses[i + 1];
        }
    }

    /// Whether nothing touches and nothing will: gaps are open and grow.
    fn is_over(&self, y: &[f64]) -> bool {
        let n = self.masses.len();
        (0..n - 1).all(|i| y[i] <= y[i + 1] && y[n + i] <= y[n + i + 1])
    }
}

/// τ = (m/H)^(1/(r+1)) v^(−(r−1)/(r+1)) [s].
#[must_use]
pub fn time_scale(mass: f64, law: ContactLaw, speed: f64) -> f64 {
    let r = law.exponent;
    libm::pow(mass / law.stiffness, 1.0 / (r + 1.0)) * libm::pow(speed, -(r - 1.0) / (r + 1.0))
}

/// Nodes and weights of [Dormand80], rows of the stages, order 5, and order 5 less order 4.
const STAGES: [[f64; 6]; 6] = [
    [0.2, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [
        19372.0 / 6561.0,
        -25360.0 / 2187.0,
        64448.0 / 6561.0,
        -212.0 / 729.0,
        0.0,
        0.0,
    ],
    [
        9017.0 / 3168.0,
        -355.0 / 33.0,
        46732.0 / 5247.0,
        49.0 / 176.0,
        -5103.0 / 18656.0,
        0.0,
    ],
    [
        35.0 / 384.0,
        0.0,
        500.0 / 1113.0,
        125.0 / 192.0,
        -2187.0 / 6784.0,
        11.0 / 84.0,
    ],
];
const DIFFERENCE: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339_200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];

/// An integration under way.
struct Integration<'a> {
    chain: &'a Chain,
    /// Displacements, then velocities.
    y: Vec<f64>,
    next: Vec<f64>,
    k: [Vec<f64>; 7],
    speed: f64,
    h: f64,
}

impl<'a> Integration<'a> {
    fn new(chain: &'a Chain, velocities: &[f64]) -> Self {
        let n = velocities.len();
        let mut y = vec![0.0; n];
        y.extend_from_slice(velocities);
        let speed = velocities.iter().fold(0.0, |s: f64, v| s.max(v.abs()));
        let scale = |(m, law): (&f64, &ContactLaw)| time_scale(*m, *law, speed);
        let shortest = chain.masses.iter().zip(&chain.laws).map(scale);
        let h = FIRST_STEP * shortest.fold(f64::INFINITY, f64::min);
        Self {
            chain,
            next: y.clone(),
            k: std::array::from_fn(|_| vec![0.0; 2 * n]),
            y,
            speed,
            h,
        }
    }

    fn run(mut self) -> Passage {
        let n = self.chain.masses.len();
        let start = self.chain.energy(&self.y);
        let mut t = 0.0;
        let mut course = vec![(t, self.y[n..].to_vec())];
        let mut finished = self.chain.is_over(&self.y);
        for _ in 0..STEPS_MAX {
            if finished {
                break;
            }
            let error = self.step();
            let room = 0.9 * libm::pow(error.max(1e-10), -0.2);
            if error <= 1.0 {
                t += self.h;
                std::mem::swap(&mut self.y, &mut self.next);
                course.push((t, self.y[n..].to_vec()));
                finished = self.chain.is_over(&self.y);
            }
            self.h *= room.clamp(0.2, 4.0);
        }
        let energy_error = if start > 0.0 {
            (self.chain.energy(&self.y) - start) / start
        } else {
            0.0
        };
        Passage {
            velocities: self.y[n..].to_vec(),
            propagation: half_time(&course),
            course,
            energy_error,
            finished,
        }
    }

    /// Tries one step; its error relative to the tolerance.
    fn step(&mut self) -> f64 {
        let (n, h) = (self.chain.masses.len(), self.h);
        self.chain.rate(&self.y, &mut self.k[0]);
        for (s, weights) in STAGES.iter().enumerate() {
            for i in 0..2 * n {
                let sum: f64 = (0..=s).map(|j| weights[j] * self.k[j][i]).sum();
                self.next[i] = self.y[i] + h * sum;
            }
            self.chain.rate(&self.next, &mut self.k[s + 1]);
        }
        let mut worst: f64 = 0.0;
        for i in 0..2 * n {
            let e = h * (0..7).map(|j| DIFFERENCE[j] * self.k[j][i]).sum::<f64>();
            // Displacements are measured by what a speed covers in the step.
            worst = worst.max(e.abs() / if i < n { h } else { 1.0 });
        }
        worst / (STEP_ERROR * self.speed)
    }
}

/// When the last ball has half of its final speed, between two steps along a line.
fn half_time(course: &[(f64, Vec<f64>)]) -> f64 {
    let last = |entry: &(f64, Vec<f64>)| entry.1.last().copied().unwrap_or(0.0);
    let Some(half) = course.last().map(|e| 0.5 * last(e)) else {
        return 0.0;
    };
    for pair in course.windows(2) {
        let (a, b) = (last(&pair[0]), last(&pair[1]));
        if a < half && b >= half {
            return pair[0].0 + (pair[1].0 - pair[0].0) * (half - a) / (b - a);
        }
    }
    0.0
}
