//! What `forces` cannot do: scenes that ask for it are refused with the reason, never quietly changed.
//!
//! Reads: Model.  Writes: nothing.
//! Called by: `method::forces`, and whoever wants to know before the first step.
//! Source: docs/methods/README.md, "What each method honours".

use crate::joint::{Freedom, JointKind};
use crate::model::Model;

/// Why this model cannot be stepped by `forces`; `None` if it can.
pub(crate) fn refusal(model: &Model) -> Option<String> {
    if let Some((i, _)) = model.present_articulations().next() {
        let name = model.articulation_name(i);
        return Some(format!(
            "articulation `{name}`: `forces` does not step articulations yet; use `sequential` or `iterative`, or joints between bodies"
        ));
    }
    let acts = |f: &Freedom| f.limits.is_some() || f.motor.is_some();
    for (i, joint) in model.present_joints() {
        let desc = &joint.desc;
        if desc.kind.winds() {
            let reason =
                "`forces` has no screws, gears and racks yet; use `sequential` or `iterative`";
            return Some(format!("joint `{}`: {reason}", desc.name));
        }
        let rope = matches!(desc.kind, JointKind::Distance { min, max } if min < max);
        if acts(&desc.rotation) || acts(&desc.translation) || rope {
            let name = if desc.name.is_empty() {
                format!("#{i}")
            } else {
                desc.name.clone()
            };
            return Some(format!(
                "joint `{name}`: `forces` has no limits, ropes and motors in joints yet; use `sequential` or `iterative`"
            ));
        }
    }
    let rolls =
        |s: &crate::material::Surface| s.friction_rolling > 0.0 || s.friction_spinning > 0.0;
    let pairs = model.materials.pairs.iter().map(|p| &p.surface);
    if model.materials.surfaces.iter().chain(pairs).any(rolls) {
        return Some(
            "rolling and spinning friction: `forces` does not have them; use `sequential` or `iterative`".into(),
        );
    }
    if let Some((a, b)) = model.materials.uncombined() {
        return Some(format!(
            "materials `{a}` and `{b}`: their compliant laws do not combine; state the pair"
        ));
    }
    None
}
