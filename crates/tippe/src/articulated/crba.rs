//! The joint-space inertia matrix M by the composite-rigid-body algorithm.
//!
//! Reads: `Model`, positions.  Writes: `Work` (frames, composites), the matrix.
//! Called by: users; `sparse` factors what comes out.
//! Source: [Featherstone08] table 6.2.

use super::error::TreeError;
use super::joint::Plain;
use super::kinematics::place;
use super::model::{Model, WORLD};
use super::spatial::{Force, Motion};
use super::work::Work;
use crate::math::Vec3;

/// The matrix M of `M q̈ + C = τ`, row by row, `freedom_count()` squared numbers [kg·m², kg·m or kg].
pub fn crba(model: &Model, q: &[f64], work: &mut Work, M: &mut [f64]) -> Result<(), TreeError> {
    model.check_positions(q)?;
    let n = model.freedom_count();
    model.check_output("M", M.len(), n * n)?;
    work.check(model)?;
    work.reset();
    for i in 1..model.nodes.len() {
        let node = &model.nodes[i];
        work.frames[i] = place(node, q)?;
        work.composites[i] = node.inertia;
    }
    M.fill(0.0);
    for i in (1..model.nodes.len()).rev() {
        let node = &model.nodes[i];
        let composite = work.composites[i];
        for k in 0..node.joint.freedom_count() {
            let row = node.v as usize + k;
            // F = Ic S, carried inward: H_jiᵀ = S_jᵀ F.
            let mut force = composite.times(axis(node.joint, k));
            for l in 0..=k {
                let column = node.v as usize + l;
                let entry = component(node.joint, l, force);
                (M[row * n + column], M[column * n + row]) = (entry, entry);
            }
            M[row * n + row] += model.armature[row];
            let mut at = i;
            while model.nodes[at].parent as usize != WORLD {
                force = work.frames[at].force_to_parent(force);
                at = model.nodes[at].parent as usize;
                let up = &model.nodes[at];
                for l in 0..up.joint.freedom_count() {
                    let column = up.v as usize + l;
                    let entry = component(up.joint, l, force);
                    (M[row * n + column], M[column * n + row]) = (entry, entry);
                }
            }
        }
        let parent = node.parent as usize;
        if parent != WORLD {
            let moved = composite.carried(&work.frames[i]);
            work.composites[parent] = work.composites[parent].plus(&moved);
        }
    }
    Ok(())
}

/// Column `k` of S.
pub(super) fn axis(joint: Plain, k: usize) -> Motion {
    let unit = |k: usize| Vec3::AXES[k];
    match joint {
        Plain::Hinge => Motion::new(Vec3::Z, Vec3::ZERO),
        Plain::Slider => Motion::new(Vec3::ZERO, Vec3::Z),
        Plain::Free if k >= 3 => Motion::new(Vec3::ZERO, unit(k - 3)),
        Plain::Ball | Plain::Free => Motion::new(unit(k), Vec3::ZERO),
    }
}

/// Entry `k` of `Sᵀ f`.
pub(super) fn component(joint: Plain, k: usize, f: Force) -> f64 {
    match joint {
        Plain::Hinge => f.torque.z,
        Plain::Slider => f.force.z,
        Plain::Free if k >= 3 => f.force[k - 3],
        Plain::Ball | Plain::Free => f.torque[k],
    }
}
