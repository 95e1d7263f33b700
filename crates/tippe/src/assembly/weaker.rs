//! What a mate with surplus rows may become without any motion changing: nothing, or a weaker kind on the same frames.
//!
//! Reads: Model (joints), body states.  Writes: the report.
//! Called by: `diagnosis`.
//! Source: docs/assembly.md, "Surplus rows": a change is neutral if it leaves the rank of all rows as it is.

use super::echelon::Echelon;
use super::rows::{self, Row};
use super::{Assembly, Parts, Proposal, words};
use crate::joint::JointKind;
use crate::model::{Joint, Model};
use crate::state::{BodyState, JointMemory};

/// Ranks that may be computed for the proposals of one component, times its rows.
const WORK_MAX: usize = 30_000;

/// Kinds that hold less on the same frames, weakest first.
fn weaker(kind: JointKind) -> &'static [JointKind] {
    use JointKind::{
        Ball, Cylindrical, Hinge, LineOnLine, Orientation, Parallel, Perpendicular, Planar,
        PointOnLine, PointOnPlane, Slider,
    };
    match kind {
        Ball => &[PointOnPlane, PointOnLine],
        Hinge => &[
            PointOnPlane,
            PointOnLine,
            Parallel,
            Ball,
            Planar,
            Cylindrical,
        ],
        Slider => &[PointOnLine, Parallel, Orientation, LineOnLine],
        JointKind::Fixed => &[
            PointOnPlane,
            PointOnLine,
            Parallel,
            Ball,
            Orientation,
            Planar,
            Cylindrical,
            Hinge,
            Slider,
        ],
        Cylindrical | LineOnLine => &[PointOnLine, Parallel],
        JointKind::Universal => &[Perpendicular, PointOnPlane, PointOnLine, Ball],
        Planar => &[PointOnPlane, Parallel],
        PointOnLine => &[],
        JointKind::CylinderOnPlane { .. } => &[Perpendicular],
        JointKind::Screw { .. } => &[],
        _ => &[],
    }
}

/// Proposes changes, the last mates first, until no row is surplus or no change is neutral.
pub(crate) fn propose(
    model: &Model,
    parts: &Parts,
    states: &[BodyState],
    memory: &[JointMemory],
    report: &mut Assembly,
) {
    let rows_of = |slot: u32, kind: JointKind| -> Vec<Row> {
        let mut out = Vec::new();
        if let Some(joint) = &model.joints[slot as usize] {
            rows::push(parts, joint, kind, states, memory, &mut out);
        }
        out
    };
    let rank = |list: &[Vec<Row>]| Echelon::new(parts.slots.len(), &list.concat(), None).rank();
    let kind_of = |slot: u32| model.joints[slot as usize].as_ref().map(|j| j.desc.kind);
    let mut all: Vec<Vec<Row>> = parts
        .mates
        .iter()
        .map(|&m| kind_of(m).map_or_else(Vec::new, |kind| rows_of(m, kind)))
        .collect();
    let full = rank(&all);
    let mut count: usize = all.iter().map(Vec::len).sum();
    let mut work = 0;
    for (i, &mate) in parts.mates.iter().enumerate().rev() {
        if count == full {
            return;
        }
        let Some(joint) = model.joints[mate as usize]
            .as_ref()
            .filter(|j| is_plain(model, j))
        else {
            continue;
        };
        work += 4 * count;
        if work > WORK_MAX {
            report.notes.push(format!(
                "proposals for a component of {} mates were cut short",
                parts.mates.len()
            ));
            return;
        }
        let own = std::mem::take(&mut all[i]);
        let without = rank(&all);
        let mut choice = None;
        if without == full {
            choice = Some((None, Vec::new()));
        } else if without + own.len() > full {
            for &kind in weaker(joint.desc.kind) {
                let rows = rows_of(mate, kind);
                if without + rows.len() < full || rows.len() >= own.len() {
                    continue;
                }
                all[i] = rows;
                if rank(&all) == full {
                    choice = Some((Some(kind), std::mem::take(&mut all[i])));
                    break;
                }
            }
        }
        let Some((kind, rows)) = choice.filter(|_| !own.is_empty()) else {
            all[i] = own;
            continue;
        };
        count -= own.len() - rows.len();
        all[i] = rows;
        report.proposals.push(Proposal {
            mate: model.joint_id(mate as usize),
            weaker: kind,
            text: words::proposal(joint, kind, own.len()),
        });
    }
}

/// Whether a mate does nothing but hold: no limits, motor or spring, and no coupling counts on it.
fn is_plain(model: &Model, joint: &Joint) -> bool {
    let named = model
        .present_joints()
        .filter_map(|(_, j)| j.mesh.as_ref())
        .any(|m| m.joints.contains(&joint.slot));
    joint.desc.rotation.is_free() && joint.desc.translation.is_free() && !named
}
