//! Rows of the mates that are no mechanical joint: points on lines and planes, angles between axes, tangency. Their Jacobians are
//! exact everywhere, so that either sense of an axis can be held.
//!
//! Reads: the place of a joint.  Writes: nothing (pure functions).
//! Called by: `joint` (`held`).
//! Source: the table of constraints in docs/assembly.md, after [Ermolin] §4.

use super::joint::{JointPlace, JointRow, JointRows};
use crate::joint::JointKind;
use crate::math::Vec3;

impl JointPlace {
    /// Everything that must hold for a mate.
    pub(crate) fn mate(&self, kind: JointKind, held: &mut JointRows) {
        match kind {
            JointKind::PointOnLine => self.on_line_of_a(held),
            JointKind::PointOnPlane => self.off_plane(0.0, held),
            JointKind::Parallel => self.axes_parallel(held),
            JointKind::Perpendicular => self.axes_perpendicular(held),
            JointKind::Angle { angle } => {
                let (row, value) = self.swing();
                held.push(row, value - angle);
            }
            JointKind::LineOnLine => {
                self.on_line(held);
                self.axes_parallel(held);
            }
            JointKind::Planar => {
                self.off_plane(0.0, held);
                self.axes_parallel(held);
            }
            JointKind::SphereOnPlane { radius } => self.off_plane(radius, held),
            JointKind::CylinderOnPlane { radius } => {
                self.off_plane(radius, held);
                self.axes_perpendicular(held);
            }
            JointKind::Orientation => self.oriented(held),
            _ => {}
        }
    }

    /// The origin of B is on the z axis of A.
    fn on_line_of_a(&self, held: &mut JointRows) {
        for e in [self.a.vector(Vec3::X), self.a.vector(Vec3::Y)] {
            held.push(self.point_in_a(e), self.delta().dot(e));
        }
    }

    /// The origin of B is `height` above the plane z = 0 of A.
    fn off_plane(&self, height: f64, held: &mut JointRows) {
        let z = self.axis_a();
        held.push(self.point_in_a(z), self.delta().dot(z) - height);
    }

    /// Row of `Δ · e` for a direction fixed in A: the lever of A ends at the point of B.
    fn point_in_a(&self, e: Vec3) -> JointRow {
        let (r_a, r_b) = (
            self.b.position - self.center_a,
            self.b.position - self.center_b,
        );
        JointRow {
            e,
            ang_a: -r_a.cross(e),
            ang_b: r_b.cross(e),
        }
    }

    /// Row and value of the translation that a kind leaves free: the distance, or the displacement of B along z relative to A [m].
    #[must_use]
    pub fn translation(&self, kind: JointKind) -> (JointRow, f64) {
        match kind {
            JointKind::Distance { .. } => self.distance(),
            JointKind::PointOnLine => {
                let z = self.axis_a();
                (self.point_in_a(z), self.delta().dot(z))
            }
            _ => self.slide(),
        }
    }

    /// z_A has no part along x and y of B: d(z_A · y_B)/dt = (ω_B − ω_A) · (y_B × z_A), and the same for −x_B. Where the axes have
    /// the same sense these are the rows t · (z_A × z_B) for t = x_B, y_B.
    pub(crate) fn axes_parallel(&self, held: &mut JointRows) {
        let z_a = self.axis_a();
        let (x_b, y_b) = (self.b.vector(Vec3::X), self.b.vector(Vec3::Y));
        held.push(JointRow::angular(y_b.cross(z_a)), z_a.dot(y_b));
        held.push(JointRow::angular(z_a.cross(x_b)), -z_a.dot(x_b));
    }

    /// z_A · z_B = 0, Jacobian (0, w, 0, −w) with w = z_A × z_B.
    fn axes_perpendicular(&self, held: &mut JointRows) {
        let w = self.axis_a().cross(self.axis_b());
        held.push(JointRow::angular(-w), self.axis_a().dot(self.axis_b()));
    }
}
