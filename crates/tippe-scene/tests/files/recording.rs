//! Recordings come back as they were written, cut off or damaged as far as they are whole.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use tippe::{Pose, StepReport, World};
use tippe_scene::recording::{ANGLE_ERROR_MAX, Holds, RecordingError};
use tippe_scene::{Completeness, Format, LoadOptions, Recording, RecordingWriter, Scene, load_str};

const SCENE: &str = r#"
version = 1
name = "Small"
description = "a ball and a box fall on the ground"
[method]
dt = 0.01
seconds = 1.5
[record]
rate = 20
contacts = true
[[material]]
name = "default"
friction = 0.4
restitution = 0.3
[[body]]
name = "ground"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[body]]
name = "ball"
position = [0, 0, 0.3]
angular_velocity = [0, 20, 0]
shape.sphere = { radius = 0.1 }
[[body]]
name = "box"
position = [1, 0.2, 0.2]
rotation_deg = { axis = [1, 1, 0], angle = 40 }
shape.box = { size = [0.2, 0.3, 0.1] }
"#;

/// A few steps of it: small enough to cut at every byte.
fn short_scene() -> Scene {
    let options = LoadOptions {
        seconds: Some(0.26),
        ..LoadOptions::default()
    };
    load_str(SCENE, "small.toml", Format::Toml, &options).unwrap()
}

fn scene() -> Scene {
    load_str(SCENE, "small.toml", Format::Toml, &LoadOptions::default()).unwrap()
}

/// Runs the scene and returns the file, the reports and the worlds after each step.
fn record(scene: &Scene) -> (Vec<u8>, Vec<StepReport>, Vec<World>) {
    let mut world = scene.world.clone();
    let mut writer = RecordingWriter::new(Vec::new(), scene).unwrap();
    let (mut reports, mut worlds) = (Vec::new(), Vec::new());
    for _ in 0..scene.step_count() {
        let report = world.step(scene.dt).unwrap();
        writer.step(&world, &report).unwrap();
        reports.push(report);
        worlds.push(world.clone());
    }
    (writer.finish(&world, "").unwrap(), reports, worlds)
}

fn angle(a: &Pose, b: &Pose) -> f64 {
    let q = a.rotation * b.rotation.conjugate();
    2.0 * libm::asin(libm::sqrt(q.x * q.x + q.y * q.y + q.z * q.z).min(1.0))
}

#[test]
fn a_run_comes_back_as_it_was() {
    let scene = scene();
    let (bytes, reports, worlds) = record(&scene);
    let r = Recording::read(&bytes).unwrap();
    assert_eq!(r.header.name, "Small");
    assert_eq!(r.header.source, SCENE);
    assert_eq!(
        (r.header.dt, r.header.rate, r.header.method.as_str()),
        (0.01, 20.0, "sequential")
    );
    assert_eq!(r.header.scene["body"][1]["name"], "ball");
    let names: Vec<&str> = r.bodies[0].iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["ground", "ball", "box"]);
    assert_eq!(r.bodies[0][2].shapes[0].material, "default");

    // One frame at the start and one every 0.05 s.
    assert_eq!(r.frames.len(), 31);
    for (k, frame) in r.frames.iter().enumerate().skip(1) {
        let world = &worlds[5 * k - 1];
        assert_eq!((frame.time, frame.step), (world.time(), world.step_count()));
        for (id, pose) in world.body_ids().zip(&frame.poses) {
            let truth = world.pose(id).unwrap();
            assert!(
                (pose.position - truth.position)
                    .abs()
                    .cmple(frame.error)
                    .all()
            );
            assert!(angle(pose, &truth) < ANGLE_ERROR_MAX);
        }
        assert!(frame.error.max_element() < 1e-7, "{}", frame.error);
    }
    assert_eq!(r.reports, reports);
    let events: usize = worlds.iter().map(|w| w.events().len()).sum();
    assert!(events > 0 && r.events.len() == events);

    // Impulses of a frame are those of its five steps.
    for (k, frame) in r.contacts.iter().enumerate().skip(1) {
        let steps = &worlds[5 * k - 5..5 * k];
        let total: f64 = steps
            .iter()
            .flat_map(|w| w.contacts())
            .map(|c| c.impulse().z)
            .sum();
        let recorded: f64 = frame.contacts.iter().map(|c| f64::from(c.impulse[2])).sum();
        assert!(
            (total - recorded).abs() <= 1e-5 * (1.0 + total.abs()),
            "{total} {recorded}"
        );
    }

    let Completeness::Finished(end) = &r.completeness else {
        panic!("{:?}", r.completeness)
    };
    let last = worlds.last().unwrap();
    assert_eq!(
        (end.hash, end.step, end.stopped.as_str()),
        (last.hash(), 150, "")
    );
}

#[test]
fn who_sleeps_is_recorded() {
    let text = SCENE.replace("[method]", "[world]\nsleeping = true\n[method]");
    let scene = load_str(&text, "small.toml", Format::Toml, &LoadOptions::default()).unwrap();
    let mut world = scene.world.clone();
    let mut writer = RecordingWriter::new(Vec::new(), &scene).unwrap();
    let box_id = world.body_ids().nth(2).unwrap();
    let mut truth = vec![false];
    for k in 1..=600 {
        // Asleep by then, and woken by a push.
        if k == 401 {
            assert!(world.is_asleep(box_id).unwrap());
            world.wake(box_id).unwrap();
        }
        let report = world.step(scene.dt).unwrap();
        writer.step(&world, &report).unwrap();
        if k % 5 == 0 {
            truth.push(world.is_asleep(box_id).unwrap());
        }
    }
    let r = Recording::read(&writer.finish(&world, "").unwrap()).unwrap();
    let recorded: Vec<bool> = (0..r.frames.len()).map(|k| r.is_asleep(k, 2)).collect();
    assert_eq!(recorded, truth);
    assert!(truth.contains(&true) && !truth[81]);
    assert!(
        (0..r.frames.len()).all(|k| !r.is_asleep(k, 0)),
        "the ground"
    );
}

#[test]
fn a_snapshot_of_the_recording_runs_on_with_the_same_bits() {
    let scene = scene();
    let (bytes, _, worlds) = record(&scene);
    let r = Recording::read(&bytes).unwrap();
    // At 0 s, at 1 s and at the end.
    assert_eq!(r.snapshots.len(), 3);
    let mut world = World::restore(&r.snapshots[1].bytes).unwrap();
    assert_eq!(world.step_count(), 100);
    for _ in 100..150 {
        world.step(scene.dt).unwrap();
    }
    assert_eq!(world.hash(), worlds[149].hash());
}

#[test]
fn a_cut_recording_gives_what_is_whole() {
    let (bytes, ..) = record(&short_scene());
    let whole = Recording::read(&bytes).unwrap();
    let mut frames = 0;
    for n in 0..bytes.len() {
        match Recording::read(&bytes[..n]) {
            Err(e) => {
                assert_eq!(e, RecordingError::NoHeader);
                assert_eq!(frames, 0);
            }
            Ok(part) => {
                assert!(!matches!(
                    part.completeness,
                    Completeness::Finished(_) | Completeness::Damaged { .. }
                ));
                assert!(part.frames.len() >= frames, "more bytes, more frames");
                frames = part.frames.len();
                assert_eq!(part.frames, whole.frames[..frames]);
                assert_eq!(part.reports, whole.reports[..part.reports.len()]);
                assert_eq!(part.events, whole.events[..part.events.len()]);
                assert!(
                    part.reports.len() + 1 >= frames,
                    "a frame has the certificates before it"
                );
            }
        }
    }
    assert_eq!(frames, whole.frames.len());
}

#[test]
fn damage_is_noticed() {
    let (bytes, ..) = record(&short_scene());
    let whole = Recording::read(&bytes).unwrap();
    let head = 12 + 12 + u32::from_le_bytes(bytes[16..20].try_into().unwrap()) as usize;
    let mut at = 0;
    while at < bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        match Recording::read(&bad) {
            Err(_) => assert!(at < head),
            Ok(part) => {
                assert!(at >= head);
                assert!(
                    matches!(
                        part.completeness,
                        Completeness::Damaged { .. } | Completeness::CutOff { .. }
                    ),
                    "byte {at}: {:?}",
                    part.completeness
                );
                assert_eq!(part.frames, whole.frames[..part.frames.len()]);
            }
        }
        at += 7;
    }
}

#[test]
fn a_stopped_run_says_why() {
    let scene = scene();
    let mut world = scene.world.clone();
    let mut writer = RecordingWriter::new(Vec::new(), &scene).unwrap();
    for _ in 0..7 {
        let report = world.step(scene.dt).unwrap();
        writer.step(&world, &report).unwrap();
    }
    let bytes = writer.finish(&world, "interrupted").unwrap();
    let r = Recording::read(&bytes).unwrap();
    // Frames at 0, at 0.05 s and where it stopped.
    assert_eq!(r.frames.len(), 3);
    assert_eq!(r.reports.len(), 7);
    assert!(
        matches!(r.completeness, Completeness::Finished(end) if end.stopped == "interrupted" && end.step == 7)
    );
}

#[test]
fn removed_bodies_begin_a_new_list() {
    let scene = scene();
    let mut world = scene.world.clone();
    let mut writer = RecordingWriter::new(Vec::new(), &scene).unwrap();
    for i in 0..20 {
        if i == 10 {
            world.remove_body(scene.body("ball").unwrap()).unwrap();
        }
        let report = world.step(scene.dt).unwrap();
        writer.step(&world, &report).unwrap();
    }
    let r = Recording::read(&writer.finish(&world, "").unwrap()).unwrap();
    assert_eq!(r.bodies.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2]);
    let last = r.frames.last().unwrap();
    assert_eq!((last.list, last.poses.len()), (1, 2));
    assert_eq!(r.frame_at(0.06).unwrap().poses.len(), 3);
}

#[test]
fn other_files_are_refused() {
    assert_eq!(Recording::read(b"").unwrap_err(), RecordingError::NoHeader);
    assert_eq!(
        Recording::read(b"PNG and so on").unwrap_err(),
        RecordingError::NotARecording
    );
    assert_eq!(
        Recording::read(b"TIPPEREC\x09\0\0\0").unwrap_err(),
        RecordingError::Version { found: 9 }
    );
}

/// The poses of a minute at 60 Hz of a thousand bodies are less than 60 MB: what one frame more takes, 3600 times.
#[test]
fn a_minute_of_a_thousand_bodies_is_less_than_60_mb() {
    let text = r#"
version = 1
world.gravity = [0, 0, 0]
method.dt = "1/60"
record.rate = 60
[[grid]]
counts = [10, 10, 10]
pitch = [1, 1, 1]
origin = [0, 0, 0]
body = { name = "box", angular_velocity = [1, 2, 3], shape.box = { size = [0.1, 0.2, 0.3] } }
"#;
    let scene = load_str(text, "grid.toml", Format::Toml, &LoadOptions::default()).unwrap();
    let holds = Holds {
        contacts: false,
        snapshots: false,
        certificates: false,
    };
    let size = |steps: u32| {
        let mut world = scene.world.clone();
        let mut writer = RecordingWriter::holding(Vec::new(), &scene, holds).unwrap();
        for _ in 0..steps {
            let report = world.step(scene.dt).unwrap();
            writer.step(&world, &report).unwrap();
        }
        writer.finish(&world, "").unwrap().len()
    };
    let frame = (size(3) - size(1)) / 2;
    let minute = frame * 60 * 60;
    println!("{frame} bytes a frame, {minute} a minute");
    assert!(minute < 60_000_000, "{minute}");
}
