//! Plane bodies of segments and circular arcs: what they are, how they touch, and how they move in every method.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

#[path = "cluster_support/mod.rs"]
mod cluster_support;
#[path = "support/mod.rs"]
mod support;

use support::{G, add, near, state};

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::sync::Arc;
use tippe::geometry::{Flight, GeometryError, TimeOfImpact, closest_points, time_of_impact};
use tippe::{
    BodyDesc, BodyId, BodyKind, LockedAxes, Method, Motion, Pose, Profile, ProfileEdge,
    ProfilePath, Quat, Shape, Surface, Vec2, Vec3, World,
};

const METHODS: [&str; 5] = [
    "sequential",
    "iterative",
    "simultaneous",
    "forces",
    "events",
];

fn v(x: f64, y: f64) -> Vec2 {
    Vec2::new(x, y)
}

fn polygon(corners: &[(f64, f64)]) -> ProfilePath {
    let corners: Vec<Vec2> = corners.iter().map(|c| v(c.0, c.1)).collect();
    ProfilePath::polygon(&corners)
}

fn rectangle(half_x: f64, half_y: f64) -> ProfilePath {
    let (x, y) = (half_x, half_y);
    polygon(&[(-x, -y), (x, -y), (x, y), (-x, y)])
}

fn profile(paths: &[ProfilePath], thickness: f64) -> Profile {
    Profile::new(paths, thickness).unwrap()
}

fn shape(paths: &[ProfilePath]) -> Shape {
    Shape::Profile(Arc::new(profile(paths, 0.1)))
}

fn disc(radius: f64) -> Shape {
    shape(&[ProfilePath::circle(Vec2::ZERO, radius)])
}

/// A square of edge 2 with a half-round hollow of radius 0.5 in its upper side.
fn hollow() -> ProfilePath {
    let line = |x, y| ProfileEdge::Line { to: v(x, y) };
    ProfilePath {
        start: v(-1.0, -1.0),
        edges: vec![
            line(1.0, -1.0),
            line(1.0, 1.0),
            line(0.5, 1.0),
            ProfileEdge::Arc {
                through: v(0.0, 0.5),
                to: v(-0.5, 1.0),
            },
            line(-1.0, 1.0),
            line(-1.0, -1.0),
        ],
    }
}

#[test]
fn sr_20_area_centroid_and_inertia_are_exact() {
    let properties = |p: &[ProfilePath]| {
        let p = profile(p, 2.0);
        let m = Shape::Profile(Arc::new(p.clone())).mass_properties(3.0);
        near("mass", m.mass, 6.0 * p.area(), 1e-13 * m.mass);
        (p.area(), m.center, m.inertia * (1.0 / m.mass))
    };
    // A ring off the origin: R² + r² over four and over two, and the thickness.
    let c = v(3.0, -2.0);
    let ring = [ProfilePath::circle(c, 1.5), ProfilePath::circle(c, 0.5)];
    let (area, center, inertia) = properties(&ring);
    near("ring", area, 2.0 * PI, 1e-13);
    assert!((center - c.extend(0.0)).length() < 1e-13, "{center}");
    near("ring x", inertia.x_axis.x, 2.5 / 4.0 + 4.0 / 12.0, 1e-12);
    near("ring z", inertia.z_axis.z, 2.5 / 2.0, 1e-12);
    near("ring xy", inertia.x_axis.y, 0.0, 1e-12);
    // Half a disc of radius 1 above y = 0, by its arc and its chord, the other way round.
    let half = ProfilePath {
        start: v(-1.0, 0.0),
        edges: vec![
            ProfileEdge::Arc {
                through: v(0.0, 1.0),
                to: v(1.0, 0.0),
            },
            ProfileEdge::Line { to: v(-1.0, 0.0) },
        ],
    };
    let (area, center, inertia) = properties(&[half]);
    let height = 4.0 / (3.0 * PI);
    near("half disc", area, 0.5 * PI, 1e-13);
    near("half disc", center.y, height, 1e-13);
    near(
        "half disc z",
        inertia.z_axis.z,
        0.5 - height * height,
        1e-13,
    );
    // A square less half a disc, by subtraction.
    let (area, center, inertia) = properties(&[hollow()]);
    let out = 0.25 * PI * 0.5;
    let (rest, y) = (4.0 - out, 1.0 - 0.5 * height);
    near("hollow", area, rest, 1e-13);
    near("hollow", center.y, -out * y / rest, 1e-13);
    // ∫ r² about the origin: of the square, less the half disc about its own centre, moved.
    let own = out * (0.5 * 0.25 - 0.25 * height * height);
    let about_origin = 4.0 * (4.0 + 4.0) / 12.0 - own - out * y * y;
    let expected = about_origin / rest - center.y * center.y;
    near("hollow z", inertia.z_axis.z, expected, 1e-13);
    // More than half a disc: what is left of it and the smaller part make the whole.
    let cut = |through: Vec2| ProfilePath {
        start: v(-0.6, 0.8),
        edges: vec![
            ProfileEdge::Arc {
                through,
                to: v(0.6, 0.8),
            },
            ProfileEdge::Line { to: v(-0.6, 0.8) },
        ],
    };
    let (large, a, _) = properties(&[cut(v(0.0, -1.0))]);
    let (small, b, _) = properties(&[cut(v(0.0, 1.0))]);
    near("disc in two", large + small, PI, 1e-13);
    near("disc in two", large * a.y + small * b.y, 0.0, 1e-13);
}

#[test]
fn sr_20_open_and_crossing_profiles_are_refused_by_place() {
    let refused = |paths: &[ProfilePath], field: &str, reason: &str| {
        let e = Profile::new(paths, 0.1).unwrap_err();
        assert!(e.field == field && e.reason.contains(reason), "{e}");
    };
    let mut open = rectangle(1.0, 1.0);
    open.edges.pop();
    refused(&[open], "paths[0].edges[2]", "open");
    let bow = polygon(&[(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)]);
    let e = Profile::new(&[bow], 0.1).unwrap_err();
    assert!(e.reason.contains("meets paths[0].edges["), "{e}");
    let square = rectangle(1.0, 1.0);
    let hole = |x: f64, r: f64| ProfilePath::circle(v(x, 0.0), r);
    let e = Profile::new(&[square.clone(), hole(0.8, 0.5)], 0.1).unwrap_err();
    assert!(e.reason.contains("meets"), "{e}");
    refused(
        &[square.clone(), hole(3.0, 0.5)],
        "paths[1]",
        "outside the outline",
    );
    refused(
        &[square.clone(), hole(0.0, 0.8), hole(0.1, 0.2)],
        "paths[2]",
        "inside the hole paths[1]",
    );
    let spike = polygon(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (1.0, 0.0), (0.0, 1.0)]);
    assert!(Profile::new(&[spike], 0.1).is_err());
    let mut flat = rectangle(1.0, 1.0);
    flat.edges[0] = ProfileEdge::Arc {
        through: v(0.0, -1.0),
        to: v(1.0, -1.0),
    };
    refused(&[flat], "paths[0].edges[0]", "on a line");
    refused(&[], "paths", "outline");
    refused(
        &[polygon(&[(f64::NAN, 0.0), (1.0, 0.0)])],
        "paths[0]",
        "not within",
    );
    assert!(Profile::new(std::slice::from_ref(&square), 0.0).is_err());
    assert!(Profile::new(&[square, hole(0.0, 0.5)], 0.1).is_ok());
}

/// Gap and normal of two shapes at places in the plane.
fn between(a: &Shape, at_a: Vec2, b: &Shape, at_b: Vec2, turn: f64) -> (f64, Vec3) {
    let pose = Pose::new(at_b.extend(0.0), Quat::from_rotation_z(turn));
    let s = closest_points(a, &Pose::from_position(at_a.extend(0.0)), b, &pose).unwrap();
    (s.distance, s.normal)
}

#[test]
fn sr_20_contacts_have_exact_distances_and_normals() {
    let (square, hollow, ball) = (shape(&[rectangle(1.0, 1.0)]), shape(&[hollow()]), disc(0.3));
    let check = |name: &str, found: (f64, Vec3), gap: f64, n: Vec2| {
        near(name, found.0, gap, 1e-14);
        assert!(
            (found.1 - n.extend(0.0)).length() < 1e-14,
            "{name}: {}",
            found.1
        );
    };
    for (gap, turn) in [(0.02, 0.0), (0.02, 2.0), (-0.01, 0.3)] {
        // Arc on segment, on corner, on arc, and inside a hollow arc.
        let over = between(&square, Vec2::ZERO, &ball, v(0.2, 1.3 + gap), turn);
        check("arc on segment", over, gap, Vec2::Y);
        let d = v(0.6, 0.8);
        let round = between(&ball, Vec2::ZERO, &ball, d * (0.6 + gap), turn);
        check("arc on arc", round, gap, d);
        let inside = v(0.0, 1.0) - d * (0.2 - gap);
        let held = between(&hollow, Vec2::ZERO, &ball, inside, turn);
        check("arc in hollow", held, gap, d);
    }
    let corner = between(
        &square,
        Vec2::ZERO,
        &ball,
        v(1.0, 1.0) + v(0.6, 0.8) * 0.35,
        0.0,
    );
    check("arc on corner", corner, 0.05, v(0.6, 0.8));
    // Segments: corners on faces, as they are turned.
    let high = 1.0 + 2.0_f64.sqrt() + 0.1;
    let stood = between(&square, Vec2::ZERO, &square, v(0.3, high), 0.25 * PI);
    check("corner on segment", stood, 0.1, Vec2::Y);
    let corners = between(&square, Vec2::ZERO, &square, v(2.3, 2.4), 0.0);
    check("corner on corner", corners, 0.5, v(0.6, 0.8));
    // A flat face on a flat face touches at both ends, with ids that stay.
    let mut points = Vec::new();
    let pose = |x: f64, y: f64| Pose::from_position(Vec3::new(x, y, 0.0));
    tippe::collide::narrow::collide_shapes(
        &square,
        &pose(0.0, 0.0),
        &square,
        &pose(0.5, 2.001),
        0.01,
        &mut points,
    );
    let mut places: Vec<f64> = points.iter().map(|p| p.point_a.x).collect();
    places.sort_by(f64::total_cmp);
    assert_eq!(places, [-0.5, 1.0], "{points:?}");
    // Planes that are not parallel, or not at one height, do not feel each other.
    let aside = Pose::from_position(Vec3::new(0.0, 0.0, 0.2));
    assert!(closest_points(&square, &Pose::IDENTITY, &square, &aside).is_err());
}

#[test]
fn sr_20_distances_are_those_of_the_outlines() {
    // Against points along both boundaries, close together: a distance is never longer than to them, and no shorter than their spacing allows.
    let star = polygon(&[(0.0, 0.0), (2.0, 0.2), (0.5, 0.5), (0.2, 2.0)]);
    let shapes = [shape(&[hollow()]), disc(0.3), shape(&[star])];
    let outline = |s: &Shape| -> Vec<Vec2> {
        let Shape::Profile(p) = s else { return vec![] };
        let (points, _) = p.drawn();
        let n = points.len() / 2;
        let flat: Vec<Vec2> = points[..n].iter().map(|p| p.truncate()).collect();
        let steps = (0..n).flat_map(|i| {
            let (a, b) = (flat[i], flat[(i + 1) % n]);
            (0..40).map(move |k| a.lerp(b, f64::from(k) / 40.0))
        });
        steps.collect()
    };
    let outlines: Vec<Vec<Vec2>> = shapes.iter().map(outline).collect();
    let mut r = cluster_support::Random(5);
    let mut apart = 0;
    for _ in 0..150 {
        let (i, k) = (r.count(0, 2), r.count(0, 2));
        let (offset, turn) = (v(r.range(-3.0, 3.0), r.range(-3.0, 3.0)), r.range(0.0, TAU));
        let rotation = Vec2::from_angle(turn);
        let mut least = f64::INFINITY;
        for p in &outlines[k] {
            let p = offset + rotation.rotate(*p);
            for q in &outlines[i] {
                least = least.min((p - *q).length());
            }
        }
        let within = |s: &Shape, p: Vec2| matches!(s, Shape::Profile(s) if s.distance(p) < 0.0);
        let back = |p: &Vec2| Vec2::from_angle(-turn).rotate(*p - offset);
        let overlap = outlines[k]
            .iter()
            .any(|p| within(&shapes[i], offset + rotation.rotate(*p)))
            || outlines[i].iter().any(|p| within(&shapes[k], back(p)));
        if overlap {
            continue;
        }
        let (gap, _) = between(&shapes[i], Vec2::ZERO, &shapes[k], offset, turn);
        apart += 1;
        assert!(
            gap <= least + 2e-3 && gap >= least - 0.06,
            "{i} {k} {offset} {turn}: {gap} {least}"
        );
    }
    assert!(apart > 60, "{apart}");
}

/// The pose of a profile that stands in the plane of x and z.
fn upright(x: f64, z: f64, turn: f64) -> Pose {
    let stand = Quat::from_rotation_x(FRAC_PI_2);
    Pose::new(Vec3::new(x, 0.0, z), stand * Quat::from_rotation_z(turn))
}

fn world(method: &str, surface: Surface) -> World {
    let mut world = World::new(Method::from_name(method).unwrap()).unwrap();
    world.set_default_surface(surface).unwrap();
    world
}

fn put(world: &mut World, shape: Shape, kind: BodyKind, pose: Pose, velocity: Vec3) -> BodyId {
    let free = kind == BodyKind::Dynamic;
    let desc = BodyDesc {
        kind,
        pose,
        velocity,
        ..BodyDesc::dynamic(shape, Vec3::ZERO)
    };
    let id = add(world, &desc);
    if free {
        world.lock_axes(id, LockedAxes::PLANE_XZ).unwrap();
    }
    id
}

#[test]
fn sr_20_a_disc_rolls_down_a_ramp_of_a_segment_in_every_method() {
    let (slope, radius) = (20.0_f64.to_radians(), 0.1);
    let (s, c) = libm::sincos(slope);
    let ramp = polygon(&[(0.0, 0.0), (4.0 * c, -4.0 * s), (0.0, -4.0 * s)]);
    for method in METHODS {
        let mut world = world(method, Surface::new(0.5, 0.0));
        put(
            &mut world,
            shape(std::slice::from_ref(&ramp)),
            BodyKind::Fixed,
            upright(0.0, 0.0, 0.0),
            Vec3::ZERO,
        );
        let start = (0.2 * c + radius * s, -0.2 * s + radius * c);
        let pose = upright(start.0, start.1, 0.0);
        let ball = put(
            &mut world,
            disc(radius),
            BodyKind::Dynamic,
            pose,
            Vec3::ZERO,
        );
        for _ in 0..240 {
            world.step(1.0 / 240.0).unwrap();
        }
        // A disc has two thirds of the acceleration of what slides, in every second of the way.
        let way = 0.5 * (2.0 / 3.0) * G * s;
        let ended = state(&world, ball);
        let moved = Vec3::new(
            ended.position.x - start.0,
            ended.position.y,
            ended.position.z - start.1,
        );
        let expected = Vec3::new(c, 0.0, -s) * way;
        assert!(
            (moved - expected).length() < 2e-4 * way,
            "{method}: {moved}, not {expected}"
        );
        let spin = 2.0 * way / radius;
        near(method, ended.angular_velocity.y, spin, 1e-3 * spin);
    }
}

#[test]
fn sr_20_fast_discs_do_not_tunnel() {
    for method in METHODS {
        let mut world = world(method, Surface::new(0.0, 1.0));
        world.set_gravity(Vec3::ZERO).unwrap();
        let wall = shape(&[rectangle(0.005, 1.0)]);
        put(
            &mut world,
            wall,
            BodyKind::Fixed,
            upright(0.0, 0.0, 0.0),
            Vec3::ZERO,
        );
        let ball = put(
            &mut world,
            disc(0.05),
            BodyKind::Dynamic,
            upright(-0.8, 0.0, 0.0),
            Vec3::X * 100.0,
        );
        for _ in 0..3 {
            world.step(1.0 / 60.0).unwrap();
        }
        let x = state(&world, ball).position.x;
        assert!(x < -0.05, "{method}: behind the wall, at {x}");
        near(method, state(&world, ball).velocity.x, -100.0, 1e-6);
    }
    // The time itself, of a corner that turns into a hollow: the first touch, by bisection of distances.
    let (square, hollow) = (shape(&[rectangle(0.2, 0.1)]), shape(&[hollow()]));
    let fixed = Flight::rest(Pose::IDENTITY);
    let start = Pose::from_position(Vec3::new(0.0, 1.5, 0.0));
    let thrown = Flight::uniform(start, Vec3::Y * -5.0, Vec3::Z * 3.0);
    let found = time_of_impact((&hollow, &fixed), (&square, &thrown), 1.0, 1e-9).unwrap();
    let TimeOfImpact::At { time, .. } = found else {
        panic!("{found:?}");
    };
    let gap = |t: f64| between(&hollow, Vec2::ZERO, &square, v(0.0, 1.5 - 5.0 * t), 3.0 * t).0;
    assert!(
        gap(time).abs() < 1e-8 && gap(0.999 * time) > 0.0,
        "{time}: {}",
        gap(time)
    );
}

#[test]
fn sr_20_a_cam_lifts_a_follower_in_every_method() {
    // A round cam turns about a point 0.1 m off its middle, under a flat follower that only rises and falls: its height is that of a sine.
    let (radius, off, rate) = (0.3, 0.1, 3.0);
    for method in METHODS {
        let mut world = world(method, Surface::new(0.0, 0.0));
        let cam = shape(&[ProfilePath::circle(v(off, 0.0), radius)]);
        let turning = BodyKind::Kinematic(Motion::Constant {
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::Y * -rate,
        });
        put(&mut world, cam, turning, upright(0.0, 0.0, 0.0), Vec3::ZERO);
        let follower = put(
            &mut world,
            shape(&[rectangle(0.5, 0.05)]),
            BodyKind::Dynamic,
            upright(0.0, radius + 0.05, 0.0),
            Vec3::Z * (off * rate),
        );
        let guide = LockedAxes {
            translation: [true, true, false],
            rotation: [true; 3],
        };
        world.lock_axes(follower, guide).unwrap();
        world
            .set_velocity(follower, Vec3::Z * (off * rate), Vec3::ZERO)
            .unwrap();
        for step in 1..=1000 {
            world.step(1e-3).unwrap();
            let height = state(&world, follower).position.z - radius - 0.05;
            let expected = off * libm::sin(rate * f64::from(step) * 1e-3);
            assert!(
                (height - expected).abs() < 1e-5,
                "{method}, step {step}: {height}, not {expected}"
            );
        }
    }
}

/// A wheel whose teeth are round bumps on its rim: the rim between them and the bumps are arcs.
fn wheel(teeth: u32, radius: f64, bump: f64) -> ProfilePath {
    let at = |angle: f64, r: f64| {
        let (s, c) = libm::sincos(angle);
        v(r * c, r * s)
    };
    // Where a bump of this radius about a point of the rim leaves the rim.
    let half = 2.0 * libm::asin(0.5 * bump / radius);
    let pitch = TAU / f64::from(teeth);
    let edges = (0..teeth).flat_map(|k| {
        let a = f64::from(k) * pitch;
        [
            ProfileEdge::Arc {
                through: at(a, radius + bump),
                to: at(a + half, radius),
            },
            ProfileEdge::Arc {
                through: at(a + 0.5 * pitch, radius),
                to: at(a + pitch - half, radius),
            },
        ]
    });
    let mut edges: Vec<ProfileEdge> = edges.collect();
    let start = at(-half, radius);
    if let Some(ProfileEdge::Arc { to, .. }) = edges.last_mut() {
        *to = start;
    }
    ProfilePath { start, edges }
}

#[test]
fn sr_20_wheels_with_teeth_of_arcs_mesh() {
    let (teeth, radius, bump) = (12, 0.5, 0.06);
    for method in ["simultaneous", "sequential", "iterative", "events"] {
        let mut world = world(method, Surface::new(0.1, 0.0));
        let gear = shape(&[wheel(teeth, radius, bump)]);
        let driver = BodyKind::Kinematic(Motion::Constant {
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::Y * 3.0,
        });
        put(
            &mut world,
            gear.clone(),
            driver,
            upright(0.0, 0.0, 0.0),
            Vec3::ZERO,
        );
        let apart = 2.0 * radius + 1.3 * bump;
        let pitch = TAU / f64::from(teeth);
        let pose = upright(apart, 0.0, PI + 0.5 * pitch);
        let driven = put(&mut world, gear, BodyKind::Dynamic, pose, Vec3::ZERO);
        let pinned = LockedAxes {
            translation: [true; 3],
            rotation: [true, false, true],
        };
        world.lock_axes(driven, pinned).unwrap();
        let (mut turned, dt) = (0.0_f64, 1.0 / 240.0);
        for _ in 0..480 {
            let report = world.step(dt).unwrap();
            turned += state(&world, driven).angular_velocity.y * dt;
            let deep = report.penetration_found;
            assert!(deep < 2e-3, "{method}: {deep}");
        }
        // Tooth by tooth the other way, within the play of a pitch.
        assert!((turned + 6.0).abs() < pitch, "{method}: {turned}");
    }
}

#[test]
fn sr_20_profiles_are_kept_in_snapshots_and_drawn_closed() {
    let mut world = world("simultaneous", Surface::new(0.5, 0.2));
    let ground = Shape::HalfSpace { normal: Vec3::Z };
    world
        .add_body(&BodyDesc::fixed(ground, Vec3::ZERO))
        .unwrap();
    let pose = upright(0.0, 1.2, 0.3);
    put(
        &mut world,
        shape(&[hollow(), ProfilePath::circle(v(0.0, -0.3), 0.2)]),
        BodyKind::Dynamic,
        pose,
        Vec3::X,
    );
    for _ in 0..30 {
        world.step(1.0 / 60.0).unwrap();
    }
    let mut twin = World::restore(&world.snapshot()).unwrap();
    for _ in 0..60 {
        world.step(1.0 / 60.0).unwrap();
        twin.step(1.0 / 60.0).unwrap();
    }
    assert_eq!(world.hash(), twin.hash());
    // It lies on the half-space, on both corners of a side.
    let contacts = world.step(1.0 / 60.0).unwrap().contacts;
    assert_eq!(contacts, 2);
    // Every edge of the drawn surface belongs to two triangles, once in each sense; it encloses nearly the volume.
    let p = profile(&[hollow(), ProfilePath::circle(v(0.0, -0.3), 0.2)], 0.1);
    let (points, triangles) = p.drawn();
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut volume = 0.0;
    for t in &triangles {
        edges.extend([(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]);
        let [a, b, c] = t.map(|i| points[i as usize]);
        volume += a.dot(b.cross(c)) / 6.0;
    }
    for &(a, b) in &edges {
        let twins = edges.iter().filter(|e| **e == (b, a)).count();
        assert_eq!(twins, edges.iter().filter(|e| **e == (a, b)).count());
    }
    near("volume", volume, 0.1 * p.area(), 2e-3 * volume);
}

#[test]
fn sr_20_a_pin_about_the_centre_of_its_hole_has_a_contact() {
    let ring = shape(&[
        ProfilePath::circle(Vec2::ZERO, 0.2),
        ProfilePath::circle(Vec2::ZERO, 0.11),
    ]);
    // About one centre, of equal radius, and the two exchanged.
    for (radius, off, gap) in [(0.1, 0.0, 0.01), (0.11, 0.0, 0.0), (0.11, 0.01, -0.01)] {
        for turn in [0.0, 0.4] {
            let (pin, at) = (disc(radius), v(off, 0.0));
            let (found, _) = between(&ring, Vec2::ZERO, &pin, at, turn);
            near("gap of the pin", found, gap, 1e-14);
            let (found, _) = between(&pin, at, &ring, Vec2::ZERO, turn);
            near("gap of the hole", found, gap, 1e-14);
        }
    }
    // The tip of a wedge at the centre of a hollow.
    let wedge = shape(&[polygon(&[(0.0, 0.0), (0.1, 0.45), (-0.1, 0.45)])]);
    let (found, normal) = between(&shape(&[hollow()]), Vec2::ZERO, &wedge, v(0.0, 1.0), 0.0);
    near("gap of the tip", found, 0.4, 0.11);
    assert!(normal.is_finite(), "{normal}");
    // The first touch is seen from the centre on, and a step stops there.
    let fixed = Flight::rest(Pose::IDENTITY);
    let thrown = Flight::uniform(Pose::IDENTITY, Vec3::Y * -1.0, Vec3::ZERO);
    let found = time_of_impact((&ring, &fixed), (&disc(0.1), &thrown), 1.0, 1e-9).unwrap();
    let TimeOfImpact::At { time, .. } = found else {
        panic!("{found:?}");
    };
    near("time", time, 0.01, 1e-8);
    let mut world = world("events", Surface::new(0.0, 0.0));
    world.set_gravity(Vec3::ZERO).unwrap();
    let stand = upright(0.0, 0.0, 0.0);
    put(&mut world, ring, BodyKind::Fixed, stand, Vec3::ZERO);
    let pin = put(
        &mut world,
        disc(0.1),
        BodyKind::Dynamic,
        stand,
        Vec3::Z * -1.0,
    );
    for _ in 0..3 {
        world.step(1.0 / 60.0).unwrap();
        let z = state(&world, pin).position.z;
        assert!(z >= -0.01 - 1e-6, "{z}");
    }
}

#[test]
fn sr_20_shapes_that_do_not_feel_each_other_say_so() {
    let square = shape(&[rectangle(1.0, 1.0)]);
    let aside = Pose::from_position(Vec3::new(0.0, 0.0, 0.2));
    let ball = Shape::Sphere { radius: 1.0 };
    let ground = Shape::HalfSpace { normal: Vec3::Z };
    for other in [&square, &ball, &ground] {
        let found = closest_points(&square, &Pose::IDENTITY, other, &aside);
        assert_eq!(found, Err(GeometryError::Unrelated), "{other:?}");
    }
}

#[test]
fn sr_20_the_sense_of_a_small_path_far_from_the_origin_is_seen() {
    let mut r = cluster_support::Random(7);
    for _ in 0..200 {
        let far =
            v(r.range(-1e6, 1e6), r.range(-1e6, 1e6)).clamp(v(-9.9e5, -9.9e5), v(9.9e5, 9.9e5));
        let corners = [(0.0, 0.0), (0.01, 0.0), (0.01, 0.01), (0.0, 0.01)];
        let mut corners = corners.map(|c| far + v(c.0, c.1));
        for _ in 0..2 {
            let square = profile(&[ProfilePath::polygon(&corners)], 0.1);
            near("area", square.area(), 1e-4, 1e-7);
            let middle = 0.5 * (corners[0] + corners[2]);
            assert!(square.distance(middle) < 0.0, "{far}");
            corners.reverse();
        }
    }
}

#[test]
fn sr_20_a_plate_with_many_holes_is_drawn_in_bounded_time() {
    let mut paths = vec![polygon(&[
        (-0.5, -0.5),
        (19.5, -0.5),
        (19.5, 9.5),
        (-0.5, 9.5),
    ])];
    for k in 0..200_u32 {
        let center = v(f64::from(k % 20), f64::from(k / 20));
        paths.push(ProfilePath::circle(center, 0.3));
    }
    let p = profile(&paths, 0.1);
    let (points, triangles) = p.drawn();
    assert!(points.len() < 20_000, "{}", points.len());
    let volume: f64 = triangles
        .iter()
        .map(|t| t.map(|i| points[i as usize]))
        .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
        .sum();
    near("volume", volume, 0.1 * p.area(), 5e-3 * volume);
    // No face is folded over another: all look outwards.
    let up = |t: &&[u32; 3]| t.iter().all(|i| points[*i as usize].z > 0.0);
    let area: f64 = triangles
        .iter()
        .filter(up)
        .map(|t| t.map(|i| points[i as usize].truncate()))
        .map(|[a, b, c]| 0.5 * (b - a).perp_dot(c - a).abs())
        .sum();
    near("area of one face", area, p.area(), 5e-3 * area);
}
