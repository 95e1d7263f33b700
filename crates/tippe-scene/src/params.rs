//! The table `[method]`: name, step, length of the run, and a table of parameters for each method.
//!
//! Reads: the tree, `tippe::Method::TABLES`.  Writes: `Problems`.
//! Called by: `format` (reads), `build` (to the engine and back), `schema` (describes).
//! Source: the tables of the physics crate: no parameter is named here, so a new one needs no line of this crate.

use crate::diagnostics::{At, Problems};
use crate::format::Ratio;
use crate::read::{Fields, Read, choices, unknown_word, wrong_type};
use crate::tree::{Node, Value};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, json};
use tippe::method::{Param, ParamKind, ParamRange, Params};
use tippe::{Method, ParamTable, ParamValue};

/// How contacts are answered, the step and the length of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
pub struct MethodTable {
    /// Name of the method. Default "sequential".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Length of a step [s], a number or a fraction such as "1/60". Default 0.001.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dt: Option<Ratio>,
    /// Simulated time of a run [s]. Default 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The tables of parameters that are written, by method.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub params: Entries<Written>,
}

/// The parameters of one method that are written, by the name they are written with.
pub type Written = Entries<WrittenValue>;

/// Names and values in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries<T>(pub Vec<(&'static str, T)>);

/// A parameter as written: the value, or nothing for one that is read no more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrittenValue(pub Option<ParamValue>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Entries<T> {
    /// The value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, v)| v)
    }
}

impl<T: Serialize> Serialize for Entries<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Serialize for WrittenValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(ParamValue::Number(x)) => serializer.serialize_f64(x),
            Some(ParamValue::Whole(n)) => serializer.serialize_u64(n),
            Some(ParamValue::Switch(on)) => serializer.serialize_bool(on),
            Some(ParamValue::Word(word)) => serializer.serialize_str(word),
            Some(ParamValue::None) | None => serializer.serialize_none(),
        }
    }
}

impl Read for MethodTable {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        let mut known = vec!["name", "dt", "seconds"];
        known.extend(Method::TABLES.iter().map(|t| t.method));
        let Some(fields) = Fields::open(node, at, &known, problems) else {
            return Self::default();
        };
        let mut params = Entries::default();
        for table in Method::TABLES {
            if let Some(entry) = node.get(table.method) {
                let written = read_written(table, &entry.node, &at.key(table.method), problems);
                params.0.push((table.method, written));
            }
        }
        Self {
            name: fields.optional("name", problems),
            dt: fields.optional("dt", problems),
            seconds: fields.optional("seconds", problems),
            params,
        }
    }
}

/// Reads the parameters of a method, old names included.
fn read_written(table: &ParamTable, node: &Node, at: &At, problems: &mut Problems) -> Written {
    let names = table.params.iter().map(|p| p.name);
    let known: Vec<&'static str> = names.chain(table.former.iter().map(|f| f.name)).collect();
    let mut written = Entries::default();
    if Fields::open(node, at, &known, problems).is_none() {
        return written;
    }
    for name in known {
        let Some(entry) = node.get(name) else {
            continue;
        };
        let former = table.former.iter().find(|f| f.name == name);
        let value = match (former.map(|f| f.successor), table.index(name)) {
            (Some(None), _) => None,
            (Some(Some(successor)), _) => table.index(successor),
            (None, own) => own,
        }
        .map(|i| read_value(&table.params[i], &entry.node, &at.key(name), problems));
        written.0.push((name, WrittenValue(value)));
    }
    written
}

/// Reads one value of its kind; what cannot be read is reported and becomes the default.
fn read_value(param: &Param, node: &Node, at: &At, problems: &mut Problems) -> ParamValue {
    match param.kind {
        ParamKind::Number => ParamValue::Number(f64::read(node, at, problems)),
        ParamKind::Whole(max) if max <= u64::from(u32::MAX) => {
            ParamValue::Whole(u64::from(u32::read(node, at, problems)))
        }
        ParamKind::Whole(_) => ParamValue::Whole(u64::read(node, at, problems)),
        ParamKind::Switch => ParamValue::Switch(bool::read(node, at, problems)),
        ParamKind::Word(words) => {
            match &node.value {
                Value::Text(text) => match words.iter().find(|w| *w == text) {
                    Some(word) => return ParamValue::Word(word),
                    None => unknown_word(text, at, words, problems),
                },
                _ => wrong_type(
                    node,
                    at,
                    "text",
                    &format!("write {}", choices(words)),
                    problems,
                ),
            }
            param.default_value()
        }
    }
}

/// Sets what is written; a value that makes no sense is reported where it stands.
pub(crate) fn apply(written: &Written, params: &mut dyn Params, at: &At, problems: &mut Problems) {
    let table = params.table();
    for former in table.former {
        let (Some(WrittenValue(value)), at) = (written.get(former.name), at.key(former.name))
        else {
            continue;
        };
        match former.successor {
            Some(new) => {
                let reason =
                    format!("is now called `{new}`; the old name goes with the next version");
                problems.warning(&at, reason, format!("write `{new}`"));
                if let Some(value) = value {
                    set(params, new, *value, &at, problems);
                }
            }
            None => {
                let reason = format!("does nothing any more: {}", former.reason);
                problems.warning(
                    &at,
                    reason,
                    "remove it; it is refused from the next version on",
                );
            }
        }
    }
    for param in table.params {
        if let Some(WrittenValue(Some(value))) = written.get(param.name) {
            set(params, param.name, *value, &at.key(param.name), problems);
        }
    }
}

fn set(params: &mut dyn Params, name: &str, value: ParamValue, at: &At, problems: &mut Problems) {
    if let Err(e) = params.set(name, value) {
        let help = "leave it out for the default; docs/methods says what it does";
        problems.error(at, e.reason, help);
    }
}

/// Every parameter written out; those that are none are left out.
pub(crate) fn written_out(params: &dyn Params) -> Written {
    let all = params.table().params.iter().enumerate();
    let value = |i| Some(params.value(i)).filter(|v| *v != ParamValue::None);
    Entries(
        all.filter_map(|(i, p)| value(i).map(|v| (p.name, WrittenValue(Some(v)))))
            .collect(),
    )
}

/// The table of a method as JSON schema.
#[cfg_attr(not(feature = "schema"), allow(dead_code))]
pub(crate) fn schema(table: &ParamTable) -> serde_json::Value {
    let mut properties = Map::new();
    for param in table.params {
        properties.insert(param.name.into(), param_schema(param));
    }
    for former in table.former {
        let (mut of, description) = match former.successor {
            Some(new) => (
                table
                    .index(new)
                    .map_or(json!({}), |i| param_schema(&table.params[i])),
                format!("Old name of `{new}`, read for one more version."),
            ),
            None => (
                json!({}),
                format!("Does nothing any more: {}.", former.reason),
            ),
        };
        of["description"] = description.into();
        of["deprecated"] = true.into();
        properties.insert(former.name.into(), of);
    }
    json!({
        "type": "object",
        "description": format!("Parameters of the method `{0}`; reasons in docs/methods/{0}.md.", table.method),
        "additionalProperties": false,
        "properties": properties,
    })
}

#[cfg_attr(not(feature = "schema"), allow(dead_code))]
fn param_schema(param: &Param) -> serde_json::Value {
    let what = param.what.trim_end_matches('.');
    let mut of = json!({ "description": format!("{what}{}.", param.unit_in_brackets()) });
    match param.kind {
        ParamKind::Number => of["type"] = "number".into(),
        ParamKind::Whole(max) => {
            of["type"] = "integer".into();
            of["minimum"] = 0.into();
            if max < u64::MAX {
                of["maximum"] = max.into();
            }
        }
        ParamKind::Switch => of["type"] = "boolean".into(),
        ParamKind::Word(words) => of["enum"] = json!(words),
    }
    match param.range {
        ParamRange::Any => {}
        ParamRange::Positive => of["exclusiveMinimum"] = 0.into(),
        ParamRange::NotNegative => of["minimum"] = 0.into(),
        ParamRange::AtLeast(least) => of["minimum"] = least.into(),
        ParamRange::Between(least, most) => {
            of["minimum"] = least.into();
            of["maximum"] = most.into();
        }
    }
    match param.default_value() {
        ParamValue::Number(x) => of["default"] = x.into(),
        ParamValue::Whole(n) => of["default"] = n.into(),
        ParamValue::Switch(on) => of["default"] = on.into(),
        ParamValue::Word(word) => of["default"] = word.into(),
        ParamValue::None => {}
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Document;
    use crate::source::Source;

    tippe::param_words! {
        /// A choice.
        Law { /// Stiff.
            Stiff = "stiff", /// Soft.
            Soft = "soft", }
    }

    tippe::params! {
        /// A method that this crate has never heard of.
        ToyParams of "toy" {
            /// Share.
            share: f64 = 0.5, "1/s", Between(0.0, 1.0), "half";
            /// Pieces.
            pieces: u32 = 2, "1", AtLeast(1.0), "two";
            /// Law.
            law: Law = Law::Stiff, "", Any, "stiff";
            /// Seed.
            seed: Option<u64> = None, "", Any, "none";
        }
        renamed { slices => pieces; }
        dropped { gain: "nothing is gained"; }
    }

    /// What a table makes of the toy's parameters: the parameters, errors and warnings.
    fn read(text: &str) -> (ToyParams, Vec<String>, Vec<String>) {
        let source = Source::new("toy.toml", text);
        let tree = crate::tree_toml::parse(text).expect("good TOML");
        let documents = [Document { source, tree }];
        let mut problems = Problems::default();
        let at = At::root(0);
        let written = read_written(&ToyParams::TABLE, &documents[0].tree, &at, &mut problems);
        let mut params = ToyParams::default();
        apply(&written, &mut params, &at, &mut problems);
        let told = |list: &[crate::diagnostics::Diagnostic]| {
            list.iter()
                .map(|d| format!("{}:{} {}", d.line, d.field, d.reason))
                .collect()
        };
        let (errors, warnings) = problems.finish(&documents);
        (params, told(&errors.errors), told(&warnings))
    }

    #[test]
    fn a_table_of_an_unknown_method_reads_writes_and_describes_itself() {
        let (params, errors, warnings) = read("share = 0.25\nlaw = \"soft\"\nseed = 9\n");
        assert_eq!((errors, warnings), (vec![], vec![]));
        let expected = ToyParams {
            share: 0.25,
            pieces: 2,
            law: Law::Soft,
            seed: Some(9),
        };
        assert_eq!(params, expected);
        let text = toml::to_string(&written_out(&params)).expect("a table");
        assert_eq!(text, "share = 0.25\npieces = 2\nlaw = \"soft\"\nseed = 9\n");
        assert_eq!(read(&text).0, params);
        let schema = schema(&ToyParams::TABLE);
        assert_eq!(schema["properties"]["share"]["maximum"], 1.0);
        assert_eq!(schema["properties"]["share"]["description"], "Share [1/s].");
        assert_eq!(
            schema["properties"]["law"]["enum"],
            json!(["stiff", "soft"])
        );
        assert_eq!(schema["properties"]["slices"]["deprecated"], true);
        assert_eq!(schema["properties"]["gain"]["deprecated"], true);
    }

    #[test]
    fn old_names_are_read_with_a_warning_and_slips_are_told_where_they_stand() {
        let (params, errors, warnings) = read("slices = 5\ngain = \"anything\"\n");
        assert_eq!(params.pieces, 5);
        assert_eq!(errors, Vec::<String>::new());
        assert_eq!(
            warnings,
            [
                "1:slices is now called `pieces`; the old name goes with the next version",
                "2:gain does nothing any more: nothing is gained",
            ]
        );
        let (params, errors, _) =
            read("slices = 0\nshare = 7.0\nlaw = \"sof\"\nseed = -1\nspeed = 1\n");
        assert_eq!(params.share, 0.5);
        for (line, reason) in [
            (1, "slices must be at least 1"),
            (2, "share must be between 0 and 1"),
            (3, "law unknown word"),
            (4, "seed must not be negative"),
            (5, "speed unknown field"),
        ] {
            let wanted = format!("{line}:{reason}");
            assert!(
                errors.iter().any(|e| e.starts_with(&wanted)),
                "{wanted}: {errors:?}"
            );
        }
    }
}
