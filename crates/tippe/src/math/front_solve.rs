//! Substitutions with the fronts of a sparse Cholesky factorisation.
//!
//! Reads: fronts and their factor, as `front_cholesky` lays them out, a right-hand side.  Writes: the solution.
//! Called by: `math::front_cholesky`.
//! Source: [Duff83]. The tiles on the diagonal hold the inverse of the factor, so that eight pivots are found at once. Fixed order of all sums.

use super::front_cholesky::FrontCholesky;
use super::lanes::{Eight, F8, LANES, Lanes};

/// The sum of eight numbers at once, in a fixed order.
#[inline(always)]
fn sum<S: Lanes>(x: [Eight<S>; LANES]) -> Eight<S> {
    let [a, b, c, d, e, f, g, h] = x;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// The sum of the lanes of each of the eight.
#[inline(always)]
fn sum_lanes<S: Lanes>(s: S, x: [Eight<S>; LANES]) -> Eight<S> {
    let rows = Eight::rows(s, x);
    sum(rows.map(|row| Eight::new(s, F8(row))))
}

impl FrontCholesky {
    /// `L y = x` in one front, and what that leaves for later rows.
    #[inline(always)]
    pub(super) fn forward<S: Lanes>(&mut self, s: S, k: usize, x: &mut [f64]) {
        let zero = Eight::splat(s, 0.0);
        let front = &self.fronts[k];
        let p = front.p;
        let factor = &self.factor[front.start..][..(p + front.u) / LANES * p];
        self.local.clear();
        self.local.resize(p / LANES, F8::ZERO);
        for k in 0..front.pivots {
            self.local[k / LANES].0[k % LANES] = x[front.first + k];
        }
        for (i, panel) in factor.chunks_exact(p.max(1)).enumerate() {
            // Columns of padding are left out.
            let count = front.pivots.min(LANES * i);
            let mut sums = [zero; LANES];
            let tiles = panel[..count].chunks_exact(LANES);
            let last = tiles.remainder();
            for (tile, y) in tiles.zip(&self.local) {
                for c in 0..LANES {
                    sums[c] = sums[c] + Eight::new(s, tile[c]) * Eight::splat(s, y.0[c]);
                }
            }
            for (c, &l) in last.iter().enumerate() {
                let y = self.local[count / LANES].0[c];
                sums[c] = sums[c] + Eight::new(s, l) * Eight::splat(s, y);
            }
            let done = sum(sums);
            if i < p / LANES {
                let tile = &panel[LANES * i..][..LANES];
                let left = (Eight::new(s, self.local[i]) - done).get().0;
                for c in 0..LANES {
                    sums[c] = Eight::new(s, tile[c]) * Eight::splat(s, left[c]);
                }
                self.local[i] = sum(sums).get();
            } else {
                let rows = &front.later[LANES * i - p..];
                for (&row, done) in rows.iter().zip(done.get().0) {
                    x[row as usize] -= done;
                }
            }
        }
        for k in 0..front.pivots {
            x[front.first + k] = self.local[k / LANES].0[k % LANES];
        }
    }

    /// `Lᵀ x = y`, last front first.
    #[inline(always)]
    pub(super) fn backward<S: Lanes>(&mut self, s: S, x: &mut [f64]) {
        let zero = Eight::splat(s, 0.0);
        for front in self.fronts.iter().rev() {
            let p = front.p;
            let factor = &self.factor[front.start..][..(p + front.u) / LANES * p];
            self.sums.clear();
            self.sums.resize(p, F8::ZERO);
            for (i, panel) in factor.chunks_exact(p.max(1)).enumerate().rev() {
                let mut y = F8::ZERO;
                let y = if i < p / LANES {
                    let own = LANES * i..front.pivots.min(LANES * (i + 1));
                    let at = front.first + own.start..front.first + own.end;
                    for (y, x) in y.0.iter_mut().zip(&x[at.clone()]) {
                        *y = *x;
                    }
                    let tile = &panel[LANES * i..][..LANES];
                    let mut sums = [zero; LANES];
                    for c in 0..LANES {
                        sums[c] = Eight::new(s, self.sums[LANES * i + c]);
                    }
                    let left = Eight::new(s, y) - sum_lanes(s, sums);
                    for c in 0..LANES {
                        sums[c] = Eight::new(s, tile[c]) * left;
                    }
                    let y = sum_lanes(s, sums);
                    for (x, y) in x[at].iter_mut().zip(y.get().0) {
                        *x = y;
                    }
                    y
                } else {
                    let rows = &front.later[LANES * i - p..];
                    for (y, &row) in y.0.iter_mut().zip(rows) {
                        *y = x[row as usize];
                    }
                    Eight::new(s, y)
                };
                let count = front.pivots.min(LANES * i);
                for (sum, &l) in self.sums[..count].iter_mut().zip(&panel[..count]) {
                    *sum = (Eight::new(s, *sum) + Eight::new(s, l) * y).get();
                }
            }
        }
    }
}
