//! Errors of the library as Python's exceptions, with `field`, `reason` and `place`.
//!
//! Reads: `tippe::Error`, `tippe_scene::Diagnostics`.  Writes: exceptions of `tippe._errors`.
//! Called by: every other file.
//! Source: docs/python.md, "Errors".

use pyo3::prelude::*;
use pyo3::types::PyType;
use tippe::Error;

/// Makes an exception of a class of `tippe._errors`.
pub fn exception(py: Python<'_>, class: &str, field: &str, reason: &str, place: &str) -> PyErr {
    let made = py
        .import("tippe._errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| Ok(class.cast_into::<PyType>()?))
        .and_then(|class| class.call1((field, reason, place)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The exception of an error of the library.
pub fn raise(py: Python<'_>, error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let class = match &error {
        Error::Build(_) => "BuildError",
        Error::Step(_) => "StepError",
        Error::Snapshot(_) => "SnapshotError",
        Error::UnknownId { .. } => "UnknownId",
        Error::Scene { .. } => "SceneError",
        Error::Robot(_) => "RobotError",
        _ => "Error",
    };
    exception(py, class, error.field(), &error.reason(), error.place())
}

/// The exception of an argument that makes no sense.
pub fn refused(py: Python<'_>, field: &str, reason: &str) -> PyErr {
    exception(py, "BuildError", field, reason, "")
}

/// The exception of a name that nothing has, with the nearest one that something has.
pub fn unknown<'a>(
    py: Python<'_>,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> PyErr {
    let known: Vec<&str> = known.collect();
    let hint = tippe_scene::nearest(name, known.iter().copied());
    let hint = hint.map_or_else(String::new, |n| format!("; did you mean {n:?}?"));
    exception(
        py,
        "UnknownId",
        what,
        &format!("no {what} is called {name:?}{hint}"),
        "",
    )
}

/// The exception of a scene that was refused: all that is wrong in its text, the first of it as field, reason and place.
pub fn scene_refused(py: Python<'_>, found: tippe_scene::Diagnostics) -> PyErr {
    let message = found.to_string();
    let error = Error::from(found);
    let made = exception(
        py,
        "SceneError",
        error.field(),
        &error.reason(),
        error.place(),
    );
    // A message that cannot be set leaves the first fault as the message.
    let _ = made.value(py).setattr("message", message);
    made
}

/// What keeps a world from being used.
pub enum Fault {
    /// Another thread uses it.
    Busy,
    /// A panic left it in the middle of something.
    Broken,
    /// The library refused.
    Library(Error),
    /// Python interrupted.
    Python(PyErr),
}

impl<E: Into<Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::Library(error.into())
    }
}

impl Fault {
    /// As an exception.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Busy => exception(py, "BusyError", "world", "another thread is using it", ""),
            Self::Broken => exception(
                py,
                "Error",
                "world",
                "an internal error left it unusable; restore a snapshot",
                "",
            ),
            Self::Library(error) => raise(py, error),
            Self::Python(error) => error,
        }
    }
}
