//! What no run may break: momentum, energy, Newton's third law in the read-out, and that nature has no preferred place or direction.

use crate::geometry_support;
use crate::support;

use geometry_support::Random;
use support::{G, add, below, cuboid, floor, near, near_vec, run, state, world};
use tippe::dynamics::energy;
use tippe::math::rotation;
use tippe::{BodyDesc, BodyId, Pose, Quat, Shape, Surface, Vec3, World};

/// Which shapes a scene has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kinds {
    Spheres,
    All,
}

/// Small random shapes with random orientations on a coarse grid about the origin.
fn swarm(random: &mut Random, count: u32, kinds: Kinds) -> Vec<BodyDesc> {
    let shape = |random: &mut Random| match (kinds, random.next() % 3) {
        (Kinds::Spheres, _) | (_, 0) => Shape::Sphere {
            radius: random.range(0.1, 0.2),
        },
        (_, 1) => cuboid(
            random.range(0.08, 0.2),
            random.range(0.08, 0.2),
            random.range(0.08, 0.2),
        ),
        _ => Shape::Capsule {
            half_length: random.range(0.05, 0.15),
            radius: random.range(0.05, 0.15),
        },
    };
    (0..count)
        .map(|i| {
            let cell = Vec3::new(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9));
            BodyDesc {
                pose: Pose::new((cell - Vec3::ONE) * 0.75, random.rotation()),
                angular_velocity: random.vector(2.0),
                ..BodyDesc::dynamic(shape(random), Vec3::ZERO)
            }
        })
        .collect()
}

/// Bodies without gravity that fly together and collide in the middle.
fn implosion(surface: Surface, kinds: Kinds) -> World {
    let mut random = Random(11);
    let mut world = world(0.0, surface);
    for mut desc in swarm(&mut random, 27, kinds) {
        desc.velocity = desc.pose.position * -1.5 + random.vector(0.5);
        add(&mut world, &desc);
    }
    world
}

/// Bodies that fall on a floor and on each other.
fn pile(surface: Surface, kinds: Kinds, seed: u64, count: u32) -> World {
    pile_at(&Pose::IDENTITY, surface, kinds, seed, count)
}

/// The same seen from elsewhere: floor, gravity and bodies moved and turned.
fn pile_at(place: &Pose, surface: Surface, kinds: Kinds, seed: u64, count: u32) -> World {
    let mut world = world(G, surface);
    world
        .set_gravity(place.vector(Vec3::Z * -G))
        .expect("finite gravity");
    let mut ground = floor();
    ground.pose = *place;
    add(&mut world, &ground);
    for mut desc in swarm(&mut Random(seed), count, kinds) {
        desc.pose.position += Vec3::Z * 1.2;
        desc.pose = place.compose(&desc.pose);
        desc.angular_velocity = place.vector(desc.angular_velocity);
        add(&mut world, &desc);
    }
    world
}

/// Momentum, angular momentum about the origin and kinetic energy, counted by hand.
fn account(world: &World) -> (Vec3, Vec3, f64) {
    let (mut p, mut l, mut e) = (Vec3::ZERO, Vec3::ZERO, 0.0);
    for id in world.body_ids() {
        let (body, s) = (world.body(id).expect("a living body"), state(world, id));
        p += s.velocity * body.mass;
        l += s.position.cross(s.velocity * body.mass) + energy::spin_momentum(body, &s);
        e += energy::kinetic(body, &s);
    }
    (p, l, e)
}

#[test]
fn momentum_stays_in_free_collisions() {
    for (mu, e) in [(0.0, 0.0), (0.0, 0.5), (0.0, 1.0), (0.4, 0.5)] {
        for kinds in [Kinds::Spheres, Kinds::All] {
            let mut world = implosion(Surface::new(mu, e), kinds);
            let (p, l, kinetic) = account(&world);
            let mass: f64 = world
                .body_ids()
                .map(|id| world.body(id).unwrap().mass)
                .sum();
            // What momentum the swarm could have with this energy.
            let scale = (2.0 * kinetic * mass).sqrt();
            let (mut collisions, mut turned, mut l) = (0, 0.0_f64, l);
            for _ in 0..1500 {
                let report = run(&mut world, 1e-3, 1);
                let what = format!("μ {mu}, e {e}, {kinds:?}, t {:.3}", report.time);
                near_vec(&what, report.momentum, p, 1e-14 * scale);
                // The pose-only pass moves bodies that have velocities, and says what that does to x × p.
                l += report.position_correction_moment;
                turned = turned.max((report.angular_momentum - l).length() / scale);
                collisions += report.collisions;
            }
            assert!(collisions > 30, "only {collisions} collisions");
            let (p_end, l_end, _) = account(&world);
            near_vec("momentum recounted", p_end, p, 1e-14 * scale);
            let what = format!("μ {mu}, e {e}, {kinds:?}: angular momentum");
            below(&what, turned, 1e-12);
            below(&what, (l_end - l).length() / scale, 1e-12);
        }
    }
}

#[test]
fn impulses_read_out_account_for_every_change_of_momentum() {
    for kinds in [Kinds::Spheres, Kinds::All] {
        let mut world = pile(Surface::new(0.4, 0.3), kinds, 5, 27);
        let ids: Vec<BodyId> = world.body_ids().skip(1).collect();
        for _ in 0..150 {
            let before: Vec<Vec3> = ids.iter().map(|&id| state(&world, id).velocity).collect();
            run(&mut world, 0.01, 1);
            for (&id, v) in ids.iter().zip(before) {
                let mass = world.body(id).unwrap().mass;
                let change = (state(&world, id).velocity - v + Vec3::Z * (G * 0.01)) * mass;
                let mut sum = Vec3::ZERO;
                for c in world.contacts() {
                    if c.body_b == id {
                        sum += c.impulse();
                    } else if c.body_a == id {
                        sum -= c.impulse();
                    }
                    assert!(c.normal_impulse >= 0.0, "contacts push");
                }
                // To rounding while it moves; what the solve found at rest stays so, and balances to the tolerance of the solve.
                let resting = state(&world, id).velocity == Vec3::ZERO;
                let slack = if resting { 1e-8 * mass } else { 0.0 };
                let bound = slack + 1e-12 * (1.0 + change.length());
                near_vec("Σ P = Δp", sum, change, bound);
            }
        }
    }
}

#[test]
fn piles_lose_energy_and_the_ledger_says_where() {
    for (mu, e) in [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.5, 0.5)] {
        for kinds in [Kinds::Spheres, Kinds::All] {
            for seed in [100, 101] {
                let mut world = pile(Surface::new(mu, e), kinds, seed, 27);
                let what = format!("μ {mu}, e {e}, {kinds:?}, seed {seed}");
                let (kinetic, potential) = world.energy();
                let start = kinetic + potential;
                let mut before = start;
                for _ in 0..1000 {
                    let report = run(&mut world, 1e-3, 1);
                    let now = report.energy.total();
                    // Exact where contacts are flat; curved and turning ones err by the square of the step.
                    below(&format!("{what}: gain"), (now - before) / start, 5e-4);
                    assert!(
                        now <= start * (1.0 + 1e-9),
                        "{what}: more than at the start"
                    );
                    near(&what, report.energy.unexplained / start, 0.0, 1e-12);
                    before = now;
                }
                let ledger = world.ledger();
                assert!(ledger.friction >= 0.0, "{what}: {ledger:?}");
                assert!(ledger.restitution > 0.0, "{what}: {ledger:?}");
                let lost = ledger.friction + ledger.restitution
                    - ledger.position_correction
                    - ledger.gained;
                near(&what, (start - before - lost) / start, 0.0, 1e-9);
            }
        }
    }
}

#[test]
fn elastic_piles_gain_no_energy_in_clusters() {
    let mut worst: f64 = 0.0;
    for kinds in [Kinds::Spheres, Kinds::All] {
        let mut world = pile(Surface::new(0.3, 1.0), kinds, 100, 27);
        let (kinetic, potential) = world.energy();
        let mut before = kinetic + potential;
        for _ in 0..1000 {
            let now = run(&mut world, 1e-3, 1).energy.total();
            worst = worst.max((now - before) / (kinetic + potential));
            before = now;
        }
    }
    below("gain in a step", worst, 1e-9);
}

fn turn_between(a: Quat, b: Quat) -> f64 {
    let q = a.conjugate() * b;
    2.0 * Vec3::new(q.x, q.y, q.z).length()
}

#[test]
fn moving_and_turning_the_whole_world_changes_only_rounding() {
    let place = Pose::new(
        Vec3::new(3.0, -2.0, 5.0),
        rotation::exp(Vec3::new(0.7, -1.2, 0.4)),
    );
    for (kinds, tolerance) in [(Kinds::Spheres, 1e-12), (Kinds::All, 1e-8)] {
        let surface = Surface::new(0.4, 0.3);
        let mut here = pile(surface, kinds, 77, 9);
        let mut there = pile_at(&place, surface, kinds, 77, 9);
        for k in 0..100 {
            run(&mut here, 0.01, 1);
            run(&mut there, 0.01, 1);
            let what = format!("{kinds:?}, step {k}");
            for (id, other) in here.body_ids().zip(there.body_ids()) {
                let (x, y) = (state(&here, id), state(&there, other));
                near_vec(&what, y.position, place.point(x.position), tolerance);
                let turn = turn_between(place.rotation * x.rotation, y.rotation);
                below(&what, turn, 10.0 * tolerance);
            }
        }
        assert!(here.contacts().len() > 5, "the pile has met the floor");
    }
}
