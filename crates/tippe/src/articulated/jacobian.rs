//! Jacobians of points of links.
//!
//! Reads: `Model`, `Work` (poses).  Writes: the matrix.
//! Called by: users, tests.
//! Source: [Featherstone08] §4.5, with world axes and a reference point of the user's choice.

use super::crba::axis;
use super::error::TreeError;
use super::model::{Model, WORLD};
use super::work::{Work, needs};
use crate::math::Vec3;

/// J with `[ω; v_P] = J q̇`: angular velocity of a link and velocity of its point at the world point `point`, in world axes.
///
/// Six rows of `freedom_count()` numbers. Needs poses.
pub fn jacobian(
    model: &Model,
    link: usize,
    point: Vec3,
    work: &Work,
    J: &mut [f64],
) -> Result<(), TreeError> {
    let n = model.freedom_count();
    let mut at = model.link("link", link)?.node as usize;
    model.check_output("J", J.len(), 6 * n)?;
    work.check(model)?;
    needs(work.ready.poses, "kinematics")?;
    J.fill(0.0);
    while at != WORLD {
        let (node, pose) = (&model.nodes[at], &work.poses[at]);
        let offset = pose.point_to_child(point);
        for k in 0..node.joint.freedom_count() {
            let s = axis(node.joint, k);
            let column = node.v as usize + k;
            let (angular, linear) = (pose.rotation * s.angular, pose.rotation * s.at(offset));
            for row in 0..3 {
                J[row * n + column] = angular[row];
                J[(row + 3) * n + column] = linear[row];
            }
        }
        at = node.parent as usize;
    }
    Ok(())
}
