//! Random numbers of generators: the same on every machine and in every version.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `generate`.
//! Source: 64-bit linear congruential generator with Knuth's multiplier; orientations [Shoemake92].

use tippe::{Quat, Vec3};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, equally likely anywhere in [0, 1): the top 53 bits of the state.
    pub(crate) fn draw(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A point of a box, equally likely anywhere: three draws, x, y, z.
    pub(crate) fn point(&mut self, min: Vec3, max: Vec3) -> Vec3 {
        let (x, y, z) = (self.draw(), self.draw(), self.draw());
        min + (max - min) * Vec3::new(x, y, z)
    }

    /// An orientation, equally likely anywhere: three draws.
    ///
    /// [Shoemake92]: √(1−u₁) (sin 2πu₂, cos 2πu₂), √u₁ (sin 2πu₃, cos 2πu₃) is uniform on the unit sphere of four dimensions.
    /// Its four numbers are taken as x, z, −y, w: the order that gives the standard scenes, which are written y up, z up.
    pub(crate) fn rotation(&mut self) -> Quat {
        let (u1, u2, u3) = (self.draw(), self.draw(), self.draw());
        let (a, b) = ((1.0 - u1).sqrt(), u1.sqrt());
        let (p, q) = (std::f64::consts::TAU * u2, std::f64::consts::TAU * u3);
        Quat::from_xyzw(
            a * libm::sin(p),
            -(b * libm::sin(q)),
            a * libm::cos(p),
            b * libm::cos(q),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_the_top_bits_of_the_recurrence() {
        let mut r = Random::new(1);
        // 1 · a + c = 7806831264735756412; its top 53 bits over 2⁵³.
        assert_eq!(
            r.draw(),
            (7_806_831_264_735_756_412_u64 >> 11) as f64 / 9_007_199_254_740_992.0
        );
        assert!((0..10_000).all(|_| (0.0..1.0).contains(&r.draw())));
    }

    #[test]
    fn orientations_are_unit_and_uniform() {
        let mut r = Random::new(2);
        let mut mean = Vec3::ZERO;
        for _ in 0..20_000 {
            let q = r.rotation();
            assert!((q.length_squared() - 1.0).abs() < 1e-15 * 4.0);
            mean += q * Vec3::X;
        }
        // The mean of n unit vectors in random directions has length about 1/√n.
        assert!(mean.length() / 20_000.0 < 4.0 / 20_000_f64.sqrt());
    }
}
