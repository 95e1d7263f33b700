//! One impact with friction, as a function.
//!
//! Reads: numbers.  Writes: nothing.
//! Called by: users of the package.
//! Source: docs/methods/impact-law.md.

use crate::arrays::{row, vector};
use crate::errors::{raise, unknown};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tippe::{ImpactLaw, Mat3, Surface, Vec3};

/// One impact: `K` (3, 3) maps an impulse on B to the change of the relative velocity `u` = u_B − u_A; the normal points from A to B. A dictionary
/// with impulse, velocity, slip, energy_change and the works of compression and restitution.
#[pyfunction]
#[pyo3(signature = (K, u, *, normal = [0.0, 0.0, 1.0], friction = 0.0, restitution = 0.0, law = "stronge"))]
#[allow(non_snake_case)]
pub fn impact<'py>(
    py: Python<'py>,
    K: [[f64; 3]; 3],
    u: [f64; 3],
    normal: [f64; 3],
    friction: f64,
    restitution: f64,
    law: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let laws = [
        ("stronge", ImpactLaw::Stronge),
        ("poisson", ImpactLaw::Poisson),
        ("newton", ImpactLaw::Newton),
    ];
    let Some((_, impact_law)) = laws.iter().find(|l| l.0 == law) else {
        return Err(unknown(py, "law", law, laws.iter().map(|l| l.0)));
    };
    let surface = Surface {
        impact_law: *impact_law,
        ..Surface::new(friction, restitution)
    };
    let rows = K.map(Vec3::from_array);
    let matrix = Mat3::from_cols(rows[0], rows[1], rows[2]).transpose();
    let found = tippe::dynamics::impact::impact(matrix, vector(normal), vector(u), &surface)
        .map_err(|e| raise(py, e))?;
    let told = PyDict::new(py);
    told.set_item("impulse", row(py, &found.impulse.to_array()))?;
    told.set_item("velocity", row(py, &found.velocity.to_array()))?;
    told.set_item("slip", format!("{:?}", found.slip).to_lowercase())?;
    told.set_item("energy_change", found.energy_change)?;
    told.set_item("compression_work", found.compression_work)?;
    told.set_item("restitution_work", found.restitution_work)?;
    Ok(told)
}
