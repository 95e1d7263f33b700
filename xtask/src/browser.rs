//! Chromium and its driver for the tests of the page: found, or installed where that is possible.
//!
//! Reads: the PATH.  Writes: packages of the system, as root and with apt only.
//! Called by: `steps`.
//! Source: none.

use std::process::{Command, Stdio};
use std::time::Duration;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const DRIVER: &str = "chromedriver";
/// Time between saying that packages will be installed and doing it.
const NOTICE: Duration = Duration::from_secs(10);

/// Makes sure that there is a browser to test with; the error says why there is none.
pub fn ensure() -> Result<(), String> {
    if there() {
        return Ok(());
    }
    if !is_root() || !has("apt-get") {
        return Err(format!(
            "no chromium and {DRIVER} on the PATH, and only root with apt can install them here (apt-get install chromium chromium-driver)"
        ));
    }
    println!(
        "\n== the tests of the page need Chromium: installing it with `apt-get install chromium chromium-driver` (some 500 MB) in {} s; \
         Ctrl-C stops this, `cargo xtask test --no-browser` goes on without it",
        NOTICE.as_secs()
    );
    std::thread::sleep(NOTICE);
    let apt = |arguments: &[&str]| {
        let status = Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(Stdio::null())
            .status();
        status.is_ok_and(|s| s.success())
    };
    // An update may fail for a source that does not matter here.
    apt(&["update", "-q"]);
    if apt(&[
        "install",
        "-y",
        "-q",
        "--no-install-recommends",
        "chromium",
        "chromium-driver",
    ]) && there()
    {
        Ok(())
    } else {
        Err("apt-get install chromium chromium-driver failed".into())
    }
}

fn there() -> bool {
    BROWSERS.iter().any(|b| has(b)) && has(DRIVER)
}

/// Whether a program is on the PATH.
pub fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|o| o.stdout.trim_ascii() == b"0")
}
