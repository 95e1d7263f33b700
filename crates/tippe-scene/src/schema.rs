//! JSON schema of the scene format, for editors.
//!
//! Reads: the types of `format`.  Writes: nothing.
//! Called by: the test that keeps `docs/scene.schema.json` up to date; users.
//! Source: schemars, from the types and their comments.

use crate::format::SceneFile;

/// The schema as JSON text.
#[must_use]
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(SceneFile);
    schema.insert("title".into(), "Tippe scene".into());
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}
