//! Impulses, contacts and limits on the hybrid body.
//!
//! Reads: `Model`, `AdaptiveState`, `AdaptiveBody`.  Writes: velocities, `AdaptiveState`; `AdaptiveBody`.
//! Called by: users.
//! Source: [Articulated] slides 45–46. Locked joints make a body too stiff, K_hybrid ⪯ K_full, so before a contact is
//! answered joints are chosen by what a unit impulse along its normal would do, and released.

use super::body::{AdaptiveBody, AdaptiveInput, Selection};
use super::desc::{AdaptiveState, Choice};
use super::join::{Bias, bias};
use super::metric::{Affine, Judge};
use super::plan::NONE;
use super::select::{Field, Region, choose};
use crate::articulated::aba::articulate;
use crate::articulated::collision::{OtherSide, Touch, collision_matrix, strike};
use crate::articulated::error::TreeError;
use crate::articulated::jacobian::jacobian;
use crate::articulated::kinematics::poses;
use crate::articulated::load::Load;
use crate::articulated::model::Model;
use crate::articulated::response::impulse_response;
use crate::articulated::rnea::rnea;
use crate::articulated::six::force;
use crate::articulated::spatial::{Force, Frame};
use crate::articulated::work::Work;
use crate::dynamics::impact::Impact;
use crate::error::BuildError;
use crate::material::Surface;
use crate::math::{Mat3, Vec3};

/// Share of the measure of an impulse that may stay locked, where joints are chosen by an error bound [1].
const IMPULSE_SHARE: f64 = 1e-3;
/// A residual of the inverse dynamics above this fraction of the torques is worth a second solve [1].
const REFINE: f64 = 1e-14;

/// The hybrid body as an ordinary tree: link 0 is the world, link k what its joint k carries.
#[derive(Debug)]
pub struct HybridView<'a> {
    /// Its model.
    pub model: &'a Model,
    /// Positions of the moving joints.
    pub q: &'a mut [f64],
    /// Velocities of the moving joints.
    pub v: &'a mut [f64],
    /// Scratch for this model.
    pub work: &'a mut Work,
    /// Place of each of its freedoms among those of the whole tree.
    pub freedoms: &'a [u32],
}

impl AdaptiveBody {
    /// The hybrid body at `q` and `v`, for the functions that take a model. Give back what they changed with `store`.
    pub fn hybrid(
        &mut self,
        model: &Model,
        state: &AdaptiveState,
        q: &[f64],
        v: &[f64],
    ) -> Result<HybridView<'_>, TreeError> {
        self.check_sizes(model, state, q, v, v)?;
        self.make(model, state, q)?;
        self.hybrid.gather(q, v);
        let h = &mut self.hybrid;
        Ok(HybridView {
            model: &h.model,
            q: &mut h.q,
            v: &mut h.v,
            work: &mut h.work,
            freedoms: &h.v_at,
        })
    }

    /// Writes positions and velocities of the hybrid body back to those of the whole tree.
    pub fn store(&self, model: &Model, q: &mut [f64], v: &mut [f64]) -> Result<(), TreeError> {
        model.check_output("q", q.len(), model.position_count())?;
        model.check_output("v", v.len(), model.freedom_count())?;
        self.hybrid.scatter(q, v);
        Ok(())
    }

    /// The link of the hybrid body that a link is part of, and its frame there. Links of one rigid piece collide as one
    /// body.
    pub fn hybrid_link(&self, model: &Model, link: usize) -> Result<(usize, Frame), TreeError> {
        self.hybrid.link(model, &self.assembly, link)
    }

    /// A contact of links as one of the hybrid body.
    pub fn hybrid_touch(&self, model: &Model, touch: &Touch) -> Result<Touch, TreeError> {
        self.hybrid.touch(model, &self.assembly, touch)
    }

    /// Accelerations of the moving joints; those of locked joints are zero. One refinement by the residual of the
    /// inverse dynamics over the moving joints takes back digits that long rigid pieces cost. Returns the residual that
    /// was found [N·m or N].
    pub fn accelerations(
        &mut self,
        model: &Model,
        state: &AdaptiveState,
        input: &AdaptiveInput,
        q: &[f64],
        v: &[f64],
        acceleration: &mut [f64],
    ) -> Result<f64, TreeError> {
        self.check_sizes(model, state, q, v, input.tau)?;
        model.check_output("acceleration", acceleration.len(), model.freedom_count())?;
        self.make(model, state, q)?;
        self.hybrid.gather(q, v);
        self.gather_input(model, input)?;
        let mut a = vec![0.0; self.hybrid.v.len()];
        let residual = self.accelerate(&mut a).map_err(|e| self.named(model, e))?;
        acceleration.fill(0.0);
        for (x, i) in a.iter().zip(&self.hybrid.v_at) {
            acceleration[*i as usize] = *x;
        }
        Ok(residual)
    }

    fn accelerate(&mut self, a: &mut [f64]) -> Result<f64, TreeError> {
        let n = a.len();
        let (tau, loads) = (&self.tau, &self.loads);
        let h = &mut self.hybrid;
        let mut spring = tau.clone();
        for (t, (b, v)) in spring.iter_mut().zip(h.model.viscous.iter().zip(&h.v)) {
            *t -= b * v;
        }
        for s in &h.model.springs {
            spring[s.v as usize] += s.torque(&h.q);
        }
        crate::articulated::aba::aba(&h.model, &h.q, &h.v, &spring, loads, &mut h.work, a)?;
        let (mut found, mut held) = (vec![0.0; n], vec![0.0; n]);
        rnea(&h.model, &h.q, &h.v, a, loads, &mut h.work, &mut found)?;
        // How large the torques are that nearly cancel: those that hold the tree still.
        rnea(
            &h.model,
            &h.q,
            &h.v,
            &vec![0.0; n],
            loads,
            &mut h.work,
            &mut held,
        )?;
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        for (f, t) in found.iter_mut().zip(&spring) {
            *f = t - *f;
        }
        let residual = largest(&found);
        if residual > REFINE * largest(&held).max(largest(&spring)) {
            let mut change = vec![0.0; n];
            articulate(&h.model, &h.q, &mut h.work)?;
            crate::articulated::response::joint_response(
                &h.model,
                &found,
                &mut h.work,
                &mut change,
            )?;
            for (a, d) in a.iter_mut().zip(&change) {
                *a += d;
            }
        }
        Ok(residual)
    }

    /// Before impacts: releases the joints that unit impulses along the normals of these contacts would move most,
    /// within the budget; slow joints that have no part in it are locked. Joints that move fast go on moving: where they
    /// leave less than half of the budget, the impact has half of it on top of them. The next step selects again.
    pub fn select_for_impact(
        &mut self,
        model: &Model,
        state: &mut AdaptiveState,
        h: f64,
        input: &AdaptiveInput,
        contacts: &[(Touch, Vec3)],
        q: &[f64],
        v: &mut [f64],
    ) -> Result<Selection, TreeError> {
        let (now, refreshed) = self.refresh(model, state, h, input, q, v)?;
        let mut impulses = Vec::new();
        for (touch, n) in contacts {
            for (end, sign) in touch.ends() {
                let load = Load::new(end.link, end.point, *n * sign);
                let node = model.link("link", end.link)?.node;
                let on = self.hybrid.load(model, &self.assembly, &load)?;
                let (_, f) = on.on_node(&self.hybrid.model, &self.hybrid.work)?;
                let (_, frame) = self.hybrid.place_of(&self.assembly, node as usize);
                impulses.push((node, frame.force_to_child(f)));
            }
        }
        let (slots, list) = self.impulse_biases(&impulses, model);
        let field = Field {
            judge: Judge::CHANGE,
            world: [0.0; 6],
            impulses: Some((&slots, &list)),
        };
        let must = self.region_of(self.held(model, &now, q, v, input)?);
        let held = must.moves.iter().filter(|m| **m).count();
        let closed = Region::closed(&self.assembly.plan);
        let choice = match self.desc.choice {
            Choice::Joints(m) => Choice::Joints(m.max(held + m.div_ceil(2))),
            Choice::Error(_) => {
                let all = choose(
                    model,
                    &self.assembly,
                    &field,
                    Choice::Joints(0),
                    &closed,
                    &closed,
                );
                Choice::Error(IMPULSE_SHARE * all.total)
            }
        };
        let chosen = choose(model, &self.assembly, &field, choice, &must, &closed);
        let mut out = self.change(model, state, &now, &chosen, q, v)?;
        (out.refreshed, out.visited) = (refreshed, chosen.visited);
        state.request();
        Ok(out)
    }

    /// Biases and measures of the pieces that contain a struck link; every other piece has none.
    fn impulse_biases(
        &self,
        impulses: &[(u32, Force)],
        model: &Model,
    ) -> (Vec<u32>, Vec<(Bias, Affine)>) {
        let plan = &self.assembly.plan;
        let mut slots = vec![NONE; plan.nodes.len()];
        let mut path = Vec::new();
        for (node, _) in impulses {
            let mut at = plan.leaf_of[*node as usize];
            while at != NONE && slots[at as usize] == NONE {
                slots[at as usize] = 0;
                path.push(at);
                at = plan.nodes[at as usize].parent;
            }
        }
        path.sort_unstable();
        let mut list: Vec<(Bias, Affine)> = Vec::with_capacity(path.len());
        for &i in &path {
            let (p, l, r) = self.assembly.parts(i as usize);
            let mut own = (Bias::default(), Affine::default());
            if p.is_leaf() {
                for (node, f) in impulses {
                    if plan.leaf_of[*node as usize] == i {
                        own.0.p = crate::articulated::six::plus(&own.0.p, &force(*f), -1.0);
                    }
                }
            } else {
                let of = |j: usize| {
                    let found = list.get(slots[j] as usize).copied();
                    found.unwrap_or_default()
                };
                let (a, b) = (of(l), of(r));
                let handles = &self.assembly.handles;
                own.0 = bias(
                    &self.assembly.joins[i as usize],
                    (&handles[l], &a.0),
                    (&handles[r], &b.0),
                    &[],
                    &[0.0; 6],
                    p.side,
                    p.open,
                );
                let change = Judge::CHANGE;
                own.1 = self
                    .assembly
                    .affine_of(model, i as usize, change, &own.0, &a.1, &b.1);
            }
            slots[i as usize] = list.len() as u32;
            list.push(own);
        }
        (slots, list)
    }

    /// K of a contact [1/kg] through the moving joints: symmetric, and nowhere greater than that of the whole tree.
    pub fn collision_matrix(
        &mut self,
        model: &Model,
        state: &AdaptiveState,
        touch: &Touch,
        q: &[f64],
        v: &[f64],
    ) -> Result<Mat3, TreeError> {
        self.articulate(model, state, q, v)?;
        let on = self.hybrid.touch(model, &self.assembly, touch)?;
        let h = &mut self.hybrid;
        let K = collision_matrix(&h.model, &on, &mut h.work)?;
        Ok((K + K.transpose()) * 0.5)
    }

    /// Changes of all velocities by impulses on links, zero where joints are locked, and the reaction of the world.
    pub fn impulse_response(
        &mut self,
        model: &Model,
        state: &AdaptiveState,
        impulses: &[Load],
        q: &[f64],
        v: &[f64],
        change: &mut [f64],
    ) -> Result<Force, TreeError> {
        model.check_output("change", change.len(), model.freedom_count())?;
        self.articulate(model, state, q, v)?;
        let mut on = Vec::with_capacity(impulses.len());
        for load in impulses {
            on.push(self.hybrid.load(model, &self.assembly, load)?);
        }
        let h = &mut self.hybrid;
        let mut moved = vec![0.0; h.v.len()];
        let reaction = impulse_response(&h.model, &on, &mut h.work, &mut moved)?;
        change.fill(0.0);
        for (d, i) in moved.iter().zip(&h.v_at) {
            change[*i as usize] = *d;
        }
        Ok(reaction)
    }

    /// The Jacobian of a point of a link over the moving freedoms: six rows as those of `jacobian`, and the freedom of
    /// each column.
    pub fn jacobian(
        &mut self,
        model: &Model,
        state: &AdaptiveState,
        link: usize,
        point: Vec3,
        q: &[f64],
        v: &[f64],
    ) -> Result<(Vec<f64>, Vec<usize>), TreeError> {
        self.articulate(model, state, q, v)?;
        let on = self.hybrid.link(model, &self.assembly, link)?.0;
        let h = &mut self.hybrid;
        poses(&h.model, &mut h.work);
        let mut out = vec![0.0; 6 * h.v.len()];
        jacobian(&h.model, on, point, &h.work, &mut out)?;
        Ok((out, h.v_at.iter().map(|i| *i as usize).collect()))
    }

    /// One impact with friction at a contact of links, as `strike`, on the hybrid body.
    ///
    /// # Errors
    /// As `strike`.
    pub fn strike(
        &mut self,
        model: &Model,
        state: &AdaptiveState,
        touch: &Touch,
        n: Vec3,
        other: &OtherSide,
        surface: &Surface,
        q: &[f64],
        v: &mut [f64],
    ) -> Result<(Impact, Force), BuildError> {
        let tree = |e: TreeError| BuildError::new("tree", e.to_string());
        self.check_sizes(model, state, q, v, v).map_err(tree)?;
        self.make(model, state, q).map_err(tree)?;
        self.hybrid.gather(q, v);
        let on = self
            .hybrid
            .touch(model, &self.assembly, touch)
            .map_err(tree)?;
        let h = &mut self.hybrid;
        let found = strike(
            &h.model,
            &h.q,
            &mut h.v,
            &on,
            n,
            other,
            surface,
            &mut h.work,
        )?;
        for (x, i) in h.v.iter().zip(&h.v_at) {
            v[*i as usize] = *x;
        }
        Ok(found)
    }

    fn articulate(
        &mut self,
        model: &Model,
        state: &AdaptiveState,
        q: &[f64],
        v: &[f64],
    ) -> Result<(), TreeError> {
        self.check_sizes(model, state, q, v, v)?;
        self.make(model, state, q)?;
        self.hybrid.gather(q, v);
        let h = &mut self.hybrid;
        articulate(&h.model, &h.q, &mut h.work).map_err(|e| self.named(model, e))
    }
}
