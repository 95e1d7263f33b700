//! Axis-aligned boxes: the bounds that the broad phase works on.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `shape` (makes them), `collide::broad`, `collide`.
//! Source: standard.

use crate::math::Vec3;

/// A closed box along the world axes; empty when some `min` exceeds its `max`, unbounded where they are infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Smallest corner [m].
    pub min: Vec3,
    /// Largest corner [m].
    pub max: Vec3,
}

impl Aabb {
    /// The box that holds nothing, neutral in [`Aabb::merged`].
    pub const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };
    /// The box that holds everything.
    pub const EVERYTHING: Self = Self {
        min: Vec3::NEG_INFINITY,
        max: Vec3::INFINITY,
    };

    /// The box `center ± half`.
    #[must_use]
    pub fn from_center(center: Vec3, half: Vec3) -> Self {
        Self {
            min: center - half,
            max: center + half,
        }
    }

    /// Squared distance of a point from the box [m²].
    #[must_use]
    pub fn squared_distance(&self, point: Vec3) -> f64 {
        let out = (self.min - point).max(point - self.max).max(Vec3::ZERO);
        out.length_squared()
    }

    /// Whether the box holds no point (a box with a NaN holds none).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !(self.min.x <= self.max.x && self.min.y <= self.max.y && self.min.z <= self.max.z)
    }

    /// Whether the closed boxes share a point: touching counts.
    #[must_use]
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        // Without short circuits: six comparisons cost less than one mispredicted branch.
        (self.min.x <= other.max.x)
            & (other.min.x <= self.max.x)
            & (self.min.y <= other.max.y)
            & (other.min.y <= self.max.y)
            & (self.min.z <= other.max.z)
            & (other.min.z <= self.max.z)
    }

    /// The smallest box that holds both.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// The box moved outward by `margin` [m] on all sides.
    #[must_use]
    pub fn grown(&self, margin: f64) -> Self {
        Self {
            min: self.min - margin,
            max: self.max + margin,
        }
    }

    /// Whether all of `other` lies inside; the empty box lies in every box.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        other.is_empty() || (self.min.cmple(other.min).all() && other.max.cmple(self.max).all())
    }

    /// Whether the point lies inside or on the boundary.
    #[must_use]
    pub fn contains_point(&self, point: Vec3) -> bool {
        self.min.cmple(point).all() && point.cmple(self.max).all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_overlaps_and_empty_does_not() {
        let a = Aabb::from_center(Vec3::ZERO, Vec3::ONE);
        let b = Aabb::from_center(Vec3::new(2.0, 0.0, 0.0), Vec3::ONE);
        assert!(a.overlaps(&b) && b.overlaps(&a));
        assert!(!a.overlaps(&b.grown(-0.1)));
        assert!(!a.overlaps(&Aabb::EMPTY) && Aabb::EMPTY.is_empty());
        assert!(a.overlaps(&Aabb::EVERYTHING));
        assert!(!a.overlaps(&Aabb {
            min: Vec3::NAN,
            max: Vec3::NAN
        }));
    }

    #[test]
    fn merging_and_containing() {
        let a = Aabb::from_center(Vec3::ZERO, Vec3::ONE);
        let b = Aabb::from_center(Vec3::splat(3.0), Vec3::ONE);
        let m = a.merged(&b);
        assert_eq!(
            m,
            Aabb {
                min: Vec3::splat(-1.0),
                max: Vec3::splat(4.0)
            }
        );
        assert!(m.contains(&a) && m.contains(&b) && !a.contains(&m));
        assert_eq!(a.merged(&Aabb::EMPTY), a);
        assert!(a.contains_point(Vec3::ONE) && !a.contains_point(Vec3::splat(1.1)));
    }
}
