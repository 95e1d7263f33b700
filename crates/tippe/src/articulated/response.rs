//! How a tree answers impulses on its links: exact and linear, along the path to the world and back.
//!
//! Reads: `Model`, `Work` (frames, poses, factors).  Writes: `Work` (drives, changes), changes of velocity.
//! Called by: users; `collision`, `impulses`, `constraint`.
//! Source: [MirtichThesis96] ch. 4; [Articulated] slides 20–30. Impulses dominate: velocity terms, gravity and torques vanish, and the
//! factors of the configuration are used again.
//! Letters: y articulated impulse (p^A of impulses), w = −Sᵀ y, δ change of velocity.

use super::aba::write;
use super::error::TreeError;
use super::factor::floating_solve;
use super::joint::Plain;
use super::kinematics::vector;
use super::load::Load;
use super::model::{Model, WORLD};
use super::spatial::{Force, Motion};
use super::work::{Work, needs};

/// Changes of all velocities by impulses on links, and the reaction of the world: the impulse [N·m·s; N·s] that joints to the world take
/// up, about the origin of the world. Needs `articulate`.
pub fn impulse_response(
    model: &Model,
    impulses: &[Load],
    work: &mut Work,
    change: &mut [f64],
) -> Result<Force, TreeError> {
    model.check_output("change", change.len(), model.freedom_count())?;
    ready(model, work)?;
    work.drive.fill(0.0);
    let mut reaction = Force::ZERO;
    for load in impulses {
        let (node, f) = load.on_node(model, work)?;
        reaction = reaction + climb(model, work, node, f * -1.0);
    }
    spread_out(model, work, change);
    Ok(reaction)
}

/// Changes of all velocities by impulses in the joints, dual to velocities [N·m·s or N·s]: `δ = M⁻¹ τ`. Needs `articulate`.
pub fn joint_response(
    model: &Model,
    impulses: &[f64],
    work: &mut Work,
    change: &mut [f64],
) -> Result<(), TreeError> {
    model.check_freedoms("impulses", impulses)?;
    model.check_output("change", change.len(), model.freedom_count())?;
    ready(model, work)?;
    work.drive.fill(0.0);
    let Work { bodies, drive, .. } = work;
    for b in bodies.iter_mut() {
        b.force = Force::ZERO;
    }
    drive.copy_from_slice(impulses);
    for i in (1..model.nodes.len()).rev() {
        let y = work.bodies[i].force;
        let up = step_up(model, work, i, y);
        let parent = &mut work.bodies[model.nodes[i].parent as usize].force;
        *parent = *parent + up;
    }
    spread_out(model, work, change);
    Ok(())
}

/// Refuses scratch without factors or poses.
pub(super) fn ready(model: &Model, work: &Work) -> Result<(), TreeError> {
    work.check(model)?;
    needs(work.ready.factors && work.ready.poses, "articulate")
}

/// Carries `y` from a node to the world and adds w to the drives on the way; returns what arrives.
pub(super) fn climb(model: &Model, work: &mut Work, node: usize, y: Force) -> Force {
    let (mut at, mut y) = (node, y);
    while at != WORLD {
        y = lift(model, work, at, y);
        at = model.nodes[at].parent as usize;
        work.visited += 1;
    }
    y
}

/// One step of `climb`: `w = −Sᵀ y` is added to the drive, `y_λ = Xᵀ (y + U D⁻¹ w)`.
#[inline]
pub(super) fn lift(model: &Model, work: &mut Work, i: usize, y: Force) -> Force {
    let node = &model.nodes[i];
    let at = node.v as usize;
    let through = match node.joint {
        Plain::Hinge | Plain::Slider => {
            let s = &work.singles[i];
            let w = -super::aba::along(node.joint, y);
            work.drive[at] += w;
            y + s.column * (s.d_inverse * w)
        }
        Plain::Ball => {
            let w = -y.torque;
            add(&mut work.drive, at, w);
            y + work.balls[node.slot as usize].push(w)
        }
        Plain::Free => {
            // U D⁻¹ w = −y: nothing passes a free joint.
            add(&mut work.drive, at, -y.torque);
            add(&mut work.drive, at + 3, -y.force);
            Force::ZERO
        }
    };
    work.frames[i].force_to_parent(through)
}

/// As `lift`, where the drive of this node is complete once `w` is added: what all of it asks of the parent.
fn step_up(model: &Model, work: &mut Work, i: usize, y: Force) -> Force {
    let node = &model.nodes[i];
    let at = node.v as usize;
    let through = match node.joint {
        Plain::Hinge | Plain::Slider => {
            let s = &work.singles[i];
            work.drive[at] -= super::aba::along(node.joint, y);
            y + s.column * (s.d_inverse * work.drive[at])
        }
        Plain::Ball => {
            add(&mut work.drive, at, -y.torque);
            y + work.balls[node.slot as usize].push(vector(&work.drive, at))
        }
        Plain::Free => {
            let own = Force::new(vector(&work.drive, at), vector(&work.drive, at + 3));
            add(&mut work.drive, at, -y.torque);
            add(&mut work.drive, at + 3, -y.force);
            own
        }
    };
    work.frames[i].force_to_parent(through)
}

#[inline]
fn add(x: &mut [f64], at: usize, v: crate::math::Vec3) {
    x[at] += v.x;
    x[at + 1] += v.y;
    x[at + 2] += v.z;
}

/// Change of velocity of every node and every freedom, from the drives.
pub(super) fn spread_out(model: &Model, work: &mut Work, change: &mut [f64]) {
    work.visited += model.nodes.len() as u64 - 1;
    for i in 1..model.nodes.len() {
        let node = &model.nodes[i];
        let mut d = work.frames[i].motion_to_child(work.changes[node.parent as usize]);
        let at = node.v as usize;
        match node.joint {
            Plain::Hinge | Plain::Slider => {
                let s = &work.singles[i];
                let rate = s.d_inverse * (work.drive[at] - d.dot(s.column));
                change[at] = rate;
                *super::aba::z_of(node.joint, &mut d) += rate;
            }
            Plain::Ball => {
                let b = &work.balls[node.slot as usize];
                let rate = b.d_inverse.times(vector(&work.drive, at) - b.pull(d));
                write(change, at, rate);
                d.angular += rate;
            }
            Plain::Free => {
                let b = &work.floatings[node.slot as usize];
                let drive = Force::new(vector(&work.drive, at), vector(&work.drive, at + 3));
                let rate = floating_solve(b, drive - b.inertia.times(d));
                write(change, at, rate.angular);
                write(change, at + 3, rate.linear);
                d = d + rate;
            }
        }
        work.changes[i] = d;
    }
}

/// One step outward along a path: the change of velocity of node `i` when that of its parent is known.
#[inline]
pub(super) fn fall(model: &Model, work: &Work, i: usize, parent: Motion) -> Motion {
    let node = &model.nodes[i];
    let mut d = work.frames[i].motion_to_child(parent);
    let at = node.v as usize;
    match node.joint {
        Plain::Hinge | Plain::Slider => {
            let s = &work.singles[i];
            let rate = s.d_inverse * (work.drive[at] - d.dot(s.column));
            *super::aba::z_of(node.joint, &mut d) += rate;
        }
        Plain::Ball => {
            let b = &work.balls[node.slot as usize];
            d.angular += b.d_inverse.times(vector(&work.drive, at) - b.pull(d));
        }
        Plain::Free => {
            let b = &work.floatings[node.slot as usize];
            let drive = Force::new(vector(&work.drive, at), vector(&work.drive, at + 3));
            // d + D⁻¹(w − I d) = D⁻¹ w
            d = floating_solve(b, drive);
        }
    }
    d
}

/// Sets the drives of a path to zero.
pub(super) fn clear_path(model: &Model, work: &mut Work, node: usize) {
    let mut at = node;
    while at != WORLD {
        let n = &model.nodes[at];
        let v = n.v as usize;
        work.drive[v..v + n.joint.freedom_count()].fill(0.0);
        at = n.parent as usize;
    }
}

/// Change of velocity of one node, along its path alone.
pub(super) fn change_of(model: &Model, work: &mut Work, node: usize) -> Motion {
    let mut path = std::mem::take(&mut work.path);
    path.clear();
    let mut at = node;
    while at != WORLD {
        path.push(at as u32);
        at = model.nodes[at].parent as usize;
    }
    let mut d = Motion::ZERO;
    for &i in path.iter().rev() {
        d = fall(model, work, i as usize, d);
    }
    work.path = path;
    d
}
