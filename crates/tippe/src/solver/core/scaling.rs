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

/// Eigenvalues of a function of W: in the plane of the axis and t (two), and across it.
type Eigenvalues = [f64; 3];

/// Scaling of one cone, with the functions of W that a direction needs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scaling {
    /// W and W⁻¹.
    w: Eigenvalues,
    inverse: Eigenvalues,
    /// (W² + δ)⁻¹ and (W² + δ)⁻¹ W.
    soft: Eigenvalues,
    damped: Eigenvalues,
    /// Unit vector of the plane.
    t: [f64; 2],
}

impl Scaling {
    /// The scaling of (y, x), regularised by δ.
    pub(super) fn new(y: &Point, x: &Point, delta: f64) -> Self {
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
        let values = [beta * e, beta / e, beta];
        let soft = values.map(|w| 1.0 / (w * w + delta));
        Self {
            w: values,
            inverse: values.map(|w| 1.0 / w),
            soft,
            damped: std::array::from_fn(|k| values[k] * soft[k]),
            t: if n > 0.0 {
                [w[0] / n, w[1] / n]
            } else {
                [1.0, 0.0]
            },
        }
    }

    fn apply(&self, f: &Eigenvalues, x: &Point) -> Point {
        let along = x[1] * self.t[0] + x[2] * self.t[1];
        let side = x[2] * self.t[0] - x[1] * self.t[1];
        let (p, m) = (0.5 * f[0] * (x[0] + along), 0.5 * f[1] * (x[0] - along));
        let (t, s) = (p - m, f[2] * side);
        [
            p + m,
            t * self.t[0] - s * self.t[1],
            t * self.t[1] + s * self.t[0],
        ]
    }

    /// W x
    pub(super) fn times(&self, x: &Point) -> Point {
        self.apply(&self.w, x)
    }

    /// W⁻¹ x
    pub(super) fn over(&self, x: &Point) -> Point {
        self.apply(&self.inverse, x)
    }

    /// (W² + δ)⁻¹ x
    pub(super) fn soft(&self, x: &Point) -> Point {
        self.apply(&self.soft, x)
    }

    /// (W² + δ)⁻¹ W x
    pub(super) fn damped(&self, x: &Point) -> Point {
        self.apply(&self.damped, x)
    }

    /// The matrix (W² + δ)⁻¹, row major.
    pub(super) fn matrix(&self) -> [f64; 9] {
        let f = &self.soft;
        let (sum, difference) = (0.5 * (f[0] + f[1]), 0.5 * (f[0] - f[1]));
        let [c, s] = self.t;
        let xx = sum * c * c + f[2] * s * s;
        let xy = (sum - f[2]) * c * s;
        let yy = sum * s * s + f[2] * c * c;
        let (x, y) = (difference * c, difference * s);
        [sum, x, y, x, xx, xy, y, xy, yy]
    }
}
