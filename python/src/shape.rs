//! Shapes as Python holds them.
//!
//! Reads: sizes.  Writes: nothing.
//! Called by: users of the package.
//! Source: docs/python.md.

use crate::arrays::vector;
use crate::errors::raise;
use pyo3::prelude::*;
use std::sync::Arc;
use tippe::ConvexHull;

/// A shape; made by `Shape.sphere(0.1)` and the like.
#[pyclass(module = "tippe", frozen, from_py_object)]
#[derive(Clone)]
pub struct Shape(pub tippe::Shape);

/// Refuses sizes that make no sense.
fn checked(py: Python<'_>, shape: tippe::Shape) -> PyResult<Shape> {
    shape.check().map_err(|e| raise(py, e))?;
    Ok(Shape(shape))
}

#[pymethods]
impl Shape {
    /// A ball.
    #[staticmethod]
    fn sphere(py: Python<'_>, radius: f64) -> PyResult<Self> {
        checked(py, tippe::Shape::Sphere { radius })
    }

    /// A box with half its edge lengths.
    #[staticmethod]
    #[pyo3(name = "box")]
    fn cuboid(py: Python<'_>, half: [f64; 3]) -> PyResult<Self> {
        checked(py, tippe::Shape::Cuboid { half: vector(half) })
    }

    /// A capsule along z.
    #[staticmethod]
    fn capsule(py: Python<'_>, half_length: f64, radius: f64) -> PyResult<Self> {
        checked(
            py,
            tippe::Shape::Capsule {
                half_length,
                radius,
            },
        )
    }

    /// A cylinder along z.
    #[staticmethod]
    fn cylinder(py: Python<'_>, half_length: f64, radius: f64) -> PyResult<Self> {
        checked(
            py,
            tippe::Shape::Cylinder {
                half_length,
                radius,
            },
        )
    }

    /// A cone along z, its apex up.
    #[staticmethod]
    fn cone(py: Python<'_>, half_length: f64, radius: f64) -> PyResult<Self> {
        checked(
            py,
            tippe::Shape::Cone {
                half_length,
                radius,
            },
        )
    }

    /// The convex hull of points, (n, 3).
    #[staticmethod]
    fn hull(py: Python<'_>, points: Vec<[f64; 3]>) -> PyResult<Self> {
        let points: Vec<tippe::Vec3> = points.into_iter().map(vector).collect();
        let hull = ConvexHull::new(&points).map_err(|e| raise(py, e))?;
        Ok(Self(tippe::Shape::Hull(Arc::new(hull))))
    }

    /// All below a plane through the body's origin; for fixed and kinematic bodies.
    #[staticmethod]
    #[pyo3(signature = (normal = [0.0, 0.0, 1.0]))]
    fn half_space(py: Python<'_>, normal: [f64; 3]) -> PyResult<Self> {
        let n = vector(normal);
        let normal = if n.is_finite() && n.length() > 0.0 {
            n / n.length()
        } else {
            n
        };
        checked(py, tippe::Shape::HalfSpace { normal })
    }

    fn __repr__(&self) -> String {
        format!("<tippe.Shape {:?}>", self.0)
    }
}
