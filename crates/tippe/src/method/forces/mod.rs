//! `forces`: impacts over the contact graph, then contact forces by complementarity, in a motion without penetration.
//!
//! Reads: Model, State.  Writes: State, Work, StepReport.
//! Called by: `step`.
//! Source: [Lecture] "Contact Force Approach", "Conservative Loop", "Constructing the LCP"; [Baraff94] for friction inside the problem.
//! docs/methods/forces.md says where we differ.

mod compliant;
mod drives;
mod finish;
mod impacts;
mod impulse_level;
mod locate;
mod modes;
mod params;
mod piece;
mod project;
mod slow_slip;
mod smooth;
mod support;
mod system;
mod trees;

pub use params::ForcesParams;
pub(crate) use support::refusal;

use crate::collide::{Course, FEATURE_MOTION, detect_on_course};
use crate::dynamics::{energy, integrate};
use crate::error::StepError;
use crate::math::Vec3;
use crate::model::Model;
use crate::report::{Phase, StepReport};
use crate::state::{BodyState, CompliantMemory, ContactKey, State};
use crate::step::check_finite;
use crate::work::Work;
use impacts::Impacts;
use locate::{Arrival, Locate};
use smooth::{Active, Part, Scene, Smooth};
use system::Mode;

/// Error of velocities in a piece, relative to the speeds at hand, beyond which it is divided [1].
const SMOOTH_TOLERANCE: f64 = 1e-6;
/// What a divided piece takes of the length that the estimated error allows [1].
const DIVIDED: f64 = 0.9;

/// Scratch of the method.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    smooth: Smooth,
    impacts: Impacts,
    locate: Locate,
    /// Contacts of the detection that touch now.
    touching: Vec<u32>,
    /// States at the start and at the end of the piece.
    start: Vec<BodyState>,
    end: Vec<BodyState>,
    /// Whether impacts were answered at the start of the piece.
    struck: bool,
    /// Gaps that the last piece of this step closed, by key: how fast the approach has grown over it [m/s²].
    closed: Vec<(ContactKey, f64)>,
    /// Bodies of islands in which a contact gives way, their motion and its substeps.
    marks: Vec<bool>,
    yields: bool,
    compliant: Smooth,
    substeps: compliant::Substeps,
    compliant_end: Vec<BodyState>,
    places: Vec<(u32, u32)>,
}

impl Scratch {
    /// The parts of the world that move apart from each other.
    fn parts(&self) -> impl Iterator<Item = &Smooth> {
        let compliant = self.yields.then_some(&self.compliant);
        std::iter::once(&self.smooth).chain(compliant)
    }
}

/// Advances the state by `h`, piece by piece from one event to the next.
pub(crate) fn step(
    model: &Model,
    params: &ForcesParams,
    h: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    if let Some(reason) = refusal(model) {
        return Err(StepError::Refused { reason });
    }
    work.records.clear();
    work.events.clear();
    let (begin, end) = (state.time, state.time + h);
    work.forces.closed.clear();
    let mut report = StepReport::default();
    let pieces = u64::from(params.pieces);
    for number in 1.. {
        if number > 2 * pieces {
            return Err(too_short(params, h, end - state.time));
        }
        let part = piece(model, params, h, (end, number >= pieces), state, work)?;
        report.append(&part);
        if state.time >= end {
            break;
        }
    }
    report.dt = h;
    state.time = begin + h;
    report.time = state.time;
    state.step_count += 1;
    state.substeps = report.work.substeps;
    work.tell(model, h);
    Ok(report)
}

/// Why a step ends whose pieces have to be so short that twice as many as there may be do not reach its end.
fn too_short(params: &ForcesParams, h: f64, left: f64) -> StepError {
    let reason = format!(
        "a step of {h} s needs pieces so short that {} of them leave {left:.1e} s; use shorter steps, or `sequential` or `iterative`",
        2 * u64::from(params.pieces)
    );
    StepError::Refused { reason }
}

/// The conservative loop once: detect, answer impacts, find contact forces, move up to what happens next, project.
fn piece(
    model: &Model,
    params: &ForcesParams,
    h: f64,
    (end, last): (f64, bool),
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    let t = state.time;
    let mut report = StepReport {
        dt: end - t,
        ..StepReport::default()
    };
    report.work.substeps = 1;
    let before = energy::total(model, state);
    work.balance.begin(model, state);
    work.forces.smooth.tree_error = None;

    // Detect: what touches, and what may on the way.
    look(model, params, state, end - t, work);
    check_laws(model, work)?;
    compliant::check_links(model, work)?;

    // Impacts: all that approaches at this instant, in passes over the graph. What was hit goes elsewhere: look there too.
    work.begins(Phase::Collide);
    if strike(model, params, h, state, &[], work, &mut report) {
        look(model, params, state, end - t, work);
        recall(work);
    }

    // Contact forces: which contacts vanish, stick or slide, and what they carry.
    work.begins(Phase::Rest);
    let jammed = forces(model, params, (h, end - t), state, work, &mut report);
    if !jammed.is_empty() && strike(model, params, h, state, &jammed, work, &mut report) {
        forces(model, params, (h, end - t), state, work, &mut report);
    }
    if work.forces.smooth.comes_back() {
        // What an impact elsewhere has lifted for less than `bounce_time` stays.
        project(model, params, state, work, &mut report);
        forces(model, params, (h, end - t), state, work, &mut report);
    }

    // Move along the smooth motion, back to the first event if there is one.
    work.begins(Phase::Move);
    travel(model, params, (end, last), state, work, &mut report)?;
    closed(params, state, report.dt, work);
    check_trees(model, work)?;
    check_finite(model, state, "move")?;

    // Project poses and velocities on what holds.
    work.begins(Phase::Project);
    project(model, params, state, work, &mut report);
    check_trees(model, work)?;
    state.set_substep(model, report.dt);
    work.begins(Phase::Finish);
    finish::run(model, before, state, work, &mut report);
    Ok(report)
}

/// Projects poses and velocities on what holds.
fn project(
    model: &Model,
    params: &ForcesParams,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let Work {
        forces,
        detection,
        balance,
        ..
    } = work;
    let mut projection = project::Projection {
        model,
        params,
        contacts: &detection.contacts,
        marks: &forces.marks,
        balance,
        report,
    };
    projection.run(Part::Rigid, &mut forces.smooth, state);
    if forces.yields {
        projection.run(Part::Compliant, &mut forces.compliant, state);
    }
}

/// Finds what touches or may touch on the way of the next `h` seconds, with the velocities of now.
fn look(model: &Model, params: &ForcesParams, state: &State, h: f64, work: &mut Work) {
    work.begins(Phase::Detect);
    work.predicted.clone_from(&state.bodies);
    for (i, body) in model.present() {
        let a = integrate::acceleration(model, body, &state.loads[i]);
        work.predicted[i] = integrate::advance(body, &state.bodies[i], a, state.time, h);
    }
    if !model.articulations.is_empty() {
        let Work {
            stage, predicted, ..
        } = work;
        stage.bodies.predict(model, state, h, predicted);
    }
    let course = Course {
        time: state.time,
        h,
        loads: &state.loads,
        held: &[],
        feature_motion: FEATURE_MOTION,
    };
    detect_on_course(
        &course,
        model,
        &state.bodies,
        &work.predicted,
        &mut work.detection,
    );
    let touching = &mut work.forces.touching;
    touching.clear();
    for (i, c) in work.detection.contacts.iter().enumerate() {
        let (a, b) = c.bodies();
        if !model.is_awake(a as u32) && !model.is_awake(b as u32) {
            continue;
        }
        if c.surface.compliance.gives_way() {
            continue;
        }
        let gap = c.at(&state.bodies[a], &state.bodies[b]).gap;
        let here = c.seen == 0.0 && gap >= c.point.gap - params.touch_tolerance;
        if here && gap <= params.touch_tolerance {
            touching.push(i as u32);
        }
    }
    let forces = &mut work.forces;
    forces.yields = compliant::mark(model, &work.detection.contacts, &mut forces.marks);
}

/// Ends the step where an articulation had no answer since the piece began.
fn check_trees(model: &Model, work: &Work) -> Result<(), StepError> {
    let Some((i, error)) = &work.forces.smooth.tree_error else {
        return Ok(());
    };
    Err(StepError::Articulation {
        name: model.articulation_name(*i as usize),
        reason: error.to_string(),
    })
}

/// Refuses a contact whose law says nothing about what touches.
fn check_laws(model: &Model, work: &Work) -> Result<(), StepError> {
    let Some(key) = compliant::lawless(&work.detection.contacts) else {
        return Ok(());
    };
    let [a, b] = [key.pair.body_a, key.pair.body_b].map(|slot| model.name(slot as usize));
    Err(StepError::Refused {
        reason: format!(
            "`{a}` and `{b}`: Hertz' law needs a round surface where they touch; state `stiffness` and `exponent` for this pair"
        ),
    })
}

/// Answers what approaches, and what friction jams. Says whether there was any.
fn strike(
    model: &Model,
    params: &ForcesParams,
    h: f64,
    state: &mut State,
    jammed: &[u32],
    work: &mut Work,
    report: &mut StepReport,
) -> bool {
    let Work {
        forces,
        detection,
        balance,
        ..
    } = work;
    let Scratch {
        smooth,
        impacts,
        touching,
        struck,
        closed,
        ..
    } = forces;
    let mut phase = impacts::Phase {
        params,
        scene: Scene {
            part: Part::All,
            marks: &[],
            model,
            loads: &state.loads,
            contacts: &detection.contacts,
        },
        bodies: &mut state.bodies,
        smooth,
        report,
        balance,
        joints: &state.joints,
        closed,
        carried: (&state.contacts, state.substep),
        h,
    };
    phase.smooth.load_trees(model, &state.articulations);
    *struck = impacts.run(&mut phase, touching, jammed, state.time);
    if *struck {
        smooth.store_trees(&mut state.articulations);
    }
    *struck
}

/// Contacts were found anew: impacts keep their contacts by key.
fn recall(work: &mut Work) {
    let Scratch { impacts, .. } = &mut work.forces;
    let contacts = &work.detection.contacts;
    impacts.recall(|key| contacts.binary_search_by_key(key, |c| c.key).ok());
}

/// Lists the contacts that touch and do not part, solves for their forces; returns those that friction jams.
fn forces(
    model: &Model,
    params: &ForcesParams,
    (h, left): (f64, f64),
    state: &State,
    work: &mut Work,
    report: &mut StepReport,
) -> Vec<u32> {
    let mut jammed = forces_of(Part::Rigid, model, params, (h, left), state, work, report);
    if work.forces.yields {
        jammed.extend(forces_of(
            Part::Compliant,
            model,
            params,
            (h, left),
            state,
            work,
            report,
        ));
    }
    jammed
}

/// The forces of one part of the world.
fn forces_of(
    part: Part,
    model: &Model,
    params: &ForcesParams,
    (h, left): (f64, f64),
    state: &State,
    work: &mut Work,
    report: &mut StepReport,
) -> Vec<u32> {
    let Work {
        forces, detection, ..
    } = work;
    let Scratch {
        smooth,
        compliant,
        substeps,
        marks,
        touching,
        struck,
        closed,
        ..
    } = forces;
    let scene = Scene {
        part,
        marks,
        model,
        loads: &state.loads,
        contacts: &detection.contacts,
    };
    let yields = part == Part::Compliant;
    let smooth = if yields { compliant } else { smooth };
    smooth.impulse_level = params.impulse_level && !yields;
    smooth.yield_to(params, &scene, &state.bodies, &state.compliant);
    substeps.keep(smooth);
    if yields {
        smooth.trees.clear();
    } else {
        smooth.load_trees(model, &state.articulations);
    }
    let lifted = if *struck { &closed[..] } else { &[] };
    let known = smooth.gather(params, &scene, touching, (state, *struck, lifted), h);
    let memory = (&state.joints[..], state.substep, *struck);
    smooth.number(&scene);
    smooth.gather_drives(params, &scene, &state.bodies, memory, h);
    smooth.pose(&scene, &state.bodies, state.time);
    if smooth.let_go(params.bounce_time * h) {
        smooth.number(&scene);
        smooth.pose(&scene, &state.bodies, state.time);
    }
    let warm = params.warm_start && known && modes::warm(&mut smooth.system);
    // Impulses of the step answer those too.
    let jammed = if smooth.impulse_level {
        Vec::new()
    } else {
        smooth.jammed()
    };
    if !warm && jammed.is_empty() {
        smooth.pose(&scene, &state.bodies, state.time);
        let solved = modes::find(&mut smooth.system, &mut smooth.solver);
        report.work.newton_steps += solved.newton_steps;
        report.work.caps_hit += u32::from(!solved.met);
    }
    report.work.newton_steps += std::mem::take(&mut smooth.system.factorisations);
    smooth.keep_forces();
    smooth.keep_modes();
    if jammed.is_empty() && !smooth.impulse_level && !yields {
        smooth.foresee(&scene, &state.bodies, state.time, left);
    }
    jammed
}

/// Moves up to the end of the step or to the first event; the `last` pieces go on whatever happens, as far as what acts can be followed.
fn travel(
    model: &Model,
    params: &ForcesParams,
    (end, last): (f64, bool),
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) -> Result<(), StepError> {
    let Work {
        forces, detection, ..
    } = work;
    let Scratch {
        smooth,
        compliant,
        substeps,
        compliant_end,
        marks,
        yields,
        locate,
        start,
        end: arrived,
        ..
    } = forces;
    let scene = Scene {
        part: Part::Rigid,
        marks,
        model,
        loads: &state.loads,
        contacts: &detection.contacts,
    };
    let mut left = (end - state.time).min(smooth.longest(&scene));
    left = left.min(stiff_step(model, params, smooth, state)?);
    start.clone_from(&state.bodies);
    // Islands that give way come first: where one of their contacts parts, everybody looks again.
    let yielding = Scene {
        part: Part::Compliant,
        ..scene
    };
    let mut step = state.compliant.step;
    let mut bend = |left: f64, report: &mut StepReport| -> Result<f64, StepError> {
        step = state.compliant.step;
        let span = (state.time, left);
        let done = substeps.advance(
            params,
            &yielding,
            compliant,
            start,
            span,
            &mut step,
            compliant_end,
        )?;
        report.work.newton_steps += std::mem::take(&mut compliant.system.factorisations);
        report.work.sweeps += substeps.substeps;
        Ok(done)
    };
    if *yields {
        left = bend(left, report)?;
    }
    if last {
        // No more pieces: what happens now is answered too late.
        report.work.caps_hit += 1;
    }
    let span = (state.time, left);
    let arrival = follow(
        params,
        &scene,
        (smooth, locate),
        start,
        (span, last),
        arrived,
    );
    report.dt = arrival.length;
    report.work.caps_hit += u32::from(arrival.lost) + u32::from(arrival.capped);
    if *yields && report.dt < left {
        bend(report.dt, report)?;
    }
    report.work.caps_hit += std::mem::take(&mut smooth.open);
    report.work.newton_steps += std::mem::take(&mut smooth.system.factorisations);
    state.bodies.clone_from(arrived);
    if *yields {
        for (slot, _) in marks.iter().enumerate().filter(|(_, m)| **m) {
            state.bodies[slot] = compliant_end[slot];
        }
        let (bodies, touch) = (&state.bodies, params.touch_tolerance);
        compliant::remember(&yielding, compliant, bodies, &mut state.compliant, touch);
        state.compliant.step = step;
    } else {
        state.compliant = CompliantMemory::default();
    }
    state.time = if report.dt == end - state.time {
        end
    } else {
        state.time + report.dt
    };
    Ok(())
}

/// Goes on for `left` at most, to the first event if it is not the `last` piece, and no farther than the stages follow the motion: where their
/// error is larger, the piece is divided, down to the part of a step that `pieces` allows.
fn follow(
    params: &ForcesParams,
    scene: &Scene<'_>,
    (smooth, locate): (&mut Smooth, &mut Locate),
    start: &[BodyState],
    ((t, left), last): ((f64, f64), bool),
    end: &mut Vec<BodyState>,
) -> Arrival {
    let shortest = smooth.step / f64::from(params.pieces);
    let mut span = left;
    smooth.keep_first();
    loop {
        smooth.come_back();
        let arrival = if last {
            let _ = smooth.run(scene, start, t, span, end);
            Arrival::of(span)
        } else {
            locate.advance(params, scene, smooth, start, (t, span), end)
        };
        let h = arrival.length;
        let error = smooth.error(scene.model, start, h, params.velocity_tolerance);
        if arrival.lost || error <= SMOOTH_TOLERANCE || h <= shortest {
            return arrival;
        }
        // Each time shorter by a third at least, so that this ends.
        let part = DIVIDED * libm::pow(SMOOTH_TOLERANCE / error, 0.2);
        span = (h * part.clamp(0.1, 0.7)).max(shortest);
    }
}

/// Notes the gaps that the piece of length `dt` has closed, with how fast their approach has grown over it.
fn closed(params: &ForcesParams, state: &State, dt: f64, work: &mut Work) {
    let Work {
        forces, detection, ..
    } = work;
    forces.closed.clear();
    let mut carries = vec![false; detection.contacts.len()];
    for active in forces.parts().flat_map(|p| &p.active) {
        carries[active.contact as usize] = active.mode != Mode::Open;
    }
    for (c, carries) in detection.contacts.iter().zip(carries) {
        let (a, b) = c.bodies();
        let speed = |bodies: &[BodyState]| {
            let at = c.at(&bodies[a], &bodies[b]);
            let point = (at.point_a + at.point_b) * 0.5;
            let u = bodies[b].point_velocity(point) - bodies[a].point_velocity(point);
            (at.gap, at.normal.dot(u))
        };
        let (gap, after) = speed(&state.bodies);
        if !carries && gap <= params.touch_tolerance && after < 0.0 {
            let (_, before) = speed(&forces.start);
            forces.closed.push((c.key, (before - after) / dt));
        }
    }
}

/// Longest piece that servos, and friction and springs in the joints of trees allow; refused where a step would take more pieces than
/// there may be.
fn stiff_step(
    model: &Model,
    params: &ForcesParams,
    smooth: &Smooth,
    state: &State,
) -> Result<f64, StepError> {
    let servos = smooth.longest_of_servos(model, &state.bodies);
    let passive = smooth.longest_of_passive(model);
    for (longest, what) in [
        (servos, "a servo is"),
        (passive, "friction or springs in the joints of a tree are"),
    ] {
        if longest * f64::from(params.pieces) < smooth.step {
            return Err(StepError::Refused {
                reason: format!(
                    "{what} too stiff for explicit forces: pieces of {longest:.1e} s are allowed, and {} of a step; use `sequential` or `iterative`",
                    params.pieces
                ),
            });
        }
    }
    Ok(servos.min(passive))
}

impl Smooth {
    /// Lists what touches and does not part, with the forces and modes of the last step. Says whether all of it was known.
    fn gather(
        &mut self,
        params: &ForcesParams,
        scene: &Scene<'_>,
        touching: &[u32],
        (state, struck, closed): (&State, bool, &[(ContactKey, f64)]),
        h: f64,
    ) -> bool {
        let mut known = true;
        let stick_below = params.slip_tolerance * scene.model.gravity.length() * h;
        let to_force = if state.substep > 0.0 {
            1.0 / state.substep
        } else {
            0.0
        };
        self.active.clear();
        for &contact in touching {
            let c = &scene.contacts[contact as usize];
            if !scene.has(c) {
                continue;
            }
            let (a, b) = c.bodies();
            let at = c.at(&state.bodies[a], &state.bodies[b]);
            let point = (at.point_a + at.point_b) * 0.5;
            let u = state.bodies[b].point_velocity(point) - state.bodies[a].point_velocity(point);
            let u_n = at.normal.dot(u);
            let parts = u_n > params.velocity_tolerance;
            let slip = u - at.normal * u_n;
            let found = state.contacts.binary_search_by_key(&c.key, |m| m.key);
            let memory = found.ok().map(|i| &state.contacts[i]);
            // What an impact lifts may come back at once, by what has closed its gap or has pressed it together.
            let pull = closed.binary_search_by_key(&c.key, |x| x.0);
            let pull = pull.map_or(0.0, |i| closed[i].1);
            let back = 2.0 * u_n < pull * params.bounce_time * h;
            if parts && !back && !(struck && memory.is_some()) {
                continue;
            }
            known &= memory.is_some();
            let size = slip.length();
            let slips = size > stick_below.max(params.velocity_tolerance);
            let slides = slips || c.surface.slip_speed > 0.0 || c.surface.friction_static == 0.0;
            let force = memory.map_or(Vec3::ZERO, |m| {
                (at.normal * m.first.normal + m.first.tangential) * to_force
            });
            self.active.push(Active {
                contact,
                mode: if !slides {
                    Mode::Stick
                } else if slips {
                    Mode::Slide(slip / size)
                } else {
                    Mode::Slide(Vec3::ZERO)
                },
                force,
                frozen: false,
                parts: if parts && !back { u_n } else { 0.0 },
                lifted: parts,
            });
        }
        self.joint_forces.clear();
        for (i, joint) in scene.model.present_joints() {
            if !scene.holds(joint) {
                continue;
            }
            self.joint_forces
                .push(state.joints[i].first.map(|f| f * to_force));
        }
        known
    }

    /// Lets go of contacts and limits that part for longer than `flight` by what has pressed them together. To be called with a posed system;
    /// says whether there were any.
    fn let_go(&mut self, flight: f64) -> bool {
        let system = &self.system;
        let goes = |(active, touch): (&Active, &system::Touch)| {
            let force = active.force.dot(touch.frame[0]);
            let pull = force * system.normal_response(touch);
            active.parts > 0.0 && 2.0 * active.parts >= pull * flight
        };
        let mut gone: Vec<bool> = self.active.iter().zip(&system.touches).map(goes).collect();
        let count = gone.len();
        gone.resize(count + self.drives.len(), false);
        for hold in system.holds.iter().filter(|h| h.row >= drives::DRIVES) {
            let k = (hold.row - drives::DRIVES) as usize;
            let pull = hold.force.abs() * system.hold_response(hold);
            let parts = self.drives[k].parts;
            gone[count + k] = parts > 0.0 && 2.0 * parts >= pull * flight;
        }
        let mut next = gone.iter();
        let mut stays = || next.next().is_some_and(|gone| !gone);
        self.active.retain(|_| stays());
        self.drives.retain(|_| stays());
        gone.contains(&true)
    }

    /// Whether a contact or a limit that parts carries load.
    fn comes_back(&self) -> bool {
        let contacts = self.active.iter().any(|x| x.lifted && x.mode != Mode::Open);
        let held = |d: &drives::Drive| d.parts > 0.0 && d.bound == system::Bound::Held;
        contacts || self.drives.iter().any(held)
    }

    /// Contacts that slip so that friction presses them together harder than they part (n·K(n − μ d) ≤ 0) and that are pressed: no finite
    /// force answers them. To be called with a posed system.
    fn jammed(&self) -> Vec<u32> {
        let mut jammed = Vec::new();
        for (touch, active) in self.system.touches.iter().zip(&self.active) {
            let Mode::Slide(d) = touch.mode else {
                continue;
            };
            let response = self.system.response(touch);
            let along = touch.along(d * touch.friction);
            let k = response.x_axis;
            if k.x - k.y * along[1] - k.z * along[2] > 0.0 {
                continue;
            }
            let free: Vec<_> = self.system.nodes.iter().map(|n| n.free).collect();
            if self.system.contact_rate(touch, &free)[0] < 0.0 {
                jammed.push(active.contact);
            }
        }
        jammed
    }
}
