//! The complementarity problem: matrix, constant part, what each row may do; its residual and its certificates.
//!
//! Reads: numbers of the caller.  Writes: nothing.
//! Called by: all kernels, users.
//! Source: \[Cottle92] §1.1, \[Acary08] ch. 13 for friction; the certificate is Farkas' lemma.

#![allow(non_snake_case)]

use crate::error::BuildError;

/// What a row of the problem may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Row {
    /// 0 ≤ f ⊥ w ≥ 0: a contact.
    OneSided,
    /// w = 0 with any f: a joint.
    Free,
    /// w = 0 with f inside, w ≥ 0 with f = `low`, w ≤ 0 with f = `high`: a motor, a brake. Bounds are finite.
    Box {
        /// Least f.
        low: f64,
        /// Greatest f.
        high: f64,
    },
    /// Friction along one line: a box from −μ f_n to μ f_n. Two such rows with one normal are a pyramid of four sides.
    Planar {
        /// Row of the normal force, of kind `OneSided`.
        normal: usize,
        /// μ [1].
        coefficient: f64,
    },
    /// Sliding friction whose direction is known: f = ratio · f_n, whatever w is.
    Sliding {
        /// Row of the normal force, of kind `OneSided`.
        normal: usize,
        /// f / f_n, which is μ against the slip [1].
        ratio: f64,
    },
    /// This row and the next one are friction in a plane: |f_t| ≤ μ f_n, and against the slip where it is at its bound.
    Cone {
        /// Row of the normal force, of kind `OneSided`.
        normal: usize,
        /// μ [1].
        coefficient: f64,
    },
    /// The second row of a `Cone`.
    ConeSecond,
}

impl Row {
    /// The normal row that bounds this one, if it is a row of friction.
    #[must_use]
    pub fn normal(self) -> Option<usize> {
        match self {
            Self::Planar { normal, .. }
            | Self::Sliding { normal, .. }
            | Self::Cone { normal, .. } => Some(normal),
            _ => None,
        }
    }
}

/// Most rows: beyond it the dense matrix would not fit into memory.
pub const ROWS_MAX: usize = 12_000;
/// A matrix whose entries differ from those across the diagonal by less than this, in units of the diagonal, counts as symmetric [1].
const SYMMETRIC: f64 = 1e-13;
/// A direction certifies if it breaks its own conditions by less than this part of what it gains [1]: no solution has forces that sum up
/// to less than the inverse, in scaled units.
const CERTAIN: f64 = 1e-8;

/// A problem: find f with the conditions of `rows` on f and w = A f + b.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    A: Vec<f64>,
    b: Vec<f64>,
    rows: Vec<Row>,
    symmetric: bool,
}

impl Problem {
    /// A problem from the row-major matrix `A`, `b` and one kind for each row.
    ///
    /// # Errors
    /// Lengths that do not fit, numbers that are not finite, bounds in the wrong order, friction without a one-sided normal row.
    pub fn new(A: Vec<f64>, b: Vec<f64>, rows: Vec<Row>) -> Result<Self, BuildError> {
        let n = b.len();
        if n > ROWS_MAX {
            return Err(BuildError::new(
                "b",
                format!("{n} rows; at most {ROWS_MAX} are solved"),
            ));
        }
        if A.len() != n * n {
            let reason = format!("has {} numbers; {n} rows in `b` need {}", A.len(), n * n);
            return Err(BuildError::new("A", reason));
        }
        if rows.len() != n {
            return Err(BuildError::new(
                "rows",
                format!("has {} rows, `b` has {n}", rows.len()),
            ));
        }
        if let Some(k) = A.iter().position(|x| !x.is_finite()) {
            return Err(BuildError::new(
                format!("A[{}, {}]", k / n, k % n),
                "must be finite",
            ));
        }
        if let Some(i) = b.iter().position(|x| !x.is_finite()) {
            return Err(BuildError::new(format!("b[{i}]"), "must be finite"));
        }
        for i in 0..n {
            check_row(&rows, i).map_err(|reason| BuildError::new(format!("rows[{i}]"), reason))?;
        }
        let mut problem = Self {
            A,
            b,
            rows,
            symmetric: false,
        };
        problem.symmetric = problem.is_symmetric();
        Ok(problem)
    }

    /// A problem of one-sided rows alone.
    ///
    /// # Errors
    /// As `new`.
    pub fn one_sided(A: Vec<f64>, b: Vec<f64>) -> Result<Self, BuildError> {
        let rows = vec![Row::OneSided; b.len()];
        Self::new(A, b, rows)
    }

    /// The same problem with every round cone replaced by the pyramid of four sides around it: |f_1| ≤ μ f_n and |f_2| ≤ μ f_n.
    #[must_use]
    pub fn pyramid(&self) -> Self {
        let mut problem = self.clone();
        for i in 0..self.len() {
            if let Row::Cone {
                normal,
                coefficient,
            } = self.rows[i]
            {
                problem.rows[i] = Row::Planar {
                    normal,
                    coefficient,
                };
                problem.rows[i + 1] = Row::Planar {
                    normal,
                    coefficient,
                };
            }
        }
        problem
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.b.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.b.is_empty()
    }

    /// Kinds of the rows.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The constant part b.
    #[must_use]
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// Entry of A.
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.A[i * self.len() + j]
    }

    /// Row i of A.
    #[must_use]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.A[i * self.len()..(i + 1) * self.len()]
    }

    /// Whether A is symmetric up to rounding.
    #[must_use]
    pub fn symmetric(&self) -> bool {
        self.symmetric
    }

    /// w = A f + b.
    ///
    /// # Panics
    /// There is not one number for each row.
    #[must_use]
    pub fn w(&self, f: &[f64]) -> Vec<f64> {
        assert_eq!(f.len(), self.len(), "one number for each row");
        (0..self.len()).map(|i| self.w_at(i, f)).collect()
    }

    /// w_i.
    pub(super) fn w_at(&self, i: usize, f: &[f64]) -> f64 {
        dot(self.row(i), f) + self.b[i]
    }

    /// How far f is from a solution: the largest |f − P(f − w)| over the rows, P the projection on the bounds of the row, after each
    /// row has been given a response of one and the largest |b| is one [1]. Zero for solutions alone, and the same in all units.
    ///
    /// # Panics
    /// There is not one number for each row.
    #[must_use]
    pub fn residual(&self, f: &[f64]) -> f64 {
        let scale = super::scale::Scale::of(self);
        scale
            .apply(self)
            .map_or(f64::INFINITY, |scaled| scaled.natural(&scale.down(f)))
    }

    /// Whether the direction `v` proves that no solution exists (Farkas): v ≥ 0 on one-sided rows, any on free ones, zero elsewhere; the
    /// answer Aᵀ v pushes no allowed f anywhere, and b·v < 0, though w·v ≥ 0 is asked for.
    ///
    /// # Panics
    /// There is not one number for each row.
    #[must_use]
    pub fn certifies(&self, v: &[f64]) -> bool {
        assert_eq!(v.len(), self.len(), "one number for each row");
        let scale = super::scale::Scale::of(self);
        scale
            .apply(self)
            .is_some_and(|scaled| scaled.proves(&scale.down(v)))
    }

    /// The natural-map residual of a scaled problem.
    pub(super) fn natural(&self, f: &[f64]) -> f64 {
        let mut worst = 0.0_f64;
        let mut grow = |x: f64| {
            worst = if x.is_nan() {
                f64::INFINITY
            } else {
                worst.max(x.abs())
            }
        };
        for i in 0..self.len() {
            let z = f[i] - self.w_at(i, f);
            match self.rows[i] {
                Row::OneSided => grow(f[i] - z.max(0.0)),
                Row::Free => grow(f[i] - z),
                Row::Box { low, high } => grow(f[i] - z.max(low).min(high)),
                Row::Planar {
                    normal,
                    coefficient,
                } => {
                    let bound = coefficient * f[normal].max(0.0);
                    grow(f[i] - z.max(-bound).min(bound));
                }
                Row::Sliding { normal, ratio } => grow(f[i] - ratio * f[normal]),
                Row::Cone {
                    normal,
                    coefficient,
                } => {
                    let z = [z, f[i + 1] - self.w_at(i + 1, f)];
                    let near = on_disc(z, coefficient * f[normal].max(0.0));
                    grow(f[i] - near[0]);
                    grow(f[i + 1] - near[1]);
                }
                Row::ConeSecond => {}
            }
        }
        worst
    }

    /// Rounding error to be expected in the residual at f.
    pub(super) fn rounding(&self, f: &[f64]) -> f64 {
        let size = |i: usize| {
            let terms = self.row(i).iter().zip(f).map(|(a, f)| (a * f).abs());
            terms.fold(self.b[i].abs(), |s, x| s + x)
        };
        8.0 * f64::EPSILON * (0..self.len()).map(size).fold(0.0, f64::max)
    }

    /// Brings f into its bounds, normal forces before the friction that they bound.
    pub(super) fn clamp(&self, f: &mut [f64]) {
        for (i, row) in self.rows.iter().enumerate() {
            match *row {
                Row::OneSided => f[i] = f[i].max(0.0),
                Row::Box { low, high } => f[i] = f[i].max(low).min(high),
                _ => {}
            }
        }
        for (i, row) in self.rows.iter().enumerate() {
            match *row {
                Row::Planar {
                    normal,
                    coefficient,
                } => {
                    let bound = coefficient * f[normal];
                    f[i] = f[i].max(-bound).min(bound);
                }
                Row::Sliding { normal, ratio } => f[i] = ratio * f[normal],
                Row::Cone {
                    normal,
                    coefficient,
                } => {
                    [f[i], f[i + 1]] = on_disc([f[i], f[i + 1]], coefficient * f[normal]);
                }
                _ => {}
            }
        }
    }

    /// `certifies` for a scaled problem.
    pub(super) fn proves(&self, v: &[f64]) -> bool {
        let n = self.len();
        let mut c = vec![0.0; n];
        let (mut broken, mut gain) = (0.0_f64, 0.0);
        for i in 0..n {
            match self.rows[i] {
                Row::OneSided => broken = broken.max(-v[i]),
                Row::Free => {}
                _ if v[i] != 0.0 => return false,
                _ => continue,
            }
            gain -= self.b[i] * v[i];
            for (c, a) in c.iter_mut().zip(self.row(i)) {
                *c += v[i] * a;
            }
        }
        for j in 0..n {
            match self.rows[j] {
                Row::Box { low, high } => gain -= (c[j] * low).max(c[j] * high),
                Row::Planar {
                    normal,
                    coefficient,
                } => c[normal] += coefficient * c[j].abs(),
                Row::Sliding { normal, ratio } => c[normal] += ratio * c[j],
                Row::Cone {
                    normal,
                    coefficient,
                } => c[normal] += coefficient * length([c[j], c[j + 1]]),
                _ => {}
            }
        }
        for j in 0..n {
            match self.rows[j] {
                Row::OneSided => broken = broken.max(c[j]),
                Row::Free => broken = broken.max(c[j].abs()),
                _ => {}
            }
        }
        gain.is_finite() && gain > 0.0 && broken <= CERTAIN * gain
    }

    /// The same numbers with other kinds of rows, which fit.
    pub(super) fn with_rows(&self, rows: Vec<Row>) -> Self {
        Self::from_parts(self.A.clone(), self.b.clone(), rows, self.symmetric)
    }

    /// A problem from parts that fit.
    pub(super) fn from_parts(A: Vec<f64>, b: Vec<f64>, rows: Vec<Row>, symmetric: bool) -> Self {
        debug_assert_eq!((A.len(), rows.len()), (b.len() * b.len(), b.len()));
        Self {
            A,
            b,
            rows,
            symmetric,
        }
    }

    fn is_symmetric(&self) -> bool {
        let n = self.len();
        (0..n).all(|i| {
            (0..i).all(|j| {
                let size = (self.at(i, i).abs() * self.at(j, j).abs()).sqrt();
                (self.at(i, j) - self.at(j, i)).abs() <= SYMMETRIC * size
            })
        })
    }
}

fn check_row(rows: &[Row], i: usize) -> Result<(), String> {
    match rows[i] {
        Row::Box { low, high } if !(low.is_finite() && high.is_finite() && low <= high) => {
            return Err(format!(
                "bounds must be finite and in order, got {low} and {high}"
            ));
        }
        Row::Planar { coefficient, .. } | Row::Cone { coefficient, .. }
            if !(coefficient.is_finite() && coefficient >= 0.0) =>
        {
            return Err(format!(
                "friction must be finite and not negative, got {coefficient}"
            ));
        }
        Row::Sliding { ratio, .. } if !ratio.is_finite() => {
            return Err("the ratio must be finite".into());
        }
        _ => {}
    }
    if let Some(normal) = rows[i].normal()
        && rows.get(normal) != Some(&Row::OneSided)
    {
        return Err(format!("its normal row {normal} must be a one-sided row"));
    }
    let first = matches!(rows[i], Row::Cone { .. });
    if first && rows.get(i + 1) != Some(&Row::ConeSecond) {
        return Err("a cone needs its second row after it".into());
    }
    if rows[i] == Row::ConeSecond && !(i > 0 && matches!(rows[i - 1], Row::Cone { .. })) {
        return Err("a second row of a cone needs its first before it".into());
    }
    Ok(())
}

/// The point of the disc nearest to z.
pub(super) fn on_disc(z: [f64; 2], radius: f64) -> [f64; 2] {
    let size = length(z);
    if size <= radius {
        z
    } else {
        [z[0] * (radius / size), z[1] * (radius / size)]
    }
}

pub(super) fn length(z: [f64; 2]) -> f64 {
    (z[0] * z[0] + z[1] * z[1]).sqrt()
}

/// a · b, summed in four parts so that the machine may add them side by side; the order is fixed.
#[inline]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = a4.remainder().iter().zip(b4.remainder());
    for (x, y) in a4.zip(b4) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    let tail = rest.fold(0.0, |s, (x, y)| s + x * y);
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
}

/// y ← y + s x.
pub(super) fn axpy(y: &mut [f64], s: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += s * x;
    }
}
