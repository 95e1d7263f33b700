//! Random trees with random budgets, impacts and limits, for the test and for `examples/adaptive_trees.rs`.

use super::Random;
use tippe::articulated::{
    AdaptiveBody, AdaptiveDesc, AdaptiveInput, AdaptiveState, Choice, Integrator, Joint, Limits,
    Load, Model, OtherSide, Score, Touch, Work, aba, constrained_impact, joint_freedoms,
    kinematics, limit_rows, link_pose,
};
use tippe::material::Surface;
use tippe::math::Mat3;
use tippe::{ArticulationDesc, BodyDesc, Filter, LinkBodyDesc, Method, Shape, ShapeDesc, World};

/// What was seen over many trees.
#[derive(Debug, Default)]
pub struct Seen {
    /// Worst difference of R and the sum over the locked joints, over the whole sum.
    pub residual: f64,
    pub steps: usize,
    pub collisions: usize,
    pub limits: usize,
}

/// Moves `count` random trees for a while; panics where something is not finite or an answer is missing.
pub fn random_trees(count: usize, seed: u64) -> Seen {
    let mut random = Random(seed);
    let mut seen = Seen::default();
    for i in 0..count {
        let model = limited(&mut random, 1 + i % 40);
        if model.freedom_count() > 0 {
            one_tree(&mut random, model, &mut seen);
        }
    }
    seen
}

/// A random tree, every third of whose hinges and sliders has limits.
fn limited(random: &mut Random, n: usize) -> Model {
    let c = random.tree(n);
    let mut links = c.model.links().to_vec();
    for link in &mut links {
        let one = matches!(link.joint, Joint::Revolute { .. } | Joint::Prismatic { .. });
        if one && random.below(3) == 0 {
            link.limits = Some(Limits {
                min: -0.6,
                max: 0.6,
                restitution: 0.5,
            });
        }
    }
    Model::new(&links, c.model.gravity()).unwrap()
}

fn desc(random: &mut Random, joints: usize) -> AdaptiveDesc {
    let choice = match random.below(3) {
        0 => Choice::Error(0.1 * (1.0 + random.next())),
        _ => Choice::Joints(1 + random.below(joints)),
    };
    AdaptiveDesc {
        choice,
        score: match random.below(2) {
            0 => Score::Acceleration,
            _ => Score::Velocity,
        },
        interval: 1 + random.below(9) as u32,
        lock_speed: [0.0, 0.05, f64::INFINITY][random.below(3)],
        patience: random.below(4) as u16,
        slow_turn: 0.0,
        ..AdaptiveDesc::joints(1)
    }
}

fn one_tree(random: &mut Random, model: Model, seen: &mut Seen) {
    let c = random.state(model);
    let (model, n) = (&c.model, c.model.freedom_count());
    let joints = AdaptiveState::new(model).active.len();
    let desc = desc(random, joints);
    let mut body = AdaptiveBody::new(model, desc.clone(), 0).unwrap();
    let mut state = AdaptiveState::new(model);
    let (mut q, mut v) = (c.q, c.v.iter().map(|x| 0.2 * x).collect::<Vec<_>>());
    let h = 2e-3;
    for _ in 0..20 {
        let load = Load::new(
            random.below(model.link_count()),
            random.vec3(),
            random.vec3(),
        );
        let loads = [load];
        let pins = [random.below(joints)];
        let input = AdaptiveInput {
            tau: &c.tau,
            loads: &loads,
            pins: &pins[..random.below(2)],
        };
        let (before_q, before_v, before) = (q.clone(), v.clone(), state.clone());
        let integrator = Integrator::OneEvaluation;
        let done = body
            .step(model, &mut state, integrator, h, &input, &mut q, &mut v)
            .unwrap();
        if let Some(s) = done.selection {
            let (locked, total) = sums(model, &desc, &state, &before_q, &before_v, &input, h);
            let error = (s.residual - locked).abs() / total.max(1e-300);
            assert!(error.is_finite(), "{s:?}");
            assert_eq!(stopped(model, &desc, &before, &state, &before_v), None);
            seen.residual = seen.residual.max(error);
        }
        if random.below(4) == 0 {
            collide(random, model, &mut body, &mut state, &input, &q, &mut v);
            seen.collisions += 1;
        }
        seen.limits += stop(model, &mut body, &state, &mut q, &mut v);
        seen.steps += 1;
        assert!(q.iter().chain(&v).all(|x| x.is_finite()));
        for j in 0..joints {
            let at = joint_freedoms(model, j).unwrap();
            assert!(state.active[j] || v[at].iter().all(|x| *x == 0.0));
        }
    }
    assert_eq!(v.len(), n);
}

/// The score over the joints that are locked now, and over all, from the accelerations of the whole tree.
fn sums(
    model: &Model,
    desc: &AdaptiveDesc,
    state: &AdaptiveState,
    q: &[f64],
    v: &[f64],
    input: &AdaptiveInput,
    h: f64,
) -> (f64, f64) {
    let n = model.freedom_count();
    let mut a = vec![0.0; n];
    let mut work = Work::new(model);
    aba(model, q, v, input.tau, input.loads, &mut work, &mut a).unwrap();
    let weights = desc.weights_of(model);
    let one = |i: usize| {
        let r = match desc.score {
            Score::Acceleration => a[i],
            Score::Velocity => v[i] + h * f64::from(desc.interval) * a[i],
        };
        weights[i] * r * r
    };
    let locked = (0..state.active.len()).filter(|j| !state.active[*j]);
    let locked: f64 = locked
        .flat_map(|j| joint_freedoms(model, j).unwrap())
        .map(one)
        .sum();
    (locked, (0..n).map(one).sum())
}

/// A joint that was locked though it moved faster than the description allows.
fn stopped(
    model: &Model,
    desc: &AdaptiveDesc,
    before: &AdaptiveState,
    after: &AdaptiveState,
    v: &[f64],
) -> Option<usize> {
    let weights = desc.weights_of(model);
    let speed = |j: usize| {
        let at = joint_freedoms(model, j).unwrap();
        at.map(|i| weights[i] * v[i] * v[i]).sum::<f64>().sqrt()
    };
    let mut locked = (0..after.active.len()).filter(|j| before.active[*j] && !after.active[*j]);
    locked.find(|j| speed(*j) > desc.lock_speed * (1.0 + 1e-12))
}

/// Something hits a random link.
fn collide(
    random: &mut Random,
    model: &Model,
    body: &mut AdaptiveBody,
    state: &mut AdaptiveState,
    input: &AdaptiveInput,
    q: &[f64],
    v: &mut [f64],
) {
    let mut work = Work::new(model);
    kinematics(model, q, v, &mut work).unwrap();
    let link = random.below(model.link_count());
    let point = link_pose(model, &work, link)
        .unwrap()
        .point(random.vec3() * 0.2);
    let touch = Touch::one(link, point);
    let n = random.direction();
    body.select_for_impact(model, state, 2e-3, input, &[(touch, n)], q, v)
        .unwrap();
    let other = OtherSide {
        response: Mat3::IDENTITY,
        velocity: n * 3.0 + random.vec3(),
    };
    let surface = Surface::new(0.4, 0.3);
    let (hit, _) = body
        .strike(model, state, &touch, n, &other, &surface, q, v)
        .unwrap();
    assert!(hit.impulse.is_finite());
}

/// Joints that passed a limit bounce; returns how many.
fn stop(
    model: &Model,
    body: &mut AdaptiveBody,
    state: &AdaptiveState,
    q: &mut [f64],
    v: &mut [f64],
) -> usize {
    let view = body.hybrid(model, state, q, v).unwrap();
    let found = limit_rows(view.model, view.q, view.v, 1e-6).unwrap();
    if found.is_empty() {
        return 0;
    }
    let rows: Vec<_> = found.iter().map(|f| f.0).collect();
    let bounds: Vec<_> = found.iter().map(|f| f.1).collect();
    let targets: Vec<_> = found.iter().map(|f| f.2).collect();
    let mut impulses = vec![0.0; rows.len()];
    constrained_impact(
        view.model,
        view.q,
        &rows,
        &bounds,
        &targets,
        view.work,
        view.v,
        &mut impulses,
    )
    .unwrap();
    body.store(model, q, v).unwrap();
    rows.len()
}

/// What was seen over many worlds.
#[derive(Debug, Default)]
pub struct WorldsSeen {
    /// Worst difference of R and the sum over the locked joints, over the whole sum.
    pub residual: f64,
    pub steps: usize,
    /// Steps that failed with a reason.
    pub refused: usize,
    pub compared: usize,
    pub contacts: usize,
    pub again: u32,
}

/// Steps `count` worlds with a random tree, a floor and a ball, by the methods in turn; panics where a number is not
/// finite or a locked joint moves.
pub fn random_worlds(count: usize, seed: u64) -> WorldsSeen {
    let mut random = Random(seed);
    let mut seen = WorldsSeen::default();
    let methods = ["sequential", "iterative", "simultaneous", "events"];
    for i in 0..count {
        let model = limited(&mut random, 1 + i % 30);
        if model.freedom_count() > 0 {
            let method = Method::from_name(methods[i % 4]).unwrap();
            one_world(&mut random, method, model, &mut seen);
        }
    }
    seen
}

fn one_world(random: &mut Random, method: Method, model: Model, seen: &mut WorldsSeen) {
    let c = random.state(model);
    let joints = AdaptiveState::new(&c.model).active.len();
    let adaptive = AdaptiveDesc {
        lock_speed: [0.02, 0.2][random.below(2)],
        ..desc(random, joints)
    };
    let links = c.model.links().iter().map(|l| {
        let mut link = LinkBodyDesc::new(l.clone());
        if let Some(limits) = &mut link.link.limits {
            limits.restitution = 0.0;
        }
        // Trees at random start folded into themselves: their links touch floor and ball alone.
        link.shapes.push(ShapeDesc {
            filter: Filter { groups: 2, mask: 1 },
            ..Shape::Sphere { radius: 0.1 }.into()
        });
        link
    });
    let links: Vec<LinkBodyDesc> = links.collect();
    let mut world = World::new(method).unwrap();
    world.set_gravity(c.model.gravity()).unwrap();
    let floor = Shape::HalfSpace {
        normal: tippe::Vec3::Z,
    };
    world
        .add_body(&BodyDesc::fixed(floor, tippe::Vec3::Z * -3.0))
        .unwrap();
    let id = world
        .add_articulation(&ArticulationDesc {
            links,
            positions: c.q.clone(),
            velocities: c.v.iter().map(|x| 0.2 * x).collect(),
            adaptive: Some(adaptive.clone()),
            ..ArticulationDesc::default()
        })
        .unwrap();
    // A ball flies at one of the links.
    let links = world.link_bodies(id).unwrap();
    let (from, hit) = (random.direction(), links[random.below(links.len())]);
    let at = world.pose(hit).unwrap().position;
    let ball = BodyDesc {
        velocity: from * -3.0,
        ..BodyDesc::dynamic(Shape::Sphere { radius: 0.05 }, at + from * 0.16)
    };
    world.add_body(&ball).unwrap();
    let h = 2e-3;
    for _ in 0..20 {
        let before = world.articulation_state(id).unwrap().clone();
        let moved = world.state().adaptive.get(id.index()).cloned().flatten();
        let unloaded = world.contacts().is_empty() && world.joint_forces().is_empty();
        let report = match world.step(h) {
            Ok(report) => report,
            Err(reason) => {
                // Whatever the tree was put into at random, the step says why and the world is as it was.
                println!("{}: {reason}", world.method().name());
                seen.refused += 1;
                break;
            }
        };
        seen.steps += 1;
        seen.contacts += report.contacts;
        seen.again += report.adaptive.again;
        assert!(report.is_finite());
        let memory = world.state().adaptive[id.index()].clone().unwrap();
        let now = world.articulation_state(id).unwrap();
        for j in 0..joints {
            let at = joint_freedoms(&c.model, j).unwrap();
            assert!(memory.joints.active[j] || now.velocities[at].iter().all(|x| *x == 0.0));
        }
        if let Some(moved) = moved.filter(|_| report.adaptive.again == 0) {
            let v = &before.velocities;
            let found = stopped(&c.model, &adaptive, &moved.joints, &memory.joints, v);
            assert_eq!(found, None, "locked at speed");
        }
        if unloaded && report.adaptive.selections == 1 && report.adaptive.again == 0 {
            let tau = vec![0.0; c.model.freedom_count()];
            let input = AdaptiveInput {
                tau: &tau,
                loads: &[],
                pins: &[],
            };
            let (q, v) = (&before.positions, &before.velocities);
            let (locked, total) = sums(&c.model, &adaptive, &memory.joints, q, v, &input, h);
            let error = (report.adaptive.residual - locked).abs() / total.max(1e-300);
            assert!(error.is_finite());
            seen.residual = seen.residual.max(error);
            seen.compared += 1;
        }
    }
}
