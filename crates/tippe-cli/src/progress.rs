//! Progress: a bar on standard error where that is a terminal, else silence.
//!
//! Reads: nothing.  Writes: stderr.
//! Called by: `run`, `validate`.
//! Source: logs and pipes have no use for bars.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over `length` things.
pub fn bar(length: u64, things: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let template =
        format!("{{bar:30}} {{percent:>3}} %  {{pos}} of {{len}} {things}, {{eta}} left  {{msg}}");
    match ProgressStyle::with_template(&template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
