//! Links of a world's articulations: torques and changes at run time, and what control needs to know of a tree.
//!
//! Reads: Model, State.  Writes: Model, State, never inside a step.
//! Called by: users.
//! Source: docs/conventions.md, "Control"; the algorithms are those of `articulated`.

use super::World;
use crate::articulated::{self, Joint, TreeError, Work};
use crate::articulation::{Articulation, ArticulationId, ArticulationState, LinkBodyDesc};
use crate::dynamics::joint::unwrapped;
use crate::error::{BuildError, UnknownArticulation, UnknownBody};
use crate::joint::JointId;
use crate::math::Vec3;
use crate::model::BodyId;

impl World {
    /// Applies torques [N·m] or forces [N] along the freedoms of a link's joint during the next step: one number for a revolute or prismatic
    /// joint, three (in the link's axes) for a spherical one. The link that carries it feels the opposite.
    ///
    /// # Errors
    /// The body is no link that moves (field `link`), its joint is of another kind, has another number of freedoms or limits that lock it
    /// (field `values`), or a number is not finite.
    pub fn apply_link_force(&mut self, link: BodyId, values: &[f64]) -> Result<(), BuildError> {
        let (tree, i) = self.link_of(link)?;
        let Some(articulation) = &self.model.articulations[tree] else {
            return Err(BuildError::new("link", UnknownArticulation.to_string()));
        };
        let desc = &articulation.desc.links[i].link;
        let carrier = desc.parent.map(|p| articulation.slots[p]);
        let bad = |reason: String| Err(BuildError::new("values", reason));
        if values.iter().any(|x| !x.is_finite()) {
            return bad("must be finite".into());
        }
        let expected = match desc.joint {
            Joint::Revolute { .. } | Joint::Prismatic { .. } => 1,
            Joint::Spherical => 3,
            _ => {
                let reason = "only revolute, prismatic and spherical joints can be driven so";
                return bad(reason.into());
            }
        };
        if values.len() != expected {
            return bad(format!(
                "this joint needs {expected} numbers, got {}",
                values.len()
            ));
        }
        let locked = desc.limits.is_some_and(|l| l.min == l.max);
        if locked && values[0] != 0.0 {
            return bad("the limits lock this joint".into());
        }
        let joint = desc.joint;
        let missing = |e: UnknownBody| BuildError::new("link", e.to_string());
        let pose = self.pose(link).map_err(missing)?;
        let (force, torque) = match joint {
            Joint::Revolute { axis } => (Vec3::ZERO, pose.rotation * axis.normalize() * values[0]),
            Joint::Prismatic { axis } => (pose.rotation * axis.normalize() * values[0], Vec3::ZERO),
            _ => (
                Vec3::ZERO,
                pose.rotation * Vec3::new(values[0], values[1], values[2]),
            ),
        };
        self.wake_around(link.index());
        let mut push = |slot: u32, sign: f64| {
            let arm = pose.position - self.state.bodies[slot as usize].position;
            self.add_load(Some(slot), force * sign, (torque + arm.cross(force)) * sign);
        };
        push(link.index, 1.0);
        if let Some(carrier) = carrier {
            push(carrier, -1.0);
        }
        Ok(())
    }

    /// Changes what bounds, drives and resists the joint of a link: limits, motor, cone, friction, spring and armature. Mass, shapes, joint
    /// and place stay.
    ///
    /// # Errors
    /// The body is no link that moves (field `link`), something else was changed, or a value makes no sense; the link is then as it was.
    pub fn edit_link(
        &mut self,
        id: BodyId,
        edit: impl FnOnce(&mut LinkBodyDesc),
    ) -> Result<(), BuildError> {
        let (tree, i) = self.link_of(id)?;
        let Some(articulation) = &self.model.articulations[tree] else {
            return Err(BuildError::new("link", UnknownArticulation.to_string()));
        };
        let before = &articulation.desc.links[i];
        let mut link = before.clone();
        edit(&mut link);
        if link == *before {
            return Ok(());
        }
        let (a, b) = (&link.link, &before.link);
        for (field, same) in [
            ("parent", a.parent == b.parent),
            ("joint", a.joint == b.joint),
            ("placement", a.placement == b.placement),
            ("mass", a.mass == b.mass),
            (
                "shapes",
                link.shapes == before.shapes && link.collide == before.collide,
            ),
            ("name", link.name == before.name),
        ] {
            if !same {
                return Err(BuildError::new(
                    field,
                    "cannot be changed: remove and add the articulation",
                ));
            }
        }
        let own = |slot: u32| self.model.id(slot as usize);
        let parent = a.parent.map(|p| own(articulation.slots[p]));
        let (old, new) = (before.drives(parent, id), link.drives(parent, id));
        new.iter().try_for_each(crate::joint::JointDesc::check)?;
        let mut desc = articulation.desc.clone();
        desc.links[i] = link;
        let built = desc.build(self.model.gravity)?;
        let first = articulation.desc.links[..i].iter();
        let first: usize = first.map(|l| l.drives(None, id).len()).sum();
        self.wake_around(id.index());
        if let Some(articulation) = &mut self.model.articulations[tree] {
            (articulation.desc, articulation.tree) = (desc, built);
        }
        self.model.edits += 1;
        self.replace_drives(tree, first, &old, &new)
    }

    /// Puts the drives of one link in the place of its old ones.
    fn replace_drives(
        &mut self,
        tree: usize,
        first: usize,
        old: &[crate::joint::JointDesc],
        new: &[crate::joint::JointDesc],
    ) -> Result<(), BuildError> {
        let drives = match &self.model.articulations[tree] {
            Some(articulation) => articulation.drives.clone(),
            None => return Ok(()),
        };
        let slots = &drives[first..first + old.len()];
        let same = |(a, b): (&crate::joint::JointDesc, &crate::joint::JointDesc)| a.name == b.name;
        if old.len() == new.len() && old.iter().zip(new).all(same) {
            for (slot, desc) in slots.iter().zip(new) {
                if let Some(joint) = &mut self.model.joints[*slot as usize] {
                    joint.desc = desc.clone();
                }
            }
            return Ok(());
        }
        let angle = slots.first().map(|s| self.state.joints[*s as usize].angle);
        let gone = slots.to_vec();
        self.drop_joints(|i, _| gone.contains(&(i as u32)));
        let mut added: Vec<u32> = Vec::new();
        for desc in new {
            let id: JointId = self.add_joint(desc)?;
            let memory = &mut self.state.joints[id.index()];
            memory.angle = unwrapped(memory.angle, angle.unwrap_or(memory.angle));
            added.push(id.index);
        }
        if let Some(articulation) = &mut self.model.articulations[tree] {
            articulation.drives.splice(first..first + old.len(), added);
        }
        Ok(())
    }

    /// The mass matrix of an articulation in its present position, row by row: the square of as many numbers as it has freedoms.
    ///
    /// # Errors
    /// The articulation does not exist (field `articulation`), or its dynamics have no answer.
    pub fn mass_matrix(&self, id: ArticulationId) -> Result<Vec<f64>, BuildError> {
        let (a, state) = self.tree(id)?;
        let n = a.tree.freedom_count();
        let mut matrix = vec![0.0; n * n];
        articulated::crba(
            &a.tree,
            &state.positions,
            &mut Work::new(&a.tree),
            &mut matrix,
        )
        .map_err(refused)?;
        Ok(matrix)
    }

    /// The Jacobian of a link's point, given in the world: six rows of as many numbers as the articulation has freedoms, angular velocity
    /// first, then the velocity of the point, in world axes.
    ///
    /// # Errors
    /// The body is no link that moves (field `link`), or the point is not finite.
    pub fn link_jacobian(&self, link: BodyId, point: Vec3) -> Result<Vec<f64>, BuildError> {
        if !point.is_finite() {
            return Err(BuildError::new("point", "must be finite"));
        }
        let (tree, i) = self.link_of(link)?;
        let (a, state) = self.tree(self.model.articulation_id(tree))?;
        let mut work = Work::new(&a.tree);
        articulated::kinematics(&a.tree, &state.positions, &state.velocities, &mut work)
            .map_err(refused)?;
        let mut jacobian = vec![0.0; 6 * a.tree.freedom_count()];
        articulated::jacobian(&a.tree, i, point, &work, &mut jacobian).map_err(refused)?;
        Ok(jacobian)
    }

    /// Torques and forces that accelerate an articulation so from its present state, gravity, velocities and armature included, without
    /// friction, springs and contacts.
    ///
    /// # Errors
    /// The articulation does not exist (field `articulation`), or there is not one finite number for each freedom.
    pub fn inverse_dynamics(
        &self,
        id: ArticulationId,
        accelerations: &[f64],
    ) -> Result<Vec<f64>, BuildError> {
        let (a, state) = self.tree(id)?;
        let mut torques = vec![0.0; a.tree.freedom_count()];
        let (q, v) = (&state.positions, &state.velocities);
        articulated::rnea(
            &a.tree,
            q,
            v,
            accelerations,
            &[],
            &mut Work::new(&a.tree),
            &mut torques,
        )
        .map_err(refused)?;
        Ok(torques)
    }

    /// Mass [kg] and centre of mass [m] of an articulation.
    ///
    /// # Errors
    /// The articulation does not exist (field `articulation`), or has no mass.
    pub fn center_of_mass(&self, id: ArticulationId) -> Result<(f64, Vec3), BuildError> {
        let (a, work) = self.moving_tree(id)?;
        let found = articulated::center_of_mass(&a.tree, &work).map_err(refused)?;
        found.ok_or_else(|| BuildError::new("articulation", "it has no mass"))
    }

    /// Momentum [kg·m/s] and angular momentum about the origin of the world [kg·m²/s] of an articulation's links, in world axes.
    ///
    /// # Errors
    /// The articulation does not exist (field `articulation`).
    pub fn momentum_of(&self, id: ArticulationId) -> Result<(Vec3, Vec3), BuildError> {
        let (a, work) = self.moving_tree(id)?;
        let found = articulated::momentum(&a.tree, &work).map_err(refused)?;
        Ok((found.force, found.torque))
    }

    fn tree(&self, id: ArticulationId) -> Result<(&Articulation, &ArticulationState), BuildError> {
        let unknown = |e: UnknownArticulation| BuildError::new("articulation", e.to_string());
        let articulation = self.articulation(id).map_err(unknown)?;
        Ok((articulation, &self.state.articulations[id.index()]))
    }

    fn moving_tree(&self, id: ArticulationId) -> Result<(&Articulation, Work), BuildError> {
        let (a, state) = self.tree(id)?;
        let mut work = Work::new(&a.tree);
        articulated::kinematics(&a.tree, &state.positions, &state.velocities, &mut work)
            .map_err(refused)?;
        Ok((a, work))
    }
}

fn refused(error: TreeError) -> BuildError {
    BuildError::new("articulation", error.to_string())
}
