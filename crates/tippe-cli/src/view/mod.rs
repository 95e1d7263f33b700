//! `tippe view`: the page in the browser: a gallery, a live run, or a recording.
//!
//! Reads: a scene, a recording or nothing.  Writes: the address of the page on standard output; serves until it is stopped.
//! Called by: `main`.
//! Source: loopback only; the address holds a random token, so that no other page and no other user can guess it.

mod ask;
mod drag;
mod files;
mod gallery;
mod guard;
mod live;
mod message;
mod server;
mod socket;

pub use files::bundle;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use tippe_scene::{Format, LoadOptions};

use crate::Outcome;
use crate::load;
use crate::output::{note, out};
use server::{Hub, Start};

/// Largest recording that is served [bytes].
const RECORDING_MAX: u64 = 2 << 30;

/// Flags of `tippe view`.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Scene file to run live, or recording to replay; the gallery of scenes if not given.
    pub what: Option<PathBuf>,
    /// Port to listen on; a free one if not given.
    #[arg(long, value_name = "P", default_value_t = 0)]
    pub port: u16,
    /// Token of the address, instead of a random one: pages that are open find a restarted server again. Keep it secret.
    #[arg(long, value_name = "HEX", value_parser = parse_token)]
    pub token: Option<String>,
    /// Open the page in the default browser.
    #[arg(long)]
    pub open: bool,
    /// Put a value into the scene by path, in place of the file's: body.block.mass=2, parameters.radius=0.1, method.name=iterative.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Let the scene include files outside its own folder.
    #[arg(long)]
    pub allow_outside: bool,
}

/// A token: long enough not to be guessed, letters that need no escaping.
fn parse_token(text: &str) -> Result<String, String> {
    if text.len() >= 16 && text.len() <= 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        Ok(text.to_owned())
    } else {
        Err("must be 16 to 64 hexadecimal digits".into())
    }
}

/// Serves the page until the process is stopped.
///
/// # Errors
/// The port is taken, or the system has no random numbers.
pub fn view(args: &ViewArgs) -> Result<Outcome> {
    let start = match &args.what {
        None => Start::Gallery,
        Some(path) => match what(path, args)? {
            Some(start) => start,
            None => return Ok(Outcome::BadInput),
        },
    };
    let token = match &args.token {
        Some(token) => token.clone(),
        None => random_token()?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the server")?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", args.port))
            .await
            .with_context(|| format!("cannot listen on port {} of this machine", args.port))?;
        let port = listener.local_addr()?.port();
        let address = format!("http://127.0.0.1:{port}/{token}/");
        out(&format!("{address}\n"))?;
        note("open this address in a browser on this machine; Ctrl-C ends the server");
        if args.open {
            open_browser(&address);
        }
        server::serve(listener, Hub::new(token, port, start)).await
    })?;
    Ok(Outcome::Done)
}

/// A scene or a recording, by its first bytes; `None` if it was refused, and the user has been told why.
fn what(path: &Path, args: &ViewArgs) -> Result<Option<Start>> {
    if is_recording(path) {
        let size = fs::metadata(path).map(|m| m.len()).unwrap_or_default();
        if size > RECORDING_MAX {
            note(&format!(
                "error: {} is {} MB; the page reads up to {} MB",
                path.display(),
                size >> 20,
                RECORDING_MAX >> 20
            ));
            return Ok(None);
        }
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        return Ok(Some(Start::Recording(bytes.into())));
    }
    let options = LoadOptions {
        allow_outside: args.allow_outside,
        set: args.set.clone(),
        ..LoadOptions::default()
    };
    let Some(scene) = load::load(path, &options) else {
        return Ok(None);
    };
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    Ok(Some(Start::Scene {
        file: path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        text: scene.source,
        format: Format::of(path),
        options: LoadOptions {
            folder: Some(folder.to_owned()),
            ..options
        },
    }))
}

fn is_recording(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 8];
    fs::File::open(path)
        .and_then(|mut f| f.read_exact(&mut magic))
        .is_ok()
        && magic == tippe_scene::recording::MAGIC
}

fn random_token() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|e| anyhow::anyhow!("the system gives no random numbers: {e}"))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// Asks the desktop to open the page; a machine without one is no error.
fn open_browser(address: &str) {
    let command = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    if let Err(e) = std::process::Command::new(command).arg(address).spawn() {
        note(&format!("note: cannot open a browser ({command}: {e})"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_plain_and_never_the_same() {
        let (a, b) = (random_token().unwrap(), random_token().unwrap());
        assert!(parse_token(&a).is_ok() && a.len() == 32);
        assert_ne!(a, b);
        for bad in ["", "abc", "../../../../etc/passwd", "zzzzzzzzzzzzzzzzzzzz"] {
            assert!(parse_token(bad).is_err(), "{bad}");
        }
    }
}
