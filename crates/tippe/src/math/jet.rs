//! Numbers and vectors with their first and second derivatives in time, so that a formula differentiates itself.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `dynamics::contact_rates`, `dynamics::joint_rates`.
//! Source: truncated Taylor arithmetic, [Griewank08] ch. 13. `x`, `v`, `a` are value, first and second derivative.

use super::{Quat, Vec3};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number that moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Jet {
    /// Value.
    pub x: f64,
    /// First derivative.
    pub v: f64,
    /// Second derivative.
    pub a: f64,
}

/// A vector that moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VecJet {
    /// Value.
    pub x: Vec3,
    /// First derivative.
    pub v: Vec3,
    /// Second derivative.
    pub a: Vec3,
}

/// A frame that moves: where it is, how fast, and with what acceleration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameJet {
    /// Origin.
    pub origin: VecJet,
    /// Orientation.
    pub rotation: Quat,
    /// Angular velocity, world axes [rad/s].
    pub w: Vec3,
    /// Angular acceleration, world axes [rad/s²].
    pub alpha: Vec3,
}

impl FrameJet {
    /// A direction fixed in the frame, as seen from the world.
    #[must_use]
    pub fn vector(&self, local: Vec3) -> VecJet {
        let x = self.rotation * local;
        let v = self.w.cross(x);
        VecJet {
            x,
            v,
            a: self.alpha.cross(x) + self.w.cross(v),
        }
    }

    /// A point fixed in the frame, as seen from the world.
    #[must_use]
    pub fn point(&self, local: Vec3) -> VecJet {
        self.origin + self.vector(local)
    }
}

impl Jet {
    /// The reciprocal.
    #[must_use]
    pub fn recip(self) -> Self {
        let r = 1.0 / self.x;
        let v = -self.v * r * r;
        Self {
            x: r,
            v,
            a: -self.a * r * r - 2.0 * self.v * v * r,
        }
    }
}

impl VecJet {
    /// A vector that stays.
    #[must_use]
    pub const fn fixed(x: Vec3) -> Self {
        Self {
            x,
            v: Vec3::ZERO,
            a: Vec3::ZERO,
        }
    }

    /// Scalar product.
    #[must_use]
    pub fn dot(self, o: Self) -> Jet {
        Jet {
            x: self.x.dot(o.x),
            v: self.v.dot(o.x) + self.x.dot(o.v),
            a: self.a.dot(o.x) + 2.0 * self.v.dot(o.v) + self.x.dot(o.a),
        }
    }

    /// Vector product.
    #[must_use]
    pub fn cross(self, o: Self) -> Self {
        Self {
            x: self.x.cross(o.x),
            v: self.v.cross(o.x) + self.x.cross(o.v),
            a: self.a.cross(o.x) + 2.0 * self.v.cross(o.v) + self.x.cross(o.a),
        }
    }

    /// Length; the vector must not vanish.
    #[must_use]
    pub fn length(self) -> Jet {
        let x = self.x.length();
        let v = self.x.dot(self.v) / x;
        let a = (self.v.dot(self.v) + self.x.dot(self.a) - v * v) / x;
        Jet { x, v, a }
    }

    /// Unit vector along it; the vector must not vanish.
    #[must_use]
    pub fn unit(self) -> Self {
        self * self.length().recip()
    }
}

impl Add for Jet {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self {
            x: self.x + o.x,
            v: self.v + o.v,
            a: self.a + o.a,
        }
    }
}

impl Sub for Jet {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + o * -1.0
    }
}

impl Mul for Jet {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self {
            x: self.x * o.x,
            v: self.v * o.x + self.x * o.v,
            a: self.a * o.x + 2.0 * self.v * o.v + self.x * o.a,
        }
    }
}

impl Mul<f64> for Jet {
    type Output = Self;
    fn mul(self, k: f64) -> Self {
        Self {
            x: self.x * k,
            v: self.v * k,
            a: self.a * k,
        }
    }
}

impl Div for Jet {
    type Output = Self;
    #[allow(
        clippy::suspicious_arithmetic_impl,
        reason = "the reciprocal knows its derivatives"
    )]
    fn div(self, o: Self) -> Self {
        self * o.recip()
    }
}

impl Add for VecJet {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self {
            x: self.x + o.x,
            v: self.v + o.v,
            a: self.a + o.a,
        }
    }
}

impl Neg for VecJet {
    type Output = Self;
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl Sub for VecJet {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl Mul<f64> for VecJet {
    type Output = Self;
    fn mul(self, k: f64) -> Self {
        Self {
            x: self.x * k,
            v: self.v * k,
            a: self.a * k,
        }
    }
}

impl Mul<Jet> for VecJet {
    type Output = Self;
    fn mul(self, k: Jet) -> Self {
        Self {
            x: self.x * k.x,
            v: self.v * k.x + self.x * k.v,
            a: self.a * k.x + self.v * (2.0 * k.v) + self.x * k.a,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Derivatives of products, quotients and unit vectors against a parabola sampled around now.
    #[test]
    fn derivatives_agree_with_differences() {
        let p = VecJet {
            x: Vec3::new(1.0, -2.0, 0.5),
            v: Vec3::new(0.3, 0.7, -1.1),
            a: Vec3::new(-0.4, 0.2, 0.9),
        };
        let q = VecJet {
            x: Vec3::new(-0.6, 0.8, 1.5),
            v: Vec3::new(1.2, -0.1, 0.4),
            a: Vec3::new(0.5, -0.3, 0.1),
        };
        let at = |j: &VecJet, t: f64| j.x + j.v * t + j.a * (0.5 * t * t);
        let value = |t: f64| {
            let (p, q) = (at(&p, t), at(&q, t));
            p.cross(q).normalize() * (p.dot(q) / q.length())
        };
        let jet = p.cross(q).unit() * (p.dot(q) / q.length());
        let h = 1e-4;
        let (low, mid, high) = (value(-h), value(0.0), value(h));
        assert!((jet.x - mid).length() < 1e-14);
        assert!((jet.v - (high - low) / (2.0 * h)).length() < 1e-7);
        assert!((jet.a - (high - mid * 2.0 + low) / (h * h)).length() < 1e-6);
    }
}
