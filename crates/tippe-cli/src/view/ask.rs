//! Questions: the same scene with another method, step, friction, gravity or parameter.
//!
//! Reads: scene texts, what to change.  Writes: nothing.
//! Called by: `view::socket`.
//! Source: a scene written out with all defaults loads to the same world, so a change to that text is a change to one thing only.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tippe::{METHOD_NAMES, Method};
use tippe_scene::{Diagnostic, Diagnostics, Format, LoadOptions, Scene, explain_json, load_str};

use super::message::Ask;

/// Loads a scene text with changes.
///
/// # Errors
/// Everything wrong with the text or with what is asked.
pub fn load(
    text: &str,
    file: &str,
    format: Format,
    options: &LoadOptions,
    ask: &Ask,
) -> Result<Scene, Diagnostics> {
    let options = LoadOptions {
        method: ask.method.clone(),
        dt: ask.dt,
        seconds: ask.seconds,
        ..options.clone()
    };
    let scene = load_str(text, file, format, &options)?;
    let plain = ask.gravity.is_none()
        && ask.friction.is_none()
        && ask.restitution.is_none()
        && ask.params.is_empty();
    if plain {
        return Ok(scene);
    }
    let unreadable = |e: serde_json::Error| {
        Diagnostics::one(Diagnostic::without_place(file, "", e.to_string(), ""))
    };
    let mut tree: Value = serde_json::from_str(&explain_json(&scene)).map_err(unreadable)?;
    change(&mut tree, scene.world.method().name(), ask);
    let changed = load_str(&tree.to_string(), file, Format::Json, &options).map_err(|d| {
        // The text that was loaded is not the user's: its lines mean nothing.
        Diagnostics {
            errors: d
                .errors
                .into_iter()
                .map(|e| Diagnostic::without_place(&e.file, &e.field, e.reason, e.help))
                .collect(),
            more: d.more,
        }
    })?;
    Ok(Scene {
        name: scene.name,
        source: scene.source,
        warnings: scene.warnings,
        ..changed
    })
}

fn change(tree: &mut Value, method: &str, ask: &Ask) {
    if let Some(gravity) = ask.gravity {
        tree["world"]["gravity"] = json!(gravity);
    }
    for (name, value) in &ask.params {
        tree["method"][method][name] = value.clone();
    }
    let has_default = tree["material"]
        .as_array()
        .is_some_and(|m| m.iter().any(|m| m["name"] == "default"));
    if !has_default && (ask.friction.is_some() || ask.restitution.is_some()) {
        if !tree["material"].is_array() {
            tree["material"] = json!([]);
        }
        if let Some(list) = tree["material"].as_array_mut() {
            list.push(json!({"name": "default"}));
        }
    }
    for table in ["material", "pair"] {
        let entries = tree.get_mut(table).and_then(Value::as_array_mut);
        for entry in entries.into_iter().flatten() {
            if let Some(friction) = ask.friction {
                entry["friction_static"] = json!(friction);
                entry["friction_kinetic"] = json!(friction);
            }
            if let Some(restitution) = ask.restitution {
                entry["restitution"] = json!(restitution);
            }
        }
    }
}

/// The methods of this version, each with its parameters: those of the scene for its own, defaults for the others.
pub fn methods(scene: &Scene) -> BTreeMap<String, Value> {
    let own = scene.world.method().name();
    let mut list = BTreeMap::new();
    for name in METHOD_NAMES {
        if Method::from_name(name).is_none() {
            continue;
        }
        let params = if name == own {
            serde_json::to_value(&scene.resolved).map(|v| v["method"][name].clone())
        } else {
            let text = format!("version = 1\n[method]\nname = {name:?}\n");
            load_str(&text, name, Format::Toml, &LoadOptions::default())
                .map_or(Ok(Value::Null), |s| {
                    serde_json::to_value(&s.resolved).map(|v| v["method"][name].clone())
                })
        };
        list.insert(name.to_owned(), params.unwrap_or(Value::Null));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: &str = "version = 1\n[[body]]\nname = \"floor\"\nkind = \"fixed\"\nshape.half_space = { normal = [0, 0, 1] }\n\
        [[body]]\nname = \"ball\"\nposition = [0, 0, 1]\nshape.sphere = { radius = 0.1 }\n";

    fn asked(ask: &Ask) -> Result<Scene, Diagnostics> {
        load(SCENE, "s.toml", Format::Toml, &LoadOptions::default(), ask)
    }

    #[test]
    fn only_what_is_asked_changes() {
        let plain = asked(&Ask::default()).unwrap();
        let ask = Ask {
            gravity: Some([0.0, 0.0, -1.62]),
            friction: Some(0.25),
            restitution: Some(0.75),
            dt: Some(0.004),
            params: [("sweeps".to_owned(), json!(33))].into(),
            ..Ask::default()
        };
        let changed = asked(&ask).unwrap();
        assert_eq!(changed.world.gravity().z, -1.62);
        assert_eq!(changed.dt, 0.004);
        let surface = changed
            .world
            .materials()
            .lookup(tippe::MaterialId::DEFAULT, tippe::MaterialId::DEFAULT)
            .0;
        assert_eq!(
            (
                surface.friction_static,
                surface.friction_kinetic,
                surface.restitution
            ),
            (0.25, 0.25, 0.75)
        );
        assert_eq!(methods(&changed)["sequential"]["sweeps"], 33);
        assert_eq!(changed.world.hash(), plain.world.hash());
        assert_eq!(changed.source, SCENE);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        for (ask, field) in [
            (
                Ask {
                    friction: Some(-1.0),
                    ..Ask::default()
                },
                "friction_static",
            ),
            (
                Ask {
                    params: [("sweeps".to_owned(), json!(0))].into(),
                    ..Ask::default()
                },
                "sweeps",
            ),
            (
                Ask {
                    params: [("nonsense".to_owned(), json!(0))].into(),
                    ..Ask::default()
                },
                "nonsense",
            ),
            (
                Ask {
                    dt: Some(-1.0),
                    ..Ask::default()
                },
                "dt",
            ),
            (
                Ask {
                    method: Some("magic".into()),
                    ..Ask::default()
                },
                "method",
            ),
        ] {
            let errors = asked(&ask).unwrap_err().errors;
            assert!(
                errors.iter().any(|e| e.field.contains(field)),
                "{field}: {errors:?}"
            );
        }
    }
}
