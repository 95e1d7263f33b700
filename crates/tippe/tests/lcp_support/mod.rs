//! Random complementarity problems whose answer, or whose lack of one, is known by construction.

#![allow(dead_code, non_snake_case)]

use tippe::math::lcp::{Problem, Row};

/// A small generator (splitmix64), so that every run sees the same cases.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
    /// A whole number from `low` to `high`, both included.
    pub fn count(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }
}

/// A Jacobian of n rows and `rank` columns.
pub fn jacobian(random: &mut Random, n: usize, rank: usize) -> Vec<Vec<f64>> {
    (0..n)
        .map(|_| (0..rank).map(|_| random.range(-1.0, 1.0)).collect())
        .collect()
}

/// J Jᵀ, row-major and symmetric to the last bit.
pub fn gram(J: &[Vec<f64>]) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    J.iter()
        .flat_map(|a| J.iter().map(move |b| dot(a, b)))
        .collect()
}

/// w − A f.
pub fn constant(A: &[f64], f: &[f64], w: &[f64]) -> Vec<f64> {
    let n = f.len();
    (0..n)
        .map(|i| w[i] - (0..n).map(|j| A[i * n + j] * f[j]).sum::<f64>())
        .collect()
}

/// A problem with its known w: n rows, rank from n/2 to n, b = w − A f with f ⊥ w; one row in ten has neither.
pub fn known(random: &mut Random, n: usize) -> (Problem, Vec<f64>) {
    let rank = random.count(n.div_ceil(2), n);
    let A = gram(&jacobian(random, n, rank));
    let (mut f, mut w) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        match random.count(0, 9) {
            0 => {}
            1..=4 => w[i] = random.unit(),
            _ => f[i] = random.unit(),
        }
    }
    let b = constant(&A, &f, &w);
    (Problem::one_sided(A, b).expect("a good problem"), w)
}

/// A problem without a solution: forces v ≥ 0 move nothing (A v = 0), yet b·v < 0.
pub fn infeasible(random: &mut Random, n: usize) -> Problem {
    let rank = random.count(n.div_ceil(2), n);
    let mut J = jacobian(random, n, rank);
    let support = random.count(1, n);
    let v: Vec<f64> = (0..n)
        .map(|i| {
            if i < support {
                random.range(0.1, 1.0)
            } else {
                0.0
            }
        })
        .collect();
    // The last row of the support closes Jᵀ v = 0; a support of one is a row that answers nothing.
    for c in 0..rank {
        let sum: f64 = (0..support - 1).map(|i| v[i] * J[i][c]).sum();
        J[support - 1][c] = -sum / v[support - 1];
    }
    let A = gram(&J);
    let mut b: Vec<f64> = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
    let (gain, size) = (0..n).fold((0.0, 0.0), |(g, s), i| (g + b[i] * v[i], s + v[i] * v[i]));
    let wanted = -random.range(0.05, 1.0) * size;
    for i in 0..n {
        b[i] += (wanted - gain) / size * v[i];
    }
    Problem::one_sided(A, b).expect("a good problem")
}

/// A problem with contacts that are open, stick or slide, in a plane (2 rows each) or in space (3 rows each), and its known w.
pub fn friction(
    random: &mut Random,
    contacts: usize,
    space: bool,
    mu_max: f64,
) -> (Problem, Vec<f64>) {
    let (problem, w, _) = friction_by_rows(random, contacts, space, mu_max);
    (problem, w)
}

/// The same, with the rows J of A = J Jᵀ.
pub fn friction_by_rows(
    random: &mut Random,
    contacts: usize,
    space: bool,
    mu_max: f64,
) -> (Problem, Vec<f64>, Vec<Vec<f64>>) {
    let per = if space { 3 } else { 2 };
    let n = per * contacts;
    let rank = random.count(n.div_ceil(2), n);
    let J = jacobian(random, n, rank);
    let A = gram(&J);
    let (mut f, mut w, mut rows) = (vec![0.0; n], vec![0.0; n], Vec::new());
    for c in 0..contacts {
        let i = per * c;
        let coefficient = random.range(0.0, mu_max);
        let angle = random.range(-3.2, 3.2);
        let e = if space {
            vec![libm::cos(angle), libm::sin(angle)]
        } else {
            vec![if angle < 0.0 { -1.0 } else { 1.0 }]
        };
        rows.push(Row::OneSided);
        if space {
            rows.extend([
                Row::Cone {
                    normal: i,
                    coefficient,
                },
                Row::ConeSecond,
            ]);
        } else {
            rows.push(Row::Planar {
                normal: i,
                coefficient,
            });
        }
        let kind = random.count(0, 2);
        let slip = random.range(0.1, 1.0);
        let part = random.unit();
        f[i] = if kind == 0 {
            0.0
        } else {
            random.range(0.1, 1.0)
        };
        w[i] = if kind == 0 { random.unit() } else { 0.0 };
        for (k, e) in e.iter().enumerate() {
            match kind {
                0 => w[i + 1 + k] = slip * e,
                1 => f[i + 1 + k] = part * coefficient * f[i] * e,
                _ => {
                    f[i + 1 + k] = -coefficient * f[i] * e;
                    w[i + 1 + k] = slip * e;
                }
            }
        }
    }
    let b = constant(&A, &f, &w);
    (Problem::new(A, b, rows).expect("a good problem"), w, J)
}

/// Largest |a − b|.
pub fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .fold(0.0, |s: f64, (a, b)| s.max((a - b).abs()))
}
