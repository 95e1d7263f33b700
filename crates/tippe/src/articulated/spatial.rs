//! Spatial algebra of trees: motions, forces, frames and inertias in six dimensions.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: everything in `articulated`.
//! Source: [Featherstone08] ch. 2 and appendix A, in body coordinates: motion [ω; v_O], force [n_O; f], O the origin of the frame.
//! Letters: R axes of the child as columns in the parent frame (Featherstone's Eᵀ), p origin of the child in the parent frame (his r).

use crate::math::{Mat3, Vec3};

/// A spatial velocity or acceleration [ω; v] about the origin of a frame, in its axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Angular part [rad/s] or [rad/s²].
    pub angular: Vec3,
    /// Linear part at the origin [m/s] or [m/s²].
    pub linear: Vec3,
}

/// A spatial force or impulse [n; f] about the origin of a frame, in its axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Force {
    /// Moment about the origin [N·m] or [N·m·s].
    pub torque: Vec3,
    /// Force [N] or impulse [N·s].
    pub force: Vec3,
}

impl Motion {
    /// No motion.
    pub const ZERO: Self = Self::new(Vec3::ZERO, Vec3::ZERO);

    /// A motion from its two parts.
    #[must_use]
    pub const fn new(angular: Vec3, linear: Vec3) -> Self {
        Self { angular, linear }
    }

    /// Velocity of the point at `offset` from the origin: `v + ω × ℓ`.
    #[inline]
    #[must_use]
    pub fn at(&self, offset: Vec3) -> Vec3 {
        self.linear + self.angular.cross(offset)
    }

    /// `v × m`: how the motion `m`, fixed in a frame that moves with `self`, changes.
    #[inline]
    #[must_use]
    pub fn cross(&self, m: Self) -> Self {
        Self {
            angular: self.angular.cross(m.angular),
            linear: self.angular.cross(m.linear) + self.linear.cross(m.angular),
        }
    }

    /// `v ×* f`: how the force `f`, fixed in a frame that moves with `self`, changes.
    #[inline]
    #[must_use]
    pub fn cross_force(&self, f: Force) -> Force {
        Force {
            torque: self.angular.cross(f.torque) + self.linear.cross(f.force),
            force: self.angular.cross(f.force),
        }
    }

    /// Power of a force on this motion [W].
    #[inline]
    #[must_use]
    pub fn dot(&self, f: Force) -> f64 {
        self.angular.dot(f.torque) + self.linear.dot(f.force)
    }

    /// Whether every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.angular.is_finite() && self.linear.is_finite()
    }
}

impl Force {
    /// No force.
    pub const ZERO: Self = Self::new(Vec3::ZERO, Vec3::ZERO);

    /// A force from its two parts.
    #[must_use]
    pub const fn new(torque: Vec3, force: Vec3) -> Self {
        Self { torque, force }
    }

    /// The force `f` at `offset` from the origin.
    #[inline]
    #[must_use]
    pub fn at(offset: Vec3, f: Vec3) -> Self {
        Self::new(offset.cross(f), f)
    }
}

impl std::ops::Add for Motion {
    type Output = Self;
    #[inline]
    fn add(self, m: Self) -> Self {
        Self::new(self.angular + m.angular, self.linear + m.linear)
    }
}

impl std::ops::Sub for Motion {
    type Output = Self;
    #[inline]
    fn sub(self, m: Self) -> Self {
        Self::new(self.angular - m.angular, self.linear - m.linear)
    }
}

impl std::ops::Mul<f64> for Motion {
    type Output = Self;
    #[inline]
    fn mul(self, s: f64) -> Self {
        Self::new(self.angular * s, self.linear * s)
    }
}

impl std::ops::Add for Force {
    type Output = Self;
    #[inline]
    fn add(self, f: Self) -> Self {
        Self::new(self.torque + f.torque, self.force + f.force)
    }
}

impl std::ops::Sub for Force {
    type Output = Self;
    #[inline]
    fn sub(self, f: Self) -> Self {
        Self::new(self.torque - f.torque, self.force - f.force)
    }
}

impl std::ops::Mul<f64> for Force {
    type Output = Self;
    #[inline]
    fn mul(self, s: f64) -> Self {
        Self::new(self.torque * s, self.force * s)
    }
}

/// Where a frame is in another: `x_parent = R x + p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Axes of the frame as columns, R.
    pub rotation: Mat3,
    /// Origin of the frame [m], p.
    pub origin: Vec3,
}

impl Frame {
    /// The parent frame itself.
    pub const IDENTITY: Self = Self {
        rotation: Mat3::IDENTITY,
        origin: Vec3::ZERO,
    };

    /// A motion of the parent frame, in this one: X.
    #[inline]
    #[must_use]
    pub fn motion_to_child(&self, m: Motion) -> Motion {
        Motion {
            angular: transposed_times(&self.rotation, m.angular),
            linear: transposed_times(&self.rotation, m.at(self.origin)),
        }
    }

    /// A motion of this frame, in the parent frame: X⁻¹.
    #[inline]
    #[must_use]
    pub fn motion_to_parent(&self, m: Motion) -> Motion {
        let angular = self.rotation * m.angular;
        Motion {
            angular,
            linear: self.rotation * m.linear - angular.cross(self.origin),
        }
    }

    /// A force of this frame, in the parent frame: Xᵀ.
    #[inline]
    #[must_use]
    pub fn force_to_parent(&self, f: Force) -> Force {
        let force = self.rotation * f.force;
        Force {
            torque: self.rotation * f.torque + self.origin.cross(force),
            force,
        }
    }

    /// A force of the parent frame, in this one: X⁻ᵀ.
    #[inline]
    #[must_use]
    pub fn force_to_child(&self, f: Force) -> Force {
        Force {
            torque: transposed_times(&self.rotation, f.torque - self.origin.cross(f.force)),
            force: transposed_times(&self.rotation, f.force),
        }
    }

    /// A point of this frame, in the parent frame.
    #[inline]
    #[must_use]
    pub fn point(&self, local: Vec3) -> Vec3 {
        self.rotation * local + self.origin
    }

    /// A point of the parent frame, in this one.
    #[inline]
    #[must_use]
    pub fn point_to_child(&self, point: Vec3) -> Vec3 {
        transposed_times(&self.rotation, point - self.origin)
    }

    /// The frame `child`, given in this one, in the parent frame.
    #[inline]
    #[must_use]
    pub fn compose(&self, child: &Self) -> Self {
        Self {
            rotation: self.rotation * child.rotation,
            origin: self.point(child.origin),
        }
    }
}

/// `Mᵀ x`
#[inline]
#[must_use]
pub fn transposed_times(m: &Mat3, x: Vec3) -> Vec3 {
    Vec3::new(m.x_axis.dot(x), m.y_axis.dot(x), m.z_axis.dot(x))
}

/// A symmetric 3×3 matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sym3 {
    /// Entry (x, x).
    pub xx: f64,
    /// Entry (x, y).
    pub xy: f64,
    /// Entry (x, z).
    pub xz: f64,
    /// Entry (y, y).
    pub yy: f64,
    /// Entry (y, z).
    pub yz: f64,
    /// Entry (z, z).
    pub zz: f64,
}

impl Sym3 {
    /// The upper half of a symmetric matrix.
    #[must_use]
    pub const fn from_mat3(m: &Mat3) -> Self {
        Self {
            xx: m.x_axis.x,
            xy: m.y_axis.x,
            xz: m.z_axis.x,
            yy: m.y_axis.y,
            yz: m.z_axis.y,
            zz: m.z_axis.z,
        }
    }

    /// Both halves.
    #[inline]
    #[must_use]
    pub const fn to_mat3(&self) -> Mat3 {
        Mat3::from_cols(self.x(), self.y(), self.z())
    }

    /// A multiple of the identity.
    #[must_use]
    pub const fn scalar(s: f64) -> Self {
        Self {
            xx: s,
            xy: 0.0,
            xz: 0.0,
            yy: s,
            yz: 0.0,
            zz: s,
        }
    }

    /// First column.
    #[inline]
    #[must_use]
    pub const fn x(&self) -> Vec3 {
        Vec3::new(self.xx, self.xy, self.xz)
    }

    /// Second column.
    #[inline]
    #[must_use]
    pub const fn y(&self) -> Vec3 {
        Vec3::new(self.xy, self.yy, self.yz)
    }

    /// Third column.
    #[inline]
    #[must_use]
    pub const fn z(&self) -> Vec3 {
        Vec3::new(self.xz, self.yz, self.zz)
    }

    /// Sum of the diagonal.
    #[must_use]
    pub const fn trace(&self) -> f64 {
        self.xx + self.yy + self.zz
    }

    /// Product with a vector.
    #[inline]
    #[must_use]
    pub fn times(&self, v: Vec3) -> Vec3 {
        Vec3::new(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }

    /// `S + s u uᵀ`
    #[inline]
    #[must_use]
    pub fn plus_outer(&self, u: Vec3, s: f64) -> Self {
        let t = u * s;
        Self {
            xx: self.xx + t.x * u.x,
            xy: self.xy + t.x * u.y,
            xz: self.xz + t.x * u.z,
            yy: self.yy + t.y * u.y,
            yz: self.yz + t.y * u.z,
            zz: self.zz + t.z * u.z,
        }
    }

    /// `R S Rᵀ`
    #[inline]
    #[must_use]
    pub fn rotated(&self, r: &Mat3) -> Self {
        let (t0, t1, t2) = (*r * self.x(), *r * self.y(), *r * self.z());
        sum_of_outers(&[(t0, r.x_axis), (t1, r.y_axis), (t2, r.z_axis)])
    }

    /// `R S Rᵀ` where the third row and column of S are zero.
    #[inline]
    #[must_use]
    pub(super) fn rotated_planar(&self, r: &Mat3) -> Self {
        let t0 = r.x_axis * self.xx + r.y_axis * self.xy;
        let t1 = r.x_axis * self.xy + r.y_axis * self.yy;
        sum_of_outers(&[(t0, r.x_axis), (t1, r.y_axis)])
    }
}

/// `Σ t eᵀ`, known to be symmetric.
#[inline]
fn sum_of_outers(pairs: &[(Vec3, Vec3)]) -> Sym3 {
    let mut s = Sym3::default();
    for (t, e) in pairs {
        s.xx += t.x * e.x;
        s.xy += t.x * e.y;
        s.xz += t.x * e.z;
        s.yy += t.y * e.y;
        s.yz += t.y * e.z;
        s.zz += t.z * e.z;
    }
    s
}

impl std::ops::Add for Sym3 {
    type Output = Self;
    #[inline]
    fn add(self, s: Self) -> Self {
        Self {
            xx: self.xx + s.xx,
            xy: self.xy + s.xy,
            xz: self.xz + s.xz,
            yy: self.yy + s.yy,
            yz: self.yz + s.yz,
            zz: self.zz + s.zz,
        }
    }
}
