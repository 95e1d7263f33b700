//! Progress: a bar on standard error where that is a terminal, else silence.
//!
//! Reads: nothing.  Writes: stderr.
//! Called by: `run`, `render`, `compare`, `bench`, `validate`.
//! Source: logs and pipes have no use for bars.

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Letters of a bar.
const WIDTH: u64 = 30;
/// Shortest time between two drawings.
const REFRESH: Duration = Duration::from_millis(100);

/// A bar over so many things.
pub struct Bar {
    length: u64,
    things: String,
    shown: bool,
    start: Instant,
    drawn: Cell<Option<Instant>>,
    position: Cell<u64>,
    message: RefCell<String>,
}

/// A bar over `length` things.
pub fn bar(length: u64, things: &str) -> Bar {
    Bar {
        length,
        things: things.to_owned(),
        shown: std::io::stderr().is_terminal(),
        start: Instant::now(),
        drawn: Cell::new(None),
        position: Cell::new(0),
        message: RefCell::default(),
    }
}

impl Bar {
    /// The bar with a word behind it.
    pub fn with_message(self, message: impl Into<String>) -> Self {
        self.set_message(message);
        self
    }

    /// Changes the word behind the bar.
    pub fn set_message(&self, message: impl Into<String>) {
        *self.message.borrow_mut() = message.into();
        self.draw();
    }

    /// Says how many are done.
    pub fn set_position(&self, position: u64) {
        self.position.set(position);
        self.draw();
    }

    /// So many more are done.
    pub fn inc(&self, more: u64) {
        self.set_position(self.position.get() + more);
    }

    /// Takes the bar away.
    pub fn finish_and_clear(&self) {
        if self.drawn.take().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }

    fn draw(&self) {
        let early = self.drawn.get().is_some_and(|at| at.elapsed() < REFRESH);
        if !self.shown || early {
            return;
        }
        self.drawn.set(Some(Instant::now()));
        let line = self.line(self.start.elapsed().as_secs_f64());
        let mut err = std::io::stderr();
        let _ = write!(err, "\r\x1b[2K{line}");
        let _ = err.flush();
    }

    /// What it says after so many seconds.
    fn line(&self, elapsed: f64) -> String {
        if self.length == 0 {
            let message = self.message.borrow();
            return format!("{} {}  {message}", self.position.get(), self.things);
        }
        let (done, length) = (self.position.get().min(self.length), self.length.max(1));
        let full = (WIDTH * done / length) as usize;
        format!(
            "{}{} {:>3} %  {} of {} {}, {}  {}",
            "█".repeat(full),
            "░".repeat(WIDTH as usize - full),
            100 * done / length,
            self.position.get(),
            self.length,
            self.things,
            left(done as f64 / length as f64, elapsed),
            self.message.borrow()
        )
    }
}

/// How long it may take still. The first hundredth says nothing about the rest, and steps that slow down must not promise an end.
fn left(part: f64, elapsed: f64) -> String {
    if part < 0.01 {
        return "time left unknown".into();
    }
    remaining(elapsed * (1.0 - part) / part)
}

/// A time that is left, in words; never nothing.
fn remaining(seconds: f64) -> String {
    if seconds < 1.5 {
        return "about a second left".into();
    }
    let units = [("day", 86_400.0), ("hour", 3600.0), ("minute", 60.0)];
    let unit = units.iter().find(|(_, size)| seconds >= 1.5 * size);
    let (name, size) = *unit.unwrap_or(&("second", 1.0));
    format!("{} {name}s left", (seconds / size).round())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_goes_on_never_has_no_time_left() {
        assert_eq!(remaining(0.0), "about a second left");
        assert_eq!(remaining(0.4), "about a second left");
        assert_eq!(remaining(45.0), "45 seconds left");
        assert_eq!(remaining(120.0), "2 minutes left");
        assert_eq!(remaining(89.0), "89 seconds left");
        assert_eq!(remaining(3.0 * 3600.0), "3 hours left");
    }

    #[test]
    fn a_bar_says_how_much_is_done() {
        let bar = bar(200, "steps").with_message("pile");
        assert!(
            bar.line(0.0)
                .contains("0 of 200 steps, time left unknown  pile")
        );
        bar.inc(50);
        let line = bar.line(10.0);
        assert!(
            line.contains(" 25 %  50 of 200 steps, 30 seconds left"),
            "{line}"
        );
        assert_eq!(line.matches('█').count(), 7);
        bar.set_position(300);
        assert!(bar.line(10.0).contains("100 %"));
    }
}
