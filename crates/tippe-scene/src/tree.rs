//! The spanned tree: what a scene file says, before it means anything, with the place of every value.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `tree_toml` and `tree_json` (make it), `read` (types it), `diagnostics` (finds the place of a field).
//! Source: own; TOML and JSON map onto the same six kinds of value.

use std::fmt;
use std::ops::Range;

/// Deepest nesting of lists and tables a scene may have.
pub const DEPTH_MAX: usize = 64;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub value: Value,
    /// Bytes of the source it was written in.
    pub span: Range<usize>,
}

/// What a node can be.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Quoted text.
    Text(String),
    /// A number; `integer` holds it exactly if it was written as an integer that fits.
    Number {
        /// The nearest double.
        value: f64,
        /// The exact integer.
        integer: Option<i64>,
    },
    /// `true` or `false`.
    Bool(bool),
    /// JSON's `null`.
    Null,
    /// A TOML date or time: no field of a scene is one.
    Date,
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Vec<Entry>),
}

/// One field of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Name of the field.
    pub key: String,
    /// Where the name stands.
    pub key_span: Range<usize>,
    /// Its value.
    pub node: Node,
}

impl Value {
    /// The kind of value, for messages: `a number`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Number { .. } => "a number",
            Self::Bool(_) => "true or false",
            Self::Null => "null",
            Self::Date => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl Node {
    /// The field of that name, if this is a table that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|e| e.key == key),
            _ => None,
        }
    }

    /// Follows a path as far as it goes; returns the bytes to point at and whether the whole path exists.
    ///
    /// For a field it is the value; if the last step is missing, the table that should have it.
    #[must_use]
    pub fn locate(&self, path: &Path) -> (Range<usize>, bool) {
        let mut node = self;
        for step in &path.0 {
            let next = match (step, &node.value) {
                (Step::Key(key), _) => node.get(key).map(|e| &e.node),
                (Step::Index(i), Value::List(items)) => items.get(*i),
                // One table where a list of tables may stand counts as its only element.
                (Step::Index(0), Value::Table(_)) => Some(node),
                _ => None,
            };
            match next {
                Some(n) => node = n,
                None => return (node.span.clone(), false),
            }
        }
        (node.span.clone(), true)
    }

    /// The value at a path.
    #[must_use]
    pub fn find(&self, path: &Path) -> Option<&Self> {
        let mut node = self;
        for step in &path.0 {
            node = match (step, &node.value) {
                (Step::Key(key), _) => &node.get(key)?.node,
                (Step::Index(i), Value::List(items)) => items.get(*i)?,
                _ => return None,
            };
        }
        Some(node)
    }

    /// Whether the file says anything at this path.
    #[must_use]
    pub fn has(&self, path: &Path) -> bool {
        self.locate(path).1
    }
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into a field.
    Key(String),
    /// Into an element of a list.
    Index(usize),
}

/// Names a value of a scene, such as `body[3].shape.box.size[1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// The whole file.
    #[must_use]
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// One field further.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Key(key.to_owned()));
        Self(steps)
    }

    /// One element further.
    #[must_use]
    pub fn index(&self, i: usize) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Index(i));
        Self(steps)
    }

    /// Further along a written path such as `shape.box.size`, without quotes.
    #[must_use]
    pub fn join(&self, written: &str) -> Self {
        written
            .split('.')
            .fold(self.clone(), |path, key| path.key(key))
    }

    /// Whether this path names the same value as `other` or a part of it.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.len() >= other.0.len() && self.0[..other.0.len()] == other.0[..]
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(n) => write!(f, "[{n}]")?,
                Step::Key(key) => {
                    if i > 0 {
                        f.write_str(".")?;
                    }
                    if is_bare(key) {
                        f.write_str(key)?
                    } else {
                        write!(f, "{key:?}")?
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether a field name needs no quotes.
fn is_bare(key: &str) -> bool {
    !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_print_as_they_are_written() {
        let p = Path::root()
            .key("body")
            .index(3)
            .join("shape.box.size")
            .index(1);
        assert_eq!(p.to_string(), "body[3].shape.box.size[1]");
        assert_eq!(Path::root().key("a b").to_string(), "\"a b\"");
        assert!(p.is_within(&Path::root().key("body").index(3)));
        assert!(!p.is_within(&Path::root().key("body").index(2)));
    }
}
