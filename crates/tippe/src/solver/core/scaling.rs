//! Algebra of the second-order cone x₀ ≥ |(x₁, x₂)|: products, Nesterov–Todd scaling by its eigenvalues, the way to the boundary.
//!
//! Reads: points and directions.  Writes: nothing (pure functions).
//! Called by: `solver::core::interior`.
//! Source: [NesterovTodd98], [Vandenberghe10] §4. The scaling of (y, x) is W = Wᵀ with W x = W⁻¹ y; it has the eigenvalues β e and β/e in the plane of the
//! axis and t, and β across it. Written as 2wwᵀ − J it loses all digits near the boundary, by its eigenvalues it loses none.

/// A point of the cone.
pub(super) type Point = [f64; 3];

/// x₀² − x₁² − x₂² without cancellation of squares.
pub(super) fn determinant(x: &Point) -> f64 {
    let t = (x[1] * x[1] + x[2] * x[2]).sqrt();
    (x[0] - t) * (x[0] + t)
}

/// Sum of products.
pub(super) fn dot(x: &Point, y: &Point) -> f64 {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

/// The product x ∘ y of the cone's algebra.
pub(super) fn product(x: &Point, y: &Point) -> Point {
    [
        dot(x, y),
        x[0] * y[1] + y[0] * x[1],
        x[0] * y[2] + y[0] * x[2],
    ]
}

/// Solves l ∘ x = d.
pub(super) fn quotient(l: &Point, d: &Point) -> Point {
    let x0 = (l[0] * d[0] - l[1] * d[1] - l[2] * d[2]) / determinant(l).max(f64::MIN_POSITIVE);
    [x0, (d[1] - x0 * l[1]) / l[0], (d[2] - x0 * l[2]) / l[0]]
}

/// Largest α, at most `far`, with x + α d in the cone.
pub(super) fn reach(x: &Point, d: &Point, far: f64) -> f64 {
    let a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    let b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    let c = determinant(x);
    let mut best = if d[0] < 0.0 {
        far.min(-x[0] / d[0])
    } else {
        far
    };
    let squared = b * b - a * c;
    if a.abs() < f64::MIN_POSITIVE {
        if b < 0.0 {
            best = best.min(-c / (2.0 * b));
        }
    } else if squared >= 0.0 {
        let root = squared.sqrt();
        let q = -(b + if b >= 0.0 { root } else { -root });
        for t in [q / a, if q == 0.0 { far } else { c / q }] {
            if t > 0.0 {
                best = best.min(t);
            }
        }
    }
    best
}

/// Scaling of one cone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scaling {
    /// Eigenvalues: β e, β/e, β.
    high: f64,
    low: f64,
    across: f64,
    /// Unit vector of the plane.
    t: [f64; 2],
}

impl Scaling {
    pub(super) fn new(y: &Point, x: &Point) -> Self {
        let tiny = f64::MIN_POSITIVE;
        let (det_y, det_x) = (
            determinant(y).max(tiny).sqrt(),
            determinant(x).max(tiny).sqrt(),
        );
        let (y, x) = (y.map(|c| c / det_y), x.map(|c| c / det_x));
        let g = (0.5 * (1.0 + dot(&y, &x))).max(1.0).sqrt();
        let w = [(y[1] - x[1]) / (2.0 * g), (y[2] - x[2]) / (2.0 * g)];
        let n = (w[0] * w[0] + w[1] * w[1]).sqrt();
        let (beta, e) = ((det_y / det_x).sqrt(), (1.0 + n * n).sqrt() + n);
        Self {
            high: beta * e,
            low: beta / e,
            across: beta,
            t: if n > 0.0 {
                [w[0] / n, w[1] / n]
            } else {
                [1.0, 0.0]
            },
        }
    }

    /// f(W) x
    fn apply(&self, x: &Point, f: impl Fn(f64) -> f64) -> Point {
        let along = x[1] * self.t[0] + x[2] * self.t[1];
        let side = x[2] * self.t[0] - x[1] * self.t[1];
        let p = 0.5 * f(self.high) * (x[0] + along);
        let m = 0.5 * f(self.low) * (x[0] - along);
        let (t, s) = (p - m, f(self.across) * side);
        [
            p + m,
            t * self.t[0] - s * self.t[1],
            t * self.t[1] + s * self.t[0],
        ]
    }

    /// W x
    pub(super) fn times(&self, x: &Point) -> Point {
        self.apply(x, |w| w)
    }

    /// W⁻¹ x
    pub(super) fn over(&self, x: &Point) -> Point {
        self.apply(x, |w| 1.0 / w)
    }

    /// (W² + δ)⁻¹ x
    pub(super) fn squared_over(&self, x: &Point, delta: f64) -> Point {
        self.apply(x, |w| 1.0 / (w * w + delta))
    }

    /// (W² + δ)⁻¹ W x
    pub(super) fn damped(&self, x: &Point, delta: f64) -> Point {
        self.apply(x, |w| w / (w * w + delta))
    }

    /// The matrix (W² + δ)⁻¹, row major.
    pub(super) fn matrix(&self, delta: f64) -> [f64; 9] {
        let f = |w: f64| 1.0 / (w * w + delta);
        let (sum, difference) = (
            0.5 * (f(self.high) + f(self.low)),
            0.5 * (f(self.high) - f(self.low)),
        );
        let [c, s] = self.t;
        let across = f(self.across);
        let (xx, xy, yy) = (
            sum * c * c + across * s * s,
            (sum - across) * c * s,
            sum * s * s + across * c * c,
        );
        [
            sum,
            difference * c,
            difference * s,
            difference * c,
            xx,
            xy,
            difference * s,
            xy,
            yy,
        ]
    }
}
