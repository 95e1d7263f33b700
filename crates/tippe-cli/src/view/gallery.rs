//! The scenes of the repository, embedded, with their stories and pictures.
//!
//! Reads: nothing at run time.  Writes: nothing.
//! Called by: `view::server`, `view::socket`, `render`.
//! Source: `scenes/`; a test keeps the list whole.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

use serde_json::{Value, json};
use tippe_scene::{Format, LoadOptions, Scene, load_str};

use crate::svg::scene::{Frame, Stage};

macro_rules! scenes {
    ($($name:literal,)*) => {
        /// File name and text of every scene, those first that please most.
        pub const SCENES: &[(&str, &str)] = &[$(
            (concat!($name, ".toml"), include_str!(concat!("../../../../scenes/", $name, ".toml"))),
        )*];
    };
}

scenes! {
    "funnel",
    "tippe-top",
    "domino",
    "ragdoll",
    "pile",
    "towers",
    "pyramid",
    "rope-bridge",
    "slider-crank",
    "double-pendulum",
    "hanging-chain",
    "bounce",
    "incline",
    "overhang",
    "stack",
    "cart",
    "joint-grid",
}

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
                "picture": format!("picture/{}.svg", file.trim_end_matches(".toml")),
                "bodies": scene.as_ref().map_or(0, |s| s.names.len()),
            })
        };
        SCENES.iter().map(entry).collect()
    })
    .clone()
}

/// The comment at the top of a scene, as one line.
fn story(text: &str) -> String {
    let lines = text.lines().map_while(|l| l.strip_prefix('#'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The picture of a scene: its kind and bytes.
pub fn picture(name: &str) -> Option<(&'static str, Vec<u8>)> {
    static DRAWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let file = format!("{}.toml", name.strip_suffix(".svg")?);
    let mut drawn = DRAWN.lock().unwrap_or_else(|e| e.into_inner());
    if !drawn.contains_key(&file) {
        let scene = load(&file)?;
        let frame = Frame::of(&scene.world);
        let svg = Stage::new(&scene.world, &frame, &[&frame]).file(&frame, &scene.name);
        drawn.insert(file.clone(), svg);
    }
    let svg = drawn.get(&file)?.clone();
    Some(("image/svg+xml", svg.into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_of_the_repository_is_in_the_gallery_with_a_story_and_a_picture() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter(|n| n.ends_with(".toml"))
            .collect();
        let mut here: Vec<String> = SCENES.iter().map(|s| s.0.to_owned()).collect();
        there.sort();
        here.sort();
        assert_eq!(here, there);
        for entry in list().as_array().unwrap() {
            assert!(entry["story"].as_str().unwrap().len() > 20, "{entry}");
            assert!(entry["bodies"].as_u64().unwrap() > 0, "{entry}");
        }
        assert!(picture("bounce.svg").is_some());
        assert!(picture("../bounce.svg").is_none() && picture("nothing.svg").is_none());
    }
}
