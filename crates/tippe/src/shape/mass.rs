//! Mass properties: sum, move and diagonalise mass, centre and inertia.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: the shapes, `shape::mesh`, `model`.
//! Source: standard; parallel-axis theorem.

use crate::error::BuildError;
use crate::math::eigen::symmetric_eigen;
use crate::math::{Mat3, Pose, Quat, Vec3};

/// Relative tolerance for symmetry and for the triangle inequality of the moments [1].
const MASS_TOLERANCE: f64 = 1e-9;
/// Smallest ratio of the principal moments that counts as positive definite [1]; a hundred roundings.
const DEFINITE_MIN: f64 = 1e-14;

/// What a rigid solid weighs and how it resists turning.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MassProperties {
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass [m].
    pub center: Vec3,
    /// Inertia about the centre of mass [kg·m²].
    pub inertia: Mat3,
}

/// Masses [kg] and principal moments [kg·m²] of bodies: inverses, squares and products of them are far from the ends of double
/// precision.
const MASS_RANGE: std::ops::RangeInclusive<f64> = 1e-30..=1e30;
const MOMENT_RANGE: std::ops::RangeInclusive<f64> = 1e-60..=1e60;

impl MassProperties {
    /// No mass at all.
    pub const NONE: Self = Self {
        mass: 0.0,
        center: Vec3::ZERO,
        inertia: Mat3::ZERO,
    };

    /// All parts together, as if welded; `None` when there is no mass.
    #[must_use]
    pub fn sum(parts: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut total: Option<Self> = None;
        for part in parts.into_iter().filter(|p| p.mass > 0.0) {
            total = Some(match total {
                None => part,
                Some(t) => t.welded(&part),
            });
        }
        total
    }

    fn welded(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        let d = other.center - self.center;
        // I = I₁ + I₂ + m₁m₂/(m₁+m₂) (d² − d dᵀ): no cancellation, however far from the origin.
        let reduced = self.mass / mass * other.mass;
        Self {
            mass,
            center: self.center + d * (other.mass / mass),
            inertia: self.inertia + other.inertia + spread(d) * reduced,
        }
    }

    /// The same solid carried by `pose` (from the shape frame to its parent).
    #[must_use]
    pub fn moved(&self, pose: &Pose) -> Self {
        let r = Mat3::from_quat(pose.rotation);
        Self {
            mass: self.mass,
            center: pose.point(self.center),
            inertia: r * self.inertia * r.transpose(),
        }
    }

    /// The same solid with its density multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            mass: self.mass * factor,
            center: self.center,
            inertia: self.inertia * factor,
        }
    }

    /// Principal axes (as the rotation that carries them from the coordinate axes) and moments [kg·m²].
    ///
    /// A diagonal inertia keeps its axes. Refuses what no solid has: mass not positive, inertia not symmetric, not positive
    /// definite, or with one moment larger than the sum of the two others.
    pub fn principal(&self) -> Result<(Quat, Vec3), BuildError> {
        if !MASS_RANGE.contains(&self.mass) {
            return Err(BuildError::new(
                "mass",
                format!("must be between 1e-30 and 1e30 kg, got {:e}", self.mass),
            ));
        }
        let (axes, moments) = self.moments()?;
        if !moments
            .to_array()
            .iter()
            .all(|m| *m <= 0.0 || MOMENT_RANGE.contains(m))
        {
            let reason =
                format!("principal moments must be between 1e-60 and 1e60 kg m², got {moments}");
            return Err(BuildError::new("inertia", reason));
        }
        let (low, high) = (moments.min_element(), moments.max_element());
        if !(low > DEFINITE_MIN * high && high.is_finite()) {
            return Err(BuildError::new(
                "inertia",
                format!("must be positive definite; its principal moments are {moments}"),
            ));
        }
        Ok((Quat::from_mat3(&axes).normalize(), moments))
    }

    /// Principal axes and moments [kg·m²] of an inertia that may be zero in some directions, as that of a thin rod or of a point.
    ///
    /// Refuses what no solid has: inertia not symmetric, a negative moment, or one larger than the sum of the two others.
    pub(crate) fn moments(&self) -> Result<(Mat3, Vec3), BuildError> {
        let bad = |reason: String| Err(BuildError::new("inertia", reason));
        if !self.inertia.is_finite() {
            return bad("must be finite".into());
        }
        let size = self
            .inertia
            .to_cols_array()
            .iter()
            .fold(0.0_f64, |s, x| s.max(x.abs()));
        let skew = (self.inertia - self.inertia.transpose()).to_cols_array();
        if skew.iter().any(|d| d.abs() > MASS_TOLERANCE * size) {
            return bad("must be symmetric".into());
        }
        let (axes, moments) = symmetric_eigen(self.inertia);
        let (low, high) = (moments.min_element(), moments.max_element());
        if low < -MASS_TOLERANCE * high.abs() {
            return bad(format!(
                "must be positive definite; its principal moments are {moments}"
            ));
        }
        let others = moments.element_sum() - high;
        if others < high * (1.0 - MASS_TOLERANCE) {
            return bad(format!(
                "no solid has these principal moments: {high} is more than the sum {others} of the two others"
            ));
        }
        Ok((axes, moments))
    }
}

/// `d² 1 − d dᵀ`: the inertia of a unit point mass at `d` [m²].
pub(super) fn spread(d: Vec3) -> Mat3 {
    let outer = Mat3::from_cols(d * d.x, d * d.y, d * d.z);
    Mat3::from_diagonal(Vec3::splat(d.length_squared())) - outer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rotation::world_tensor;
    use crate::shape::Shape;

    fn cuboid(half: Vec3) -> MassProperties {
        Shape::Cuboid { half }.mass_properties(1.0)
    }

    #[test]
    fn two_halves_make_a_whole() {
        let half = cuboid(Vec3::new(0.5, 1.0, 2.0));
        let side = |x: f64| Pose::from_position(Vec3::new(x, 7.0, -3.0));
        let sum = MassProperties::sum([half.moved(&side(99.5)), half.moved(&side(100.5))]).unwrap();
        let whole = cuboid(Vec3::new(1.0, 1.0, 2.0));
        assert_eq!(sum.mass, whole.mass);
        assert!((sum.center - Vec3::new(100.0, 7.0, -3.0)).length() < 1e-13);
        let d = sum.inertia - whole.inertia;
        assert!(d.to_cols_array().iter().all(|x| x.abs() < 1e-12));
    }

    #[test]
    fn no_mass_no_sum() {
        assert_eq!(MassProperties::sum([]), None);
        assert_eq!(MassProperties::sum([MassProperties::NONE]), None);
        let one = cuboid(Vec3::ONE);
        assert_eq!(MassProperties::sum([MassProperties::NONE, one]), Some(one));
    }

    #[test]
    fn principal_axes() {
        let m = cuboid(Vec3::new(1.0, 2.0, 3.0));
        let (q, moments) = m.principal().unwrap();
        assert_eq!(q, Quat::IDENTITY);
        assert_eq!(Mat3::from_diagonal(moments), m.inertia);
        let turn = Quat::from_xyzw(0.3, -0.5, 0.1, 0.7).normalize();
        let t = m.moved(&Pose::new(Vec3::X, turn));
        let (q, moments) = t.principal().unwrap();
        let back = world_tensor(q, moments) - t.inertia;
        assert!(back.to_cols_array().iter().all(|x| x.abs() < 1e-12));
        assert!((q.length() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn refusals_name_the_field() {
        let good = cuboid(Vec3::ONE);
        let with = |inertia: Mat3| MassProperties { inertia, ..good }.principal().unwrap_err();
        let reason = |e: BuildError, word: &str| {
            assert_eq!(e.field, "inertia");
            assert!(e.reason.contains(word), "{e}");
        };
        reason(
            with(Mat3::from_cols(Vec3::X, Vec3::new(1e-6, 1.0, 0.0), Vec3::Z)),
            "symmetric",
        );
        reason(
            with(Mat3::from_diagonal(Vec3::new(1.0, 1.0, -1.0))),
            "definite",
        );
        reason(with(Mat3::ZERO), "definite");
        reason(with(Mat3::from_diagonal(Vec3::new(1.0, 1.0, 2.1))), "sum");
        reason(
            with(Mat3::from_diagonal(Vec3::new(1.0, f64::NAN, 2.1))),
            "finite",
        );
        assert!(
            MassProperties {
                inertia: Mat3::from_diagonal(Vec3::new(1.0, 1.0, 2.0)),
                ..good
            }
            .principal()
            .is_ok()
        );
        assert_eq!(
            MassProperties { mass: -1.0, ..good }
                .principal()
                .unwrap_err()
                .field,
            "mass"
        );
        assert_eq!(MassProperties::NONE.principal().unwrap_err().field, "mass");
    }
}
