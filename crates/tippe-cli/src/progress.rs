//! Progress: a bar on standard error where that is a terminal, else silence.
//!
//! Reads: nothing.  Writes: stderr.
//! Called by: `run`, `validate`.
//! Source: logs and pipes have no use for bars.

use std::io::IsTerminal;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// A bar over `length` things.
pub fn bar(length: u64, things: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let template =
        format!("{{bar:30}} {{percent:>3}} %  {{pos}} of {{len}} {things}, {{left}}  {{msg}}");
    match ProgressStyle::with_template(&template) {
        Ok(style) => bar.with_style(style.with_key("left", left)),
        Err(_) => bar,
    }
}

/// How long it may take still. The first hundredth says nothing about the rest, and steps that slow down must not promise an end.
fn left(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    let part = state.fraction();
    let text = if part < 0.01 || state.pos() == 0 {
        "time left unknown".to_owned()
    } else {
        let seconds = state.elapsed().as_secs_f32() * (1.0 - part) / part;
        remaining(seconds)
    };
    let _ = out.write_str(&text);
}

/// A time that is left, in words; never nothing.
fn remaining(seconds: f32) -> String {
    if seconds < 1.5 {
        return "about a second left".into();
    }
    let whole = std::time::Duration::from_secs(seconds.round() as u64);
    format!("{} left", HumanDuration(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_goes_on_never_has_no_time_left() {
        assert_eq!(remaining(0.0), "about a second left");
        assert_eq!(remaining(0.4), "about a second left");
        assert_eq!(remaining(90.0), "90 seconds left");
    }
}
