//! `sequential`: accumulated impulses with warm start, on predicted motion, then a velocity projection.
//!
//! Reads: Model, State.  Writes: State, Work, StepReport.
//! Called by: `step`.
//! Source: [Lecture] "Sequential Impulses", [Catto05]; the two halves of a step as in docs/methods.md, "Time and velocity".

mod solve;

use crate::dynamics::energy;
use crate::error::StepError;
use crate::model::Model;
use crate::output::finish;
use crate::report::{Phase, SolverWork, StepReport};
use crate::solver::choose;
use crate::state::State;
use crate::step::{check_finite, check_trees};
use crate::two_stage::joint_network::OPEN_MAX;
use crate::two_stage::predict::{advance, kick};
use crate::two_stage::rest::Resting;
use crate::two_stage::{Part, Settings, depenetrate, gather, predict, substeps, targets};
use crate::work::Work;

/// Parameters of `sequential`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequentialParams {
    /// Most sweeps (forward and backward) of an island before it is solved directly or left as it is [1]. More: stiffer piles, slower.
    pub sweeps: u32,
    /// Most rounds of a direct solve [1].
    pub direct_rounds: u32,
    /// Block products that the direct solve of an island may cost for each of its contacts [1].
    pub direct_cost: f64,
    /// Block products that the direct solve of an island may cost when all its contacts are new [1].
    pub direct_cost_cold: f64,
    /// Change of velocity in a sweep below which an island counts as solved [m/s].
    pub velocity_tolerance: f64,
    /// Part of the remaining depth that the pose-only pass removes in one step [1].
    pub depenetration: f64,
    /// Depth the pose-only pass leaves alone [m].
    pub slop: f64,
    /// Start each solve from the impulses of the last step.
    pub warm_start: bool,
    /// Visit the contacts of every sweep in an order drawn with this seed; `None` goes forward and backward in turn.
    pub shuffle_seed: Option<u64>,
    /// Distance [m] or angle [rad] to which joints are brought at the end of the step.
    pub joint_tolerance: f64,
    /// Most parts that a step is divided into where joints need it [1]. Fewer: faster, and joints give way or swing wrongly where they pull hard.
    pub parts_max: u32,
}

impl Default for SequentialParams {
    fn default() -> Self {
        Self {
            sweeps: 10,
            direct_rounds: 30,
            direct_cost: 8.0,
            direct_cost_cold: 2e5,
            velocity_tolerance: 1e-8,
            depenetration: 0.2,
            slop: 0.0,
            warm_start: true,
            shuffle_seed: None,
            joint_tolerance: 1e-10,
            parts_max: 32,
        }
    }
}

impl SequentialParams {
    /// Checks every number for sense.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn check(&self) -> Result<(), crate::BuildError> {
        use crate::BuildError;
        if self.sweeps == 0 {
            return Err(BuildError::new("sweeps", "must be at least 1"));
        }
        if !(1..=1024).contains(&self.parts_max) {
            return Err(BuildError::new("parts_max", "must be between 1 and 1024"));
        }
        if !(self.velocity_tolerance.is_finite() && self.velocity_tolerance >= 0.0) {
            return Err(BuildError::new(
                "velocity_tolerance",
                "must be finite and not negative",
            ));
        }
        if !(0.0..=1.0).contains(&self.depenetration) {
            return Err(BuildError::new("depenetration", "must be between 0 and 1"));
        }
        let not_negative = [
            ("joint_tolerance", self.joint_tolerance),
            ("direct_cost", self.direct_cost),
            ("direct_cost_cold", self.direct_cost_cold),
        ];
        for (field, value) in not_negative {
            if !(value.is_finite() && value >= 0.0) {
                return Err(BuildError::new(field, "must be finite and not negative"));
            }
        }
        if !(self.slop.is_finite() && self.slop >= 0.0) {
            return Err(BuildError::new("slop", "must be finite and not negative"));
        }
        Ok(())
    }

    /// What the shared phases need of them.
    const fn settings(&self) -> Settings {
        Settings {
            solve: choose::Settings {
                sweeps: self.sweeps,
                sweeps_last: 0,
                direct_rounds: self.direct_rounds,
                newton_steps: NEWTON_STEPS,
                direct_tries: u32::MAX,
                cone_rounds: 0,
                velocity_tolerance: self.velocity_tolerance,
                shuffle_seed: self.shuffle_seed,
            },
            depenetration: self.depenetration,
            slop: self.slop,
            warm_start: self.warm_start,
        }
    }
}

/// Newton steps of a direct solve of a large island: one that has not arrived by then rarely does, and a step costs as much as fifty sweeps.
const NEWTON_STEPS: u32 = 20;
/// Most parts that a step is divided into where a net opens too far.
const STRETCH_PARTS: u32 = 8;
/// Most parts of a step that end where a fast body has bounced.
const BOUNCES_MAX: u32 = 64;

/// Advances the state by `h`, in parts where the joints need it: as many as their stiffness asks for, twice as many where they did not
/// meet. A part ends early where a body has bounced and goes on fast; the rest of it follows. What the step started from is in
/// `work.backup`.
pub(crate) fn step(
    model: &Model,
    params: &SequentialParams,
    h: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    let mut parts = substeps::substeps(model, state, h).min(params.parts_max);
    // Work of attempts that were given up counts too.
    let mut spent = SolverWork::default();
    work.stage.tried = false;
    work.stage.net_cost = Some(params.direct_cost * solve::LINK_COST);
    work.hold.begin(model, state, h);
    loop {
        if parts > 1 || params.shuffle_seed.is_some() {
            work.hold.release_all();
        }
        let mut report = StepReport::default();
        let mut read_out = std::mem::take(&mut work.stage.read_out);
        read_out.clear();
        let mut met = true;
        let mut bounces = 0;
        let stretch_parts = STRETCH_PARTS.min(params.parts_max);
        let mut stretched = false;
        'parts: for _ in 0..parts {
            let mut left = h / f64::from(parts);
            while left > 0.0 {
                let may_open = if parts < stretch_parts {
                    OPEN_MAX
                } else {
                    f64::INFINITY
                };
                let may_stop = bounces < BOUNCES_MAX;
                let part = substep(model, params, left, may_stop, may_open, state, work)?;
                stretched |= work.stage.stretch > OPEN_MAX;
                if stretched && parts < stretch_parts {
                    spent.add(&SolverWork {
                        substeps: 0,
                        ..part.work
                    });
                    break 'parts;
                }
                left = if part.dt < left { left - part.dt } else { 0.0 };
                bounces += u32::from(left > 0.0);
                report.append(&part);
                read_out.append(work, part.dt / h);
                // Did they meet, and was the guess of their stiffness right?
                met &= work.stage.met && substeps::turns(model, state, h) <= 2.0 * f64::from(parts);
                if !met && parts < params.parts_max {
                    break 'parts;
                }
            }
        }
        let divides = stretched && parts < stretch_parts;
        if (met || parts >= params.parts_max) && !divides {
            report.dt = h;
            state.time = work.backup.time + h;
            report.time = state.time;
            state.step_count = work.backup.step_count + 1;
            state.substeps = parts;
            spent.caps_hit += u32::from(!met) + u32::from(stretched);
            report.work.add(&spent);
            read_out.finish(h, work);
            work.stage.read_out = read_out;
            Resting::report(work, &mut report);
            if report.work.substeps == 1 && params.shuffle_seed.is_none() {
                Resting::keep(model, params.velocity_tolerance, state, work);
                finish::account_again(model, state, &mut report);
            }
            return Ok(report);
        }
        spent.add(&SolverWork {
            substeps: 0,
            ..report.work
        });
        work.stage.read_out = read_out;
        let loads = std::mem::take(&mut state.loads);
        state.copy_from(&work.backup);
        state.loads = loads;
        // Joints that contradict each other never meet: rather than in ever shorter parts, they are tried once more little by little.
        if !divides && substeps::start_apart(model, state) && !work.stage.tried {
            work.stage.tried = true;
        } else {
            parts *= 2;
        }
    }
}

/// Advances the state in one go, by `h` or, if it `may_stop`, by less where a fast body has bounced; the report says by how much. It is given up after
/// the first half if a net is seen to open by more than `may_open`; the stretch among the scratch says so, and the state is of no use.
fn substep(
    model: &Model,
    params: &SequentialParams,
    h: f64,
    may_stop: bool,
    may_open: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    let mut report = StepReport::default();
    report.work.substeps = 1;
    work.stage.met = true;
    let settings = &params.settings();
    let before = energy::total(model, state);
    let t = state.time;

    work.begins(Phase::Detect);
    // Half a kick at t, then detect, on the way from here to where the bodies would go untouched.
    let h = predict::begin(model, h, may_stop, state, work, &mut report);

    // Collide and rest: impulses at t that make positions right at t + h.
    work.begins(Phase::Collide);
    gather::gather(model, state, work, h);
    let resting = targets::RestLimits {
        speed: 0.5 * model.gravity.length() * h + params.velocity_tolerance,
        load: 0.0,
        slow: 0.0,
    };
    targets::first_rows(model, settings, &resting, state, work, h);
    work.begins(Phase::Rest);
    solve::first(model, params, state, work, &mut report);
    let nets = work.stage.parts.iter().filter_map(Part::as_net);
    let foreseen = nets.map(|n| n.left.foreseen).fold(0.0, f64::max);
    if foreseen > may_open {
        work.stage.stretch = foreseen;
        return Ok(report);
    }

    work.begins(Phase::Move);
    // Move along the free motion that starts with the new velocities.
    advance(model, state, h, work, &mut report.energy);
    check_trees(model, &work.stage.bodies)?;
    check_finite(model, state, "move")?;
    depenetrate::run(model, settings, state, work, &mut report);

    work.begins(Phase::Project);
    // Half a kick at t + h, then project: velocities right at t + h.
    kick(model, state, 0.5 * h, &mut report.energy);
    targets::second_rows(model, settings, state, work, h);
    solve::second(model, params, state, work, &mut report);

    work.begins(Phase::Finish);
    state.time = t + h;
    state.set_part(model, h);
    finish::run(model, before, state, work, &mut report);
    check_trees(model, &work.stage.bodies)?;
    Ok(report)
}
