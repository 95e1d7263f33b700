//! SR-22 at length: every scene of the repository, 20 steps with each method, and what it took.
//!
//! `cargo run --release -p tippe-scene --example every_method [SCENE…]`; the net of joints takes minutes. Times are of the processor.

#[path = "../tests/every_method_support/mod.rs"]
mod every_method_support;

use cpu_time::ProcessTime;
use every_method_support::{End, METHODS, name, run, scene_files};

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut stopped = 0;
    for path in scene_files() {
        let scene = name(&path);
        if !wanted.is_empty() && !wanted.contains(&scene) {
            continue;
        }
        for method in METHODS {
            let start = ProcessTime::now();
            let end = run(&path, method, 20);
            let seconds = start.elapsed().as_secs_f64();
            let text = match end {
                End::Ran => format!("ran {seconds:.2} s"),
                End::Refused(reason) => format!("refused: {reason}"),
                End::Stopped(reason) => {
                    stopped += 1;
                    format!("STOPPED: {reason}")
                }
            };
            println!("{scene:24} {method:14} {text}");
        }
    }
    println!("{stopped} stopped");
    std::process::exit(i32::from(stopped > 0));
}
