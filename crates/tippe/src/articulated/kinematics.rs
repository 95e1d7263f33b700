//! Where the links are and how they move.
//!
//! Reads: `Model`, positions, velocities.  Writes: `Work` (frames, poses, flows).
//! Called by: users; all other algorithms.
//! Source: [Featherstone08] §4.4 and table 5.1, first loop; [Articulated] slides 13–16, with the origin's velocity carried by the
//! parent's rotation (slide 16 uses the child's, which gives wrong velocities of points).

use super::error::TreeError;
use super::joint::Plain;
use super::model::{Model, Node, WORLD};
use super::spatial::{Frame, Motion};
use super::work::{Flow, Work, needs};
use crate::math::{Mat3, Quat, Vec3};

/// Poses and velocities of all links for positions `q` and velocities `v`.
pub fn kinematics(model: &Model, q: &[f64], v: &[f64], work: &mut Work) -> Result<(), TreeError> {
    model.check_positions(q)?;
    model.check_freedoms("v", v)?;
    work.check(model)?;
    work.reset();
    for i in 1..model.nodes.len() {
        let node = &model.nodes[i];
        work.frames[i] = place(node, q)?;
        work.flows[i] = flow(
            node,
            &work.frames[i],
            work.flows[node.parent as usize].velocity,
            v,
        );
    }
    poses(model, work);
    work.ready.flows = true;
    Ok(())
}

/// World poses from the frames.
pub(super) fn poses(model: &Model, work: &mut Work) {
    for i in 1..model.nodes.len() {
        let parent = model.nodes[i].parent as usize;
        // The world's pose is the identity: its children need no product.
        work.poses[i] = if parent == WORLD {
            work.frames[i]
        } else {
            work.poses[parent].compose(&work.frames[i])
        };
    }
    work.ready.poses = true;
}

/// The frame of a node in its parent.
#[inline]
pub(super) fn place(node: &Node, q: &[f64]) -> Result<Frame, TreeError> {
    let Frame { rotation, origin } = node.placement;
    let at = node.q as usize;
    Ok(match node.joint {
        Plain::Hinge => {
            let (s, c) = libm::sincos(q[at]);
            let (x, y) = (rotation.x_axis, rotation.y_axis);
            Frame {
                rotation: Mat3::from_cols(x * c + y * s, y * c - x * s, rotation.z_axis),
                origin,
            }
        }
        Plain::Slider => Frame {
            rotation,
            origin: origin + rotation.z_axis * q[at],
        },
        Plain::Ball => Frame {
            rotation: rotation * quaternion(node, &q[at..at + 4])?,
            origin,
        },
        Plain::Free => Frame {
            rotation: rotation * quaternion(node, &q[at + 3..at + 7])?,
            origin: origin + rotation * Vec3::new(q[at], q[at + 1], q[at + 2]),
        },
    })
}

/// The rotation of four numbers (x, y, z, w), whatever their length.
fn quaternion(node: &Node, q: &[f64]) -> Result<Mat3, TreeError> {
    let q = Quat::from_xyzw(q[0], q[1], q[2], q[3]);
    let square = q.length_squared();
    if !(square > 1e-12 && square.is_finite()) {
        return Err(TreeError::BadQuaternion {
            link: node.link as usize,
        });
    }
    Ok(Mat3::from_quat(q * (1.0 / square.sqrt())))
}

/// Velocity of a node, and `c = v × S q̇`.
#[inline]
pub(super) fn flow(node: &Node, frame: &Frame, parent: Motion, v: &[f64]) -> Flow {
    let mut velocity = frame.motion_to_child(parent);
    let at = node.v as usize;
    let drift = match node.joint {
        Plain::Hinge => {
            let rate = v[at];
            velocity.angular.z += rate;
            // v × [e_z; 0] q̇
            Motion::new(
                Vec3::new(velocity.angular.y * rate, -velocity.angular.x * rate, 0.0),
                Vec3::new(velocity.linear.y * rate, -velocity.linear.x * rate, 0.0),
            )
        }
        Plain::Slider => {
            let rate = v[at];
            velocity.linear.z += rate;
            // v × [0; e_z] q̇
            Motion::new(
                Vec3::ZERO,
                Vec3::new(velocity.angular.y * rate, -velocity.angular.x * rate, 0.0),
            )
        }
        Plain::Ball => {
            let rate = vector(v, at);
            velocity.angular += rate;
            velocity.cross(Motion::new(rate, Vec3::ZERO))
        }
        Plain::Free => {
            let rate = Motion::new(vector(v, at), vector(v, at + 3));
            velocity = velocity + rate;
            velocity.cross(rate)
        }
    };
    Flow { velocity, drift }
}

/// Three numbers as a vector.
#[inline]
pub(super) fn vector(x: &[f64], at: usize) -> Vec3 {
    Vec3::new(x[at], x[at + 1], x[at + 2])
}

/// The frame of one link in the world, from positions alone: as long as its way to the world.
pub(crate) fn frame_of(model: &Model, q: &[f64], link: usize) -> Option<Frame> {
    let link = model.links.get(link)?;
    let (mut at, mut out) = (link.node as usize, link.frame);
    while at != WORLD {
        let node = &model.nodes[at];
        out = place(node, q).ok()?.compose(&out);
        at = node.parent as usize;
    }
    Some(out)
}

/// The frame of a link in the world. Needs `kinematics`.
pub fn link_pose(model: &Model, work: &Work, link: usize) -> Result<Frame, TreeError> {
    let l = model.link("link", link)?;
    work.check(model)?;
    needs(work.ready.poses, "kinematics")?;
    Ok(work.poses[l.node as usize].compose(&l.frame))
}

/// Spatial velocity of a link about its own origin, in its own axes. Needs `kinematics`.
pub fn link_velocity(model: &Model, work: &Work, link: usize) -> Result<Motion, TreeError> {
    let l = model.link("link", link)?;
    work.check(model)?;
    needs(work.ready.flows, "kinematics")?;
    Ok(l.frame
        .motion_to_child(work.flows[l.node as usize].velocity))
}

/// Velocity [m/s] of the point of a link that is at the world point `point`, in world axes. Needs `kinematics`.
pub fn point_velocity(
    model: &Model,
    work: &Work,
    link: usize,
    point: Vec3,
) -> Result<Vec3, TreeError> {
    let l = model.link("link", link)?;
    work.check(model)?;
    needs(work.ready.poses && work.ready.flows, "kinematics")?;
    let pose = &work.poses[l.node as usize];
    let offset = pose.point_to_child(point);
    Ok(pose.rotation * work.flows[l.node as usize].velocity.at(offset))
}

/// Acceleration [m/s²] of the point of a link at the world point `point`, in world axes. Needs `aba`.
///
/// `a_P = a + α × ℓ + ω × (v_O + ω × ℓ)`, rotated, plus g: the accelerations of the algorithms carry −g.
pub fn point_acceleration(
    model: &Model,
    work: &Work,
    link: usize,
    point: Vec3,
) -> Result<Vec3, TreeError> {
    let l = model.link("link", link)?;
    work.check(model)?;
    needs(work.ready.poses && work.ready.accelerations, "aba")?;
    if l.node as usize == WORLD {
        return Ok(Vec3::ZERO);
    }
    let pose = &work.poses[l.node as usize];
    let offset = pose.point_to_child(point);
    let v = work.flows[l.node as usize].velocity;
    let a = work.accelerations[l.node as usize];
    Ok(pose.rotation * (a.at(offset) + v.angular.cross(v.at(offset))) + model.gravity)
}
