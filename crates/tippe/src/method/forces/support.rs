//! What `forces` cannot do: scenes that ask for it are refused with the reason, never quietly changed.
//!
//! Reads: Model.  Writes: nothing.
//! Called by: `method::forces`, and whoever wants to know before the first step.
//! Source: docs/methods/README.md, "What each method honours".

use crate::model::Model;

/// Why this model cannot be stepped by `forces`; `None` if it can.
pub(crate) fn refusal(model: &Model) -> Option<String> {
    for (_, joint) in model.present_joints() {
        if joint.desc.kind.winds() {
            let reason =
                "`forces` has no screws, gears and racks yet; use `sequential` or `iterative`";
            return Some(format!("joint `{}`: {reason}", joint.desc.name));
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
