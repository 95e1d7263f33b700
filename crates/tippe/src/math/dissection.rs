//! Nested dissection of a mechanism: its bodies are halved again and again, and the joints that a cut goes through are eliminated after
//! those on both sides of it.
//!
//! Reads: which joint holds which bodies.  Writes: fronts, in the order of elimination.
//! Called by: `math::front_cholesky`.
//! Source: [GeorgeLiu81] ch. 8. A cut is sought along differences of distances in the graph, which are straight lines in a net. Ties go to the
//! lowest number: same order everywhere.

/// No body: an end that does not answer.
pub const NONE: u32 = u32::MAX;

/// Joints up to which a piece is eliminated as it is.
const DISSECTION_LEAF: usize = 12;
/// Most joints of a piece that no cut divides well.
const DENSE_MAX: usize = 64;
/// Part of a piece that each side of a cut must have [1].
const SIDE_MIN: f64 = 0.25;
/// Most cuts one within the other.
const DEPTH_MAX: usize = 40;

/// Joints that are eliminated together, after those of its children.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// Joints.
    pub own: Vec<u32>,
    /// Pieces that were cut apart here, if they were.
    pub children: Option<[u32; 2]>,
    /// Number of cuts around it.
    pub depth: usize,
}

/// A mechanism as a graph: bodies, and joints between two of them or at one.
#[derive(Clone, Debug, Default)]
pub struct Dissection {
    /// The bodies of each joint.
    ends: Vec<[u32; 2]>,
    /// By body: its joints.
    pub at: Vec<Vec<u32>>,
    /// Pieces, children before parents.
    pub pieces: Vec<Piece>,
    /// By body: the piece at hand that it belongs to, and the side of the cut.
    member: Vec<u32>,
    side: Vec<bool>,
    count: u32,
    /// By body: distances from three far bodies.
    far: [Vec<u32>; 3],
    queue: Vec<u32>,
}

impl Dissection {
    /// Cuts a mechanism of `bodies` bodies into pieces; false if it is too meshed for that.
    pub fn cut(&mut self, bodies: usize, ends: &[[u32; 2]]) -> bool {
        self.ends.clear();
        self.ends.extend_from_slice(ends);
        self.at.clear();
        self.at.resize(bodies, Vec::new());
        for (k, pair) in ends.iter().enumerate() {
            for (i, &body) in pair.iter().enumerate() {
                if body != NONE && (i == 0 || pair[0] != body) {
                    self.at[body as usize].push(k as u32);
                }
            }
        }
        self.pieces.clear();
        self.member.clear();
        self.member.resize(bodies, 0);
        self.side.clear();
        self.side.resize(bodies, false);
        for far in &mut self.far {
            far.clear();
            far.resize(bodies, NONE);
        }
        self.count = 0;
        let all = (0..bodies as u32).collect();
        self.piece(all, (0..ends.len() as u32).collect(), 0)
            .is_some()
    }

    /// Cuts one piece; returns its number.
    fn piece(&mut self, bodies: Vec<u32>, joints: Vec<u32>, depth: usize) -> Option<u32> {
        let cut = if joints.len() > DISSECTION_LEAF && depth < DEPTH_MAX {
            self.halve(&bodies)
        } else {
            false
        };
        let mut piece = Piece {
            own: joints,
            children: None,
            depth,
        };
        if cut {
            // Sides are read before the recursion writes them anew.
            let side = |body: u32| self.side[body as usize];
            let (right, left): (Vec<u32>, Vec<u32>) = bodies.iter().partition(|&&b| side(b));
            let mut sides = [Vec::new(), Vec::new()];
            let mut own = Vec::new();
            for &joint in &piece.own {
                match self.ends[joint as usize] {
                    [a, b] if a != NONE && b != NONE && side(a) != side(b) => own.push(joint),
                    [NONE, b] => sides[usize::from(side(b))].push(joint),
                    [a, _] => sides[usize::from(side(a))].push(joint),
                }
            }
            let [in_left, in_right] = sides;
            let children = [
                self.piece(left, in_left, depth + 1)?,
                self.piece(right, in_right, depth + 1)?,
            ];
            piece.own = own;
            piece.children = Some(children);
        } else if piece.own.len() > DENSE_MAX {
            return None;
        }
        self.pieces.push(piece);
        Some(self.pieces.len() as u32 - 1)
    }

    /// Finds the cut with the fewest joints among those along distances from far bodies and along their differences; false if none leaves enough on
    /// both sides.
    fn halve(&mut self, bodies: &[u32]) -> bool {
        self.count += 1;
        for &b in bodies {
            self.member[b as usize] = self.count;
        }
        // Three bodies far from each other: the first far from any, the second far from the first, the third far from both.
        let Some(&any) = bodies.first() else {
            return false;
        };
        let reached = self.walk(any, 2);
        if reached < bodies.len() {
            // Already apart: what was reached is one side.
            for &b in bodies {
                self.side[b as usize] = self.far[2][b as usize] == NONE;
            }
            return true;
        }
        let farthest = |of: &dyn Fn(usize) -> u32| {
            let mut best = any;
            for &b in bodies {
                if of(b as usize) > of(best as usize) {
                    best = b;
                }
            }
            best
        };
        let first = farthest(&|b| self.far[2][b]);
        self.walk(first, 0);
        let second = farthest(&|b| self.far[0][b]);
        self.walk(second, 1);
        let third = farthest(&|b| self.far[0][b].min(self.far[1][b]));
        self.walk(third, 2);
        let mut best: Option<(usize, usize, i64)> = None;
        for line in 0..LINES {
            let mut values: Vec<i64> = bodies.iter().map(|&b| self.along(line, b)).collect();
            values.sort_unstable();
            // The levels around the middle.
            let middle = values[values.len() / 2];
            let next = values.iter().copied().find(|&v| v > middle);
            for level in [Some(middle), next].into_iter().flatten() {
                let below = values.partition_point(|&v| v < level);
                let least = (SIDE_MIN * values.len() as f64) as usize;
                if below.min(values.len() - below)
                    <= least.min((values.len() / 2).saturating_sub(1))
                {
                    continue;
                }
                let cost = self.crossing(bodies, line, level);
                if best.is_none_or(|(c, ..)| cost < c) {
                    best = Some((cost, line, level));
                }
            }
        }
        let Some((_, line, level)) = best else {
            return false;
        };
        for &b in bodies {
            self.side[b as usize] = self.along(line, b) >= level;
        }
        true
    }

    /// A number that grows along one of the lines through the graph.
    fn along(&self, line: usize, body: u32) -> i64 {
        let d = |k: usize| i64::from(self.far[k][body as usize]);
        match line {
            0 => d(0) - d(2),
            1 => d(1) - d(2),
            2 => d(0) - d(1),
            3 => 2 * d(0),
            _ => 2 * d(2),
        }
    }

    /// Joints that a cut goes through.
    fn crossing(&self, bodies: &[u32], line: usize, level: i64) -> usize {
        let mut count = 0;
        for &b in bodies.iter().filter(|&&b| self.along(line, b) < level) {
            for &joint in &self.at[b as usize] {
                let other = self.other(joint, b);
                count += usize::from(self.is_member(other) && self.along(line, other) >= level);
            }
        }
        count
    }

    fn other(&self, joint: u32, body: u32) -> u32 {
        let [a, b] = self.ends[joint as usize];
        if a == body { b } else { a }
    }

    fn is_member(&self, body: u32) -> bool {
        body != NONE && self.member[body as usize] == self.count
    }

    /// Distances of the bodies at hand from one of them, in joints; returns how many it reaches.
    fn walk(&mut self, from: u32, into: usize) -> usize {
        let mut far = std::mem::take(&mut self.far[into]);
        for (b, d) in far.iter_mut().enumerate() {
            if self.member[b] == self.count {
                *d = NONE;
            }
        }
        let mut queue = std::mem::take(&mut self.queue);
        queue.clear();
        queue.push(from);
        far[from as usize] = 0;
        let mut at = 0;
        while at < queue.len() {
            let body = queue[at];
            at += 1;
            for &joint in &self.at[body as usize] {
                let other = self.other(joint, body);
                if self.is_member(other) && far[other as usize] == NONE {
                    far[other as usize] = far[body as usize] + 1;
                    queue.push(other);
                }
            }
        }
        let reached = queue.len();
        self.queue = queue;
        self.far[into] = far;
        reached
    }
}

/// Kinds of lines that `along` knows.
const LINES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn net(n: u32) -> Vec<[u32; 2]> {
        let mut ends = Vec::new();
        for i in 0..n {
            for j in 0..n {
                if i + 1 < n {
                    ends.push([i * n + j, (i + 1) * n + j]);
                }
                if j + 1 < n {
                    ends.push([i * n + j, i * n + j + 1]);
                }
            }
        }
        ends
    }

    #[test]
    fn cuts_a_net_along_straight_lines() {
        let n = 40;
        let ends = net(n);
        let mut d = Dissection::default();
        assert!(d.cut((n * n) as usize, &ends));
        let last = d.pieces.last().expect("a piece");
        assert_eq!(last.own.len(), 40);
        let mut seen = vec![0; ends.len()];
        d.pieces
            .iter()
            .flat_map(|p| &p.own)
            .for_each(|&j| seen[j as usize] += 1);
        assert!(seen.iter().all(|&s| s == 1), "every joint once");
        let [a, b] = last.children.expect("a cut");
        for child in [a, b] {
            assert_eq!(d.pieces[child as usize].own.len(), 20);
        }
    }

    #[test]
    fn takes_chains_and_pieces_that_are_apart_and_refuses_what_no_cut_divides() {
        let mut d = Dissection::default();
        let chain: Vec<[u32; 2]> = (0..1000).map(|i| [i, i + 1]).collect();
        assert!(d.cut(1001, &chain));
        assert!(d.pieces.iter().all(|p| p.own.len() <= DISSECTION_LEAF));
        let mut apart = chain.clone();
        apart.extend((0..500).map(|i| [1001 + i, 1002 + i]));
        apart.push([NONE, 3]);
        assert!(d.cut(1502, &apart));
        let star: Vec<[u32; 2]> = (1..1000).map(|i| [0, i]).collect();
        assert!(!d.cut(1000, &star));
    }
}
