//! Factorisation M = LᵀL that keeps the zeros between branches, and its solves.
//!
//! Reads: `Model` (who carries whom), M.  Writes: the factor in place of M; solutions in place of right-hand sides.
//! Called by: users, after `crba`.
//! Source: [Featherstone08] §6.5, tables 6.3 and 6.4: elimination from the leaves makes no fill.

use super::error::TreeError;
use super::model::{Model, NONE};

/// Replaces M by L (entries of row k at the freedoms that carry k). Only those entries are read and written.
pub fn factor(model: &Model, M: &mut [f64]) -> Result<(), TreeError> {
    let n = model.freedom_count();
    model.check_output("M", M.len(), n * n)?;
    let up = |i: usize| model.freedom_parents[i];
    for k in (0..n).rev() {
        let d = M[k * n + k];
        if !(d > 0.0 && d.is_finite()) {
            let node = model.freedom_nodes[k] as usize;
            return Err(TreeError::Singular {
                link: model.nodes[node].link as usize,
            });
        }
        let d = d.sqrt();
        M[k * n + k] = d;
        let mut i = up(k);
        while i != NONE {
            M[k * n + i as usize] /= d;
            i = up(i as usize);
        }
        let mut i = up(k);
        while i != NONE {
            let factor = M[k * n + i as usize];
            let mut j = i;
            while j != NONE {
                M[i as usize * n + j as usize] -= factor * M[k * n + j as usize];
                j = up(j as usize);
            }
            i = up(i as usize);
        }
    }
    Ok(())
}

/// Solves `LᵀL x = b` in place, with L from `factor`.
pub fn solve(model: &Model, L: &[f64], x: &mut [f64]) -> Result<(), TreeError> {
    let n = model.freedom_count();
    model.check_output("L", L.len(), n * n)?;
    model.check_output("x", x.len(), n)?;
    // x ← L⁻ᵀ x
    for i in (0..n).rev() {
        x[i] /= L[i * n + i];
        let mut j = model.freedom_parents[i];
        while j != NONE {
            x[j as usize] -= L[i * n + j as usize] * x[i];
            j = model.freedom_parents[j as usize];
        }
    }
    // x ← L⁻¹ x
    for i in 0..n {
        let mut j = model.freedom_parents[i];
        while j != NONE {
            x[i] -= L[i * n + j as usize] * x[j as usize];
            j = model.freedom_parents[j as usize];
        }
        x[i] /= L[i * n + i];
    }
    Ok(())
}
