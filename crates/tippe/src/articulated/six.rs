//! Plain 6×6 arithmetic for assemblies of links.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `dca`, `adaptive`.
//! Source: elementary.

use super::inertia::{ArticulatedInertia, RigidInertia};
use super::spatial::{Force, Frame, Motion};
use crate::math::Vec3;
use crate::math::block_cholesky::{backward, cholesky, forward};

/// Six numbers: a motion [ω; v] or a force [n; f].
pub(super) type Six = [f64; 6];
/// A 6×6 matrix by rows.
pub(super) type Matrix = [Six; 6];

pub(super) const ZERO: Matrix = [[0.0; 6]; 6];
pub(super) const ONE: Matrix = {
    let mut one = ZERO;
    let mut i = 0;
    while i < 6 {
        one[i][i] = 1.0;
        i += 1;
    }
    one
};

// Plain loops by rows, which compilers make vector instructions of; entries are summed in the order of k.

pub(super) fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let mut out = ZERO;
    for i in 0..6 {
        for k in 0..6 {
            for j in 0..6 {
                out[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    out
}

pub(super) fn apply(a: &Matrix, x: &Six) -> Six {
    let mut out = [0.0; 6];
    for i in 0..6 {
        out[i] = dot(&a[i], x);
    }
    out
}

/// `Aᵀ x`
pub(super) fn apply_transposed(a: &Matrix, x: &Six) -> Six {
    let mut out = [0.0; 6];
    for k in 0..6 {
        for i in 0..6 {
            out[i] += a[k][i] * x[k];
        }
    }
    out
}

/// `Aᵀ B`
pub(super) fn transposed_times(a: &Matrix, b: &Matrix) -> Matrix {
    let mut out = ZERO;
    for k in 0..6 {
        for i in 0..6 {
            for j in 0..6 {
                out[i][j] += a[k][i] * b[k][j];
            }
        }
    }
    out
}

/// `A Bᵀ`
pub(super) fn times_transposed(a: &Matrix, b: &Matrix) -> Matrix {
    times(a, &transposed(b))
}

/// The symmetric part.
pub(super) fn symmetric(a: &Matrix) -> Matrix {
    let mut out = ZERO;
    for i in 0..6 {
        for j in 0..6 {
            out[i][j] = 0.5 * (a[i][j] + a[j][i]);
        }
    }
    out
}

pub(super) fn transposed(a: &Matrix) -> Matrix {
    let mut out = ZERO;
    for i in 0..6 {
        for j in 0..6 {
            out[i][j] = a[j][i];
        }
    }
    out
}

pub(super) fn sum(a: &Matrix, b: &Matrix, factor: f64) -> Matrix {
    let mut out = ZERO;
    for i in 0..6 {
        for j in 0..6 {
            out[i][j] = a[i][j] + factor * b[i][j];
        }
    }
    out
}

pub(super) fn plus(a: &Six, b: &Six, factor: f64) -> Six {
    let mut out = [0.0; 6];
    for i in 0..6 {
        out[i] = a[i] + factor * b[i];
    }
    out
}

pub(super) fn dot(a: &Six, b: &Six) -> f64 {
    let mut sum = 0.0;
    for k in 0..6 {
        sum += a[k] * b[k];
    }
    sum
}

/// Inverse of a symmetric positive definite matrix; `None` if it is not.
pub(super) fn inverse(a: &Matrix) -> Option<Matrix> {
    let mut block: [f64; 36] = std::array::from_fn(|k| a[k / 6][k % 6]);
    if !cholesky(&mut block) {
        return None;
    }
    let mut out = ZERO;
    for j in 0..6 {
        let mut x = [0.0; 6];
        x[j] = 1.0;
        forward(&block, &mut x);
        backward(&block, &mut x);
        for i in 0..6 {
            out[i][j] = x[i];
        }
    }
    Some(out)
}

pub(super) const fn motion(m: Motion) -> Six {
    let (a, l) = (m.angular, m.linear);
    [a.x, a.y, a.z, l.x, l.y, l.z]
}

pub(super) const fn force(f: Force) -> Six {
    let (n, f) = (f.torque, f.force);
    [n.x, n.y, n.z, f.x, f.y, f.z]
}

/// The motion transform X of a frame as a matrix.
pub(super) fn transform(frame: &Frame) -> Matrix {
    let mut out = ZERO;
    for k in 0..6 {
        let unit = |i: usize| {
            if k / 3 == i {
                Vec3::AXES[k % 3]
            } else {
                Vec3::ZERO
            }
        };
        let column = motion(frame.motion_to_child(Motion::new(unit(0), unit(1))));
        for i in 0..6 {
            out[i][k] = column[i];
        }
    }
    out
}

/// The inertia of a rigid body as a matrix.
pub(super) fn rigid(i: &RigidInertia) -> Matrix {
    let block = super::factor::dense(&ArticulatedInertia::from_rigid(i));
    std::array::from_fn(|r| std::array::from_fn(|c| block[6 * r + c]))
}
