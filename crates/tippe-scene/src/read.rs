//! Typed reading of the spanned tree: every field that is there is read, every error is kept, nothing stops at the first one.
//!
//! Reads: a tree.  Writes: `Problems`.
//! Called by: the types of `format`.
//! Source: own. serde's derive ends at the first error, and a scene with five slips should be mended in one go.

use crate::diagnostics::{At, Problems};
use crate::suggest::nearest;
use crate::tree::{Node, Value};
use std::ops::Range;

/// A type that a node can be read as. What cannot be read is reported and replaced by the default.
pub(crate) trait Read: Sized + Default {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self;
}

/// The fields of an opened table.
pub(crate) struct Fields<'a> {
    node: &'a Node,
    at: &'a At,
    /// Known fields that unknown ones were taken for.
    meant: Vec<String>,
}

impl<'a> Fields<'a> {
    /// Opens a table and reports every field that is not among `known`.
    pub(crate) fn open(
        node: &'a Node,
        at: &'a At,
        known: &[&str],
        problems: &mut Problems,
    ) -> Option<Self> {
        Self::open_as("field", node, at, known, problems)
    }

    /// Opens a table whose fields are called `what` in messages.
    pub(crate) fn open_as(
        what: &str,
        node: &'a Node,
        at: &'a At,
        known: &[&str],
        problems: &mut Problems,
    ) -> Option<Self> {
        let Value::Table(entries) = &node.value else {
            let help = match known.first() {
                Some(key) => format!("write a table, such as {}", problems.table(at, key)),
                None => "write a table".into(),
            };
            wrong_type(node, at, "a table", &help, problems);
            return None;
        };
        let mut taken = Vec::new();
        for entry in entries.iter().filter(|e| !known.contains(&e.key.as_str())) {
            let help = match nearest(&entry.key, known.iter().copied()) {
                Some(meant) => {
                    taken.push(meant.to_owned());
                    format!("did you mean `{meant}`?")
                }
                None => format!("known {what}s here: {}", known.join(", ")),
            };
            let span = entry.key_span.clone();
            problems.error_at(&at.key(&entry.key), span, format!("unknown {what}"), help);
        }
        Some(Self {
            node,
            at,
            meant: taken,
        })
    }

    /// Reads a field that must be there. One that is only mistyped was reported under the name that it has.
    pub(crate) fn required<T: Read>(&self, key: &str, problems: &mut Problems) -> T {
        match self.node.get(key) {
            Some(entry) => T::read(&entry.node, &self.at.key(key), problems),
            None if self.meant.iter().any(|m| m == key) => T::default(),
            None => {
                let help = format!("add {} here", problems.field(self.at, key));
                problems.error_at(&self.at.key(key), head(self.node), "missing", help);
                T::default()
            }
        }
    }

    /// Reads a field that may be left out.
    pub(crate) fn optional<T: Read>(&self, key: &str, problems: &mut Problems) -> Option<T> {
        self.node
            .get(key)
            .map(|entry| T::read(&entry.node, &self.at.key(key), problems))
    }

    /// Reads the word under `key` that says which of several kinds of table this is.
    pub(crate) fn tag(
        node: &Node,
        at: &At,
        key: &str,
        words: &[&str],
        problems: &mut Problems,
    ) -> Option<String> {
        let example = |problems: &Problems| format!("write {}", problems.table(at, key));
        match node.get(key) {
            _ if !matches!(node.value, Value::Table(_)) => {
                let help = example(problems);
                wrong_type(node, at, "a table", &help, problems);
            }
            None => problems.error_at(
                &at.key(key),
                head(node),
                "missing",
                format!("add `{key}`: {}", choices(words)),
            ),
            Some(entry) => match &entry.node.value {
                Value::Text(word) if words.contains(&word.as_str()) => return Some(word.clone()),
                Value::Text(word) => unknown_word(word, &at.key(key), words, problems),
                _ => {
                    let help = format!("write {}", choices(words));
                    wrong_type(&entry.node, &at.key(key), "text", &help, problems);
                }
            },
        }
        None
    }
}

/// The place to point at for something missing from a table: its opening, not all of its text.
fn head(node: &Node) -> Range<usize> {
    node.span.start..node.span.end.min(node.span.start + 1).max(node.span.start)
}

/// Reports a word that is not one of a list.
pub(crate) fn unknown_word(word: &str, at: &At, words: &[&str], problems: &mut Problems) {
    let help = match nearest(word, words.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!("write {}", choices(words)),
    };
    problems.error(at, format!("unknown word {word:?}"), help);
}

/// `"a", "b" or "c"`.
pub(crate) fn choices(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// Reports a value of the wrong kind.
pub(crate) fn wrong_type(node: &Node, at: &At, wanted: &str, help: &str, problems: &mut Problems) {
    let got = match &node.value {
        Value::Text(s) if s.chars().count() <= 30 => format!("text {s:?}"),
        Value::Number { value, .. } => format!("the number {value}"),
        Value::Bool(b) => b.to_string(),
        other => other.kind().to_owned(),
    };
    let help = if node.value == Value::Null {
        "leave the field out, or give it a value"
    } else {
        help
    };
    problems.error(at, format!("must be {wanted}, got {got}"), help);
}

impl Read for f64 {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        match &node.value {
            Value::Number { value, .. } if value.is_finite() => return *value,
            Value::Number { value, .. } => {
                problems.error(
                    at,
                    format!("must be a finite number, got {value}"),
                    "write a number between -1e300 and 1e300",
                );
            }
            Value::Text(s) if s.trim().parse::<Self>().is_ok() => {
                wrong_type(
                    node,
                    at,
                    "a number",
                    &format!("remove the quotes: {}", s.trim()),
                    problems,
                );
            }
            _ => wrong_type(
                node,
                at,
                "a number",
                "write a number, such as 0.5",
                problems,
            ),
        }
        0.0
    }
}

impl Read for u64 {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        match &node.value {
            Value::Number {
                integer: Some(n), ..
            } if *n >= 0 => return n.unsigned_abs(),
            Value::Number {
                integer: Some(n), ..
            } => {
                problems.error(
                    at,
                    format!("must not be negative, got {n}"),
                    "write a whole number, 0 or more",
                );
            }
            Value::Number { value, .. } if value.abs() > 9.0e18 => {
                problems.error(
                    at,
                    format!("too large: {value}"),
                    "whole numbers go up to 9223372036854775807",
                );
            }
            Value::Number { value, .. } => {
                problems.error(
                    at,
                    format!("must be a whole number, got {value:?}"),
                    "write all digits, without point and exponent",
                );
            }
            Value::Text(s) if s.trim().parse::<Self>().is_ok() => {
                let help = format!("remove the quotes: {}", s.trim());
                wrong_type(node, at, "a whole number", &help, problems);
            }
            _ => wrong_type(
                node,
                at,
                "a whole number",
                "write a whole number, such as 10",
                problems,
            ),
        }
        0
    }
}

impl Read for u32 {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        let n = u64::read(node, at, problems);
        Self::try_from(n).unwrap_or_else(|_| {
            problems.error(
                at,
                format!("too large: {n}"),
                format!("at most {}", Self::MAX),
            );
            0
        })
    }
}

impl Read for bool {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        if let Value::Bool(b) = node.value {
            return b;
        }
        wrong_type(
            node,
            at,
            "true or false",
            "write true or false, without quotes",
            problems,
        );
        false
    }
}

impl Read for String {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        if let Value::Text(s) = &node.value {
            return s.clone();
        }
        wrong_type(node, at, "text", "write it in double quotes", problems);
        Self::new()
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        if let Value::List(items) = &node.value {
            return items
                .iter()
                .enumerate()
                .map(|(i, item)| T::read(item, &at.index(i), problems))
                .collect();
        }
        let last = at.path.to_string();
        let name = last.rsplit('.').next().unwrap_or_default();
        let help = if matches!(node.value, Value::Table(_)) && !problems.is_json(at) {
            format!("begin it with double brackets, [[{name}]]: there can be several")
        } else {
            "write a list in brackets: [ … ]".into()
        };
        wrong_type(node, at, "a list", &help, problems);
        Self::new()
    }
}

impl<const N: usize> Read for [f64; N]
where
    Self: Default,
{
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        let example = match N {
            2 => "[-0.5, 0.5]",
            3 => "[0, 0, 1]",
            4 => "[1, 0, 0, 0], in the order w, x, y, z",
            _ => "[…]",
        };
        let help = format!("write {N} numbers: {example}");
        let mut out = Self::default();
        match &node.value {
            Value::List(items) if items.len() == N => {
                for (i, item) in items.iter().enumerate() {
                    out[i] = f64::read(item, &at.index(i), problems);
                }
            }
            Value::List(items) => problems.error(
                at,
                format!("must be {N} numbers, got {}", items.len()),
                help,
            ),
            _ => wrong_type(node, at, &format!("a list of {N} numbers"), &help, problems),
        }
        out
    }
}

impl Read for [u32; 3] {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        let mut out = Self::default();
        match &node.value {
            Value::List(items) if items.len() == 3 => {
                for (i, item) in items.iter().enumerate() {
                    out[i] = u32::read(item, &at.index(i), problems);
                }
            }
            _ => wrong_type(
                node,
                at,
                "a list of 3 whole numbers",
                "write three, such as [0, 1, 2]",
                problems,
            ),
        }
        out
    }
}

/// Declares a table of the format: its type, and how it is read.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $name:ident {
            required { $($(#[$r_meta:meta])* $r:ident: $r_type:ty,)* }
            optional { $($(#[$o_meta:meta])* $o:ident: $o_type:ty,)* }
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$r_meta])* pub $r: $r_type,)*
            $($(#[$o_meta])* #[serde(skip_serializing_if = "Option::is_none")] pub $o: Option<$o_type>,)*
        }

        impl $name {
            /// Every field this table may have.
            pub const FIELDS: &[&str] = &[$(stringify!($r),)* $(stringify!($o),)*];

            #[allow(dead_code, reason = "only tables with a tag are read from fields opened elsewhere")]
            pub(crate) fn from_fields(fields: &$crate::read::Fields<'_>, problems: &mut $crate::diagnostics::Problems) -> Self {
                Self {
                    $($r: fields.required(stringify!($r), problems),)*
                    $($o: fields.optional(stringify!($o), problems),)*
                }
            }
        }

        impl $crate::read::Read for $name {
            fn read(
                node: &$crate::tree::Node,
                at: &$crate::diagnostics::At,
                problems: &mut $crate::diagnostics::Problems,
            ) -> Self {
                match $crate::read::Fields::open(node, at, Self::FIELDS, problems) {
                    Some(fields) => Self::from_fields(&fields, problems),
                    None => Self::default(),
                }
            }
        }
    };
}

/// Declares a word of the format: one of a closed list.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$v_meta:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$v_meta])* #[serde(rename = $word)] $variant,)*
        }

        impl $crate::read::Read for $name {
            fn read(
                node: &$crate::tree::Node,
                at: &$crate::diagnostics::At,
                problems: &mut $crate::diagnostics::Problems,
            ) -> Self {
                const WORDS: &[&str] = &[$($word,)*];
                match &node.value {
                    $($crate::tree::Value::Text(s) if s == $word => return Self::$variant,)*
                    $crate::tree::Value::Text(s) => $crate::read::unknown_word(s, at, WORDS, problems),
                    _ => {
                        let help = format!("write {}", $crate::read::choices(WORDS));
                        $crate::read::wrong_type(node, at, "text", &help, problems);
                    }
                }
                Self::default()
            }
        }
    };
}

pub(crate) use {record, words};
