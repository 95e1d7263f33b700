//! Times of one simultaneous resolution beside those of the paper: lines, pyramids and chains of connections, all contacts active, e = 0, cold.
//!
//! `cargo run --release -p tippe --example cluster_speed`. Times are of the processor, the least of several runs.
//! Source: the table of [Ermolin] §5 and its protocol in docs/methods/simultaneous.md.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example")]

use cpu_time::ProcessTime;
use tippe::Surface;
use tippe::math::{Mat3, Vec3, tangents};
use tippe::method::simultaneous::{Clusters, Limits, Point};
use tippe::solver::problem::{Law, Node, Problem};

/// Equal balls of radius ½ that approach the origin of the row or the apex, and which of them touch.
struct Rack {
    x: Vec<Vec3>,
    pairs: Vec<(usize, usize)>,
    wall: bool,
}

fn line(n: usize) -> Rack {
    Rack {
        x: (0..n).map(|i| Vec3::X * i as f64).collect(),
        pairs: (1..n).map(|i| (i - 1, i)).collect(),
        wall: true,
    }
}

fn pyramid(rows: usize) -> Rack {
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

/// The rack as a problem in which every contact approaches: everything is drawn together towards its middle.
fn problem(rack: &Rack, jointed: bool) -> (Problem, Vec<Point>) {
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

/// Least time of several resolutions from nothing, assembly of the problem not counted [ms]; residual [m/s].
fn measure(rack: &Rack, jointed: bool, repeats: usize) -> (usize, f64, f64, u32) {
    let (problem, points) = problem(rack, jointed);
    let limits = Limits {
        literal: jointed,
        ..Limits::default()
    };
    let mut best = (f64::INFINITY, 0.0, 0);
    for _ in 0..repeats {
        let mut clusters = Clusters::default();
        let start = ProcessTime::now();
        let found = clusters.resolve(&problem, &points, &limits).unwrap();
        let ms = start.elapsed().as_secs_f64() * 1e3;
        if ms < best.0 {
            best = (ms, found.solved.residual, found.factorisations);
        }
    }
    (problem.rows(), best.0, best.1, best.2)
}

fn main() {
    println!(
        "{:10} {:>7} {:>7} {:>11} {:>12} {:>10} {:>6}",
        "case", "bodies", "rows", "time [ms]", "paper [ms]", "residual", "factor"
    );
    let print = |name: &str, rack: &Rack, jointed: bool, paper: &str| -> (usize, f64) {
        let (rows, ms, residual, factor) = measure(rack, jointed, 5);
        let bodies = rack.x.len();
        println!("{name:10} {bodies:7} {rows:7} {ms:11.4} {paper:>12} {residual:10.1e} {factor:6}");
        (rows, ms)
    };
    let slope = |name: &str, all: &[(usize, f64)]| {
        if let [.., a, b] = all {
            let s = (b.1 / a.1).ln() / (b.0 as f64 / a.0 as f64).ln();
            println!("{name}: slope {s:.2} from {} to {} rows\n", a.0, b.0);
        }
    };
    let lines: Vec<_> = [(10, "0.85"), (100, "241.5"), (1000, "—"), (10_000, "—")]
        .map(|(n, paper)| print("line", &line(n), false, paper))
        .into();
    slope("line", &lines);
    let racks: Vec<_> = [
        (3, "0.13"),
        (4, "0.17"),
        (10, "2.3"),
        (20, "6501"),
        (41, "—"),
        (82, "—"),
    ]
    .map(|(k, paper)| print("pyramid", &pyramid(k), false, paper))
    .into();
    slope("pyramid", &racks);
    let chains: Vec<_> = [10, 100, 1000]
        .map(|n| print("chain", &line(n), true, "—"))
        .into();
    slope("chain", &chains);
}
