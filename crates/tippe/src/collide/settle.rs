//! The answer of a search over two hulls, made anew from the corners it ended with: the same bits by whatever way they were found.
//!
//! Reads: hulls, their relative pose, the last answer's corners.  Writes: the corners, for the next search.
//! Called by: `geometry`, the convex pairs of `collide`.
//! Source: ours; [Mirtich94] §3.1 for closest features that are kept from step to step.
//!
//! A search that begins where the last one ended needs a round or two instead of ten. Its answer must not depend on that: contacts are
//! a function of shapes and poses alone. So an answer counts only if no other is nearly as good. Apart, the closest corners are then the
//! only ones; overlapping, no other face of A − B is as near to the origin. Every search finds these corners, and distance, normal and
//! weights are computed from them in the order of their names. Else the search is made again from nothing.

use super::epa;
use super::gjk::{ConvexPair, Found};
use super::simplex::{Simplex, Vertex};
use crate::geometry::{self, CoreSeparation};
use crate::math::Vec3;
use crate::shape::{ConvexHull, Core};

/// Least weight of a corner that counts for sure [1].
const WEIGHT_MIN: f64 = 1e-3;
/// Part of the sizes by which all other corners must lie lower than those of the answer [1].
const STANDS_OUT: f64 = 1e-5;
/// Part of the sizes by which cores must be apart or overlap for that to be sure [1].
const SURE: f64 = 1e-8;

/// How far above the surface of A − B it is looked at, relative to the sizes [1], and how often.
const ABOVE: f64 = 0.05;
const SETTLE_LOOKS_MAX: usize = 3;

/// Where the last search over two hulls ended: a hint for the next. Whatever it holds, answers are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    corners: [[u32; 2]; 3],
    count: u32,
}

impl Start {
    /// The corners at the poses of now; `None` if there are none or they are of other hulls.
    fn simplex(&self, pair: &ConvexPair<'_>, hulls: [&ConvexHull; 2]) -> Option<Simplex> {
        let mut simplex = Simplex::default();
        for names in self.corners.get(..self.count as usize)? {
            let a = *hulls[0].vertices().get(names[0] as usize)?;
            let b = *hulls[1].vertices().get(names[1] as usize)?;
            simplex.push(corner(pair, a, b, *names));
        }
        (simplex.count > 0).then_some(simplex)
    }

    fn keep(&mut self, simplex: &Simplex) {
        self.count = simplex.count.min(3) as u32;
        for (k, v) in simplex.vertices.iter().take(3).enumerate() {
            self.corners[k] = v.names;
        }
    }
}

fn corner(pair: &ConvexPair<'_>, a: Vec3, b: Vec3, names: [u32; 2]) -> Vertex {
    Vertex {
        w: a - pair.b_in_a(b),
        a,
        b,
        names,
    }
}

/// What a search came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Beyond,
    /// Sure, and made from its corners alone.
    Settled,
    /// As the search left it.
    Open,
}

/// How two hulls lie to each other, as [`crate::geometry::cores`]; `false` if farther apart than `limit` [m].
///
/// Answers are large: here and below they are written to `out`, where nothing of meaning is left if the answer is no.
pub(crate) fn hulls(
    pair: &mut ConvexPair<'_>,
    hulls: [&ConvexHull; 2],
    limit: f64,
    start: &mut Start,
    out: &mut CoreSeparation,
) -> bool {
    let answer = warm(pair, hulls, limit, start, out).unwrap_or_else(|| {
        pair.climb_from([u32::MAX; 2]);
        let mut simplex = Simplex::default();
        if pair.approach(limit, &mut simplex) {
            search(pair, hulls, &mut simplex, limit, out)
        } else {
            Answer::Beyond
        }
    });
    match answer {
        Answer::Beyond => {}
        Answer::Settled => {
            start.keep(&out.simplex);
            // What follows must not depend on the way here either.
            pair.climb_from(out.simplex.vertices[0].names);
        }
        Answer::Open => start.count = 0,
    }
    answer != Answer::Beyond
}

/// The answer from where the last one was, if it is sure.
fn warm(
    pair: &mut ConvexPair<'_>,
    hulls: [&ConvexHull; 2],
    limit: f64,
    start: &Start,
    out: &mut CoreSeparation,
) -> Option<Answer> {
    let mut simplex = start.simplex(pair, hulls)?;
    pair.climb_from(simplex.vertices[0].names);
    // Beyond the limit or within must be sure as well.
    let unsure = SURE * pair.size();
    let answer = if same_as_before(pair, hulls, &simplex, out) {
        Answer::Settled
    } else {
        search(pair, hulls, &mut simplex, limit + unsure, out)
    };
    match answer {
        Answer::Settled if out.distance > limit + unsure => Some(Answer::Beyond),
        Answer::Settled if out.distance > limit - unsure => None,
        Answer::Open => None,
        answer => Some(answer),
    }
}

/// The answer of the same corners as last time, if nothing else can be the answer now.
fn same_as_before(
    pair: &mut ConvexPair<'_>,
    hulls: [&ConvexHull; 2],
    corners: &Simplex,
    out: &mut CoreSeparation,
) -> bool {
    // From a point well inside A − B the face looks outward.
    let c = hulls[0].center() - pair.b_in_a(hulls[1].center());
    let [p, q, r] = [0, 1, 2].map(|k| corners.vertices[k].w);
    let n = (q - p).cross(r - p);
    let inside = corners.count == 3 && (n.dot(p) > 0.0) == (n.dot(p - c) > 0.0);
    if inside {
        face(pair, hulls, corners, out) && is_nearest(pair, hulls, out, c)
    } else {
        apart(pair, hulls, corners, out)
    }
}

/// The face of a shallow overlap, found from outside: A − B is looked at from a point above its surface, which the next look moves along
/// the normal found, until the face below that point is the face below the origin. `false` where that leads nowhere; the search at large
/// takes over then.
fn from_outside(
    pair: &mut ConvexPair<'_>,
    hulls: [&ConvexHull; 2],
    simplex: &mut Simplex,
    out: &mut CoreSeparation,
) -> bool {
    let c = hulls[0].center() - pair.b_in_a(hulls[1].center());
    let Some(mut n) = (-c).try_normalize() else {
        return false;
    };
    if simplex.count == 3 {
        let [p, q, r] = [0, 1, 2].map(|k| simplex.vertices[k].w);
        let across = (q - p).cross(r - p).normalize_or(n);
        n = if across.dot(p - c) < 0.0 {
            -across
        } else {
            across
        };
    }
    for _ in 0..SETTLE_LOOKS_MAX {
        let corners = &simplex.vertices[..simplex.count];
        let height = corners.iter().fold(0.0_f64, |h, v| h.max(n.dot(v.w)));
        if height <= 0.0 {
            return false;
        }
        let below;
        (n, below) = pair.seen_from(n * (height + ABOVE * pair.size()), simplex);
        if below && simplex.count == 3 && face(pair, hulls, simplex, out) {
            return is_nearest(pair, hulls, out, c);
        }
    }
    false
}

/// Whether no plane of A − B that looks another way than this face is as near to the origin: at once, or by looking around.
fn is_nearest(
    pair: &mut ConvexPair<'_>,
    hulls: [&ConvexHull; 2],
    found: &CoreSeparation,
    c: Vec3,
) -> bool {
    let inner = hulls[0].inner() + hulls[1].inner();
    is_nearest_at_once(pair, found, c, inner) || epa::is_nearest(pair, found)
}

/// Whether that is so by the face and a ball inside alone; `false` if it is not clear.
///
/// The face holds a disc of radius ρ about the foot of the origin, and A − B a ball of radius R about c. So A − B reaches beyond the
/// depth δ along every m at an angle θ from the normal n: by the disc, as δ cos θ + ρ sin θ > δ up to tan θ/2 = ρ/δ, and by the ball,
/// as m · c + R > δ, from there on if it does so there: with D = −n · c and e the part of c across n, m · c ≥ −D cos θ − e sin θ.
fn is_nearest_at_once(pair: &ConvexPair<'_>, found: &CoreSeparation, c: Vec3, inner: f64) -> bool {
    let (n, depth) = (found.normal, -found.distance);
    let s = &found.simplex.vertices;
    let foot = n * depth;
    // Of two edges that cross, the last two corners have no name in common: their line is a diagonal of the face.
    let crossing = (0..2).all(|side| s[1].names[side] != s[2].names[side]);
    let [p, q, r] = [0, 1, 2].map(|k| s[k].w);
    let sides = if crossing {
        [(p, q - p), (p, r - p), (q, r - p), (r, q - p)]
    } else {
        [(p, q - p), (p, r - p), (q, r - q), (q, r - q)]
    };
    let mut disc = f64::INFINITY;
    for (corner, along) in sides {
        let across = n.cross(along.normalize_or_zero());
        disc = disc.min(across.dot(foot - corner).abs());
    }
    let limit = depth + SURE * pair.size();
    // tan θ/2 = ρ/δ.
    let (d_2, r_2) = (limit * limit, disc * disc);
    let (cos, sin) = ((d_2 - r_2) / (d_2 + r_2), 2.0 * limit * disc / (d_2 + r_2));
    let down = -n.dot(c);
    let across = (c + n * down).length();
    // Beyond the angle of c itself the ball only wins.
    down * cos + across * sin < inner - limit && across * cos < down * sin
}

fn search(
    pair: &mut ConvexPair<'_>,
    hulls: [&ConvexHull; 2],
    simplex: &mut Simplex,
    limit: f64,
    out: &mut CoreSeparation,
) -> Answer {
    if from_outside(pair, hulls, simplex, out) {
        return Answer::Settled;
    }
    match pair.distance(simplex, limit) {
        Found::Beyond => Answer::Beyond,
        Found::Apart { v, simplex } => {
            if apart(pair, hulls, &simplex, out) {
                return Answer::Settled;
            }
            *out = geometry::apart(pair, v, simplex);
            Answer::Open
        }
        Found::Overlap { simplex } => {
            let depth = epa::nearest_face(pair, &simplex, true);
            if depth.clear && face(pair, hulls, &depth.simplex, out) {
                return Answer::Settled;
            }
            *out = geometry::overlapping(&epa::finished(pair, depth));
            Answer::Open
        }
    }
}

/// The closest corners, if they are sure.
fn apart(
    pair: &ConvexPair<'_>,
    hulls: [&ConvexHull; 2],
    found: &Simplex,
    out: &mut CoreSeparation,
) -> bool {
    let simplex = &mut out.simplex;
    let Some(v) = ordered(pair, found, simplex) else {
        return false;
    };
    simplex.refine(v);
    let distance = simplex.point().length();
    let normal = -simplex.direction(v);
    let shown = -normal.dot(simplex.vertices[0].w);
    let tiny = SURE * pair.size();
    out.distance = distance;
    out.normal = normal;
    out.tops = out.simplex.vertices[0].names.map(Some);
    distance > tiny
        && (distance - shown).abs() <= 0.1 * tiny
        && stand_out(pair, hulls, &out.simplex, normal)
}

/// A face of A − B with the origin below it, if its corners are sure.
fn face(
    pair: &ConvexPair<'_>,
    hulls: [&ConvexHull; 2],
    corners: &Simplex,
    out: &mut CoreSeparation,
) -> bool {
    let simplex = &mut out.simplex;
    let Some(v) = ordered(pair, corners, simplex) else {
        return false;
    };
    if simplex.count != 3 {
        return false;
    }
    simplex.refine(v);
    let [p, q, r] = [0, 1, 2].map(|k| simplex.vertices[k].w);
    let Some(n) = (q - p).cross(r - p).try_normalize() else {
        return false;
    };
    let normal = if n.dot(p) < 0.0 { -n } else { n };
    let depth = normal.dot(p).max(normal.dot(q)).max(normal.dot(r));
    out.distance = -depth;
    out.normal = normal;
    out.tops = out.simplex.vertices[0].names.map(Some);
    depth > SURE * pair.size() && stand_out(pair, hulls, &out.simplex, normal)
}

/// The corners in the order of their names, with new weights, and the point closest to the origin. Of two edges that cross, the three of
/// their four corners that hold it. `None` if the corners are not those of a corner, edge or triangle of one hull against a corner of the
/// other or of two edges, or if one of them hardly counts.
fn ordered(pair: &ConvexPair<'_>, found: &Simplex, simplex: &mut Simplex) -> Option<Vec3> {
    let mut order = [0, 1, 2, 3];
    let order = &mut order[..found.count];
    // Names as one number; insertion of up to four.
    let key = |k: usize| {
        let [a, b] = found.vertices[k].names;
        (u64::from(a) << 32) | u64::from(b)
    };
    for i in 1..order.len() {
        let mut k = i;
        while k > 0 && key(order[k]) < key(order[k - 1]) {
            order.swap(k, k - 1);
            k -= 1;
        }
    }
    let at = |k: usize| &found.vertices[order[k]];
    let distinct = |side: usize| {
        let mut count = 0;
        for k in 0..order.len() {
            let mut new = 1;
            for j in 0..k {
                new &= usize::from(at(j).names[side] != at(k).names[side]);
            }
            count += new;
        }
        count
    };
    simplex.count = 0;
    match (order.len(), distinct(0), distinct(1)) {
        (1, ..) | (2, 1, 2) | (2, 2, 1) | (3, 1, 3) | (3, 3, 1) => {
            for k in 0..order.len() {
                simplex.push(*at(k));
            }
        }
        (3, 2, 2) => {
            let (low, high) = (at(0), at(2));
            let (b_low, b_high) = if low.names[1] < high.names[1] {
                (low, high)
            } else if low.names[1] > high.names[1] {
                (high, low)
            } else if at(1).names[1] < low.names[1] {
                (at(1), low)
            } else {
                (low, at(1))
            };
            let mixed = |x: &Vertex, y: &Vertex| corner(pair, x.a, y.b, [x.names[0], y.names[1]]);
            let (p, q) = (mixed(low, b_low), mixed(high, b_high));
            let (s, t) = (mixed(high, b_low), mixed(low, b_high));
            // On which side of the diagonal s t the origin's projection lies.
            let n = (s.w - p.w).cross(t.w - p.w);
            let far = n.cross(t.w - s.w).dot(s.w) > 0.0;
            let side = n.cross(t.w - s.w).dot(p.w - s.w) > 0.0;
            simplex.push(if far == side { q } else { p });
            simplex.push(s);
            simplex.push(t);
        }
        _ => return None,
    }
    let count = simplex.count;
    let v = simplex.reduce()?;
    let sure = simplex.count == count && simplex.weights[..count].iter().all(|x| *x >= WEIGHT_MIN);
    sure.then_some(v)
}

/// Whether the corners lie farther out along `n` than all others.
fn stand_out(pair: &ConvexPair<'_>, hulls: [&ConvexHull; 2], simplex: &Simplex, n: Vec3) -> bool {
    let by = STANDS_OUT * pair.size();
    let n_b = -(pair.turn.transpose() * n);
    let corners = &simplex.vertices[..simplex.count];
    (0..2).all(|side| {
        let (mut list, mut count) = ([0; 3], 0);
        let mut lowest = f64::INFINITY;
        for v in corners {
            let h = if side == 0 { n.dot(v.a) } else { n_b.dot(v.b) };
            lowest = lowest.min(h);
            if !list[..count].contains(&v.names[side]) {
                list[count] = v.names[side];
                count += 1;
            }
        }
        let d = if side == 0 { n } else { n_b };
        hulls[side].stand_out(d, &list[..count], lowest - by)
    })
}

/// The two hulls of a pair, if it is one of hulls.
pub(crate) fn hulls_of<'a>(pair: &ConvexPair<'a>) -> Option<[&'a ConvexHull; 2]> {
    match (pair.a, pair.b) {
        (Core::Hull(a), Core::Hull(b)) => Some([a, b]),
        _ => None,
    }
}
