//! Lists the scenes of the repository, so that the gallery holds all of them.
//!
//! Reads: `scenes/`.  Writes: a table of file names and texts for `view::gallery`.
//! Called by: cargo.
//! Source: none.

use std::path::Path;
use std::{env, fs};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the repository has scenes")
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    let mut table = String::from("&[\n");
    for path in files {
        let path = path.canonicalize().expect("it was there a moment ago");
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        table += &format!(
            "({name:?}, include_str!({:?})),\n",
            path.display().to_string()
        );
    }
    table += "]\n";
    let out = env::var_os("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&out).join("scenes.rs"), table)
        .expect("the folder of the build can be written");
}
