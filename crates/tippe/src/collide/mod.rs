//! Detection: the only door to it is [`detect`]. Bounds → candidate pairs → contact points, in a fixed order.
//!
//! Reads: Model, State, predicted state.  Writes: Contacts.
//! Called by: the detect phase of every method.
//! Source: [Lecture] "Simulation Loop", "Contact Extraction Summary".

pub mod broad;
mod clip;
pub mod contact;
pub(crate) mod epa;
pub(crate) mod gjk;
mod grid;
pub mod narrow;
mod nearest;
mod outline;
mod pair_capsule_capsule;
mod pair_capsule_cuboid;
mod pair_convex;
mod pair_cuboid_cuboid;
mod pair_half_space_any;
mod pair_half_space_convex;
mod pair_mesh;
mod pair_sphere_capsule;
mod pair_sphere_cuboid;
mod pair_sphere_sphere;
mod patch;
mod radix;
mod sat;
pub(crate) mod simplex;
mod thin;
mod tree;

use crate::material::Surface;
use crate::math::Pose;
use crate::model::Model;
use crate::shape::Aabb;
use crate::state::{BodyState, ContactKey, PairKey};
use broad::BroadPhase;
pub use contact::{ContactPoint, Features, Placement};

/// Part of the smaller body's reach by which contacts are seen before they touch [1]: keeps resting contacts alive.
const MARGIN: f64 = 0.005;

/// One contact of the step: a point of touch, who touches, and how their surfaces answer each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Bodies, shapes and features. `key.pair.body_a` is A, the lower slot.
    pub key: ContactKey,
    /// Where, in which direction, how far; features are in frames at the centres of mass.
    pub point: ContactPoint,
    /// Friction and restitution of the pair.
    pub surface: Surface,
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

/// One shape of one body, as detection walks over them.
#[derive(Clone, Copy, Debug)]
struct Item {
    body: u32,
    shape: u32,
}

/// Everything detection finds, and its scratch.
#[derive(Clone, Debug, Default)]
pub struct Detection {
    /// Contact points, sorted by key.
    pub contacts: Vec<Contact>,
    /// Pairs of a sensor and a shape that overlap, sorted.
    pub sensed: Vec<PairKey>,
    /// Touching pairs of different materials without a stated pair.
    pub material_fallbacks: usize,
    items: Vec<Item>,
    boxes: Vec<Aabb>,
    movable: Vec<bool>,
    broad: BroadPhase,
    points: Vec<ContactPoint>,
}

/// Finds all contact points that touch now or may touch before the bodies reach `predicted`.
pub fn detect(model: &Model, now: &[BodyState], predicted: &[BodyState], out: &mut Detection) {
    bound(model, now, predicted, out);
    out.contacts.clear();
    out.sensed.clear();
    out.material_fallbacks = 0;
    // Taken out while the pairs borrow the broad phase; both go back below.
    let mut points = std::mem::take(&mut out.points);
    let mut broad = std::mem::take(&mut out.broad);
    for &(i, j) in broad.update(&out.boxes, &out.movable) {
        let (a, b) = (out.items[i as usize], out.items[j as usize]);
        let jointed = || {
            model
                .jointed
                .binary_search(&(a.body.min(b.body), a.body.max(b.body)))
                .is_ok()
        };
        if a.body != b.body && (model.jointed.is_empty() || !jointed()) {
            narrow_pair(model, now, predicted, a, b, &mut points, out);
        }
    }
    out.points = points;
    out.broad = broad;
    // Pairs come in order of slot and shape; features within a pair are sorted here.
    out.contacts.sort_unstable_by_key(|c| c.key);
}

/// Fills items and boxes: each shape's bounds now and at the predicted pose, with the margin.
fn bound(model: &Model, now: &[BodyState], predicted: &[BodyState], out: &mut Detection) {
    out.items.clear();
    out.boxes.clear();
    out.movable.clear();
    for (slot, body) in model.present() {
        let (frame_now, frame_then) = (now[slot].frame(body), predicted[slot].frame(body));
        for (index, s) in body.shapes.iter().enumerate() {
            let here = s.shape.bounds(&frame_now.compose(&s.pose));
            let bounds = if body.is_dynamic() || frame_now != frame_then {
                let there = s.shape.bounds(&frame_then.compose(&s.pose));
                here.merged(&there).grown(if body.reach.is_finite() {
                    MARGIN * body.reach
                } else {
                    0.0
                })
            } else {
                here
            };
            out.items.push(Item {
                body: slot as u32,
                shape: index as u32,
            });
            out.boxes.push(bounds);
            out.movable.push(body.is_dynamic());
        }
    }
}

/// How far any point of a body can move relative to its centre's straight path, plus that path [m].
fn travel(reach: f64, now: &BodyState, then: &BodyState) -> f64 {
    // Half the rotation angle is asin of the vector part; the chord 2 sin(θ/2) · reach bounds the displacement of a point.
    let turn = now.rotation.conjugate() * then.rotation;
    let chord = 2.0 * (turn.x * turn.x + turn.y * turn.y + turn.z * turn.z).sqrt();
    let spin = if reach.is_finite() {
        chord * reach
    } else {
        0.0
    };
    (then.position - now.position).length() + spin
}

fn narrow_pair(
    model: &Model,
    now: &[BodyState],
    predicted: &[BodyState],
    a: Item,
    b: Item,
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
    if !shape_a.filter.allows(shape_b.filter) {
        return;
    }
    let sensor = shape_a.sensor || shape_b.sensor;
    let margin = if sensor {
        0.0
    } else {
        MARGIN * body_a.reach.min(body_b.reach)
            + travel(body_a.reach, &now[i], &predicted[i])
            + travel(body_b.reach, &now[j], &predicted[j])
    };
    points.clear();
    let pose_a = now[i].frame(body_a).compose(&shape_a.pose);
    let pose_b = now[j].frame(body_b).compose(&shape_b.pose);
    narrow::collide_shapes(
        &shape_a.shape,
        &pose_a,
        &shape_b.shape,
        &pose_b,
        margin,
        points,
    );
    if points.is_empty() {
        return;
    }
    let pair = PairKey {
        body_a: a.body,
        body_b: b.body,
        shape_a: a.shape,
        shape_b: b.shape,
    };
    if sensor {
        out.sensed.push(pair);
        return;
    }
    let (surface, fell_back) = model.materials.lookup(shape_a.material, shape_b.material);
    out.material_fallbacks += usize::from(fell_back);
    // Features move from shape frames to frames at the centres of mass.
    let place_a = Pose::new(shape_a.pose.position - body_a.center, shape_a.pose.rotation);
    let place_b = Pose::new(shape_b.pose.position - body_b.center, shape_b.pose.rotation);
    for p in points.iter() {
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
        });
    }
}
