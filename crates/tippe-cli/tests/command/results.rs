//! The folder of a run under adverse conditions: full disks, older results, two runs at once, links, kills.
//!
//! Reads: the built binary.  Writes: scenes and results in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: docs/recording.md, "The folder".

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

use crate::common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use common::{DROP, code, folder, scene, stderr, stdout, tippe, wait_until};
use serde_json::Value;
use tippe_scene::recording::{Completeness, Recording};

fn read(out: &Path) -> Recording {
    Recording::read(&fs::read(out.join("recording.tippe")).unwrap()).unwrap()
}

fn run(path: &str, out: &Path, more: &[&str]) -> Output {
    let mut args = vec!["run", path, "--out", out.to_str().unwrap()];
    args.extend(more);
    tippe(&args)
}

/// A run with so many blocks of 1024 bytes for each file: writing more fails like a full disk.
fn run_with_blocks(path: &str, out: &Path, blocks: u32) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let binary = env!("CARGO_BIN_EXE_tippe");
    let out = out.to_str().unwrap();
    Command::new("bash")
        .args([
            "-c",
            &script,
            "bash",
            binary,
            "run",
            path,
            "--json",
            "--seconds",
            "2",
            "--out",
            out,
        ])
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn start(path: &str, out: &Path, more: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tippe"))
        .args([
            "run",
            path,
            "--seconds",
            "1e6",
            "--out",
            out.to_str().unwrap(),
        ])
        .args(more)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn grown(out: &Path) {
    let size = || fs::metadata(out.join("recording.tippe")).map_or(0, |m| m.len());
    wait_until("a recording that grows", || size() > 20_000);
}

#[test]
fn a_full_disk_keeps_the_summary_and_says_where_the_recording_stopped() {
    let dir = folder("full");
    let path = scene(&dir, DROP);
    for (k, blocks) in [4, 6, 9, 14, 20, 40].into_iter().enumerate() {
        let out = dir.join(format!("out{k}"));
        let output = run_with_blocks(&path, &out, blocks);
        let said = stderr(&output);
        if code(&output) == 2 {
            // Not even the first frame: refused before the run.
            assert!(
                said.contains("cannot write") && blocks < 9,
                "{blocks}: {said}"
            );
            continue;
        }
        assert_eq!(code(&output), 1, "{blocks}: {said}");
        let summary: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(summary["steps"].as_u64(), Some(120), "{blocks}");
        let stopped = "the recording stopped at ";
        assert!(said.contains(stopped), "{blocks}: {said}");
        assert!(summary["warnings"][0].as_str().unwrap().contains(stopped));
        // What is there opens, ends with a whole frame, at the time that was told.
        let recording = read(&out);
        assert!(
            !matches!(recording.completeness, Completeness::Finished(_)),
            "{blocks}"
        );
        let last = recording.frames.last().unwrap().time;
        let told = said
            .split(stopped)
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap();
        assert!(
            (told.parse::<f64>().unwrap() - last).abs() < 1e-3 * (1.0 + last),
            "{told} {last}"
        );
        // Files are there whole or not at all.
        for name in ["summary.json", "report.html"] {
            let text = fs::read_to_string(out.join(name)).unwrap_or_default();
            let whole = text.is_empty() || text.trim_end().ends_with(['}', '>']);
            assert!(
                whole && !out.join(format!("{name}.part")).exists(),
                "{name}"
            );
        }
    }
}

#[test]
fn older_results_are_refused_or_replaced_as_a_whole() {
    let dir = folder("older");
    let (path, out) = (scene(&dir, DROP), dir.join("out"));
    assert_eq!(code(&run(&path, &out, &[])), 0);
    let before = fs::read(out.join("recording.tippe")).unwrap();
    let again = run(&path, &out, &["--seconds", "0.1"]);
    assert_eq!((code(&again), again.stdout.len()), (2, 0));
    assert!(stderr(&again).contains("--force"), "{}", stderr(&again));
    assert_eq!(fs::read(out.join("recording.tippe")).unwrap(), before);
    // A scene that does not load takes nothing away, even with force.
    let bad = dir.join("bad.toml");
    fs::write(&bad, "version = 1\nbody = 3\n").unwrap();
    assert_eq!(code(&run(bad.to_str().unwrap(), &out, &["--force"])), 2);
    assert_eq!(fs::read(out.join("recording.tippe")).unwrap(), before);
    assert_eq!(code(&run(&path, &out, &["--force", "--seconds", "0.1"])), 0);
    assert_eq!(read(&out).frames.last().unwrap().step, 6);
    // A folder with other things in it is nobody else's results.
    let other = dir.join("other");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("notes.txt"), "mine").unwrap();
    assert_eq!(code(&run(&path, &other, &[])), 0);
}

#[test]
fn two_runs_in_one_folder_do_not_tear_each_other() {
    let dir = folder("two");
    let (path, out) = (scene(&dir, DROP), dir.join("out"));
    let mut first = start(&path, &out, &[]);
    grown(&out);
    for force in [&[][..], &["--force"]] {
        let second = run(&path, &out, force);
        assert_eq!(code(&second), 2);
        assert!(
            stderr(&second).contains("another run"),
            "{}",
            stderr(&second)
        );
    }
    // Killed hard: the lock ends with it, what it wrote opens, and no summary stands beside it.
    first.kill().unwrap();
    first.wait().unwrap();
    let recording = read(&out);
    assert!(recording.frames.len() > 1);
    assert!(!out.join("summary.json").exists() && !out.join("report.html").exists());
    assert_eq!(code(&run(&path, &out, &["--force"])), 0);
    // A run that is killed after it has begun to replace leaves no old summary.
    let mut third = start(&path, &out, &["--force"]);
    grown(&out);
    third.kill().unwrap();
    third.wait().unwrap();
    assert!(!out.join("summary.json").exists() && !out.join("report.html").exists());
    assert!(read(&out).frames.len() > 1);
}

#[test]
fn links_are_not_followed_out_of_the_folder() {
    let dir = folder("links");
    let (path, out) = (scene(&dir, DROP), dir.join("out"));
    fs::create_dir_all(&out).unwrap();
    let mine = dir.join("mine.txt");
    for name in [
        "recording.tippe",
        "summary.json",
        "report.html",
        "report.html.part",
    ] {
        fs::write(&mine, "mine").unwrap();
        symlink(&mine, out.join(name)).unwrap();
        if !name.ends_with(".part") {
            assert_eq!(code(&run(&path, &out, &[])), 2, "{name}");
        }
        assert_eq!(code(&run(&path, &out, &["--force"])), 0, "{name}");
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine", "{name}");
        assert!(!out.join(name).is_symlink(), "{name}");
        for file in fs::read_dir(&out).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
    }
}

/// A signal ends a step that would take long, and the summary comes all the same.
#[test]
fn a_signal_ends_a_long_step_at_once() {
    let dir = folder("signal");
    let text = "version = 1\n[method]\ndt = 0.02\nseconds = 100\n[[body]]\nname = \"floor\"\nkind = \"fixed\"\nshape.half_space = { normal = [0, 0, 1] }\n\
        [[grid]]\ncounts = [24, 24, 24]\npitch = [0.199, 0.199, 0.199]\norigin = [0, 0, 0.1]\n[grid.body]\nname = \"box\"\nshape.box = { size = [0.2, 0.2, 0.2] }\n";
    let (path, out) = (scene(&dir, text), dir.join("out"));
    let mut child = start(&path, &out, &[]);
    wait_until("a recording that begins", || {
        out.join("recording.tippe").exists()
    });
    std::thread::sleep(std::time::Duration::from_millis(300));
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let start = std::time::Instant::now();
    child.wait().unwrap();
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    assert!(out.join("summary.json").exists());
}
