//! The vertex of a hull that lies farthest along a direction.
//!
//! Reads: vertices and their neighbours.  Writes: nothing (pure functions).
//! Called by: `shape::hull`.
//! Source: hill climbing over neighbours as in [Ericson05] §9.5.4. The layout is ours: a vertex lies next to copies of its neighbours, so
//! that one round of the climb reads one stretch of memory, and a table of directions says where to begin, so that cost hardly grows with
//! the number of vertices.

use crate::math::Vec3;

/// Up to this many vertices looking at all of them is faster than climbing.
const SCAN_MAX: usize = 20;
/// Vertices that are looked at together.
const LANES: usize = 4;
/// Cells of directions for each vertex, about: more of them would seldom save a round.
const CELLS_PER_VERTEX: f64 = 3.0;
/// Most cells along an edge of the cube of directions.
const CELLS_MAX: usize = 20;

/// A vertex, or a copy of one beside its neighbour.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Spoke {
    x: Vec3,
    /// Which vertex.
    name: u32,
    /// Of a vertex, where the copies of its neighbours end; of a copy, where its vertex is.
    link: u32,
}

/// Four vertices by coordinate.
#[derive(Clone, Copy, Debug)]
struct Block {
    x: [f64; LANES],
    y: [f64; LANES],
    z: [f64; LANES],
}

/// A hull's vertices, laid out for the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Climb {
    /// Small hulls: all vertices, the last block filled up with the first vertex.
    blocks: Vec<Block>,
    /// Others: each vertex, followed by its neighbours.
    spokes: Vec<Spoke>,
    /// Where vertex i is among them.
    at: Vec<u32>,
    /// Where to start for directions in each cell of a cube about the origin.
    starts: Vec<u32>,
    /// Cells along an edge of that cube.
    cells: usize,
}

impl Climb {
    /// Neighbours of vertex i are `neighbours[first[i] .. first[i + 1]]`.
    pub fn new(vertices: &[Vec3], neighbours: &[u32], first: &[u32]) -> Self {
        let mut climb = Self::default();
        if vertices.len() <= SCAN_MAX {
            climb.fill_blocks(vertices);
        } else {
            climb.fill_spokes(vertices, neighbours, first);
            climb.fill_starts(vertices);
        }
        climb
    }

    /// The vertex farthest along `d` and its place, climbing from vertex `hint` if it is one and higher than the table's.
    #[inline]
    pub fn support(&self, d: Vec3, hint: u32) -> (u32, Option<Vec3>) {
        if self.starts.is_empty() {
            return (self.scan(d), None);
        }
        let mut here = self.starts[self.cell(d)] as usize;
        let mut value = d.dot(self.spokes[here].x);
        if let Some(at) = self.at.get(hint as usize) {
            let x = d.dot(self.spokes[*at as usize].x);
            if x > value {
                (here, value) = (*at as usize, x);
            }
        }
        // Each round goes higher, so there are at most as many as vertices.
        loop {
            let own = &self.spokes[here];
            let mut best = here;
            for s in &self.spokes[here + 1..own.link as usize] {
                let x = d.dot(s.x);
                let higher = x > value;
                best = if higher { s.link as usize } else { best };
                value = if higher { x } else { value };
            }
            if best == here {
                return (own.name, Some(own.x));
            }
            here = best;
        }
    }

    /// The first of the highest vertices of a small hull; the first of all for a direction that is no number.
    fn scan(&self, d: Vec3) -> u32 {
        // By lane: the highest so far and its block. No branch depends on the heights, which nothing could foretell.
        let mut most = [f64::NEG_INFINITY; LANES];
        let mut which = [0.0; LANES];
        let mut block = 0.0;
        for b in &self.blocks {
            for k in 0..LANES {
                let h = d.x * b.x[k] + d.y * b.y[k] + d.z * b.z[k];
                let higher = h > most[k];
                most[k] = if higher { h } else { most[k] };
                which[k] = if higher { block } else { which[k] };
            }
            block += 1.0;
        }
        let name = |k: usize| which[k] as u32 * LANES as u32 + k as u32;
        let (mut best, mut value) = (name(0), most[0]);
        for k in 1..LANES {
            let higher = (most[k] > value) | ((most[k] == value) & (name(k) < best));
            best = if higher { name(k) } else { best };
            value = if higher { most[k] } else { value };
        }
        best
    }

    fn fill_blocks(&mut self, vertices: &[Vec3]) {
        for four in vertices.chunks(LANES) {
            let v = |k: usize| *four.get(k).unwrap_or(&vertices[0]);
            let of = |c: fn(Vec3) -> f64| [c(v(0)), c(v(1)), c(v(2)), c(v(3))];
            self.blocks.push(Block {
                x: of(|v| v.x),
                y: of(|v| v.y),
                z: of(|v| v.z),
            });
        }
    }

    fn fill_spokes(&mut self, vertices: &[Vec3], neighbours: &[u32], first: &[u32]) {
        // Vertex i comes after i others and their neighbours.
        self.at = (0..vertices.len()).map(|i| first[i] + i as u32).collect();
        self.spokes.reserve(vertices.len() + neighbours.len());
        for (i, x) in vertices.iter().enumerate() {
            let around = &neighbours[first[i] as usize..first[i + 1] as usize];
            self.spokes.push(Spoke {
                x: *x,
                name: i as u32,
                link: self.at[i] + 1 + around.len() as u32,
            });
            for &n in around {
                self.spokes.push(Spoke {
                    x: vertices[n as usize],
                    name: n,
                    link: self.at[n as usize],
                });
            }
        }
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
                    self.starts.push(self.at[highest(vertices, d)]);
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
