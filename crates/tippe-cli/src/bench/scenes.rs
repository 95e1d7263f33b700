//! The standard speed scenes: which there are, how they are stepped, and for how long.
//!
//! Reads: scene files, built into the program so that it measures them from any folder.  Writes: nothing.
//! Called by: `bench`.
//! Source: docs/speed.md, "Scenes".

use tippe_scene::{Format, LoadOptions, Scene, load_str};

/// One scene to measure.
#[derive(Clone, Copy, Debug)]
pub struct Standard {
    /// Name on the command line.
    pub name: &'static str,
    /// Name of the scene file, for messages.
    file: &'static str,
    /// Text of the scene file.
    text: &'static str,
    /// Step length [s], in place of the scene's.
    dt: Option<f64>,
    /// Steps unless the user says otherwise; `None` for a full run of the scene.
    steps: Option<u64>,
}

/// All of them, in the order of docs/speed.md.
pub const STANDARD: [Standard; 6] = [
    Standard {
        name: "funnel",
        file: "funnel.toml",
        text: include_str!("../../../../scenes/funnel.toml"),
        dt: None,
        steps: None,
    },
    Standard {
        name: "funnel-1ms",
        file: "funnel.toml",
        text: include_str!("../../../../scenes/funnel.toml"),
        dt: Some(0.001),
        // Two seconds: the cubes have met the plates and each other. The full scene has 6000 steps.
        steps: Some(2000),
    },
    Standard {
        name: "pyramid",
        file: "pyramid.toml",
        text: include_str!("../../../../scenes/pyramid.toml"),
        dt: None,
        steps: None,
    },
    Standard {
        name: "pile",
        file: "pile.toml",
        text: include_str!("../../../../scenes/pile.toml"),
        dt: None,
        steps: None,
    },
    Standard {
        name: "joint-grid",
        file: "joint-grid.toml",
        text: include_str!("../../../../scenes/joint-grid.toml"),
        dt: None,
        steps: None,
    },
    Standard {
        name: "towers",
        file: "towers.toml",
        text: include_str!("../../../../scenes/towers.toml"),
        dt: None,
        steps: None,
    },
];

impl Standard {
    /// The scene, ready to step, or why it cannot be measured.
    pub fn load(&self) -> Result<Scene, String> {
        let options = LoadOptions {
            dt: self.dt,
            ..LoadOptions::default()
        };
        load_str(self.text, self.file, Format::Toml, &options).map_err(|errors| errors.to_string())
    }

    /// Steps to take, given what the user asked for.
    pub fn steps(&self, scene: &Scene, wanted: Option<u64>) -> u64 {
        wanted.or(self.steps).unwrap_or_else(|| scene.step_count())
    }
}

/// The scenes of these names in the order of the names; all if there are none.
///
/// # Errors
/// The names that mean nothing.
pub fn chosen(names: &[String]) -> Result<Vec<Standard>, String> {
    if names.is_empty() {
        return Ok(STANDARD.to_vec());
    }
    let find = |name: &String| STANDARD.iter().find(|s| s.name == name);
    let unknown: Vec<&str> = names
        .iter()
        .filter(|n| find(n).is_none())
        .map(String::as_str)
        .collect();
    if unknown.is_empty() {
        Ok(names.iter().filter_map(find).copied().collect())
    } else {
        Err(format!(
            "no speed scene {}; they are {}",
            unknown.join(", "),
            STANDARD.map(|s| s.name).join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_load_and_have_their_steps() {
        for standard in &STANDARD {
            let scene = standard.load().unwrap();
            assert!(standard.steps(&scene, None) >= 600, "{}", standard.name);
            assert_eq!(standard.steps(&scene, Some(3)), 3);
        }
    }

    #[test]
    fn names_choose_in_their_order_and_unknown_ones_are_named() {
        let names = |list: &[&str]| list.iter().map(|s| (*s).to_string()).collect::<Vec<_>>();
        assert_eq!(chosen(&[]).unwrap().len(), STANDARD.len());
        let two: Vec<&str> = chosen(&names(&["towers", "pile"]))
            .unwrap()
            .iter()
            .map(|s| s.name)
            .collect();
        assert_eq!(two, ["towers", "pile"]);
        let error = chosen(&names(&["pile", "nile", "mile"])).unwrap_err();
        assert!(
            error.starts_with("no speed scene nile, mile; they are funnel,"),
            "{error}"
        );
    }
}
