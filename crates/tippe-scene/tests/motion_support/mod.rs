//! Hashes of the motion of scenes, for the test and the command that compare them with a stored table.

use std::fmt;
use std::path::{Path, PathBuf};
use tippe::World;
use tippe_scene::{LoadOptions, load_file};

/// Methods that every scene is run with.
#[allow(dead_code, reason = "the command alone runs every method")]
pub const METHODS: [&str; 2] = ["sequential", "iterative"];
/// Steps of the stored table.
#[allow(dead_code, reason = "the command alone takes its default")]
pub const STEPS: u32 = 20;

/// One scene by one method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// File name without its ending.
    pub name: String,
    /// Name of the method.
    pub method: String,
    /// Steps asked for.
    pub asked: u32,
    /// Steps taken before the simulation stopped, or all.
    pub taken: u32,
    /// Hash of all poses and velocities.
    pub motion: String,
    /// Hash of the world.
    pub world: String,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            method,
            asked,
            taken,
            motion,
            world,
        } = self;
        write!(f, "{name} {method} {asked} {taken} {motion} {world}")
    }
}

/// Every scene of the net: the scenes of the repository, and those of the tests.
pub fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["../../scenes", "../../scenes/meshes", "tests/motion"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("the folder is there");
        files.extend(
            entries
                .map(|e| e.expect("readable").path())
                .filter(|p| p.extension().is_some_and(|e| e == "toml")),
        );
    }
    files.sort_by_key(|p| name(p));
    files
}

/// File name without its ending.
pub fn name(path: &Path) -> String {
    path.file_stem()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

/// Runs a scene and hashes what came of it. A scene that the method refuses has no steps and hashes of zero.
pub fn run(path: &Path, method: &str, steps: u32) -> Row {
    let options = LoadOptions {
        method: Some(method.to_owned()),
        ..LoadOptions::default()
    };
    let row = |taken, motion, world| Row {
        name: name(path),
        method: method.to_owned(),
        asked: steps,
        taken,
        motion: format!("{motion:016x}"),
        world: format!("{world:016x}"),
    };
    let Ok(mut scene) = load_file(path, &options) else {
        return row(0, 0, 0);
    };
    let taken = (0..steps)
        .take_while(|_| scene.world.step(scene.dt).is_ok())
        .count();
    row(taken as u32, motion_hash(&scene.world), scene.world.hash())
}

/// FNV-1a over the bits of all poses and velocities.
fn motion_hash(world: &World) -> u64 {
    let numbers = world.body_ids().flat_map(|id| {
        let s = world.body_state(id).expect("the body is there");
        let vectors = [s.position, s.velocity, s.angular_velocity].map(|v| v.to_array());
        vectors.into_iter().flatten().chain(s.rotation.to_array())
    });
    numbers
        .flat_map(f64::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |h: u64, byte| {
            (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
}

/// The stored table.
pub fn stored() -> Vec<Row> {
    let parse = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let mut next = || words.next().expect("six columns");
        Row {
            name: next(),
            method: next(),
            asked: next().parse().expect("a number"),
            taken: next().parse().expect("a number"),
            motion: next(),
            world: next(),
        }
    };
    include_str!("../data/motion.txt")
        .lines()
        .map(parse)
        .collect()
}
