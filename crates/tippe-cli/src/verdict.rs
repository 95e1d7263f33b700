//! The verdict of a run: good, look here or do not trust, with what was worst, where, when and what to change.
//!
//! Reads: Statistics, World.  Writes: nothing outside.
//! Called by: `run` (notes the worst), `summary` (prints it), `check` (overlaps at the start).
//! Source: the table of docs/verdict.md; a test compares the limits with it.

use serde::Serialize;
use tippe::dynamics::energy::spin_momentum;
use tippe::{Body, BodyId, BodyKind, BodyState, Pose, Shape, StepReport, Vec3, World};

use crate::format::{number, share};
use crate::statistics::Statistics;

/// Whether a run can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Class {
    /// Every measure is small beside the scene.
    #[default]
    #[serde(rename = "good")]
    Good,
    /// Something is visible.
    #[serde(rename = "look here")]
    Look,
    /// Something is as large as what the scene shows.
    #[serde(rename = "do not trust")]
    Distrust,
}

impl Class {
    /// As it is printed.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Look => "look here",
            Self::Distrust => "do not trust",
        }
    }
}

/// One measure: its name, unit and limits, and what to change.
struct Measure {
    what: &'static str,
    unit: &'static str,
    beside: &'static str,
    /// Shares up to which it is good, and up to which it asks for a look [1].
    limits: (f64, f64),
    advice: &'static str,
}

const fn measure(
    what: &'static str,
    unit: &'static str,
    beside: &'static str,
    limits: (f64, f64),
    advice: &'static str,
) -> Measure {
    Measure {
        what,
        unit,
        beside,
        limits,
        advice,
    }
}

const MEASURES: [Measure; 9] = [
    measure(
        "deepest overlap",
        "m",
        "thickness of the thinner body",
        (0.01, 0.1),
        "a shorter step or --method iterative",
    ),
    measure(
        "joints apart",
        "m",
        "thickness of the thinnest body",
        (0.001, 0.01),
        "a shorter step or a larger `substeps_max`",
    ),
    measure(
        "approach left at closed contacts",
        "m/s",
        "speed of the scene",
        (0.01, 0.1),
        "more `sweeps` or a shorter step",
    ),
    measure(
        "slip that friction should have stopped",
        "m/s",
        "speed of the scene",
        (0.01, 0.1),
        "more `sweeps` or a shorter step",
    ),
    measure(
        "friction beyond its cone",
        "",
        "its bound",
        (0.01, 0.1),
        "more `sweeps`",
    ),
    measure(
        "velocity left along joints",
        "m/s",
        "speed of the scene",
        (0.01, 0.1),
        "a shorter step",
    ),
    measure(
        "angular momentum changed in free flight",
        "",
        "its own",
        (0.0001, 0.01),
        "a shorter step",
    ),
    measure(
        "energy made from nothing",
        "J",
        "energy put in",
        (0.001, 0.01),
        "a shorter step or --method iterative",
    ),
    measure(
        "energy unexplained",
        "J",
        "turnover",
        (0.001, 0.05),
        "a shorter step",
    ),
];

/// Spin that is no spin beside rounding [rad/s].
const SLOW_SPIN: f64 = 1e-3;

/// Something that is not good.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What it is.
    pub what: &'static str,
    /// How bad it is.
    pub class: Class,
    /// Its size, in `unit`.
    pub value: f64,
    /// Unit of `value`.
    pub unit: &'static str,
    /// Its share of what it is measured beside [1].
    pub share: f64,
    /// What that is.
    pub beside: &'static str,
    /// When it was worst [s]; left out for sums over the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Between which bodies, where that is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<String>,
    /// What to change.
    pub advice: &'static str,
}

/// The verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// The worst class of all measures.
    pub class: Class,
    /// What is not good, the worst first.
    pub findings: Vec<Finding>,
    /// Why a step was refused, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// A value with the time and the bodies of its worst step.
#[derive(Clone, Debug, Default)]
struct Worst {
    value: f64,
    share: f64,
    time: f64,
    bodies: Vec<String>,
}

impl Worst {
    fn see(&mut self, value: f64, time: f64) {
        // What is not a number is worse than any.
        if value > self.value || value.is_nan() {
            (self.value, self.time) = (value, time);
        }
    }
}

/// What a run notes for its verdict.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Overlap, joints, approach, slip, cone, joint velocity, angular momentum: the first seven measures.
    worst: [Worst; 7],
    /// Angular momenta about their centres of mass of the bodies that may fly, after the last step.
    spins: Vec<(BodyId, Vec3)>,
    /// Thickness of the thinnest body that moves [m].
    thickness: f64,
    /// Mass of all that moves [kg], and gravity [m/s²].
    mass: f64,
    gravity: f64,
}

impl Watch {
    /// Of a world that has not been stepped.
    pub fn new(world: &World) -> Self {
        let moving = || world.bodies().filter(|b| b.1.is_dynamic());
        let least = |least: f64, t: f64| least.min(t);
        Self {
            thickness: moving().map(|b| thickness(b.1)).fold(f64::INFINITY, least),
            mass: moving().map(|b| b.1.mass).sum(),
            gravity: world.gravity().length(),
            ..Self::default()
        }
    }

    /// Notes one step.
    pub fn step(&mut self, report: &StepReport, world: &World) {
        let (r, time) = (&report.residuals, report.time);
        let values = [
            r.joint_position,
            r.complementarity,
            r.stick_slip,
            r.friction_cone,
            r.joint_velocity,
        ];
        for (worst, value) in self.worst[1..].iter_mut().zip(values) {
            worst.see(value, time);
        }
        let depth = report.penetration.max(report.penetration_found);
        // The thinnest body bounds the share: look closer only where it could be a new worst.
        if depth > 0.0 && depth / self.thickness > self.worst[0].share {
            self.see_overlap(depth, time, world);
        }
        self.see_spins(time, world);
    }

    /// A body that nothing touched, held or pushed keeps its angular momentum.
    fn see_spins(&mut self, time: f64, world: &World) {
        if !world.programs().is_empty() {
            return;
        }
        let pairs = world.contacts().iter();
        let mut busy: Vec<BodyId> = pairs.flat_map(|c| [c.body_a, c.body_b]).collect();
        for joint in world.joint_ids().filter_map(|id| world.joint(id).ok()) {
            busy.extend(joint.desc.body_a.into_iter().chain([joint.desc.body_b]));
        }
        busy.sort_unstable();
        for (id, before) in self.spins.drain(..) {
            let (Ok(body), Ok(state)) = (world.body(id), world.body_state(id)) else {
                continue;
            };
            if busy.binary_search(&id).is_ok() {
                continue;
            }
            let change = (spin_momentum(body, state) - before).length();
            let slow = SLOW_SPIN * body.moments.max_element();
            let worst = &mut self.worst[6];
            worst.see(change / (before.length() + slow), time);
            worst.share = worst.value;
        }
        let free =
            |b: &(BodyId, &Body, &BodyState)| b.1.kind == BodyKind::Dynamic && b.1.drag.is_none();
        let flying = world.bodies().filter(free);
        self.spins
            .extend(flying.map(|(id, body, state)| (id, spin_momentum(body, state))));
    }

    fn see_overlap(&mut self, depth: f64, time: f64, world: &World) {
        let contacts = world.contacts().iter();
        let deepest = contacts.min_by(|a, b| a.gap.total_cmp(&b.gap));
        // A depth that the detection found may be gone, and its pair with it.
        let pair = deepest.filter(|c| -c.gap >= 0.5 * depth);
        let of = |id: BodyId| world.body(id).ok();
        let (size, bodies) = match pair.and_then(|c| of(c.body_a).zip(of(c.body_b))) {
            Some((a, b)) => (pair_thickness(a, b), vec![a.name.clone(), b.name.clone()]),
            None => (self.thickness, Vec::new()),
        };
        let share = depth / size;
        if share > self.worst[0].share {
            self.worst[0] = Worst {
                value: depth,
                share,
                time,
                bodies,
            };
        }
    }

    /// The verdict of the run so far.
    pub fn verdict(&self, kinetic_start: f64, statistics: &Statistics, world: &World) -> Verdict {
        let ledger = world.ledger();
        let mean = (2.0 * statistics.kinetic_max / self.mass).sqrt();
        let speed = (self.gravity * self.thickness).sqrt().max(mean);
        let besides = [f64::NAN, self.thickness, speed, speed, 1.0, speed, 1.0];
        let mut findings = Vec::new();
        for (i, worst) in self.worst.iter().enumerate() {
            let share = if i == 0 {
                worst.share
            } else {
                ratio(worst.value, besides[i])
            };
            let found = Worst {
                share,
                ..worst.clone()
            };
            findings.extend(judged(&MEASURES[i], found, Some(worst.time)));
        }
        let scale = statistics.energy_scale(kinetic_start);
        let sums = [
            (ledger.gained, scale),
            (
                ledger.unexplained.abs(),
                statistics.turnover(ledger).max(scale),
            ),
        ];
        for (measure, (value, beside)) in MEASURES[7..].iter().zip(sums) {
            let found = Worst {
                value,
                share: ratio(value, beside),
                ..Worst::default()
            };
            findings.extend(judged(measure, found, None));
        }
        findings.sort_by_key(|f| std::cmp::Reverse(f.class));
        Verdict {
            class: findings.first().map_or(Class::Good, |f| f.class),
            findings,
            refused: None,
        }
    }
}

/// A finding if a measure is not good.
fn judged(measure: &Measure, worst: Worst, time: Option<f64>) -> Option<Finding> {
    let (good, look) = measure.limits;
    let class = match worst.share {
        s if s <= good => return None,
        s if s <= look => Class::Look,
        _ => Class::Distrust,
    };
    Some(Finding {
        what: measure.what,
        class,
        value: worst.value,
        unit: measure.unit,
        share: worst.share,
        beside: measure.beside,
        time,
        bodies: worst.bodies,
        advice: measure.advice,
    })
}

fn ratio(value: f64, beside: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value / beside }
}

impl Verdict {
    /// A run whose last step was refused cannot be trusted.
    pub fn stopped(mut self, reason: String) -> Self {
        self.class = Class::Distrust;
        self.refused = Some(reason);
        self
    }

    /// For the summary: the class, then each finding.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.class.word().to_owned()];
        lines.extend(self.refused.clone());
        lines.extend(self.findings.iter().map(Finding::sentence));
        lines
    }
}

impl Finding {
    fn sentence(&self) -> String {
        let unit = if self.unit.is_empty() { "" } else { " " };
        let mut text = format!("{} {}{unit}{}", self.what, number(self.value), self.unit);
        text += &format!(", {} of {}", share(self.share, 1.0), self.beside);
        if let [a, b] = self.bodies.as_slice() {
            text += &format!(", between {a:?} and {b:?}");
        }
        if let Some(time) = self.time {
            text += &format!(", at {} s", number(time));
        }
        format!("{text}: try {}", self.advice)
    }
}

/// The least side of the boxes around a body's shapes [m]; infinite without shapes.
fn thickness(body: &Body) -> f64 {
    let side = |shape: &Shape| {
        let bounds = shape.bounds(&Pose::IDENTITY);
        (bounds.max - bounds.min).min_element()
    };
    let solid = |shape: &&Shape| !matches!(shape, Shape::HalfSpace { .. } | Shape::Mesh(_));
    let shapes = body.shapes.iter().map(|s| &s.shape);
    shapes.filter(solid).map(side).fold(f64::INFINITY, f64::min)
}

/// The thickness of the thinner of two bodies; one that nothing moves counts only if the other has none.
fn pair_thickness(a: &Body, b: &Body) -> f64 {
    let moving = [a, b].into_iter().filter(|b| b.is_dynamic());
    let least = moving.map(thickness).fold(f64::INFINITY, f64::min);
    if least.is_finite() {
        least
    } else {
        thickness(a).min(thickness(b))
    }
}

/// Share of the thinner body above which an overlap at the start is named [1].
const START_OVERLAP: f64 = 0.01;

/// Pairs that overlap by more than a hundredth of the thinner body, each once, the deepest first: names and depth [m].
pub fn overlaps(world: &World) -> Vec<(String, String, f64)> {
    let mut found: Vec<(String, String, f64)> = Vec::new();
    let mut queries = world.queries();
    let jointed = |a: BodyId, b: BodyId| {
        world.joint_ids().any(|id| {
            world.joint(id).is_ok_and(|j| {
                let ends = (j.desc.body_a, Some(j.desc.body_b));
                !j.desc.collide && (ends == (Some(a), Some(b)) || ends == (Some(b), Some(a)))
            })
        })
    };
    for (id, body, state) in world.bodies().filter(|b| b.1.is_dynamic()) {
        for shape in body.shapes.iter().filter(|s| !s.sensor) {
            if matches!(shape.shape, Shape::HalfSpace { .. } | Shape::Mesh(_)) {
                continue;
            }
            let pose = state.frame(body).compose(&shape.pose);
            let filter = tippe::query::QueryFilter {
                filter: shape.filter,
                without: vec![id],
                sensors: false,
            };
            let Ok(hits) = queries.overlaps(&shape.shape, &pose, &filter) else {
                continue;
            };
            for hit in hits {
                let Ok(other) = world.body(hit.body) else {
                    continue;
                };
                let twice = other.is_dynamic() && hit.body.index() < id.index();
                let links = linked(body, other);
                let limit = START_OVERLAP * pair_thickness(body, other);
                if twice || links || -hit.distance <= limit || jointed(id, hit.body) {
                    continue;
                }
                let pair = (body.name.clone(), other.name.clone());
                match found
                    .iter_mut()
                    .find(|f| (&f.0, &f.1) == (&pair.0, &pair.1))
                {
                    Some(known) => known.2 = known.2.max(-hit.distance),
                    None => found.push((pair.0, pair.1, -hit.distance)),
                }
            }
        }
    }
    found.sort_by(|a, b| b.2.total_cmp(&a.2));
    found
}

/// Whether two bodies are links of one articulation, which the tree holds in their places.
fn linked(a: &Body, b: &Body) -> bool {
    let tree = |body: &Body| match body.kind {
        BodyKind::Link { articulation, .. } => Some(articulation),
        _ => None,
    };
    tree(a).is_some() && tree(a) == tree(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_those_of_the_document() {
        let text = include_str!("../../../docs/verdict.md");
        let rows: Vec<Vec<&str>> = text
            .lines()
            .filter(|l| l.starts_with("| ") && l.contains(" % "))
            .map(|l| l.split('|').map(str::trim).collect())
            .collect();
        assert_eq!(rows.len(), MEASURES.len());
        for (row, measure) in rows.iter().zip(&MEASURES) {
            assert!(row[1].starts_with(measure.what), "{} {row:?}", measure.what);
            let percent = |cell: &str| {
                cell.trim_end_matches(" %")
                    .parse::<f64>()
                    .map(|p| p / 100.0)
            };
            let limits = (percent(row[3]), percent(row[4]));
            assert_eq!(limits, (Ok(measure.limits.0), Ok(measure.limits.1)));
        }
    }

    #[test]
    fn a_measure_that_is_not_a_number_is_not_good() {
        let worst = Worst {
            value: f64::NAN,
            share: f64::NAN,
            ..Worst::default()
        };
        let found = judged(&MEASURES[2], worst, None).map(|f| f.class);
        assert_eq!(found, Some(Class::Distrust));
        let mut worst = Worst::default();
        worst.see(f64::NAN, 1.0);
        assert!(worst.value.is_nan());
    }
}
