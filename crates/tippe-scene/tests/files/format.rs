//! What the format promises: the examples of the documentation load, and fields mean what it says.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::{Path, PathBuf};
use tippe::{Pose, Vec3};
use tippe_scene::{Format, LoadOptions, Scene, explain, load_file, load_str};

fn load(text: &str) -> Scene {
    let text = format!("version = 1\n{text}");
    load_str(&text, "x.toml", Format::Toml, &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{e}"))
}

fn pose(scene: &Scene, name: &str) -> Pose {
    scene.world.pose(scene.body(name).unwrap()).unwrap()
}

fn near(a: Vec3, b: [f64; 3]) -> bool {
    (a - Vec3::from_array(b)).length() < 1e-12
}

#[test]
fn every_example_of_the_documentation_loads() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene-format.md");
    let text = std::fs::read_to_string(docs).unwrap();
    let examples: Vec<&str> = text
        .split("```toml\n")
        .skip(1)
        .map(|e| e.split("```").next().unwrap())
        .collect();
    assert!(examples.len() >= 7);
    for example in examples {
        let scene = load_str(
            example,
            "scene-format.md",
            Format::Toml,
            &LoadOptions::default(),
        );
        let scene = scene.unwrap_or_else(|e| panic!("{e}"));
        let again = load_str(
            &explain(&scene),
            "explained",
            Format::Toml,
            &LoadOptions::default(),
        );
        assert!(again.unwrap().world.bare_snapshot() == scene.world.bare_snapshot());
    }
}

#[test]
fn json_and_toml_say_the_same() {
    let toml = load(
        "[[body]]\nname = \"b\"\nposition = [1, 2, 3]\nmass = 2\nshape.box = { size = [1, 2, 3] }\n",
    );
    let json = r#"{"version": 1, "body": [{"name": "b", "position": [1, 2, 3], "mass": 2, "shape": {"box": {"size": [1, 2, 3]}}}]}"#;
    let json = load_str(json, "x.json", Format::Json, &LoadOptions::default()).unwrap();
    assert!(json.world.bare_snapshot() == toml.world.bare_snapshot());
}

#[test]
fn defaults_are_as_documented() {
    let scene = load("");
    assert_eq!((scene.dt, scene.seconds), (0.001, 10.0));
    assert_eq!((scene.record.rate, scene.record.contacts), (60.0, false));
    assert_eq!(scene.world.gravity(), Vec3::new(0.0, 0.0, -9.81));
    assert_eq!(scene.world.method().name(), "sequential");
    let scene = load("[[body]]\nname = \"b\"\nshape.box = { size = [1, 1, 1] }\n");
    let body = scene.world.body(scene.body("b").unwrap()).unwrap();
    assert!(body.is_dynamic() && (body.mass - 1000.0).abs() < 1e-9);
}

#[test]
fn options_stand_over_the_file() {
    let options = LoadOptions {
        dt: Some(0.5),
        seconds: Some(2.0),
        ..LoadOptions::default()
    };
    let text =
        "version = 1\n[method]\ndt = \"1/60\"\nseconds = 9\n[method.sequential]\nsweeps = 7\n";
    let scene = load_str(text, "x.toml", Format::Toml, &options).unwrap();
    assert_eq!((scene.dt, scene.seconds, scene.step_count()), (0.5, 2.0, 4));
    let tippe::Method::Sequential(params) = scene.world.method() else {
        panic!("sequential")
    };
    assert_eq!(params.sweeps, 7);
}

#[test]
fn pairs_fall_back_field_by_field() {
    let scene = load(
        r#"
[[material]]
name = "a"
friction = 0.4
restitution = 0.5
[[material]]
name = "b"
friction = 0.9
restitution = 0.2
[[pair]]
materials = ["b", "a"]
restitution = 0.7
[[pair]]
materials = ["a", "dry steel"]
friction_static = 0.3
friction_kinetic = 0.1
"#,
    );
    let m = scene.world.materials();
    let find = |name| m.find(name).unwrap();
    let (ab, fallback) = m.lookup(find("a"), find("b"));
    assert!(!fallback);
    assert_eq!(ab.restitution, 0.7);
    assert!((ab.friction_static - 0.6).abs() < 1e-15);
    let steel = m.lookup(find("a"), find("dry steel")).0;
    assert_eq!((steel.friction_static, steel.friction_kinetic), (0.3, 0.1));
    assert_eq!(
        m.lookup(find("dry steel"), find("greasy steel"))
            .0
            .restitution,
        0.9
    );
    assert_eq!(scene.material_names[..3], ["default", "a", "b"]);
}

#[test]
fn turns_are_applied_one_after_the_other_about_fixed_axes() {
    let scene = load(
        r#"
[[body]]
name = "b"
rotation_deg = [ { axis = [0, 0, 2], angle = 90 }, { axis = [1, 0, 0], angle = 90 } ]
shape.sphere = { radius = 1 }
"#,
    );
    // x goes to y by the first turn, y to z by the second.
    assert!(near(pose(&scene, "b").rotation * Vec3::X, [0.0, 0.0, 1.0]));
}

#[test]
fn given_inertia_and_centre_are_taken_as_they_are() {
    let scene = load(
        "[[body]]\nname = \"b\"\nposition = [0, 0, 1]\nmass = 2\ninertia = [1, 2, 2.5]\ncenter = [0.1, 0, 0]\nvelocity = [1, 0, 0]\n",
    );
    let id = scene.body("b").unwrap();
    let body = scene.world.body(id).unwrap();
    assert_eq!(body.mass, 2.0);
    let mut moments = body.moments.to_array();
    moments.sort_by(f64::total_cmp);
    assert!(near(Vec3::from_array(moments), [1.0, 2.0, 2.5]));
    // The pose is that of the frame, the velocity that of the centre of mass.
    let state = scene.world.body_state(id).unwrap();
    assert!(near(state.position, [0.1, 0.0, 1.0]) && near(state.velocity, [1.0, 0.0, 0.0]));
}

#[test]
fn shapes_take_what_they_leave_out_from_the_body() {
    let scene = load(
        r#"
[[body]]
name = "b"
material = "dry steel"
collision = { groups = [3], mask = [0, 31] }
shapes = [
    { sphere = { radius = 1 } },
    { sphere = { radius = 1 }, position = [2, 0, 0], material = "greasy steel", sensor = true, groups = [1, 2], mask = "all" },
]
"#,
    );
    let body = scene.world.body(scene.body("b").unwrap()).unwrap();
    let [a, b] = body.shapes.as_slice() else {
        panic!()
    };
    assert_eq!(
        (a.filter.groups, a.filter.mask, a.sensor),
        (8, 1 | 1 << 31, false)
    );
    assert_eq!(
        (b.filter.groups, b.filter.mask, b.sensor),
        (6, u32::MAX, true)
    );
    assert_eq!(
        scene.world.materials().find("greasy steel"),
        Some(b.material)
    );
    // The sensor weighs nothing.
    assert!(near(body.center, [0.0; 3]));
}

#[test]
fn prescribed_motions_start_where_they_are_at_time_zero() {
    let scene = load(
        r#"
[[body]]
name = "sine"
kind = "kinematic"
position = [1, 0, 0]
motion = { kind = "sine", amplitude = [0, 0, 2], frequency = 1, phase_deg = 90, rotation_amplitude_deg = [0, 0, 90] }
shape.sphere = { radius = 1 }
[[body]]
name = "table"
kind = "kinematic"
motion = { kind = "table", times = [-1, 1], positions = [[0, 0, 0], [4, 0, 0]] }
shape.sphere = { radius = 1 }
"#,
    );
    let sine = pose(&scene, "sine");
    assert!(near(sine.position, [1.0, 0.0, 2.0]));
    assert!(near(sine.rotation * Vec3::X, [0.0, 1.0, 0.0]));
    assert!(near(pose(&scene, "table").position, [2.0, 0.0, 0.0]));
    let state = scene
        .world
        .body_state(scene.body("table").unwrap())
        .unwrap();
    assert!(near(state.velocity, [2.0, 0.0, 0.0]));
}

#[test]
fn mixed_stacks_touch() {
    let scene = load(
        r#"
[[stack]]
count = 4
base = [0, 0, 1]
along = [0, 0, 3]
[[stack.body]]
name = "ball"
shape.sphere = { radius = 0.5 }
[[stack.body]]
name = "plank"
rotation_deg = { axis = [1, 0, 0], angle = 90 }
shape.box = { size = [1, 0.2, 1] }
"#,
    );
    for (name, z) in [
        ("ball0", 1.5),
        ("plank1", 2.1),
        ("ball2", 2.7),
        ("plank3", 3.3),
    ] {
        assert!(near(pose(&scene, name).position, [0.0, 0.0, z]), "{name}");
    }
}

#[test]
fn pyramids_are_centred_and_touch() {
    let scene =
        load("[[pyramid]]\nrows = 3\npitch = 1.5\nbody.shape.box = { size = [1, 1, 0.5] }\n");
    assert_eq!(scene.names.len(), 6);
    for (n, x, z) in [
        (0, -1.5, 0.25),
        (2, 1.5, 0.25),
        (3, -0.75, 0.75),
        (5, 0.0, 1.25),
    ] {
        assert!(
            near(pose(&scene, &format!("pyramid0_{n}")).position, [x, 0.0, z]),
            "{n}"
        );
    }
}

#[test]
fn fills_stay_inside_and_apart() {
    let text = "[[fill]]\ncount = 150\nseed = 3\nregion = { min = [-1, -1, 0], max = [1, 1, 2] }\nbody = [{ name = \"a\", shape.sphere = { radius = 0.1 } }, { name = \"b\", shape.sphere = { radius = 0.15 } }]\n";
    let scene = load(text);
    let radius = |name: &str| if name.starts_with('a') { 0.1 } else { 0.15 };
    let all: Vec<(Vec3, f64)> = scene
        .names
        .iter()
        .map(|(n, _)| (pose(&scene, n).position, radius(n)))
        .collect();
    for (i, (p, r)) in all.iter().enumerate() {
        assert!(p.x.abs().max(p.y.abs()) <= 1.0 - r && (*r..=2.0 - r).contains(&p.z));
        assert!(all[..i].iter().all(|(q, s)| (*p - *q).length() >= r + s));
    }
    assert_eq!(load(text).world.hash(), scene.world.hash());
}

#[test]
fn included_parts_come_first() {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("tippe-include-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("parts")).unwrap();
    let body = |name: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\nmaterial = \"wood\"\nshape.sphere = {{ radius = 1 }}\n"
        )
    };
    std::fs::write(
        folder.join("parts/wood.json"),
        r#"{"version": 1, "material": [{"name": "wood"}]}"#,
    )
    .unwrap();
    let floor = format!("version = 1\ninclude = [\"wood.json\"]\n{}", body("floor"));
    std::fs::write(folder.join("parts/floor.toml"), floor).unwrap();
    let main = format!(
        "version = 1\ninclude = [\"parts/floor.toml\"]\n{}",
        body("ball")
    );
    std::fs::write(folder.join("main.toml"), main).unwrap();
    let scene = load_file(&folder.join("main.toml"), &LoadOptions::default());
    std::fs::remove_dir_all(&folder).unwrap();
    let scene = scene.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene.name, "main");
    assert_eq!(
        scene
            .names
            .iter()
            .map(|(n, _)| n.as_str())
            .collect::<Vec<_>>(),
        ["floor", "ball"]
    );
    // Written out, it is one file.
    let alone = load_str(
        &explain(&scene),
        "explained",
        Format::Toml,
        &LoadOptions::default(),
    )
    .unwrap();
    assert_eq!(alone.world.hash(), scene.world.hash());
}

#[test]
fn what_has_no_effect_is_warned_of() {
    let scene = load(
        "[[body]]\nname = \"floor\"\nkind = \"fixed\"\ndensity = 1000\nshape.sphere = { radius = 1 }\n",
    );
    assert_eq!(scene.warnings.len(), 1);
    assert_eq!(
        (scene.warnings[0].line, scene.warnings[0].field.as_str()),
        (5, "body[0].density")
    );
}

#[test]
fn thousands_of_slips_are_counted_and_the_first_are_shown() {
    let bodies: String = (0..1000)
        .map(|i| format!("[[body]]\nname = \"b{i}\"\nmass = -1\nshape.sphere = {{ radius = 1 }}\n"))
        .collect();
    let errors = load_str(
        &format!("version = 1\n{bodies}"),
        "x.toml",
        Format::Toml,
        &LoadOptions::default(),
    )
    .unwrap_err();
    assert_eq!((errors.errors.len(), errors.more), (200, 800));
    assert!(
        errors
            .to_string()
            .ends_with("1000 errors, the first 200 shown")
    );
}

#[test]
fn joints_of_every_kind_explain_themselves() {
    let bodies = "
        [[body]]\nname = \"a\"\nposition = [1, 2, 3]\nrotation_deg = { axis = [1, 2, 3], angle = 40 }\nshape.box = { size = [1, 1, 1] }
        [[body]]\nname = \"b\"\nposition = [2, 2, 3]\nmass = 2\ninertia = [1, 1, 1]\ncenter = [0.1, 0, 0]\nshape.sphere = { radius = 0.3 }\n";
    for (kind, rank) in [
        ("kind = \"ball\"\nat = [1.5, 2, 3]", 3),
        (
            "kind = \"hinge\"\nat = [1.5, 2, 3]\naxis = [1, 1, 0]\nlimits_deg = [-10, 77]",
            5,
        ),
        (
            "kind = \"slider\"\nat = [1.5, 2, 3]\naxis = [0, 0, -1]\nmotor = { position = 0.1, max_force = 3 }",
            5,
        ),
        ("kind = \"fixed\"\nat = [1.5, 2, 3]\nbreak_torque = 5", 6),
        (
            "kind = \"cylindrical\"\nat = [1.5, 2, 3]\naxis = [3, 1, 0]\nrotation = { spring = { stiffness = 1, rest_deg = 30 } }",
            4,
        ),
        (
            "kind = \"universal\"\nat = [1.5, 2, 3]\naxis = [3, 1, 0]\naxis_b = [-1, 3, 0]",
            4,
        ),
        ("kind = \"distance\"\nat_a = [1.5, 2, 3]", 1),
        ("kind = \"distance\"\nmax = 3", 1),
    ] {
        for ends in ["[\"a\", \"b\"]", "[\"world\", \"b\"]", "[\"a\", \"world\"]"] {
            let places = if kind.contains("distance") && ends.contains("world") {
                kind.replace("\nat_a = [1.5, 2, 3]", "") + "\nat_a = [1, 2, 4]\nat_b = [2, 2, 4]"
            } else {
                kind.into()
            };
            let scene = load(&format!(
                "{bodies}\n[[joint]]\nname = \"j\"\nbodies = {ends}\n{places}\n"
            ));
            let joint = scene.world.joint(scene.joint("j").unwrap()).unwrap();
            assert_eq!(joint.desc.kind.rank(), rank);
            let place = |id| scene.world.pose(id).unwrap();
            let frame_a = joint
                .desc
                .body_a
                .map_or(Pose::IDENTITY, place)
                .compose(&joint.desc.frame_a);
            let frame_b = place(joint.desc.body_b).compose(&joint.desc.frame_b);
            if rank > 1 {
                assert!((frame_a.position - Vec3::new(1.5, 2.0, 3.0)).length() < 1e-15 * 8.0);
                assert!((frame_a.position - frame_b.position).length() < 1e-15 * 8.0);
            }
            let again = load_str(
                &explain(&scene),
                "explained",
                Format::Toml,
                &LoadOptions::default(),
            );
            assert!(
                again
                    .unwrap_or_else(|e| panic!("{e}"))
                    .world
                    .bare_snapshot()
                    == scene.world.bare_snapshot(),
                "{kind}"
            );
        }
    }
}

#[test]
fn the_world_may_be_either_end_of_a_joint() {
    // The motor turns B relative to A: the wheel goes one way as A and the other way as B.
    let spin = |bodies: &str| {
        let mut scene = load(&format!(
            "[[body]]\nname = \"wheel\"\nshape.sphere = {{ radius = 0.1 }}\n\
             [[joint]]\nkind = \"hinge\"\nbodies = {bodies}\nat = [0, 0, 0]\naxis = [0, 1, 0]\nmotor = {{ velocity = 3, max_force = 1000 }}\n"
        ));
        for _ in 0..10 {
            scene.world.step(0.001).unwrap();
        }
        scene
            .world
            .body_state(scene.body("wheel").unwrap())
            .unwrap()
            .angular_velocity
    };
    assert!((spin("[\"world\", \"wheel\"]") - Vec3::new(0.0, 3.0, 0.0)).length() < 1e-9);
    assert!((spin("[\"wheel\", \"world\"]") - Vec3::new(0.0, -3.0, 0.0)).length() < 1e-9);
}

#[test]
fn grids_and_chains_join_their_bodies() {
    let scene = load(
        "[[body]]\nname = \"hook\"\nkind = \"fixed\"\nshape.sphere = { radius = 0.1 }
         [[grid]]\ncounts = [3, 2, 2]\npitch = [1, -1, 1]\norigin = [0, 0, 0]\nfixed = [[0, 0, 0], [1, 0, 0]]
         body = { name = \"g\", shape.sphere = { radius = 0.4 } }\njoint = { kind = \"ball\", name = \"knot\" }
         [[chain]]\ncount = 4\npitch = 0.5\norigin = [9, 0, 0]\nfrom = \"hook\"\nto = \"world\"
         body = { name = \"link\", shape.sphere = { radius = 0.2 } }
         joint = [{ kind = \"hinge\", axis = [1, 0, 0] }, { kind = \"hinge\", axis = [0, 1, 0] }]\n",
    );
    // Columns 2·2·2, rows 3·2, layers 3·2, less the one between the two fixed bodies.
    let knots = scene
        .joints
        .iter()
        .filter(|j| j.0.starts_with("knot"))
        .count();
    assert_eq!((knots, scene.joints.len()), (8 + 6 + 6 - 1, 19 + 5));
    assert!(
        !scene
            .world
            .body(scene.body("g1").unwrap())
            .unwrap()
            .is_dynamic()
    );
    assert!(near(pose(&scene, "link3").position, [9.0, 0.0, -1.75]));
    let last = scene
        .world
        .joint(scene.joint("chain0_joint4").unwrap())
        .unwrap();
    assert!(last.desc.body_a.is_none() && near(last.desc.frame_a.position, [9.0, 0.0, -2.0]));
    let again = load_str(
        &explain(&scene),
        "explained",
        Format::Toml,
        &LoadOptions::default(),
    )
    .unwrap();
    assert!(again.world.bare_snapshot() == scene.world.bare_snapshot());
}

#[test]
fn ab_11_a_scene_may_have_a_chain_of_a_hundred_thousand_links() {
    let mut scene = load(
        r#"
[[articulation]]
name = "chain"
[[articulation.link]]
name = "top"
axis = [0, 1, 0]
mass = 1
shape.sphere = { radius = 0.1 }
[[articulation.link.link]]
name = "link"
axis = [1, 0, 0]
position = [0, 0, -0.3]
repeat = 99999
mass = 1
shape.sphere = { radius = 0.1 }
"#,
    );
    assert_eq!(scene.world.body_ids().count(), 100_000);
    if !cfg!(debug_assertions) {
        scene.world.step(1e-3).unwrap();
    }
}

#[test]
fn sr_20_a_profile_may_share_a_scene_with_what_it_cannot_meet() {
    let edges = "[{ to = [1, 0] }, { to = [0, 1] }, { to = [0, 0] }]";
    let profile =
        format!("profile = {{ thickness = 0.1, outline = {{ start = [0, 0], edges = {edges} }} }}");
    let plate = format!("shape.{profile}");
    let upright = "rotation_deg = { axis = [1, 0, 0], angle = 90 }";
    let post = "[[body]]\nname = \"post\"\nposition = [0, 0, 3]\nshape.box = { size = [1, 1, 1] }";
    // Both fixed; on one body; joined; kept apart by their groups; over a half-space that stands upright on it.
    let both = format!("{{ {profile} }}");
    load(&format!(
        "[[body]]\nname = \"plate\"\nkind = \"fixed\"\n{plate}\n{post}\nkind = \"fixed\"\n"
    ));
    load(&format!(
        "[[body]]\nname = \"plate\"\nshapes = [{both}, {{ box = {{ size = [1, 1, 1] }} }}]\n"
    ));
    let joint = "[[joint]]\nname = \"pin\"\nkind = \"hinge\"\nbodies = [\"plate\", \"post\"]\n\
        at = [0, 0, 3]\naxis = [0, 0, 1]\n";
    load(&format!(
        "[[body]]\nname = \"plate\"\n{plate}\n{post}\n{joint}"
    ));
    let groups = "collision = { groups = [2], mask = [2] }";
    load(&format!(
        "[[body]]\nname = \"plate\"\n{plate}\n{groups}\n{post}\n"
    ));
    let ground =
        "[[body]]\nname = \"ground\"\nkind = \"fixed\"\nshape.half_space = { normal = [0, 0, 1] }";
    load(&format!(
        "[[body]]\nname = \"plate\"\nposition = [0, 0, 1]\n{upright}\n{plate}\n{ground}\n"
    ));
}
