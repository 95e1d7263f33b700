//! What the page shows of one case with one setup: pictures, the ledger, and quantities against truth over time.
//!
//! Reads: the runs of a case, as a watcher.  Writes: nothing outside.
//! Called by: `validate`, then `validate::page`.
//! Source: pictures and ledger are of the first run of the case; a quantity is of the first run that notes it.

use std::time::Duration;

use tippe::{StepReport, World};
use tippe_validate::watch::Watcher;

use crate::film::Film;
use crate::series::Series;
use crate::statistics::Statistics;

/// Steps that the film of a case is planned for; longer runs have fewer frames between.
const FILM_STEPS: u64 = 10_000;

/// One quantity over time.
#[derive(Clone, Debug)]
pub struct Note {
    /// Name and unit.
    pub what: &'static str,
    /// As computed.
    pub ours: Series,
    /// As it should be.
    pub exact: Series,
    /// Size of the difference.
    pub error: Series,
    run: usize,
}

/// What was seen of one case with one setup.
#[derive(Default)]
pub struct Exhibit {
    /// The world of the first run, and its film.
    pub film: Option<(World, Film)>,
    /// Its ledger.
    pub statistics: Statistics,
    /// Quantities against truth.
    pub notes: Vec<Note>,
    runs: usize,
    steps: u64,
}

impl Watcher for Exhibit {
    fn begin(&mut self, world: &World, _dt: f64) {
        self.runs += 1;
        if self.runs == 1 {
            self.statistics.start(world.time(), world.energy());
            self.film = Some((world.clone(), Film::new(world, FILM_STEPS)));
        }
    }

    fn step(&mut self, world: &World, report: &StepReport) {
        if self.runs == 1
            && let Some((_, film)) = &mut self.film
        {
            self.steps += 1;
            self.statistics
                .add(report, world.ledger(), Duration::default());
            film.see(world, self.steps);
        }
    }

    fn note(&mut self, time: f64, what: &'static str, ours: f64, exact: f64) {
        let place = self.notes.iter().position(|n| n.what == what);
        let place = place.unwrap_or_else(|| {
            self.notes.push(Note {
                what,
                ours: Series::default(),
                exact: Series::default(),
                error: Series::default(),
                run: self.runs,
            });
            self.notes.len() - 1
        });
        let note = &mut self.notes[place];
        if note.run == self.runs {
            note.ours.push(time, ours);
            note.exact.push(time, exact);
            note.error.push(time, (ours - exact).abs());
        }
    }

    fn end(&mut self, world: &World) {
        if self.runs == 1
            && let Some((_, film)) = &mut self.film
        {
            film.finish(world);
        }
    }
}
