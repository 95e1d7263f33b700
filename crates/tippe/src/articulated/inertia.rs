//! Inertias of rigid bodies (ten numbers) and of articulated ones (twenty-one and their mirror images).
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `model`, `aba`, `rnea`, `crba`, `energy`.
//! Source: [Featherstone08] §2.13, appendix A.4; the shift of articulated inertias written out from §7.2.

use super::spatial::{Force, Frame, Motion, Sym3};
use crate::math::{Mat3, Vec3, skew};

/// Inertia of a rigid body about the origin of its frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidInertia {
    /// Mass m [kg].
    pub mass: f64,
    /// First moment `h = m c` [kg·m], c the centre of mass.
    pub moment: Vec3,
    /// Second moment about the origin [kg·m²].
    pub inertia: Sym3,
}

impl RigidInertia {
    /// From mass, centre of mass, and inertia about the centre of mass.
    #[must_use]
    pub fn new(mass: f64, center: Vec3, inertia: Mat3) -> Self {
        let c = skew(center);
        Self {
            mass,
            moment: center * mass,
            inertia: Sym3::from_mat3(&(inertia - c * c * mass)),
        }
    }

    /// Momentum `I v` of the body.
    #[inline]
    #[must_use]
    pub fn times(&self, v: Motion) -> Force {
        Force {
            torque: self.inertia.times(v.angular) + self.moment.cross(v.linear),
            force: v.linear * self.mass - self.moment.cross(v.angular),
        }
    }

    /// The sum of two bodies in one frame.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            moment: self.moment + other.moment,
            inertia: self.inertia + other.inertia,
        }
    }

    /// The same body seen from the parent frame: `Xᵀ I X`.
    #[inline]
    #[must_use]
    pub fn carried(&self, frame: &Frame) -> Self {
        let (h, p) = (frame.rotation * self.moment, frame.origin);
        let moment = h + p * self.mass;
        // Σ m (x·x 1 − x xᵀ) with x = p + Rx': the terms mixed in p and h, and those of p alone.
        let s = 2.0 * p.dot(h) + p.length_squared() * self.mass;
        let t = h + moment;
        let mut inertia = self.inertia.rotated(&frame.rotation);
        // p hᵀ + h pᵀ + m p pᵀ, written as ½(p tᵀ + t pᵀ) with t = 2h + m p.
        inertia.xx += s - p.x * t.x;
        inertia.xy -= 0.5 * (p.x * t.y + t.x * p.y);
        inertia.xz -= 0.5 * (p.x * t.z + t.x * p.z);
        inertia.yy += s - p.y * t.y;
        inertia.yz -= 0.5 * (p.y * t.z + t.y * p.z);
        inertia.zz += s - p.z * t.z;
        Self {
            mass: self.mass,
            moment,
            inertia,
        }
    }
}

/// Inertia of an articulated body: `[n; f] = [[A, B], [Bᵀ, C]] [ω; v]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArticulatedInertia {
    /// Angular block A [kg·m²].
    pub angular: Sym3,
    /// Coupling block B [kg·m].
    pub coupling: Mat3,
    /// Linear block C [kg].
    pub linear: Sym3,
}

impl ArticulatedInertia {
    /// No inertia. (glam's matrices are the identity by default, so there is no `Default` here.)
    pub const ZERO: Self = Self {
        angular: Sym3::scalar(0.0),
        coupling: Mat3::ZERO,
        linear: Sym3::scalar(0.0),
    };

    /// That of a rigid body.
    #[inline]
    #[must_use]
    pub fn from_rigid(i: &RigidInertia) -> Self {
        Self {
            angular: i.inertia,
            coupling: skew(i.moment),
            linear: Sym3::scalar(i.mass),
        }
    }

    /// `I m`
    #[inline]
    #[must_use]
    pub fn times(&self, m: Motion) -> Force {
        Force {
            torque: self.angular.times(m.angular) + self.coupling * m.linear,
            force: super::spatial::transposed_times(&self.coupling, m.angular)
                + self.linear.times(m.linear),
        }
    }

    /// `I += other`
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.angular = self.angular + other.angular;
        self.coupling += other.coupling;
        self.linear = self.linear + other.linear;
    }

    /// `I + s U Uᵀ`
    #[inline]
    #[must_use]
    pub fn plus_outer(&self, u: Force, s: f64) -> Self {
        let t = u.torque * s;
        Self {
            angular: self.angular.plus_outer(u.torque, s),
            coupling: Mat3::from_cols(
                self.coupling.x_axis + t * u.force.x,
                self.coupling.y_axis + t * u.force.y,
                self.coupling.z_axis + t * u.force.z,
            ),
            linear: self.linear.plus_outer(u.force, s),
        }
    }

    /// Seen from the parent frame: `Xᵀ I X`.
    #[inline]
    #[must_use]
    pub fn carried(&self, frame: &Frame) -> Self {
        let r = &frame.rotation;
        Self {
            angular: self.angular.rotated(r),
            coupling: *r * self.coupling * r.transpose(),
            linear: self.linear.rotated(r),
        }
        .shifted(frame.origin)
    }

    /// The same where nothing resists rotation about z: third row and column of A and third row of B are zero.
    #[inline]
    #[must_use]
    pub(super) fn carried_hinge(&self, frame: &Frame) -> Self {
        let r = &frame.rotation;
        let b = &self.coupling;
        let s0 = *r * Vec3::new(b.x_axis.x, b.y_axis.x, b.z_axis.x);
        let s1 = *r * Vec3::new(b.x_axis.y, b.y_axis.y, b.z_axis.y);
        let column = |x: f64, y: f64| r.x_axis * x + r.y_axis * y;
        Self {
            angular: self.angular.rotated_planar(r),
            coupling: Mat3::from_cols(column(s0.x, s1.x), column(s0.y, s1.y), column(s0.z, s1.z)),
            linear: self.linear.rotated(r),
        }
        .shifted(frame.origin)
    }

    /// The same where nothing resists translation along z: third row and column of C and third column of B are zero.
    #[inline]
    #[must_use]
    pub(super) fn carried_slider(&self, frame: &Frame) -> Self {
        let r = &frame.rotation;
        let (s0, s1) = (*r * self.coupling.x_axis, *r * self.coupling.y_axis);
        let column = |x: f64, y: f64| s0 * x + s1 * y;
        Self {
            angular: self.angular.rotated(r),
            coupling: Mat3::from_cols(
                column(r.x_axis.x, r.y_axis.x),
                column(r.x_axis.y, r.y_axis.y),
                column(r.x_axis.z, r.y_axis.z),
            ),
            linear: self.linear.rotated_planar(r),
        }
        .shifted(frame.origin)
    }

    /// The reference point moved by −p: `C' = C, B' = B + p̃ C, A' = A + (p̃ Bᵀ)ᵀ + p̃ B'ᵀ`.
    #[inline]
    fn shifted(&self, p: Vec3) -> Self {
        let (b, c) = (&self.coupling, &self.linear);
        let moved = Mat3::from_cols(
            b.x_axis + p.cross(c.x()),
            b.y_axis + p.cross(c.y()),
            b.z_axis + p.cross(c.z()),
        );
        // Entry (i, j) of (p̃ Bᵀ)ᵀ is (p × row_i B)_j, of p̃ B'ᵀ it is (p × row_j B')_i.
        let (b0, b1, b2) = rows(b);
        let (d0, d1, d2) = rows(&moved);
        let a = &self.angular;
        let x = |r: Vec3| p.y * r.z - p.z * r.y;
        let y = |r: Vec3| p.z * r.x - p.x * r.z;
        let z = |r: Vec3| p.x * r.y - p.y * r.x;
        Self {
            angular: Sym3 {
                xx: a.xx + x(b0) + x(d0),
                xy: a.xy + y(b0) + x(d1),
                xz: a.xz + z(b0) + x(d2),
                yy: a.yy + y(b1) + y(d1),
                yz: a.yz + z(b1) + y(d2),
                zz: a.zz + z(b2) + z(d2),
            },
            coupling: moved,
            linear: *c,
        }
    }
}

#[inline]
fn rows(m: &Mat3) -> (Vec3, Vec3, Vec3) {
    (
        Vec3::new(m.x_axis.x, m.y_axis.x, m.z_axis.x),
        Vec3::new(m.x_axis.y, m.y_axis.y, m.z_axis.y),
        Vec3::new(m.x_axis.z, m.y_axis.z, m.z_axis.z),
    )
}
