//! The articulated form of a scene: bodies that joints hold together become the links of a tree, every other moving body a tree of one
//! free link, at the same place with the same motion.
//!
//! Reads: a world at its start.  Writes: that world.
//! Called by: `sim`.
//! Source: a spanning tree over the joints, from the world outwards; joints that would close a loop stay joints.

use crate::case::Stopped;
use tippe::articulated::{AdaptiveDesc, Joint, LinkDesc};
use tippe::shape::MassProperties;
use tippe::{
    ArticulationDesc, BodyId, BodyKind, JointDesc, JointKind, LinkBodyDesc, Mat3, Pose, Quat, Vec3,
    World,
};

/// A joint as its two ends see it: where it must meet, whatever holds it.
#[derive(Clone, Copy, Debug)]
pub struct Anchor {
    /// End A and the joint frame there; `None` is the world.
    pub a: (Option<BodyId>, Pose),
    /// End B and the joint frame there.
    pub b: (BodyId, Pose),
}

/// The joints of a world, for measuring.
#[must_use]
pub fn anchors(world: &World) -> Vec<Anchor> {
    let of = |id| {
        let d = &world.joint(id).ok()?.desc;
        Some(Anchor {
            a: (d.body_a, d.frame_a),
            b: (d.body_b, d.frame_b),
        })
    };
    world.joint_ids().filter_map(of).collect()
}

/// A body on its way to become a link.
struct Found {
    id: BodyId,
    parent: Option<usize>,
    joint: Joint,
    /// Its frame in the world: the axes of the body, the origin at the joint.
    frame: Pose,
    /// Origin of the body in that frame.
    body_origin: Vec3,
    rates: Vec<f64>,
}

/// Turns the jointed bodies of a world into one articulation, adaptive if asked for; `names` and the anchors follow.
///
/// # Errors
/// A joint has no counterpart in a tree.
pub fn articulate(
    world: &mut World,
    names: &mut [(String, BodyId)],
    adaptive: Option<&AdaptiveDesc>,
) -> Result<Vec<Anchor>, Stopped> {
    let before = anchors(world);
    let joints: Vec<JointDesc> = world
        .joint_ids()
        .filter_map(|id| world.joint(id).ok().map(|j| j.desc.clone()))
        .collect();
    let (links, loops) = span(world, &joints)?;
    for (_, id) in names.iter_mut() {
        if !links.iter().any(|l| l.id == *id) {
            *id = set_free(world, *id)?;
        }
    }
    if links.is_empty() {
        return Ok(before);
    }
    let mut desc = describe(world, &links);
    desc.adaptive = adaptive.cloned();
    for link in &links {
        world
            .remove_body(link.id)
            .map_err(|e| Stopped::new(e.to_string()))?;
    }
    let id = world
        .add_articulation(&desc)
        .map_err(|e| Stopped::new(format!("the tree was refused: {e}")))?;
    let bodies = world
        .link_bodies(id)
        .map_err(|e| Stopped::new(e.to_string()))?;
    let place = |old: BodyId| links.iter().position(|l| l.id == old);
    for (_, id) in names.iter_mut() {
        if let Some(i) = place(*id) {
            *id = bodies[i];
        }
    }
    // Frames on bodies become frames on links, whose origins are elsewhere.
    let moved = |id: BodyId, local: &Pose, old: &Pose| match place(id) {
        Some(i) => (
            bodies[i],
            links[i].frame.inverse().compose(&old.compose(local)),
        ),
        None => (id, *local),
    };
    let mut after = Vec::new();
    for (anchor, poses) in before.iter().zip(start_poses(&joints, &links)) {
        let a = match anchor.a.0 {
            None => (None, anchor.a.1),
            Some(id) => {
                let (id, frame) = moved(id, &anchor.a.1, &poses[0]);
                (Some(id), frame)
            }
        };
        after.push(Anchor {
            a,
            b: moved(anchor.b.0, &anchor.b.1, &poses[1]),
        });
    }
    for i in loops {
        let (a, b) = (after[i].a, after[i].b);
        let joint = JointDesc {
            body_a: a.0,
            frame_a: a.1,
            body_b: b.0,
            frame_b: b.1,
            ..joints[i].clone()
        };
        world
            .add_joint(&joint)
            .map_err(|e| Stopped::new(format!("the loop was refused: {e}")))?;
    }
    Ok(after)
}

/// A moving body as a tree of one free link; others stay what they are.
fn set_free(world: &mut World, id: BodyId) -> Result<BodyId, Stopped> {
    let stop = |e: tippe::UnknownBody| Stopped::new(e.to_string());
    let (body, state) = (
        world.body(id).map_err(stop)?,
        *world.body_state(id).map_err(stop)?,
    );
    if body.kind != BodyKind::Dynamic {
        return Ok(id);
    }
    if body.drag.is_some() || body.gravity_scale != 1.0 {
        let reason = "links have no drag and no gravity of their own";
        return Err(Stopped::new(reason));
    }
    let pose = state.frame(body);
    let (spin, velocity) = (state.angular_velocity, state.point_velocity(pose.position));
    let link = Found {
        id,
        parent: None,
        joint: Joint::Free,
        frame: Pose::IDENTITY,
        body_origin: Vec3::ZERO,
        rates: [spin, velocity]
            .iter()
            .flat_map(|v| pose.vector_to_local(*v).to_array())
            .collect(),
    };
    let mut desc = describe(world, &[link]);
    desc.positions = pose.position.to_array().to_vec();
    desc.positions.extend(pose.rotation.to_array());
    world.remove_body(id).map_err(stop)?;
    let tree = world
        .add_articulation(&desc)
        .map_err(|e| Stopped::new(format!("the tree was refused: {e}")))?;
    let bodies = world.link_bodies(tree);
    Ok(bodies.map_err(|e| Stopped::new(e.to_string()))?[0])
}

/// Frames of the bodies of each joint at the start, as they were in the maximal form.
fn start_poses(joints: &[JointDesc], links: &[Found]) -> Vec<[Pose; 2]> {
    let of = |id: Option<BodyId>| {
        let found = id.and_then(|id| links.iter().find(|l| l.id == id));
        found.map_or(Pose::IDENTITY, |l| {
            l.frame.compose(&Pose::from_position(l.body_origin))
        })
    };
    joints
        .iter()
        .map(|j| [of(j.body_a), of(Some(j.body_b))])
        .collect()
}

/// Links in order, parents first, and the joints that close loops.
fn span(world: &World, joints: &[JointDesc]) -> Result<(Vec<Found>, Vec<usize>), Stopped> {
    let mut links: Vec<Found> = Vec::new();
    let mut used = vec![false; joints.len()];
    loop {
        let mut grown = false;
        for (i, joint) in joints.iter().enumerate() {
            if used[i] {
                continue;
            }
            let at = |id: BodyId| links.iter().position(|l| l.id == id);
            let (a, b) = (joint.body_a.map(at), at(joint.body_b));
            // The end that is in the tree already (or the world) carries the other.
            let (parent, child) = match (a, b) {
                (None, None) => (None, joint.body_b),
                (Some(Some(p)), None) => (Some(p), joint.body_b),
                (Some(None), Some(p)) => match joint.body_a {
                    Some(child) => (Some(p), child),
                    None => continue,
                },
                _ => continue,
            };
            links.push(found(world, joint, parent, child, &links)?);
            used[i] = true;
            grown = true;
        }
        if !grown {
            break;
        }
    }
    let loops = (0..joints.len()).filter(|&i| !used[i]).collect();
    Ok((links, loops))
}

fn found(
    world: &World,
    joint: &JointDesc,
    parent: Option<usize>,
    child: BodyId,
    links: &[Found],
) -> Result<Found, Stopped> {
    let stop = |e: tippe::UnknownBody| Stopped::new(e.to_string());
    if !joint.rotation.is_free() || !joint.translation.is_free() {
        return Err(Stopped::new(
            "limits, motors and springs have no articulated form here",
        ));
    }
    let (pose, state) = (
        world.pose(child).map_err(stop)?,
        *world.body_state(child).map_err(stop)?,
    );
    let own = if child == joint.body_b {
        &joint.frame_b
    } else {
        &joint.frame_a
    };
    let anchor = pose.compose(own);
    let frame = Pose::new(anchor.position, pose.rotation);
    let axis = pose.vector_to_local(anchor.vector(Vec3::Z));
    let spin = match parent {
        None => Vec3::ZERO,
        Some(p) => {
            world
                .body_state(links[p].id)
                .map_err(stop)?
                .angular_velocity
        }
    };
    let turning = pose.vector_to_local(state.angular_velocity - spin);
    let (joint, rates) = match joint.kind {
        JointKind::Ball => (Joint::Spherical, turning.to_array().to_vec()),
        JointKind::Hinge => (Joint::Revolute { axis }, vec![axis.dot(turning)]),
        JointKind::Fixed => (Joint::Fixed, Vec::new()),
        _ => {
            return Err(Stopped::new(
                "this kind of joint has no articulated form here",
            ));
        }
    };
    Ok(Found {
        id: child,
        parent,
        joint,
        frame,
        rates,
        body_origin: frame.point_to_local(pose.position),
    })
}

fn describe(world: &World, links: &[Found]) -> ArticulationDesc {
    let mut desc = ArticulationDesc::default();
    for link in links {
        let Ok(body) = world.body(link.id) else {
            continue;
        };
        let placement = match link.parent {
            None => link.frame,
            Some(p) => links[p].frame.inverse().compose(&link.frame),
        };
        let r = Mat3::from_quat(body.axes);
        let mass = MassProperties {
            mass: body.mass,
            center: link.body_origin + body.center,
            inertia: r * Mat3::from_diagonal(body.moments) * r.transpose(),
        };
        let mut own = LinkBodyDesc::new(LinkDesc::new(link.parent, link.joint, placement, mass));
        own.name.clone_from(&body.name);
        own.shapes.clone_from(&body.shapes);
        for shape in &mut own.shapes {
            shape.pose.position += link.body_origin;
        }
        desc.links.push(own);
        desc.velocities.extend(&link.rates);
        match link.joint {
            Joint::Spherical => desc.positions.extend(Quat::IDENTITY.to_array()),
            _ => desc.positions.extend(link.rates.iter().map(|_| 0.0)),
        }
    }
    desc
}
