//! Shock propagation: an island solved level by level of its contact graph, what lies below standing still.
//!
//! Reads: rows, touches, solver bodies.  Writes: rows' impulses, solver bodies, work counts.
//! Called by: `method::iterative::contact`.
//! Source: [Bender06] §3.2. Upwards, as there, it ends a solve: no contact is left too deep, but what lies below never feels what lies above,
//! so that momentum is not kept. Downwards it is a guess to start from: each level hands its load on to the one below.

use super::IterativeParams;
use crate::dynamics::integrate;
use crate::math::Vec3;
use crate::model::Model;
use crate::report::StepReport;
use crate::solver::choose::{Allowance, Settings};
use crate::solver::contact::ContactRow;
use crate::solver::ends::SolverBody;
use crate::solver::sweep::Job;
use crate::state::State;
use crate::two_stage::Scratch;
use crate::two_stage::gather::StepContact;
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
    params: &IterativeParams,
    state: &State,
    settings: &Settings,
    number: usize,
    work: &mut Work,
    report: &mut StepReport,
) {
    let (levels, stage) = (&mut work.levels, &mut work.stage);
    let top = levels.find(params.depth_tolerance, stage, number);
    for level in (1..=top).rev() {
        levels.whole.clone_from(&stage.bodies.flat);
        // What lies below will end where it is: thrown up by half of what it falls.
        for (i, body) in model.present() {
            if levels.of_body[i] < level && body.is_awake() {
                let a = integrate::acceleration(model, body, &state.loads[i]);
                stage.bodies[i].v = a * (-0.5 * report.dt);
                stage.bodies[i].w = Vec3::ZERO;
            }
        }
        levels.solve(level, settings, stage, number, report);
        levels.restore(stage);
        for (i, body) in stage.bodies.iter_mut().enumerate() {
            if levels.of_body[i] < level {
                (body.v, body.w) = (levels.whole[i].v, levels.whole[i].w);
            }
        }
        // Newton's third law for the sides that stood still.
        let rows = &stage.rows[stage.islands[number].rows.clone()];
        for (i, row) in rows.iter().enumerate() {
            if levels.of_row[i] != level {
                continue;
            }
            let change = row.world(row.frame_impulse() - levels.before[i]);
            let (a, b) = (row.a as usize, row.b as usize);
            if levels.of_body[a] < level {
                stage.bodies[a].push(-change, row.lever_a());
            }
            if levels.of_body[b] < level {
                stage.bodies[b].push(change, row.lever_b());
            }
        }
    }
}

/// From the bottom up, after `sweeps` over all: every level is solved to the tolerance on what lies below, which no longer moves.
pub(crate) fn settle(
    params: &IterativeParams,
    settings: &Settings,
    sweeps: u32,
    number: usize,
    work: &mut Work,
    report: &mut StepReport,
) {
    let few = Settings {
        sweeps,
        sweeps_last: 0,
        ..*settings
    };
    super::contact::converge(&few, Allowance::NONE, false, number, work, report);
    let many = Settings {
        sweeps: params.sweeps_max,
        ..few
    };
    let (levels, stage) = (&mut work.levels, &mut work.stage);
    let top = levels.find(params.depth_tolerance, stage, number);
    for level in 1..=top {
        levels.solve(level, &many, stage, number, report);
        levels.restore(stage);
    }
}

impl Levels {
    /// Numbers bodies and rows of an island by their distance from what cannot move; returns the highest level.
    fn find(&mut self, touching_gap: f64, stage: &Scratch, number: usize) -> u32 {
        let range = stage.islands[number].rows.clone();
        let (rows, step_contacts) = (&stage.rows[range.clone()], &stage.step_contacts[range]);
        self.whole.clone_from(&stage.bodies.flat);
        self.of_body.clear();
        self.of_body.resize(stage.bodies.len(), LOOSE);
        let touching = |row: &ContactRow, step_contact: &StepContact| {
            !step_contact.awaited && (row.p_n > 0.0 || step_contact.gap_start <= touching_gap)
        };
        // Breadth first, level after level; slots of infinite mass are the ground.
        for (slot, body) in stage.bodies.iter().enumerate() {
            if body.inverse_mass == 0.0 {
                self.of_body[slot] = 0;
            }
        }
        let mut top = 0;
        loop {
            let mut grown = false;
            for (row, step_contact) in rows.iter().zip(step_contacts) {
                let (a, b) = (row.a as usize, row.b as usize);
                for (from, to) in [(a, b), (b, a)] {
                    if touching(row, step_contact)
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
            .extend(rows.iter().zip(step_contacts).map(|(row, step_contact)| {
                let (a, b) = (self.of_body[row.a as usize], self.of_body[row.b as usize]);
                if touching(row, step_contact) && a.min(b) != LOOSE {
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
        stage: &mut Scratch,
        number: usize,
        report: &mut StepReport,
    ) {
        for (body, &of_body) in stage.bodies.iter_mut().zip(&self.of_body) {
            if of_body < level {
                body.stand_still();
            }
        }
        let range = stage.islands[number].rows.clone();
        let rows = &mut stage.rows[range];
        self.before.clear();
        for (row, &of_row) in rows.iter_mut().zip(&self.of_row) {
            self.before.push(row.frame_impulse());
            if of_row == level {
                row.respond(&stage.bodies);
            }
        }
        let mut job = Job {
            settings,
            core: Allowance::NONE,
            spent: 0,
            failed: false,
            near: false,
            rows,
            joint_blocks: &mut [],
            bodies: &mut stage.bodies,
            work: &mut report.work,
        };
        job.converge(&mut stage.sweeps, |i| self.of_row[i] == level);
        // Back to the response of the whole masses.
        for (row, &of_row) in job.rows.iter_mut().zip(&self.of_row) {
            if of_row == level {
                row.respond(&self.whole);
            }
        }
    }

    /// Gives all bodies their masses back.
    fn restore(&self, stage: &mut Scratch) {
        for (body, whole) in stage.bodies.iter_mut().zip(&self.whole) {
            body.inverse_mass = whole.inverse_mass;
            body.inverse_inertia = whole.inverse_inertia;
        }
    }
}
