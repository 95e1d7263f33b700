//! What the assembly knows, laid open: the measure of every piece, and the accelerations of the whole tree by divide
//! and conquer.
//!
//! Reads: `Model`, `AdaptiveBody`.  Writes: measures, accelerations.
//! Called by: users who want to see where a tree moves; tests.
//! Source: [Featherstone99] (outward pass); iterative refinement as in [Golub13].

use super::assembly::{Assembly, freedoms};
use super::body::{AdaptiveBody, AdaptiveInput, world};
use super::desc::AdaptiveState;
use super::join::{Bias, bias};
use super::select::enter;
use crate::articulated::error::TreeError;
use crate::articulated::model::Model;
use crate::articulated::rnea::rnea;
use crate::articulated::six::Six;
use crate::articulated::work::Work;

/// One piece of the assembly.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceMeasure {
    /// Plain joints inside.
    pub joints: Vec<usize>,
    /// Its score A(C), from its handles alone.
    pub measure: f64,
    /// Its velocity metric V(C) = Σ w q̇².
    pub speed: f64,
}

impl AdaptiveBody {
    /// The score of every piece of the assembly that has a joint inside, were everything to move.
    pub fn measures(
        &mut self,
        model: &Model,
        state: &AdaptiveState,
        h: f64,
        input: &AdaptiveInput,
        q: &[f64],
        v: &[f64],
    ) -> Result<Vec<PieceMeasure>, TreeError> {
        self.refresh(model, state, h, input, q, v)?;
        let s = &self.assembly;
        // V(C) is a plain sum, from the links to the whole.
        let mut speeds = vec![0.0; s.plan.nodes.len()];
        for i in 0..speeds.len() {
            let (p, l, r) = s.parts(i);
            if !p.is_leaf() {
                let own = freedoms(model, &p).map(|k| s.weights[k] * s.rates[k] * s.rates[k]);
                speeds[i] = own.sum::<f64>() + speeds[l] + speeds[r];
            }
        }
        let mut out = Vec::new();
        outward(s, &s.biases, world(model), |i, a, f, _| {
            let p = s.plan.nodes[i];
            let inside = &s.plan.nodes[p.first as usize..=i];
            let joints = inside.iter().filter(|n| n.joint != 0);
            out.push(PieceMeasure {
                joints: joints.map(|n| n.joint as usize - 1).collect(),
                measure: s.judge.measure(&s.quadratics[i], &s.affines[i], a, f),
                speed: speeds[i],
            });
        });
        Ok(out)
    }

    /// Accelerations of all joints by the assembly, as `aba` with springs and friction of the joints added, refined
    /// once by the residual of the inverse dynamics.
    pub fn full_accelerations(
        &mut self,
        model: &Model,
        state: &AdaptiveState,
        input: &AdaptiveInput,
        q: &[f64],
        v: &[f64],
        acceleration: &mut [f64],
    ) -> Result<(), TreeError> {
        model.check_output("acceleration", acceleration.len(), model.freedom_count())?;
        let slow = std::mem::replace(&mut self.desc.slow_turn, 0.0);
        let refreshed = self.refresh(model, state, 1.0, input, q, v);
        self.desc.slow_turn = slow;
        refreshed?;
        let s = &self.assembly;
        outward(s, &s.biases, world(model), |i, _, _, rate| {
            let at = freedoms(model, &s.plan.nodes[i]);
            let d = at.len();
            acceleration[at].copy_from_slice(&rate[..d]);
        });
        let mut found = vec![0.0; acceleration.len()];
        let mut work = Work::new(model);
        rnea(
            model,
            q,
            v,
            acceleration,
            input.loads,
            &mut work,
            &mut found,
        )?;
        for (i, f) in found.iter_mut().enumerate() {
            *f = s.torque(i) - *f;
        }
        let biases = self.joint_biases(model, &found);
        let s = &self.assembly;
        outward(s, &biases, [0.0; 6], |i, _, _, rate| {
            for (k, f) in freedoms(model, &s.plan.nodes[i]).enumerate() {
                acceleration[f] += rate[k];
            }
        });
        Ok(())
    }

    /// Biases of all pieces under torques alone.
    fn joint_biases(&self, model: &Model, torques: &[f64]) -> Vec<Bias> {
        let s = &self.assembly;
        let mut out = vec![Bias::default(); s.plan.nodes.len()];
        for i in 0..out.len() {
            let (p, l, r) = s.parts(i);
            if !p.is_leaf() {
                out[i] = bias(
                    &s.joins[i],
                    (&s.handles[l], &out[l]),
                    (&s.handles[r], &out[r]),
                    &torques[freedoms(model, &p)],
                    &[0.0; 6],
                    p.side,
                    p.open,
                );
            }
        }
        out
    }
}

/// From the whole inwards: `see` gets each piece with a joint, its base acceleration, the force on its tip and its
/// joint acceleration.
fn outward(
    s: &Assembly,
    biases: &[Bias],
    world: Six,
    mut see: impl FnMut(usize, &Six, &Six, &Six),
) {
    let mut open = vec![(s.plan.root(), world, [0.0; 6])];
    while let Some((i, a, f)) = open.pop() {
        let (p, l, r) = s.parts(i);
        if p.is_leaf() {
            continue;
        }
        let (x, left, right) = enter(s, i, &biases[i], &a, &f);
        see(i, &a, &f, &x.rate);
        open.push((l, a, left));
        open.push((r, x.base, right));
    }
}
