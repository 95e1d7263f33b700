//! The Python package of Tippe. Everything here translates: physics, checks and messages are those of the library.
//!
//! Reads: arguments from Python.  Writes: worlds; arrays that belong to NumPy.
//! Called by: `python/tippe/__init__.py`.
//! Source: docs/python.md.

mod arrays;
mod batch;
mod errors;
mod impact;
mod parts;
mod report;
mod scene;
mod shape;
mod world;

/// The extension module; `tippe` gives its names to users.
#[pyo3::pymodule]
mod _tippe {
    #[pymodule_export]
    use super::batch::Batch;
    #[pymodule_export]
    use super::impact::impact;
    #[pymodule_export]
    use super::parts::{Articulation, Body, Contact, Event, Joint};
    #[pymodule_export]
    use super::report::{Energy, Report, Residuals};
    #[pymodule_export]
    use super::scene::Scene;
    #[pymodule_export]
    use super::shape::Shape;
    #[pymodule_export]
    use super::world::World;
}
