//! Overrides: values that the caller puts into a scene by path, in place of what the file says.
//!
//! Reads: `LoadOptions::set`.  Writes: the spanned tree, `Problems`.
//! Called by: `load`, before parameters are worked out.
//! Source: `docs/scene-format.md`, "Values by path".

use crate::diagnostics::{At, Diagnostic, Problems};
use crate::format::SceneFile;
use crate::suggest::nearest;
use crate::tree::{Entry, Node, Value};
use crate::tree_toml;

/// One override: `body.block.mass=2`.
#[derive(Clone, Debug)]
pub(crate) struct Override {
    /// As the caller wrote it.
    written: String,
    steps: Vec<String>,
    value: Value,
    used: bool,
}

/// Reads the overrides of the options; what cannot be read is told at once.
pub(crate) fn parse(set: &[String]) -> Result<Vec<Override>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut list = Vec::new();
    for written in set {
        match parse_one(written) {
            Ok(one) => list.push(one),
            Err((reason, help)) => {
                errors.push(Diagnostic::without_place(&label(written), "", reason, help))
            }
        }
    }
    if errors.is_empty() {
        Ok(list)
    } else {
        Err(errors)
    }
}

/// What messages call an override.
fn label(written: &str) -> String {
    format!("--set {written}")
}

fn parse_one(written: &str) -> Result<Override, (String, String)> {
    let example = "write path=value, such as body.block.mass=2 or parameters.radius=0.1";
    let Some((path, text)) = written.split_once('=') else {
        return Err(("has no `=`".into(), example.into()));
    };
    let steps = steps(path.trim()).ok_or_else(|| {
        let reason = format!("{path:?} is no path");
        (reason, example.into())
    })?;
    let value = value(text.trim());
    Ok(Override {
        written: written.to_owned(),
        steps,
        value,
        used: false,
    })
}

/// The steps of a path: names apart by points, places in a list in brackets, names with other signs in double quotes.
fn steps(path: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    let mut rest = path;
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (name, after) = quoted.split_once('"')?;
            steps.push(name.to_owned());
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let name = rest[..end].trim();
            if name.is_empty() {
                return None;
            }
            steps.push(name.to_owned());
            rest = &rest[end..];
        }
        while let Some(index) = rest.strip_prefix('[') {
            let (number, after) = index.split_once(']')?;
            number.trim().parse::<usize>().ok()?;
            steps.push(format!("[{}]", number.trim()));
            rest = after;
        }
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Some(steps),
            None => return None,
        }
    }
}

/// A value as TOML writes it; what is no TOML is text, so that words need no quotes.
fn value(text: &str) -> Value {
    let parsed = tree_toml::parse(&format!("value = {text}\n"));
    let entry = parsed.ok().and_then(|tree| tree.get("value").cloned());
    entry.map_or_else(|| Value::Text(text.to_owned()), |e| e.node.value)
}

/// Puts every override that has a place in this tree there. `prefix` is that of the names of a sub-assembly.
pub(crate) fn apply(
    overrides: &mut [Override],
    tree: &mut Node,
    prefix: &str,
    at: &At,
    problems: &mut Problems,
) {
    for one in overrides.iter_mut() {
        let steps = match within(&one.steps, prefix) {
            Some(steps) => steps,
            None => continue,
        };
        // Settings belong to the main file; what has a name belongs to the file that has it.
        let main = at.document == 0;
        let target = SceneFile::FIELDS.contains(&steps[0].as_str());
        if !target && main {
            let help = match nearest(&steps[0], SceneFile::FIELDS.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => {
                    "a path begins with a table of the scene, such as body or parameters".into()
                }
            };
            problems.outside(
                &label(&one.written),
                format!("no table `{}` in a scene", steps[0]),
                help,
            );
            one.used = true;
            continue;
        }
        let list = is_list(tree, &steps[0]);
        if !main && !list {
            continue;
        }
        let mut place = at.clone();
        if set(tree, &steps, one, &mut place, problems) {
            one.used = true;
            problems.overridden(place, &label(&one.written));
        }
    }
}

fn is_list(tree: &Node, key: &str) -> bool {
    matches!(tree.get(key).map(|e| &e.node.value), Some(Value::List(_)))
}

/// The path as a file with a prefix sees it: `body.left.foot` is `body.foot` in the sub-assembly `left`.
fn within(steps: &[String], prefix: &str) -> Option<Vec<String>> {
    if prefix.is_empty() {
        return Some(steps.to_vec());
    }
    let named = steps.get(1)?;
    let own: Vec<&str> = prefix.split('.').collect();
    if let Some(rest) = named.strip_prefix(&format!("{prefix}.")) {
        let mut out = vec![steps[0].clone(), rest.to_owned()];
        out.extend(steps[2..].iter().cloned());
        return Some(out);
    }
    let fits =
        steps.len() > own.len() + 1 && steps[1..=own.len()].iter().zip(&own).all(|(a, b)| a == b);
    fits.then(|| {
        let mut out = vec![steps[0].clone()];
        out.extend(steps[own.len() + 1..].iter().cloned());
        out
    })
}

/// Walks down and puts the value there; false if a name on the way is not in this tree.
fn set(
    node: &mut Node,
    steps: &[String],
    one: &Override,
    at: &mut At,
    problems: &mut Problems,
) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        node.value = one.value.clone();
        return true;
    };
    if let Value::List(items) = &mut node.value {
        let Some((place, used)) = find(items, steps) else {
            return false;
        };
        *at = at.index(place);
        return set(&mut items[place], &steps[used..], one, at, problems);
    }
    if step.starts_with('[') {
        let reason = format!("{} is no list: {step} means nothing there", at.path);
        problems.outside(&label(&one.written), reason, "name a field of it");
        return true;
    }
    if !matches!(node.value, Value::Table(_)) {
        // One table in place of several: what is there was short for a table.
        node.value = Value::Table(Vec::new());
    }
    *at = at.key(step);
    let span = node.span.clone();
    if let Value::Table(entries) = &mut node.value {
        let place = match entries.iter().position(|e| e.key == *step) {
            Some(place) => place,
            None if at.path.0.len() == 1 && !rest.is_empty() && NAMED.contains(&step.as_str()) => {
                return false;
            }
            // Nothing could read a parameter that the file does not have.
            None if at.path.to_string().starts_with("parameters.") => return false,
            None => {
                entries.push(Entry {
                    key: step.clone(),
                    key_span: span.clone(),
                    node: Node {
                        value: Value::Table(Vec::new()),
                        span,
                    },
                });
                entries.len() - 1
            }
        };
        return set(&mut entries[place].node, rest, one, at, problems);
    }
    false
}

/// Tables whose elements have names.
const NAMED: [&str; 9] = [
    "body",
    "joint",
    "articulation",
    "material",
    "grid",
    "stack",
    "pyramid",
    "fill",
    "chain",
];

/// The element that the next steps name, and how many steps that took. Names may have points in them.
fn find(items: &[Node], steps: &[String]) -> Option<(usize, usize)> {
    let index = steps[0].strip_prefix('[').and_then(|s| s.strip_suffix(']'));
    if let Some(index) = index.and_then(|n| n.parse().ok()) {
        return (index < items.len()).then_some((index, 1));
    }
    (1..=steps.len()).find_map(|used| {
        let name = steps[..used].join(".");
        let place = items.iter().position(|item| name_of(item) == Some(&name))?;
        Some((place, used))
    })
}

fn name_of(item: &Node) -> Option<&str> {
    match &item.get("name")?.node.value {
        Value::Text(name) => Some(name),
        _ => None,
    }
}

/// Reports the overrides that found no place, with the nearest name there is.
pub(crate) fn unused<'a>(
    overrides: &[Override],
    trees: impl Iterator<Item = &'a Node> + Clone,
    problems: &mut Problems,
) {
    for one in overrides.iter().filter(|o| !o.used) {
        let table = &one.steps[0];
        let lists = trees.clone().filter_map(|t| t.get(table));
        let names: Vec<&str> = lists
            .filter_map(|e| match &e.node.value {
                Value::List(items) => Some(items.iter().filter_map(name_of).collect()),
                Value::Table(entries) => Some(entries.iter().map(|e| e.key.as_str()).collect()),
                _ => None,
            })
            .flat_map(|names: Vec<&str>| names)
            .collect();
        let missing = one.steps[1..].join(".");
        let help = match one
            .steps
            .get(1)
            .and_then(|s| nearest(s, names.iter().copied()))
        {
            Some(meant) => format!("did you mean {table}.{meant}?"),
            None if names.is_empty() => format!("this scene has no table {table}"),
            None if names.len() <= 12 => format!("there are {}", names.join(", ")),
            None => format!(
                "there are {} and {} more",
                names[..12].join(", "),
                names.len() - 12
            ),
        };
        let what = if table == "parameters" {
            "parameter"
        } else {
            table
        };
        let reason = format!("no {what} of this scene fits `{missing}`");
        problems.outside(&label(&one.written), reason, help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_names_places_and_quotes() {
        let read = |text| steps(text).map(|s| s.join("|"));
        assert_eq!(read("body.block.mass").as_deref(), Some("body|block|mass"));
        assert_eq!(
            read("body[3].shape.box.size[1]").as_deref(),
            Some("body|[3]|shape|box|size|[1]")
        );
        assert_eq!(
            read("body.\"my block\".mass").as_deref(),
            Some("body|my block|mass")
        );
        for bad in [
            "",
            "body..mass",
            "body[x]",
            "body[1",
            ".mass",
            "body.",
            "a\"b\"",
        ] {
            assert!(bad == "a\"b\"" || read(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn values_are_toml_and_else_text() {
        assert_eq!(value("iterative"), Value::Text("iterative".into()));
        assert_eq!(value("1/60"), Value::Text("1/60".into()));
        assert!(matches!(
            value("2"),
            Value::Number {
                integer: Some(2),
                ..
            }
        ));
        assert!(matches!(value("[0, 0, 1]"), Value::List(l) if l.len() == 3));
        assert_eq!(value("true"), Value::Bool(true));
    }
}
