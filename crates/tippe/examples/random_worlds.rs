//! Random worlds, as many as asked for; prints those that panic, stop or make energy:
//! `cargo run -p tippe --example random_worlds -- --count 2000 --seed 0 [--seconds 1] [--method sequential]`.
//!
//! Reads: nothing.  Writes: failures with their seed and a summary, on standard output; exit code 1 if there are any.
//! Called by: people.
//! Source: none.

#[path = "../tests/geometry_support/mod.rs"]
mod geometry_support;
#[path = "../tests/random_world/mod.rs"]
mod random_world;

use std::panic::catch_unwind;
use tippe::Method;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let word = |name: &str| {
        let at = args.iter().position(|a| a == name)?;
        args.get(at + 1).cloned()
    };
    let number =
        |name: &str, default: f64| word(name).and_then(|x| x.parse().ok()).unwrap_or(default);
    let (count, seed) = (
        number("--count", 100.0) as u64,
        number("--seed", 0.0) as u64,
    );
    let seconds = number("--seconds", 1.0);
    let steps = number("--steps", 300.0) as u32;
    let refine = number("--refine", 1.0);
    let methods = match word("--method") {
        Some(name) => vec![name],
        None => vec!["sequential".to_string(), "iterative".to_string()],
    };
    std::panic::set_hook(Box::new(|info| {
        if let Some(at) = info.location() {
            println!("panic at {at}");
        }
    }));
    let mut failures = 0;
    let mut guarded = 0;
    for name in &methods {
        for i in 0..count {
            let seed = seed + i;
            let Some(method) = Method::from_name(name) else {
                println!("no method is called {name}");
                std::process::exit(2);
            };
            let start = cpu_time::ProcessTime::now();
            let ran = catch_unwind(|| random_world::run(seed, method, seconds, steps, refine));
            let took = start.elapsed().as_secs_f64();
            match ran {
                Ok(out) => {
                    guarded += u32::from(out.guarded > 0);
                    if let Some(fault) = &out.fault {
                        failures += 1;
                        println!(
                            "{name} seed {seed}: {fault}; dt {:.2e}, {} bodies, {} joints, guarded {}, fastest {:.1e} m/s",
                            out.dt, out.bodies, out.joints, out.guarded, out.fastest
                        );
                    } else if took > 5.0 || word("--all").is_some() {
                        println!(
                            "{name} seed {seed}: {took:.1} s; dt {:.2e}, {} bodies, gained {:.1e}, excess {:.1e}, fastest {:.1e} m/s, guarded {}",
                            out.dt, out.bodies, out.gained, out.excess, out.fastest, out.guarded
                        );
                    }
                }
                Err(why) => {
                    failures += 1;
                    let why = why
                        .downcast_ref::<String>()
                        .cloned()
                        .or_else(|| why.downcast_ref::<&str>().map(ToString::to_string));
                    println!("{name} seed {seed}: panic: {}", why.unwrap_or_default());
                }
            }
        }
    }
    println!(
        "{failures} of {} worlds failed; the guard acted in {guarded}",
        count * methods.len() as u64
    );
    std::process::exit(i32::from(failures > 0));
}
