//! Distance and witness points of two convex cores.
//!
//! Reads: cores, their relative pose.  Writes: nothing (pure functions).
//! Called by: `geometry`, the convex pairs of `collide`.
//! Source: [Gilbert88]; [Bergen99] for the bounds that end it. Letters: A − B is the set of differences a − b, in A's frame; v its
//! point closest to the origin so far, w a new point of it farthest along −v. v·w/|v| bounds the distance from below, |v| from above.

use super::simplex::{Simplex, Vertex};
use crate::math::{Mat3, Pose, Vec3};
use crate::shape::{Core, SupportPoint};

/// Rounding of a difference of points, relative to the sizes that enter it [1].
const GJK_ROUNDING: f64 = 4e-16;
/// The bounds of the distance must agree to this part of the sizes [1]: what `f64` can give with flat faces …
const GJK_TIGHT: f64 = 1e-14;
/// … and with round ones, which are approached step by step.
const GJK_TIGHT_ROUND: f64 = 1e-12;
/// Most rounds. Flat shapes need some ten, round ones some fifty.
const GJK_ROUNDS_MAX: usize = 160;

/// How far B is moved away for a first look, relative to the sizes [1]; the progress that ends it, likewise; and its most rounds.
const AWAY: f64 = 0.3;
const GJK_NEAR: f64 = 1e-3;
const APPROACH_ROUNDS: usize = 3;
/// Most rounds of a look from outside.
const SEEN_ROUNDS: usize = 6;

/// Rounds without progress that end the search.
const STALLED_MAX: usize = 4;

/// Two cores, B seen from A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConvexPair<'a> {
    pub a: Core<'a>,
    pub b: Core<'a>,
    /// Rotation from B's frame to A's.
    pub turn: Mat3,
    /// Its transpose, kept for speed.
    turn_back: Mat3,
    /// Origin of B in A's frame [m].
    pub offset: Vec3,
    /// Last features, where hulls start climbing.
    hint_a: u32,
    hint_b: u32,
}

/// What the search found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// Apart by |v|.
    Apart { v: Vec3, simplex: Simplex },
    /// The origin lies in A − B, or so close to it that rounding cannot tell.
    Overlap { simplex: Simplex },
    /// Farther apart than asked for.
    Beyond,
}

impl<'a> ConvexPair<'a> {
    pub fn new(a: Core<'a>, pose_a: &Pose, b: Core<'a>, pose_b: &Pose) -> Self {
        let turn = Mat3::from_quat(pose_a.rotation.conjugate() * pose_b.rotation);
        Self {
            a,
            b,
            turn,
            turn_back: turn.transpose(),
            offset: pose_a.vector_to_local(pose_b.position - pose_a.position),
            hint_a: u32::MAX,
            hint_b: u32::MAX,
        }
    }

    /// The point of A − B farthest along `d`.
    #[inline(always)]
    pub fn support(&mut self, d: Vec3) -> Vertex {
        let (a, b) = (self.support_a(d), self.support_b(d));
        Vertex {
            w: a.point - self.b_in_a(b.point),
            a: a.point,
            b: b.point,
            names: [a.feature, b.feature],
        }
    }

    /// The point of A farthest along `d`.
    #[inline(always)]
    pub fn support_a(&mut self, d: Vec3) -> SupportPoint {
        let a = self.a.support(d, self.hint_a);
        self.hint_a = a.feature;
        a
    }

    /// The point of B, in its own frame, farthest against `d`.
    #[inline(always)]
    pub fn support_b(&mut self, d: Vec3) -> SupportPoint {
        let b = self.b.support(-(self.turn_back * d), self.hint_b);
        self.hint_b = b.feature;
        b
    }

    /// Lets hulls start climbing from these features.
    pub fn climb_from(&mut self, names: [u32; 2]) {
        [self.hint_a, self.hint_b] = names;
    }

    /// The line of the middles, from A − B toward the origin.
    fn outward(&self) -> Vec3 {
        let d = self.b_in_a(self.b.middle()) - self.a.middle();
        if d.length_squared() > 0.0 {
            d
        } else {
            -Vec3::X
        }
    }

    /// Up to three corners of A − B near the place where the line of the middles leaves it: the closest ones, roughly, seen from a point
    /// outside on that line. From the origin itself the search would first run all around A − B, as the direction to a close origin says
    /// nothing of where the surface looks. They go to `simplex`, which is empty; `false` if the cores are farther apart than `limit` [m].
    pub fn approach(&mut self, limit: f64, simplex: &mut Simplex) -> bool {
        let n = self.outward().normalize_or(-Vec3::X);
        let first = self.support(n);
        let overlap = n.dot(first.w);
        if -overlap > limit {
            return false;
        }
        simplex.push(first);
        self.close_in(
            n * (overlap.max(0.0) + AWAY * self.size()),
            (APPROACH_ROUNDS, GJK_NEAR * self.size()),
            simplex,
        );
        true
    }

    /// Moves a simplex to the corners of A − B closest to `eye`, a point outside. Returns the unit direction toward that point, and
    /// whether these corners are known to be the closest.
    pub fn seen_from(&mut self, eye: Vec3, simplex: &mut Simplex) -> (Vec3, bool) {
        let tight = GJK_TIGHT * self.size() + GJK_ROUNDING * self.span();
        self.close_in(eye, (SEEN_ROUNDS, tight), simplex)
    }

    fn close_in(
        &mut self,
        eye: Vec3,
        (rounds, enough): (usize, f64),
        simplex: &mut Simplex,
    ) -> (Vec3, bool) {
        let count = simplex.count;
        for v in &mut simplex.vertices[..count] {
            v.w -= eye;
        }
        let mut toward = Vec3::X;
        let mut done = false;
        for round in 0..=rounds {
            let Some(v) = simplex.reduce() else { break };
            let distance;
            (toward, distance) = simplex.toward(v);
            if round == rounds {
                break;
            }
            let new = self.support(-toward);
            let w = new.w - eye;
            done = distance - toward.dot(w) <= enough || simplex.has(w);
            if done {
                break;
            }
            simplex.push(Vertex { w, ..new });
        }
        let count = simplex.count;
        for v in &mut simplex.vertices[..count] {
            v.w = v.a - self.b_in_a(v.b);
        }
        (-toward, done)
    }

    /// A point of B's frame in A's.
    #[inline]
    pub fn b_in_a(&self, x: Vec3) -> Vec3 {
        self.turn * x + self.offset
    }

    /// The same pair with B moved by `by`, in A's frame.
    pub fn moved(&self, by: Vec3) -> Self {
        Self {
            offset: self.offset + by,
            ..*self
        }
    }

    /// Both reaches [m]: the size that tolerances of lengths refer to.
    pub fn size(&self) -> f64 {
        self.a.reach() + self.b.reach()
    }

    /// Largest number that enters a difference a − b [m].
    pub fn span(&self) -> f64 {
        self.size() + self.offset.length()
    }

    pub fn is_polyhedral(&self) -> bool {
        self.a.is_polyhedral() && self.b.is_polyhedral()
    }

    /// Distance of the cores, as far as it is at most `limit` [m].
    pub fn distance(&mut self, start: &Simplex, limit: f64) -> Found {
        let span = self.span();
        let touch = GJK_ROUNDING * span;
        let tight = if self.is_polyhedral() {
            GJK_TIGHT
        } else {
            GJK_TIGHT_ROUND
        } * self.size()
            + touch;
        let mut simplex = *start;
        let mut v;
        if simplex.count > 0 {
            match simplex.reduce() {
                Some(point) => v = point,
                None => return Found::Overlap { simplex },
            }
        } else {
            let first = self.support(self.outward());
            simplex.push(first);
            simplex.weights[0] = 1.0;
            v = first.w;
        }
        let mut best = (v, simplex);
        let mut stalled = 0;
        for _ in 0..GJK_ROUNDS_MAX {
            let distance = v.length();
            if distance <= touch {
                return Found::Overlap { simplex };
            }
            let toward = simplex.direction(v);
            let new = self.support(-toward);
            let below = toward.dot(new.w);
            if below > limit {
                return Found::Beyond;
            }
            if distance - below <= tight || simplex.has(new.w) {
                break;
            }
            simplex.push(new);
            match simplex.reduce() {
                Some(point) => v = point,
                None => return Found::Overlap { simplex },
            }
            // A round may win less than a rounding and still prepare the next; several in a row are the end.
            if v.length_squared() < best.0.length_squared() {
                best = (v, simplex);
                stalled = 0;
            } else {
                stalled += 1;
                if stalled > STALLED_MAX {
                    break;
                }
            }
        }
        let (v, mut simplex) = best;
        simplex.refine(v);
        let v = simplex.direction(v) * v.length();
        Found::Apart { v, simplex }
    }
}
