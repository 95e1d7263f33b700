//! `tippe export`: the numbers of a recording as CSV files.
//!
//! Reads: a recording.  Writes: bodies.csv, joints.csv, sensors.csv, contacts.csv, as far as it has them.
//! Called by: `main`, `run` (for `--csv`).
//! Source: docs/recording.md, "Tables".

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use tippe_scene::Recording;
use tippe_scene::recording::{Completeness, Tables};

use crate::Outcome;
use crate::output::{note, out};

/// Flags of `tippe export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Recording, such as the recording.tippe of `tippe run --out`.
    pub recording: PathBuf,
    /// Folder for the CSV files; made if missing, files of the same names are replaced.
    #[arg(long, value_name = "DIR")]
    pub csv: PathBuf,
}

/// Exports.
///
/// # Errors
/// Files cannot be written.
pub fn export(args: &ExportArgs) -> Result<Outcome> {
    let name = args.recording.display();
    let bytes = match fs::read(&args.recording) {
        Ok(bytes) => bytes,
        Err(e) => {
            note(&format!("error: {name} cannot be read: {e}"));
            return Ok(Outcome::BadInput);
        }
    };
    let recording = match Recording::read(&bytes) {
        Ok(recording) => recording,
        Err(e) => {
            note(&format!("error: {name}: {e}"));
            return Ok(Outcome::BadInput);
        }
    };
    if !matches!(recording.completeness, Completeness::Finished(_)) {
        let end = recording.frames.last().map_or(0.0, |f| f.time);
        note(&format!(
            "warning: {name} has no end: the tables go up to {end} s"
        ));
    }
    let written = write(&Tables::of(&recording), &args.csv)?;
    out(&format!(
        "written to {}: {}\n",
        args.csv.display(),
        written.join(", ")
    ))?;
    Ok(Outcome::Done)
}

/// Writes the tables into a folder; the names of the files.
///
/// # Errors
/// The folder cannot be made, or a file not written.
pub fn write(tables: &Tables, dir: &Path) -> Result<Vec<&'static str>> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    let mut names = Vec::new();
    for (name, text) in tables.files() {
        let path = dir.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        names.push(name);
    }
    Ok(names)
}
