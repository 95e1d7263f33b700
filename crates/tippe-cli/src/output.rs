//! Words for the user: results on standard output, everything else on standard error, and no panic when nobody listens.
//!
//! Reads: nothing.  Writes: stdout, stderr.
//! Called by: every command.
//! Source: `println!` panics on a closed pipe (`tippe … | head`); these do not.

use std::borrow::Cow;
use std::io::{self, Write};

/// Prints to standard output.
///
/// # Errors
/// The reader went away, or the disk is full.
pub fn out(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(printable(text).as_bytes())?;
    stdout.flush()
}

/// Prints a line to standard error; if nobody can read it, nobody can be told.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(text.trim_end()));
}

/// The text with everything escaped that a terminal would obey or hide: names come from files of others.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Control characters but for the end of a line and a tab, and those that turn the direction of writing.
fn is_obeyed(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// Whether an error means only that the reader of our output went away.
pub fn reader_left(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_printed() {
        assert_eq!(printable("a\tb\nµ² ≤ 日本"), "a\tb\nµ² ≤ 日本");
        let evil = "x\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{8}\r";
        let shown = printable(evil);
        assert_eq!(
            shown,
            "x\\u{1b}]0;owned\\u{7}\\u{9b}31m\\u{202e}\\u{8}\\u{d}"
        );
    }
}
