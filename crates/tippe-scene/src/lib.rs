//! Scene files and recordings of Tippe.
//!
//! A scene is a TOML or JSON text (`docs/scene-format.md`); [`load_file`] turns it into a [`Scene`] with a ready world, or into
//! [`Diagnostics`] with everything that is wrong: file, line, column, field, reason, and what to write instead.
//! On the way: `tree_toml` or `tree_json` gives a spanned tree, `read` types it into `format`, `build` gives it meaning.
//!
//! ```
//! let text = r#"
//!     version = 1
//!     [[body]]
//!     name = "ball"
//!     shape.sphere = { radius = 0.1 }
//!     mass = -1
//! "#;
//! let errors = tippe_scene::load_str(text, "ball.toml", tippe_scene::Format::Toml, &Default::default()).unwrap_err();
//! assert!(errors.to_string().starts_with("ball.toml:6:12: body[0].mass: must be positive, got -1"));
//! ```

mod articulation;
mod assembled;
mod body;
mod build;
mod chain;
mod check;
mod control;
pub mod diagnostics;
mod drive;
mod explain;
mod fill;
pub mod format;
mod generate;
mod grid;
mod inertia;
mod joint;
mod load;
mod mate;
mod materials;
mod mesh_file;
mod mesh_gltf;
mod mesh_ply;
mod motion;
mod overrides;
mod parameters;
mod params;
mod profile;
mod pyramid;
mod quantities;
mod random;
mod read;
pub mod recording;
#[cfg(feature = "schema")]
mod schema;
mod solid;
mod source;
mod stack;
mod subassembly;
mod suggest;
mod tree;
mod tree_json;
mod tree_toml;

pub use diagnostics::{Diagnostic, Diagnostics};
pub use explain::{explain, explain_json};
pub use format::parse_ratio;
pub use load::Camera;
pub use load::{FILE_MAX, Format, LoadOptions, Record, Scene, load_file, load_str};
pub use quantities::{Quantities, written_order};
pub use recording::{Completeness, Recording, RecordingWriter};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use source::{Excerpt, Place, Source};
pub use suggest::nearest;
