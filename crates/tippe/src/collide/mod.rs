//! Detection: the only door to it is [`detect`]. Bounds → candidate pairs → contact points, in a fixed order.
//!
//! Reads: Model, State, predicted state.  Writes: Contacts.
//! Called by: the detect phase of every method.
//! Source: [Lecture] "Simulation Loop", "Contact Extraction Summary".

pub mod advance;
mod advance_mesh;
pub mod broad;

mod clip;
pub mod contact;
pub mod descend;
pub(crate) mod epa;
pub mod flight;
pub(crate) mod gjk;
mod grid;
pub(crate) mod level;
pub mod loops;
mod mesh_features;
mod moving;
pub mod narrow;
mod nearest;
mod outline;
mod pair_capsule_capsule;
mod pair_capsule_cuboid;
mod pair_convex;
mod pair_cuboid_cuboid;
mod pair_half_space_any;
mod pair_half_space_convex;
pub(crate) mod pair_half_space_mesh;
mod pair_mesh;
pub mod pair_mesh_mesh;
pub(crate) mod pair_profile;
mod pair_sphere_capsule;
mod pair_sphere_cuboid;
mod pair_sphere_sphere;
pub(crate) mod pairs;
mod pass;
mod patch;
mod radix;
mod reduce;
mod sat;
pub(crate) mod settle;
pub(crate) mod simplex;
pub mod sweep;
mod thin;
mod tree;

use crate::dynamics::integrate;
use crate::interrupt;
use crate::material::Surface;
use crate::math::{Pose, Vec3};
use crate::model::{Body, BodyKind, Model, ShapeDesc};
use crate::shape::{Aabb, Shape};
use crate::state::{BodyState, ContactKey, Load, PairKey};
use broad::BroadPhase;
pub use contact::{ContactPoint, Features, Placement};
use flight::Flight;
pub use moving::FEATURE_MOTION;
use pass::Drift;
use settle::Start;

/// Part of the smaller body's reach by which contacts are seen before they touch [1]: keeps resting contacts alive.
pub(crate) const MARGIN: f64 = 0.005;

/// One contact of the step: a point of touch, who touches, and how their surfaces answer each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Bodies, shapes and features. `key.pair.body_a` is A, the lower slot.
    pub key: ContactKey,
    /// Where, in which direction, how far; features are in frames at the centres of mass.
    pub point: ContactPoint,
    /// Friction and restitution of the pair.
    pub surface: Surface,
    /// Time after the start of the step at which a fast pair was looked at [s]: when it first touches. 0 for all others.
    pub seen: f64,
}

impl Contact {
    /// Slots of A and B.
    #[must_use]
    pub const fn bodies(&self) -> (usize, usize) {
        (self.key.pair.body_a as usize, self.key.pair.body_b as usize)
    }

    /// Where the contact is when its bodies are in the given states.
    #[must_use]
    pub fn at(&self, a: &BodyState, b: &BodyState) -> Placement {
        let (pose_a, pose_b) = (
            Pose::new(a.position, a.rotation),
            Pose::new(b.position, b.rotation),
        );
        self.point.features.at(
            &pose_a,
            &pose_b,
            self.point.radius_a,
            self.point.radius_b,
            self.point.normal,
        )
    }
}

/// One shape of one body, as detection walks over them, with what all its pairs need to know.
#[derive(Clone, Copy, Debug)]
struct Item {
    body: u32,
    shape: u32,
    /// Pose of the shape now and as predicted.
    now: Pose,
    then: Pose,
    /// How far the centre of mass moves [m], and how far any point can move by turning [m].
    shift: Vec3,
    swing: f64,
}

/// Shapes of a body from which on its bounds are kept while it stands still.
const REFIT_FROM: usize = 16;

/// Most contact points of a step: so many, and so many more for each shape. No pile has them; bodies put into each other by the
/// thousand would have the square of their number.
const CONTACTS_BASE: usize = 1 << 16;
const CONTACTS_PER_SHAPE: usize = 64;

/// Everything detection finds, and its scratch.
#[derive(Clone, Debug, Default)]
pub struct Detection {
    /// Contact points, sorted by key.
    pub contacts: Vec<Contact>,
    /// Touching pairs of different materials without a stated pair.
    pub material_fallbacks: usize,
    /// Time after the start of the step [s] at which it should end, because a fast body has just bounced and goes on fast: where it goes
    /// cannot be known before. Infinite if there is none.
    pub stop: f64,
    /// Searches that ended at their limit: for a time of impact, for pairs, for contacts.
    pub unresolved: u32,
    /// Shapes whose bounds the last call computed anew: those of bodies that moved.
    pub refitted: usize,
    items: Vec<Item>,
    boxes: Vec<Aabb>,
    movable: Vec<bool>,
    /// Bounds of the last call, and how they came about: bodies that stayed where they were keep theirs.
    bounded: Bounded,
    broad: BroadPhase,
    points: Vec<ContactPoint>,
    /// Pairs of hulls, sorted: where their last search ended and where this one does. Whatever they hold, contacts are the same.
    last_starts: Vec<(PairKey, Start)>,
    starts: Vec<(PairKey, Start)>,
}

/// Items and boxes of a call, with the state of the bodies that they belong to.
#[derive(Clone, Debug, Default)]
struct Bounded {
    /// Edits of the model that it belongs to; `None` if it is empty.
    edits: Option<u64>,
    /// By slot: poses now and as predicted, and where its items begin.
    bodies: Vec<(Pose, Pose, usize)>,
    spare: Vec<(Pose, Pose, usize)>,
    items: Vec<Item>,
    boxes: Vec<Aabb>,
}

impl Bounded {
    /// Items and boxes of a body that has not moved since, nor will.
    fn known(
        &self,
        slot: usize,
        frames: &(Pose, Pose),
        shapes: usize,
    ) -> Option<(&[Item], &[Aabb])> {
        let (now, then, first) = self.bodies.get(slot)?;
        let same = same_bits(now, &frames.0) && same_bits(then, &frames.1) && same_bits(now, then);
        let at = *first..*first + shapes;
        (same
            && self
                .items
                .get(*first)
                .is_some_and(|i| i.body as usize == slot))
        .then(|| Some((self.items.get(at.clone())?, self.boxes.get(at)?)))?
    }
}

/// Whether two poses are the same to the last bit.
fn same_bits(a: &Pose, b: &Pose) -> bool {
    let bits = |p: &Pose| {
        let ([x, y, z], [i, j, k, w]) = (p.position.to_array(), p.rotation.to_array());
        [x, y, z, i, j, k, w].map(f64::to_bits)
    };
    bits(a) == bits(b)
}

impl Detection {
    /// Where the last search for two hulls ended.
    fn last_start(&self, shapes: (&Shape, &Shape), pair: PairKey) -> Start {
        if !matches!(shapes, (Shape::Hull(_), Shape::Hull(_))) {
            return Start::default();
        }
        let found = self.last_starts.binary_search_by_key(&pair, |s| s.0);
        found.map_or(Start::default(), |k| self.last_starts[k].1)
    }

    fn keep_start(&mut self, shapes: (&Shape, &Shape), pair: PairKey, start: Start) {
        if matches!(shapes, (Shape::Hull(_), Shape::Hull(_))) {
            self.starts.push((pair, start));
        }
    }
}

/// A step that begins: what detection needs to look at fast pairs where they touch and not where they are.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// Time at its start [s].
    pub time: f64,
    /// Its length [s].
    pub h: f64,
    /// By slot: what acts on the bodies.
    pub loads: &'a [Load],
    /// By slot: which bodies are known to stay as they are, so that pairs among them need no look.
    pub held: &'a [bool],
    /// Motion of a pair up to which the features of its start serve for all of it, relative to half the width of the thinner shape [1];
    /// [`FEATURE_MOTION`] as a rule.
    pub feature_motion: f64,
}

/// Finds all contact points that touch now or may touch before the bodies reach `predicted`.
pub fn detect(model: &Model, now: &[BodyState], predicted: &[BodyState], out: &mut Detection) {
    detect_on(None, model, now, predicted, out);
}

/// The same on a known course: pairs that pass each other fast are looked at where they first touch (`collide::moving`).
pub fn detect_on_course(
    course: &Course<'_>,
    model: &Model,
    now: &[BodyState],
    predicted: &[BodyState],
    out: &mut Detection,
) {
    detect_on(Some(course), model, now, predicted, out);
}

fn detect_on(
    course: Option<&Course<'_>>,
    model: &Model,
    now: &[BodyState],
    predicted: &[BodyState],
    out: &mut Detection,
) {
    bound(model, now, predicted, course.map_or(&[], |c| c.held), out);
    out.contacts.clear();
    out.material_fallbacks = 0;
    out.stop = f64::INFINITY;
    out.unresolved = 0;
    std::mem::swap(&mut out.last_starts, &mut out.starts);
    out.starts.clear();
    // Taken out while the pairs borrow the broad phase; both go back below.
    let mut points = std::mem::take(&mut out.points);
    let mut broad = std::mem::take(&mut out.broad);
    let contacts_max = CONTACTS_BASE + CONTACTS_PER_SHAPE * out.items.len();
    let pairs = broad.update(&out.boxes, &out.movable);
    out.unresolved += u32::from(pairs.len() >= broad::PAIRS_MAX);
    for &(i, j) in pairs {
        if out.contacts.len() >= contacts_max {
            out.unresolved += 1;
            break;
        }
        if interrupt::asked() {
            break;
        }
        let (a, b) = (out.items[i as usize], out.items[j as usize]);
        let jointed = || model.are_jointed((a.body, a.shape), (b.body, b.shape));
        if a.body != b.body && (model.jointed.is_empty() || !jointed()) {
            narrow_pair(course, model, now, &a, &b, &mut points, out);
        }
    }
    out.points = points;
    out.broad = broad;
    out.starts.sort_unstable_by_key(|s| s.0);
    // Pairs come in order of slots, features within a pair are in order: only bodies of several shapes leave something to sort.
    out.contacts.sort_unstable_by_key(|c| c.key);
}

/// Fills items and boxes: each shape's bounds now and at the predicted pose, with the margin. Bodies that may touch nothing are left out.
fn bound(
    model: &Model,
    now: &[BodyState],
    predicted: &[BodyState],
    held: &[bool],
    out: &mut Detection,
) {
    std::mem::swap(&mut out.bounded.items, &mut out.items);
    std::mem::swap(&mut out.bounded.boxes, &mut out.boxes);
    if out.bounded.edits != Some(model.edits) {
        out.bounded.bodies.clear();
        out.bounded.edits = Some(model.edits);
    }
    let mut bodies = std::mem::take(&mut out.bounded.spare);
    bodies.clear();
    out.items.clear();
    out.boxes.clear();
    out.movable.clear();
    out.refitted = 0;
    for (slot, body) in model.present() {
        if body.shapes.iter().all(|s| s.filter.allows_none()) {
            continue;
        }
        let (frame_now, frame_then) = (now[slot].frame(body), predicted[slot].frame(body));
        // Only large bodies are worth the look.
        if body.shapes.len() >= REFIT_FROM {
            bodies.resize(slot + 1, (Pose::IDENTITY, Pose::IDENTITY, usize::MAX));
            bodies[slot] = (frame_now, frame_then, out.items.len());
            let known = out
                .bounded
                .known(slot, &(frame_now, frame_then), body.shapes.len());
            if let Some((items, boxes)) = known.filter(|_| !body.is_awake()) {
                out.items.extend_from_slice(items);
                out.boxes.extend_from_slice(boxes);
                out.movable.resize(out.items.len(), false);
                continue;
            }
        }
        out.refitted += body.shapes.len();
        let way = BodyWay::of(slot, body, now, predicted);
        let movable = body.is_awake() && !held.get(slot).is_some_and(|h| *h);
        for index in 0..body.shapes.len() {
            let (item, bounds) = item_of(&way, body, index);
            out.items.push(item);
            out.boxes.push(bounds);
            out.movable.push(movable);
        }
    }
    out.bounded.spare = std::mem::replace(&mut out.bounded.bodies, bodies);
}

/// How one body moves: what all its shapes need.
struct BodyWay {
    slot: usize,
    frame_now: Pose,
    frame_then: Pose,
    shift: Vec3,
    swing: f64,
}

impl BodyWay {
    fn of(slot: usize, body: &Body, now: &[BodyState], predicted: &[BodyState]) -> Self {
        Self {
            slot,
            frame_now: now[slot].frame(body),
            frame_then: predicted[slot].frame(body),
            shift: predicted[slot].position - now[slot].position,
            swing: swing(body.reach, &now[slot], &predicted[slot]),
        }
    }
}

/// One shape of a body, and its bounds now and at the predicted pose, with the margin.
fn item_of(way: &BodyWay, body: &Body, index: usize) -> (Item, Aabb) {
    let s = &body.shapes[index];
    let pose = way.frame_now.compose(&s.pose);
    let here = s.shape.bounds(&pose);
    let mut then = pose;
    let bounds = if body.is_awake() || way.frame_now != way.frame_then {
        then = way.frame_then.compose(&s.pose);
        let there = s.shape.bounds(&then);
        here.merged(&there).grown(if body.reach.is_finite() {
            MARGIN * body.reach
        } else {
            0.0
        })
    } else {
        here
    };
    let item = Item {
        body: way.slot as u32,
        shape: index as u32,
        now: pose,
        then,
        shift: way.shift,
        swing: way.swing,
    };
    (item, bounds)
}

/// Finds the contact points of a few bodies with each other and with bodies that no impulse moves, which are those that a detection for all
/// of the same step knows `around`.
pub(crate) fn detect_few(
    course: &Course<'_>,
    model: &Model,
    now: &[BodyState],
    predicted: &[BodyState],
    slots: &[u32],
    around: &Detection,
    out: &mut Detection,
) {
    out.items.clear();
    out.boxes.clear();
    out.contacts.clear();
    out.starts.clear();
    out.last_starts.clear();
    out.stop = f64::INFINITY;
    out.unresolved = 0;
    let add = |slot: u32, index: usize, out: &mut Detection| {
        if let Some(body) = &model.bodies[slot as usize] {
            let (item, bounds) = item_of(
                &BodyWay::of(slot as usize, body, now, predicted),
                body,
                index,
            );
            out.items.push(item);
            out.boxes.push(bounds);
        }
    };
    for &slot in slots {
        let shapes = model.bodies[slot as usize]
            .as_ref()
            .map_or(0, |b| b.shapes.len());
        (0..shapes).for_each(|index| add(slot, index, out));
    }
    let own = out.items.len();
    for ((item, bounds), movable) in around.items.iter().zip(&around.boxes).zip(&around.movable) {
        let stands = !movable
            && model.bodies[item.body as usize]
                .as_ref()
                .is_some_and(|b| !b.is_dynamic());
        if stands && out.boxes[..own].iter().any(|x| x.overlaps(bounds)) {
            add(item.body, item.shape as usize, out);
        }
    }
    let mut points = std::mem::take(&mut out.points);
    for i in 0..own {
        for j in i + 1..out.items.len() {
            let (mut a, mut b) = (out.items[i], out.items[j]);
            if a.body == b.body || !out.boxes[i].overlaps(&out.boxes[j]) {
                continue;
            }
            if a.body > b.body {
                std::mem::swap(&mut a, &mut b);
            }
            if model.jointed.is_empty() || !model.are_jointed((a.body, a.shape), (b.body, b.shape))
            {
                narrow_pair(Some(course), model, now, &a, &b, &mut points, out);
            }
        }
    }
    out.points = points;
    out.contacts.sort_unstable_by_key(|c| c.key);
}

/// How far any point of a body can move by turning [m].
pub(crate) fn swing(reach: f64, now: &BodyState, then: &BodyState) -> f64 {
    // Half the rotation angle is asin of the vector part; the chord 2 sin(θ/2) · reach bounds the displacement of a point.
    let turn = now.rotation.conjugate() * then.rotation;
    let chord = 2.0 * (turn.x * turn.x + turn.y * turn.y + turn.z * turn.z).sqrt();
    if reach.is_finite() {
        chord * reach
    } else {
        0.0
    }
}

/// Where two shapes drift within `h` [s] with the velocities of now, bodies of prescribed motion on their way.
fn drift(h: f64, a: (&Body, &Item), b: (&Body, &Item), now: &[BodyState]) -> Drift {
    let missing = |(body, item): (&Body, &Item)| match body.kind {
        BodyKind::Dynamic | BodyKind::Link { .. } => {
            now[item.body as usize].velocity * h - item.shift
        }
        BodyKind::Fixed | BodyKind::Kinematic(_) => Vec3::ZERO,
    };
    let (by_a, by_b) = (missing(a), missing(b));
    let end = |item: &Item, by: Vec3| Pose::new(item.then.position + by, item.then.rotation);
    let shift = b.1.shift + by_b - a.1.shift - by_a;
    Drift {
        now: (a.1.now, b.1.now),
        end: (end(a.1, by_a), end(b.1, by_b)),
        motion: shift.length() + a.1.swing + b.1.swing,
        forced: by_a - by_b,
    }
}

fn narrow_pair(
    course: Option<&Course<'_>>,
    model: &Model,
    now: &[BodyState],
    a: &Item,
    b: &Item,
    points: &mut Vec<ContactPoint>,
    out: &mut Detection,
) {
    let (i, j) = (a.body as usize, b.body as usize);
    let (Some(body_a), Some(body_b)) = (&model.bodies[i], &model.bodies[j]) else {
        return;
    };
    let (shape_a, shape_b) = (
        &body_a.shapes[a.shape as usize],
        &body_b.shapes[b.shape as usize],
    );
    if shape_a.sensor || shape_b.sensor || !shape_a.filter.allows(shape_b.filter) {
        return;
    }
    let swings = a.swing + b.swing;
    let near = MARGIN * body_a.reach.min(body_b.reach);
    let margin = near + a.shift.length() + b.shift.length() + swings;
    let pair = PairKey {
        body_a: a.body,
        body_b: b.body,
        shape_a: a.shape,
        shape_b: b.shape,
    };
    points.clear();
    let shapes = (&shape_a.shape, &shape_b.shape);
    let mut seen = moving::Seen::default();
    let bound = (b.shift - a.shift).length() + swings;
    let arm = |body: &Body, s: &ShapeDesc| s.pose.position.length() + body.center.length();
    let motion = moving::relative_motion(
        shapes,
        (&a.now, &b.now),
        (&a.then, &b.then),
        (arm(body_a, shape_a), arm(body_b, shape_b)),
        bound,
    );
    // The way of a link is its tree's: it is looked at where it is and where it will be, not in between.
    let link = |body: &Body| matches!(body.kind, BodyKind::Link { .. });
    let slow = course.map_or(FEATURE_MOTION, |c| c.feature_motion);
    let pace = match moving::Pace::of(shapes, motion, slow) {
        moving::Pace::Fast if link(body_a) || link(body_b) => moving::Pace::Brisk,
        pace => pace,
    };
    // Seams are where ground meets ground: two bodies that both move are not asked whether they pass each other.
    let ground = !body_a.is_dynamic() || !body_b.is_dynamic();
    let drift = course
        .filter(|_| ground)
        .map(|c| drift(c.h, (body_a, a), (body_b, b), now));
    match (pace, course) {
        (moving::Pace::Fast, Some(course)) => {
            let flight = |slot: usize, body, shape: &ShapeDesc| {
                let a = integrate::acceleration(model, body, &course.loads[slot]);
                Flight::of_body(body, &shape.pose, &now[slot], a, course.time)
            };
            let (surface, _) = model.materials.lookup(shape_a.material, shape_b.material);
            let flights = (flight(i, body_a, shape_a), flight(j, body_b, shape_b));
            seen = moving::look(
                shapes,
                (&flights.0, &flights.1),
                drift.as_ref(),
                course.h,
                near,
                motion,
                &surface,
                points,
            );
            out.unresolved += u32::from(seen.unresolved) + u32::from(seen.limited);
            if let Some(wait) = seen.goes_on {
                out.stop = out.stop.min(seen.time + wait);
            }
        }
        (pace, _) => {
            let mut start = out.last_start(shapes, pair);
            let mut limited = narrow::collide_shapes_on(
                drift.as_ref(),
                (shapes.0, &a.now),
                (shapes.1, &b.now),
                margin,
                &mut start,
                points,
            );
            out.keep_start(shapes, pair, start);
            if pace == moving::Pace::Brisk {
                limited |= moving::add_later(
                    drift.as_ref(),
                    shapes,
                    (&a.now, &b.now),
                    (&a.then, &b.then),
                    near,
                    points,
                );
            }
            out.unresolved += u32::from(limited);
        }
    }
    if points.is_empty() {
        return;
    }
    let (surface, fell_back) = model.materials.lookup(shape_a.material, shape_b.material);
    out.material_fallbacks += usize::from(fell_back);
    // Features move from shape frames to frames at the centres of mass.
    let place_a = Pose::new(shape_a.pose.position - body_a.center, shape_a.pose.rotation);
    let place_b = Pose::new(shape_b.pose.position - body_b.center, shape_b.pose.rotation);
    let first = out.contacts.len();
    for (k, p) in points.iter().enumerate() {
        let point = ContactPoint {
            features: p.features.moved(&place_a, &place_b),
            ..*p
        };
        out.contacts.push(Contact {
            key: ContactKey {
                pair,
                feature: p.feature_id,
            },
            point,
            surface,
            seen: if k < seen.near { 0.0 } else { seen.time },
        });
    }
    out.contacts[first..].sort_unstable_by_key(|c| c.key.feature);
}
