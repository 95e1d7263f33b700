//! JSON text to the spanned tree.
//!
//! Reads: the text of a source.  Writes: nothing.
//! Called by: `load`.
//! Source: RFC 8259, by recursive descent with a depth limit; the first syntax error ends it. Repeated fields are refused.

use crate::tree::{DEPTH_MAX, Entry, Node, Value};
use crate::tree_toml::{SyntaxError, too_deep};
use std::collections::BTreeSet;
use std::ops::Range;

/// Parses a JSON text.
///
/// # Errors
/// The first thing that is not JSON, or nesting deeper than [`DEPTH_MAX`].
pub fn parse(text: &str) -> Result<Node, Vec<SyntaxError>> {
    let mut parser = Parser { text, at: 0 };
    let result = parser.value(1).and_then(|node| {
        parser.blanks();
        if parser.at < text.len() {
            return Err(parser.error(
                "more text after the end of the scene",
                "a scene is one JSON object",
            ));
        }
        Ok(node)
    });
    result.map_err(|e| vec![e])
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

type Parsed<T> = Result<T, SyntaxError>;

impl Parser<'_> {
    fn error(&self, reason: &str, help: &str) -> SyntaxError {
        let end = self
            .rest()
            .chars()
            .next()
            .map_or(self.at, |c| self.at + c.len_utf8());
        error_at(self.at..end, reason, help)
    }

    fn comment(&self) -> SyntaxError {
        self.error(
            "JSON has no comments",
            "remove it, or write the scene as TOML",
        )
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Parsed<Node> {
        self.blanks();
        let start = self.at;
        if depth > DEPTH_MAX {
            return Err(too_deep(start..start + 1));
        }
        let value = match self.peek() {
            Some(b'{') => self.table(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(_) => self.word()?,
            None => {
                return Err(self.error(
                    "the text ends where a value should stand",
                    "the file may be cut off",
                ));
            }
        };
        Ok(Node {
            value,
            span: start..self.at,
        })
    }

    fn word(&mut self) -> Parsed<Value> {
        for (word, value) in [
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("null", Value::Null),
        ] {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        let lower = self
            .rest()
            .chars()
            .take(8)
            .collect::<String>()
            .to_lowercase();
        if lower.starts_with("nan") || lower.starts_with("inf") {
            return Err(self.error("JSON has no NaN and no infinity", "write a finite number"));
        }
        if lower.starts_with('#') || lower.starts_with("//") {
            return Err(self.comment());
        }
        Err(self.error(
            "not a JSON value",
            "values are numbers, \"text\", true, false, [lists] and {\"field\": value}",
        ))
    }

    fn number(&mut self) -> Parsed<Value> {
        let start = self.at;
        while matches!(
            self.peek(),
            Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
        ) {
            self.at += 1;
        }
        let written = &self.text[start..self.at];
        let bad = || {
            error_at(
                start..self.at,
                &format!("`{written}` is not a JSON number"),
                "write it like -1.5 or 2e-3",
            )
        };
        // `str::parse` takes a little more than JSON: leading zeros and bare dots.
        let digits = written.strip_prefix('-').unwrap_or(written);
        let mantissa = digits.split(['e', 'E']).next().unwrap_or("");
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        if whole.is_empty() || fraction.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
            return Err(bad());
        }
        let value: f64 = written.parse().map_err(|_| bad())?;
        Ok(Value::Number {
            value,
            integer: written.parse().ok(),
        })
    }

    fn list(&mut self, depth: usize) -> Parsed<Value> {
        self.at += 1;
        let mut items = Vec::new();
        if self.closes(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.more(b']', "list")? {
                return Ok(Value::List(items));
            }
        }
    }

    fn table(&mut self, depth: usize) -> Parsed<Value> {
        self.at += 1;
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen = BTreeSet::new();
        if self.closes(b'}') {
            return Ok(Value::Table(entries));
        }
        loop {
            self.blanks();
            let start = self.at;
            if matches!(self.peek(), Some(b'/' | b'#')) {
                return Err(self.comment());
            }
            if self.peek() != Some(b'"') {
                return Err(self.error(
                    "a field name in double quotes should stand here",
                    "write \"name\": value",
                ));
            }
            let key = self.string()?;
            let key_span = start..self.at;
            if !seen.insert(key.clone()) {
                return Err(error_at(
                    key_span,
                    &format!("field `{key}` appears twice"),
                    "keep one of them",
                ));
            }
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.error(
                    "a colon should stand after the field name",
                    "write \"name\": value",
                ));
            }
            self.at += 1;
            let node = self.value(depth + 1)?;
            entries.push(Entry {
                key,
                key_span,
                node,
            });
            if self.more(b'}', "object")? {
                return Ok(Value::Table(entries));
            }
        }
    }

    /// Whether the list or table is empty; steps over its end.
    fn closes(&mut self, end: u8) -> bool {
        self.blanks();
        let closes = self.peek() == Some(end);
        self.at += usize::from(closes);
        closes
    }

    /// Steps over a comma or the end; true at the end.
    fn more(&mut self, end: u8, what: &str) -> Parsed<bool> {
        self.blanks();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.blanks();
                if self.peek() == Some(end) {
                    return Err(
                        self.error("JSON has no comma before the end", "remove the last comma")
                    );
                }
                Ok(false)
            }
            Some(c) if c == end => {
                self.at += 1;
                Ok(true)
            }
            Some(_) => Err(self.error(
                &format!("a comma or `{}` should stand here", end as char),
                "check commas and brackets",
            )),
            None => Err(self.error(
                &format!("the text ends inside this {what}"),
                "the file may be cut off",
            )),
        }
    }

    fn string(&mut self) -> Parsed<String> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else {
                return Err(error_at(
                    start..self.at,
                    "the text ends inside this string",
                    "close it with a double quote",
                ));
            };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(out);
                }
                '\\' => out.push(self.escape()?),
                c if (c as u32) < 0x20 => {
                    return Err(self.error(
                        "a line break or control character inside a string",
                        "write \\n, or close the string",
                    ));
                }
                c => {
                    out.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self) -> Parsed<char> {
        let simple = match self.text.as_bytes().get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.error("not a JSON escape", "write a backslash twice")),
        };
        self.at += 2;
        Ok(simple)
    }

    /// `\uXXXX`, or two of them for a character beyond the first plane.
    fn unicode(&mut self) -> Parsed<char> {
        let start = self.at;
        let bad = |end| {
            error_at(
                start..end,
                "not a Unicode escape",
                "write \\u and four hexadecimal digits",
            )
        };
        let unit = |at: usize| {
            let hex = self.text.get(at..at + 6)?.strip_prefix("\\u")?;
            if hex.bytes().all(|b| b.is_ascii_hexdigit()) {
                u32::from_str_radix(hex, 16).ok()
            } else {
                None
            }
        };
        let high = unit(start).ok_or_else(|| bad(start + 2))?;
        if let Some(c) = char::from_u32(high) {
            self.at += 6;
            return Ok(c);
        }
        let low = unit(start + 6).filter(|low| high < 0xDC00 && (0xDC00..0xE000).contains(low));
        let low = low.ok_or_else(|| bad(start + 6))?;
        self.at += 12;
        char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
            .ok_or_else(|| bad(start + 12))
    }
}

fn error_at(span: Range<usize>, reason: &str, help: &str) -> SyntaxError {
    SyntaxError {
        span,
        reason: format!("not valid JSON: {reason}"),
        help: help.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Path;

    #[test]
    fn values_keep_their_place() {
        let text = r#"{"a": [1, -2.5e1, {"b": "x\u00e9\ud83d\ude00"}], "c": true}"#;
        let tree = parse(text).unwrap();
        let (span, found) = tree.locate(&Path::root().key("a").index(1));
        assert!(found);
        assert_eq!(&text[span], "-2.5e1");
        let b = &tree.get("a").unwrap().node;
        let Value::List(items) = &b.value else {
            panic!()
        };
        assert_eq!(
            items[2].get("b").unwrap().node.value,
            Value::Text("xé😀".into())
        );
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "[01]",
            "[1.]",
            "[.5]",
            "[+1]",
            "[NaN]",
            "[-inf]",
            "\"x",
            "\"\\q\"",
            "\"\\ud800\"",
            "\"\\u+123\"",
            "{\"a\":1 \"b\":2}",
            "{} {}",
            "[1e]",
            "// x",
            "{\"a\":1,\"a\":2}",
            "tru",
            "[1 2]",
            "\"a\nb\"",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nesting_is_limited_without_overflow() {
        let errors = parse(&"[".repeat(1_000_000)).unwrap_err();
        assert!(errors[0].reason.contains("nested deeper"));
        assert!(parse(&format!("{}1{}", "[".repeat(60), "]".repeat(60))).is_ok());
    }

    #[test]
    fn every_prefix_is_an_error_not_a_panic() {
        let text = r#"{"a": [1, -2.5e1, {"b": "x\u00e9\ud83d\ude00é"}], "c": true}"#;
        for (i, _) in text.char_indices() {
            assert!(parse(&text[..i]).is_err(), "{i}");
        }
    }
}
