//! TOML text to the spanned tree.
//!
//! Reads: the text of a source.  Writes: nothing.
//! Called by: `load`.
//! Source: toml 1.1 of the TOML project does the lexing; its parser recovers, so that all syntax errors come at once.

use crate::tree::{DEPTH_MAX, Entry, Node, Value};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The bytes at fault.
    pub span: Range<usize>,
    /// What is wrong.
    pub reason: String,
    /// What to write instead.
    pub help: String,
}

/// Most syntax errors that are reported: after one slip a parser may stumble on every line.
const ERRORS_MAX: usize = 20;

/// Parses a TOML text.
///
/// # Errors
/// Everything that is not TOML, or nesting deeper than [`DEPTH_MAX`].
pub fn parse(text: &str) -> Result<Node, Vec<SyntaxError>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(syntax_errors(text, &errors));
    }
    let span = table.span();
    convert_table(table.get_ref(), span, 1).map_err(|span| vec![too_deep(span)])
}

/// The error of nesting beyond the limit.
#[must_use]
pub fn too_deep(span: Range<usize>) -> SyntaxError {
    SyntaxError {
        span,
        reason: format!("nested deeper than {DEPTH_MAX} levels"),
        help: "a scene needs fewer than ten levels; look for brackets that are never closed".into(),
    }
}

fn syntax_errors(text: &str, errors: &[toml::de::Error]) -> Vec<SyntaxError> {
    // Past the depth limit every bracket is a follow-on error of the first.
    if let Some(deep) = errors.iter().find(|e| e.message().contains("recurs")) {
        return vec![too_deep(deep.span().unwrap_or_else(|| dottiest_line(text)))];
    }
    let place = |e: &toml::de::Error| e.span().unwrap_or(text.len()..text.len());
    let mut sorted: Vec<_> = errors.iter().map(|e| (place(e), e.message())).collect();
    sorted.sort_by_key(|(span, _)| span.start);
    let line = |span: &Range<usize>| {
        text.as_bytes()[..span.start.min(text.len())]
            .iter()
            .filter(|b| **b == b'\n')
            .count()
    };
    let mut list: Vec<SyntaxError> = Vec::new();
    for (span, message) in sorted.into_iter().take(ERRORS_MAX) {
        // The parser may stumble several times over one slip.
        if list
            .last()
            .is_some_and(|last| line(&last.span) == line(&span))
        {
            continue;
        }
        let reason = message.trim_end().replace('\n', "; ");
        let help = help_for(&reason).into();
        list.push(SyntaxError {
            span,
            reason: format!("not valid TOML: {reason}"),
            help,
        });
    }
    list
}

/// The line with most dots: the one whose field name nests too deep, for which the parser gives no place.
fn dottiest_line(text: &str) -> Range<usize> {
    let dots = |line: &str| line.bytes().filter(|b| *b == b'.').count();
    let line = text
        .lines()
        .max_by_key(|line| dots(line))
        .unwrap_or_default();
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    start..start + line.len()
}

fn help_for(reason: &str) -> &'static str {
    if reason.contains("duplicate key") {
        "a table has each field once; write [[name]] with double brackets to begin another element of a list"
    } else if reason.contains("string") || reason.contains("quot") {
        "text stands in double quotes on one line: name = \"block\""
    } else if reason.contains("unquoted") || reason.contains("value") {
        "values are numbers, \"text\", true or false, [lists] and { inline = tables }"
    } else {
        "fields are written `name = value`, sections [section], list elements [[element]]"
    }
}

fn convert_table(
    table: &DeTable<'_>,
    span: Range<usize>,
    depth: usize,
) -> Result<Node, Range<usize>> {
    if depth > DEPTH_MAX {
        return Err(span);
    }
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table.iter() {
        let node = convert(value.get_ref(), value.span(), depth + 1)?;
        entries.push(Entry {
            key: key.get_ref().to_string(),
            key_span: key.span(),
            node,
        });
    }
    Ok(Node {
        value: Value::Table(entries),
        span,
    })
}

fn convert(value: &DeValue<'_>, span: Range<usize>, depth: usize) -> Result<Node, Range<usize>> {
    if depth > DEPTH_MAX {
        return Err(span);
    }
    let value = match value {
        DeValue::String(s) => Value::Text(s.to_string()),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Integer(i) => match i64::from_str_radix(i.as_str(), i.radix()) {
            Ok(n) => Value::Number {
                value: n as f64,
                integer: Some(n),
            },
            Err(_) => Value::Number {
                value: i.as_str().parse().unwrap_or(f64::INFINITY),
                integer: None,
            },
        },
        DeValue::Float(x) => Value::Number {
            value: x.as_str().parse().unwrap_or(f64::NAN),
            integer: None,
        },
        DeValue::Array(items) => {
            let items: Result<Vec<_>, _> = items
                .iter()
                .map(|v| convert(v.get_ref(), v.span(), depth + 1))
                .collect();
            Value::List(items?)
        }
        DeValue::Table(table) => return convert_table(table, span, depth),
    };
    Ok(Node { value, span })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Path;

    #[test]
    fn values_keep_their_place() {
        let text = "a = 1\n[[b]]\nc.d = { e = [1.5, 2] }\n";
        let tree = parse(text).unwrap();
        let (span, found) = tree.locate(&Path::root().key("b").index(0).join("c.d.e").index(1));
        assert!(found);
        assert_eq!(&text[span], "2");
        let (span, found) = tree.locate(&Path::root().key("b").index(0).key("missing"));
        assert!(!found);
        assert_eq!(&text[span], "[[b]]");
    }

    #[test]
    fn several_slips_are_reported_together() {
        let errors = parse("a = = 1\nb = 2\nc = \"open\nd = 3\n").unwrap_err();
        assert!(errors.len() >= 2, "{errors:?}");
    }

    #[test]
    fn nesting_is_limited_without_overflow() {
        for text in [
            format!("a = {}", "[".repeat(100_000)),
            format!("a = {}1{}", "[".repeat(70), "]".repeat(70)),
            format!("a = {}", "{b=".repeat(100_000)),
            format!("{}x = 1", "a.".repeat(100_000)),
            format!("[{}x]", "a.".repeat(100_000)),
        ] {
            let errors = parse(&text).unwrap_err();
            assert!(
                errors[0].reason.contains("nested deeper"),
                "{}",
                errors[0].reason
            );
        }
        assert!(parse(&format!("a = {}1{}", "[".repeat(60), "]".repeat(60))).is_ok());
    }
}
