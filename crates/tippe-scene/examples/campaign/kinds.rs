//! The campaigns: one execution of each, from a seed and a number.
//!
//! Reads: nothing.  Writes: files of meshes in a temporary folder.
//! Called by: the example `campaign`, the test of the same name.
//! Source: docs/reliability.md.

use super::calls;
use super::grammar;
use super::random::{ODD, Random};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use tippe::World;
use tippe_scene::recording::{Completeness, Recording, RecordingWriter};
use tippe_scene::{Format, LoadOptions, load_str};

/// All campaigns, by name.
pub const KINDS: [&str; 7] = [
    "scenes",
    "worlds",
    "snapshots",
    "recordings",
    "meshes",
    "joints",
    "articulations",
];
/// Snapshots and recordings that are mutated.
const BASES: u64 = 6;
/// Bytes of a snapshot before its fields; the last eight are their checksum.
const ENVELOPE: usize = 20;

/// What an execution is about, to be saved if it fails or hangs: its bytes and the ending of their file.
pub type Case = Arc<Mutex<(Vec<u8>, &'static str)>>;

/// Keeps what an execution is about.
pub fn keep(case: &Case, bytes: &[u8], ending: &'static str) {
    *case.lock().unwrap_or_else(|e| e.into_inner()) = (bytes.to_vec(), ending);
}

/// Carries out execution `i` of `seed`; the answer is what became of it.
///
/// # Errors
/// What came out that must not.
pub fn execute(kind: &str, seed: u64, i: u64, case: &Case) -> Result<&'static str, String> {
    let mut random = Random::of(seed, i);
    match kind {
        "scenes" => scene(&mut random, 2, case),
        "worlds" => scene(&mut random, 60, case),
        "snapshots" => snapshot(&mut random, case),
        "recordings" => recording(&mut random, case),
        "meshes" => mesh(&mut random, i, case),
        "joints" => calls::execute(&mut random, false, case),
        "articulations" => calls::execute(&mut random, true, case),
        _ => Err(format!("no campaign {kind:?}; there are {KINDS:?}")),
    }
}

/// A text from the grammar, loaded and stepped so many times.
fn scene(random: &mut Random, steps: u32, case: &Case) -> Result<&'static str, String> {
    let odd = random.one_in(4);
    let text = grammar::scene(random, odd);
    keep(case, text.as_bytes(), "toml");
    let Ok(mut scene) = load_str(&text, "campaign", Format::Toml, &LoadOptions::default()) else {
        return Ok("refused");
    };
    let mut outcome = "stepped";
    for _ in 0..steps {
        match scene.world.step(scene.dt) {
            Ok(report) if !report.is_finite() => return Err("a report that is not finite".into()),
            Ok(_) => finite(&scene.world)?,
            Err(_) => {
                outcome = "stopped with a reason";
                break;
            }
        }
    }
    let twin =
        World::restore(&scene.world.snapshot()).map_err(|e| format!("its own snapshot: {e}"))?;
    if twin.hash() != scene.world.hash() {
        return Err("its own snapshot gives another world".into());
    }
    Ok(outcome)
}

/// After a step that went well every number of the state is finite.
///
/// # Errors
/// Which is not.
pub fn finite(world: &World) -> Result<(), String> {
    let (kinetic, potential) = world.energy();
    if !(kinetic.is_finite() && potential.is_finite() && world.time().is_finite()) {
        return Err(format!(
            "energies {kinetic} and {potential} at {} s",
            world.time()
        ));
    }
    for id in world.body_ids() {
        let state = world.body_state(id).map_err(|e| e.to_string())?;
        if !state.is_finite() {
            return Err(format!("body {} is nowhere: {state:?}", id.index()));
        }
    }
    Ok(())
}

/// Worlds to mutate: scenes of the grammar that were stepped a little.
fn bases() -> &'static [(Vec<u8>, Vec<u8>)] {
    static BASE: OnceLock<Vec<(Vec<u8>, Vec<u8>)>> = OnceLock::new();
    BASE.get_or_init(|| {
        let mut found = Vec::new();
        for i in 0.. {
            let text = grammar::scene(&mut Random::of(1, i), false);
            let Ok(mut scene) = load_str(&text, "base", Format::Toml, &LoadOptions::default())
            else {
                continue;
            };
            let Ok(mut writer) = RecordingWriter::new(Vec::new(), &scene) else {
                continue;
            };
            for _ in 0..12 {
                if let Ok(report) = scene.world.step(scene.dt) {
                    let _ = writer.step(&scene.world, &report);
                }
            }
            if let Ok(recorded) = writer.finish(&scene.world, "") {
                found.push((scene.world.snapshot(), recorded));
            }
            if found.len() as u64 == BASES {
                break;
            }
        }
        found
    })
}

/// Changes some bytes: single ones, whole numbers, cuts, insertions, copies.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>, from: usize) {
    for _ in 0..=random.below(3) {
        let span = bytes.len().saturating_sub(from).max(1);
        let at = (from + random.below(span)).min(bytes.len().saturating_sub(1));
        match random.below(8) {
            0 => bytes[at] = random.next() as u8,
            1 | 2 => bytes[at] ^= 1 << random.below(8),
            3 | 4 => {
                let odd = random.pick(&ODD).to_le_bytes();
                let end = (at + 8).min(bytes.len());
                bytes[at..end].copy_from_slice(&odd[..end - at]);
            }
            5 => {
                let whole = [0_u64, 1, u64::MAX, 1 << 31, 1 << 40][random.below(5)].to_le_bytes();
                let end = (at + 8).min(bytes.len());
                bytes[at..end].copy_from_slice(&whole[..end - at]);
            }
            6 if random.one_in(4) => bytes.truncate(at),
            6 => bytes.insert(at, random.next() as u8),
            _ => {
                let end = (at + random.below(64)).min(bytes.len());
                let to = (from + random.below(span)).min(bytes.len() - (end - at));
                bytes.copy_within(at..end, to);
            }
        }
        if bytes.is_empty() {
            return;
        }
    }
}

/// A snapshot with changed bytes is refused; one that was forged so that its checksum fits may be a world, and then it steps.
fn snapshot(random: &mut Random, case: &Case) -> Result<&'static str, String> {
    let base = &random.pick(bases()).0;
    let mut bytes = base.clone();
    let forged = random.one_in(2);
    mutate(random, &mut bytes, if forged { ENVELOPE } else { 0 });
    if forged && bytes.len() > ENVELOPE {
        let sum = bytes[ENVELOPE..]
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
                (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3)
            });
        bytes[ENVELOPE - 8..ENVELOPE].copy_from_slice(&sum.to_le_bytes());
    }
    keep(case, &bytes, "snapshot");
    let mut world = match World::restore(&bytes) {
        Err(_) => return Ok(if forged { "forged, refused" } else { "refused" }),
        Ok(_) if !forged && bytes != *base => return Err("a changed snapshot was restored".into()),
        Ok(world) => world,
    };
    for _ in 0..2 {
        if world.step(0.01).is_err() {
            return Ok("forged, stopped with a reason");
        }
        finite(&world)?;
    }
    Ok("forged, stepped")
}

/// A recording with changed bytes opens or is refused, and never claims to be whole.
fn recording(random: &mut Random, case: &Case) -> Result<&'static str, String> {
    let base = &random.pick(bases()).1;
    let mut bytes = base.clone();
    mutate(random, &mut bytes, 0);
    keep(case, &bytes, "tippe");
    match Recording::read(&bytes) {
        Err(_) => Ok("refused"),
        Ok(r)
            if bytes != *base
                && bytes.len() == base.len()
                && matches!(r.completeness, Completeness::Finished(_)) =>
        {
            Err("a changed recording claims to be whole".into())
        }
        Ok(r) => Ok(match r.completeness {
            Completeness::Finished(_) => "whole",
            Completeness::Unfinished => "opened, without an end",
            Completeness::CutOff { .. } => "opened, cut off",
            Completeness::Damaged { .. } => "opened, damaged",
        }),
    }
}

/// A mesh file, mostly sensible, loaded as a hull or as a mesh, fixed or moving, with a ball and a block of triangles on it.
fn mesh(random: &mut Random, i: u64, case: &Case) -> Result<&'static str, String> {
    let (bytes, ending) = mesh_file(random);
    keep(case, &bytes, ending);
    let folder: PathBuf =
        std::env::temp_dir().join(format!("tippe-campaign-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let name = format!("{i}.{ending}");
    std::fs::write(folder.join(&name), &bytes).map_err(|e| e.to_string())?;
    let kind = *random.pick(&["hull", "mesh"]);
    let moves = *random.pick(&["fixed", "dynamic"]);
    let unit = *random.pick(&["m", "cm", "in"]);
    let height = random.range(-0.1, 0.4);
    let text = format!(
        "version = 1\n[[body]]\nname = \"m\"\nkind = \"{moves}\"\nshape.{kind} = {{ file = \"{name}\", unit = \"{unit}\" }}\n\
         [[body]]\nname = \"ball\"\nposition = [0, 0, 0.3]\nshape.sphere = {{ radius = 0.3 }}\n\
         [[body]]\nname = \"wedge\"\nposition = [0.1, 0.2, {height}]\nshape.mesh = {{ \
         vertices = [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]], \
         triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] }}\n\
         [[body]]\nname = \"ground\"\nkind = \"fixed\"\nposition = [0, 0, -0.3]\nshape.half_space = {{ normal = [0, 0, 1] }}\n"
    );
    let options = LoadOptions {
        folder: Some(folder.clone()),
        ..LoadOptions::default()
    };
    let loaded = load_str(&text, "campaign", Format::Toml, &options);
    let _ = std::fs::remove_file(folder.join(&name));
    let Ok(mut scene) = loaded else {
        return Ok("refused");
    };
    for _ in 0..3 {
        if scene.world.step(0.01).is_err() {
            return Ok("stopped with a reason");
        }
        finite(&scene.world)?;
    }
    Ok("stepped")
}

/// A bumpy grid of triangles in one of the formats that are read, sometimes damaged.
fn mesh_file(random: &mut Random) -> (Vec<u8>, &'static str) {
    let n = 2 + random.below(6);
    let mut points = Vec::new();
    for k in 0..n * n {
        let z = if random.one_in(60) {
            *random.pick(&ODD)
        } else {
            random.range(-0.1, 0.1)
        };
        points.push([0.3 * (k % n) as f64 - 0.6, 0.3 * (k / n) as f64 - 0.6, z]);
    }
    let quads = (0..(n - 1) * (n - 1)).map(|k| (k / (n - 1)) * n + k % (n - 1));
    let triangles: Vec<[usize; 3]> = quads
        .flat_map(|p| [[p, p + 1, p + n], [p + 1, p + n + 1, p + n]])
        .collect();
    let (mut bytes, ending) = match random.below(5) {
        0 => (as_obj(&points, &triangles), "obj"),
        1 => (as_stl(&points, &triangles), "stl"),
        2 => (as_ply(&points, &triangles, false), "ply"),
        3 => (as_ply(&points, &triangles, true), "ply"),
        _ => (as_glb(&points, &triangles), "glb"),
    };
    if random.one_in(3) {
        mutate(random, &mut bytes, 0);
    }
    (bytes, ending)
}

fn as_obj(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> Vec<u8> {
    let points = points.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    let faces = triangles
        .iter()
        .map(|[a, b, c]| format!("f {} {} {}\n", a + 1, b + 1, c + 1));
    points.chain(faces).collect::<String>().into_bytes()
}

fn as_stl(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> Vec<u8> {
    let mut out = vec![0; 80];
    out.extend((triangles.len() as u32).to_le_bytes());
    for t in triangles {
        out.extend([0; 12]);
        for &corner in t {
            let point = points[corner];
            point
                .iter()
                .for_each(|x| out.extend((*x as f32).to_le_bytes()));
        }
        out.extend([0; 2]);
    }
    out
}

fn as_ply(points: &[[f64; 3]], triangles: &[[usize; 3]], binary: bool) -> Vec<u8> {
    let format = if binary {
        "binary_little_endian"
    } else {
        "ascii"
    };
    let mut out = format!(
        "ply\nformat {format} 1.0\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        points.len(),
        triangles.len()
    )
    .into_bytes();
    if !binary {
        let points = points.iter().map(|[x, y, z]| format!("{x} {y} {z}\n"));
        let faces = triangles.iter().map(|[a, b, c]| format!("3 {a} {b} {c}\n"));
        out.extend(points.chain(faces).collect::<String>().into_bytes());
        return out;
    }
    points
        .iter()
        .flatten()
        .for_each(|x| out.extend(x.to_le_bytes()));
    for t in triangles {
        out.push(3);
        t.iter().for_each(|v| out.extend((*v as i32).to_le_bytes()));
    }
    out
}

fn as_glb(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> Vec<u8> {
    let mut data = Vec::new();
    points
        .iter()
        .flatten()
        .for_each(|x| data.extend((*x as f32).to_le_bytes()));
    let start = data.len();
    triangles
        .iter()
        .flatten()
        .for_each(|v| data.extend((*v as u32).to_le_bytes()));
    let (length, count, corners) = (data.len(), points.len(), 3 * triangles.len());
    let mut json = format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{{\"mesh\":0}}],\"meshes\":[{{\"primitives\":[{{\"attributes\":{{\"POSITION\":0}},\"indices\":1}}]}}],\
         \"accessors\":[{{\"bufferView\":0,\"componentType\":5126,\"count\":{count},\"type\":\"VEC3\"}},\
         {{\"bufferView\":1,\"componentType\":5125,\"count\":{corners},\"type\":\"SCALAR\"}}],\
         \"bufferViews\":[{{\"buffer\":0}},{{\"buffer\":0,\"byteOffset\":{start}}}],\"buffers\":[{{\"byteLength\":{length}}}]}}"
    )
    .into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut out = b"glTF".to_vec();
    out.extend(2_u32.to_le_bytes());
    out.extend(((28 + json.len() + length) as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &data)] {
        out.extend((chunk.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(chunk);
    }
    out
}
