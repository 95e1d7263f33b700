//! The folder of a run: held by one run alone, never mixed with older results, never left through a link.
//!
//! Reads: what stands in the folder.  Writes: recording.tippe, summary.json, report.html.
//! Called by: `run`.
//! Source: `flock` of a folder ends with the process that holds it, however that ends. `create_new` (O_EXCL) does not follow links.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tippe_scene::Scene;
use tippe_scene::recording::RecordingWriter;

/// The files of a run, those that say that it is whole first: while old ones are taken away, none of them stands beside a stranger.
const FILES: [&str; 3] = ["summary.json", "report.html", RECORDING];
const RECORDING: &str = "recording.tippe";

/// A folder that no other run writes to until this is dropped.
#[derive(Debug)]
pub struct Results {
    dir: PathBuf,
    _lock: File,
}

impl Results {
    /// Makes and locks the folder. Older results in it are refused, or with `force` taken away.
    ///
    /// # Errors
    /// The folder cannot be made, another run has it, or it has results.
    pub fn open(dir: &Path, force: bool) -> Result<Self> {
        fs::create_dir_all(dir)
            .with_context(|| format!("cannot make the folder {}", dir.display()))?;
        let lock = lock(dir)?;
        let is_there = |name: &&str| dir.join(name).symlink_metadata().is_ok();
        let old: Vec<&str> = FILES.into_iter().filter(is_there).collect();
        if !old.is_empty() && !force {
            bail!(
                "{} holds the results of another run ({}): name another folder, or replace them with --force",
                dir.display(),
                old.join(", ")
            );
        }
        for name in old {
            let path = dir.join(name);
            // Of a link the link itself goes.
            fs::remove_file(&path).with_context(|| format!("cannot replace {}", path.display()))?;
        }
        Ok(Self {
            dir: dir.to_path_buf(),
            _lock: lock,
        })
    }

    /// Begins the recording.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn record(&self, scene: &Scene) -> Result<RecordingWriter<Recorded>> {
        let path = self.dir.join(RECORDING);
        File::create_new(&path)
            .and_then(|file| {
                RecordingWriter::new(
                    Recorded {
                        file,
                        written: 0,
                        whole: 0,
                    },
                    scene,
                )
            })
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Writes one of the other files: all of it or nothing.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        let (path, part) = (self.dir.join(name), self.dir.join(format!("{name}.part")));
        let _ = fs::remove_file(&part);
        let written = File::create_new(&part)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&part, &path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written.with_context(|| format!("cannot write {}", path.display()))
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// A lock that ends with the process. The folder itself carries it, so that no file of it is left behind.
fn lock(dir: &Path) -> Result<File> {
    let file = if cfg!(unix) {
        File::open(dir)
    } else {
        File::options()
            .create(true)
            .append(true)
            .open(dir.join("tippe.lock"))
    };
    let file = file.with_context(|| format!("cannot open the folder {}", dir.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!(
                "another run is writing to {}: name another folder",
                dir.display()
            )
        }
        // Some network file systems have no locks: a run alone is served there all the same.
        Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(e)) => {
            Err(e).with_context(|| format!("cannot lock the folder {}", dir.display()))
        }
    }
}

/// A recording in a file, straight to it: a run that is killed leaves every whole chunk behind.
#[derive(Debug)]
pub struct Recorded {
    file: File,
    written: u64,
    /// Bytes up to the end of the last frame.
    whole: u64,
}

impl Recorded {
    /// Cuts off what was begun and could not be ended, so that the file ends with a whole frame.
    pub fn cut(&self) {
        // Where even that fails the reader does it.
        let _ = self.file.set_len(self.whole);
    }
}

impl Write for Recorded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.whole = self.written;
        Ok(())
    }
}
