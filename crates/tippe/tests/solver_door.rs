//! The solver's door: every kind of row and node on problems small enough to work out by hand, and recorded islands.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use tippe::math::{Mat3, Vec3};
use tippe::solver::core::Core;
use tippe::solver::problem::{Budget, Friction, Law, Node, Outcome, Problem};
use tippe::solver::recorded;

const FRAME: [Vec3; 3] = [Vec3::Z, Vec3::X, Vec3::Y];

fn exact() -> Budget {
    Budget {
        tolerance_relative: 1e-12,
        ..Budget::default()
    }
}

/// A ball of mass `m` and radius 1 with the inertia of a solid sphere.
fn ball(problem: &mut Problem, m: f64, v: Vec3, w: Vec3) -> Node {
    problem
        .add_body(1.0 / m, Mat3::IDENTITY * (2.5 / m), v, w)
        .unwrap()
}

/// A ball on the floor.
fn on_floor(problem: &mut Problem, node: Node, friction: Friction, target: f64) {
    let target = [target, 0.0, 0.0, 0.0, 0.0, 0.0];
    problem.add_contact(friction, target, [0.0; 6]);
    problem.add_contact_side(node, 1.0, FRAME, -Vec3::Z);
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{a} is not {b}");
}

#[test]
fn an_equality_row_takes_any_impulse() {
    let mut p = Problem::default();
    let a = ball(&mut p, 2.0, Vec3::X, Vec3::ZERO);
    let b = ball(&mut p, 1.0, -Vec3::X, Vec3::ZERO);
    p.add_row(Law::Equality, 0.5, 0.0);
    p.add_side(a, &[-1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    p.add_side(b, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let mut core = Core::default();
    let out = core.solve(&p, &exact());
    assert!(out.met);
    // u: −2 → 0.5 through 1/2 + 1 = 3/2.
    near(out.impulses[0], 2.5 / 1.5);
    near(out.velocities[1][0] - out.velocities[0][0], 0.5);
    assert_eq!(out.work.factorisations, 1);
}

#[test]
fn a_bounded_row_stops_at_its_bounds() {
    for (target, low, high, impulse) in [
        (3.0, -1.0, 1.0, 1.0),
        (-3.0, -1.0, 1.0, -1.0),
        (0.25, -1.0, 1.0, 0.5),
        (3.0, 0.0, f64::INFINITY, 6.0),
        (-3.0, 0.0, f64::INFINITY, 0.0),
        (-3.0, f64::NEG_INFINITY, -1.0, -6.0),
        (3.0, f64::NEG_INFINITY, -1.0, -1.0),
        (3.0, 0.0, 0.0, 0.0),
    ] {
        let mut p = Problem::default();
        let a = ball(&mut p, 2.0, Vec3::ZERO, Vec3::ZERO);
        p.add_row(Law::Bounded { low, high }, target, 0.0);
        p.add_side(a, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let mut core = Core::default();
        let out = core.solve(&p, &exact());
        assert!(out.met, "{target} {low} {high}");
        near(out.impulses[0], impulse);
    }
}

/// A sphere set down while it slides: it sticks, slides or flies, as Coulomb's law says.
#[test]
fn a_cone_sticks_slides_and_opens() {
    let mut core = Core::default();
    let mut solve = |mu: f64, v: Vec3| {
        let mut p = Problem::default();
        let a = ball(&mut p, 1.0, v, Vec3::ZERO);
        on_floor(&mut p, a, Friction::coulomb(mu), 0.0);
        let out = core.solve(&p, &exact());
        assert!(out.met);
        [out.impulses[0], out.impulses[1], out.impulses[2]]
    };
    // Tangential K = 1 + 5/2: sticking takes −u_t/3.5.
    let stick = solve(0.5, Vec3::new(0.7, 0.0, -1.0));
    near(stick[0], 1.0);
    near(stick[1], -0.2);
    let slide = solve(0.1, Vec3::new(3.0, 4.0, -1.0));
    near(slide[0], 1.0);
    near(slide[1], -0.06);
    near(slide[2], -0.08);
    assert_eq!(solve(0.5, Vec3::new(3.0, 4.0, 1.0)), [0.0; 3]);
    near(solve(0.0, Vec3::new(3.0, 4.0, -1.0))[0], 1.0);
}

#[test]
fn restitution_is_a_target() {
    let mut p = Problem::default();
    let a = ball(&mut p, 3.0, -Vec3::Z, Vec3::ZERO);
    on_floor(&mut p, a, Friction::coulomb(0.3), 0.5);
    let mut core = Core::default();
    let out = core.solve(&p, &exact());
    near(out.impulses[0], 4.5);
    near(out.velocities[0][2], 0.5);
}

/// The same numbers as accelerations give the same forces; a thousand times larger, forces a thousand times as large.
#[test]
fn the_unit_of_velocity_is_the_callers() {
    let mut core = Core::default();
    let mut solve = |scale: f64| {
        let mut p = Problem::default();
        let a = ball(&mut p, 1.0, Vec3::new(2.0, 0.5, -1.0) * scale, Vec3::ZERO);
        let b = ball(
            &mut p,
            4.0,
            Vec3::new(0.0, 0.5, -1.0) * scale,
            Vec3::X * scale,
        );
        on_floor(&mut p, a, Friction::coulomb(0.3), 0.0);
        p.add_contact(
            Friction::coulomb(0.2),
            [0.1 * scale, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0; 6],
        );
        p.add_contact_side(a, -1.0, FRAME, Vec3::Z);
        p.add_contact_side(b, 1.0, FRAME, -Vec3::Z);
        let out = core.solve(&p, &exact());
        assert!(out.met);
        out.impulses.to_vec()
    };
    let (one, thousand) = (solve(1.0), solve(1000.0));
    for (a, b) in one.iter().zip(&thousand) {
        assert!((1000.0 * a - b).abs() <= 1e-8 * (1.0 + b.abs()), "{a} {b}");
    }
}

/// A door that only turns about z, given by one freedom, answers as the body does whose other freedoms are held by equalities.
#[test]
fn a_node_may_expose_only_some_freedoms() {
    let mut core = Core::default();
    let lever = Vec3::new(1.0, 0.2, -1.0);
    let mut partial = Problem::default();
    let door = partial.add_node(&[2.0], &[-0.5]).unwrap();
    let frame = [Vec3::Y, Vec3::X, Vec3::Z];
    partial.add_contact(Friction::coulomb(0.3), [0.0; 6], [0.0; 6]);
    let rows = frame.map(|d| lever.cross(d).z);
    partial.add_side(door, &rows);
    let few = core.solve(&partial, &exact()).impulses.to_vec();
    let mut whole = Problem::default();
    let body = whole
        .add_body(1.0, Mat3::IDENTITY * 0.5, Vec3::ZERO, Vec3::Z * -0.5)
        .unwrap();
    whole.add_contact(Friction::coulomb(0.3), [0.0; 6], [0.0; 6]);
    whole.add_contact_side(body, 1.0, frame, lever);
    for i in 0..5 {
        whole.add_row(Law::Equality, 0.0, 0.0);
        let mut row = [0.0; 6];
        row[i] = 1.0;
        whole.add_side(body, &row);
    }
    let out = core.solve(&whole, &exact());
    assert!(out.met);
    // The velocity is unique; of the impulse, what turns the door.
    let turn = |r: &[f64]| (0..3).map(|i| rows[i] * r[i]).sum::<f64>();
    near(turn(&few), turn(out.impulses));
    near(turn(&few), 1.0);
    assert!(partial.add_node(&[-1.0], &[0.0]).is_none());
    assert!(partial.add_node(&[1.0, 0.0], &[0.0]).is_none());
}

/// Seven equal masses on a line as one node of seven freedoms (more than a block) with a full mass matrix, pulled at both ends.
#[test]
fn a_node_may_have_more_freedoms_than_a_body() {
    let n = 7;
    let mass: Vec<f64> = (0..n * n)
        .map(|k| if k / n == k % n { 3.0 } else { 1.0 })
        .collect();
    let free: Vec<f64> = (0..n).map(|i| i as f64 - 2.0).collect();
    let mut p = Problem::default();
    let tree = p.add_node(&mass, &free).unwrap();
    for (i, target) in [(0, 1.0), (6, -1.0)] {
        p.add_row(Law::Equality, target, 0.0);
        let mut row = vec![0.0; n];
        row[i] = 1.0;
        p.add_side(tree, &row);
    }
    let mut core = Core::default();
    let out = core.solve(&p, &exact());
    assert!(out.met);
    near(out.velocities[0][0], 1.0);
    near(out.velocities[1][0], -1.0);
    // M (v − free) is the impulses, and nothing elsewhere.
    let v: Vec<f64> = out.velocities.iter().flatten().copied().take(n).collect();
    for i in 0..n {
        let f: f64 = (0..n).map(|j| mass[n * i + j] * (v[j] - free[j])).sum();
        let r = match i {
            0 => out.impulses[0],
            6 => out.impulses[1],
            _ => 0.0,
        };
        near(f, r);
    }
}

/// Two rods that hold one body to the ground ask for different velocities: the nearest is met, and the difference is reported.
#[test]
fn contradicting_equalities_are_reported() {
    let mut p = Problem::default();
    let a = ball(&mut p, 1.0, Vec3::ZERO, Vec3::ZERO);
    let b = ball(&mut p, 1.0, Vec3::ZERO, Vec3::ZERO);
    for (ends, target) in [(vec![a], 1.0), (vec![b], 0.0), (vec![a, b], 0.0)] {
        p.add_row(Law::Equality, target, 0.0);
        for (i, node) in ends.into_iter().enumerate() {
            let sign = if i == 0 { 1.0 } else { -1.0 };
            p.add_side(node, &[sign, 0.0, 0.0, 0.0, 0.0, 0.0]);
        }
    }
    let mut core = Core::default();
    let out = core.solve(&p, &exact());
    assert!(out.met && !out.limit);
    assert!(
        out.contradiction > 0.1 && out.contradiction < 1.0,
        "{}",
        out.contradiction
    );
    let (x, y) = (out.velocities[0][0], out.velocities[1][0]);
    // Least squares of x − 1, y, (x − y)/√2: the rows' own masses weigh them.
    near(x, 0.75);
    near(y, 0.25);
}

/// Rolling and spinning resistance: torques inside their bounds where they hold, at them against the turning where they do not.
#[test]
fn torques_resist_rolling_and_spinning() {
    let mut core = Core::default();
    let friction = Friction {
        sliding: 0.5,
        rolling: 0.02,
        spinning: 0.05,
        slip_speed: 0.0,
    };
    let mut solve = |w: Vec3| {
        let mut p = Problem::default();
        // Rolls without sliding: v = w × radius.
        let v = w.cross(Vec3::Z) - Vec3::Z;
        let a = ball(&mut p, 1.0, v, w);
        on_floor(&mut p, a, friction, 0.0);
        let out = core.solve(&p, &exact());
        assert!(out.met, "{}", out.residual);
        let v = out.velocities[0];
        (out.impulses.to_vec(), Vec3::new(v[3], v[4], v[5]))
    };
    let (r, w) = solve(Vec3::new(0.0, 0.01, 0.01));
    assert!(w.length() < 1e-11, "it stops: {w}");
    assert!(r[3].abs() + r[4].abs() + r[5].abs() > 1e-3);
    let (r, w) = solve(Vec3::new(3.0, 4.0, 5.0));
    near(r[0], 1.0);
    near(r[3], -0.02 * w.x / w.truncate().length());
    near(r[4], -0.02 * w.y / w.truncate().length());
    near(r[5], -0.05);
}

#[test]
fn regularised_sliding_follows_its_law() {
    let mut core = Core::default();
    for speed in [1e-4, 0.01, 0.3, 5.0] {
        let mut p = Problem::default();
        let a = ball(&mut p, 1.0, Vec3::new(speed, 0.0, -1.0), Vec3::ZERO);
        let friction = Friction {
            slip_speed: 0.05,
            ..Friction::coulomb(0.4)
        };
        on_floor(&mut p, a, friction, 0.0);
        let out = core.solve(&p, &exact());
        assert!(out.met, "{speed}: {}", out.residual);
        let v = out.velocities[0];
        let u = v[0] - v[4];
        assert!(u > 0.0, "regularised contacts always slip");
        near(
            out.impulses[1],
            -0.4 * out.impulses[0] * u / (u * u + 0.05_f64 * 0.05).sqrt(),
        );
    }
}

/// A heap of balls with all kinds of resistance at once, thrown together: most are solved, and the rest says how far it is off.
#[test]
fn heaps_with_all_kinds_of_resistance() {
    let mut seed = 5_u64;
    let mut random = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let mut core = Core::default();
    let mut met = 0;
    for round in 0..40 {
        let mut p = Problem::default();
        let nodes: Vec<Node> = (0..8)
            .map(|_| {
                let v = Vec3::new(random(), random(), random() - 1.0);
                let w = Vec3::new(random(), random(), random());
                ball(&mut p, 1.0 + random(), v, w)
            })
            .collect();
        let friction = Friction {
            sliding: 0.4,
            rolling: if round % 2 == 0 { 0.05 } else { 0.0 },
            spinning: if round % 4 < 2 { 0.03 } else { 0.0 },
            slip_speed: if round % 3 == 0 { 0.01 } else { 0.0 },
        };
        for i in 0..8 {
            if i < 5 {
                on_floor(&mut p, nodes[i], friction, 0.0);
            }
            for j in 0..i {
                if random() > 0.1 {
                    continue;
                }
                let n = Vec3::new(random(), random(), random() + 0.3).normalize();
                let (t1, t2) = tippe::math::tangents(n);
                p.add_contact(friction, [0.0; 6], [0.0; 6]);
                p.add_contact_side(nodes[j], -1.0, [n, t1, t2], n);
                p.add_contact_side(nodes[i], 1.0, [n, t1, t2], -n);
            }
        }
        let out = core.solve(&p, &Budget::default());
        assert!(out.residual.is_finite());
        met += usize::from(out.met);
    }
    assert!(met >= 36, "{met} of 40");
}

fn islands() -> Vec<(String, Problem)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/islands");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let problem = recorded::read(&std::fs::read_to_string(path).unwrap());
        (name, problem.unwrap())
    };
    files.iter().map(read).collect()
}

/// At least 95 of 100 at 1e-8 relative, cold and warm, each with at most 100 factorisations.
#[test]
fn recorded_islands_are_solved() {
    let mut core = Core::default();
    let islands = islands();
    assert!(islands.len() > 30);
    for warm in [false, true] {
        let mut missed = Vec::new();
        for (name, problem) in &islands {
            let budget = Budget {
                warm,
                ..Budget::default()
            };
            let out = core.solve(problem, &budget);
            assert!(out.work.factorisations <= 100, "{name}");
            assert_eq!(out.contradiction > 0.0, name == "rope-5865", "{name}");
            if out.residual > 1e-8 * out.scale {
                missed.push(name);
            }
        }
        assert!(
            20 * missed.len() <= islands.len(),
            "warm {warm}: missed {missed:?}"
        );
    }
}

#[test]
fn a_budget_ends_the_solve_and_says_so() {
    let mut core = Core::default();
    let (_, problem) = islands()
        .into_iter()
        .find(|i| i.0 == "domino-1993")
        .unwrap();
    let few = Budget {
        factorisations: 3,
        warm: false,
        ..Budget::default()
    };
    let out = core.solve(&problem, &few);
    assert!(out.limit && !out.met && out.work.factorisations <= 3);
    let start = out.residual;
    let none = Budget {
        operations: 100,
        warm: false,
        ..Budget::default()
    };
    let out = core.solve(&problem, &none);
    assert!(out.limit && out.work.factorisations == 0 && out.residual >= start);
}

/// Scratch left by other islands changes no bit, and a second solve allocates nothing.
#[test]
fn solves_are_repeatable_and_allocate_nothing() {
    let bits = |out: &Outcome<'_>| out.impulses.iter().map(|r| r.to_bits()).collect::<Vec<_>>();
    let islands = islands();
    let mut used = Core::default();
    for (_, problem) in &islands {
        used.solve(problem, &Budget::default());
    }
    for (name, problem) in islands.iter().filter(|i| !i.0.starts_with("rope")) {
        let fresh = bits(&Core::default().solve(problem, &Budget::default()));
        assert_eq!(
            fresh,
            bits(&used.solve(problem, &Budget::default())),
            "{name}"
        );
        let counted = allocation_counter::measure(|| {
            used.solve(problem, &Budget::default());
        });
        assert_eq!(counted.count_total, 0, "{name}");
    }
}

#[test]
fn an_island_as_text_is_the_same_problem() {
    let mut all = islands();
    // A tree of nine freedoms and a body with rolling resistance between them, which the recordings have not.
    let mut problem = Problem::default();
    let mut mass = vec![0.1; 81];
    (0..9).for_each(|i| mass[10 * i] = 2.0 + i as f64);
    let tree = problem.add_node(&mass, &[0.3; 9]).unwrap();
    let body = problem
        .add_body(0.5, Mat3::IDENTITY, Vec3::X, Vec3::Y)
        .unwrap();
    let friction = Friction {
        sliding: 0.4,
        rolling: 0.01,
        spinning: 0.02,
        slip_speed: 0.0,
    };
    problem.add_contact(friction, [-1.0; 6], [0.0; 6]);
    let rows = |n: usize| {
        (0..6 * n)
            .map(|i| ((7 * i) % 5) as f64 - 2.0)
            .collect::<Vec<f64>>()
    };
    problem.add_side(tree, &rows(9));
    problem.add_side(body, &rows(6));
    let law = Law::Bounded {
        low: f64::NEG_INFINITY,
        high: 0.5,
    };
    problem.add_row(law, 0.25, 0.0);
    problem.add_side(tree, &rows(9)[..9]);
    all.push(("tree".into(), problem));
    let mut core = Core::default();
    for (name, problem) in &all {
        let text = recorded::write(problem);
        let again = recorded::read(&text).unwrap();
        assert_eq!(recorded::write(&again), text, "{name}");
        let first = core.solve(problem, &Budget::default());
        let (residual, scale) = (first.residual, first.scale);
        let second = core.solve(&again, &Budget::default());
        assert!((second.scale - scale).abs() <= 1e-9 * scale, "{name}");
        let met = residual <= 1e-8 * scale;
        assert!(!met || second.residual <= 2e-8 * scale, "{name}");
    }
}

#[test]
fn text_that_is_no_island_is_refused() {
    for (text, what) in [
        ("x 1 2", "line 1: unknown kind of line"),
        ("size 0 0 0\nb 1 2", "line 2: too few numbers"),
        ("b a", "line 1: invalid float"),
        ("b 0 1 0 0 1 0 1 0 0 0 0 0 0", "line 1: no positive mass"),
        ("s 0 -1 1 0 0 0 0 0 0 0 0 0 0 0 0", "line 1: unknown body 0"),
        ("n 1e9 1 0", "line 1: no mass matrix"),
        ("n 1 -1 0", "line 1: no mass matrix"),
        ("g 3 0 0 0 0 1 0 0", "line 1: unknown law 3"),
        ("g 0 0 0 0 0 3 0 0", "line 1: the rows do not fit the law"),
        ("g 0 0 0 0 0 1 0 0 4 1", "line 1: unknown node 4"),
        ("n 1 2 0\ng 0 0 0 0 0 1 0 0 0", "line 2: too few numbers"),
    ] {
        let error = recorded::read(text).unwrap_err();
        assert!(error.starts_with(what), "{error}");
    }
}

/// A tower of cubes at rest for one step of gravity, four contacts a face.
fn tower(count: usize) -> Problem {
    let mut p = Problem::default();
    let fall = Vec3::new(0.0, 0.0, -9.81 / 60.0);
    let nodes: Vec<Node> = (0..count)
        .map(|_| {
            p.add_body(1.0, Mat3::IDENTITY * 6.0, fall, Vec3::ZERO)
                .unwrap()
        })
        .collect();
    for i in 0..count {
        for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
            p.add_contact(Friction::coulomb(0.5), [0.0; 6], [0.0; 6]);
            if i > 0 {
                p.add_contact_side(nodes[i - 1], -1.0, FRAME, Vec3::new(x, y, 0.5));
            }
            p.add_contact_side(nodes[i], 1.0, FRAME, Vec3::new(x, y, -0.5));
        }
    }
    p
}

/// What the engine asks for: a hundredth of the tolerance where it gets there, so that the answer is right in the next step too.
fn polished() -> Budget {
    Budget {
        tolerance: 1e-8,
        tolerance_relative: 0.0,
        polish: 1e-2,
        ..Budget::default()
    }
}

#[test]
fn a_tower_solved_once_is_right_in_the_next_step() {
    let mut core = Core::default();
    for count in [1, 2, 10, 40] {
        let mut p = tower(count);
        let out = core.solve(&p, &polished());
        assert!(
            out.met && !out.unchanged && out.residual <= 1e-10,
            "{count}: {:e}",
            out.residual
        );
        let r = out.impulses.to_vec();
        p.start_mut().copy_from_slice(&r);
        let out = core.solve(&p, &polished());
        assert!(out.met && out.unchanged);
        assert_eq!(out.work.factorisations, 0);
    }
}

#[test]
fn chains_take_one_factorisation_from_any_start() {
    let mut core = Core::default();
    for count in [2, 10, 100] {
        let mut p = Problem::default();
        let mut last: Option<Node> = None;
        for i in 0..count {
            let swing = Vec3::new(0.1, 0.2, (i % 7) as f64 - 3.0);
            let node = p
                .add_body(1.0, Mat3::IDENTITY * 300.0, swing, -swing)
                .unwrap();
            for axis in FRAME {
                p.add_row(Law::Equality, 1e-3 * (i % 3) as f64, 0.3);
                for (body, sign, lever) in [(last, -1.0, 0.1), (Some(node), 1.0, -0.1)] {
                    if let Some(body) = body {
                        let (d, m) = (axis * sign, (Vec3::X * lever).cross(axis) * sign);
                        p.add_side(body, &[d.x, d.y, d.z, m.x, m.y, m.z]);
                    }
                }
            }
            last = Some(node);
        }
        for warm in [false, true] {
            let out = core.solve(&p, &Budget { warm, ..polished() });
            assert!(
                out.met && out.residual <= 1e-10,
                "{count} {warm}: {:e}",
                out.residual
            );
            assert_eq!(out.work.factorisations, 1, "{count} {warm}");
        }
    }
}

#[test]
fn islands_in_turn_have_the_answers_they_have_alone() {
    let problems: Vec<Problem> = [1, 2, 3, 5, 8, 13].map(tower).into();
    let mut core = Core::default();
    for _ in 0..2 {
        for p in &problems {
            let together = core.solve(p, &polished()).impulses.to_vec();
            let mut own = Core::default();
            assert_eq!(own.solve(p, &polished()).impulses, together);
        }
    }
}
