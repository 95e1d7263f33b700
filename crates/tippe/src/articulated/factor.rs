//! Factors of joints with three and six freedoms.
//!
//! Reads: articulated inertias.  Writes: `Ball`, `Floating` (pure functions).
//! Called by: `aba`, `response`, `spread`.
//! Source: [Featherstone08] table 7.1 with S = [1; 0] and S = 1; [Golub13] §4.2 (Cholesky).

use super::inertia::ArticulatedInertia;
use super::spatial::{Force, Motion, Sym3, transposed_times};
use super::work::{Ball, Floating};
use crate::math::block_cholesky::{self, Block};
use crate::math::{Mat3, Vec3};

impl Ball {
    /// `Uᵀ a`
    #[inline]
    pub fn pull(&self, a: Motion) -> Vec3 {
        self.angular.times(a.angular) + self.coupling * a.linear
    }

    /// `U D⁻¹ u`
    #[inline]
    pub fn push(&self, u: Vec3) -> Force {
        let x = self.d_inverse.times(u);
        Force::new(self.angular.times(x), transposed_times(&self.coupling, x))
    }
}

/// U and D⁻¹ of a spherical joint; `None` if a direction moves no mass.
pub(super) fn ball_factor(
    inertia: &ArticulatedInertia,
    added: f64,
    singular_below: f64,
) -> Option<Ball> {
    let a = inertia.angular;
    invert(&a, singular_below)?;
    let d = Sym3 {
        xx: a.xx + added,
        yy: a.yy + added,
        zz: a.zz + added,
        ..a
    };
    Some(Ball {
        angular: a,
        coupling: inertia.coupling,
        d_inverse: invert(&d, singular_below)?,
        u: Vec3::ZERO,
    })
}

/// `I^A − U D⁻¹ Uᵀ` of a spherical joint: without added inertia only the linear block is left.
pub(super) fn ball_remainder(
    inertia: &ArticulatedInertia,
    b: &Ball,
    added: f64,
) -> ArticulatedInertia {
    let solved = Mat3::from_cols(
        b.d_inverse.times(b.coupling.x_axis),
        b.d_inverse.times(b.coupling.y_axis),
        b.d_inverse.times(b.coupling.z_axis),
    );
    let c = inertia.linear.to_mat3() - b.coupling.transpose() * solved;
    let linear = Sym3::from_mat3(&c);
    if added == 0.0 {
        return ArticulatedInertia {
            linear,
            ..ArticulatedInertia::ZERO
        };
    }
    // A − A D⁻¹ A = D − e − (D − e) D⁻¹ (D − e) = e − e² D⁻¹, and B − A D⁻¹ B = e D⁻¹ B, without cancellation.
    let d = &b.d_inverse;
    let e = added * added;
    ArticulatedInertia {
        angular: Sym3 {
            xx: added - e * d.xx,
            xy: -e * d.xy,
            xz: -e * d.xz,
            yy: added - e * d.yy,
            yz: -e * d.yz,
            zz: added - e * d.zz,
        },
        coupling: solved * added,
        linear,
    }
}

/// Inverse of a symmetric positive definite matrix by `L D Lᵀ`; `None` if a pivot is below that fraction of the trace.
pub(super) fn invert(s: &Sym3, singular_below: f64) -> Option<Sym3> {
    let zero = singular_below * s.trace();
    let positive = |d: f64| (d > zero && d.is_finite()).then_some(1.0 / d);
    let i0 = positive(s.xx)?;
    let (l10, l20) = (s.xy * i0, s.xz * i0);
    let i1 = positive(s.yy - l10 * s.xy)?;
    let t = s.yz - l20 * s.xy;
    let l21 = t * i1;
    let i2 = positive(s.zz - l20 * s.xz - l21 * t)?;
    // Columns of L⁻¹.
    let m20 = l21 * l10 - l20;
    Some(Sym3 {
        xx: i0 + l10 * l10 * i1 + m20 * m20 * i2,
        xy: -l10 * i1 - m20 * l21 * i2,
        xz: m20 * i2,
        yy: i1 + l21 * l21 * i2,
        yz: -l21 * i2,
        zz: i2,
    })
}

/// Cholesky factor of the inertia of a free joint; `None` if a direction moves no mass.
pub(super) fn floating_factor(
    inertia: &ArticulatedInertia,
    singular_below: f64,
) -> Option<Floating> {
    invert(&inertia.angular, singular_below)?;
    let mut factor = dense(inertia);
    block_cholesky::cholesky(&mut factor).then_some(Floating {
        factor,
        inertia: *inertia,
        u: Force::ZERO,
    })
}

/// `D⁻¹ f` of a free joint.
pub(super) fn floating_solve(b: &Floating, f: Force) -> Motion {
    let mut x = pack_force(f);
    block_cholesky::forward(&b.factor, &mut x);
    block_cholesky::backward(&b.factor, &mut x);
    Motion::new(Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5]))
}

/// A force as six numbers.
pub(super) fn pack_force(f: Force) -> [f64; 6] {
    [
        f.torque.x, f.torque.y, f.torque.z, f.force.x, f.force.y, f.force.z,
    ]
}

/// An inertia as a 6×6 matrix, row major.
pub(super) fn dense(i: &ArticulatedInertia) -> Block {
    let (a, b, c) = (i.angular.to_mat3(), i.coupling, i.linear.to_mat3());
    std::array::from_fn(|k| {
        let (row, column) = (k / 6, k % 6);
        match (row < 3, column < 3) {
            (true, true) => a.col(column)[row],
            (true, false) => b.col(column - 3)[row],
            (false, true) => b.col(row - 3)[column],
            (false, false) => c.col(column - 3)[row - 3],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_times_matrix_is_one() {
        let s = Sym3 {
            xx: 3.0,
            xy: 0.5,
            xz: -0.7,
            yy: 2.0,
            yz: 0.3,
            zz: 1.0,
        };
        let found = invert(&s, 0.0).unwrap().to_mat3() * s.to_mat3();
        let error = (found - Mat3::IDENTITY).to_cols_array();
        assert!(error.iter().all(|x| x.abs() < 1e-15), "{found}");
    }
}
