//! Parameters of a scene: numbers by name, and expressions of them in the place of values.
//!
//! Reads: the spanned tree.  Writes: the spanned tree, `Problems`.
//! Called by: `load`, before the tree is typed.
//! Source: `docs/scene-format.md`, "Parameters". A text that begins with `=` is an expression; a recursive descent parser reads it.

use crate::diagnostics::{At, Problems};
use crate::suggest::nearest;
use crate::tree::{Entry, Node, Value};
use std::collections::BTreeMap;

/// Deepest nesting of an expression, and longest chain of parameters that are made of others.
const DEPTH_MAX: usize = 32;
/// Fields whose text is never an expression.
const WORDS: [&str; 2] = ["name", "description"];

/// Values by name, expressions already worked out.
pub(crate) type Values = BTreeMap<String, Value>;

/// Works out the table `parameters` of a file. `given` stands over what the table has; `visible` tells whether the file sees the rest of it.
pub(crate) fn values(
    tree: &Node,
    given: &Values,
    visible: bool,
    at: &At,
    problems: &mut Problems,
) -> Values {
    let mut known = if visible {
        given.clone()
    } else {
        Values::new()
    };
    let Some(Value::Table(entries)) = tree.get("parameters").map(|e| &e.node.value) else {
        return known;
    };
    for entry in entries {
        let at = at.key("parameters").key(&entry.key);
        if !is_name(&entry.key) {
            let help = "write letters, digits and _, and begin with a letter";
            problems.error(&at, "is no name for a parameter", help);
        }
        if let Some(value) = given.get(&entry.key) {
            known.insert(entry.key.clone(), value.clone());
        }
    }
    let mut open: Vec<&Entry> = Vec::new();
    open.extend(entries.iter().filter(|e| !known.contains_key(&e.key)));
    // Each round works out those whose expressions are of known ones; a circle leaves some over.
    for _ in 0..=DEPTH_MAX.min(open.len()) {
        open.retain(|entry| match worked_out(&entry.node.value, &known) {
            Ok(value) => {
                known.insert(entry.key.clone(), value);
                false
            }
            Err(_) => true,
        });
    }
    for entry in open {
        let at = at.key("parameters").key(&entry.key);
        if let Err(reason) = worked_out(&entry.node.value, &known) {
            let help = "a parameter is made of numbers and of other parameters, without a circle";
            problems.error(&at, reason, help);
        }
    }
    known
}

/// Whether a text can name a parameter.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Puts values in the place of all expressions of a tree.
pub(crate) fn expand(node: &mut Node, known: &Values, at: &At, problems: &mut Problems) {
    match &mut node.value {
        Value::Table(entries) => {
            for entry in entries {
                let text = matches!(entry.node.value, Value::Text(_));
                if !(text && WORDS.contains(&entry.key.as_str())) {
                    expand(&mut entry.node, known, &at.key(&entry.key), problems);
                }
            }
        }
        Value::List(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                expand(item, known, &at.index(i), problems);
            }
        }
        Value::Text(text) if text.starts_with('=') => match evaluate(&text[1..], known) {
            Ok(value) => node.value = value,
            Err(reason) => {
                let help = unknown_help(&reason, known);
                problems.error(at, reason, help);
                // Follow-on errors of this field are dropped.
                node.value = number(1.0);
            }
        },
        _ => {}
    }
}

fn unknown_help(reason: &str, known: &Values) -> String {
    let names = || known.keys().map(String::as_str);
    let word = reason.split('`').nth(1).unwrap_or_default();
    match nearest(word, names()) {
        Some(meant) if reason.starts_with("no parameter") => format!("did you mean `{meant}`?"),
        _ if reason.starts_with("no parameter") && !known.is_empty() => {
            format!(
                "known parameters: {}",
                names().collect::<Vec<_>>().join(", ")
            )
        }
        _ if reason.starts_with("no parameter") => {
            "give it a value in the table [parameters]".into()
        }
        _ => "write an expression such as \"=2 * radius + 0.1\"".into(),
    }
}

/// The value of a parameter: itself, or that of its expression; lists element by element.
fn worked_out(value: &Value, known: &Values) -> Result<Value, String> {
    Ok(match value {
        Value::Text(text) if text.starts_with('=') => evaluate(&text[1..], known)?,
        Value::List(items) => {
            let one = |n: &Node| {
                let value = worked_out(&n.value, known)?;
                Ok(Node {
                    value,
                    span: n.span.clone(),
                })
            };
            Value::List(items.iter().map(one).collect::<Result<_, String>>()?)
        }
        Value::Table(_) => return Err("must be a number, a text, true or false, or a list".into()),
        other => other.clone(),
    })
}

fn number(value: f64) -> Value {
    let whole = value == libm::trunc(value) && value.abs() < 9.0e15;
    let integer = whole.then_some(value as i64);
    Value::Number { value, integer }
}

/// What an expression comes to. One name alone may stand for a value of any kind.
fn evaluate(text: &str, known: &Values) -> Result<Value, String> {
    if let Some(value) = known.get(text.trim()) {
        return Ok(value.clone());
    }
    let mut parser = Parser {
        rest: text,
        known,
        depth: 0,
    };
    let value = parser.sum()?;
    if !parser.rest.trim().is_empty() {
        return Err(format!(
            "cannot read `{}` in an expression",
            parser.rest.trim()
        ));
    }
    if !value.is_finite() {
        return Err(format!("the expression comes to {value}"));
    }
    Ok(number(value))
}

/// Reads sums of products of factors.
struct Parser<'a> {
    rest: &'a str,
    known: &'a Values,
    depth: usize,
}

impl Parser<'_> {
    /// Takes one of these characters, if it comes next.
    fn take(&mut self, of: &[char]) -> Option<char> {
        let trimmed = self.rest.trim_start();
        let next = trimmed.chars().next().filter(|c| of.contains(c))?;
        self.rest = &trimmed[next.len_utf8()..];
        Some(next)
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let next = self.product()?;
            value = if sign == '+' {
                value + next
            } else {
                value - next
            };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.factor()?;
        while let Some(sign) = self.take(&['*', '/']) {
            let next = self.factor()?;
            if sign == '/' && next == 0.0 {
                return Err("the expression divides by zero".into());
            }
            value = if sign == '*' {
                value * next
            } else {
                value / next
            };
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!(
                "the expression is nested deeper than {DEPTH_MAX} levels"
            ));
        }
        let value = if self.take(&['-']).is_some() {
            -self.factor()?
        } else if self.take(&['(']).is_some() {
            let value = self.sum()?;
            if self.take(&[')']).is_none() {
                return Err("the expression lacks a closing parenthesis".into());
            }
            value
        } else {
            self.atom()?
        };
        self.depth -= 1;
        Ok(value)
    }

    /// A number, a name, or a function of an expression.
    fn atom(&mut self) -> Result<f64, String> {
        let text = self.rest.trim_start();
        if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.literal(text.len());
        }
        let end = text
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(text.len());
        let name = &text[..end];
        if name.is_empty() {
            let found = if text.is_empty() { "its end" } else { text };
            return Err(format!(
                "the expression needs a number or a name before `{found}`"
            ));
        }
        self.rest = &text[end..];
        let function: Option<fn(f64) -> f64> = match name {
            "sqrt" => Some(libm::sqrt),
            "sin" => Some(libm::sin),
            "cos" => Some(libm::cos),
            "tan" => Some(libm::tan),
            _ => None,
        };
        if let Some(function) = function
            && self.take(&['(']).is_some()
        {
            self.depth += 1;
            if self.depth > DEPTH_MAX {
                return Err(format!(
                    "the expression is nested deeper than {DEPTH_MAX} levels"
                ));
            }
            let value = self.sum()?;
            self.depth -= 1;
            if self.take(&[')']).is_none() {
                return Err("the expression lacks a closing parenthesis".into());
            }
            return Ok(function(value));
        }
        match self.known.get(name) {
            Some(Value::Number { value, .. }) => Ok(*value),
            Some(other) => Err(format!("`{name}` is {}, not a number", other.kind())),
            None if name == "pi" => Ok(std::f64::consts::PI),
            None => Err(format!("no parameter `{name}`")),
        }
    }

    /// A number, with exponent.
    fn literal(&mut self, len: usize) -> Result<f64, String> {
        let text = self.rest.trim_start();
        let bytes = text.as_bytes();
        let mut end = 0;
        while end < len {
            let c = bytes[end];
            let sign = (c == b'+' || c == b'-') && matches!(bytes[end - 1], b'e' | b'E');
            if !(c.is_ascii_digit() || matches!(c, b'.' | b'e' | b'E' | b'_') || sign) {
                break;
            }
            end += 1;
        }
        let value = text[..end].replace('_', "").parse();
        let value = value.map_err(|_| format!("cannot read `{}` as a number", &text[..end]))?;
        self.rest = &text[end..];
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn come_to(text: &str) -> Result<f64, String> {
        let known = Values::from([
            ("radius".to_owned(), number(0.5)),
            ("axis".to_owned(), Value::Text("x".into())),
        ]);
        match evaluate(text, &known)? {
            Value::Number { value, .. } => Ok(value),
            other => Err(other.kind().into()),
        }
    }

    #[test]
    fn expressions_come_to_numbers() {
        for (text, value) in [
            ("2 * radius + 0.25", 1.25),
            ("-(radius - 1) / 2e-1", 2.5),
            ("1 - 2 - 3", -4.0),
            ("12 / 2 / 3", 2.0),
            ("sqrt(radius + 3.5) * 2", 4.0),
            ("cos(pi)", -1.0),
            (" radius ", 0.5),
        ] {
            assert_eq!(come_to(text), Ok(value), "{text}");
        }
        for (text, reason) in [
            ("2 * radus", "no parameter `radus`"),
            ("1 / (radius - 0.5)", "the expression divides by zero"),
            ("2 * axis", "`axis` is text, not a number"),
            ("2 radius", "cannot read `radius` in an expression"),
            ("(1", "the expression lacks a closing parenthesis"),
            (
                "",
                "the expression needs a number or a name before `its end`",
            ),
            ("sqrt(0-1)", "the expression comes to NaN"),
        ] {
            assert_eq!(come_to(text), Err(reason.to_owned()), "{text}");
        }
        assert!(come_to(&"(".repeat(10_000)).is_err());
        assert!(come_to(&"-".repeat(10_000)).is_err());
        assert!(come_to(&"sqrt(".repeat(10_000)).is_err());
    }
}
