//! Source: one text file, with lines and columns for messages.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `load` (makes them), `diagnostics` (places and excerpts).
//! Source: elementary. Lines and columns count from 1, columns in characters.

use std::ops::Range;

/// Widest excerpt of a source line in a message [characters]; a minified JSON file is one long line.
const EXCERPT_WIDTH: usize = 100;

/// A file as it was read.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name for messages, as the user wrote it.
    pub name: String,
    /// The text.
    pub text: String,
    /// Byte offset at which each line begins.
    line_starts: Vec<usize>,
}

/// A place in a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Source {
    /// Indexes the lines of a text.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(i, _)| i + 1))
            .collect();
        Self {
            name: name.into(),
            text,
            line_starts,
        }
    }

    /// Line and column of a byte offset; past the end means the end.
    #[must_use]
    pub fn place(&self, offset: usize) -> Place {
        let offset = self.boundary(offset);
        let line = self
            .line_starts
            .partition_point(|&start| start <= offset)
            .max(1);
        let start = self.line_starts[line - 1];
        Place {
            line,
            column: self.text[start..offset].chars().count() + 1,
        }
    }

    /// The line around a span with a caret line under it, cut to a readable width.
    #[must_use]
    pub fn excerpt(&self, span: &Range<usize>) -> Excerpt {
        let place = self.place(span.start);
        let start = self.line_starts[place.line - 1];
        let end = self
            .line_starts
            .get(place.line)
            .map_or(self.text.len(), |&next| next - 1);
        let line = self.text[start..end].trim_end_matches('\r');
        // Show a window of the line that has the span in it; tabs and other controls count as one blank.
        let first = if place.column > EXCERPT_WIDTH {
            place.column - EXCERPT_WIDTH / 2
        } else {
            1
        };
        let shown = line.chars().skip(first - 1).take(EXCERPT_WIDTH);
        let shown: String = shown
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let span_end = self.boundary(span.end).clamp(start, start + line.len());
        let width = self
            .text
            .get(self.boundary(span.start)..span_end)
            .map_or(0, |s| s.chars().count());
        let blank = place.column - first;
        let carets = width.clamp(1, EXCERPT_WIDTH.saturating_sub(blank).max(1));
        Excerpt {
            line: place.line,
            text: shown,
            carets: " ".repeat(blank) + &"^".repeat(carets),
        }
    }

    /// The nearest character boundary at or before an offset.
    fn boundary(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

/// A line of the source and the marks under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Line number, from 1.
    pub line: usize,
    /// The line, or the part of it around the span.
    pub text: String,
    /// Blanks and carets that mark the span.
    pub carets: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let s = Source::new("a", "eins\nzwölf x\n");
        assert_eq!(s.place(0), Place { line: 1, column: 1 });
        assert_eq!(s.place(5), Place { line: 2, column: 1 });
        let x = s.text.find('x').unwrap();
        assert_eq!(s.place(x), Place { line: 2, column: 7 });
        assert_eq!(s.place(9999), Place { line: 3, column: 1 });
        // The middle of the two bytes of ö belongs to ö.
        assert_eq!(s.place(8), Place { line: 2, column: 3 });
    }

    #[test]
    fn excerpts_stay_short_on_long_lines() {
        let s = Source::new("a", format!("{}bad{}", "x".repeat(5000), "y".repeat(5000)));
        let e = s.excerpt(&(5000..5003));
        assert_eq!(e.text.chars().count(), EXCERPT_WIDTH);
        let at = e.carets.find('^').unwrap();
        assert_eq!(&e.text[at..at + 3], "bad");
        assert_eq!(Source::new("b", "").excerpt(&(0..0)).carets, "^");
    }
}
