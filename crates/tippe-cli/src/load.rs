//! Loading a scene for a command: the scene, or all its errors on standard error.
//!
//! Reads: a scene file.  Writes: stderr.
//! Called by: `run`, `check`.
//! Source: the messages are those of the scene crate.

use std::path::Path;

use tippe_scene::{LoadOptions, Scene, load_file};

use crate::output::note;

/// Loads a scene; `None` if it was refused, and the user has been told why.
pub fn load(path: &Path, options: &LoadOptions) -> Option<Scene> {
    match load_file(path, options) {
        Ok(scene) => {
            scene
                .warnings
                .iter()
                .for_each(|w| note(&format!("warning: {w}\n")));
            Some(scene)
        }
        Err(errors) => {
            note(&errors.to_string());
            None
        }
    }
}
