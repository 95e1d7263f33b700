//! A Cholesky factor of the rows that are on, kept while rows come and go.
//!
//! Reads: a symmetric matrix.  Writes: L with L Lᵀ = A_CC.
//! Called by: `dantzig`, `principal`.
//! Source: [Golub13] §6.5 (appending a row costs one substitution, deleting one a sweep of rotations; both are backward stable).

#![allow(non_snake_case)]

use super::problem::dot;

/// A row whose square root argument falls below this part of its diagonal is implied by the others [1].
pub(super) const REDUNDANT: f64 = 1e-11;

/// The factor.
#[derive(Clone, Debug, Default)]
pub(super) struct Factor {
    /// Rows in the order in which they came.
    pub set: Vec<usize>,
    /// Row-major with `stride`.
    L: Vec<f64>,
    stride: usize,
}

impl Factor {
    pub fn new(n: usize) -> Self {
        Self {
            set: Vec::with_capacity(n),
            L: vec![0.0; n * n],
            stride: n,
        }
    }

    /// Solves L y = a for a given by the rows of the set, in place.
    pub fn forward(&self, y: &mut [f64]) {
        for k in 0..self.set.len() {
            let row = &self.L[k * self.stride..k * self.stride + k + 1];
            y[k] = (y[k] - dot(&row[..k], &y[..k])) / row[k];
        }
    }

    /// Solves Lᵀ x = y in place.
    pub fn backward(&self, x: &mut [f64]) {
        for k in (0..self.set.len()).rev() {
            let row = &self.L[k * self.stride..k * self.stride + k + 1];
            x[k] /= row[k];
            let s = x[k];
            for (x, l) in x[..k].iter_mut().zip(row) {
                *x -= s * l;
            }
        }
    }

    /// Appends row i, given y = L⁻¹ A_Ci and its own diagonal; false, and nothing changed, if the others imply it.
    pub fn append(&mut self, i: usize, y: &[f64], own: f64) -> bool {
        let left = own - dot(y, y);
        if !(left.is_finite() && left > REDUNDANT * own) {
            return false;
        }
        let k = self.set.len();
        let row = &mut self.L[k * self.stride..k * self.stride + k + 1];
        row[..k].copy_from_slice(y);
        row[k] = left.sqrt();
        self.set.push(i);
        true
    }

    /// Removes the row at `place` of the set.
    pub fn remove(&mut self, place: usize) {
        let (m, stride) = (self.set.len(), self.stride);
        self.set.remove(place);
        // The rows below move up with one number too many right of the diagonal; rotations of neighbouring columns take it away.
        for k in place + 1..m {
            let (above, from) = self.L.split_at_mut(k * stride);
            above[(k - 1) * stride..(k - 1) * stride + k + 1].copy_from_slice(&from[..=k]);
        }
        for k in place..m - 1 {
            let (a, b) = (self.L[k * stride + k], self.L[k * stride + k + 1]);
            let size = (a * a + b * b).sqrt();
            let (c, s) = if size > 0.0 {
                (a / size, b / size)
            } else {
                (1.0, 0.0)
            };
            for row in self.L[k * stride..(m - 1) * stride].chunks_exact_mut(stride) {
                let (x, y) = (row[k], row[k + 1]);
                row[k] = c * x + s * y;
                row[k + 1] = c * y - s * x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factor_follows_rows_that_come_and_go() {
        let A = [
            [4.0, 1.0, 0.5, -1.0],
            [1.0, 3.0, 0.2, 0.4],
            [0.5, 0.2, 2.0, 0.3],
            [-1.0, 0.4, 0.3, 5.0],
        ];
        let mut factor = Factor::new(4);
        let add = |factor: &mut Factor, i: usize| {
            let mut y: Vec<f64> = factor.set.iter().map(|&j| A[i][j]).collect();
            factor.forward(&mut y);
            factor.append(i, &y, A[i][i])
        };
        for i in [2, 0, 3, 1] {
            assert!(add(&mut factor, i));
        }
        factor.remove(1);
        factor.remove(0);
        assert!(add(&mut factor, 0));
        assert_eq!(factor.set, [3, 1, 0]);
        let mut x = vec![1.0, -2.0, 0.5];
        let b: Vec<f64> = factor
            .set
            .iter()
            .map(|&i| factor.set.iter().zip(&x).map(|(&j, x)| A[i][j] * x).sum())
            .collect();
        let mut found = b.clone();
        factor.forward(&mut found);
        factor.backward(&mut found);
        for (found, x) in found.iter().zip(x.drain(..)) {
            assert!((found - x).abs() < 1e-14, "{found} {x}");
        }
    }

    #[test]
    fn implied_rows_are_refused() {
        let mut factor = Factor::new(2);
        assert!(factor.append(0, &[], 2.0));
        let mut y = vec![2.0];
        factor.forward(&mut y);
        assert!(!factor.append(1, &y, 2.0));
        assert!(!Factor::new(1).append(0, &[], 0.0));
        assert!(!Factor::new(1).append(0, &[], f64::NAN));
    }
}
