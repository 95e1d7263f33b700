//! Articulations stepped by `forces`: collision matrices, prescribed accelerations and velocities, one-sided rows and trajectories in a world.

#![allow(clippy::unwrap_used)]

use tippe::articulated::{
    ConstraintRow, Joint, LinkDesc, LinkPoint, OtherSide, Touch, Work, constrained_accelerations,
    constrained_impact, strike,
};
use tippe::math::mixed_lcp::Bound;
use tippe::shape::mass::MassProperties;
use tippe::{
    ArticulationDesc, ArticulationId, BodyDesc, BodyId, LinkBodyDesc, Mat3, Method, Motor, Pose,
    Shape, ShapeDesc, Surface, Vec3, World,
};

const G: f64 = 9.81;

/// More than any motor of these tests needs [N·m].
const WHATEVER_IT_TAKES: f64 = 1e12;

/// A strong motor [N·m].
const STRONG: f64 = 1e6;

fn world(gravity: f64, surface: Surface) -> World {
    let mut world = World::new(Method::from_name("forces").unwrap()).unwrap();
    world.set_gravity(Vec3::Z * -gravity).unwrap();
    world.set_default_surface(surface).unwrap();
    world
}

/// A rod of 1 kg and 1 m along x of its frame with a ball at its end, hinged about `axis`.
fn rod(parent: Option<usize>, axis: Vec3, radius: f64) -> LinkBodyDesc {
    let mass = MassProperties {
        mass: 1.0,
        center: Vec3::X * 0.5,
        inertia: Mat3::from_diagonal(Vec3::new(0.01, 1.0 / 12.0, 1.0 / 12.0)),
    };
    let at = if parent.is_some() {
        Vec3::X
    } else {
        Vec3::ZERO
    };
    let hinge = Joint::Revolute { axis };
    let link = LinkDesc::new(parent, hinge, Pose::from_position(at), mass);
    let mut link = LinkBodyDesc::new(link);
    if radius > 0.0 {
        let mut ball = ShapeDesc::from(Shape::Sphere { radius });
        ball.pose = Pose::from_position(Vec3::X);
        link.shapes.push(ball);
    }
    link
}

/// A chain whose axes differ, so that every joint feels every other; balls at the ends that `balls` names.
fn chain(n: usize, balls: &[usize]) -> Vec<LinkBodyDesc> {
    let axes = [Vec3::Y, Vec3::new(0.2, 1.0, 0.3), Vec3::Z];
    (0..n)
        .map(|i| {
            let radius = if balls.contains(&i) { 0.05 } else { 0.0 };
            rod(i.checked_sub(1), axes[i % 3], radius)
        })
        .collect()
}

fn add(world: &mut World, links: Vec<LinkBodyDesc>, q: &[f64], v: &[f64]) -> ArticulationId {
    let desc = ArticulationDesc {
        links,
        positions: q.to_vec(),
        velocities: v.to_vec(),
        ..ArticulationDesc::default()
    };
    world.add_articulation(&desc).unwrap()
}

fn rates(world: &World, id: ArticulationId) -> Vec<f64> {
    world.articulation_state(id).unwrap().velocities.clone()
}

fn tip(world: &World, id: BodyId) -> Vec3 {
    let pose = world.pose(id).unwrap();
    pose.position + pose.rotation * Vec3::X
}

fn all_near(what: &str, found: &[f64], wanted: &[f64], tolerance: f64) {
    for (i, (a, b)) in found.iter().zip(wanted).enumerate() {
        assert!((a - b).abs() < tolerance, "{what}, {i}: {a} instead of {b}");
    }
}

/// A ball of the given mass that touches the tip of the last link and comes towards it, oblique; what `strike` says becomes of the tree.
fn struck(friction: f64, restitution: f64) {
    let (q, v) = ([0.3, -0.5, 0.4], [0.2, -0.4, 0.7]);
    let surface = Surface::new(friction, restitution);
    let mut world = world(0.0, surface);
    let id = add(&mut world, chain(3, &[2]), &q, &v);
    let links = world.link_bodies(id).unwrap();
    let n = Vec3::new(0.3, -0.2, 1.0).normalize();
    let at = tip(&world, links[2]);
    let (mass, radius) = (0.7, 0.1);
    let mut ball = BodyDesc::dynamic(Shape::Sphere { radius }, at - n * (0.05 + radius));
    ball.mass = tippe::MassSpec::Mass(mass);
    ball.velocity = n * 2.0 + Vec3::new(1.0, 0.5, 0.0);
    let ball_id = world.add_body(&ball).unwrap();
    // The reference: the ball is the other side, A, its normal points to the tip.
    let tree = world.articulation(id).unwrap().tree.clone();
    let point = at - n * 0.05;
    let inertia = 0.4 * mass * radius * radius;
    let arm = n * radius;
    let turn = |e: Vec3| arm.cross(e).cross(arm) / inertia + e / mass;
    let other = OtherSide {
        response: Mat3::from_cols(turn(Vec3::X), turn(Vec3::Y), turn(Vec3::Z)),
        velocity: ball.velocity,
    };
    let mut wanted = v.to_vec();
    let touch = Touch::one(2, point);
    let mut work = Work::new(&tree);
    let (impact, _) = strike(
        &tree,
        &q,
        &mut wanted,
        &touch,
        n,
        &other,
        &surface,
        &mut work,
    )
    .unwrap();
    world.step(1e-9).unwrap();
    all_near("rates", &rates(&world, id), &wanted, 1e-7);
    let p = ball.velocity - world.body_state(ball_id).unwrap().velocity;
    assert!((p * mass - impact.impulse).length() < 1e-7);
}

#[test]
fn ab_16_a_ball_strikes_a_chain_of_a_world_as_both_matrices_say() {
    struck(0.0, 1.0);
    struck(0.0, 0.3);
}

#[test]
fn ab_17_a_ball_strikes_a_chain_of_a_world_with_friction() {
    for (friction, restitution) in [(0.1, 0.5), (0.5, 0.0), (0.5, 0.8), (2.0, 0.4)] {
        struck(friction, restitution);
    }
}

/// Two links of one tree strike each other: both ends move, also through each other.
#[test]
fn ab_16_two_links_of_one_chain_of_a_world_strike_each_other() {
    // An equilateral triangle: the tip of the third link is at the base of the first.
    let surface = Surface::new(0.3, 0.6);
    let mut world = world(0.0, surface);
    let mut links: Vec<LinkBodyDesc> = (0..3)
        .map(|i: usize| rod(i.checked_sub(1), Vec3::Y, 0.0))
        .collect();
    let fold = 2.0 * std::f64::consts::FRAC_PI_3;
    let v = [0.5, 1.0, 0.8];
    let mut ball = ShapeDesc::from(Shape::Sphere { radius: 0.2 });
    ball.pose = Pose::from_position(Vec3::X * 0.4);
    links[0].shapes.push(ball.clone());
    ball = ShapeDesc::from(Shape::Sphere { radius: 0.2 });
    ball.pose = Pose::from_position(Vec3::X);
    links[2].shapes.push(ball);
    let q = [0.2, fold, fold];
    let id = add(&mut world, links, &q, &v);
    let bodies = world.link_bodies(id).unwrap();
    let first = world.pose(bodies[0]).unwrap();
    let a = first.position + first.rotation * (Vec3::X * 0.4);
    let b = tip(&world, bodies[2]);
    let n = (b - a).normalize();
    let point = (a + b) * 0.5;
    assert!(((b - a).length() - 0.4).abs() < 1e-12, "they just touch");
    let tree = world.articulation(id).unwrap().tree.clone();
    let mut wanted = v.to_vec();
    let mut work = Work::new(&tree);
    let touch = Touch {
        a: Some(LinkPoint { link: 0, point }),
        b: Some(LinkPoint { link: 2, point }),
    };
    let other = OtherSide::GROUND;
    strike(
        &tree,
        &q,
        &mut wanted,
        &touch,
        n,
        &other,
        &surface,
        &mut work,
    )
    .unwrap();
    assert!((wanted[1] - v[1]).abs() > 1e-3, "they approach");
    world.step(1e-9).unwrap();
    all_near("rates", &rates(&world, id), &wanted, 1e-7);
}

/// Two balls, one of them older than the rod and one younger, strike its tip at once from both sides of the plane in which it swings: a
/// cluster whose bodies stand on both sides of a tree.
#[test]
fn two_balls_strike_the_tip_of_a_rod_at_once() {
    let (e, mass, radius) = (0.6, 0.7, 0.1);
    let mut world = world(0.0, Surface::new(0.0, e));
    let normals = [1.0, -1.0].map(|side| Vec3::new(0.0, side, 1.0).normalize());
    let ball = |n: Vec3| {
        let mut desc = BodyDesc::dynamic(Shape::Sphere { radius }, Vec3::X - n * (0.05 + radius));
        desc.mass = tippe::MassSpec::Mass(mass);
        desc.velocity = n * 2.0;
        desc
    };
    let older = world.add_body(&ball(normals[0])).unwrap();
    let id = add(&mut world, chain(1, &[0]), &[0.0], &[0.0]);
    let younger = world.add_body(&ball(normals[1])).unwrap();
    let report = world.step(1e-9).unwrap();
    assert_eq!(report.work.caps_hit, 0);
    // The tip answers as 1/3 kg, along z alone; both impulses p are at 45° to that.
    let tip_mass = 1.0 / 12.0 + 0.25;
    let cos = normals[0].z;
    let p = 2.0 * (1.0 + e) / (1.0 / mass + 2.0 * cos * cos / tip_mass);
    all_near(
        "rates",
        &rates(&world, id),
        &[-2.0 * p * cos / tip_mass],
        1e-7,
    );
    for (ball, n) in [(older, normals[0]), (younger, normals[1])] {
        let off = world.body_state(ball).unwrap().velocity - n * (2.0 - p / mass);
        assert!(off.length() < 1e-7, "{off}");
    }
}

/// A step in which a rod turns farther than `pieces` pieces can follow takes more of them: none of its time is left out.
#[test]
fn a_rod_that_turns_fast_turns_all_the_way() {
    let (rate, h) = (1000.0, 0.05);
    let mut world = world(0.0, Surface::new(0.0, 0.0));
    let id = add(&mut world, chain(1, &[]), &[0.0], &[rate]);
    let report = world.step(h).unwrap();
    assert!(report.work.caps_hit > 0);
    let q = world.articulation_state(id).unwrap().positions[0];
    let off = libm::remainder(q - rate * h, std::f64::consts::TAU);
    assert!(off.abs() < 1e-9, "{q}");
    // Twice as many are not enough for this one.
    let error = world.step(1.0).unwrap_err().to_string();
    assert!(error.contains("pieces"), "{error}");
}

/// Motors that hold their speed whatever it takes: their joints do not accelerate, the others do as one test force for each says.
fn held(n: usize, rows: &[usize]) {
    let q: Vec<f64> = (0..n).map(|i| 0.3 - 0.1 * i as f64).collect();
    let v: Vec<f64> = (0..n).map(|i| 0.5 - 0.2 * (i % 4) as f64).collect();
    let mut world = world(G, Surface::new(0.0, 0.0));
    let mut links = chain(n, &[]);
    for &i in rows {
        links[i].motor = Some(Motor::Velocity {
            target: v[i],
            max_force: WHATEVER_IT_TAKES,
        });
    }
    let id = add(&mut world, links, &q, &v);
    let tree = world.articulation(id).unwrap().tree.clone();
    let constraints: Vec<_> = rows.iter().map(|i| ConstraintRow::Freedom(*i)).collect();
    let free = Bound::Box {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };
    let (bounds, targets) = (vec![free; rows.len()], vec![0.0; rows.len()]);
    let (mut a, mut f) = (vec![0.0; n], vec![0.0; rows.len()]);
    let (still, mut work) = (vec![0.0; n], Work::new(&tree));
    constrained_accelerations(
        &tree,
        &q,
        &v,
        &still,
        &[],
        &constraints,
        &bounds,
        &targets,
        &mut work,
        &mut a,
        &mut f,
    )
    .unwrap();
    let h = 1e-5;
    world.step(h).unwrap();
    let after = rates(&world, id);
    for &i in rows {
        assert!((after[i] - v[i]).abs() / h < 1e-9, "joint {i} accelerates");
    }
    // Over the step the others change by what jerk there is: second order in h.
    for i in 0..n {
        let found = (after[i] - v[i]) / h;
        assert!((found - a[i]).abs() < 1e-2, "joint {i}: {found}, {}", a[i]);
    }
}

#[test]
fn ab_20_one_joint_of_a_world_is_given_its_acceleration() {
    for i in 0..4 {
        held(4, &[i]);
    }
}

#[test]
fn ab_21_eight_joints_of_a_world_are_given_their_accelerations() {
    held(12, &[0, 1, 3, 4, 6, 7, 9, 11]);
}

/// A motor of any force has its speed at once: the other joints get what the impulse that does it gives them.
#[test]
fn ab_22_a_joint_of_a_world_is_given_its_velocity() {
    let (q, v) = ([0.3, -0.5, 0.4, 0.2], [0.2, -0.4, 0.7, 0.1]);
    let mut world = world(0.0, Surface::new(0.0, 0.0));
    let mut links = chain(4, &[]);
    links[2].motor = Some(Motor::Velocity {
        target: 3.0,
        max_force: WHATEVER_IT_TAKES,
    });
    let id = add(&mut world, links, &q, &v);
    let tree = world.articulation(id).unwrap().tree.clone();
    let free = Bound::Box {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };
    let mut wanted = v.to_vec();
    constrained_impact(
        &tree,
        &q,
        &[ConstraintRow::Freedom(2)],
        &[free],
        &[3.0],
        &mut Work::new(&tree),
        &mut wanted,
        &mut [0.0],
    )
    .unwrap();
    let report = world.step(1e-9).unwrap();
    let found = rates(&world, id);
    assert!((found[2] - 3.0).abs() < 1e-12);
    all_near("rates", &found, &wanted, 1e-7);
    assert!(report.energy.unexplained.abs() < 1e-9);
}

/// A rod on a hinge lies with its tip on the floor and is lifted there by a growing force: the floor carries the rest, and lets go when that
/// changes its sign.
#[test]
fn ab_23_a_lifted_tip_of_a_world_opens_when_its_force_changes_sign() {
    // Without friction: its lever arm of 5 cm would take an indeterminate share of the moment.
    let mut world = world(G, Surface::new(0.0, 0.0));
    world
        .add_body(&BodyDesc::fixed(
            Shape::HalfSpace { normal: Vec3::Z },
            Vec3::Z * -0.05,
        ))
        .unwrap();
    let id = add(&mut world, chain(1, &[0]), &[0.0], &[0.0]);
    let link = world.link_bodies(id).unwrap()[0];
    let h = 1e-3;
    for step in 0..1000 {
        let lift = 10.0 * f64::from(step) * h;
        let at = tip(&world, link);
        world.apply_force(link, Vec3::Z * lift, at).unwrap();
        world.step(h).unwrap();
        // Moments about the hinge.
        let left = 0.5 * G - lift;
        let carried: f64 = world.contacts().iter().map(|c| c.force().z).sum();
        if left > 0.0 {
            assert!(
                (carried - left).abs() < 1e-9,
                "step {step}: {carried}, {left}"
            );
        } else if left < -0.01 {
            assert!(carried == 0.0 && tip(&world, link).z > 0.0, "step {step}");
        }
    }
}

/// A joint follows a sine by a motor that is aimed at where it shall be at the end of each step; the others swing as they like.
#[test]
fn ab_25_a_joint_of_a_world_follows_its_trajectory() {
    let mut world = world(G, Surface::new(0.0, 0.0));
    let mut links = chain(3, &[]);
    links[1].motor = Some(Motor::Velocity {
        target: 0.0,
        max_force: STRONG,
    });
    // At the speed of the sine, so that only its acceleration is asked of the motor.
    let id = add(&mut world, links, &[0.1, 0.0, 0.2], &[0.0, 1.0, 0.0]);
    let link = world.link_bodies(id).unwrap()[1];
    let h = 1e-3;
    let mut worst: f64 = 0.0;
    for step in 0..1000 {
        let x = world.articulation_state(id).unwrap().positions[1];
        let next = 0.5 * libm::sin(2.0 * f64::from(step + 1) * h);
        world
            .edit_link(link, |l| {
                l.motor = Some(Motor::Velocity {
                    target: (next - x) / h,
                    max_force: STRONG,
                });
            })
            .unwrap();
        world.step(h).unwrap();
        let found = world.articulation_state(id).unwrap().positions[1];
        worst = worst.max((found - next).abs());
    }
    assert!(worst < 1e-6, "{worst}");
}

/// Friction in the joints of a chain is explicit: followed where pieces can, as the other methods' implicit one; refused beyond.
#[test]
fn friction_of_a_chain_is_followed_or_refused_with_the_piece_it_allows() {
    let run = |method: &str, viscous: f64| {
        let mut world = World::new(Method::from_name(method).unwrap()).unwrap();
        let mut links = chain(12, &[]);
        for link in &mut links {
            link.link.friction.viscous = viscous;
        }
        let id = add(&mut world, links, &[0.1; 12], &[0.0; 12]);
        for _ in 0..100 {
            world.step(1e-3).map_err(|e| e.to_string())?;
        }
        Ok::<_, String>(rates(&world, id))
    };
    for viscous in [0.0, 0.1, 1.0, 10.0, 50.0] {
        let (found, wanted) = (run("forces", viscous), run("sequential", viscous));
        all_near(
            &format!("{viscous}"),
            &found.unwrap(),
            &wanted.unwrap(),
            1e-3,
        );
    }
    let refused = run("forces", 1e6).unwrap_err();
    assert!(
        refused.contains("too stiff for explicit forces"),
        "{refused}"
    );
}
