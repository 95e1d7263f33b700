//! Eigenvalues and eigenvectors of a symmetric 3×3 matrix by Jacobi rotations.
//!
//! Reads: nothing.  Writes: nothing (pure function).
//! Called by: `shape::mass` (principal axes), `two_stage::joint_network` (eight at once).
//! Source: [Golub13] §8.5, cyclic Jacobi with the small-angle rotation.

use super::lanes::{Eight, Lanes};
use super::{Mat3, Vec3};

/// Sweeps over the three off-diagonal places; convergence is quadratic, six are enough for any 3×3 matrix.
const SWEEPS_MAX: usize = 24;
/// Off-diagonal entries below this fraction of the largest entry count as zero [1].
const EIGEN_ZERO: f64 = 1e-15;

/// `m = V diag(λ) Vᵀ` with a right-handed orthonormal `V`, its columns being the eigenvectors; returns `(V, λ)`.
///
/// Only the symmetric part of `m` is looked at. The order is not sorted: a matrix that is diagonal already keeps its axes exactly.
#[must_use]
pub fn symmetric_eigen(m: Mat3) -> (Mat3, Vec3) {
    let m = 0.5 * (m + m.transpose());
    let mut a = m.to_cols_array_2d();
    let mut v = Mat3::IDENTITY.to_cols_array_2d();
    let size = a.iter().flatten().fold(0.0_f64, |s, x| s.max(x.abs()));
    let zero = EIGEN_ZERO * size;
    for _ in 0..SWEEPS_MAX {
        let mut turned = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            // Written so that a NaN stops the loop too.
            if a[p][q].abs() > zero {
                rotate(&mut a, &mut v, p, q);
                turned = true;
            }
        }
        if !turned {
            break;
        }
    }
    (
        Mat3::from_cols_array_2d(&v),
        Vec3::new(a[0][0], a[1][1], a[2][2]),
    )
}

/// One rotation in the plane (p, q) that makes `a[p][q]` zero. `v[k]` is the k-th eigenvector so far.
fn rotate(a: &mut [[f64; 3]; 3], v: &mut [[f64; 3]; 3], p: usize, q: usize) {
    // t = tan of the angle, the smaller root of t² + 2θt − 1 = 0.
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let sign = if theta < 0.0 { -1.0 } else { 1.0 };
    let t = sign / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    let r = 3 - p - q;
    let (apq, apr, aqr) = (a[p][q], a[p][r], a[q][r]);
    a[p][p] -= t * apq;
    a[q][q] += t * apq;
    set(a, p, q, 0.0);
    set(a, p, r, c * apr - s * aqr);
    set(a, q, r, s * apr + c * aqr);
    for k in 0..3 {
        let (vp, vq) = (v[p][k], v[q][k]);
        v[p][k] = c * vp - s * vq;
        v[q][k] = s * vp + c * vq;
    }
}

fn set(a: &mut [[f64; 3]; 3], i: usize, j: usize, x: f64) {
    a[i][j] = x;
    a[j][i] = x;
}

/// A 3×3 matrix of eights, by columns.
pub(crate) type Eights<S> = [[Eight<S>; 3]; 3];

/// The largest of three sizes.
#[inline(always)]
fn largest<S: Lanes>(x: [Eight<S>; 3]) -> Eight<S> {
    x[0].abs().max(x[1].abs()).max(x[2].abs())
}

/// Eight matrices `m = V diag(λ) Vᵀ` at once, their lower halves being looked at; returns `(V, λ)`. What comes out for one does not depend on the others.
#[inline(always)]
pub(crate) fn symmetric_eigen_of_eight<S: Lanes>(
    s: S,
    m: &Eights<S>,
) -> (Eights<S>, [Eight<S>; 3]) {
    let (nil, one) = (Eight::splat(s, 0.0), Eight::splat(s, 1.0));
    let mut v = [[one, nil, nil], [nil, one, nil], [nil, nil, one]];
    let mut d = [m[0][0], m[1][1], m[2][2]];
    // The entry off the diagonal in neither row nor column k.
    let mut off = [m[1][2], m[0][2], m[0][1]];
    let zero = largest(d).max(largest(off)) * Eight::splat(s, EIGEN_ZERO);
    for _ in 0..SWEEPS_MAX {
        if largest(off).all_within(zero) {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let r = 3 - p - q;
            let (apq, apr, aqr) = (off[r], off[q], off[p]);
            let gap = d[q] - d[p];
            let twice = apq + apq;
            let size = gap.abs() + (gap * gap + twice * twice).sqrt();
            // Tangent of the angle; those that are done are not turned.
            let t = nil.within(gap, twice, nil - twice) / size;
            let t = apq.abs().within(zero, nil, t);
            let c = one / (t * t + one).sqrt();
            let sine = t * c;
            d[p] = d[p] - t * apq;
            d[q] = d[q] + t * apq;
            off[r] = apq.abs().within(zero, apq, nil);
            off[q] = c * apr - sine * aqr;
            off[p] = sine * apr + c * aqr;
            for k in 0..3 {
                let (vp, vq) = (v[p][k], v[q][k]);
                v[p][k] = c * vp - sine * vq;
                v[q][k] = sine * vp + c * vq;
            }
        }
    }
    (v, d)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;

    #[test]
    fn diagonal_keeps_its_axes() {
        let (v, l) = symmetric_eigen(Mat3::from_diagonal(Vec3::new(3.0, 1.0, 2.0)));
        assert_eq!(v, Mat3::IDENTITY);
        assert_eq!(l, Vec3::new(3.0, 1.0, 2.0));
    }

    #[test]
    fn rebuilds_the_matrix() {
        let values = [
            Vec3::new(1.0, 2.0, 3.0),
            Vec3::new(1.0, 1.0, 2.0),
            Vec3::splat(5.0),
            Vec3::new(1e-6, 1.0, 1.0),
        ];
        for l in values {
            for k in 0..50 {
                let x = f64::from(k);
                let q = Quat::from_xyzw(x - 20.0, 3.0, 0.3 * x, 1.0 + x * x).normalize();
                let r = Mat3::from_quat(q);
                let m = r * Mat3::from_diagonal(l) * r.transpose();
                let (v, e) = symmetric_eigen(m);
                let back = v * Mat3::from_diagonal(e) * v.transpose();
                assert!((back - m).to_cols_array().iter().all(|d| d.abs() < 1e-14));
                assert!((v.determinant() - 1.0).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn ends_on_any_input() {
        for x in [f64::NAN, f64::INFINITY, 1e308, 0.0, f64::MIN_POSITIVE] {
            let _ = symmetric_eigen(Mat3::from_cols_array(&[x; 9]));
        }
    }
}
