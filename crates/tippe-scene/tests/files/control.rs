//! Sensors and time programs of a scene, exact recordings and their tables.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::collections::BTreeMap;
use tippe::{BodyState, Quat, Vec3, World};
use tippe_scene::recording::Tables;
use tippe_scene::{
    Completeness, Format, LoadOptions, Quantities, Recording, RecordingWriter, Scene, explain,
    load_str,
};

const SCENE: &str = r#"
version = 1
[parameters]
push = 3
[method]
dt = 0.01
seconds = 1
[record]
rate = 20
exact = true
contacts = true
[camera]
yaw_deg = 10
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[body]]
name = "ball, red"
colour = [1, 0, 0]
position = [0.1, 0.2, 0.7]
velocity = [1, 0.3, 0]
shape.sphere = { radius = 0.1 }
[[body]]
name = "wheel"
position = [3, 0, 1]
shape.cylinder = { radius = 0.2, length = 0.1 }
[[joint]]
name = "axle"
kind = "hinge"
bodies = ["world", "wheel"]
at = [3, 0, 1]
axis = [0, 0, 1]
motor = { velocity = 0, max_force = 100 }
[[articulation]]
name = "arm"
position = [-3, 0, 2]
[[articulation.link]]
name = "upper"
axis = [0, 1, 0]
start = [1]
mass = 1
inertia = [0.1, 0.1, 0.1]
center = [0, 0, -0.5]
armature = 0.2
[[sensor]]
name = "imu"
kind = "imu"
body = "ball, red"
[[sensor]]
name = "foot"
kind = "contact_force"
body = "ball, red"
other = "floor"
[[sensor]]
name = "axle"
kind = "joint_rate"
joint = "axle"
[[sensor]]
name = "elbow"
kind = "joint_position"
body = "arm.upper"
[[sensor]]
name = "height"
kind = "distance"
body = "ball, red"
direction = [0, 0, -1]
range = 5
[[program]]
drives = "motor"
joint = "axle"
table = { times = [0, 0.5], values = [0, "=push"] }
[[program]]
drives = "force"
body = "ball, red"
sine = { amplitude = [0, "=push", 0], frequency = 2, phase_deg = 90 }
[[program]]
drives = "gravity"
piecewise = { times = [0, 0.8], values = [[0, 0, -9.81], [0, 0, -1.6]] }
"#;

fn load(text: &str) -> Scene {
    load_str(text, "s.toml", Format::Toml, &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{e}"))
}

/// Runs and records a scene; the end of the world and the recording.
fn recorded(text: &str) -> (World, Recording) {
    let mut scene = load(text);
    let mut writer = RecordingWriter::new(Vec::new(), &scene).unwrap();
    for _ in 0..scene.step_count() {
        let report = scene.world.step(scene.dt).unwrap();
        writer.step(&scene.world, &report).unwrap();
    }
    let bytes = writer.finish(&scene.world, "").unwrap();
    (scene.world, Recording::read(&bytes).unwrap())
}

/// Header and rows of a CSV text.
fn parse(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let cells = |line: &str| {
        let (mut out, mut cell, mut quoted) = (Vec::new(), String::new(), false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => out.push(std::mem::take(&mut cell)),
                c => cell.push(c),
            }
        }
        out.push(cell);
        out
    };
    let mut lines = text.lines();
    let head = cells(lines.next().unwrap());
    (head, lines.map(cells).collect())
}

/// The last row by column.
fn last(text: &str) -> BTreeMap<String, f64> {
    let (head, rows) = parse(text);
    let values = rows.last().unwrap().iter().map(|x| x.parse().unwrap());
    head.into_iter().zip(values).collect()
}

#[test]
fn tables_of_an_exact_recording_read_back_to_the_hash_of_the_run() {
    let (world, recording) = recorded(SCENE);
    let Completeness::Finished(end) = &recording.completeness else {
        panic!()
    };
    assert_eq!(end.hash, world.hash());
    let tables = Tables::of(&recording);
    let (bodies, joints) = (last(&tables.bodies), last(&tables.joints));
    // The last snapshot has what tables lack, the memory of contacts; all states are wiped out first.
    let mut again = World::restore(&recording.snapshots.last().unwrap().bytes).unwrap();
    assert_eq!(again.hash(), end.hash);
    let ids: Vec<_> = again
        .bodies()
        .map(|(id, b, _)| (id, b.name.clone(), b.kind.clone()))
        .collect();
    let dynamic = ids
        .iter()
        .filter(|(_, _, kind)| *kind == tippe::BodyKind::Dynamic);
    for (id, _, _) in dynamic.clone() {
        again.set_body_state(*id, BodyState::REST).unwrap();
    }
    let tree = again.articulation_ids().next().unwrap();
    let mut state = again.articulation_state(tree).unwrap().clone();
    state.positions.fill(0.0);
    again.set_articulation_state(tree, &state).unwrap();
    assert!(again.hash() != end.hash);
    for (id, name, _) in dynamic {
        let x = |what: &str| bodies[&format!("body.{name}.{what}")];
        let three = |what: &str| {
            Vec3::new(
                x(&format!("{what}.x")),
                x(&format!("{what}.y")),
                x(&format!("{what}.z")),
            )
        };
        let q = three("rotation");
        let state = BodyState {
            position: three("center_of_mass"),
            rotation: Quat::from_xyzw(q.x, q.y, q.z, x("rotation.w")),
            velocity: three("velocity"),
            angular_velocity: three("angular_velocity"),
        };
        again.set_body_state(*id, state).unwrap();
    }
    for (k, x) in state.positions.iter_mut().enumerate() {
        *x = joints[&format!("articulation.arm.positions[{k}]")];
    }
    for (k, x) in state.velocities.iter_mut().enumerate() {
        *x = joints[&format!("articulation.arm.velocities[{k}]")];
    }
    again.set_articulation_state(tree, &state).unwrap();
    assert_eq!(again.hash(), end.hash);
    assert_eq!(bodies["time"], end.time);
    assert_eq!(bodies["step"], end.step as f64);
    let sensors = last(&tables.sensors);
    assert!(sensors.contains_key("sensor.imu.acceleration.z"));
    assert!(
        (sensors["sensor.axle.rate"] - 3.0).abs() < 1e-6,
        "{sensors:?}"
    );
    assert_eq!(
        sensors["sensor.elbow.position"],
        joints["articulation.arm.positions[0]"]
    );
    let (head, rows) = parse(&tables.contacts);
    assert_eq!((head.len(), head[1].as_str()), (17, "body_a"));
    assert!(rows.iter().all(|r| r.len() == 17) && rows.iter().any(|r| r[2] == "ball, red"));
}

#[test]
fn scenes_with_sensors_and_programs_explain_to_the_same_run() {
    let mut scene = load(SCENE);
    assert_eq!(scene.camera.unwrap().yaw_deg, 10.0);
    assert_eq!(
        scene.colours,
        [(scene.body("ball, red").unwrap(), [1.0, 0.0, 0.0])]
    );
    let mut again = load(&explain(&scene));
    for _ in 0..60 {
        scene.world.step(0.01).unwrap();
        again.world.step(0.01).unwrap();
    }
    assert_eq!(again.world.hash(), scene.world.hash());
    assert_eq!(again.world.readings(), scene.world.readings());
    // 0.6 s of gravity, and the cosine of the program.
    let speed = 3.0 / (2.0 * std::f64::consts::TAU) * libm::sin(2.0 * std::f64::consts::TAU * 0.3);
    let mut free = load(SCENE);
    for _ in 0..30 {
        free.world.step(0.01).unwrap();
    }
    let ball = free.body("ball, red").unwrap();
    let mass = free.world.body(ball).unwrap().mass;
    let v = free.world.body_state(ball).unwrap().velocity;
    assert!((v.y - 0.3 - speed / mass).abs() < 1e-12, "{v}");
    assert_eq!(free.world.gravity(), Vec3::Z * -9.81);
}

#[test]
fn quantities_are_chosen_by_name() {
    let few = SCENE.replace(
        "exact = true",
        "quantities = [\"body.wheel.position\", \"joint.axle\", \"sensor.imu.acceleration.z\"]",
    );
    let (_, recording) = recorded(&few);
    assert_eq!(
        recording.names,
        [[
            "body.wheel.position.x",
            "body.wheel.position.y",
            "body.wheel.position.z",
            "joint.axle.position",
            "joint.axle.rate",
            "sensor.imu.acceleration.z"
        ]]
    );
    assert_eq!(recording.quantities.len(), recording.frames.len());
    // Without a list the sensors are recorded, and bodies come from the rounded poses.
    let (_, recording) = recorded(&SCENE.replace("exact = true\n", ""));
    assert!(recording.names[0].iter().all(|n| n.starts_with("sensor.")));
    assert!(
        Tables::of(&recording)
            .bodies
            .starts_with("time,step,body.floor.position.x")
    );
    let scene = load(SCENE);
    let error = Quantities::choose(&scene.world, &["body.weel.position".into()]).unwrap_err();
    assert_eq!(error, (0, "did you mean \"body.wheel.position\"?".into()));
}

/// A free link that is turned: its quaternion stands in the tables as w, x, y, z.
const TURNED: &str = r#"version = 1
[world]
gravity = [0, 0, 0]
[method]
dt = 0.01
seconds = 0.01
[record]
exact = true
[[articulation]]
name = "kite"
[[articulation.link]]
name = "sail"
joint = "free"
start = [1, 2, 3, 0.8, 0.6, 0, 0]
mass = 1
shape.box = { size = [1, 1, 1] }
"#;

#[test]
fn coordinates_of_free_links_are_written_with_w_first() {
    let (_, recording) = recorded(TURNED);
    let joints = last(&Tables::of(&recording).joints);
    let found: Vec<f64> = (0..7)
        .map(|k| joints[&format!("articulation.kite.positions[{k}]")])
        .collect();
    assert_eq!(found, [1.0, 2.0, 3.0, 0.8, 0.6, 0.0, 0.0]);
}

/// A hinge and a link with gains.
const SERVOS: &str = r#"version = 1
[method]
dt = 0.01
seconds = 0.2
[[body]]
name = "rod"
position = [0.5, 0, 0]
mass = 1
shape.box = { size = [1, 0.1, 0.1] }
[[joint]]
name = "shoulder"
kind = "hinge"
bodies = ["world", "rod"]
at = [0, 0, 0]
axis = [0, 1, 0]
motor = { position_deg = 30, kp = 200, kd = 20 }
[[articulation]]
name = "arm"
[[articulation.link]]
name = "upper"
joint = "revolute"
axis = [0, 1, 0]
position = [0, 5, 0]
mass = 1
shape.box = { size = [1, 0.1, 0.1] }
motor = { position = 0.2, velocity = 0.1, kp = 50, kd = 5, max_force = 30 }
"#;

#[test]
fn motors_with_gains_load_run_and_explain_themselves() {
    let mut scene = load(SERVOS);
    let motor = |s: &Scene, name: &str| s.world.motor(s.world.motor_named(name).unwrap()).unwrap();
    let shoulder = Some(tippe::Motor::Servo {
        position: 30f64.to_radians(),
        velocity: 0.0,
        kp: 200.0,
        kd: 20.0,
        max_force: f64::INFINITY,
    });
    assert_eq!(motor(&scene, "shoulder"), shoulder);
    let mut again = load(&explain(&scene));
    assert_eq!(motor(&again, "shoulder"), shoulder);
    assert_eq!(motor(&again, "arm.upper"), motor(&scene, "arm.upper"));
    for s in [&mut scene, &mut again] {
        s.world.step_many(0.01, 20).unwrap();
    }
    assert_eq!(again.world.hash(), scene.world.hash());
    let wrong = |from: &str, to: &str| {
        let text = SERVOS.replacen(from, to, 1);
        let errors = load_str(&text, "s.toml", Format::Toml, &LoadOptions::default());
        errors.err().unwrap().to_string()
    };
    assert!(wrong("kp = 200", "kp = -1").contains("motor.kp"));
    assert!(wrong("position_deg = 30, ", "").contains("kp needs a place"));
    assert!(wrong("kd = 20", "kd = 20, time = 1").contains("has no time"));
}

#[test]
fn locked_axes_hold_in_a_run_and_are_written_out() {
    let text = r#"
version = 1
[method]
dt = 0.01
seconds = 1
[[body]]
name = "slider"
velocity = [1, 2, 3]
angular_velocity = [1, 2, 3]
shape.box = { size = [0.1, 0.2, 0.3] }
locked = { translation = ["y"], rotation = ["x", "z"] }
[[body]]
name = "free"
position = [5, 0, 0]
velocity = [1, 2, 3]
shape.sphere = { radius = 0.1 }
"#;
    let mut scene = load(text);
    let id = scene.world.body_named("slider").unwrap();
    let locked = scene.world.locked_axes(id).unwrap();
    assert_eq!(locked, tippe::LockedAxes::PLANE_XZ);
    for _ in 0..100 {
        scene.world.step(0.01).unwrap();
    }
    let state = *scene.world.body_state(id).unwrap();
    assert!(state.position.y.abs() < 1e-12 && (state.position.x - 1.0).abs() < 1e-9);
    assert!(
        state.angular_velocity.x.abs() < 1e-12 && (state.angular_velocity.y - 2.0).abs() < 1e-9
    );
    let free = scene.world.body_named("free").unwrap();
    assert!((scene.world.pose(free).unwrap().position.y - 2.0).abs() < 1e-12);
    // Written out it is the same scene.
    let again = load(&explain(&load(text)));
    assert_eq!(
        again.world.bare_snapshot(),
        load(text).world.bare_snapshot()
    );
    let refused = |from: &str, to: &str| {
        let text = text.replacen(from, to, 1);
        let options = LoadOptions::default();
        load_str(&text, "s.toml", Format::Toml, &options)
            .err()
            .unwrap()
            .to_string()
    };
    let one = refused("\"x\", \"z\"", "\"x\"");
    assert!(one.contains("locked.rotation: one axis alone"), "{one}");
    let word = refused("[\"y\"]", "[\"up\"]");
    assert!(
        word.contains("body[0].locked.translation[0]: unknown word \"up\""),
        "{word}"
    );
    let fixed = refused(
        "velocity = [1, 2, 3]\nangular_velocity = [1, 2, 3]",
        "kind = \"fixed\"",
    );
    assert!(fixed.contains("locked: only a dynamic body"), "{fixed}");
}
