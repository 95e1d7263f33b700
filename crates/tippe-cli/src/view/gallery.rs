//! The scenes of the repository, embedded, with their stories and pictures.
//!
//! Reads: nothing at run time.  Writes: nothing.
//! Called by: `view::server`, `view::socket`, `render`.
//! Source: `scenes/`, listed by the build script.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

use serde_json::{Value, json};
use tippe_scene::{Format, LoadOptions, Scene, load_str};

use crate::render::thumbnail;

/// File name and text of every scene, by name.
const SCENES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenes.rs"));

/// Those that please most come first.
const FIRST: [&str; 12] = [
    "funnel.toml",
    "tippe-top.toml",
    "domino.toml",
    "ragdoll.toml",
    "card-house.toml",
    "arch.toml",
    "office-toy.toml",
    "tree-crane.toml",
    "pile.toml",
    "towers.toml",
    "rope-bridge.toml",
    "slider-crank.toml",
];

/// The text of a scene by its file name.
pub fn text(file: &str) -> Option<&'static str> {
    SCENES.iter().find(|(f, _)| *f == file).map(|(_, t)| *t)
}

fn load(file: &str) -> Option<Scene> {
    load_str(text(file)?, file, Format::Toml, &LoadOptions::default()).ok()
}

/// What the gallery shows of every scene.
pub fn list() -> Value {
    static LIST: OnceLock<Value> = OnceLock::new();
    LIST.get_or_init(|| {
        let entry = |(file, text): &(&str, &str)| {
            let scene = load(file);
            json!({
                "file": file,
                "name": scene.as_ref().map_or(*file, |s| s.name.as_str()),
                "description": scene.as_ref().map_or("", |s| s.description.as_str()),
                "story": story(text),
                "picture": format!("picture/{}.png", file.trim_end_matches(".toml")),
                "bodies": scene.as_ref().map_or(0, |s| s.names.len()),
            })
        };
        let rank = |file: &str| FIRST.iter().position(|f| *f == file).unwrap_or(FIRST.len());
        let mut order: Vec<_> = SCENES.iter().collect();
        order.sort_by_key(|(file, _)| rank(file));
        order.into_iter().map(entry).collect()
    })
    .clone()
}

/// The comment at the top of a scene, as one line.
fn story(text: &str) -> String {
    let lines = text.lines().map_while(|l| l.strip_prefix('#'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The picture of a scene at its start, as PNG. Drawing takes a moment; each is drawn once.
pub fn picture(name: &str) -> Option<Vec<u8>> {
    static DRAWN: Mutex<BTreeMap<String, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let file = format!("{}.toml", name.strip_suffix(".png")?);
    let mut drawn = DRAWN.lock().unwrap_or_else(|e| e.into_inner());
    if !drawn.contains_key(&file) {
        let png = thumbnail(&load(&file)?).ok()?;
        drawn.insert(file.clone(), png);
    }
    drawn.get(&file).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_of_the_repository_is_in_the_gallery_with_a_story_and_a_picture() {
        assert!(SCENES.len() >= 17);
        for entry in list().as_array().unwrap() {
            assert!(entry["story"].as_str().unwrap().len() > 20, "{entry}");
            assert!(entry["bodies"].as_u64().unwrap() > 0, "{entry}");
        }
        let png = picture("bounce.png").unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 2000);
        assert!(picture("../bounce.png").is_none() && picture("nothing.png").is_none());
    }
}
