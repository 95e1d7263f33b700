//! `tippe assemble`: put the parts of a scene together, say what moves, what is surplus and what contradicts.
//!
//! Reads: a scene file.  Writes: the report, the assembled scene.
//! Called by: `main`.
//! Source: docs/assembly.md.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tippe::assembly::Assembly;
use tippe_scene::{LoadOptions, Scene};

use crate::Outcome;
use crate::args::AssembleArgs;
use crate::load;
use crate::output::{note, out};

/// Assembles.
///
/// # Errors
/// The scene could not be written, or the reader of our output went away.
pub fn assemble(args: &AssembleArgs) -> Result<Outcome> {
    let options = LoadOptions {
        allow_outside: args.allow_outside,
        allow_misfits: true,
        set: args.set.clone(),
        ..LoadOptions::default()
    };
    let Some(mut scene) = load::load(&args.scene, &options) else {
        return Ok(Outcome::BadInput);
    };
    let report = scene.world.assemble();
    if args.json {
        out(&format!("{:#}\n", as_json(&scene, &report)))?;
    } else {
        out(&text(&scene, &report))?;
    }
    if !report.solved {
        return Ok(Outcome::Failed);
    }
    if let Some(path) = &args.out {
        if let Err(names) = scene.write_poses() {
            let names = names.join(", ");
            note(&format!(
                "error: {names}: written by a generator, which has no place for each of its bodies"
            ));
            return Ok(Outcome::BadInput);
        }
        let written = tippe_scene::explain(&scene);
        std::fs::write(path, written)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(Outcome::Done)
}

fn name(scene: &Scene, id: tippe::BodyId) -> String {
    scene
        .world
        .body(id)
        .map_or_else(|_| "?".into(), |b| b.name.clone())
}

/// The report as text.
fn text(scene: &Scene, r: &Assembly) -> String {
    let mut s = format!("{} bodies, {} mates\n", r.bodies, r.mates);
    let [before, after] = r.residuals;
    if r.solved {
        s += &format!(
            "assembled: worst residual {before:.1e} before, {after:.1e} after, {} iterations",
            r.iterations
        );
        s += &match r.restarts {
            0 => "\n".to_owned(),
            n => format!(", {n} new starts from disturbed placements\n"),
        };
        for (id, shift, turn) in &r.moved {
            s += &format!(
                "  moved {:?} by {shift:.3e} m and {turn:.3e} rad\n",
                name(scene, *id)
            );
        }
    } else {
        s += &format!("not assembled, nothing was moved: worst residual {before:.1e}\n");
    }
    for c in &r.conflicts {
        s += &format!("contradiction: {}\n", c.text);
    }
    for limit in &r.limits {
        s += &format!("limit: {limit}\n");
    }
    if r.solved {
        s += &format!("{} rows, {} of them independent\n", r.rows, r.rank);
        s += &format!("degrees of freedom left: {}\n", r.freedoms);
        for id in &r.floating {
            s += &format!(
                "  6: {:?} and all that hangs together with it floats\n",
                name(scene, *id)
            );
        }
        for motion in &r.motions {
            s += &format!("  1: {}\n", motion.text);
        }
        s += &format!("surplus rows: {}\n", r.surplus.len());
        for row in &r.surplus {
            s += &format!("  {}\n", row.text);
        }
        for p in &r.proposals {
            s += &format!("proposal: {}\n", p.text);
        }
    }
    for line in r.branches.iter().chain(&r.notes) {
        s += &format!("note: {line}\n");
    }
    s
}

/// The report as JSON, with a sample of every free motion.
fn as_json(scene: &Scene, r: &Assembly) -> Value {
    let joint = |id: &tippe::JointId| {
        scene
            .world
            .joint(*id)
            .map(|j| j.desc.name.clone())
            .unwrap_or_default()
    };
    let motions = r.motions.iter().map(|m| {
        let twists = m.twists.iter().map(|t| {
            json!({
                "body": name(scene, t.body),
                "velocity": t.velocity.to_array(),
                "angular_velocity": t.angular_velocity.to_array(),
            })
        });
        json!({ "text": m.text, "twists": twists.collect::<Vec<_>>() })
    });
    let moved = r
        .moved
        .iter()
        .map(|(id, shift, turn)| json!({ "body": name(scene, *id), "shift": shift, "turn": turn }));
    let surplus = r
        .surplus
        .iter()
        .map(|s| json!({ "mate": joint(&s.mate), "text": s.text }));
    let proposals = r
        .proposals
        .iter()
        .map(|p| json!({ "mate": joint(&p.mate), "text": p.text }));
    let conflicts = r.conflicts.iter().map(|c| {
        let mates: Vec<String> = c.mates.iter().map(joint).collect();
        json!({ "mates": mates, "text": c.text })
    });
    json!({
        "solved": r.solved,
        "bodies": r.bodies,
        "mates": r.mates,
        "rows": r.rows,
        "rank": r.rank,
        "residual_before": r.residuals[0],
        "residual_after": r.residuals[1],
        "iterations": r.iterations,
        "restarts": r.restarts,
        "moved": moved.collect::<Vec<_>>(),
        "freedoms": r.freedoms,
        "floating": r.floating.iter().map(|id| name(scene, *id)).collect::<Vec<_>>(),
        "motions": motions.collect::<Vec<_>>(),
        "surplus": surplus.collect::<Vec<_>>(),
        "proposals": proposals.collect::<Vec<_>>(),
        "conflicts": conflicts.collect::<Vec<_>>(),
        "branches": r.branches,
        "limits": r.limits,
        "notes": r.notes,
    })
}
