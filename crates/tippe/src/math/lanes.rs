//! Four numbers at once, on vector instructions where the machine has them.
//!
//! Called by: the packed sweeps of `dynamics::halves`.
//! Every operation rounds once, as for single numbers, and nothing is fused or reordered: the bits do not depend on the instructions.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Numbers in a lane.
pub(crate) const LANES: usize = 4;

/// Four numbers in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub(crate) struct F4(pub [f64; LANES]);

impl F4 {
    pub(crate) const ZERO: Self = Self([0.0; LANES]);
}

/// Instructions that work on four numbers.
pub(crate) trait Lanes: Copy {
    /// Four numbers in a register.
    type Four: Copy;
    fn load(self, x: [f64; LANES]) -> Self::Four;
    fn store(self, x: Self::Four) -> [f64; LANES];
    fn add(self, x: Self::Four, y: Self::Four) -> Self::Four;
    fn sub(self, x: Self::Four, y: Self::Four) -> Self::Four;
    fn mul(self, x: Self::Four, y: Self::Four) -> Self::Four;
    fn div(self, x: Self::Four, y: Self::Four) -> Self::Four;
    fn sqrt(self, x: Self::Four) -> Self::Four;
    fn abs(self, x: Self::Four) -> Self::Four;
    /// The larger ones; `y` where one is not a number.
    fn max(self, x: Self::Four, y: Self::Four) -> Self::Four;
    /// `then` where x ≤ y, else `other`.
    fn pick(self, x: Self::Four, y: Self::Four, then: Self::Four, other: Self::Four) -> Self::Four;
    /// Rows for columns.
    fn transpose(self, x: [Self::Four; LANES]) -> [Self::Four; LANES];
}

/// One after the other: for machines that have nothing better.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneByOne;

#[inline(always)]
fn zip(x: [f64; LANES], y: [f64; LANES], f: impl Fn(f64, f64) -> f64) -> [f64; LANES] {
    [f(x[0], y[0]), f(x[1], y[1]), f(x[2], y[2]), f(x[3], y[3])]
}

impl Lanes for OneByOne {
    type Four = [f64; LANES];

    #[inline(always)]
    fn load(self, x: [f64; LANES]) -> Self::Four {
        x
    }

    #[inline(always)]
    fn store(self, x: Self::Four) -> [f64; LANES] {
        x
    }

    #[inline(always)]
    fn add(self, x: Self::Four, y: Self::Four) -> Self::Four {
        zip(x, y, |x, y| x + y)
    }

    #[inline(always)]
    fn sub(self, x: Self::Four, y: Self::Four) -> Self::Four {
        zip(x, y, |x, y| x - y)
    }

    #[inline(always)]
    fn mul(self, x: Self::Four, y: Self::Four) -> Self::Four {
        zip(x, y, |x, y| x * y)
    }

    #[inline(always)]
    fn div(self, x: Self::Four, y: Self::Four) -> Self::Four {
        zip(x, y, |x, y| x / y)
    }

    #[inline(always)]
    fn sqrt(self, x: Self::Four) -> Self::Four {
        x.map(f64::sqrt)
    }

    #[inline(always)]
    fn abs(self, x: Self::Four) -> Self::Four {
        x.map(f64::abs)
    }

    #[inline(always)]
    fn max(self, x: Self::Four, y: Self::Four) -> Self::Four {
        zip(x, y, |x, y| if x > y { x } else { y })
    }

    #[inline(always)]
    fn pick(self, x: Self::Four, y: Self::Four, then: Self::Four, other: Self::Four) -> Self::Four {
        std::array::from_fn(|i| if x[i] <= y[i] { then[i] } else { other[i] })
    }

    #[inline(always)]
    fn transpose(self, x: [Self::Four; LANES]) -> [Self::Four; LANES] {
        std::array::from_fn(|i| std::array::from_fn(|j| x[j][i]))
    }
}

#[cfg(target_arch = "x86_64")]
mod avx {
    //! AVX, of which every processor with AVX2 has all that is used here.

    use super::{LANES, Lanes};
    use pulp::x86::V3;
    use std::arch::x86_64::{__m256d, _CMP_LE_OQ};

    impl Lanes for V3 {
        type Four = __m256d;

        #[inline(always)]
        fn load(self, x: [f64; LANES]) -> __m256d {
            pulp::cast(x)
        }

        #[inline(always)]
        fn store(self, x: __m256d) -> [f64; LANES] {
            pulp::cast(x)
        }

        #[inline(always)]
        fn add(self, x: __m256d, y: __m256d) -> __m256d {
            self.avx._mm256_add_pd(x, y)
        }

        #[inline(always)]
        fn sub(self, x: __m256d, y: __m256d) -> __m256d {
            self.avx._mm256_sub_pd(x, y)
        }

        #[inline(always)]
        fn mul(self, x: __m256d, y: __m256d) -> __m256d {
            self.avx._mm256_mul_pd(x, y)
        }

        #[inline(always)]
        fn div(self, x: __m256d, y: __m256d) -> __m256d {
            self.avx._mm256_div_pd(x, y)
        }

        #[inline(always)]
        fn sqrt(self, x: __m256d) -> __m256d {
            self.avx._mm256_sqrt_pd(x)
        }

        #[inline(always)]
        fn abs(self, x: __m256d) -> __m256d {
            self.avx._mm256_andnot_pd(self.avx._mm256_set1_pd(-0.0), x)
        }

        #[inline(always)]
        fn max(self, x: __m256d, y: __m256d) -> __m256d {
            self.avx._mm256_max_pd(x, y)
        }

        #[inline(always)]
        fn pick(self, x: __m256d, y: __m256d, then: __m256d, other: __m256d) -> __m256d {
            let within = self.avx._mm256_cmp_pd::<_CMP_LE_OQ>(x, y);
            self.avx._mm256_blendv_pd(other, then, within)
        }

        #[inline(always)]
        fn transpose(self, x: [__m256d; LANES]) -> [__m256d; LANES] {
            let avx = self.avx;
            let (low, high) = (
                avx._mm256_unpacklo_pd(x[0], x[1]),
                avx._mm256_unpackhi_pd(x[0], x[1]),
            );
            let (low_2, high_2) = (
                avx._mm256_unpacklo_pd(x[2], x[3]),
                avx._mm256_unpackhi_pd(x[2], x[3]),
            );
            [
                avx._mm256_permute2f128_pd::<0x20>(low, low_2),
                avx._mm256_permute2f128_pd::<0x20>(high, high_2),
                avx._mm256_permute2f128_pd::<0x31>(low, low_2),
                avx._mm256_permute2f128_pd::<0x31>(high, high_2),
            ]
        }
    }
}

/// Four numbers to calculate with.
#[derive(Clone, Copy)]
pub(crate) struct Four<S: Lanes> {
    s: S,
    x: S::Four,
}

/// Three components, four of each.
#[derive(Clone, Copy)]
pub(crate) struct Four3<S: Lanes>(pub [Four<S>; 3]);

impl<S: Lanes> Four<S> {
    #[inline(always)]
    pub(crate) fn new(s: S, x: F4) -> Self {
        Self { s, x: s.load(x.0) }
    }

    #[inline(always)]
    pub(crate) fn splat(s: S, x: f64) -> Self {
        Self::new(s, F4([x; LANES]))
    }

    #[inline(always)]
    pub(crate) fn get(self) -> F4 {
        F4(self.s.store(self.x))
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        let x = self.s.sqrt(self.x);
        Self { x, ..self }
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        let x = self.s.abs(self.x);
        Self { x, ..self }
    }

    /// The larger ones; `other` where one is not a number.
    #[inline(always)]
    pub(crate) fn max(self, other: Self) -> Self {
        let x = self.s.max(self.x, other.x);
        Self { x, ..self }
    }

    /// `then` where self ≤ `bound`, else `other`.
    #[inline(always)]
    pub(crate) fn within(self, bound: Self, then: Self, other: Self) -> Self {
        let x = self.s.pick(self.x, bound.x, then.x, other.x);
        Self { x, ..self }
    }

    /// Four rows of four numbers as four columns.
    #[inline(always)]
    pub(crate) fn columns(s: S, rows: [[f64; LANES]; LANES]) -> [Self; LANES] {
        s.transpose(rows.map(|x| s.load(x))).map(|x| Self { s, x })
    }

    /// Four columns as four rows.
    #[inline(always)]
    pub(crate) fn rows(s: S, columns: [Self; LANES]) -> [[f64; LANES]; LANES] {
        s.transpose(columns.map(|c| c.x)).map(|x| s.store(x))
    }
}

impl<S: Lanes> Add for Four<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let x = self.s.add(self.x, other.x);
        Self { x, ..self }
    }
}

impl<S: Lanes> Sub for Four<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let x = self.s.sub(self.x, other.x);
        Self { x, ..self }
    }
}

impl<S: Lanes> Mul for Four<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let x = self.s.mul(self.x, other.x);
        Self { x, ..self }
    }
}

impl<S: Lanes> Div for Four<S> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let x = self.s.div(self.x, other.x);
        Self { x, ..self }
    }
}

impl<S: Lanes> Four3<S> {
    #[inline(always)]
    pub(crate) fn new(s: S, x: [F4; 3]) -> Self {
        Self(x.map(|x| Four::new(s, x)))
    }

    #[inline(always)]
    pub(crate) fn get(self) -> [F4; 3] {
        self.0.map(Four::get)
    }

    #[inline(always)]
    pub(crate) fn dot(self, other: Self) -> Four<S> {
        let (x, y) = (self.0, other.0);
        x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    }

    #[inline(always)]
    pub(crate) fn cross(self, other: Self) -> Self {
        let (x, y) = (self.0, other.0);
        Self([
            x[1] * y[2] - x[2] * y[1],
            x[2] * y[0] - x[0] * y[2],
            x[0] * y[1] - x[1] * y[0],
        ])
    }
}

impl<S: Lanes> Add for Four3<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (x, y) = (self.0, other.0);
        Self([x[0] + y[0], x[1] + y[1], x[2] + y[2]])
    }
}

impl<S: Lanes> Sub for Four3<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let (x, y) = (self.0, other.0);
        Self([x[0] - y[0], x[1] - y[1], x[2] - y[2]])
    }
}

impl<S: Lanes> Mul<Four<S>> for Four3<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, by: Four<S>) -> Self {
        Self(self.0.map(|x| x * by))
    }
}

impl<S: Lanes> Neg for Four3<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|x| Four::splat(x.s, 0.0) - x))
    }
}

/// Work that can be done with any lanes.
pub(crate) trait OnLanes {
    type Output;
    fn run<S: Lanes>(self, s: S) -> Self::Output;
}

/// Does the work with the best instructions of this machine.
pub(crate) fn on_best<W: OnLanes>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = pulp::x86::V3::try_new() {
        struct Task<W>(W, pulp::x86::V3);
        impl<W: OnLanes> pulp::NullaryFnOnce for Task<W> {
            type Output = W::Output;
            #[inline(always)]
            fn call(self) -> W::Output {
                self.0.run(self.1)
            }
        }
        return v3.vectorize(Task(work, v3));
    }
    work.run(OneByOne)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A little of everything.
    struct All([[f64; LANES]; LANES]);

    impl OnLanes for All {
        type Output = [F4; LANES];
        #[inline(always)]
        fn run<S: Lanes>(self, s: S) -> Self::Output {
            let [a, b, c, d] = self.0.map(|x| Four::new(s, F4(x)));
            let x = Four3([a, b, c]);
            let y = x.cross(-Four3([d, a, b])) * c;
            let e = (y.dot(x) + a).abs().sqrt() / d;
            let f = e.within(a, b, c.max(d));
            let rows = Four::rows(s, [e, f, y.0[0], y.0[1]]);
            Four::columns(s, rows.map(|r| r.map(|x| x - 1.0))).map(Four::get)
        }
    }

    #[test]
    fn the_bits_do_not_depend_on_the_instructions() {
        let mut x = 0.1_f64;
        for _ in 0..1000 {
            let mut next = || {
                x = (x * 977.123 + 0.377).fract();
                4.0 * x - 2.0
            };
            let rows: [[f64; LANES]; LANES] =
                std::array::from_fn(|_| std::array::from_fn(|_| next()));
            let (best, plain) = (on_best(All(rows)), All(rows).run(OneByOne));
            let bits = |x: [F4; LANES]| x.map(|x| x.0.map(f64::to_bits));
            assert_eq!(bits(best), bits(plain));
        }
    }
}
