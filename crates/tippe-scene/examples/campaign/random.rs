//! Random numbers of the campaigns (splitmix64): the same seed always gives the same.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: the other files of the campaigns.
//! Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014.

/// Numbers that stand at the edges of what programs think of.
pub const ODD: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    1e-308,
    1e-30,
    1e-9,
    1e9,
    1e18,
    1e154,
    -1e300,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// A generator.
pub struct Random(u64);

impl Random {
    /// The generator of execution `i` of a seed.
    pub fn of(seed: u64, i: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ i);
        random.next();
        random
    }

    /// Any bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// Whether something happens that does so one time in `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A number between two others.
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.next() >> 11) as f64 / (1_u64 << 53) as f64)
    }
}
