//! Recorder: will feed the recording of a run, once its file format is in.
//!
//! Reads: Scene, World, StepReport.  Writes: nothing yet.
//! Called by: `run`.
//! Source: none yet.

use anyhow::Result;
use std::path::Path;
use tippe::{StepReport, World};
use tippe_scene::Scene;

/// Writes the recording of one run.
#[derive(Debug)]
pub struct Recorder;

impl Recorder {
    /// Starts a recording.
    ///
    /// # Errors
    /// None yet.
    pub fn create(_path: &Path, _scene: &Scene) -> Result<Self> {
        Ok(Self)
    }

    /// Records a step.
    ///
    /// # Errors
    /// None yet.
    pub fn step(&mut self, _world: &World, _report: &StepReport) -> Result<()> {
        Ok(())
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// None yet.
    pub fn finish(self, _world: &World) -> Result<()> {
        Ok(())
    }
}
