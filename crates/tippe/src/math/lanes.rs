//! Eight numbers at once, on vector instructions where the machine has them.
//!
//! Called by: `solver::packed`, `math::front_cholesky`.
//! Every operation rounds once, as for single numbers, and nothing is fused or reordered: the bits do not depend on the instructions.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// An array of eight, each by itself: `map` would go through memory, and vectors must stay in registers.
macro_rules! eight {
    ($i:ident => $x:expr) => {{
        macro_rules! one {
            ($n:literal) => {{
                let $i: usize = $n;
                $x
            }};
        }
        [
            one!(0),
            one!(1),
            one!(2),
            one!(3),
            one!(4),
            one!(5),
            one!(6),
            one!(7),
        ]
    }};
}
pub(crate) use eight;

/// Lanes: numbers that are worked on at once.
pub(crate) const LANES: usize = 8;

/// Eight numbers in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(crate) struct F8(pub [f64; LANES]);

impl F8 {
    pub(crate) const ZERO: Self = Self([0.0; LANES]);
}

/// Instructions that work on eight numbers.
pub(crate) trait Lanes: Copy {
    /// Eight numbers in a register.
    type Eight: Copy;
    fn load(self, x: [f64; LANES]) -> Self::Eight;
    fn store(self, x: Self::Eight) -> [f64; LANES];
    fn add(self, x: Self::Eight, y: Self::Eight) -> Self::Eight;
    fn sub(self, x: Self::Eight, y: Self::Eight) -> Self::Eight;
    fn mul(self, x: Self::Eight, y: Self::Eight) -> Self::Eight;
    fn div(self, x: Self::Eight, y: Self::Eight) -> Self::Eight;
    fn sqrt(self, x: Self::Eight) -> Self::Eight;
    fn abs(self, x: Self::Eight) -> Self::Eight;
    /// The larger ones; `y` where one is not a number.
    fn max(self, x: Self::Eight, y: Self::Eight) -> Self::Eight;
    /// `then` where x ≤ y, else `other`.
    fn pick(
        self,
        x: Self::Eight,
        y: Self::Eight,
        then: Self::Eight,
        other: Self::Eight,
    ) -> Self::Eight;
    /// Whether x ≤ y for all eight.
    fn all_within(self, x: Self::Eight, y: Self::Eight) -> bool;
    /// Rows for columns.
    fn transpose(self, x: [Self::Eight; LANES]) -> [Self::Eight; LANES];
}

/// One after the other: for machines that have nothing better.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneByOne;

#[inline(always)]
fn zip(x: [f64; LANES], y: [f64; LANES], f: impl Fn(f64, f64) -> f64) -> [f64; LANES] {
    std::array::from_fn(|i| f(x[i], y[i]))
}

impl Lanes for OneByOne {
    type Eight = [f64; LANES];

    #[inline(always)]
    fn load(self, x: [f64; LANES]) -> Self::Eight {
        x
    }

    #[inline(always)]
    fn store(self, x: Self::Eight) -> [f64; LANES] {
        x
    }

    #[inline(always)]
    fn add(self, x: Self::Eight, y: Self::Eight) -> Self::Eight {
        zip(x, y, |x, y| x + y)
    }

    #[inline(always)]
    fn sub(self, x: Self::Eight, y: Self::Eight) -> Self::Eight {
        zip(x, y, |x, y| x - y)
    }

    #[inline(always)]
    fn mul(self, x: Self::Eight, y: Self::Eight) -> Self::Eight {
        zip(x, y, |x, y| x * y)
    }

    #[inline(always)]
    fn div(self, x: Self::Eight, y: Self::Eight) -> Self::Eight {
        zip(x, y, |x, y| x / y)
    }

    #[inline(always)]
    fn sqrt(self, x: Self::Eight) -> Self::Eight {
        x.map(f64::sqrt)
    }

    #[inline(always)]
    fn abs(self, x: Self::Eight) -> Self::Eight {
        x.map(f64::abs)
    }

    #[inline(always)]
    fn max(self, x: Self::Eight, y: Self::Eight) -> Self::Eight {
        zip(x, y, |x, y| if x > y { x } else { y })
    }

    #[inline(always)]
    fn pick(
        self,
        x: Self::Eight,
        y: Self::Eight,
        then: Self::Eight,
        other: Self::Eight,
    ) -> Self::Eight {
        std::array::from_fn(|i| if x[i] <= y[i] { then[i] } else { other[i] })
    }

    #[inline(always)]
    fn all_within(self, x: Self::Eight, y: Self::Eight) -> bool {
        (0..LANES).all(|i| x[i] <= y[i])
    }

    #[inline(always)]
    fn transpose(self, x: [Self::Eight; LANES]) -> [Self::Eight; LANES] {
        std::array::from_fn(|i| std::array::from_fn(|j| x[j][i]))
    }
}

#[cfg(target_arch = "x86_64")]
mod avx {
    //! AVX, of which every processor with AVX2 has all that is used here: two registers of four.

    use super::{LANES, Lanes};
    use pulp::x86::V3;
    use std::arch::x86_64::{__m256d, _CMP_LE_OQ};

    type Two = [__m256d; 2];

    /// Rows for columns, of four.
    #[inline(always)]
    fn transpose(s: V3, x: [__m256d; 4]) -> [__m256d; 4] {
        let avx = s.avx;
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

    impl Lanes for V3 {
        type Eight = Two;

        #[inline(always)]
        fn load(self, x: [f64; LANES]) -> Two {
            pulp::cast(x)
        }

        #[inline(always)]
        fn store(self, x: Two) -> [f64; LANES] {
            pulp::cast(x)
        }

        #[inline(always)]
        fn add(self, x: Two, y: Two) -> Two {
            [
                self.avx._mm256_add_pd(x[0], y[0]),
                self.avx._mm256_add_pd(x[1], y[1]),
            ]
        }

        #[inline(always)]
        fn sub(self, x: Two, y: Two) -> Two {
            [
                self.avx._mm256_sub_pd(x[0], y[0]),
                self.avx._mm256_sub_pd(x[1], y[1]),
            ]
        }

        #[inline(always)]
        fn mul(self, x: Two, y: Two) -> Two {
            [
                self.avx._mm256_mul_pd(x[0], y[0]),
                self.avx._mm256_mul_pd(x[1], y[1]),
            ]
        }

        #[inline(always)]
        fn div(self, x: Two, y: Two) -> Two {
            [
                self.avx._mm256_div_pd(x[0], y[0]),
                self.avx._mm256_div_pd(x[1], y[1]),
            ]
        }

        #[inline(always)]
        fn sqrt(self, x: Two) -> Two {
            [self.avx._mm256_sqrt_pd(x[0]), self.avx._mm256_sqrt_pd(x[1])]
        }

        #[inline(always)]
        fn abs(self, x: Two) -> Two {
            let sign = self.avx._mm256_set1_pd(-0.0);
            let avx = self.avx;
            [
                avx._mm256_andnot_pd(sign, x[0]),
                avx._mm256_andnot_pd(sign, x[1]),
            ]
        }

        #[inline(always)]
        fn max(self, x: Two, y: Two) -> Two {
            [
                self.avx._mm256_max_pd(x[0], y[0]),
                self.avx._mm256_max_pd(x[1], y[1]),
            ]
        }

        #[inline(always)]
        fn pick(self, x: Two, y: Two, then: Two, other: Two) -> Two {
            let within = [
                self.avx._mm256_cmp_pd::<_CMP_LE_OQ>(x[0], y[0]),
                self.avx._mm256_cmp_pd::<_CMP_LE_OQ>(x[1], y[1]),
            ];
            let avx = self.avx;
            [
                avx._mm256_blendv_pd(other[0], then[0], within[0]),
                avx._mm256_blendv_pd(other[1], then[1], within[1]),
            ]
        }

        #[inline(always)]
        fn all_within(self, x: Two, y: Two) -> bool {
            let avx = self.avx;
            let low = avx._mm256_cmp_pd::<_CMP_LE_OQ>(x[0], y[0]);
            let high = avx._mm256_cmp_pd::<_CMP_LE_OQ>(x[1], y[1]);
            avx._mm256_movemask_pd(avx._mm256_and_pd(low, high)) == 0xf
        }

        #[inline(always)]
        fn transpose(self, x: [Two; LANES]) -> [Two; LANES] {
            // Quarters of the square, by rows and columns.
            let a = transpose(self, [x[0][0], x[1][0], x[2][0], x[3][0]]);
            let b = transpose(self, [x[0][1], x[1][1], x[2][1], x[3][1]]);
            let c = transpose(self, [x[4][0], x[5][0], x[6][0], x[7][0]]);
            let d = transpose(self, [x[4][1], x[5][1], x[6][1], x[7][1]]);
            [
                [a[0], c[0]],
                [a[1], c[1]],
                [a[2], c[2]],
                [a[3], c[3]],
                [b[0], d[0]],
                [b[1], d[1]],
                [b[2], d[2]],
                [b[3], d[3]],
            ]
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    //! AVX-512: one register of eight.

    use super::{LANES, Lanes};
    use pulp::x86::V4;
    use std::arch::x86_64::{__m512d, _CMP_LE_OQ};

    impl Lanes for V4 {
        type Eight = __m512d;

        #[inline(always)]
        fn load(self, x: [f64; LANES]) -> __m512d {
            pulp::cast(x)
        }

        #[inline(always)]
        fn store(self, x: __m512d) -> [f64; LANES] {
            pulp::cast(x)
        }

        #[inline(always)]
        fn add(self, x: __m512d, y: __m512d) -> __m512d {
            self.avx512f._mm512_add_pd(x, y)
        }

        #[inline(always)]
        fn sub(self, x: __m512d, y: __m512d) -> __m512d {
            self.avx512f._mm512_sub_pd(x, y)
        }

        #[inline(always)]
        fn mul(self, x: __m512d, y: __m512d) -> __m512d {
            self.avx512f._mm512_mul_pd(x, y)
        }

        #[inline(always)]
        fn div(self, x: __m512d, y: __m512d) -> __m512d {
            self.avx512f._mm512_div_pd(x, y)
        }

        #[inline(always)]
        fn sqrt(self, x: __m512d) -> __m512d {
            self.avx512f._mm512_sqrt_pd(x)
        }

        #[inline(always)]
        fn abs(self, x: __m512d) -> __m512d {
            self.avx512f._mm512_abs_pd(x)
        }

        #[inline(always)]
        fn max(self, x: __m512d, y: __m512d) -> __m512d {
            self.avx512f._mm512_max_pd(x, y)
        }

        #[inline(always)]
        fn pick(self, x: __m512d, y: __m512d, then: __m512d, other: __m512d) -> __m512d {
            let within = self.avx512f._mm512_cmp_pd_mask::<_CMP_LE_OQ>(x, y);
            self.avx512f._mm512_mask_blend_pd(within, other, then)
        }

        #[inline(always)]
        fn all_within(self, x: __m512d, y: __m512d) -> bool {
            self.avx512f._mm512_cmp_pd_mask::<_CMP_LE_OQ>(x, y) == 0xff
        }

        #[inline(always)]
        fn transpose(self, x: [__m512d; LANES]) -> [__m512d; LANES] {
            let f = self.avx512f;
            // Pairs of rows: even columns, odd columns; then quarters of them.
            let even = quarters(
                self,
                [
                    f._mm512_unpacklo_pd(x[0], x[1]),
                    f._mm512_unpacklo_pd(x[2], x[3]),
                    f._mm512_unpacklo_pd(x[4], x[5]),
                    f._mm512_unpacklo_pd(x[6], x[7]),
                ],
            );
            let odd = quarters(
                self,
                [
                    f._mm512_unpackhi_pd(x[0], x[1]),
                    f._mm512_unpackhi_pd(x[2], x[3]),
                    f._mm512_unpackhi_pd(x[4], x[5]),
                    f._mm512_unpackhi_pd(x[6], x[7]),
                ],
            );
            [
                even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3],
            ]
        }
    }

    /// Rows for columns, of four pairs.
    #[inline(always)]
    fn quarters(s: V4, p: [__m512d; 4]) -> [__m512d; 4] {
        let f = s.avx512f;
        let a = f._mm512_shuffle_f64x2::<0x88>(p[0], p[1]);
        let b = f._mm512_shuffle_f64x2::<0x88>(p[2], p[3]);
        let c = f._mm512_shuffle_f64x2::<0xdd>(p[0], p[1]);
        let d = f._mm512_shuffle_f64x2::<0xdd>(p[2], p[3]);
        [
            f._mm512_shuffle_f64x2::<0x88>(a, b),
            f._mm512_shuffle_f64x2::<0x88>(c, d),
            f._mm512_shuffle_f64x2::<0xdd>(a, b),
            f._mm512_shuffle_f64x2::<0xdd>(c, d),
        ]
    }
}

/// Eight numbers to calculate with.
#[derive(Clone, Copy)]
pub(crate) struct Eight<S: Lanes> {
    s: S,
    x: S::Eight,
}

/// Three components, eight of each.
#[derive(Clone, Copy)]
pub(crate) struct Eight3<S: Lanes>(pub [Eight<S>; 3]);

impl<S: Lanes> Eight<S> {
    #[inline(always)]
    pub(crate) fn new(s: S, x: F8) -> Self {
        Self { s, x: s.load(x.0) }
    }

    #[inline(always)]
    pub(crate) fn splat(s: S, x: f64) -> Self {
        Self::new(s, F8([x; LANES]))
    }

    #[inline(always)]
    pub(crate) fn get(self) -> F8 {
        F8(self.s.store(self.x))
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

    /// Whether all are at most `bound`.
    #[inline(always)]
    pub(crate) fn all_within(self, bound: Self) -> bool {
        self.s.all_within(self.x, bound.x)
    }

    /// Eight rows of eight numbers as eight columns.
    #[inline(always)]
    pub(crate) fn columns(s: S, rows: [&[f64; LANES]; LANES]) -> [Self; LANES] {
        let x = s.transpose(eight!(i => s.load(*rows[i])));
        eight!(i => Self { s, x: x[i] })
    }

    /// Eight columns as eight rows.
    #[inline(always)]
    pub(crate) fn rows(s: S, columns: [Self; LANES]) -> [[f64; LANES]; LANES] {
        let x = s.transpose(eight!(i => columns[i].x));
        eight!(i => s.store(x[i]))
    }
}

impl<S: Lanes> Add for Eight<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let x = self.s.add(self.x, other.x);
        Self { x, ..self }
    }
}

impl<S: Lanes> Sub for Eight<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let x = self.s.sub(self.x, other.x);
        Self { x, ..self }
    }
}

impl<S: Lanes> Mul for Eight<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let x = self.s.mul(self.x, other.x);
        Self { x, ..self }
    }
}

impl<S: Lanes> Div for Eight<S> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let x = self.s.div(self.x, other.x);
        Self { x, ..self }
    }
}

impl<S: Lanes> Eight3<S> {
    #[inline(always)]
    pub(crate) fn new(s: S, x: [F8; 3]) -> Self {
        Self([
            Eight::new(s, x[0]),
            Eight::new(s, x[1]),
            Eight::new(s, x[2]),
        ])
    }

    #[inline(always)]
    pub(crate) fn get(self) -> [F8; 3] {
        [self.0[0].get(), self.0[1].get(), self.0[2].get()]
    }

    #[inline(always)]
    pub(crate) fn dot(self, other: Self) -> Eight<S> {
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

impl<S: Lanes> Add for Eight3<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (x, y) = (self.0, other.0);
        Self([x[0] + y[0], x[1] + y[1], x[2] + y[2]])
    }
}

impl<S: Lanes> Sub for Eight3<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let (x, y) = (self.0, other.0);
        Self([x[0] - y[0], x[1] - y[1], x[2] - y[2]])
    }
}

impl<S: Lanes> Mul<Eight<S>> for Eight3<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, by: Eight<S>) -> Self {
        let x = self.0;
        Self([x[0] * by, x[1] * by, x[2] * by])
    }
}

impl<S: Lanes> Neg for Eight3<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let (x, zero) = (self.0, Eight::splat(self.0[0].s, 0.0));
        Self([zero - x[0], zero - x[1], zero - x[2]])
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
    {
        if let Some(v4) = pulp::x86::V4::try_new() {
            return v4.vectorize(Task(work, v4));
        }
        if let Some(v3) = pulp::x86::V3::try_new() {
            return v3.vectorize(Task(work, v3));
        }
    }
    work.run(OneByOne)
}

/// Work to be done with certain lanes.
#[cfg(target_arch = "x86_64")]
struct Task<W, S>(W, S);

#[cfg(target_arch = "x86_64")]
impl<W: OnLanes, S: Lanes> pulp::NullaryFnOnce for Task<W, S> {
    type Output = W::Output;
    #[inline(always)]
    fn call(self) -> W::Output {
        self.0.run(self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A little of everything.
    struct All([[f64; LANES]; LANES]);

    impl OnLanes for All {
        type Output = [F8; LANES];
        #[inline(always)]
        fn run<S: Lanes>(self, s: S) -> Self::Output {
            let [a, b, c, d, _, g, _, _] = self.0.map(|x| Eight::new(s, F8(x)));
            let x = Eight3([a, b, c]);
            let y = x.cross(-Eight3([d, a, b])) * c;
            let e = (y.dot(x) + a).abs().sqrt() / d;
            let f = if g.all_within(a.max(g)) && !g.all_within(a) {
                e.within(a, b, c.max(d))
            } else {
                a
            };
            let rows = Eight::rows(s, [e, f, y.0[0], y.0[1], g, a, y.0[2], d]);
            let rows = rows.map(|r| r.map(|x| x - 1.0));
            Eight::columns(s, eight!(i => &rows[i])).map(Eight::get)
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
            let bits = |x: [F8; LANES]| x.map(|x| x.0.map(f64::to_bits));
            let plain = bits(All(rows).run(OneByOne));
            assert_eq!(bits(on_best(All(rows))), plain);
            // Machines differ in what is best: each kind that this one has gives the same.
            #[cfg(target_arch = "x86_64")]
            if let Some(v3) = pulp::x86::V3::try_new() {
                assert_eq!(bits(v3.vectorize(Task(All(rows), v3))), plain);
            }
        }
    }
}
