//! Targets of contacts in the two solves: positions at the end of the substep first, velocities there second.
//!
//! Reads: Model, State, Detection, predicted states.  Writes: contact rows, step contacts.
//! Called by: the methods that step in two stages.
//! Source: docs/methods/contract.md, "Time and velocity"; docs/methods/two-stage.md, "Impact time inside the step".
//! Letters: u = u_B − u_A, n from A to B.

use super::bounce::{Bounce, bounce};
use super::gather::{StepContact, load_bodies};
use super::{Scratch, Settings, book, joints, predict, servos, springs};
use crate::collide::{Contact, Features, Placement};
use crate::dynamics::integrate;
use crate::dynamics::joint::rotation_vector;
use crate::math::Vec3;
use crate::model::{BodyKind, Model};
use crate::solver::contact::ContactRow;
use crate::solver::ends::{Bodies, SolverBody, acting_point};
use crate::state::{BodyState, State};
use crate::work::Work;

/// Gap at the end of the step under which a contact that bore load still counts as touching, relative to the bodies' reach [1].
const TARGETS_TOUCHING: f64 = 1e-8;
/// Part of the way of a fast pair in the step that rounding may show as acceleration [1].
const TARGETS_ROUNDING: f64 = 1e-11;
/// Slip above which a new contact starts as sliding, relative to 1 m/s [m/s].
const SLIDING: f64 = 1e-9;
/// When a contact that bore load is at rest, so that restitution plays no part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestLimits {
    /// Fastest it may approach or part [m/s].
    pub speed: f64,
    /// Least load it must have borne in the first half, as a change of velocity [m/s].
    pub load: f64,
    /// Speed of arrival below which no contact bounces, whatever it bore [m/s].
    pub slow: f64,
    /// What gravity brings in a step where contacts that die out rest; 0 where they are followed [m/s].
    pub fall: f64,
}
impl RestLimits {
    /// Speed of arrival below which a contact does not bounce [m/s]. One that the last step knew comes to rest if it is slower than what half
    /// a step of gravity brings and its bounces, each e times as long as the one before, would die out within two steps.
    pub(crate) fn slow_at(&self, step_contact: &StepContact, restitution: f64) -> f64 {
        if !step_contact.known || self.fall == 0.0 {
            return self.slow;
        }
        let dies_out = self.fall * (1.0 - restitution) / restitution;
        self.slow.max(dies_out.min(0.5 * self.fall))
    }

    /// Whether a contact with this row and normal velocity is at rest.
    pub(crate) fn holds(&self, step_contact: &StepContact, row: &ContactRow, u_n: f64) -> bool {
        step_contact.loaded
            && u_n.abs() <= self.speed
            && step_contact.memory.first.normal * row.response_n() >= self.load
    }
}
/// Rows at t: aim at positions at t + h, and at zero mean slip over the step.
pub(crate) fn first_rows(
    model: &Model,
    settings: &Settings,
    resting: &RestLimits,
    state: &State,
    work: &mut Work,
    h: f64,
) {
    let bodies = &mut work.stage.bodies;
    load_bodies(model, state, &work.detection.contacts, bodies);
    predict::respond_in_media(model, h, &mut work.stage);
    let Scratch {
        bodies,
        step_contacts,
        rows,
        supported,
        stray,
        unkicked,
        ..
    } = &mut work.stage;
    book::find_stray(model, &state.bodies, &work.predicted, h, stray);
    rows.clear();
    let gravity = model.gravity.length();
    for step_contact in step_contacts.iter_mut() {
        let c = &work.detection.contacts[step_contact.contact as usize];
        let (a, b) = c.bodies();
        let mut row = new_row(c, &placement(c), &state.bodies, bodies);
        let u = row.velocity(bodies);
        step_contact.velocity_start = u;
        step_contact.velocity_before = u;
        step_contact.spin_before = row.spin(bodies);
        let u_n = u.dot(row.n);
        // After an impact in flight the two stages begin where it was.
        let since = work.flights.since((a, b));

        // Where the contact would be, untouched.
        let (then_a, then_b) = (&work.predicted[a], &work.predicted[b]);
        let then = c.at(then_a, then_b);
        let points = acting_points(c, bodies, &then);
        let u_then = then_b.point_velocity(points.1) - then_a.point_velocity(points.0);

        // Normal: gap(t+h) = gap_free(t+h) + h (u_n⁺ − u_n) ≥ base.
        step_contact.goal = step_contact.base;
        row.target_n = u_n + (step_contact.base - then.gap) / h;

        // Tangential: ½ [u_t(t⁺) + u_t(t+h)⁻] = 0, or the slip before the impact of a contact that arrives.
        if !resting.holds(step_contact, &row, u_n) && !work.flights.is_answered(c) {
            // A fast pair is followed from where it was seen, all others from the start of the step.
            let offset = since.unwrap_or(c.seen);
            let (gap, u_n, left) = if let Some(since) = since {
                let u_n = u_n + relative_acceleration(model, state, c).dot(row.n) * since;
                (c.point.gap - step_contact.base, u_n, h - since)
            } else if c.seen > 0.0 {
                let (gap, u_n) = seen(model, state, bodies, c);
                (gap.max(0.0), u_n, h - c.seen)
            } else {
                (c.point.gap - step_contact.base, u_n, h)
            };
            // Free bodies fall during the step; bodies that others hold up do not. In the short rest after a fast arrival rounding is no fall.
            let fall = then.gap - step_contact.base - gap - u_n * left;
            let rounding = offset > 0.0 && fall.abs() <= TARGETS_ROUNDING * u_n.abs() * h;
            let falling = if supported[a] || supported[b] || left <= 0.0 || rounding {
                0.0
            } else {
                2.0 * fall / (left * left)
            };
            step_contact.bounce = bounce(gap, u_n, falling, c.surface.restitution, left)
                .filter(|b| b.speed >= resting.slow_at(step_contact, c.surface.restitution))
                .map(|b| Bounce {
                    time: b.time + offset,
                    ..b
                });
        }
        let arrival = step_contact.bounce.map_or(0.0, |b| b.speed);
        let impact = since.map_or(0.0, |_| step_contact.impact_speed);
        step_contact.hit =
            arrival.max(impact) > 2.0 * gravity * h + settings.solve.velocity_tolerance;
        let before_impact = step_contact.bounce.map_or(since.unwrap_or(0.0), |b| b.time) / h;
        let (u_t, u_t_then) = (row.tangential(u), row.tangential(u_then));
        step_contact.slip_before = (u - row.n * u_n) * before_impact;
        for k in 0..2 {
            row.target_t[k] = 0.5 * (u_t[k] - u_t_then[k]) + before_impact * u_t[k];
        }
        if row.linked {
            let mean = link_slip(
                model,
                &row,
                [a, b],
                bodies,
                &state.bodies,
                &work.predicted,
                points,
                h,
            );
            let slip = row.tangential(u - mean);
            row.target_t = [0, 1].map(|k| slip[k] + before_impact * u_t[k]);
        }
        row.sliding = if step_contact.known {
            step_contact.memory.sliding
        } else {
            // Kicks are not slip: what rests, sticks until the solve says otherwise.
            let slip = u_t_start(c, &row, unkicked);
            slip[0] * slip[0] + slip[1] * slip[1] > SLIDING * SLIDING
        };
        rows.push(row);
    }
    let warm = settings.warm_start;
    joints::first_blocks(model, state, &work.predicted, &mut work.stage, h, warm);
    springs::note_before(&mut work.stage);
    servos::answer(&mut work.stage);
    let Scratch {
        bodies,
        step_contacts,
        rows,
        ..
    } = &mut work.stage;
    if settings.warm_start {
        for (row, step_contact) in rows.iter_mut().zip(step_contacts.iter()) {
            row.warm_start(&step_contact.memory.first, bodies);
        }
        joints::warm_first(state, &mut work.stage, h);
    }
}
/// Slip of a contact before the half kicks of the step.
fn u_t_start(c: &Contact, row: &ContactRow, unkicked: &[BodyState]) -> [f64; 2] {
    let (a, b) = c.bodies();
    let (a, b) = (&unkicked[a], &unkicked[b]);
    let u_a = a.velocity + a.angular_velocity.cross(row.lever_a());
    let u_b = b.velocity + b.angular_velocity.cross(row.lever_b());
    row.tangential(u_b - u_a)
}
/// Turn in a step beyond which its rotation vector says too little of its course [rad].
const TARGETS_TURN_MAX: f64 = 2.0;
/// Mean velocity of B relative to A at a contact with an end on a link, by the way that the touching points make in the step. Forces
/// that fade within the step (joint friction) make the ends of the step a poor mean; and what is counted like the gaps and the limits
/// agrees with them where links are wedged between more of them than they have freedoms. The way of a point is that of the centre of
/// mass and the turn on the mean of its levers at both ends of the step, ∫ω × r dt to third order in h: a disk that rolls on its rim
/// touches with another point at the end. An end that is no link counts by its velocities at both ends of the step, as everywhere else.
pub(crate) fn link_slip(
    model: &Model,
    row: &ContactRow,
    [a, b]: [usize; 2],
    bodies: &[SolverBody],
    now: &[BodyState],
    then: &[BodyState],
    points: (Vec3, Vec3),
    h: f64,
) -> Vec3 {
    let way = |i: usize, lever: Vec3, point: Vec3| {
        let (s, e) = (&now[i], &then[i]);
        let body = model.bodies[i].as_ref();
        if !body.is_some_and(|b| matches!(b.kind, BodyKind::Link { .. })) {
            let u = bodies[i].v + bodies[i].w.cross(lever);
            return 0.5 * (u + e.point_velocity(point)) * h;
        }
        let mean = 0.5 * (bodies[i].w + e.angular_velocity) * h;
        let turn = if mean.length() < TARGETS_TURN_MAX {
            rotation_vector(e.rotation * s.rotation.conjugate())
        } else {
            mean
        };
        let then = point - e.position;
        e.position - s.position + turn.cross(0.5 * (lever + then))
    };
    (way(b, row.lever_b(), points.1) - way(a, row.lever_a(), points.0)) / h
}
/// Acceleration of B relative to A in free flight.
fn relative_acceleration(model: &Model, state: &State, c: &Contact) -> Vec3 {
    let of = |slot: usize| {
        let body = model.bodies[slot].as_ref();
        body.map_or(Vec3::ZERO, |b| {
            integrate::acceleration(model, b, &state.loads[slot])
        })
    };
    let (a, b) = c.bodies();
    of(b) - of(a)
}
/// Gap and normal velocity of a contact at the time at which its fast pair was seen.
fn seen(model: &Model, state: &State, bodies: &[SolverBody], c: &Contact) -> (f64, f64) {
    let at = |slot: usize| match &model.bodies[slot] {
        Some(body) => {
            let a = integrate::acceleration(model, body, &state.loads[slot]);
            integrate::advance(body, &state.bodies[slot], a, state.time, c.seen)
        }
        None => BodyState::REST,
    };
    let (i, j) = c.bodies();
    let (a, b) = (at(i), at(j));
    let place = c.at(&a, &b);
    let points = acting_points(c, bodies, &place);
    let u = b.point_velocity(points.1) - a.point_velocity(points.0);
    (place.gap, u.dot(place.normal))
}
/// Rows at t + h over contacts that rested or bore load in this step: no normal velocity into the contact, no slip.
pub(crate) fn second_rows(
    model: &Model,
    settings: &Settings,
    state: &State,
    work: &mut Work,
    h: f64,
) {
    let Scratch {
        bodies,
        step_contacts,
        rows,
        ..
    } = &mut work.stage;
    load_bodies(model, state, &work.detection.contacts, bodies);
    for (step_contact, row) in step_contacts.iter_mut().zip(rows.iter_mut()) {
        let c = &work.detection.contacts[step_contact.contact as usize];
        let (a, b) = c.bodies();
        let place = c.at(&state.bodies[a], &state.bodies[b]);
        step_contact.gap_end = if step_contact.gone {
            place.gap.max(0.0)
        } else {
            place.gap
        };
        step_contact.point_end = 0.5 * (place.point_a + place.point_b);
        step_contact.first = row.impulse();
        step_contact.memory.first = row.memory();
        let size = reach(model, a).min(reach(model, b));
        step_contact.projected = row.p_n > 0.0
            || (step_contact.loaded && place.gap <= step_contact.base + TARGETS_TOUCHING * size);
        if !step_contact.projected && step_contact.impact == Vec3::ZERO {
            row.clear();
            continue;
        }
        let sliding = row.sliding;
        *row = new_row(c, &place, &state.bodies, bodies);
        row.sliding = sliding;
        if let (true, Some(b)) = (step_contact.struck, step_contact.bounce) {
            row.target_n = b.velocity_end;
        }
        // At rest each half bears half the load: what a new contact bore in the first is the best guess for the second.
        if !step_contact.known && !step_contact.hit {
            step_contact.memory.second = step_contact.memory.first;
        }
        step_contact.velocity_before = row.velocity(bodies);
        step_contact.spin_before = row.spin(bodies);
    }
    joints::second_blocks(model, state, &mut work.stage, h);
    springs::note_before(&mut work.stage);
    servos::answer(&mut work.stage);
    let Scratch {
        bodies,
        step_contacts,
        rows,
        ..
    } = &mut work.stage;
    if settings.warm_start {
        for (row, step_contact) in rows.iter_mut().zip(step_contacts.iter()) {
            if step_contact.projected {
                row.warm_start(&step_contact.memory.second, bodies);
            }
        }
        joints::warm_second(state, &mut work.stage, h);
    }
}
/// The row of a contact at a placement.
pub(crate) fn new_row(
    c: &Contact,
    place: &Placement,
    states: &[BodyState],
    bodies: &Bodies,
) -> ContactRow {
    let (a, b) = c.bodies();
    let centers = (states[a].position, states[b].position);
    let points = acting_points(c, bodies, place);
    let levers = (points.0 - centers.0, points.1 - centers.1);
    ContactRow::with_levers(
        (a as u32, b as u32),
        place.normal,
        levers,
        bodies,
        &c.surface,
        c.point.rolling_radius,
    )
}
/// Where a contact acts on its two bodies: at one point, unless the pair passes too fast to follow. Then its points come together only on the
/// way, and each body has its own.
pub(crate) fn acting_points(c: &Contact, bodies: &[SolverBody], place: &Placement) -> (Vec3, Vec3) {
    if matches!(c.point.features, Features::Tangent { .. }) {
        return (place.point_a, place.point_b);
    }
    let point = acting_point(bodies, c.bodies(), place);
    (point, point)
}
/// Where detection found a contact.
pub(crate) fn placement(c: &Contact) -> Placement {
    let p = &c.point;
    Placement {
        normal: p.normal,
        point_a: p.point_a,
        point_b: p.point_b,
        gap: p.gap,
    }
}
fn reach(model: &Model, slot: usize) -> f64 {
    model.bodies[slot].as_ref().map_or(f64::INFINITY, |b| {
        if b.is_awake() { b.reach } else { f64::INFINITY }
    })
}
