//! Scenes from files, texts and dictionaries.
//!
//! Reads: scene files.  Writes: nothing.
//! Called by: users of the package; `batch`.
//! Source: docs/scene-format.md.

use crate::errors::{refused, scene_refused};
use crate::world::World;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use tippe_scene::{Format, LoadOptions};

/// Where a scene comes from, to be loaded again with other values.
#[derive(Clone)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// A text.
    Text(String, Format),
}

/// A scene: a world to begin with, its step and its length.
#[pyclass(module = "tippe", frozen)]
pub struct Scene {
    pub(crate) scene: tippe_scene::Scene,
    pub(crate) origin: Origin,
    pub(crate) options: LoadOptions,
}

/// Values by path as the scene format takes them.
pub fn overrides(py: Python<'_>, set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let mut list = Vec::new();
    let Some(set) = set else {
        return Ok(list);
    };
    let json = py.import("json")?;
    for (path, value) in set.iter() {
        let path: String = path.extract()?;
        // A value is written as in a scene: a word as it is, everything else as JSON has it.
        let value = match value.extract::<String>() {
            Ok(word) => word,
            Err(_) => json.call_method1("dumps", (plain(&value)?,))?.extract()?,
        };
        list.push(format!("{path}={value}"));
    }
    Ok(list)
}

/// Numbers and arrays of NumPy as Python's own.
fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if value.hasattr("tolist")? {
        value.call_method0("tolist")
    } else {
        Ok(value.clone())
    }
}

impl Origin {
    /// Loads it.
    pub fn load(
        &self,
        options: &LoadOptions,
    ) -> Result<tippe_scene::Scene, tippe_scene::Diagnostics> {
        match self {
            Self::File(path) => tippe_scene::load_file(path, options),
            Self::Text(text, format) => tippe_scene::load_str(text, "scene", *format, options),
        }
    }
}

fn made(py: Python<'_>, origin: Origin, options: LoadOptions) -> PyResult<Scene> {
    let loaded = py.detach(|| origin.load(&options));
    match loaded {
        Ok(scene) => Ok(Scene {
            scene,
            origin,
            options,
        }),
        Err(found) => Err(scene_refused(py, found)),
    }
}

#[pymethods]
impl Scene {
    /// A scene of a TOML or JSON file; `set` gives other values by path, such as `{"body.block.mass": 2}`.
    #[staticmethod]
    #[pyo3(signature = (path, *, set = None, method = None, dt = None))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        set: Option<&Bound<'_, PyDict>>,
        method: Option<String>,
        dt: Option<f64>,
    ) -> PyResult<Self> {
        let options = LoadOptions {
            set: overrides(py, set)?,
            method,
            dt,
            ..LoadOptions::default()
        };
        made(py, Origin::File(path), options)
    }

    /// A scene of a text; paths in it start from `folder`.
    #[staticmethod]
    #[pyo3(signature = (text, *, format = "toml", set = None, method = None, dt = None, folder = None))]
    fn parse(
        py: Python<'_>,
        text: String,
        format: &str,
        set: Option<&Bound<'_, PyDict>>,
        method: Option<String>,
        dt: Option<f64>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        let format = match format {
            "toml" => Format::Toml,
            "json" => Format::Json,
            other => {
                return Err(refused(
                    py,
                    "format",
                    &format!("must be \"toml\" or \"json\", got {other:?}"),
                ));
            }
        };
        let options = LoadOptions {
            set: overrides(py, set)?,
            method,
            dt,
            folder,
            ..LoadOptions::default()
        };
        made(py, Origin::Text(text, format), options)
    }

    /// A new world as the scene begins.
    fn world(&self) -> World {
        World::of_scene(&self.scene)
    }

    /// Title.
    #[getter]
    fn name(&self) -> &str {
        &self.scene.name
    }
    /// What it shows.
    #[getter]
    fn description(&self) -> &str {
        &self.scene.description
    }
    /// Length of a step [s].
    #[getter]
    const fn dt(&self) -> f64 {
        self.scene.dt
    }
    /// Simulated time [s].
    #[getter]
    const fn seconds(&self) -> f64 {
        self.scene.seconds
    }
    /// What loads but is probably not meant.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.scene
            .warnings
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    fn __repr__(&self) -> String {
        format!(
            "<tippe.Scene {:?}, {} bodies, dt = {}>",
            self.scene.name,
            self.scene.world.body_count(),
            self.scene.dt
        )
    }
}
