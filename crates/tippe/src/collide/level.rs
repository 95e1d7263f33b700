//! Normals and points of round cores that agree with each other, where a search by steps left them slightly apart.
//!
//! Reads: cores, their relative pose, what a search found.  Writes: nothing (pure functions).
//! Called by: `geometry`.
//! Source: ours. Letters as in `collide::epa`: h(n) is how far A − B reaches along n, an upper bound of the depth for every n. So a normal that
//! shows less is a better one, whatever way it was found.

use super::epa::{APART, Depth};
use super::gjk::{ConvexPair, Found};
use super::simplex::Simplex;
use crate::math::Vec3;

/// Most steps that level a normal, and the gain, relative to the size, that ends them [1].
const LEVEL_ROUNDS: usize = 16;
const LEVEL: f64 = 1e-15;
/// sin² of the angle below which two points are in line with the foot of the origin [1].
const TWO_WAYS: f64 = 1e-6;
/// Part of the size by which a depth may exceed what its points show before its normal is levelled [1].
const AGREE: f64 = 3e-10;

/// Turns a normal until the plane across it shows no more than `wanted` [m], which the points found show: a normal that is off by a rounding
/// of the search shows an overlap of far ends of edges that there is not. Each step brings the two points that reached farthest last to
/// the height wanted. Returns the best normal with what it shows.
pub(crate) fn levelled(
    pair: &mut ConvexPair<'_>,
    normal: Vec3,
    upper: f64,
    wanted: f64,
) -> (Vec3, f64) {
    let mut best = (normal, upper);
    let (mut n, mut w) = (normal, pair.support(normal).w);
    let mut last = w;
    for _ in 0..LEVEL_ROUNDS {
        if best.1 - wanted <= LEVEL * pair.size() {
            break;
        }
        // Turn by −p x − q y with p, q across n, so that both heights are met.
        let (p, q) = (w - n * n.dot(w), last - n * n.dot(last));
        let (high, low) = (n.dot(w) - wanted, n.dot(last) - wanted);
        let (p_2, q_2, p_q) = (p.length_squared(), q.length_squared(), p.dot(q));
        let area = p_2 * q_2 - p_q * p_q;
        let turn = if area > TWO_WAYS * p_2 * q_2 {
            p * ((high * q_2 - low * p_q) / area) + q * ((low * p_2 - high * p_q) / area)
        } else if p_2 > 0.0 {
            p * (high / p_2)
        } else {
            break;
        };
        n = (n - turn).normalize_or(n);
        last = w;
        w = pair.support(n).w;
        let shows = n.dot(w);
        if shows < best.1 {
            best = (n, shows);
        }
    }
    best
}

/// The depth of an overlap of which one is round, with points and a normal that agree.
pub(crate) fn agreeing(pair: &mut ConvexPair<'_>, mut depth: Depth) -> Depth {
    let enough = AGREE * pair.size();
    let off = |pair: &ConvexPair<'_>, d: &Depth| d.depth - d.normal.dot(between(pair, &d.simplex));
    if pair.is_polyhedral() || off(pair, &depth) <= enough {
        return depth;
    }
    // The search for the points goes on from where it stalled.
    let mut moved = pair.moved(depth.normal * (depth.depth + APART * pair.size()));
    let mut start = depth.simplex;
    for v in &mut start.vertices[..start.count] {
        v.w = v.a - moved.b_in_a(v.b);
    }
    if let Found::Apart { simplex, .. } = moved.distance(&start, f64::INFINITY) {
        let other = Depth { simplex, ..depth };
        if off(pair, &other) < off(pair, &depth) {
            depth = other;
        }
    }
    if off(pair, &depth) > enough {
        let shown = depth.normal.dot(between(pair, &depth.simplex));
        (depth.normal, depth.depth) = levelled(pair, depth.normal, depth.depth, shown);
    }
    depth
}

/// From the point of B to that of A that the weights make [m]; the vertices may be those of a pair that was moved.
pub(crate) fn between(pair: &ConvexPair<'_>, simplex: &Simplex) -> Vec3 {
    let (a, b) = simplex.witnesses();
    a - pair.b_in_a(b)
}
