//! Impacts in flight: an island that nothing holds up is followed through the substep from impact to impact, each at its own time.
//!
//! Reads: Model, State, contacts, islands.  Writes: State (where the bodies that were hit come from), predicted states, contacts, report.
//! Called by: `method::sequential`; `predict::advance` reads where a body that was hit comes from.
//! Source: docs/methods/two-stage.md, "Impacts in flight"; the impacts themselves are those of `impacts`.

use super::arrival::reach;
use super::gather::{self, StepContact};
use super::impacts::{self, ImpactSettings, is_here};
use super::targets::{acting_points, placement};
use super::{Island, Scratch};
use crate::collide::{Contact, ContactPoint, Course, Detection, FEATURE_MOTION, detect_few};
use crate::dynamics::impulse::inverse_inertia;
use crate::dynamics::integrate;
use crate::dynamics::receding::opening_speed;
use crate::interrupt;
use crate::math::Vec3;
use crate::model::{Body, BodyKind, Model};
use crate::report::StepReport;
use crate::solver::ends::{Bodies, SolverBody};
use crate::state::{BodyState, ContactKey, State};
use crate::work::Work;

/// No place.
const NONE: u32 = u32::MAX;

/// A body that impacts turned within the substep.
///
/// After its last impact, at `since`, it is on a flight of its own. Followed back to the start of the substep, that flight begins at `start`:
/// from there the two stages go on, as if it had come that way.
#[derive(Clone, Copy, Debug)]
struct Flown {
    start: BodyState,
    end: BodyState,
    /// Time of its last impact after the start of the substep [s].
    since: f64,
}

/// What impacts did at one contact.
#[derive(Clone, Copy, Debug)]
struct Hit {
    contact: Contact,
    impulse: Vec3,
    /// Of the fastest of them: speed of approach [m/s], and when it was [s].
    speed: f64,
    time: f64,
    /// Whether the bodies went on to where it is no contact any more.
    gone: bool,
}

/// Bodies that impacts turned, and the scratch of following them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flights {
    /// By slot: place in `flown`. Empty if no body was turned.
    places: Vec<u32>,
    flown: Vec<Flown>,
    /// Gap that counts as touching [m].
    touching: f64,
    /// Sorted by key.
    hits: Vec<Hit>,
    /// By slot, of the island at hand: where its bodies are on their way, and where they would be at the end of the substep.
    now: Vec<BodyState>,
    then: Vec<BodyState>,
    bodies: Bodies,
    /// Bodies of the island at hand that move freely, and all bodies of the world with prescribed motion.
    slots: Vec<u32>,
    prescribed: Vec<u32>,
    /// Contacts of the island at hand, and what impacts do at them.
    local: Detection,
    step_contacts: Vec<StepContact>,
    /// Contacts of all islands that were followed.
    contacts: Vec<Contact>,
}

impl Flights {
    /// Forgets what was turned.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.flown.clear();
        self.hits.clear();
        self.contacts.clear();
    }

    fn of(&self, slot: usize) -> Option<&Flown> {
        let place = *self.places.get(slot)?;
        self.flown.get(place as usize)
    }

    /// Whether a contact touched when the two stages begin for its bodies after an impact: it has been answered.
    pub(crate) fn is_answered(&self, c: &Contact) -> bool {
        c.point.gap <= self.touching && self.since(c.bodies()).is_some()
    }

    /// When the two stages begin for a pair of bodies that impacts turned, after the last of them [s]; `None` for any other pair.
    pub(crate) fn since(&self, (a, b): (usize, usize)) -> Option<f64> {
        let flown = self.of(a).or_else(|| self.of(b))?;
        Some(flown.since)
    }

    /// Where a body with these velocities after the first stage comes from, and where it is at the end of the substep if they are what its
    /// flight began with. `None` for a body that no impact turned.
    pub(crate) fn from(
        &self,
        slot: usize,
        v: Vec3,
        w: Vec3,
    ) -> Option<(BodyState, Option<BodyState>)> {
        let flown = self.of(slot)?;
        let same = v == flown.start.velocity && w == flown.start.angular_velocity;
        Some((flown.start, same.then_some(flown.end)))
    }
}

/// Follows every island in flight that something hits in the substep of length `h`. What was hit is put on the flight that it ended on, its
/// contacts are those of that flight, and step contacts are gathered anew.
pub(crate) fn run(
    model: &Model,
    params: &ImpactSettings,
    h: f64,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) {
    work.flights.clear();
    work.flights.touching = params.stops.depth_tolerance;
    for number in 0..work.stage.islands.len() {
        if !may_hit(model, params, &work.stage.islands[number], state, work, h) {
            continue;
        }
        if work.flights.now.len() != state.bodies.len() || work.flights.places.is_empty() {
            begin(model, state, &mut work.flights);
        }
        follow(model, params, number, h, state, work, report);
    }
    if work.flights.flown.is_empty() {
        work.flights.clear();
        return;
    }
    give(work);
    gather::gather(model, state, work, h);
    recall(work);
}

/// Whether an island is in flight, and one of its contacts is about to be hit: few contacts, none that bore load, no joints and no links.
fn may_hit(
    model: &Model,
    params: &ImpactSettings,
    island: &Island,
    state: &State,
    work: &Work,
    h: f64,
) -> bool {
    let contacts = &work.stage.step_contacts[island.rows.clone()];
    let few = !params.stops.is_dense(contacts.len()) && !contacts.is_empty();
    if !few || !island.joint_blocks.is_empty() || island.net.is_some() {
        return false;
    }
    let follows = |slot: usize| {
        let body = model.bodies[slot].as_ref();
        body.is_none_or(|b| !b.is_dynamic() || (b.is_free() && !work.resting.holds(slot as u32)))
    };
    let in_flight = |t: &StepContact| {
        let (a, b) = work.detection.contacts[t.contact as usize].bodies();
        !t.loaded && follows(a) && follows(b)
    };
    if !contacts.iter().all(in_flight) {
        return false;
    }
    let slow = impacts::resting(model.gravity.length(), params, h).slow;
    contacts.iter().any(|t| {
        let c = &work.detection.contacts[t.contact as usize];
        let (a, b) = c.bodies();
        let then = c.at(&work.predicted[a], &work.predicted[b]);
        let (p, s_a, s_b) = (&c.point, &state.bodies[a], &state.bodies[b]);
        let u_n = opening_speed(p.normal, (s_a, p.point_a), (s_b, p.point_b));
        let touches = t.gap_start <= params.stops.depth_tolerance;
        c.seen > 0.0
            || if touches {
                u_n < -slow
            } else {
                then.gap <= 0.0 || dips(t.gap_start, u_n, then.gap, h)
            }
    })
}

/// Whether a gap that is open at both ends of `h` seconds closes in between, as far as a parabola tells.
fn dips(gap: f64, u: f64, gap_end: f64, h: f64) -> bool {
    let curvature = 2.0 * (gap_end - gap - u * h) / (h * h);
    u < 0.0 && curvature > 0.0 && -u < curvature * h && gap - 0.5 * u * u / curvature <= 0.0
}

/// Scratch by slot, for the first island that is followed.
fn begin(model: &Model, state: &State, f: &mut Flights) {
    f.now.clone_from(&state.bodies);
    f.then.clone_from(&state.bodies);
    f.places.clear();
    f.places.resize(state.bodies.len(), NONE);
    f.bodies.flat.clear();
    f.bodies
        .flat
        .resize(state.bodies.len() + 1, SolverBody::FIXED);
    f.prescribed.clear();
    let moves = |b: &Body| matches!(b.kind, BodyKind::Kinematic(_));
    let found = model.present().filter(|(_, b)| moves(b));
    f.prescribed.extend(found.map(|(i, _)| i as u32));
}

/// One island on its way.
struct Way<'a> {
    model: &'a Model,
    params: &'a ImpactSettings,
    state: &'a State,
    around: &'a Detection,
    f: &'a mut Flights,
    /// Length of the substep, and the time that has passed in it [s].
    h: f64,
    passed: f64,
}

/// Follows one island from impact to impact.
fn follow(
    model: &Model,
    params: &ImpactSettings,
    number: usize,
    h: f64,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let Work {
        stage,
        detection,
        flights,
        collisions,
        balance,
        predicted,
        ..
    } = work;
    let mut way = Way {
        model,
        params,
        state,
        around: detection,
        f: flights,
        h,
        passed: 0.0,
    };
    way.take(stage, number);
    let known = way.f.hits.len();
    let mut answered = false;
    let mut left = params.stops.substeps;
    loop {
        way.refill();
        let Flights {
            now,
            bodies,
            local,
            step_contacts,
            ..
        } = &mut *way.f;
        let collided = impacts::answer(
            model,
            params,
            h,
            &local.contacts,
            step_contacts,
            now,
            bodies,
            collisions,
            report,
            balance,
        );
        if collided {
            answered = true;
            way.note(known);
            way.detect();
        } else if way.passed > 0.0 {
            // What came near is no contact of there: the two stages go on from here.
            break;
        }
        let Some(time) = way.next() else {
            break;
        };
        if left == 0 || interrupt::asked() {
            report.work.caps_hit += 1;
            break;
        }
        left -= 1;
        way.advance(time);
        way.detect();
    }
    if !answered {
        way.f.hits.truncate(known);
        return;
    }
    way.leave(predicted, known);
    for i in 0..flights.slots.len() {
        let slot = flights.slots[i] as usize;
        let Some(flown) = flights.of(slot).copied() else {
            continue;
        };
        let s = &mut state.bodies[slot];
        let way = flown.start.position - s.position;
        let work_in = state.loads[slot].force.dot(way);
        report.energy.external += work_in;
        balance.put_in(slot as u32, work_in);
        *s = flown.start;
    }
}

impl Way<'_> {
    /// Lays out the bodies and contacts of an island.
    fn take(&mut self, stage: &Scratch, number: usize) {
        let f = &mut *self.f;
        f.slots.clear();
        f.local.contacts.clear();
        for t in &stage.step_contacts[stage.islands[number].rows.clone()] {
            let c = self.around.contacts[t.contact as usize];
            for slot in [c.key.pair.body_a, c.key.pair.body_b] {
                if self.model.is_awake(slot) {
                    f.slots.push(slot);
                }
            }
            f.local.contacts.push(c);
        }
        f.slots.sort_unstable();
        f.slots.dedup();
        for &slot in f.slots.iter().chain(&f.prescribed) {
            f.now[slot as usize] = self.state.bodies[slot as usize];
        }
    }

    /// Solver bodies and step contacts at the states of now.
    fn refill(&mut self) {
        let f = &mut *self.f;
        for &slot in f.slots.iter().chain(&f.prescribed) {
            let (slot, s) = (slot as usize, &f.now[slot as usize]);
            if let Some(body) = &self.model.bodies[slot] {
                f.bodies.flat[slot] = SolverBody {
                    v: s.velocity,
                    w: s.angular_velocity,
                    inverse_mass: body.inverse_mass,
                    inverse_inertia: inverse_inertia(body, s),
                };
            }
        }
        f.step_contacts.clear();
        for (i, c) in f.local.contacts.iter().enumerate() {
            let mut step_contact = StepContact::of(self.model, c, i as u32, None, 1.0);
            // What is too slow to be followed is left to the two stages, known or not.
            step_contact.known = true;
            f.step_contacts.push(step_contact);
        }
    }

    /// Where a body will be, `time` from now.
    fn at(&self, slot: usize, time: f64) -> BodyState {
        let s = &self.f.now[slot];
        let Some(body) = &self.model.bodies[slot] else {
            return *s;
        };
        let a = integrate::acceleration(self.model, body, &self.state.loads[slot]);
        integrate::advance(body, s, a, self.state.time + self.passed, time)
    }

    /// Moves the bodies on by `time`.
    fn advance(&mut self, time: f64) {
        for i in 0..self.f.slots.len() + self.f.prescribed.len() {
            let slot = self.slot(i);
            self.f.now[slot] = self.at(slot, time);
        }
        self.passed += time;
    }

    /// Free bodies, then those with prescribed motion.
    fn slot(&self, i: usize) -> usize {
        let f = &*self.f;
        let free = f.slots.len();
        (if i < free {
            f.slots[i]
        } else {
            f.prescribed[i - free]
        }) as usize
    }

    /// Finds the contacts from here to the end of the substep.
    fn detect(&mut self) {
        let left = self.h - self.passed;
        for i in 0..self.f.slots.len() + self.f.prescribed.len() {
            let slot = self.slot(i);
            self.f.then[slot] = self.at(slot, left);
        }
        let course = Course {
            time: self.state.time + self.passed,
            h: left,
            loads: &self.state.loads,
            held: &[],
            feature_motion: FEATURE_MOTION,
        };
        let Flights {
            now,
            then,
            slots,
            local,
            ..
        } = &mut *self.f;
        detect_few(&course, self.model, now, then, slots, self.around, local);
    }

    /// Takes the velocities and impulses of impacts that have just been answered. Hits of this island begin at `known`.
    fn note(&mut self, known: usize) {
        let f = &mut *self.f;
        for &slot in &f.slots {
            let (s, solved) = (&mut f.now[slot as usize], &f.bodies.flat[slot as usize]);
            (s.velocity, s.angular_velocity) = (solved.v, solved.w);
        }
        for t in f.step_contacts.iter().filter(|t| t.impact != Vec3::ZERO) {
            let contact = f.local.contacts[t.contact as usize];
            let new = Hit {
                contact,
                impulse: t.impact,
                speed: t.impact_speed,
                time: self.passed,
                gone: true,
            };
            let Some(hit) = f.hits[known..]
                .iter_mut()
                .find(|x| x.contact.key == contact.key)
            else {
                f.hits.push(new);
                continue;
            };
            hit.impulse += new.impulse;
            if new.speed > hit.speed {
                (hit.speed, hit.time) = (new.speed, new.time);
            }
        }
    }

    /// Time from now to the next impact. `None` if there is none, or if something rests by now, which is a matter of the two stages.
    fn next(&self) -> Option<f64> {
        let left = self.h - self.passed;
        let mut first: Option<f64> = None;
        for c in &self.f.local.contacts {
            let (a, b) = c.bodies();
            let at = |time: f64| c.at(&self.at(a, time), &self.at(b, time)).gap;
            if c.seen == 0.0 && c.point.gap <= self.params.stops.depth_tolerance {
                match self.returns(c, at, left) {
                    Return::Never => {}
                    Return::Rests => return None,
                    Return::After(time) => first = Some(first.map_or(time, |t| t.min(time))),
                }
            } else if let Some(time) = self.arrives(c, at, first.unwrap_or(left)) {
                first = Some(time);
            }
        }
        first
    }

    /// Normal velocity of a contact now.
    fn normal_velocity(&self, c: &Contact) -> f64 {
        let (a, b) = c.bodies();
        let place = placement(c);
        let points = acting_points(c, &self.f.bodies, &place);
        let (a, b) = ((&self.f.now[a], points.0), (&self.f.now[b], points.1));
        opening_speed(place.normal, a, b)
    }

    /// When a gap that is open closes, `end` at the latest.
    fn arrives(&self, c: &Contact, at: impl Fn(f64) -> f64, end: f64) -> Option<f64> {
        let tolerance = self.params.stops.depth_tolerance;
        if c.seen > 0.0 {
            // What a fast pair was seen with is a feature from then on, not before.
            if c.seen >= end {
                return None;
            }
            let gap = at(c.seen);
            return if gap <= 0.0 {
                Some(c.seen)
            } else {
                closes(at, (c.seen, gap), end, tolerance)
            };
        }
        let (gap, u, gap_end) = (c.point.gap, self.normal_velocity(c), at(end));
        let until = if gap_end <= 0.0 {
            end
        } else if dips(gap, u, gap_end, end) {
            -u * end * end / (2.0 * (gap_end - gap - u * end))
        } else {
            return None;
        };
        closes(at, (0.0, gap), until, tolerance)
    }

    /// When what touches now, and has been answered, closes again.
    fn returns(&self, c: &Contact, at: impl Fn(f64) -> f64, left: f64) -> Return {
        let tolerance = self.params.stops.depth_tolerance;
        if !is_here(c, &self.f.now, tolerance) {
            return Return::Never;
        }
        let (gap, u, gap_end) = (c.point.gap, self.normal_velocity(c), at(left));
        if gap_end >= gap.min(0.0) - tolerance {
            return Return::Never;
        }
        // It rises to where its velocity is none, as far as a parabola tells, and falls back from there.
        let curvature = 2.0 * (gap_end - gap - u * left) / (left * left);
        let top = -u / curvature;
        if !(u > 0.0 && curvature < 0.0 && top < left) {
            return Return::Rests;
        }
        // Its bounces, each e times as long as the one before, would die out within two substeps.
        let e = c.surface.restitution;
        if e * top <= self.h * (1.0 - e) {
            return Return::Rests;
        }
        let gap_top = at(top);
        if gap_top <= tolerance {
            return Return::Rests;
        }
        closes(at, (top, gap_top), left, tolerance).map_or(Return::Never, Return::After)
    }

    /// The flights that the bodies are on now, and their contacts.
    fn leave(&mut self, predicted: &mut [BodyState], known: usize) {
        let left = self.h - self.passed;
        for i in 0..self.f.slots.len() {
            let slot = self.slot(i);
            let flown = Flown {
                start: self.at(slot, -self.passed),
                end: self.at(slot, left),
                since: self.passed,
            };
            predicted[slot] = flown.end;
            self.f.places[slot] = self.f.flown.len() as u32;
            self.f.flown.push(flown);
        }
        let first = self.f.contacts.len();
        let f = &mut *self.f;
        for hit in &mut f.hits[known..] {
            let key = hit.contact.key;
            hit.gone = !f.local.contacts.iter().any(|c| c.key == key);
            if hit.gone {
                f.contacts.push(hit.contact);
            }
        }
        f.contacts.extend_from_slice(&f.local.contacts);
        for i in first..self.f.contacts.len() {
            self.f.contacts[i].point = self.carried_back(&self.f.contacts[i]);
        }
    }

    /// A contact point with its bodies where their flights begin: levers, the gap and the normal are those of now. Both
    /// stages then act on bodies at one place each, and on both of a pair at one point.
    fn carried_back(&self, c: &Contact) -> ContactPoint {
        let (a, b) = c.bodies();
        let back = |slot: usize, point: Vec3| {
            let start = self.f.of(slot).map(|f| f.start.position);
            start.map_or(point, |start| point + (start - self.f.now[slot].position))
        };
        ContactPoint {
            point_a: back(a, c.point.point_a),
            point_b: back(b, c.point.point_b),
            ..c.point
        }
    }
}

/// What becomes of a contact that touches.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Return {
    /// It does not close again in the substep.
    Never,
    /// It does at once: it rests.
    Rests,
    /// It closes after that time [s].
    After(f64),
}

/// Secants of a polish, and the part of the way there over which the first is taken [1].
const SECANTS: u32 = 3;
const SECANT: f64 = 1e-3;

/// The time between a start with an open gap and `end` at which the gap closes, but for rounding where secants find it; `None` if it is open
/// at the end.
fn closes(gap: impl Fn(f64) -> f64, start: (f64, f64), end: f64, tolerance: f64) -> Option<f64> {
    let time = reach(&gap, start, end, tolerance)?;
    let (start, at) = (start.0, (time, gap(time)));
    let before = at.0 - SECANT * (at.0 - start);
    let (mut last, mut best) = ((before, gap(before)), at);
    for _ in 0..SECANTS {
        let time = best.0 - best.1 * (best.0 - last.0) / (best.1 - last.1);
        if !(time > start && time < end) {
            break;
        }
        let next = (time, gap(time));
        if next.1.abs() >= best.1.abs() {
            break;
        }
        (last, best) = (best, next);
    }
    Some(best.0)
}

/// Contacts of what was followed take the place of those on the way that it did not take.
fn give(work: &mut Work) {
    let (contacts, f) = (&mut work.detection.contacts, &mut work.flights);
    contacts.retain(|c| {
        let (a, b) = c.bodies();
        f.of(a).is_none() && f.of(b).is_none()
    });
    contacts.append(&mut f.contacts);
    contacts.sort_unstable_by_key(|c| c.key);
    f.hits.sort_by_key(|hit| hit.contact.key);
}

/// Gives step contacts that were gathered anew the impacts at them.
fn recall(work: &mut Work) {
    let hits = &work.flights.hits;
    let key = |t: &StepContact| -> ContactKey { work.detection.contacts[t.contact as usize].key };
    for t in &mut work.stage.step_contacts {
        if let Ok(i) = hits.binary_search_by_key(&key(t), |hit| hit.contact.key) {
            let hit = &hits[i];
            (t.impact, t.impact_speed, t.impact_time) = (hit.impulse, hit.speed, hit.time);
            t.gone = hit.gone;
        }
    }
}
