//! Times of one simultaneous resolution beside those of the paper: lines, pyramids, chains and nets of connections, all contacts active, e = 0, cold.
//!
//! `cargo run --release -p tippe --example cluster_speed`. Times are of the processor, the least of several runs.
//! Source: the table of [Ermolin] §5 and its protocol in docs/methods/simultaneous.md.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example")]

#[path = "../tests/cluster_support/racks.rs"]
mod racks;

use cpu_time::ProcessTime;
use racks::{Rack, line, net, problem, pyramid};
use tippe::method::simultaneous::{Clusters, Limits};

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
            let s = libm::log(b.1 / a.1) / libm::log(b.0 as f64 / a.0 as f64);
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
    let nets: Vec<_> = [10, 20, 40]
        .map(|n| print("net", &net(n), true, "—"))
        .into();
    slope("net", &nets);
}
