//! Words for the user: results on standard output, everything else on standard error, and no panic when nobody listens.
//!
//! Reads: nothing.  Writes: stdout, stderr.
//! Called by: every command.
//! Source: `println!` panics on a closed pipe (`tippe … | head`); these do not.

use std::io::{self, Write};

/// Prints to standard output.
///
/// # Errors
/// The reader went away, or the disk is full.
pub fn out(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints a line to standard error; if nobody can read it, nobody can be told.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end());
}

/// Whether an error means only that the reader of our output went away.
pub fn reader_left(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
