//! Processor time of adaptive bodies: `cargo run --release -p tippe --example adaptive_speed`.
//!
//! Reads: nothing.  Writes: tables on standard output.
//! Called by: people; docs/speed.md quotes it.
//! Source: none. The best of several rounds is printed, because a busy machine only ever adds time.

use cpu_time::ThreadTime;
use tippe::articulated::{
    AdaptiveBody, AdaptiveDesc, AdaptiveInput, AdaptiveState, Integrator, Joint, LinkDesc, Model,
    Work, step,
};
use tippe::math::{Mat3, Pose, Vec3};
use tippe::shape::mass::MassProperties;
use tippe::{ArticulationDesc, LinkBodyDesc, World};

/// Step [s], and rounds of which the best counts.
const H: f64 = 1e-5;
const ROUNDS: usize = 15;

fn main() {
    println!("links  moving   all links µs   hybrid step µs   selection µs   refreshed   visited");
    let mut times = Vec::new();
    for n in [100, 1000, 10_000] {
        times.push(row(n, 16));
    }
    println!(
        "hybrid step, 16 moving joints: 10000 links take {:.2} times as long as 100",
        times[2] / times[0]
    );
    let budgets = [16, 32, 64, 128, 256];
    let hybrid = budgets.map(|m| row(10_000, m));
    println!(
        "hybrid step, 10000 links: log–log slope in the moving joints {:.3}",
        slope(&budgets, &hybrid)
    );
    worlds(10_000, 16);
}

/// Prints the times of one chain; returns that of the hybrid step.
fn row(n: usize, m: usize) -> f64 {
    let model = chain(n);
    let tau = vec![0.0; n];
    let input = AdaptiveInput {
        tau: &tau,
        loads: &[],
        pins: &[],
    };
    let (mut q, mut v) = (model.neutral(), vec![0.0; n]);
    let mut work = Work::new(&model);
    let one = Integrator::OneEvaluation;
    let all = best(3, || {
        step(&model, one, H, &tau, &[], &mut q, &mut v, &mut work).expect("the chain is sound");
    });
    let (mut q, mut v) = (model.neutral(), vec![0.0; n]);
    let desc = AdaptiveDesc {
        interval: u32::MAX,
        ..AdaptiveDesc::joints(m)
    };
    let mut body = AdaptiveBody::new(&model, desc, 0).expect("the description is sound");
    let mut state = AdaptiveState::new(&model);
    let mut advance = |body: &mut AdaptiveBody, state: &mut AdaptiveState| {
        body.step(&model, state, one, H, &input, &mut q, &mut v)
            .expect("the chain is sound")
    };
    advance(&mut body, &mut state);
    let hybrid = best(200, || {
        advance(&mut body, &mut state);
    });
    // A selection follows a step, so that everything that moves is computed anew; the step is subtracted.
    let mut last = None;
    let both = best(3, || {
        advance(&mut body, &mut state);
        state.request();
        last = advance(&mut body, &mut state).selection;
    });
    let last = last.expect("a selection was asked for");
    println!(
        "{n:>5}  {m:>6}   {all:>12.2}   {hybrid:>14.2}   {:>12.2}   {:>9}   {:>7}",
        both - 2.0 * hybrid,
        last.refreshed,
        last.visited
    );
    hybrid
}

/// Prints the mean time of `World::step` without contacts, all links moving and `m` of them, choices included.
fn worlds(n: usize, m: usize) {
    let time = |adaptive: Option<AdaptiveDesc>, steps: usize| {
        let links = chain(n).links().to_vec();
        let mut world = World::default();
        let desc = ArticulationDesc {
            links: links.into_iter().map(LinkBodyDesc::new).collect(),
            adaptive,
            ..ArticulationDesc::default()
        };
        world.add_articulation(&desc).expect("the chain is sound");
        let mut run = |steps: usize| {
            let start = ThreadTime::now();
            for _ in 0..steps {
                world.step(H).expect("the chain is sound");
            }
            start.elapsed().as_secs_f64() * 1e6 / steps as f64
        };
        run(8);
        (0..5).map(|_| run(steps)).fold(f64::INFINITY, f64::min)
    };
    let (all, few) = (time(None, 8), time(Some(AdaptiveDesc::joints(m)), 80));
    println!(
        "World::step, {n} links: all {all:.1} µs, {m} joints {few:.1} µs, {:.1} times as fast",
        all / few
    );
}

/// Slope of the line of least squares through the logarithms.
fn slope(sizes: &[usize], times: &[f64]) -> f64 {
    let points = sizes.iter().zip(times);
    let points: Vec<(f64, f64)> = points
        .map(|(n, t)| (libm::log(*n as f64), libm::log(*t)))
        .collect();
    let count = points.len() as f64;
    let mean = points
        .iter()
        .fold((0.0, 0.0), |s, p| (s.0 + p.0 / count, s.1 + p.1 / count));
    let (mut above, mut below) = (0.0, 0.0);
    for (x, y) in points {
        above += (x - mean.0) * (y - mean.1);
        below += (x - mean.0) * (x - mean.0);
    }
    above / below
}

/// Microseconds of processor time for one call.
fn best(calls: usize, mut run: impl FnMut()) -> f64 {
    run();
    (0..ROUNDS)
        .map(|_| {
            let start = ThreadTime::now();
            for _ in 0..calls {
                run();
            }
            start.elapsed().as_secs_f64() * 1e6 / calls as f64
        })
        .fold(f64::INFINITY, f64::min)
}

/// Links of 1 m with hinges that turn about y and z in turn, the first horizontal.
fn chain(n: usize) -> Model {
    let mass = MassProperties {
        mass: 1.0,
        center: Vec3::X * 0.5,
        inertia: Mat3::from_diagonal(Vec3::new(0.02, 0.09, 0.1)),
    };
    let links: Vec<LinkDesc> = (0..n)
        .map(|i| {
            let axis = if i % 2 == 0 { Vec3::Y } else { Vec3::Z };
            LinkDesc::new(
                i.checked_sub(1),
                Joint::Revolute { axis },
                Pose::from_position(Vec3::X * f64::from(u8::from(i > 0))),
                mass,
            )
        })
        .collect();
    Model::new(&links, Vec3::Z * -9.81).expect("the chain is sound")
}
