//! Distance and witness points of two convex cores.
//!
//! Reads: cores, their relative pose.  Writes: nothing (pure functions).
//! Called by: `geometry`, the convex pairs of `collide`.
//! Source: [Gilbert88]; [Bergen99] for the bounds that end it. Letters: A − B is the set of differences a − b, in A's frame; v its
//! point closest to the origin so far, w a new point of it farthest along −v. v·w/|v| bounds the distance from below, |v| from above.

use super::simplex::{Simplex, Vertex};
use crate::math::{Mat3, Pose, Vec3};
use crate::shape::Core;

/// Rounding of a difference of points, relative to the sizes that enter it [1].
const ROUNDING: f64 = 4e-16;
/// The bounds of the distance must agree to this part of the sizes [1]: what `f64` can give with flat faces …
const TIGHT: f64 = 1e-14;
/// … and with round ones, which are approached step by step.
const TIGHT_ROUND: f64 = 1e-12;
/// Most rounds. Flat shapes need some ten, round ones some fifty.
const ROUNDS_MAX: usize = 160;

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
    #[inline]
    pub fn support(&mut self, d: Vec3) -> Vertex {
        let a = self.a.support(d, self.hint_a);
        let b = self.b.support(-(self.turn_back * d), self.hint_b);
        self.hint_a = a.feature;
        self.hint_b = b.feature;
        Vertex {
            w: a.point - self.b_in_a(b.point),
            a: a.point,
            b: b.point,
        }
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
        let touch = ROUNDING * span;
        let tight = if self.is_polyhedral() {
            TIGHT
        } else {
            TIGHT_ROUND
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
            let d = self.a.middle() - self.b_in_a(self.b.middle());
            let d = if d.length_squared() > 0.0 { d } else { Vec3::X };
            let first = self.support(-d);
            simplex.push(first);
            simplex.weights[0] = 1.0;
            v = first.w;
        }
        let mut best = (v, simplex);
        let mut stalled = 0;
        for _ in 0..ROUNDS_MAX {
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
