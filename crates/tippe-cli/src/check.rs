//! `tippe check`: read and validate a scene, say what is in it or everything that is wrong with it.
//!
//! Reads: a scene file.  Writes: one line, or diagnostics on standard error.
//! Called by: `main`.
//! Source: the messages are those of the scene crate.

use anyhow::Result;
use tippe_scene::LoadOptions;

use crate::Outcome;
use crate::args::CheckArgs;
use crate::format::{number, step_length};
use crate::load;
use crate::output::{note, out};
use crate::summary::bodies;
use crate::verdict;

/// Checks.
///
/// # Errors
/// The reader of our output went away.
pub fn check(args: &CheckArgs) -> Result<Outcome> {
    let options = LoadOptions {
        allow_outside: args.allow_outside,
        set: args.set.clone(),
        ..LoadOptions::default()
    };
    let Some(scene) = load::load(&args.scene, &options) else {
        return Ok(Outcome::BadInput);
    };
    let shapes: usize = scene
        .world
        .body_ids()
        .filter_map(|id| scene.world.body(id).ok())
        .map(|b| b.shapes.len())
        .sum();
    out(&format!(
        "ok: {}: bodies {}, {shapes} shapes, method {}, {} s in steps of {}\n",
        args.scene.display(),
        bodies(&scene.world),
        scene.world.method().name(),
        number(scene.seconds),
        step_length(scene.dt)
    ))?;
    for (a, b, depth) in verdict::overlaps(&scene.world) {
        note(&format!(
            "warning: {a:?} and {b:?} overlap by {} m at the start: move them apart, or they are pushed apart",
            number(depth)
        ));
    }
    Ok(Outcome::Done)
}
