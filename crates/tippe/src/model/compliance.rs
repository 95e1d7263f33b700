//! Compliant contact as a property of a pair: how hard two surfaces press at a depth, and what damping gives a coefficient of restitution.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `model::material`, `method::forces`, `laboratory`.
//! Source: [Lecture] "Elastic Impact", "Hertz Constant"; [Hunt75] for the form of the damping; its constant by integration of the impact:
//! m ξ̈ = −k ξʳ (1 + λ ξ̇) leaves with e times the speed v of arrival if (1 + d)/(1 − e d) = exp(d (1 + e)), d = λ v, whatever k and r.

use crate::error::BuildError;

/// How two surfaces give way to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Compliance {
    /// Not at all: impacts are instantaneous, nothing penetrates.
    #[default]
    Rigid,
    /// F = k ξʳ at every point of touch, ξ its depth. Exponent 1 is a penalty spring.
    Power {
        /// k [N/mʳ].
        stiffness: f64,
        /// r [1], at least 1.
        exponent: f64,
    },
    /// Hertz' law between round surfaces, F = 4/3 E* √R* ξ^1.5, R* from the radii at the point of touch.
    Hertz {
        /// E*, 1/E* = (1 − ν₁²)/E₁ + (1 − ν₂²)/E₂ [Pa].
        modulus: f64,
    },
}

/// The law of one point of touch: F = k ξʳ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactLaw {
    /// k [N/mʳ].
    pub stiffness: f64,
    /// r [1].
    pub exponent: f64,
}

/// Exponents beyond this are no contact any more: a wall at a depth that nobody states.
pub const CONTACT_EXPONENT_MAX: f64 = 10.0;
/// Restitution below which damping is that of this value: none at all would need a force without bound.
pub const RESTITUTION_MIN: f64 = 0.01;
/// Most steps of the search for d.
const LOSS_STEPS_MAX: u32 = 200;

impl Compliance {
    /// Hertz' law of a pair of bodies of one material, from its shear modulus G [Pa] and Poisson's ratio ν: E* = G/(1 − ν).
    ///
    /// # Errors
    /// A modulus that is not positive and finite, a ratio outside −1 … 0.5.
    pub fn hertz(shear_modulus: f64, poisson_ratio: f64) -> Result<Self, BuildError> {
        positive("shear_modulus", shear_modulus)?;
        if !(poisson_ratio > -1.0 && poisson_ratio <= 0.5) {
            return Err(BuildError::new(
                "poisson_ratio",
                format!("must be above −1 and at most 0.5, got {poisson_ratio}"),
            ));
        }
        let modulus = shear_modulus / (1.0 - poisson_ratio);
        Ok(Self::Hertz { modulus })
    }

    /// Whether two surfaces give way at all.
    #[must_use]
    pub fn gives_way(&self) -> bool {
        *self != Self::Rigid
    }

    /// Checks every number for physical sense.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn check(&self) -> Result<(), BuildError> {
        match *self {
            Self::Rigid => Ok(()),
            Self::Power {
                stiffness,
                exponent,
            } => {
                positive("stiffness", stiffness)?;
                if (1.0..=CONTACT_EXPONENT_MAX).contains(&exponent) {
                    return Ok(());
                }
                Err(BuildError::new(
                    "exponent",
                    format!("must be between 1 and {CONTACT_EXPONENT_MAX}, got {exponent}"),
                ))
            }
            Self::Hertz { modulus } => positive("contact_modulus", modulus),
        }
    }

    /// The pair of two materials, each stated by how it meets its own kind: 1/k = ½(1/k₁ + 1/k₂), which is exact for Hertz' law; what is
    /// rigid adds nothing. `None` if the laws differ in kind or exponent, so that the pair must be stated.
    #[must_use]
    pub fn combined(a: &Self, b: &Self) -> Option<Self> {
        let mean = |x: f64, y: f64| 2.0 / (1.0 / x + 1.0 / y);
        match (*a, *b) {
            (Self::Rigid, Self::Rigid) => Some(Self::Rigid),
            (one, Self::Rigid) | (Self::Rigid, one) => Some(one.scaled(2.0)),
            (Self::Hertz { modulus: x }, Self::Hertz { modulus: y }) => Some(Self::Hertz {
                modulus: mean(x, y),
            }),
            (
                Self::Power {
                    stiffness: x,
                    exponent: r,
                },
                Self::Power {
                    stiffness: y,
                    exponent: s,
                },
            ) if r == s => Some(Self::Power {
                stiffness: mean(x, y),
                exponent: r,
            }),
            _ => None,
        }
    }

    fn scaled(self, factor: f64) -> Self {
        match self {
            Self::Rigid => Self::Rigid,
            Self::Power {
                stiffness,
                exponent,
            } => Self::Power {
                stiffness: stiffness * factor,
                exponent,
            },
            Self::Hertz { modulus } => Self::Hertz {
                modulus: modulus * factor,
            },
        }
    }

    /// The law at a point of touch with effective radius R*, 1/R* = 1/R₁ + 1/R₂ [m]; `None` for rigid pairs, and for Hertz' law where
    /// nothing is round.
    #[must_use]
    pub fn at(&self, radius: f64) -> Option<ContactLaw> {
        match *self {
            Self::Rigid => None,
            Self::Power {
                stiffness,
                exponent,
            } => Some(ContactLaw {
                stiffness,
                exponent,
            }),
            Self::Hertz { modulus } => (radius > 0.0).then(|| ContactLaw {
                stiffness: 4.0 / 3.0 * modulus * radius.sqrt(),
                exponent: 1.5,
            }),
        }
    }
}

fn positive(field: &str, value: f64) -> Result<(), BuildError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(BuildError::new(
        field,
        format!("must be positive and finite, got {value}"),
    ))
}

impl ContactLaw {
    /// Force at depth ξ without damping [N].
    #[must_use]
    pub fn force(&self, depth: f64) -> f64 {
        if depth <= 0.0 {
            return 0.0;
        }
        self.stiffness * power(depth, self.exponent)
    }

    /// Energy stored at depth ξ [J].
    #[must_use]
    pub fn energy(&self, depth: f64) -> f64 {
        self.force(depth) * depth.max(0.0) / (self.exponent + 1.0)
    }

    /// Largest depth of an impact of reduced mass m [kg] at speed v [m/s], without damping: energy ½ m v² [m].
    #[must_use]
    pub fn deepest(&self, mass: f64, speed: f64) -> f64 {
        let r = self.exponent + 1.0;
        libm::pow(0.5 * r * mass * speed * speed / self.stiffness, r.recip())
    }

    /// Longest stable step of an explicit method at depth ξ for a reduced mass m [kg]: 2√(m/k), k the slope of the force there [s].
    #[must_use]
    pub fn explicit_limit(&self, mass: f64, depth: f64) -> f64 {
        let slope = if self.exponent == 1.0 {
            self.stiffness
        } else {
            self.exponent * self.stiffness * power(depth.max(0.0), self.exponent - 1.0)
        };
        2.0 * (mass / slope).sqrt()
    }
}

/// x to the r, by roots where that is enough: the same bits everywhere either way.
fn power(x: f64, r: f64) -> f64 {
    if r == 1.0 {
        x
    } else if r == 1.5 {
        x * x.sqrt()
    } else if r == 2.0 {
        x * x
    } else {
        libm::pow(x, r)
    }
}

/// d of a coefficient of restitution e: (1 + d)/(1 − e d) = exp(d (1 + e)), 0 for e = 1. Below [`RESTITUTION_MIN`] that of it.
#[must_use]
pub fn loss(restitution: f64) -> f64 {
    let e = restitution.clamp(RESTITUTION_MIN, 1.0);
    if e == 1.0 {
        return 0.0;
    }
    // g(d) = d (1 + e) − ln(1 + d) + ln(1 − e d) rises from 0 like ½ (1 − e²) d² and falls to −∞ at d = 1/e: one root in between.
    let g = |d: f64| d * (1.0 + e) - libm::log1p(d) + libm::log1p(-e * d);
    let (mut low, mut high) = (0.0, 1.0 / e);
    for _ in 0..LOSS_STEPS_MAX {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        // Near 0 the sum is all rounding: there it rises.
        if g(middle) > 0.0 || middle < LOSS_SMALL * (1.0 - e) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Part of 1 − e below which no root lies: d ≈ 3/2 (1 − e)/e² … for e near 1 [1].
const LOSS_SMALL: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lectures_steel_has_its_hertz_constant() {
        let steel = Compliance::hertz(79.3e9, 0.29).unwrap();
        // R = 31.85 mm, written as 31.8 mm in one place.
        let law = steel.at(0.5 * 0.03185).unwrap();
        assert!((law.stiffness / 1.879e10 - 1.0).abs() < 3e-4, "{law:?}");
    }

    #[test]
    fn loss_solves_its_equation() {
        for e in [0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999] {
            let d = loss(e);
            let residual = d * (1.0 + e) - libm::log((1.0 + d) / (1.0 - e * d));
            // Near d = 1/e the logarithm is steep: the root itself is what must be right.
            assert!(
                residual.abs() < 1e-9 || (1.0 - e * d) < 1e-6,
                "{e}: {residual:e}"
            );
            assert!(d > 0.0 && d <= 1.0 / e, "{e}: {d}");
        }
        // (1 + e) d = ln … to third order: d = 3/2 (1 − e) for e → 1.
        assert!((loss(0.999) / 1.5e-3 - 1.0).abs() < 5e-3);
        assert_eq!(loss(1.0), 0.0);
    }

    #[test]
    fn materials_combine_as_springs_in_series() {
        let soft = Compliance::Hertz { modulus: 1e6 };
        let both = Compliance::combined(&soft, &Compliance::Rigid).unwrap();
        assert_eq!(both, Compliance::Hertz { modulus: 2e6 });
        let spring = Compliance::Power {
            stiffness: 1e4,
            exponent: 1.0,
        };
        assert_eq!(Compliance::combined(&soft, &spring), None);
        assert_eq!(Compliance::combined(&spring, &spring), Some(spring));
    }
}
