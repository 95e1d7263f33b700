//! Shock propagation: an island solved level by level of its contact graph, what lies below standing still.
//!
//! Reads: rows, touches, solver bodies.  Writes: rows' impulses, solver bodies, work counts.
//! Called by: `method::iterative::contact`.
//! Source: [Bender06] §3.2. Upwards, as there, it ends a solve: no contact is left too deep, but what lies below never feels what lies above,
//! so that momentum is not kept. Downwards it is a guess to start from: each level hands its load on to the one below.

use super::IterativeParams;
use crate::dynamics::halves::row::{Row, SolverBody};
use crate::dynamics::halves::sweep::Job;
use crate::dynamics::halves::touch::Touch;
use crate::dynamics::halves::{Scratch, Settings};
use crate::dynamics::integrate;
use crate::math::Vec3;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use crate::work::Work;

/// Not reached from anything that cannot move.
const LOOSE: u32 = u32::MAX;

/// Scratch of the propagation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// By slot: steps from what cannot move.
    of_body: Vec<u32>,
    /// By row of the island: the higher level of its two sides; `LOOSE` if it does not touch.
    of_row: Vec<u32>,
    /// By slot: solver bodies with their masses, and with their velocities before a level is solved.
    whole: Vec<SolverBody>,
    /// By row of the island: its impulse before a level is solved.
    before: Vec<Vec3>,
}

/// From the top down: every level is solved on what lies below as if that stood still, then its load is handed on. A guess for sweeps.
pub(crate) fn guess(
    model: &Model,
    state: &State,
    settings: &Settings,
    island: usize,
    work: &mut Work,
    report: &mut StepReport,
) {
    let (levels, halves) = (&mut work.levels, &mut work.halves);
    let top = levels.find(settings, halves, island);
    for level in (1..=top).rev() {
        levels.whole.clone_from(&halves.bodies.flat);
        // What lies below will end where it is: thrown up by half of what it falls.
        for (i, body) in model.present() {
            if levels.of_body[i] < level && body.is_awake() {
                let a = integrate::acceleration(model, body, &state.loads[i]);
                halves.bodies[i].v = a * (-0.5 * report.dt);
                halves.bodies[i].w = Vec3::ZERO;
            }
        }
        levels.solve(level, settings, halves, island, report);
        levels.restore(halves);
        for (i, body) in halves.bodies.iter_mut().enumerate() {
            if levels.of_body[i] < level {
                (body.v, body.w) = (levels.whole[i].v, levels.whole[i].w);
            }
        }
        // Newton's third law for the sides that stood still.
        let rows = &halves.rows[halves.parts[island].rows.clone()];
        for (i, row) in rows.iter().enumerate() {
            if levels.of_row[i] != level {
                continue;
            }
            let change = row.world(row.frame_impulse() - levels.before[i]);
            let (a, b) = (row.a as usize, row.b as usize);
            if levels.of_body[a] < level {
                halves.bodies[a].push(-change, row.lever_a());
            }
            if levels.of_body[b] < level {
                halves.bodies[b].push(change, row.lever_b());
            }
        }
    }
}

/// From the bottom up, after `sweeps` over all: every level is solved to the tolerance on what lies below, which no longer moves.
pub(crate) fn settle(
    params: &IterativeParams,
    settings: &Settings,
    sweeps: u32,
    island: usize,
    work: &mut Work,
    report: &mut StepReport,
) {
    let few = Settings {
        sweeps,
        sweeps_last: 0,
        direct_rounds: 0,
        cone_rounds: 0,
        ..*settings
    };
    super::contact::converge(&few, 0, false, island, work, report);
    let many = Settings {
        sweeps: params.sweeps_max,
        ..few
    };
    let (levels, halves) = (&mut work.levels, &mut work.halves);
    let top = levels.find(settings, halves, island);
    for level in 1..=top {
        levels.solve(level, &many, halves, island, report);
        levels.restore(halves);
    }
}

impl Levels {
    /// Numbers bodies and rows of an island by their distance from what cannot move; returns the highest level.
    fn find(&mut self, settings: &Settings, halves: &Scratch, island: usize) -> u32 {
        let part = halves.parts[island].rows.clone();
        let (rows, touches) = (&halves.rows[part.clone()], &halves.touches[part]);
        self.whole.clone_from(&halves.bodies.flat);
        self.of_body.clear();
        self.of_body.resize(halves.bodies.len(), LOOSE);
        let touching = |row: &Row, touch: &Touch| {
            !touch.awaited && (row.p_n > 0.0 || touch.gap_start <= settings.touching)
        };
        // Breadth first, level after level; slots of infinite mass are the ground.
        for (slot, body) in halves.bodies.iter().enumerate() {
            if body.inverse_mass == 0.0 {
                self.of_body[slot] = 0;
            }
        }
        let mut top = 0;
        loop {
            let mut grown = false;
            for (row, touch) in rows.iter().zip(touches) {
                let (a, b) = (row.a as usize, row.b as usize);
                for (from, to) in [(a, b), (b, a)] {
                    if touching(row, touch)
                        && self.of_body[from] == top
                        && self.of_body[to] == LOOSE
                    {
                        self.of_body[to] = top + 1;
                        grown = true;
                    }
                }
            }
            if !grown {
                break;
            }
            top += 1;
        }
        self.of_row.clear();
        self.of_row
            .extend(rows.iter().zip(touches).map(|(row, touch)| {
                let (a, b) = (self.of_body[row.a as usize], self.of_body[row.b as usize]);
                if touching(row, touch) && a.min(b) != LOOSE {
                    a.max(b)
                } else {
                    LOOSE
                }
            }));
        top
    }

    /// Solves the rows of one level while everything below stands still.
    fn solve(
        &mut self,
        level: u32,
        settings: &Settings,
        halves: &mut Scratch,
        island: usize,
        report: &mut StepReport,
    ) {
        for (body, &of_body) in halves.bodies.iter_mut().zip(&self.of_body) {
            if of_body < level {
                body.stand_still();
            }
        }
        let part = halves.parts[island].rows.clone();
        let rows = &mut halves.rows[part];
        self.before.clear();
        for (row, &of_row) in rows.iter_mut().zip(&self.of_row) {
            self.before.push(row.frame_impulse());
            if of_row == level {
                row.respond(&halves.bodies);
            }
        }
        let mut job = Job {
            settings,
            cost_max: 0,
            near: false,
            rows,
            links: &mut [],
            bodies: &mut halves.bodies,
            work: &mut report.work,
        };
        job.converge(&mut halves.sweeps, |i| self.of_row[i] == level);
        // Back to the response of the whole masses.
        for (row, &of_row) in job.rows.iter_mut().zip(&self.of_row) {
            if of_row == level {
                row.respond(&self.whole);
            }
        }
    }

    /// Gives all bodies their masses back.
    fn restore(&self, halves: &mut Scratch) {
        for (body, whole) in halves.bodies.iter_mut().zip(&self.whole) {
            body.inverse_mass = whole.inverse_mass;
            body.inverse_inertia = whole.inverse_inertia;
        }
    }
}
