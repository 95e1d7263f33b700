//! Any two bounded convex shapes: face patches where a face shows the way out, else the closest or deepest features.
//!
//! Reads: shapes, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`.
//! Source: distance and depth by `geometry`; then [Lecture] "Near Phase with SAT". We deviate: instead of all axes, only the two faces
//! that look most along the normal found are tried; a face that is as good as that normal within the preference is taken.

use super::contact::{ContactPoint, Features};
use super::gjk::ConvexPair;
use super::narrow::Placed;
use super::nearest::push_nearest;
use super::outline::Turned;
use super::patch::{Patch, PatchPoint, Reference};
use super::settle::Start;
use crate::geometry::{self, CoreSeparation};
use crate::math::{Pose, Vec3};
use crate::shape::{Core, Shape};

/// A normal must be better than that of a face by this part of its depth … [1]
const PREFER_RELATIVE: f64 = 0.05;
/// … plus this part of the size of the smaller shape [1], …
const PREFER_SIZE: f64 = 1e-4;
/// … unless a ball touches, which has one point and so nothing to gain.
const PREFER_BALL: f64 = 1e-9;
/// Ratio of areas above which a face is the larger one [1].
const LARGER: f64 = 1.5;

/// Difference of unit vectors below which what stands out along one does so along the other [1]: a part of what `settle` asks for.
const CONVEX_SAME_NORMAL: f64 = 1e-7;

/// Cosine of the angle between the normal found and that of a face up to which what comes nearest lies nearly flat on the face [1]: 8°.
const CONVEX_FLAT: f64 = 0.99;
/// Distance from the nearest point, relative to the size, from which on a point of the patch is another one [1], …
const CONVEX_BESIDE: f64 = 1e-3;
/// … beyond what the two normals make of the distance of the cores there: the sine of that angle [1].
const SLANT: f64 = 0.15;

/// Marks points of a patch on B's face.
const ON_B: u32 = 1 << 30;

/// Appends up to eight points of a face contact; of any other up to three, and those of a face that it nearly lies on.
pub(super) fn convex_convex(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    start: &mut Start,
    out: &mut Vec<ContactPoint>,
) {
    if let (Some(a), Some(b)) = (Core::of(a), Core::of(b)) {
        cores(a, pose_a, b, pose_b, margin, start, out);
    }
}

/// The same for two thickened cores.
pub(super) fn cores(
    (a, radius_a): (Core<'_>, f64),
    pose_a: &Pose,
    (b, radius_b): (Core<'_>, f64),
    pose_b: &Pose,
    margin: f64,
    start: &mut Start,
    out: &mut Vec<ContactPoint>,
) {
    let mut pair = ConvexPair::new(a, pose_a, b, pose_b);
    let limit = margin + radius_a + radius_b;
    let mut found = CoreSeparation::default();
    if !geometry::cores_from(&mut pair, limit, start, &mut found) {
        return;
    }
    let contact = Touching {
        placed: Placed {
            pose_a,
            pose_b,
            radius_a,
            radius_b,
            rolling_radius: 0.0,
            margin,
        },
        size: smaller(&a, &b),
        found: &found,
    };
    contact.collide(&mut pair, out);
}

/// The size of the smaller core that has one [m].
pub(super) fn smaller(a: &Core<'_>, b: &Core<'_>) -> f64 {
    let (a, b) = (a.reach(), b.reach());
    if a > 0.0 && b > 0.0 {
        a.min(b)
    } else {
        a.max(b)
    }
}

/// Two cores with the distance and normal that were found.
pub(super) struct Touching<'a> {
    pub placed: Placed<'a>,
    pub size: f64,
    pub found: &'a CoreSeparation,
}

/// A face that may carry the contact.
struct Candidate {
    normal: Vec3,
    /// The same in the frame of A, from A to B.
    along: Vec3,
    /// Separation along the normal [m].
    separation: f64,
    area: f64,
    /// The feature of the other core that comes nearest.
    other: u32,
}

impl Touching<'_> {
    /// Appends the contacts of the two cores.
    pub fn collide(&self, pair: &mut ConvexPair<'_>, out: &mut Vec<ContactPoint>) {
        let ball = matches!(pair.a, Core::Point) || matches!(pair.b, Core::Point);
        // The other triangles of a mesh have their own points.
        let is_part = matches!(pair.a, Core::Triangle(_));
        let part = if ball { PREFER_BALL } else { PREFER_SIZE };
        let relative = if ball { 0.0 } else { PREFER_RELATIVE };
        let better = |s: f64, than: f64| s > than + relative * (-than).max(0.0) + part * self.size;
        let n = self.found.normal;
        let [top_a, top_b] = self.found.tops;
        let turned_a = Turned::new(&pair.a, n, top_a);
        let turned_b = Turned::new(&pair.b, -(pair.turn.transpose() * n), top_b);
        let (face_a, face_b) = (
            self.candidate(pair, &turned_a, false),
            self.candidate(pair, &turned_b, true),
        );
        // The larger face unless the other is clearly better; of equals A's: no flicker between them.
        let chosen = match (face_a, face_b) {
            (Some(f), Some(g)) => {
                let on_b = if g.area > LARGER * f.area {
                    !better(f.separation, g.separation)
                } else {
                    better(g.separation, f.separation)
                };
                Some(if on_b { (g, true) } else { (f, false) })
            }
            (Some(f), None) => Some((f, false)),
            (None, Some(g)) => Some((g, true)),
            (None, None) => None,
        };
        let Some((face, on_b)) = chosen else {
            push_nearest(self, pair, out);
            return;
        };
        let turned = if on_b { turned_b } else { turned_a };
        if better(self.found.distance, face.separation) {
            let first = out.len();
            push_nearest(self, pair, out);
            if !ball && !is_part && face.along.dot(n) >= CONVEX_FLAT {
                self.add_ends(pair, turned, &face, on_b, first, out);
            }
            return;
        }
        let lowest = self.face(pair, turned, &face, on_b, out);
        if better(lowest, self.found.distance) {
            push_nearest(self, pair, out);
        }
    }

    /// Where what comes nearest lies nearly flat on a face all the same, the other points of the patch there. An edge across a narrow face
    /// touches at two ends; kept apart at the nearer one alone, it would sink in at the other. (How far the face separates the cores says
    /// little of this: a long edge reaches deep under its plane beside the face. What is over the face counts.)
    fn add_ends(
        &self,
        pair: &ConvexPair<'_>,
        turned: Turned<'_>,
        face: &Candidate,
        on_b: bool,
        nearest: usize,
        out: &mut Vec<ContactPoint>,
    ) {
        let first = out.len();
        // Where the core of B is: skins of different normals are apart where their cores meet in one point.
        let core = |p: &ContactPoint| p.point_b + p.normal * p.radius_b;
        let least = out[nearest..]
            .iter()
            .fold(f64::INFINITY, |g, p| g.min(p.gap));
        self.face(pair, turned, face, on_b, out);
        let mut kept = first;
        for k in first..out.len() {
            let mut p = out[k];
            let beside = |q: &ContactPoint| {
                let apart = (q.gap + q.radius_a + q.radius_b).abs();
                (core(&p) - core(q)).length() > CONVEX_BESIDE * self.size + SLANT * apart
            };
            // None is deeper than the deepest there is.
            if p.gap >= least && out[nearest..first].iter().all(beside) {
                while out[nearest..kept]
                    .iter()
                    .any(|q| q.feature_id == p.feature_id)
                {
                    p.feature_id = p.feature_id.wrapping_add(1);
                }
                out[kept] = p;
                kept += 1;
            }
        }
        out.truncate(kept);
    }

    /// Clips the other outline to a face; returns the lowest height of its core points [m].
    fn face(
        &self,
        pair: &ConvexPair<'_>,
        turned: Turned<'_>,
        face: &Candidate,
        on_b: bool,
        out: &mut Vec<ContactPoint>,
    ) -> f64 {
        let Placed {
            pose_a,
            pose_b,
            radius_a,
            radius_b,
            margin,
            ..
        } = self.placed;
        let back = pair.turn.transpose();
        let (own, other, turn, shift) = if on_b {
            (pair.b, pair.a, back, -(back * pair.offset))
        } else {
            (pair.a, pair.b, pair.turn, pair.offset)
        };
        let normal = face.normal;
        let outline = turned.outline();
        let around = outline.around(&own);
        let reference = Reference {
            normal,
            anchor: outline.points()[0].x,
            corners: around.as_ref().unwrap_or(&outline).points(),
            seams: 0,
            turn,
            shift,
            size: self.size,
        };
        let incident = Turned::new(&other, -(turn.transpose() * normal), Some(face.other));
        let incident = incident.outline();
        let patch = Patch::new(&incident, &reference, margin + radius_a + radius_b);
        let (radius_own, radius) = if on_b {
            (radius_b, radius_a)
        } else {
            (radius_a, radius_b)
        };
        let faces = FacePair {
            reference: if on_b { pose_b } else { pose_a },
            on_b,
            radius_own,
            radius,
        };
        push_patch(&faces, &reference, &patch, out);
        patch.points().iter().fold(f64::INFINITY, |w, p| w.min(p.w))
    }

    /// The face that a core turns to the other, if it is one, and how far it separates the cores.
    fn candidate(
        &self,
        pair: &mut ConvexPair<'_>,
        turned: &Turned<'_>,
        on_b: bool,
    ) -> Option<Candidate> {
        let (normal, x) = turned.plane()?;
        let along = if on_b { -(pair.turn * normal) } else { normal };
        let own = if on_b { &pair.b } else { &pair.a };
        let (separation, other) = if matches!(own, Core::Hull(_)) {
            // No vertex of a hull lies beyond its face.
            let (y, other) = self.opposite(pair, along, on_b);
            let gap = if on_b {
                pair.b_in_a(x) - y
            } else {
                pair.b_in_a(y) - x
            };
            (along.dot(gap), other)
        } else {
            let new = pair.support(along);
            (-along.dot(new.w), new.names[usize::from(!on_b)])
        };
        Some(Candidate {
            normal,
            along,
            separation,
            area: turned.area(),
            other,
        })
    }

    /// The point of A (of B, unless `on_b`) farthest along (against) `d`, in its own frame, and its name.
    fn opposite(&self, pair: &mut ConvexPair<'_>, d: Vec3, on_b: bool) -> (Vec3, u32) {
        // A single vertex that stands out along the normal found stands out along what is as good as that normal, too.
        let side = usize::from(!on_b);
        let simplex = &self.found.simplex;
        let corners = &simplex.vertices[..simplex.count];
        if let Some(top) = self.found.tops[side]
            && (d - self.found.normal).length_squared() < CONVEX_SAME_NORMAL * CONVEX_SAME_NORMAL
            && corners.iter().all(|v| v.names[side] == top)
        {
            let v = &corners[0];
            return (if on_b { v.a } else { v.b }, top);
        }
        let found = if on_b {
            pair.support_a(d)
        } else {
            pair.support_b(d)
        };
        (found.point, found.feature)
    }
}

/// Who owns the face of a patch.
pub(super) struct FacePair<'a> {
    /// Pose of the shape with the face.
    pub reference: &'a Pose,
    /// Whether the face is B's.
    pub on_b: bool,
    /// Thickness of its owner [m].
    pub radius_own: f64,
    /// Thickness of the other [m].
    pub radius: f64,
}

/// Appends the points of a patch.
pub(super) fn push_patch(
    pair: &FacePair<'_>,
    reference: &Reference<'_>,
    patch: &Patch,
    out: &mut Vec<ContactPoint>,
) {
    let n = pair.reference.vector(reference.normal);
    let first = out.len();
    for p in patch.points() {
        let gap = p.w - pair.radius - pair.radius_own;
        let core = pair.reference.point(p.x);
        let (on_incident, on_face) = (core - n * pair.radius, core - n * (p.w - pair.radius_own));
        let mut feature_id = p.name;
        if pair.on_b {
            feature_id ^= ON_B;
        }
        while out[first..].iter().any(|c| c.feature_id == feature_id) {
            feature_id = feature_id.wrapping_add(1);
        }
        let on_b = pair.on_b;
        out.push(ContactPoint {
            point_a: if on_b { on_incident } else { on_face },
            point_b: if on_b { on_face } else { on_incident },
            normal: if on_b { -n } else { n },
            gap,
            features: features(p, reference, on_b),
            radius_a: if on_b { pair.radius } else { pair.radius_own },
            radius_b: if on_b { pair.radius_own } else { pair.radius },
            rolling_radius: p.radius + pair.radius,
            feature_id,
        });
    }
}

fn features(p: &PatchPoint, reference: &Reference<'_>, face_on_b: bool) -> Features {
    let (anchor, normal) = (reference.anchor, reference.normal);
    if p.radius > 0.0 {
        Features::RimFace {
            center: p.center,
            axis: Vec3::Z,
            radius: p.radius,
            anchor,
            normal,
            face_on_b,
        }
    } else {
        Features::PointFace {
            point: p.center,
            anchor,
            normal,
            face_on_b,
        }
    }
}
