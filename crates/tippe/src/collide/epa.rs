//! Penetration depth of two convex cores: the face of A − B nearest to the origin.
//!
//! Reads: cores, their relative pose, a simplex about the origin.  Writes: nothing (pure functions).
//! Called by: `geometry`, the convex pairs of `collide`.
//! Source: [Bergen01]: grow a polytope inside A − B where it is closest to the origin. Letters as in `collide::gjk`; n is the unit
//! outward normal of a face, h(n) how far A − B reaches along n: an upper bound of the depth, as the nearest face is a lower one.
//! We deviate: every answer along the way is a bound, so whatever stops the growth (the cap, rounding), the best bound is returned.

use super::gjk::{ConvexPair, Found};
use super::simplex::{Simplex, Vertex};
use crate::geometry::CoreSeparation;
use crate::math::{Vec3, tangents};
use std::cell::Cell;

/// The bounds of the depth must agree to this part of the smaller core … [1]
const TIGHT: f64 = 1e-10;
/// … which for round cores only has to tell one way out from another, as the best is improved apart from that …
const TIGHT_ROUND: f64 = 1e-7;
/// … and to this part of all sizes [1].
const TIGHT_SPAN: f64 = 1e-13;
/// Height above a face, relative to all sizes, below which a point is in its plane [1].
const COPLANAR: f64 = 1e-14;
/// Most points added.
const EPA_ROUNDS_MAX: usize = 256;
/// Rounds between two searches near the best depth so far.
const POLISH_EVERY: usize = 24;
/// Most rounds of such a search; of the last one, with steps that grow while they win; the gap they work at relative to the sizes, and
/// the gain that ends them [1].
const EPA_POLISH_ROUNDS: usize = 30;
const POLISH_LAST: usize = 90;
const LONGER: f64 = 1.5;
pub(super) const APART: f64 = 0.02;
const POLISHED: f64 = 1e-13;
/// Part of the size by which the deepest points may miss being opposite each other [1].
const EPA_OPPOSITE: f64 = 1e-7;
/// Part of the size by which they may then show a greater depth [1].
const AS_DEEP: f64 = 1e-11;
/// Part of the size by which all other ways out must be longer for the best to be clear [1].
const CLEAR: f64 = 1e-9;
/// Most rounds of asking whether they are, and the part of that length within which points are in the plane of the best face [1].
const CLEAR_ROUNDS: usize = 32;
const IN_PLANE: f64 = 0.1;
/// Part of the size below which a starting simplex is flat [1].
const EPA_FLAT: f64 = 1e-12;

/// The shortest way out of an overlap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth {
    /// Unit normal from A to B, in A's frame: B leaves A along it.
    pub normal: Vec3,
    /// How far [m]; slightly negative if the cores do not touch after all.
    pub depth: f64,
    /// The points of A (in A's frame) and B (in B's) that meet then.
    pub simplex: Simplex,
    /// Whether the points have their weights; else the simplex holds the corners of a face.
    pub weighed: bool,
    /// Whether it was asked and every other way out is longer by more than rounding: then any search finds this one.
    pub clear: bool,
}

struct Face {
    v: [u32; 3],
    /// Beyond the edge from `v[k]` to `v[(k + 1) % 3]`.
    across: [u32; 3],
    alive: bool,
}

/// The plane of a face.
#[derive(Clone, Copy)]
struct Plane {
    n: Vec3,
    /// From the origin [m]; infinite for faces without a direction, and for those that are no longer there.
    distance: f64,
}

#[derive(Default)]
struct Polytope {
    vertices: Vec<Vertex>,
    faces: Vec<Face>,
    /// Of each face.
    planes: Vec<Plane>,
    /// Height that counts as above a face [m].
    above: f64,
    /// Scratch: facets seen, horizon edges.
    seen: Vec<u32>,
    horizon: Vec<(u32, u32, u32)>,
}

thread_local! {
    /// The room of the last polytope, for the next: making it anew would take as long as the search. What it holds is never read.
    static ROOM: Cell<Polytope> = Cell::default();
}

/// The depth of an overlap that `Found::Overlap` reported.
pub(crate) fn penetration(pair: &mut ConvexPair<'_>, start: &Simplex) -> Depth {
    let depth = nearest_face(pair, start, false);
    finished(pair, depth)
}

/// The same without the points that meet: where these are still to be found, the simplex has the corners of the nearest face instead.
/// `only` asks whether that face is clear.
pub(crate) fn nearest_face(pair: &mut ConvexPair<'_>, start: &Simplex, only: bool) -> Depth {
    let span = pair.span();
    let smaller = {
        let (a, b) = (pair.a.reach(), pair.b.reach());
        if a > 0.0 && b > 0.0 {
            a.min(b)
        } else {
            a.max(b)
        }
    };
    let part = if pair.is_polyhedral() {
        TIGHT
    } else {
        TIGHT_ROUND
    };
    let tight = part * smaller + TIGHT_SPAN * span;
    let corners = match fat_simplex(pair, start) {
        Start::Fat(corners) => corners,
        Start::Flat(depth) => return depth,
    };
    let mut search = Search {
        polytope: Polytope::new(ROOM.take(), corners, COPLANAR * span),
        best: None,
        tight,
    };
    search.everywhere(pair, EPA_ROUNDS_MAX);
    let best = search.best;
    let clear = only && search.is_clear(pair, CLEAR * pair.size());
    ROOM.set(search.polytope);
    match best {
        Some(best) => Depth {
            normal: best.normal,
            depth: best.upper,
            simplex: best.simplex,
            weighed: best.weighed,
            clear,
        },
        None => Depth {
            normal: Vec3::Z,
            depth: 0.0,
            simplex: *start,
            weighed: true,
            clear: false,
        },
    }
}

/// Whether A − B has no other face as near to the origin as this one, which holds three corners of A − B.
pub(crate) fn is_nearest(pair: &mut ConvexPair<'_>, face: &CoreSeparation) -> bool {
    let Start::Fat(corners) = fat_simplex(pair, &face.simplex) else {
        return false;
    };
    let mut search = Search {
        polytope: Polytope::new(ROOM.take(), corners, COPLANAR * pair.span()),
        best: Some(Best {
            upper: -face.distance,
            normal: face.normal,
            simplex: face.simplex,
            weighed: true,
            tight: true,
            unfinished: false,
        }),
        tight: 0.0,
    };
    let clear = search.is_clear(pair, CLEAR * pair.size());
    ROOM.set(search.polytope);
    clear
}

/// Finds the points that meet from the corners of the nearest face.
pub(crate) fn finished(pair: &mut ConvexPair<'_>, mut depth: Depth) -> Depth {
    if !depth.weighed {
        // The reduction keeps the nearest part, which is the projection where it falls into the triangle.
        if let Some(point) = depth.simplex.reduce() {
            depth.simplex.refine(point);
        }
        depth.weighed = true;
    }
    // The best bound may come from a face beside the way out: its points are then not opposite each other. Those found outside are.
    if (depth.simplex.point() - depth.normal * depth.depth).length() > EPA_OPPOSITE * pair.size()
        && let Some(out) = outside(pair, depth.normal, depth.depth)
        && out.upper <= depth.depth + AS_DEEP * pair.size()
    {
        depth.normal = out.normal;
        depth.depth = out.upper;
        depth.simplex = out.simplex;
    }
    depth
}

/// The least depth known, with the points that show it.
#[derive(Clone, Copy)]
struct Best {
    upper: f64,
    normal: Vec3,
    /// With weights, unless they are still to be found.
    simplex: Simplex,
    weighed: bool,
    /// The points lie as far out as A − B does.
    tight: bool,
    /// A search nearby was still winning when its rounds were used up.
    unfinished: bool,
}

struct Search {
    polytope: Polytope,
    best: Option<Best>,
    tight: f64,
}

/// What one look along the normal of a face gave.
struct Look {
    normal: Vec3,
    new: Vertex,
    lower: f64,
    upper: f64,
    tight: bool,
}

impl Search {
    /// How far A − B reaches beyond a face.
    fn look(&mut self, pair: &mut ConvexPair<'_>, face: u32) -> Look {
        let f = &self.polytope.faces[face as usize];
        let Plane {
            n: normal,
            distance: lower,
        } = self.polytope.planes[face as usize];
        let corners = f.v.map(|i| self.polytope.vertices[i as usize]);
        let new = pair.support(normal);
        let upper = normal.dot(new.w);
        // Another point at the same height will do: two edges that cross have four.
        let exact = corners.iter().any(|c| c.w == new.w)
            || (pair.is_polyhedral() && upper - lower <= self.polytope.above);
        let tight = upper - lower <= self.tight || exact;
        // Among depths that are as good as each other, the one with its points on the surfaces counts.
        let better = self.best.is_none_or(|b| {
            upper < b.upper - if b.tight { self.tight } else { 0.0 } || (exact && upper <= b.upper)
        });
        if better {
            self.best = Some(Best {
                upper,
                normal,
                simplex: triangle(corners),
                weighed: false,
                tight: exact,
                unfinished: false,
            });
        }
        Look {
            normal,
            new,
            lower,
            upper,
            tight,
        }
    }

    /// Whether A − B has no other face as near as the best depth and `margin` [m]. Grows the polytope where that is not known yet.
    fn is_clear(&mut self, pair: &mut ConvexPair<'_>, margin: f64) -> bool {
        let Some(best) = self.best.filter(|b| b.tight) else {
            return false;
        };
        for _ in 0..CLEAR_ROUNDS {
            let Some(near) = self.polytope.nearest() else {
                return false;
            };
            let face = near as usize;
            if self.polytope.planes[face].distance > best.upper + margin {
                return true;
            }
            let corners = self.polytope.faces[face].v;
            let below = |i: u32| best.upper - best.normal.dot(self.polytope.vertices[i as usize].w);
            if corners.iter().all(|i| below(*i) <= IN_PLANE * margin) {
                // Part of the best face itself.
                self.polytope.planes[face].distance = f64::INFINITY;
                continue;
            }
            let look = self.look(pair, near);
            if look.tight
                || look.upper <= best.upper + margin
                || !self.polytope.grow(near, look.new)
            {
                return false;
            }
        }
        false
    }

    /// Grows at the nearest face until no face is nearer than the best depth.
    fn everywhere(&mut self, pair: &mut ConvexPair<'_>, rounds: usize) {
        for round in 1..=rounds {
            let Some(near) = self.polytope.nearest() else {
                break;
            };
            let look = self.look(pair, near);
            if look.tight || !self.polytope.grow(near, look.new) {
                break;
            }
            // Round shapes: a good depth found nearby early closes all faces that are farther out.
            if round % POLISH_EVERY == 0 && !pair.is_polyhedral() {
                self.nearby(pair, look.normal, look.upper, EPA_POLISH_ROUNDS);
                let near_enough = |b: &Best| b.upper - look.lower <= self.tight;
                if let Some(best) = self.best.filter(near_enough) {
                    // Proven: no face is nearer.
                    if best.unfinished {
                        break;
                    }
                    return;
                }
            }
        }
        self.along_axes(pair);
        if let Some(best) = self.best.filter(|b| !b.tight || b.unfinished) {
            self.nearby(pair, best.normal, best.upper, POLISH_LAST);
        }
    }

    /// The axes of round cores, and the line across both. There a depth has creases, and where it is nearly the same all around an axis, as
    /// of two cones one in the other, growth may use up its rounds before it comes there.
    fn along_axes(&mut self, pair: &mut ConvexPair<'_>) {
        if pair.is_polyhedral() {
            return;
        }
        let (a, b) = (Vec3::Z, pair.turn * Vec3::Z);
        let across = a.cross(b).normalize_or(a);
        for n in [a, -a, b, -b, across, -across] {
            let upper = n.dot(pair.support(n).w);
            if self.best.is_none_or(|b| upper < b.upper - self.tight) {
                self.nearby(pair, n, upper, EPA_POLISH_ROUNDS);
            }
        }
    }

    /// Improves a depth without the polytope, by steps of [`outside`]. Where a round shape is nearly as deep all around, such steps are
    /// short: while longer ones win more, they are taken. Where it slopes evenly down to a crease, as between crossing axes that are
    /// nearly parallel, they must grow to arrive: after the usual number of rounds they do.
    fn nearby(&mut self, pair: &mut ConvexPair<'_>, normal: Vec3, upper: f64, rounds: usize) {
        let Some(mut here) = outside(pair, normal, upper) else {
            return;
        };
        let mut before = normal;
        let mut stretch = 2.0;
        let mut unfinished = true;
        for round in 0..rounds {
            let guess = (here.normal + (here.normal - before) * stretch).normalize_or(here.normal);
            let upper = guess.dot(pair.support(guess).w);
            let far = outside(pair, guess, upper).filter(|b| b.upper < here.upper);
            let next = match far {
                Some(next) => {
                    if round >= EPA_POLISH_ROUNDS {
                        stretch *= LONGER;
                    }
                    next
                }
                None => {
                    stretch *= 0.25;
                    match outside(pair, here.normal, here.upper) {
                        Some(next) => next,
                        None => {
                            unfinished = false;
                            break;
                        }
                    }
                }
            };
            let won = here.upper - next.upper;
            if won > 0.0 {
                before = here.normal;
                here = next;
            }
            if won <= POLISHED * pair.size() {
                unfinished = false;
                break;
            }
        }
        here.unfinished = unfinished;
        let better = |b: Best| here.upper < b.upper + if b.tight { 0.0 } else { self.tight };
        if self.best.is_none_or(better) {
            self.best = Some(here);
        }
    }
}

/// B moved out along `normal` until it is a little apart: the closest points then show a normal at least as good, and lie on the surfaces.
fn outside(pair: &mut ConvexPair<'_>, normal: Vec3, upper: f64) -> Option<Best> {
    let mut moved = pair.moved(normal * (upper + APART * pair.size()));
    let Found::Apart { v, simplex } = moved.distance(&Simplex::default(), f64::INFINITY) else {
        return None;
    };
    let normal = (-v).normalize_or(normal);
    Some(Best {
        upper: normal.dot(pair.support(normal).w),
        normal,
        simplex,
        weighed: true,
        tight: true,
        unfinished: false,
    })
}

/// Three corners, without weights.
fn triangle(corners: [Vertex; 3]) -> Simplex {
    let mut simplex = Simplex::default();
    for c in corners {
        simplex.push(c);
    }
    simplex
}

/// Where the polytope begins.
enum Start {
    /// Four points with a volume.
    Fat([Vertex; 4]),
    /// A − B has no volume: this is the answer.
    Flat(Depth),
}

/// Four points of A − B with a volume, about the origin as well as rounding allows; a flat A − B has its answer at once.
fn fat_simplex(pair: &mut ConvexPair<'_>, start: &Simplex) -> Start {
    let size = pair.size();
    let (flat, mut s) = (EPA_FLAT * size, *start);
    if s.count == 0 {
        s.push(pair.support(Vec3::X));
    }
    if s.count == 1 {
        let w = s.vertices[0].w;
        let found = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z]
            .into_iter()
            .map(|d| pair.support(d))
            .find(|v| (v.w - w).length() > flat);
        match found {
            Some(v) => s.push(v),
            None => return Start::Flat(thin(pair, Vec3::Z, &s)),
        }
    }
    if s.count == 2 {
        let d = (s.vertices[1].w - s.vertices[0].w).normalize_or(Vec3::Z);
        let (t1, t2) = tangents(d);
        let w = s.vertices[0].w;
        let mut best: Option<(f64, Vertex)> = None;
        for t in [t1, t2, -t1, -t2, t1 + t2, -t1 - t2, t1 - t2, t2 - t1] {
            let v = pair.support(t);
            let away = d.cross(v.w - w).length();
            if best.is_none_or(|b| away > b.0) {
                best = Some((away, v));
            }
        }
        match best.filter(|b| b.0 > flat) {
            Some((_, v)) => s.push(v),
            None => return Start::Flat(thin(pair, t1, &s)),
        }
    }
    if s.count == 3 {
        let [p, q, r] = [0, 1, 2].map(|k| s.vertices[k].w);
        let n = (q - p).cross(r - p).normalize_or(Vec3::Z);
        let (up, down) = (pair.support(n), pair.support(-n));
        let heights = [n.dot(up.w - p), -n.dot(down.w - p)];
        let (height, v) = if heights[0] >= heights[1] {
            (heights[0], up)
        } else {
            (heights[1], down)
        };
        if height <= flat {
            return Start::Flat(thin(pair, n, &s));
        }
        s.push(v);
    }
    Start::Fat(s.vertices)
}

/// A − B has no thickness along `n`: that is the way out.
fn thin(pair: &mut ConvexPair<'_>, n: Vec3, start: &Simplex) -> Depth {
    let (up, down) = (n.dot(pair.support(n).w), -n.dot(pair.support(-n).w));
    let (normal, depth) = if up <= down { (n, up) } else { (-n, down) };
    let mut simplex = *start;
    if simplex.count > 3 {
        simplex.count = 3;
    }
    simplex.reduce();
    Depth {
        normal,
        depth,
        simplex,
        weighed: true,
        clear: false,
    }
}

impl Polytope {
    /// A tetrahedron, in the room of an old polytope.
    fn new(mut room: Self, corners: [Vertex; 4], above: f64) -> Self {
        room.vertices.clear();
        room.faces.clear();
        room.planes.clear();
        room.above = above;
        let mut polytope = room;
        polytope.vertices.extend(corners);
        let w = corners.map(|c| c.w);
        // d below (a, b, c) makes that triangle look outward.
        if (w[1] - w[0]).cross(w[2] - w[0]).dot(w[3] - w[0]) > 0.0 {
            polytope.vertices.swap(1, 2);
        }
        let (a, b, c, d) = (0, 1, 2, 3);
        polytope.add_face([a, b, c], [1, 2, 3]);
        polytope.add_face([b, a, d], [0, 3, 2]);
        polytope.add_face([c, b, d], [0, 1, 3]);
        polytope.add_face([a, c, d], [0, 2, 1]);
        polytope
    }

    fn add_face(&mut self, v: [u32; 3], across: [u32; 3]) {
        let [a, b, c] = v.map(|i| self.vertices[i as usize].w);
        let cross = (b - a).cross(c - a);
        let length = cross.length();
        // A sliver without direction is never the nearest face and is never seen.
        let (n, distance) = if length > 0.0 {
            let n = cross / length;
            (n, n.dot(a + b + c) / 3.0)
        } else {
            (Vec3::ZERO, f64::INFINITY)
        };
        self.planes.push(Plane { n, distance });
        self.faces.push(Face {
            v,
            across,
            alive: true,
        });
    }

    fn nearest(&self) -> Option<u32> {
        let (mut best, mut least) = (None, f64::INFINITY);
        for (i, f) in self.planes.iter().enumerate() {
            if f.distance < least {
                (best, least) = (Some(i as u32), f.distance);
            }
        }
        best
    }

    fn bury(&mut self, face: u32) {
        self.faces[face as usize].alive = false;
        self.planes[face as usize].distance = f64::INFINITY;
        self.seen.push(face);
    }

    /// Adds a point beyond face `near`; false if rounding leaves no clean horizon.
    fn grow(&mut self, near: u32, new: Vertex) -> bool {
        self.seen.clear();
        self.horizon.clear();
        self.bury(near);
        let mut k = 0;
        while k < self.seen.len() {
            let here = self.seen[k] as usize;
            for e in 0..3 {
                let there = self.faces[here].across[e];
                let f = &self.faces[there as usize];
                if !f.alive {
                    continue;
                }
                let corner = self.vertices[f.v[0] as usize].w;
                if self.planes[there as usize].n.dot(new.w - corner) > self.above {
                    self.bury(there);
                } else {
                    let v = self.faces[here].v;
                    self.horizon.push((v[e], v[(e + 1) % 3], there));
                }
            }
            k += 1;
        }
        // Walk the horizon into one loop.
        let count = self.horizon.len();
        if count < 3 {
            return false;
        }
        for i in 0..count - 1 {
            let to = self.horizon[i].1;
            match (i + 1..count).find(|j| self.horizon[*j].0 == to) {
                Some(j) => self.horizon.swap(i + 1, j),
                None => return false,
            }
        }
        if self.horizon[count - 1].1 != self.horizon[0].0 {
            return false;
        }
        let tip = self.vertices.len() as u32;
        self.vertices.push(new);
        let first = self.faces.len() as u32;
        for i in 0..count {
            let (from, to, beyond) = self.horizon[i];
            let name = first + i as u32;
            let g = &mut self.faces[beyond as usize];
            let Some(edge) = (0..3).find(|e| g.v[*e] == to && g.v[(e + 1) % 3] == from) else {
                return false;
            };
            g.across[edge] = name;
            let after = first + ((i + 1) % count) as u32;
            let before = first + ((i + count - 1) % count) as u32;
            self.add_face([from, to, tip], [beyond, after, before]);
        }
        true
    }
}
