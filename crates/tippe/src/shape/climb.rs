//! The vertex of a hull that lies farthest along a direction.
//!
//! Reads: vertices and their neighbours.  Writes: nothing (pure functions).
//! Called by: `shape::hull`.
//! Source: hill climbing over neighbours as in [Ericson05] §9.5.4. The layout is ours: vertices that are close to each other are close in
//! memory, so that a climb reads few lines of it, and a table of directions says where to begin, so that cost hardly grows with the
//! number of vertices.

use crate::math::Vec3;

/// Up to this many vertices looking at all of them is faster than climbing.
const SCAN_MAX: usize = 20;
/// Vertices that are looked at together.
const CLIMB_LANES: usize = 4;
/// 2⁵²: from here on to its double, numbers are the whole ones.
const WHOLE: f64 = (1_u64 << 52) as f64;
/// Cells of directions for each vertex, about: more of them would seldom save a round.
const CELLS_PER_VERTEX: f64 = 3.0;
/// Most cells along an edge of the cube of directions.
const CELLS_MAX: usize = 20;

/// A vertex.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Spot {
    x: Vec3,
    /// Where its neighbours begin; they end where those of the next vertex begin.
    first: u32,
    /// Which vertex of the hull.
    name: u32,
}

/// Four vertices by coordinate.
#[derive(Clone, Copy, Debug)]
struct Block {
    x: [f64; CLIMB_LANES],
    y: [f64; CLIMB_LANES],
    z: [f64; CLIMB_LANES],
}

/// A hull's vertices, laid out for the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Climb {
    /// Small hulls: all vertices, the last block filled up with the first vertex.
    blocks: Vec<Block>,
    /// Number of vertices.
    count: usize,
    /// Others: vertices in an order that keeps neighbours together, and one more that ends the last.
    spots: Vec<Spot>,
    /// Neighbours of all vertices, by their places in that order.
    around: Vec<u16>,
    /// Place of vertex i.
    place: Vec<u16>,
    /// Where to start for directions in each cell of a cube about the origin.
    starts: Vec<u16>,
    /// Cells along an edge of that cube.
    cells: usize,
}

impl Climb {
    /// Neighbours of vertex i are `neighbours[first[i] .. first[i + 1]]`.
    pub fn new(vertices: &[Vec3], neighbours: &[u32], first: &[u32]) -> Self {
        let mut climb = Self {
            count: vertices.len(),
            ..Self::default()
        };
        if vertices.len() <= SCAN_MAX {
            climb.fill_blocks(vertices);
        } else {
            climb.fill_spots(vertices, neighbours, first);
            climb.fill_starts(vertices);
        }
        climb
    }

    /// The vertex farthest along `d` and its place [m], climbing from vertex `hint` if it is one and higher than the table's.
    #[inline(always)]
    pub fn support(&self, d: Vec3, hint: u32) -> (u32, Vec3) {
        if self.starts.is_empty() {
            let name = self.scan(d);
            return (name, self.vertex(name));
        }
        let top = &self.spots[self.climb(d, hint)];
        (top.name, top.x)
    }

    /// The place of the vertex farthest along `d`.
    fn climb(&self, d: Vec3, hint: u32) -> usize {
        let mut here = usize::from(self.starts[self.cell(d)]);
        let mut value = d.dot(self.spots[here].x);
        if let Some(at) = self.place.get(hint as usize) {
            let x = d.dot(self.spots[usize::from(*at)].x);
            if x > value {
                (here, value) = (usize::from(*at), x);
            }
        }
        // Each round goes higher, so there are at most as many as vertices.
        loop {
            let mut best = here;
            for s in self.neighbours(here) {
                let x = d.dot(self.spots[usize::from(*s)].x);
                let higher = x > value;
                best = if higher { usize::from(*s) } else { best };
                value = if higher { x } else { value };
            }
            if best == here {
                return here;
            }
            here = best;
        }
    }

    #[inline]
    fn neighbours(&self, at: usize) -> &[u16] {
        &self.around[self.spots[at].first as usize..self.spots[at + 1].first as usize]
    }

    /// Whether all vertices but `names`, which differ and are neighbours of each other, lie below `height` along `d` [m].
    pub fn stand_out(&self, d: Vec3, names: &[u32], height: f64) -> bool {
        if self.starts.is_empty() {
            return self.count_above(d, height) == names.len();
        }
        // Heights fall away from the top: neighbours decide.
        names.iter().all(|i| {
            let around = self.neighbours(usize::from(self.place[*i as usize]));
            around.iter().all(|s| {
                let s = &self.spots[usize::from(*s)];
                d.dot(s.x) < height || names.contains(&s.name)
            })
        })
    }

    /// How many vertices of a small hull do not lie below `height` along `d` [m].
    fn count_above(&self, d: Vec3, height: f64) -> usize {
        let mut counts = [0_u64; CLIMB_LANES];
        for b in &self.blocks {
            for k in 0..CLIMB_LANES {
                let h = d.x * b.x[k] + d.y * b.y[k] + d.z * b.z[k];
                counts[k] += u64::from(h >= height);
            }
        }
        let all = counts[0] + counts[1] + counts[2] + counts[3];
        // The last block is filled up with the first vertex, which was counted already.
        let filling = (self.blocks.len() * CLIMB_LANES - self.count) as u64;
        let b = &self.blocks[0];
        let first = d.x * b.x[0] + d.y * b.y[0] + d.z * b.z[0];
        (all - filling * u64::from(first >= height)) as usize
    }

    /// Vertex `i` [m].
    #[inline]
    pub fn at(&self, i: u32) -> Vec3 {
        if self.starts.is_empty() {
            self.vertex(i)
        } else {
            self.spots[usize::from(self.place[i as usize])].x
        }
    }

    /// A vertex of a small hull [m].
    #[inline(always)]
    fn vertex(&self, i: u32) -> Vec3 {
        let (b, k) = (
            &self.blocks[i as usize / CLIMB_LANES],
            i as usize % CLIMB_LANES,
        );
        Vec3::new(b.x[k], b.y[k], b.z[k])
    }

    /// The first of the highest vertices of a small hull; the first of all for a direction that is no number.
    fn scan(&self, d: Vec3) -> u32 {
        // No branch depends on the heights, which nothing could foretell.
        let mut most = [f64::NEG_INFINITY; CLIMB_LANES];
        // First vertices of blocks, as numbers that are chosen along with the heights.
        let mut first = [0.0; CLIMB_LANES];
        let mut now = 0.0;
        for b in &self.blocks {
            for k in 0..CLIMB_LANES {
                let h = d.x * b.x[k] + d.y * b.y[k] + d.z * b.z[k];
                let higher = h > most[k];
                most[k] = if higher { h } else { most[k] };
                first[k] = if higher { now } else { first[k] };
            }
            now += CLIMB_LANES as f64;
        }
        let larger = |x: f64, y: f64| if x > y { x } else { y };
        let top = larger(larger(most[0], most[1]), larger(most[2], most[3]));
        let named = |k: usize| {
            let name = first[k] + k as f64;
            if most[k] == top {
                name
            } else {
                SCAN_MAX as f64
            }
        };
        let smaller = |x: f64, y: f64| if x < y { x } else { y };
        let best = smaller(smaller(named(0), named(1)), smaller(named(2), named(3)));
        // The last bits of the sum are that whole number: faster than a conversion, which looks out for numbers out of range.
        (best + WHOLE).to_bits() as u32
    }

    fn fill_blocks(&mut self, vertices: &[Vec3]) {
        for four in vertices.chunks(CLIMB_LANES) {
            let v = |k: usize| *four.get(k).unwrap_or(&vertices[0]);
            let of = |c: fn(Vec3) -> f64| [c(v(0)), c(v(1)), c(v(2)), c(v(3))];
            self.blocks.push(Block {
                x: of(|v| v.x),
                y: of(|v| v.y),
                z: of(|v| v.z),
            });
        }
    }

    fn fill_spots(&mut self, vertices: &[Vec3], neighbours: &[u32], first: &[u32]) {
        let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
        bring_together(vertices, &mut order);
        self.place = vec![0; vertices.len()];
        for (at, i) in order.iter().enumerate() {
            self.place[*i as usize] = at as u16;
        }
        self.spots.reserve(vertices.len() + 1);
        self.around.reserve(neighbours.len());
        for &name in &order {
            self.spots.push(Spot {
                x: vertices[name as usize],
                first: self.around.len() as u32,
                name,
            });
            let around = first[name as usize] as usize..first[name as usize + 1] as usize;
            let place = |n: &u32| self.place[*n as usize];
            self.around.extend(neighbours[around].iter().map(place));
        }
        self.spots.push(Spot {
            x: Vec3::ZERO,
            first: self.around.len() as u32,
            name: u32::MAX,
        });
    }

    /// One start for each cell of the directions.
    fn fill_starts(&mut self, vertices: &[Vec3]) {
        let wanted = (vertices.len() as f64 * CELLS_PER_VERTEX / 6.0).sqrt();
        let cells = (wanted as usize).clamp(2, CELLS_MAX);
        self.starts.reserve(6 * cells * cells);
        for axis in 0..6 {
            for i in 0..cells {
                for j in 0..cells {
                    let side = if axis % 2 == 0 { 1.0 } else { -1.0 };
                    let middle = |k: usize| (2 * k + 1) as f64 / cells as f64 - 1.0;
                    let mut d = Vec3::ZERO;
                    d[axis / 2] = side;
                    d[(axis / 2 + 1) % 3] = middle(i);
                    d[(axis / 2 + 2) % 3] = middle(j);
                    self.starts.push(self.place[highest(vertices, d)]);
                }
            }
        }
        self.cells = cells;
    }

    /// The cell of a direction; any cell for one without length.
    #[inline]
    fn cell(&self, d: Vec3) -> usize {
        let size = d.abs();
        let n = self.cells;
        // (x/|max| + 1)/2 is in 0 … 1; casts saturate, so NaN and the upper end are safe.
        let scale = 0.5 * n as f64;
        let place = |x: f64, most: f64| ((((x / most) + 1.0) * scale) as usize).min(n - 1);
        let (axis, down, i, j) = if size.x >= size.y && size.x >= size.z {
            (0, d.x < 0.0, place(d.y, size.x), place(d.z, size.x))
        } else if size.y >= size.z {
            (1, d.y < 0.0, place(d.z, size.y), place(d.x, size.y))
        } else {
            (2, d.z < 0.0, place(d.x, size.z), place(d.y, size.z))
        };
        (2 * axis + usize::from(down)) * n * n + i * n + j
    }
}

/// Orders vertices so that those close in space are close in the list: halves along the widest side, again and again.
fn bring_together(vertices: &[Vec3], order: &mut [u32]) {
    if order.len() <= 2 {
        return;
    }
    let at = |i: &u32| vertices[*i as usize];
    let (mut min, mut max) = (at(&order[0]), at(&order[0]));
    for i in order.iter() {
        (min, max) = (min.min(at(i)), max.max(at(i)));
    }
    let size = max - min;
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    order.sort_unstable_by(|i, j| at(i)[axis].total_cmp(&at(j)[axis]).then(i.cmp(j)));
    let (low, high) = order.split_at_mut(order.len() / 2);
    bring_together(vertices, low);
    bring_together(vertices, high);
}

fn highest(vertices: &[Vec3], d: Vec3) -> usize {
    let (mut best, mut value) = (0, f64::NEG_INFINITY);
    for (i, v) in vertices.iter().enumerate() {
        let x = d.dot(*v);
        if x > value {
            (best, value) = (i, x);
        }
    }
    best
}
