//! Diagnostics: everything wrong with a scene, at once, each with its place, its field, the reason and what to write instead.
//!
//! Reads: sources and their trees.  Writes: nothing.
//! Called by: `load` (makes them), users (print or match them).
//! Source: the layout follows rustc's: place and message, the line, marks under it, help.

use crate::source::{Excerpt, Source};
use crate::tree::{Node, Path};
use std::fmt;
use std::ops::Range;

/// Most errors that are kept; a slip in a generated file may repeat ten thousand times.
pub const ERRORS_MAX: usize = 200;

/// One thing wrong with a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// File, as the user named it.
    pub file: String,
    /// Line, from 1; 0 if the message is about no place in the file.
    pub line: usize,
    /// Column in characters, from 1; 0 if the message is about no place in the file.
    pub column: usize,
    /// Path of the field, such as `body[3].shape.box.size[1]`; empty for the whole file.
    pub field: String,
    /// What is wrong.
    pub reason: String,
    /// What to write instead; may be empty.
    pub help: String,
    /// The line of the file, marked.
    pub excerpt: Option<Excerpt>,
}

impl Diagnostic {
    /// A message about no place in a file: the file cannot be read, an option makes no sense.
    #[must_use]
    pub fn without_place(
        file: &str,
        field: &str,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            file: file.into(),
            line: 0,
            column: 0,
            field: field.into(),
            reason: reason.into(),
            help: help.into(),
            excerpt: None,
        }
    }

    /// A message about some bytes of a source.
    #[must_use]
    pub fn at(
        source: &Source,
        span: &Range<usize>,
        field: &str,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let place = source.place(span.start);
        Self {
            line: place.line,
            column: place.column,
            excerpt: Some(source.excerpt(span)).filter(|e| !e.text.trim().is_empty()),
            ..Self::without_place(&source.name, field, reason, help)
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.reason)?;
        let margin = " ".repeat(
            self.excerpt
                .as_ref()
                .map_or(1, |e| e.line.to_string().len()),
        );
        if let Some(e) = &self.excerpt {
            let marked = format!("{margin} | {}", e.carets);
            write!(
                f,
                "\n{margin} |\n{} | {}\n{}",
                e.line,
                e.text,
                marked.trim_end()
            )?;
        }
        if !self.help.is_empty() {
            write!(f, "\n{margin} = help: {}", self.help)?;
        }
        Ok(())
    }
}

/// All errors of a scene, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// The errors, at most [`ERRORS_MAX`].
    pub errors: Vec<Diagnostic>,
    /// How many more there were.
    pub more: usize,
}

impl Diagnostics {
    /// Only this error.
    #[must_use]
    pub fn one(error: Diagnostic) -> Self {
        Self {
            errors: vec![error],
            more: 0,
        }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for error in &self.errors {
            write!(f, "{error}\n\n")?;
        }
        match self.errors.len() + self.more {
            1 => write!(f, "1 error"),
            n if self.more > 0 => write!(f, "{n} errors, the first {} shown", self.errors.len()),
            n => write!(f, "{n} errors"),
        }
    }
}

impl std::error::Error for Diagnostics {}

impl From<Diagnostics> for tippe::Error {
    /// The first error; the others are in the text of the diagnostics.
    fn from(all: Diagnostics) -> Self {
        let first = all.errors.into_iter().next();
        first.map_or_else(
            || Self::Scene {
                field: String::new(),
                reason: "the scene was refused".into(),
                place: String::new(),
            },
            |e| Self::Scene {
                place: if e.line > 0 {
                    format!("{}:{}:{}", e.file, e.line, e.column)
                } else {
                    e.file
                },
                field: e.field,
                reason: e.reason,
            },
        )
    }
}

/// A source and what it says.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) source: Source,
    pub(crate) tree: Node,
}

/// A value of one of the documents.
#[derive(Clone, Debug)]
pub(crate) struct At {
    pub(crate) document: usize,
    pub(crate) path: Path,
}

impl At {
    pub(crate) fn root(document: usize) -> Self {
        Self {
            document,
            path: Path::root(),
        }
    }

    pub(crate) fn key(&self, key: &str) -> Self {
        Self {
            document: self.document,
            path: self.path.key(key),
        }
    }

    pub(crate) fn index(&self, i: usize) -> Self {
        Self {
            document: self.document,
            path: self.path.index(i),
        }
    }

    pub(crate) fn join(&self, written: &str) -> Self {
        Self {
            document: self.document,
            path: self.path.join(written),
        }
    }
}

/// What has been found wrong so far, by field.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
    more: usize,
    /// Documents written in JSON; the others are TOML.
    json: Vec<usize>,
    /// Values that the caller gave in place of the file's, and what the caller wrote.
    overridden: Vec<(At, String)>,
    /// Errors of what the caller gave, which has no place in a file.
    outside: Vec<Diagnostic>,
}

#[derive(Debug)]
struct Problem {
    at: At,
    /// Point at these bytes rather than at the value.
    span: Option<Range<usize>>,
    reason: String,
    help: String,
}

impl Problems {
    /// Notes that a document is JSON, so that help is given in its syntax.
    pub(crate) fn note_json(&mut self, document: usize) {
        self.json.push(document);
    }

    pub(crate) fn is_json(&self, at: &At) -> bool {
        self.json.contains(&at.document)
    }

    /// Notes that a value is the caller's: what is wrong with it is not the file's fault.
    pub(crate) fn overridden(&mut self, at: At, written: &str) {
        self.overridden.push((at, written.to_owned()));
    }

    /// Something wrong with what the caller gave.
    pub(crate) fn outside(
        &mut self,
        written: &str,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) {
        let error = Diagnostic::without_place(written, "", reason, help);
        self.outside.push(error);
    }

    /// How a field is written in the file.
    pub(crate) fn field(&self, at: &At, key: &str) -> String {
        if self.is_json(at) {
            format!("`\"{key}\": …`")
        } else {
            format!("`{key} = …`")
        }
    }

    /// How a table with a field is written in the file.
    pub(crate) fn table(&self, at: &At, key: &str) -> String {
        if self.is_json(at) {
            format!("{{ \"{key}\": … }}")
        } else {
            format!("{{ {key} = … }}")
        }
    }

    /// Something wrong with a field. Follow-on errors of a field already found wrong are dropped.
    pub(crate) fn error(&mut self, at: &At, reason: impl Into<String>, help: impl Into<String>) {
        self.push(at, None, reason.into(), help.into());
    }

    /// Something wrong with a field, shown at other bytes than its value.
    pub(crate) fn error_at(
        &mut self,
        at: &At,
        span: Range<usize>,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(at, Some(span), reason.into(), help.into());
    }

    /// Whether further errors are only counted: then nothing needs to be found out for them.
    pub(crate) const fn is_full(&self) -> bool {
        self.errors.len() >= ERRORS_MAX
    }

    fn push(&mut self, at: &At, span: Option<Range<usize>>, reason: String, help: String) {
        if self.knows(at) {
            return;
        }
        if self.errors.len() >= ERRORS_MAX {
            self.more += 1;
            return;
        }
        self.errors.push(Problem {
            at: at.clone(),
            span,
            reason,
            help,
        });
    }

    /// Something that loads but is probably not meant.
    pub(crate) fn warning(&mut self, at: &At, reason: impl Into<String>, help: impl Into<String>) {
        if self.warnings.len() < ERRORS_MAX {
            self.warnings.push(Problem {
                at: at.clone(),
                span: None,
                reason: reason.into(),
                help: help.into(),
            });
        }
    }

    /// Whether this field, or what holds it, was already found wrong.
    pub(crate) fn knows(&self, at: &At) -> bool {
        self.errors
            .iter()
            .any(|p| p.at.document == at.document && at.path.is_within(&p.at.path))
    }

    /// Whether this field or a part of it was already found wrong.
    pub(crate) fn touches(&self, at: &At) -> bool {
        self.knows(at)
            || self
                .errors
                .iter()
                .any(|p| p.at.document == at.document && p.at.path.is_within(&at.path))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty() && self.outside.is_empty()
    }

    /// Errors and warnings with their places, in the order of the files.
    pub(crate) fn finish(self, documents: &[Document]) -> (Diagnostics, Vec<Diagnostic>) {
        let mut errors = self.outside;
        errors.extend(placed(self.errors, &self.overridden, documents));
        (
            Diagnostics {
                errors,
                more: self.more,
            },
            placed(self.warnings, &self.overridden, documents),
        )
    }
}

fn placed(
    problems: Vec<Problem>,
    overridden: &[(At, String)],
    documents: &[Document],
) -> Vec<Diagnostic> {
    let mut list: Vec<(usize, usize, Diagnostic)> = Vec::with_capacity(problems.len());
    for p in problems {
        let given =
            |(at, _): &&(At, String)| at.document == p.at.document && p.at.path.is_within(&at.path);
        if let Some((_, written)) = overridden.iter().rev().find(given) {
            let field = p.at.path.to_string();
            let diagnostic = Diagnostic::without_place(written, &field, p.reason, p.help);
            list.push((0, 0, diagnostic));
            continue;
        }
        let Document { source, tree } = &documents[p.at.document];
        let span = p.span.unwrap_or_else(|| tree.locate(&p.at.path).0);
        let diagnostic = Diagnostic::at(source, &span, &p.at.path.to_string(), p.reason, p.help);
        list.push((p.at.document, span.start, diagnostic));
    }
    // Stable: errors of one place keep the order in which they were found.
    list.sort_by_key(|(document, start, _)| (*document, *start));
    list.into_iter()
        .map(|(_, _, diagnostic)| diagnostic)
        .collect()
}
