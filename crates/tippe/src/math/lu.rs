//! Dense LU factorisation with row exchange, for systems that are neither symmetric nor definite.
//!
//! Reads: a square matrix.  Writes: its factors, in place.
//! Called by: `dynamics::one_step`, `mixed_newton`.
//! Source: standard (Gaussian elimination with partial pivoting).

/// Factors of a square matrix, P A = L U, kept in the matrix's own memory.
#[derive(Clone, Debug, Default)]
pub struct Lu {
    n: usize,
    /// Row major; below the diagonal L without its ones, elsewhere U.
    a: Vec<f64>,
    /// Row that stood in place of row i when column i was eliminated.
    swaps: Vec<usize>,
}

impl Lu {
    /// Factorises the row-major n×n matrix `a`; `None` if a column has no usable pivot, or a number is not finite.
    #[must_use]
    pub fn factor(n: usize, a: Vec<f64>) -> Option<Self> {
        assert_eq!(a.len(), n * n, "the matrix is square");
        let mut lu = Self {
            n,
            a,
            swaps: Vec::new(),
        };
        lu.factor_in_place().then_some(lu)
    }

    /// An n×n matrix of zeros to write, for `factor_in_place`; the memory of earlier ones is used again.
    pub fn matrix(&mut self, n: usize) -> &mut [f64] {
        self.n = n;
        self.a.clear();
        self.a.resize(n * n, 0.0);
        &mut self.a
    }

    /// Factorises what stands in `matrix`; false if a column has no usable pivot, or a number is not finite.
    #[must_use]
    pub fn factor_in_place(&mut self) -> bool {
        let Self { n, a, swaps } = self;
        let n = *n;
        swaps.clear();
        swaps.resize(n, 0);
        for k in 0..n {
            let mut pivot = k;
            for i in k + 1..n {
                if a[i * n + k].abs() > a[pivot * n + k].abs() {
                    pivot = i;
                }
            }
            let size = a[pivot * n + k].abs();
            if !(size.is_finite() && size > f64::MIN_POSITIVE) {
                return false;
            }
            swaps[k] = pivot;
            if pivot != k {
                for j in 0..n {
                    a.swap(k * n + j, pivot * n + j);
                }
            }
            let (upper, lower) = a.split_at_mut((k + 1) * n);
            let row_k = &upper[k * n..];
            for row in lower.chunks_exact_mut(n) {
                // Contact problems are sparse: most factors are zero.
                if row[k] == 0.0 {
                    continue;
                }
                let factor = row[k] / row_k[k];
                row[k] = factor;
                for (x, y) in row[k + 1..].iter_mut().zip(&row_k[k + 1..]) {
                    *x -= factor * y;
                }
            }
        }
        true
    }

    /// Solves A x = b; `x` holds b before and x after.
    pub fn solve(&self, x: &mut [f64]) {
        let n = self.n;
        assert_eq!(x.len(), n, "the right-hand side fits the matrix");
        for k in 0..n {
            x.swap(k, self.swaps[k]);
        }
        for i in 0..n {
            let row = &self.a[i * n..i * n + i];
            let sum: f64 = row.iter().zip(&x[..i]).map(|(a, b)| a * b).sum();
            x[i] -= sum;
        }
        for i in (0..n).rev() {
            let row = &self.a[i * n..(i + 1) * n];
            let sum: f64 = row[i + 1..]
                .iter()
                .zip(&x[i + 1..])
                .map(|(a, b)| a * b)
                .sum();
            x[i] = (x[i] - sum) / row[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_what_needs_row_exchange() {
        // The first pivot is zero.
        let a = vec![0.0, 2.0, 1.0, 1.0, -1.0, 0.5, 3.0, 0.0, -2.0];
        let lu = Lu::factor(3, a.clone()).unwrap();
        let x = [0.5, -1.5, 2.0];
        let mut b: Vec<f64> = (0..3)
            .map(|i| (0..3).map(|j| a[3 * i + j] * x[j]).sum())
            .collect();
        lu.solve(&mut b);
        for (found, expected) in b.iter().zip(x) {
            assert!((found - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn refuses_what_has_no_pivot() {
        assert!(Lu::factor(2, vec![1.0, 2.0, 2.0, 4.0]).is_none());
        assert!(Lu::factor(1, vec![f64::NAN]).is_none());
    }
}
