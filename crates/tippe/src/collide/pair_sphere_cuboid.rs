//! Sphere (A) against cuboid (B).
//!
//! Reads: shapes, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`; [`point_cuboid`] also by the capsule and cuboid pairs.
//! Source: closest point of a box by clamping.

use super::contact::{ContactPoint, Features};
use super::narrow::Placed;
use crate::math::{Pose, Vec3};

/// One point, on the face, edge or vertex of the box that is closest to the centre; from inside, on the nearest face.
///
/// Edges and vertices count as flat for rolling: the sphere rolls over them with its own radius.
pub(super) fn sphere_cuboid(
    radius: f64,
    pose_a: &Pose,
    half: Vec3,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let c = pose_b.point_to_local(pose_a.position);
    let near = point_cuboid(c, half);
    if near.distance > (radius + margin).max(0.0) * (1.0 + 1e-9) {
        return;
    }
    let placed = Placed {
        pose_a,
        pose_b,
        radius_a: radius,
        radius_b: 0.0,
        rolling_radius: radius,
        margin,
    };
    placed.push(
        near.features(Vec3::ZERO, true),
        pose_b.vector(-near.normal),
        near.feature,
        out,
    );
}

/// The feature of a box closest to a point, in the box's frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearCuboid {
    /// Unit direction from the box to the point.
    pub normal: Vec3,
    /// Signed distance [m]; negative inside.
    pub distance: f64,
    /// Names the feature: a digit per axis, in base 3: 0 low side, 1 between, 2 high side.
    pub feature: u32,
    /// A point of the feature: the vertex, the middle of the edge or of the face.
    anchor: Vec3,
    /// Number of axes along which the point lies beyond the box: 1 face, 2 edge, 3 vertex.
    pub outside: u32,
    /// The axis of the face's normal or of the edge.
    axis: usize,
}

impl NearCuboid {
    /// The features of a contact between this feature and a core point of the other shape.
    pub fn features(&self, point: Vec3, cuboid_is_b: bool) -> Features {
        match self.outside {
            1 => Features::PointFace {
                point,
                anchor: self.anchor,
                normal: self.normal,
                face_on_b: cuboid_is_b,
            },
            2 => Features::PointEdge {
                point,
                anchor: self.anchor,
                direction: Vec3::AXES[self.axis],
                edge_on_b: cuboid_is_b,
            },
            _ if cuboid_is_b => Features::PointPoint {
                a: point,
                b: self.anchor,
            },
            _ => Features::PointPoint {
                a: self.anchor,
                b: point,
            },
        }
    }
}

/// The feature of the box of half extents `half` closest to the point `c`, both in the box's frame.
pub(super) fn point_cuboid(c: Vec3, half: Vec3) -> NearCuboid {
    let q = c.clamp(-half, half);
    let over = c - q;
    let (mut feature, mut anchor, mut outside, mut inner_axis) = (0, Vec3::ZERO, 0, 0);
    for k in (0..3).rev() {
        let digit = if over[k] > 0.0 {
            2
        } else if over[k] < 0.0 {
            0
        } else {
            1
        };
        feature = 3 * feature + digit;
        if digit == 1 {
            inner_axis = k;
        } else {
            outside += 1;
            anchor[k] = q[k];
        }
    }
    if outside == 0 {
        return inside_cuboid(c, half);
    }
    let distance = over.length();
    // A face keeps its exact normal, and so does a point so close that the difference has no direction.
    let lead = largest_axis(over.abs());
    let flat = Vec3::AXES[lead] * if over[lead] < 0.0 { -1.0 } else { 1.0 };
    let exact = outside == 1 || distance <= f64::MIN_POSITIVE;
    NearCuboid {
        normal: if exact { flat } else { over / distance },
        distance,
        feature,
        anchor,
        outside,
        axis: if outside == 1 { lead } else { inner_axis },
    }
}

/// From inside: the face with the smallest way out.
fn inside_cuboid(c: Vec3, half: Vec3) -> NearCuboid {
    let depth = half - c.abs();
    let axis = largest_axis(-depth);
    let positive = c[axis] >= 0.0;
    let normal = if positive {
        Vec3::AXES[axis]
    } else {
        -Vec3::AXES[axis]
    };
    let middle = 1 + 3 + 9;
    let step = [1, 3, 9][axis];
    NearCuboid {
        normal,
        distance: -depth[axis],
        feature: if positive {
            middle + step
        } else {
            middle - step
        },
        anchor: normal * half[axis],
        outside: 1,
        axis,
    }
}

fn largest_axis(v: Vec3) -> usize {
    if v.x >= v.y && v.x >= v.z {
        0
    } else if v.y >= v.z {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_faces_edges_vertices() {
        let h = Vec3::new(1.0, 2.0, 3.0);
        let face = point_cuboid(Vec3::new(0.2, 0.1, 4.0), h);
        assert_eq!(
            (face.normal, face.distance, face.feature),
            (Vec3::Z, 1.0, 1 + 3 + 18)
        );
        let edge = point_cuboid(Vec3::new(4.0, 6.0, 1.0), h);
        assert_eq!(
            (edge.normal, edge.distance, edge.feature),
            (Vec3::new(0.6, 0.8, 0.0), 5.0, 2 + 6 + 9)
        );
        let vertex = point_cuboid(Vec3::new(-3.0, 3.0, 5.0), h);
        assert_eq!(
            (vertex.distance, vertex.outside, vertex.feature),
            (3.0, 3, 6 + 18)
        );
        let inside = point_cuboid(Vec3::new(-0.5, 0.0, 0.0), h);
        assert_eq!(
            (inside.normal, inside.distance, inside.feature),
            (-Vec3::X, -0.5, 3 + 9)
        );
        let center = point_cuboid(Vec3::ZERO, h);
        assert_eq!((center.normal, center.distance), (Vec3::X, -1.0));
    }
}
