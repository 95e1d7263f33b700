//! Locking joints that still move a little: internal impulses stop them and keep every momentum that the rest can
//! carry.
//!
//! Reads: the hybrid bodies before and after.  Writes: velocities after; what was lost.
//! Called by: `body`.
//! Source: the projection `M_aa q̇_a = (M q̇)_a` over the joints a that go on moving: the momenta along them stay, and
//! of all motions with the others at rest this one is nearest in energy. Letters: π momentum along the freedoms, δ
//! correction.

use super::hybrid::Hybrid;
use crate::articulated::aba::articulate;
use crate::articulated::crba::component;
use crate::articulated::error::TreeError;
use crate::articulated::model::WORLD;
use crate::articulated::response::joint_response;
use crate::articulated::spatial::{Force, Frame};

/// Gives `after` the velocities that follow from those of `before`, whose joints contain its own. Returns the energy
/// lost [J], never negative. Needs `Hybrid::place` of `before`.
pub(super) fn lock(before: &Hybrid, after: &mut Hybrid) -> Result<f64, TreeError> {
    let stops = |h: &Hybrid, k: usize| {
        let node = &before.model.nodes[k];
        let at = node.v as usize..node.v as usize + node.joint.freedom_count();
        let stays = h.nodes.binary_search(&before.nodes[k]).is_ok();
        !stays && before.v[at].iter().any(|x| *x != 0.0)
    };
    if !(1..before.nodes.len()).any(|k| stops(after, k)) {
        return Ok(0.0);
    }
    after.place()?;
    let seats = seats(before, after);
    // Momentum of each rigid piece before, less that of the velocities kept as they are.
    let mut extra = vec![Force::ZERO; after.nodes.len()];
    for k in 1..before.nodes.len() {
        let own = before.model.nodes[k]
            .inertia
            .times(before.work.flows[k].velocity);
        let (body, frame) = &seats[k];
        extra[*body] = extra[*body] + frame.force_to_parent(own);
    }
    for k in 1..after.nodes.len() {
        let own = after.model.nodes[k]
            .inertia
            .times(after.work.flows[k].velocity);
        extra[k] = extra[k] - own;
    }
    let mut momenta = vec![0.0; after.v.len()];
    for k in (1..after.nodes.len()).rev() {
        let node = &after.model.nodes[k];
        for d in 0..node.joint.freedom_count() {
            momenta[node.v as usize + d] = component(node.joint, d, extra[k]);
        }
        let up = after.work.frames[k].force_to_parent(extra[k]);
        extra[node.parent as usize] = extra[node.parent as usize] + up;
    }
    articulate(&after.model, &after.q, &mut after.work)?;
    let mut change = vec![0.0; after.v.len()];
    joint_response(&after.model, &momenta, &mut after.work, &mut change)?;
    for (v, d) in after.v.iter_mut().zip(&change) {
        *v += d;
    }
    after.place()?;
    Ok(lost(before, after, &seats))
}

/// Energy of the difference of both motions: the projection is orthogonal, so this is the difference of their energies.
fn lost(before: &Hybrid, after: &Hybrid, seats: &[(usize, Frame)]) -> f64 {
    (1..before.nodes.len()).fold(0.0, |sum, k| {
        let (body, frame) = &seats[k];
        let now = frame.motion_to_child(after.work.flows[*body].velocity);
        let d = before.work.flows[k].velocity - now;
        sum + 0.5 * d.dot(before.model.nodes[k].inertia.times(d))
    })
}

/// By link of `before`: the link of `after` it is part of, and its frame there.
fn seats(before: &Hybrid, after: &Hybrid) -> Vec<(usize, Frame)> {
    let mut out = vec![(WORLD, Frame::IDENTITY)];
    for k in 1..before.nodes.len() {
        let seat = match after.nodes.binary_search(&before.nodes[k]) {
            Ok(body) => (body, Frame::IDENTITY),
            Err(_) => {
                let (body, up): (usize, Frame) = out[before.model.nodes[k].parent as usize];
                (body, up.compose(&before.work.frames[k]))
            }
        };
        out.push(seat);
    }
    out
}
