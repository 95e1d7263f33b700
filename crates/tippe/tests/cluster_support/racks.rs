//! Racks of equal balls whose contacts all approach, or whose points of touch are joined: lines, pyramids, nets.
//!
//! Source: the protocol of the table of [Ermolin] §5 in docs/methods/simultaneous.md.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "helpers of a test and an example"
)]

use tippe::Surface;
use tippe::math::{Mat3, Vec3, tangents};
use tippe::method::simultaneous::Point;
use tippe::solver::problem::{Law, Node, Problem};

/// Equal balls of radius ½ that approach the origin of the row or the apex, and which of them touch.
pub struct Rack {
    pub x: Vec<Vec3>,
    pub pairs: Vec<(usize, usize)>,
    pub wall: bool,
}

pub fn line(n: usize) -> Rack {
    Rack {
        x: (0..n).map(|i| Vec3::X * i as f64).collect(),
        pairs: (1..n).map(|i| (i - 1, i)).collect(),
        wall: true,
    }
}

pub fn pyramid(rows: usize) -> Rack {
    let mut rack = Rack {
        x: Vec::new(),
        pairs: Vec::new(),
        wall: false,
    };
    let at = |row: usize, i: usize| row * (row + 1) / 2 + i;
    for row in 0..rows {
        for i in 0..=row {
            let y = i as f64 - 0.5 * row as f64;
            rack.x.push(Vec3::new(0.75_f64.sqrt() * row as f64, y, 0.0));
            if i > 0 {
                rack.pairs.push((at(row, i - 1), at(row, i)));
            }
            if row > 0 && i < row {
                rack.pairs.push((at(row - 1, i), at(row, i)));
            }
            if row > 0 && i > 0 {
                rack.pairs.push((at(row - 1, i - 1), at(row, i)));
            }
        }
    }
    rack
}

/// N × N balls, each beside its neighbours along both axes.
pub fn net(n: usize) -> Rack {
    let place = |k: usize| Vec3::new((k % n) as f64, (k / n) as f64, 0.0);
    let along = (0..n * n).filter(|k| k % n + 1 < n).map(|k| (k, k + 1));
    let across = (0..n * (n - 1)).map(|k| (k, k + n));
    Rack {
        x: (0..n * n).map(place).collect(),
        pairs: along.chain(across).collect(),
        wall: false,
    }
}

/// The rack as a problem in which every contact approaches: everything is drawn together towards its middle.
pub fn problem(rack: &Rack, jointed: bool) -> (Problem, Vec<Point>) {
    let mut p = Problem::default();
    let middle: Vec3 = rack.x.iter().sum::<Vec3>() / rack.x.len() as f64;
    let nodes: Vec<Node> = rack
        .x
        .iter()
        .map(|x| {
            p.add_body(
                1.0,
                Mat3::IDENTITY * 10.0,
                (middle - *x) * 0.1 + Vec3::X,
                Vec3::ZERO,
            )
            .unwrap()
        })
        .collect();
    let mut points = Vec::new();
    let mut touch = |p: &mut Problem, a: Option<usize>, b: Option<usize>, n: Vec3| {
        let (t1, t2) = tangents(n);
        let low = if jointed { f64::NEG_INFINITY } else { 0.0 };
        let rows: &[Vec3] = if jointed { &[n, t1, t2] } else { &[n] };
        for d in rows {
            let group = p.add_row(
                Law::Bounded {
                    low,
                    high: f64::INFINITY,
                },
                0.0,
                0.0,
            );
            for (side, sign) in [(a, -1.0), (b, 1.0)] {
                if let Some(i) = side {
                    let (d, m) = (*d * sign, (n * (-0.5 * sign)).cross(*d) * sign);
                    p.add_side(nodes[i], &[d.x, d.y, d.z, m.x, m.y, m.z]);
                }
            }
            if !jointed {
                points.push(Point {
                    group,
                    surface: Surface::new(0.0, 0.0),
                    threshold: 1e-12,
                });
            }
        }
    };
    for &(a, b) in &rack.pairs {
        touch(&mut p, Some(a), Some(b), rack.x[b] - rack.x[a]);
    }
    if rack.wall {
        touch(&mut p, Some(rack.x.len() - 1), None, Vec3::X);
    }
    (p, points)
}
