//! Processor time of the algorithms on trees: `cargo run --release -p tippe --example tree_speed [NAME]`.
//!
//! Reads: nothing.  Writes: a table on standard output.
//! Called by: people; docs/speed.md quotes it.
//! Source: none. The best of several rounds is printed, because a busy machine only ever adds time.

use cpu_time::ThreadTime;
use tippe::articulated::{
    ConstraintRow, Integrator, Joint, LinkDesc, Model, Work, aba, articulate,
    constrained_accelerations, crba, dca, kinematics, rnea, step,
};
use tippe::math::mixed_lcp::Bound;
use tippe::math::{Mat3, Pose, Quat, Vec3};
use tippe::shape::mass::MassProperties;
use tippe::{ArticulationDesc, LinkBodyDesc, Method, SequentialParams, World};

/// Rounds of which the best counts, and links moved in one of them.
const ROUNDS: usize = 15;
const LINKS_PER_ROUND: usize = 40_000;

fn main() {
    let wanted = std::env::args().nth(1);
    let shown = |name: &str| wanted.as_deref().is_none_or(|w| name.contains(w));
    println!("tree           function        µs/call   µs/link");
    let sizes = [8, 10, 32, 100, 256, 1000, 2048, 4096];
    if shown("chain") {
        let times = sizes.map(|n| measure(&format!("chain-{n}"), &chain(n)));
        println!(
            "chain          aba, log–log slope {:.3}",
            slope(&sizes, &times)
        );
    }
    if shown("constraints") {
        let sizes = [64, 256, 1024, 4096];
        let times = sizes.map(|n| constrained(&chain(n)));
        println!(
            "chain          8 prescribed accelerations, 64 to 4096 links: log–log slope {:.3}",
            slope(&sizes, &times)
        );
    }
    if shown("dca") {
        for n in [64, 1024, 10_000] {
            halves(n);
        }
    }
    for n in [100, 1000] {
        if shown("world") {
            measure_world(n);
        }
    }
    if shown("arm") {
        measure("arm-7", &arm());
    }
    if shown("quadruped") {
        measure("quadruped-18", &quadruped());
    }
}

/// Prints and returns the time of accelerations with eight of them prescribed.
fn constrained(model: &Model) -> f64 {
    let n = model.freedom_count();
    let (q, v, tau) = (model.neutral(), vec![0.1; n], vec![0.0; n]);
    let rows: Vec<ConstraintRow> = (0..8).map(|k| ConstraintRow::Freedom(k * n / 8)).collect();
    let (mut a, mut f) = (vec![0.0; n], [0.0; 8]);
    let mut work = Work::new(model);
    let time = best(8 * n, || {
        let bounds = [Bound::Free; 8];
        constrained_accelerations(
            model,
            &q,
            &v,
            &tau,
            &[],
            &rows,
            &bounds,
            &[0.0; 8],
            &mut work,
            &mut a,
            &mut f,
        )
        .expect("the state fits");
    });
    println!(
        "chain-{n:<8} 8 constraints  {time:>8.3} {:>9.4}",
        time / n as f64
    );
    time
}

/// Prints how long divide and conquer takes with one thread and with two, beside `aba`, and how far they are apart. By the
/// processor time of the calling thread: of two threads it does one half and the last join, and then waits for the other; so
/// it is what the clock shows where both have a core to themselves. The clock stands beside it.
fn halves(n: usize) {
    let model = chain(n);
    let q: Vec<f64> = (0..n).map(|i| 0.01 * libm::sin(i as f64)).collect();
    let (v, tau) = (vec![0.01; n], vec![0.0; n]);
    let (mut wanted, mut found) = (vec![0.0; n], vec![0.0; n]);
    let mut work = Work::new(&model);
    // The three take turns, so that a busy moment of the machine meets all of them.
    let mut least = [(f64::INFINITY, f64::INFINITY); 3];
    for _ in 0..(LINKS_PER_ROUND / n).max(ROUNDS) {
        for (threads, least) in least.iter_mut().enumerate() {
            let (start, clock) = (ThreadTime::now(), std::time::Instant::now());
            let (w, loads) = (&mut work, &[]);
            match threads {
                0 => aba(&model, &q, &v, &tau, loads, w, &mut wanted),
                _ => dca(&model, &q, &v, &tau, loads, threads, w, &mut found).map(|_| ()),
            }
            .expect("the state fits");
            least.0 = least.0.min(start.elapsed().as_secs_f64() * 1e6);
            least.1 = least.1.min(clock.elapsed().as_secs_f64() * 1e6);
        }
    }
    let size = wanted.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    let apart = wanted.iter().zip(&found);
    let apart = apart.fold(0.0_f64, |s, (x, y)| s.max((x - y).abs())) / size;
    let [one, dca, two] = least;
    for (what, one, dca, two) in [
        ("processor", one.0, dca.0, two.0),
        ("clock", one.1, dca.1, two.1),
    ] {
        println!(
            "chain-{n:<8} {what:<9} aba {one:.1} µs, dca {dca:.1} µs ({:.2} times aba), two threads {two:.1} µs ({:.2} \
             times aba, {:.2} times as fast), apart {apart:.1e}",
            dca / one,
            two / one,
            dca / two
        );
    }
}

/// Prints the times of one tree; returns that of `aba`.
fn measure(name: &str, model: &Model) -> f64 {
    let n = model.freedom_count();
    let mut work = Work::new(model);
    let mut q = model.neutral();
    for (i, x) in q.iter_mut().enumerate() {
        *x += 0.3 * libm::sin(i as f64);
    }
    let v: Vec<f64> = (0..n).map(|i| libm::cos(i as f64)).collect();
    let tau = vec![0.0; n];
    let mut out = vec![0.0; n];
    let mut row = |function: &str, run: &mut dyn FnMut(&mut Work)| {
        let time = best(model.link_count(), || run(&mut work));
        println!(
            "{name:<14} {function:<14} {time:>8.3} {:>9.4}",
            time / model.link_count() as f64
        );
        time
    };
    row("kinematics", &mut |w| {
        kinematics(model, &q, &v, w).expect("the state fits");
    });
    row("rnea", &mut |w| {
        rnea(model, &q, &v, &tau, &[], w, &mut out).expect("the state fits");
    });
    let accelerations = row("aba", &mut |w| {
        aba(model, &q, &v, &tau, &[], w, &mut out).expect("the state fits");
    });
    row("articulate", &mut |w| {
        articulate(model, &q, w).expect("the state fits");
    });
    if n <= 1000 {
        let mut m = vec![0.0; n * n];
        row("crba", &mut |w| {
            crba(model, &q, w, &mut m).expect("the state fits");
        });
    }
    let (mut next_q, mut next_v) = (q.clone(), v.clone());
    for (function, integrator, calls) in [
        ("step one", Integrator::OneEvaluation, 1.0),
        ("step high", Integrator::HighOrder, 4.0),
    ] {
        let time = row(function, &mut |w| {
            next_q.copy_from_slice(&q);
            next_v.copy_from_slice(&v);
            let (q, v) = (&mut next_q, &mut next_v);
            step(model, integrator, 1e-4, &tau, &[], q, v, w).expect("the state fits");
        });
        println!(
            "{name:<14} {function:<14} {:>8.3} times its calls of aba",
            time / (calls * accelerations)
        );
    }
    accelerations
}

/// A whole contact-free step of a world with one hanging chain.
fn measure_world(n: usize) {
    let links = chain_links(n).into_iter().map(LinkBodyDesc::new).collect();
    let desc = ArticulationDesc {
        links,
        integrator: Integrator::OneEvaluation,
        ..ArticulationDesc::default()
    };
    let mut world =
        World::new(Method::Sequential(SequentialParams::default())).expect("good parameters");
    world.add_articulation(&desc).expect("the chain is sound");
    let time = best(n, || {
        world.step(1e-5).expect("the chain swings");
    });
    println!(
        "chain-{n:<8} {:<14} {time:>8.3} {:>9.4}",
        "World::step",
        time / n as f64
    );
}

/// Slope of the line of least squares through the logarithms.
fn slope(sizes: &[usize], times: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> = sizes
        .iter()
        .zip(times)
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
fn best(links: usize, mut run: impl FnMut()) -> f64 {
    let calls = (LINKS_PER_ROUND / links).max(3);
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

fn slab(mass: f64, center: Vec3) -> MassProperties {
    MassProperties {
        mass,
        center,
        inertia: Mat3::from_diagonal(Vec3::new(0.02, 0.09, 0.1) * mass),
    }
}

/// Links of 1 m with hinges that turn about y and z in turn.
fn chain(n: usize) -> Model {
    Model::new(&chain_links(n), Vec3::Z * -9.81).expect("the chain is sound")
}

fn chain_links(n: usize) -> Vec<LinkDesc> {
    (0..n)
        .map(|i| {
            let axis = if i % 2 == 0 { Vec3::Y } else { Vec3::Z };
            LinkDesc::new(
                i.checked_sub(1),
                Joint::Revolute { axis },
                Pose::from_position(Vec3::X * f64::from(u8::from(i > 0))),
                slab(1.0, Vec3::X * 0.5),
            )
        })
        .collect()
}

/// Seven hinges, axes and offsets at odd angles.
fn arm() -> Model {
    let links: Vec<LinkDesc> = (0..7_usize)
        .map(|i| {
            let t = i as f64;
            LinkDesc::new(
                i.checked_sub(1),
                Joint::Revolute {
                    axis: Vec3::new(0.2, libm::sin(t), libm::cos(t)),
                },
                Pose::new(
                    Vec3::new(0.3, 0.02 * t, 0.1),
                    Quat::from_xyzw(0.1, 0.2, 0.3, 0.9).normalize(),
                ),
                slab(3.0 - 0.3 * t, Vec3::new(0.15, 0.01, 0.02)),
            )
        })
        .collect();
    Model::new(&links, Vec3::Z * -9.81).expect("the arm is sound")
}

/// A floating trunk with four legs of three hinges.
fn quadruped() -> Model {
    let mut links = vec![LinkDesc::new(
        None,
        Joint::Free,
        Pose::IDENTITY,
        slab(10.0, Vec3::ZERO),
    )];
    for leg in 0..4 {
        let (x, y) = (
            if leg < 2 { 0.3 } else { -0.3 },
            if leg % 2 == 0 { 0.15 } else { -0.15 },
        );
        let hip = links.len();
        for (k, axis) in [Vec3::X, Vec3::Y, Vec3::Y].into_iter().enumerate() {
            let place = if k == 0 {
                Vec3::new(x, y, 0.0)
            } else {
                Vec3::new(0.0, 0.0, -0.25)
            };
            links.push(LinkDesc::new(
                Some(if k == 0 { 0 } else { hip + k - 1 }),
                Joint::Revolute { axis },
                Pose::from_position(place),
                slab(1.0, Vec3::Z * -0.12),
            ));
        }
    }
    Model::new(&links, Vec3::Z * -9.81).expect("the quadruped is sound")
}
