//! `docs/scene.schema.json` says what the types of the format say.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p tippe-scene` rewrites it.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::Path;

#[test]
fn the_schema_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene.schema.json");
    let schema = tippe_scene::schema();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == schema,
        "the schema changed; UPDATE_SNAPSHOTS=1 rewrites it"
    );
}
