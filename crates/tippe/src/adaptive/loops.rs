//! Loops through adaptive trees: joints that tie a link to what its tree is tied to already.
//!
//! Reads: Model.  Writes: nothing.
//! Called by: `World::add_joint` and `adaptive`, which refuse them.
//! Source: docs/methods/adaptive.md, "Limits": the force of a joint that closes a loop couples links that the assembly
//! keeps apart, so that measures and residual would not be those of the tree.

use crate::model::{BodyKind, Joint, Model};
use std::collections::BTreeSet;

/// Joints that close a loop through an articulation.
pub(crate) fn loop_joints(model: &Model, articulation: usize) -> usize {
    let drives = drives(model);
    let joints = model.present_joints();
    joints
        .filter(|(i, j)| {
            drives.binary_search(&(*i as u32)).is_err() && is_on(model, j, articulation)
        })
        .filter(|(i, j)| closes(model, &drives, j, Some(*i)))
        .count()
}

/// The adaptive articulation through which a new joint closes a loop, if there is one.
pub(crate) fn looped(model: &Model, joint: &Joint) -> Option<usize> {
    let adaptive = model
        .present_articulations()
        .filter(|(_, a)| a.desc.adaptive.is_some());
    let mut on = adaptive.filter(|(i, _)| is_on(model, joint, *i));
    let found = on.next()?.0;
    closes(model, &drives(model), joint, None).then_some(found)
}

/// Slots of the joints that stand for limits, motors and dry friction inside trees, sorted.
fn drives(model: &Model) -> Vec<u32> {
    let trees = model.present_articulations();
    let mut out: Vec<u32> = trees.flat_map(|(_, a)| a.drives.iter().copied()).collect();
    out.sort_unstable();
    out
}

/// Whether a joint holds a link of the articulation that can move.
fn is_on(model: &Model, joint: &Joint, tree: usize) -> bool {
    let on = |slot: u32| match model.bodies[slot as usize].as_ref().map(|b| &b.kind) {
        Some(BodyKind::Link { articulation, .. }) => *articulation as usize == tree,
        _ => false,
    };
    joint.desc.kind.coupled().is_none() && (on(joint.b) || joint.a.is_some_and(on))
}

/// Whether the ends of a joint are tied to each other without it too.
fn closes(model: &Model, drives: &[u32], joint: &Joint, own: Option<usize>) -> bool {
    let ground = model.bodies.len() as u32;
    // What does not move is one, and so is a tree; a tree on a fixed base is tied to the ground.
    let node = |slot: u32| match model.bodies.get(slot as usize).and_then(Option::as_ref) {
        Some(body) if body.is_dynamic() => model.node_of(slot),
        _ => ground,
    };
    let ends = |j: &Joint| (node(j.a.unwrap_or(ground)), node(j.b));
    let mut ties: Vec<(u32, u32)> = Vec::new();
    for (i, j) in model.present_joints() {
        if Some(i) != own && drives.binary_search(&(i as u32)).is_err() {
            ties.push(ends(j));
        }
    }
    for (_, a) in model.present_articulations() {
        if let Some(root) = a.root().filter(|_| !a.floats()) {
            ties.push((ground, root));
        }
    }
    let (from, to) = ends(joint);
    let mut reached = BTreeSet::from([from]);
    loop {
        let before = ties.len();
        ties.retain(|(a, b)| {
            let tied = reached.contains(a) || reached.contains(b);
            if tied {
                reached.extend([*a, *b]);
            }
            !tied
        });
        if reached.contains(&to) {
            return true;
        }
        if ties.len() == before {
            return false;
        }
    }
}
