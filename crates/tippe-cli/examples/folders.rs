//! Results under fire: runs killed at random moments, full disks, two runs in one folder. Nothing may be lost but the last frame.
//!
//! Reads: the command beside this program.  Writes: results in a temporary folder; one line of counts.
//! Called by: `cargo build --release -p tippe-cli && cargo run --release -p tippe-cli --example folders -- KIND [COUNT [SEED]]`.
//! Source: docs/reliability.md. Each kind has a short form among the tests (`tests/command/results.rs`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tippe_scene::recording::{Completeness, Recording};

/// Balls that bounce on a floor: a frame every 2 ms of it, and a frame is small.
const SCENE: &str = r#"
version = 1
name = "bounces"
[method]
dt = 0.002
seconds = 4.0
[record]
rate = 500
[[material]]
name = "default"
restitution = 0.7
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[grid]]
counts = [3, 2, 2]
pitch = [0.5, 0.5, 0.5]
origin = [0, 0, 1]
[grid.body]
name = "ball"
shape.sphere = { radius = 0.1 }
"#;
/// Longest life of a run that is killed, longer than it takes to begin [ms].
const LIFE: u64 = 400;

/// The same numbers for the same seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// The command, a folder to work in, and a scene there.
struct Place {
    tippe: PathBuf,
    folder: PathBuf,
    scene: PathBuf,
}

impl Place {
    fn new() -> Result<Self> {
        let own = std::env::current_exe()?;
        let tippe = own
            .parent()
            .and_then(Path::parent)
            .context("no folder above")?
            .join("tippe");
        ensure!(tippe.is_file(), "{}: build it first", tippe.display());
        let folder = std::env::temp_dir().join(format!("tippe-folders-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let scene = folder.join("scene.toml");
        fs::write(&scene, SCENE)?;
        Ok(Self {
            tippe,
            folder,
            scene,
        })
    }

    fn command(&self, out: &Path, more: &[&str]) -> Command {
        let mut command = Command::new(&self.tippe);
        command
            .arg("run")
            .arg(&self.scene)
            .arg("--out")
            .arg(out)
            .args(more);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn start(&self, out: &Path, more: &[&str]) -> Result<Child> {
        Ok(self
            .command(out, more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?)
    }
}

fn recording(out: &Path) -> Result<Recording> {
    let bytes = fs::read(out.join("recording.tippe"))?;
    Recording::read(&bytes).map_err(|e| anyhow::anyhow!("the recording does not open: {e}"))
}

/// Frames that are there are those of an undisturbed run, without a gap.
fn is_prefix(found: &Recording, whole: &Recording) -> Result<()> {
    ensure!(
        found.frames.len() <= whole.frames.len(),
        "more frames than there are"
    );
    let same = found.frames.iter().zip(&whole.frames).all(|(a, b)| a == b);
    ensure!(same, "frames differ from those of an undisturbed run");
    Ok(())
}

/// A run ends hard at some moment, with older results in the folder or not.
fn kill(place: &Place, whole: &Recording, random: &mut Random) -> Result<&'static str> {
    let out = place.folder.join("killed");
    let _ = fs::remove_dir_all(&out);
    let older = random.below(2) == 0;
    if older {
        let output = place.command(&out, &["--seconds", "0.1"]).output()?;
        ensure!(output.status.success(), "the older run");
    }
    let more: &[&str] = if older { &["--force"] } else { &[] };
    let mut child = place.start(&out, more)?;
    std::thread::sleep(Duration::from_micros(random.below(1000 * LIFE)));
    let before = fs::read(out.join("recording.tippe")).unwrap_or_default();
    let running = child.try_wait()?.is_none();
    child.kill()?;
    child.wait()?;
    let after = fs::read(out.join("recording.tippe")).unwrap_or_default();
    if after.is_empty() {
        ensure!(
            !out.join("summary.json").exists(),
            "a summary without a recording"
        );
        return Ok("before the recording began");
    }
    let found = recording(&out)?;
    if older && found.frames.len() == 51 && matches!(found.completeness, Completeness::Finished(_))
    {
        is_prefix(&found, whole)?;
        return Ok("older results untouched");
    }
    is_prefix(&found, whole)?;
    let finished = matches!(found.completeness, Completeness::Finished(_));
    if finished || !running {
        return Ok("after the recording was whole");
    }
    ensure!(
        !out.join("summary.json").exists(),
        "an older summary beside a new recording"
    );
    // What had reached the file before the kill is there, unless the new file took the place of an older one.
    if after.len() >= before.len() && after.starts_with(&before[..before.len().min(64)]) {
        ensure!(after.starts_with(&before), "bytes that were there are gone");
    }
    Ok("while recording")
}

/// A disk with so many blocks of 1024 bytes for a file.
fn disk(place: &Place, whole: &Recording, blocks: u64) -> Result<&'static str> {
    let out = place.folder.join("full");
    let _ = fs::remove_dir_all(&out);
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let output: Output = Command::new("bash")
        .args(["-c", &script, "bash"])
        .arg(&place.tippe)
        .args(["run", "--json", "--out"])
        .arg(&out)
        .arg(&place.scene)
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(2) => {
            ensure!(said.contains("cannot write"), "refused with: {said}");
            return Ok("refused before the run");
        }
        Some(0) => {
            let found = recording(&out)?;
            ensure!(
                matches!(found.completeness, Completeness::Finished(_)),
                "said to be whole"
            );
            return Ok("enough room");
        }
        Some(1) => {}
        other => bail!("ended with {other:?}: {said}"),
    }
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    ensure!(
        summary["steps"].as_u64() == Some(2000),
        "the summary is not that of the run"
    );
    let stopped = said.split("the recording stopped at ").nth(1);
    let Some(told) = stopped.and_then(|s| s.split(' ').next()) else {
        // The recording had room; the summary or the page did not.
        ensure!(said.contains("cannot write"), "nothing is said: {said}");
        is_prefix(&recording(&out)?, whole)?;
        return Ok("recording whole, another file not");
    };
    let found = recording(&out)?;
    is_prefix(&found, whole)?;
    let last = found.frames.last().map_or(0.0, |f| f.time);
    let told: f64 = told.parse()?;
    ensure!(
        (told - last).abs() <= 1e-3 * (1.0 + last),
        "told {told}, there is {last}"
    );
    Ok("stopped at the time told")
}

/// Two runs begin in one folder at nearly the same time.
fn pair(place: &Place, whole: &Recording, random: &mut Random) -> Result<&'static str> {
    let out = place.folder.join("pair");
    let _ = fs::remove_dir_all(&out);
    let mut force = || -> &[&str] {
        if random.below(2) == 0 {
            &["--force"]
        } else {
            &[]
        }
    };
    let more = [force(), force()];
    let first = place.command(&out, more[0]).spawn()?;
    std::thread::sleep(Duration::from_micros(random.below(30_000)));
    let second = place.command(&out, more[1]).spawn()?;
    let outputs = [first.wait_with_output()?, second.wait_with_output()?];
    let good = outputs.iter().filter(|o| o.status.success()).count();
    for output in outputs.iter().filter(|o| !o.status.success()) {
        let said = String::from_utf8_lossy(&output.stderr);
        let told = said.contains("another run") || said.contains("--force");
        ensure!(
            output.status.code() == Some(2) && told,
            "refused with {:?}: {said}",
            output.status
        );
    }
    ensure!(good >= 1, "both were refused");
    let found = recording(&out)?;
    ensure!(
        matches!(found.completeness, Completeness::Finished(_)),
        "torn"
    );
    is_prefix(&found, whole)?;
    ensure!(
        found.frames.len() == whole.frames.len(),
        "frames are missing"
    );
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(out.join("summary.json"))?)?;
    ensure!(
        summary["steps"].as_u64() == Some(2000),
        "the summary is torn"
    );
    Ok(if good == 1 {
        "one refused"
    } else {
        "one after the other"
    })
}

fn campaign(kind: &str, count: u64, seed: u64) -> Result<ExitCode> {
    let place = Place::new()?;
    let out = place.folder.join("whole");
    let output = place.command(&out, &[]).output()?;
    ensure!(
        output.status.success(),
        "an undisturbed run ends with {:?}",
        output.status
    );
    let whole = recording(&out)?;
    let size = fs::metadata(out.join("recording.tippe"))?.len() / 1024;
    let mut tally = std::collections::BTreeMap::<&str, u64>::new();
    let mut failures = 0;
    for i in 0..count {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ i);
        let outcome = match kind {
            "kills" => kill(&place, &whole, &mut random),
            // From almost nothing to a little more than enough.
            "disks" => disk(&place, &whole, 1 + i * (size + 20) / count),
            "pairs" => pair(&place, &whole, &mut random),
            _ => bail!("KIND is one of kills, disks, pairs"),
        };
        match outcome {
            Ok(what) => *tally.entry(what).or_default() += 1,
            Err(e) => {
                failures += 1;
                eprintln!("{kind} {i} of seed {seed}: {e:#}");
            }
        }
    }
    let _ = fs::remove_dir_all(&place.folder);
    println!("{kind}: {count} of seed {seed}: {tally:?}, {failures} failures");
    Ok(ExitCode::from(u8::from(failures > 0)))
}

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, otherwise: u64| words.get(k).map_or(Ok(otherwise), |w| w.parse());
    let kind = words
        .first()
        .context("usage: folders kills|disks|pairs [COUNT [SEED]]")?;
    campaign(kind, number(1, 50)?, number(2, 1)?)
}
