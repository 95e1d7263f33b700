//! JSON schema of the scene format, for editors.
//!
//! Reads: the types of `format`.  Writes: nothing.
//! Called by: the test that keeps `docs/scene.schema.json` up to date; users.
//! Source: schemars, from the types and their comments; parameters of methods from their tables.

use crate::format::SceneFile;
use serde_json::Value;

/// The schema as JSON text.
#[must_use]
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(SceneFile).to_value();
    schema["title"] = "Tippe scene".into();
    without_null(&mut schema);
    for table in tippe::Method::TABLES {
        schema["$defs"]["MethodTable"]["properties"][table.method] = crate::params::schema(table);
    }
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

/// A field that may be left out is not a field that may be null.
fn without_null(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_null),
        Value::Object(map) => {
            if let Some(Value::Array(types)) = map.get_mut("type") {
                types.retain(|t| t != "null");
                if let [one] = types.as_slice() {
                    let one = one.clone();
                    map.insert("type".into(), one);
                }
            }
            if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
                choices.retain(|c| c.get("type").is_none_or(|t| t != "null"));
                if let [Value::Object(one)] = choices.as_slice() {
                    let one = one.clone();
                    map.remove("anyOf");
                    map.extend(one);
                }
            }
            map.values_mut().for_each(without_null);
        }
        _ => {}
    }
}
