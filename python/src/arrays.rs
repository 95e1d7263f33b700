//! Vectors and arrays between NumPy and the library: f64, C order, quaternions as (w, x, y, z).
//!
//! Reads: arguments from Python.  Writes: arrays that belong to NumPy.
//! Called by: `world`, `parts`, `batch`.
//! Source: docs/python.md, "Arrays".

use crate::errors::refused;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use tippe::{Pose, Quat, Vec3};

/// A vector as Python gives it.
pub fn vector([x, y, z]: [f64; 3]) -> Vec3 {
    Vec3::new(x, y, z)
}

/// A rotation from (w, x, y, z), of any length but zero.
pub fn rotation(py: Python<'_>, field: &str, [w, x, y, z]: [f64; 4]) -> PyResult<Quat> {
    let q = Quat::from_xyzw(x, y, z, w);
    let length = q.length();
    if !(length.is_finite() && length > 1e-6) {
        return Err(refused(
            py,
            field,
            "must be finite and not zero, as (w, x, y, z)",
        ));
    }
    Ok(q / length)
}

/// A pose from position and rotation.
pub fn pose(py: Python<'_>, position: [f64; 3], quaternion: [f64; 4]) -> PyResult<Pose> {
    Ok(Pose::new(
        vector(position),
        rotation(py, "rotation", quaternion)?,
    ))
}

/// (w, x, y, z).
pub const fn wxyz(q: Quat) -> [f64; 4] {
    [q.w, q.x, q.y, q.z]
}

/// A new array of one dimension.
pub fn row<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_slice(py, values)
}

/// A row of a table: `N` numbers.
pub fn table<'py, const N: usize>(
    py: Python<'py>,
    out: Option<Bound<'py, PyArray2<f64>>>,
    rows: impl ExactSizeIterator<Item = [f64; N]>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let count = rows.len();
    let out = match out {
        Some(out) => out,
        None => PyArray2::zeros(py, [count, N], false),
    };
    if out.shape() != [count, N] {
        let (have, want) = (out.shape(), [count, N]);
        return Err(refused(
            py,
            "out",
            &format!("must have shape {want:?}, has {have:?}"),
        ));
    }
    if !out.is_c_contiguous() {
        return Err(refused(py, "out", "must be contiguous in C order"));
    }
    {
        let mut write = out
            .try_readwrite()
            .map_err(|e| refused(py, "out", &e.to_string()))?;
        let target = write
            .as_slice_mut()
            .map_err(|e| refused(py, "out", &e.to_string()))?;
        for (place, values) in target.chunks_exact_mut(N).zip(rows) {
            place.copy_from_slice(&values);
        }
    }
    Ok(out)
}
