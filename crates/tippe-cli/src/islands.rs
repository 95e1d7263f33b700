//! `tippe run --record-islands`: writes the expensive islands of a run into a folder, one text file each.
//!
//! Reads: the solver's recorder.  Writes: files `SCENE-STEP.txt`, a second one of a step `SCENE-STEP-2.txt`.
//! Called by: `run`.
//! Source: the format of `tippe::solver::recorded`; `cargo run -p tippe --example islands DIR` solves them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tippe::solver::recorder;

/// Most files of one run; what comes later is counted.
const FILES_MAX: u64 = 1000;

/// The folder, and what was written into it.
#[derive(Debug)]
pub struct IslandFiles {
    folder: PathBuf,
    scene: String,
    written: u64,
    left_out: u64,
}

impl IslandFiles {
    /// Makes the folder and begins to keep islands whose solve takes more multiply–adds than this.
    pub fn open(folder: &Path, scene: &Path, operations: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        recorder::keep_above(Some(operations));
        let scene = scene.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self {
            folder: folder.to_path_buf(),
            scene: scene.into_owned(),
            written: 0,
            left_out: 0,
        })
    }

    /// Writes what a step left.
    pub fn step(&mut self, step: u64) -> io::Result<()> {
        let taken = recorder::take();
        self.left_out += taken.left_out;
        for (i, island) in taken.islands.iter().enumerate() {
            if self.written == FILES_MAX {
                self.left_out += 1;
                continue;
            }
            let number = if i == 0 {
                String::new()
            } else {
                format!("-{}", i + 1)
            };
            let name = format!("{}-{step}{number}.txt", self.scene);
            let head = format!(
                "note {}, step {step}: {} multiply-adds\n",
                self.scene, island.operations
            );
            fs::write(self.folder.join(name), head + &island.text)?;
            self.written += 1;
        }
        Ok(())
    }

    /// What to tell at the end.
    pub fn told(&self) -> String {
        let rest = match self.left_out {
            0 => String::new(),
            n => format!("; {n} more were left out"),
        };
        let folder = self.folder.display();
        format!("{} islands written to {folder}{rest}", self.written)
    }
}

impl Drop for IslandFiles {
    fn drop(&mut self) {
        recorder::keep_above(None);
    }
}
