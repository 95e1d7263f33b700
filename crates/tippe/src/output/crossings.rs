//! Who entered and left sensors in a step, and when.
//!
//! Reads: Model, State before and after the step.  Writes: State (sensed pairs), events, limits reached.
//! Called by: `step`, for every method alike.
//! Source: docs/sensors.md, "Sensors that feel shapes". Entering is a time of impact (`collide::advance`), leaving is found
//! by halving. Between the two states of a step a body follows the parabola that leaves with its velocity and arrives
//! where it is, and turns evenly; prescribed bodies are where their motion says.

use crate::collide::advance::{TimeOfImpact, time_of_impact};
use crate::collide::flight::Flight;
use crate::geometry::closest_points;
use crate::math::{Quat, Vec3};
use crate::model::{Body, BodyKind, Model, ShapeDesc};
use crate::output::events;
use crate::report::{Event, EventKind, StepReport};
use crate::shape::Shape;
use crate::state::{BodyState, PairKey, State};

/// Distance at which a shape has entered, relative to the reach of the smaller body [1].
const ENTERED: f64 = 1e-11;
/// Halvings of the time in which a shape leaves: to rounding.
const LEAVING_HALVINGS: u32 = 60;

/// Scratch: bodies with sensors, for the model they belong to; the pairs found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crossings {
    of: Option<(u64, bool)>,
    sensors: Vec<u32>,
    found: Vec<PairKey>,
    seen: Vec<PairKey>,
}

impl Crossings {
    /// Compares the state of a step's end with that of its start, and tells what crossed into and out of sensors.
    pub(crate) fn of_step(
        &mut self,
        model: &Model,
        before: &State,
        state: &mut State,
        out: &mut Vec<Event>,
        report: &mut StepReport,
    ) {
        let of = Some((model.edits, model.owners.is_empty()));
        if self.of != of {
            let sensing = |b: &Body| b.shapes.iter().any(|s| s.sensor);
            self.sensors.clear();
            let slots = model.present().filter(|(_, b)| sensing(b));
            self.sensors.extend(slots.map(|(i, _)| i as u32));
            self.of = of;
        }
        if self.sensors.is_empty() && state.sensed.is_empty() {
            return;
        }
        self.found.clear();
        self.seen.clear();
        let told = out.len();
        let step = Step {
            model,
            before,
            after: state,
            h: report.dt,
        };
        for k in 0..self.sensors.len() {
            let slot = self.sensors[k] as usize;
            for (other, _) in model.present() {
                // Of two bodies with sensors the lower one asks.
                let twice = other < slot && self.sensors.binary_search(&(other as u32)).is_ok();
                if other != slot && !twice && step.is_near(slot, other) {
                    self.bodies(&step, slot.min(other), slot.max(other), out, report);
                }
            }
        }
        self.seen.sort_unstable();
        // Whatever is far away now and was not before was put elsewhere.
        for pair in &before.sensed {
            if self.seen.binary_search(pair).is_err() {
                let event = events::event(model, pair);
                out.push(Event {
                    kind: EventKind::SensorEnd,
                    time: before.time,
                    ..event
                });
            }
        }
        self.found.sort_unstable();
        state.sensed.clone_from(&self.found);
        if out.len() > told {
            events::sort(out);
        }
    }

    fn bodies(
        &mut self,
        step: &Step<'_>,
        a: usize,
        b: usize,
        out: &mut Vec<Event>,
        report: &mut StepReport,
    ) {
        let (Some(body_a), Some(body_b)) = (&step.model.bodies[a], &step.model.bodies[b]) else {
            return;
        };
        for (i, shape_a) in body_a.shapes.iter().enumerate() {
            for (j, shape_b) in body_b.shapes.iter().enumerate() {
                let ends = ((a as u32, i as u32), (b as u32, j as u32));
                let sensed = shape_a.sensor || shape_b.sensor;
                if !sensed
                    || !shape_a.filter.allows(shape_b.filter)
                    || step.model.are_jointed(ends.0, ends.1)
                {
                    continue;
                }
                let pair = PairKey {
                    body_a: a as u32,
                    body_b: b as u32,
                    shape_a: i as u32,
                    shape_b: j as u32,
                };
                let ways = (step.way(a, body_a, shape_a), step.way(b, body_b, shape_b));
                let size = body_a.reach.min(body_b.reach);
                let pass = Pass {
                    shapes: (&shape_a.shape, &shape_b.shape),
                    ways: (&ways.0, &ways.1),
                    h: step.h,
                    near: if size.is_finite() {
                        ENTERED * size
                    } else {
                        0.0
                    },
                };
                self.seen.push(pair);
                let was = step.before.sensed.binary_search(&pair).is_ok();
                let found = pass.look(was);
                report.work.caps_hit += u32::from(found.limited);
                let mut tell = |kind, (time, point): (f64, Vec3)| {
                    out.push(Event {
                        kind,
                        time: step.before.time + time,
                        point,
                        ..events::event(step.model, &pair)
                    });
                };
                if let Some(entered) = found.entered {
                    tell(EventKind::SensorBegin, entered);
                }
                if let Some(left) = found.left {
                    tell(EventKind::SensorEnd, (left, Vec3::ZERO));
                }
                if found.inside {
                    self.found.push(pair);
                }
            }
        }
    }
}

/// A step that was taken.
struct Step<'a> {
    model: &'a Model,
    before: &'a State,
    after: &'a State,
    h: f64,
}

impl<'a> Step<'a> {
    /// Whether two bodies, one of which moves, may have come near each other.
    fn is_near(&self, a: usize, b: usize) -> bool {
        let (Some(body_a), Some(body_b)) = (&self.model.bodies[a], &self.model.bodies[b]) else {
            return false;
        };
        if matches!(
            (&body_a.kind, &body_b.kind),
            (BodyKind::Fixed, BodyKind::Fixed)
        ) {
            return false;
        }
        let way = |slot: usize| {
            let (from, to) = (&self.before.bodies[slot], &self.after.bodies[slot]);
            let speeds = from.velocity.length() + to.velocity.length();
            (to.position - from.position).length() + speeds * self.h
        };
        let apart = self.before.bodies[a].position - self.before.bodies[b].position;
        let far = apart.length() > body_a.reach + body_b.reach + way(a) + way(b);
        // Not a number where a half-space is one of them: near.
        !far
    }

    /// The way of a shape from the start to the end of the step.
    fn way(&self, slot: usize, body: &'a Body, shape: &ShapeDesc) -> Flight<'a> {
        let (from, to) = (&self.before.bodies[slot], &self.after.bodies[slot]);
        let time = self.before.time;
        let half_space = matches!(shape.shape, Shape::HalfSpace { .. });
        match &body.kind {
            BodyKind::Fixed => Flight::rest(from.frame(body).compose(&shape.pose)),
            BodyKind::Kinematic(_) if half_space => {
                Flight::of_half_space(body, &shape.pose, from, time)
            }
            BodyKind::Kinematic(_) => Flight::of_body(body, &shape.pose, from, Vec3::ZERO, time),
            BodyKind::Dynamic | BodyKind::Link { .. } => {
                let shift = to.position - from.position - from.velocity * self.h;
                Flight {
                    angular_velocity: turning(from, to) / self.h,
                    moments: Vec3::ONE,
                    axes: Quat::IDENTITY,
                    ..Flight::of_body(
                        body,
                        &shape.pose,
                        from,
                        shift * (2.0 / (self.h * self.h)),
                        time,
                    )
                }
            }
        }
    }
}

/// The rotation vector from one state to the next, by the shorter way [rad].
fn turning(from: &BodyState, to: &BodyState) -> Vec3 {
    let q = to.rotation * from.rotation.conjugate();
    let (v, w) = if q.w < 0.0 {
        (-Vec3::new(q.x, q.y, q.z), -q.w)
    } else {
        (Vec3::new(q.x, q.y, q.z), q.w)
    };
    let sine = v.length();
    if sine == 0.0 {
        return Vec3::ZERO;
    }
    v * (2.0 * libm::atan2(sine, w) / sine)
}

/// Two shapes on their ways through a step.
struct Pass<'a> {
    shapes: (&'a Shape, &'a Shape),
    ways: (&'a Flight<'a>, &'a Flight<'a>),
    h: f64,
    /// Distance at which they have met [m].
    near: f64,
}

/// What two shapes did in a step.
#[derive(Default)]
struct Found {
    /// When and where one entered the other, when it left, from the start of the step.
    entered: Option<(f64, Vec3)>,
    left: Option<f64>,
    /// Whether it is inside at the end.
    inside: bool,
    /// Whether the search ended at its limit.
    limited: bool,
}

impl Pass<'_> {
    fn look(&self, was: bool) -> Found {
        let mut found = Found {
            inside: self.overlap(self.h),
            ..Found::default()
        };
        let at_start = self.overlap(0.0);
        let mut inside_from = at_start.then_some(0.0);
        if !at_start {
            let (a, b) = ((self.shapes.0, self.ways.0), (self.shapes.1, self.ways.1));
            let met = match time_of_impact(a, b, self.h, self.near) {
                Ok(TimeOfImpact::At { time, separation }) => Some((time, separation.point_b)),
                Ok(TimeOfImpact::Apart) if !found.inside => None,
                // Never late, and no better known: halved where the end tells that it happened.
                other => {
                    found.limited = matches!(other, Ok(TimeOfImpact::Unresolved { .. }));
                    found
                        .inside
                        .then(|| (self.halve(0.0, self.h, true), Vec3::ZERO))
                }
            };
            inside_from = met.map(|m| m.0);
            found.entered = met;
            // Put elsewhere between the steps, out of the sensor.
            if was {
                found.left = Some(0.0);
            }
        } else if !was {
            found.entered = Some((0.0, Vec3::ZERO));
        }
        if let Some(from) = inside_from.filter(|_| !found.inside) {
            found.left = Some(self.halve(from, self.h, false));
        }
        found
    }

    /// The time between `from` and `to` at which the shapes begin (or cease) to overlap.
    fn halve(&self, mut from: f64, mut to: f64, begin: bool) -> f64 {
        for _ in 0..LEAVING_HALVINGS {
            let middle = 0.5 * (from + to);
            if self.overlap(middle) == begin {
                to = middle;
            } else {
                from = middle;
            }
        }
        to
    }

    fn overlap(&self, t: f64) -> bool {
        let poses = (self.ways.0.at(t), self.ways.1.at(t));
        closest_points(self.shapes.0, &poses.0, self.shapes.1, &poses.1)
            .is_ok_and(|s| s.distance <= 0.0)
    }
}
