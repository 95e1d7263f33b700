//! The lean model: the world as the methods see it, with the rigid pieces of adaptive trees as links.
//!
//! Reads: Model, which joints move.  Writes: `Lean` (a model of its own, and who is who).
//! Called by: `adaptive`.
//! Source: docs/methods/adaptive.md, "In a world". Bodies that are no links of adaptive trees come first, in slot
//! order, then for each tree the world piece (what is locked to the world) and its rigid pieces. A piece has the shapes
//! of all its links. Joints keep their slots; those inside one piece, or between pieces that cannot move, are left out.

use crate::articulated::{
    AdaptiveBody, Frame, Joint as TreeJoint, LinkDesc, TreeError, Work as TreeWork,
};
use crate::articulation::{Articulation, ArticulationDesc, LinkBodyDesc};
use crate::error::StepError;
use crate::math::{Pose, Quat, Vec3, rotation};
use crate::model::{Body, BodyDesc, BodyKind, Joint, Model, Owner, ShapeDesc};
use crate::shape::{Aabb, MassProperties};
use crate::state::State;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// By piece, of each of its shapes: slot of the link and number of the shape there.
type Owners = Vec<Vec<(u32, u32)>>;

/// One adaptive tree.
#[derive(Clone, Debug)]
pub(super) struct LeanTree {
    /// Its articulation slot, and the generation of its tenant.
    pub index: usize,
    pub generation: u32,
    /// Changes of trees that it knows of.
    pub tree_edits: u64,
    pub body: AdaptiveBody,
    /// Plain joints with motors: they always move.
    pub pins: Vec<usize>,
    /// Scratch for the reduced tree.
    pub work: TreeWork,
    /// Lean slot of its world piece; its moving pieces follow.
    pub first: u32,
    /// The joints that the pieces were made for.
    pub made_for: Vec<bool>,
    /// Potential energy of what is locked to the world [J].
    pub potential: f64,
    /// Boxes around the shapes of what is locked to the world.
    pub boxes: Vec<Aabb>,
}

/// Where a link is in the lean model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    /// Lean slot of its piece.
    pub slot: u32,
    /// Frame of the link in that of the piece.
    pub frame: Frame,
}

/// The lean model and who is who. Can be thrown away at any time without changing a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lean {
    /// What the part without adaptive trees was made for; `None` if it has to be made.
    pub(super) edits: Option<u64>,
    pub(super) model: Model,
    pub(super) state: State,
    pub(super) trees: Vec<LeanTree>,
    /// By lean slot of what is no piece: its slot in the world.
    pub(super) full_of: Vec<u32>,
    /// By slot of the world: its lean slot; for links only where something can touch them or is joined to them.
    pub(super) lean_of: Vec<u32>,
    /// By slot of the world: where the shapes of a link begin among those of its piece.
    pub(super) first_shape: Vec<u32>,
    /// By slot of the world: which adaptive tree (place in `trees`) and link it is.
    pub(super) link_of: Vec<(u32, u32)>,
    /// Pushes of the user that the last step knew of, and whether there may be loads on links in this one.
    pub(super) pushes: Option<u64>,
    pub(super) pushed: bool,
    /// The state of the world before the step, for those who wake sleepers.
    pub(super) before: State,
}

impl Lean {
    /// Makes the part of the model without adaptive trees, and the trees' assemblies.
    pub(super) fn make_others(&mut self, model: &Model) -> Result<(), StepError> {
        let slots = model.bodies.len();
        self.full_of.clear();
        self.lean_of.clear();
        self.lean_of.resize(slots, NONE);
        self.first_shape.clear();
        self.first_shape.resize(slots, 0);
        self.link_of.clear();
        self.link_of.resize(slots, (NONE, 0));
        self.trees = self.find_trees(model)?;
        let edits = self.model.edits + 1;
        self.model = Model {
            family: model.family,
            gravity: model.gravity,
            materials: model.materials.clone(),
            joint_generations: model.joint_generations.clone(),
            joint_free: model.joint_free.clone(),
            articulations: model.articulations.clone(),
            articulation_generations: model.articulation_generations.clone(),
            articulation_free: model.articulation_free.clone(),
            jointed: model.jointed.clone(),
            sleeping: model.sleeping,
            sleepers: model.sleepers,
            edits,
            ..Model::default()
        };
        for (slot, body) in model.present() {
            if self.link_of[slot].0 == NONE {
                self.lean_of[slot] = self.full_of.len() as u32;
                self.full_of.push(slot as u32);
                self.model.bodies.push(Some(body.clone()));
            }
        }
        for a in self.model.articulations.iter_mut().flatten() {
            if a.desc.adaptive.is_none() {
                for slot in &mut a.slots {
                    *slot = self.lean_of[*slot as usize];
                }
            }
        }
        Ok(())
    }

    /// The adaptive trees, with what is known of them already.
    fn find_trees(&mut self, model: &Model) -> Result<Vec<LeanTree>, StepError> {
        let mut trees = Vec::new();
        for (index, a) in model.present_articulations() {
            let Some(desc) = &a.desc.adaptive else {
                continue;
            };
            let refused = |e| StepError::Refused {
                reason: format!("articulation `{}`: {e}", model.articulation_name(index)),
            };
            let loops = super::loops::loop_joints(model, index);
            desc.check(&a.tree, loops).map_err(refused)?;
            // What is known of a tree stays true while the tree is the same.
            let generation = model.articulation_generations[index];
            let known = self.trees.iter().position(|t| {
                (t.index, t.generation, t.tree_edits) == (index, generation, model.tree_edits)
            });
            let body = match known {
                Some(k) => {
                    let mut body = self.trees.swap_remove(k).body;
                    body.remake();
                    body
                }
                None => AdaptiveBody::new(&a.tree, desc.clone(), loops).map_err(refused)?,
            };
            for (link, &slot) in a.slots.iter().enumerate() {
                self.link_of[slot as usize] = (trees.len() as u32, link as u32);
            }
            trees.push(LeanTree {
                index,
                generation,
                tree_edits: model.tree_edits,
                body,
                pins: a.driven_joints(),
                work: TreeWork::new(&a.tree),
                first: 0,
                made_for: Vec::new(),
                potential: 0.0,
                boxes: Vec::new(),
            });
        }
        Ok(trees)
    }

    /// Makes the pieces of all adaptive trees and the joints, for the joints that move now.
    pub(super) fn make_pieces(&mut self, model: &Model, state: &State) -> Result<(), StepError> {
        self.model.edits += 1;
        self.model.bodies.truncate(self.full_of.len());
        self.model.owners.clear();
        for &slot in &self.full_of {
            self.model.owners.push(Owner {
                slot,
                shapes: Vec::new(),
            });
        }
        for (slot, link) in self.link_of.iter().enumerate() {
            if link.0 != NONE {
                self.lean_of[slot] = NONE;
            }
        }
        for t in 0..self.trees.len() {
            self.make_tree(model, state, t)?;
        }
        self.model.generations.clear();
        self.model.generations.resize(self.model.bodies.len(), 0);
        self.make_joints(model)
    }

    fn make_tree(&mut self, model: &Model, state: &State, t: usize) -> Result<(), StepError> {
        let index = self.trees[t].index;
        let fails = |e: &dyn std::fmt::Display| StepError::Articulation {
            name: model.articulation_name(index),
            reason: e.to_string(),
        };
        let (Some(a), Some(Some(memory))) =
            (&model.articulations[index], state.adaptive.get(index))
        else {
            return Ok(());
        };
        let first = self.model.bodies.len() as u32;
        let tree = &mut self.trees[t];
        tree.first = first;
        tree.made_for.clone_from(&memory.joints.active);
        let own = &state.articulations[index];
        let view = tree
            .body
            .hybrid(&a.tree, &memory.joints, &own.positions, &own.velocities)
            .map_err(|e| fails(&e))?;
        let reduced = view.model.clone();
        let count = reduced.link_count();
        let (shapes, owners) = self.shapes(model, a, t, count).map_err(|e| fails(&e))?;
        let tree = &mut self.trees[t];
        tree.work = TreeWork::new(&reduced);
        let ground = shapes.first().into_iter().flatten();
        tree.boxes = ground.map(|s| s.shape.bounds(&s.pose)).collect();
        let mut links = Vec::with_capacity(count);
        for (k, (shapes, owners)) in shapes.into_iter().zip(owners).enumerate() {
            let mass = if k == 0 {
                MassProperties::NONE
            } else {
                tree.body.piece_mass(k)
            };
            let link = tree.body.first_link(&a.tree, k);
            let name = if k == 0 { "" } else { &a.desc.links[link].name };
            let body = piece(index, k, name, &shapes, &mass).map_err(|e| fails(&e))?;
            self.model.bodies.push(Some(body));
            self.model.owners.push(Owner {
                slot: a.slots[link],
                shapes: owners,
            });
            links.push(LinkBodyDesc::new(LinkDesc::new(
                None,
                if k == 0 {
                    TreeJoint::Fixed
                } else {
                    TreeJoint::Spherical
                },
                Pose::IDENTITY,
                mass,
            )));
        }
        let world = tree.body.piece_mass(0);
        tree.potential = -world.mass * model.gravity.dot(world.center);
        self.model.articulations[index] = Some(Articulation {
            desc: ArticulationDesc {
                name: a.desc.name.clone(),
                links,
                integrator: a.desc.integrator,
                ..ArticulationDesc::default()
            },
            tree: reduced,
            slots: (first..first + count as u32).collect(),
            drives: Vec::new(),
        });
        Ok(())
    }

    /// By piece: its shapes in its frame, and whose they are.
    fn shapes(
        &mut self,
        model: &Model,
        a: &Articulation,
        t: usize,
        count: usize,
    ) -> Result<(Vec<Vec<ShapeDesc>>, Owners), TreeError> {
        let (mut shapes, mut owners) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (link, &slot) in a.slots.iter().enumerate() {
            let Some(body) = &model.bodies[slot as usize] else {
                continue;
            };
            if body.shapes.is_empty() {
                continue;
            }
            let tree = &self.trees[t];
            let (k, frame) = tree.body.hybrid_link(&a.tree, link)?;
            let place = pose(&frame);
            self.lean_of[slot as usize] = tree.first + k as u32;
            self.first_shape[slot as usize] = shapes[k].len() as u32;
            for (i, s) in body.shapes.iter().enumerate() {
                shapes[k].push(ShapeDesc {
                    pose: place.compose(&s.pose),
                    ..s.clone()
                });
                owners[k].push((slot, i as u32));
            }
        }
        Ok((shapes, owners))
    }

    /// The seat of a link of an adaptive tree, by its slot in the world.
    pub(super) fn seat(&self, model: &Model, slot: u32) -> Result<Option<Seat>, TreeError> {
        let (t, link) = self.link_of[slot as usize];
        let Some(tree) = self.trees.get(t as usize) else {
            return Ok(None);
        };
        let Some(a) = &model.articulations[tree.index] else {
            return Ok(None);
        };
        let (k, frame) = tree.body.hybrid_link(&a.tree, link as usize)?;
        Ok(Some(Seat {
            slot: tree.first + k as u32,
            frame,
        }))
    }

    fn make_joints(&mut self, model: &Model) -> Result<(), StepError> {
        self.model.joints.clear();
        for j in &model.joints {
            let made = match j {
                None => None,
                Some(j) => self.joint(model, j).map_err(|e| StepError::Refused {
                    reason: format!("joint `{}`: {e}", j.desc.name),
                })?,
            };
            self.model.joints.push(made);
        }
        // Couplings of joints that are locked are locked too.
        for i in 0..self.model.joints.len() {
            let mesh = self.model.joints[i].as_ref().and_then(|j| j.mesh);
            if mesh.is_some_and(|m| {
                m.joints
                    .iter()
                    .any(|&k| self.model.joints[k as usize].is_none())
            }) {
                self.model.joints[i] = None;
            }
        }
        Ok(())
    }

    /// A joint between pieces; `None` where it cannot move.
    fn joint(&self, model: &Model, j: &Joint) -> Result<Option<Joint>, TreeError> {
        let mut out = j.clone();
        let (b, local_b) = self.end(model, j.b, &j.local_b)?;
        (out.b, out.local_b) = (b, local_b);
        if let Some(a) = j.a {
            let (a, local_a) = self.end(model, a, &j.local_a)?;
            (out.a, out.local_a) = (Some(a), local_a);
        }
        if let Some(mesh) = &mut out.mesh {
            for k in 0..2 {
                if let Some(slot) = mesh.carriers[k] {
                    let (slot, local) = self.end(model, slot, &mesh.locals[k])?;
                    (mesh.carriers[k], mesh.locals[k]) = (Some(slot), local);
                }
            }
        }
        let dynamic = |slot: u32| {
            let body = self.model.bodies[slot as usize].as_ref();
            body.is_some_and(Body::is_dynamic)
        };
        let moves = dynamic(out.b) || out.a.is_some_and(dynamic);
        Ok((moves && out.a != Some(out.b)).then_some(out))
    }

    /// An end of a joint: its lean slot, and the joint frame relative to the centre of mass there.
    fn end(&self, model: &Model, slot: u32, local: &Pose) -> Result<(u32, Pose), TreeError> {
        let Some(seat) = self.seat(model, slot)? else {
            return Ok((self.lean_of[slot as usize], *local));
        };
        let center = |model: &Model, slot: u32| {
            let body = model.bodies[slot as usize].as_ref();
            body.map_or(Vec3::ZERO, |b| b.center)
        };
        let place = pose(&seat.frame);
        let at = place.point(local.position + center(model, slot));
        let turned = rotation::normalized(place.rotation * local.rotation);
        Ok((
            seat.slot,
            Pose::new(at - center(&self.model, seat.slot), turned),
        ))
    }
}

/// The body of a piece; piece 0 is what is locked to the world.
fn piece(
    articulation: usize,
    k: usize,
    name: &str,
    shapes: &[ShapeDesc],
    mass: &MassProperties,
) -> Result<Body, crate::error::BuildError> {
    if k == 0 {
        return Body::build(&BodyDesc {
            kind: BodyKind::Fixed,
            shapes: shapes.to_vec(),
            ..BodyDesc::default()
        });
    }
    let kind = BodyKind::Link {
        articulation: articulation as u32,
        link: k as u32,
    };
    Body::link(name, kind, shapes, mass)
}

/// A frame as a pose.
pub(super) fn pose(frame: &Frame) -> Pose {
    let turned = rotation::normalized(Quat::from_mat3(&frame.rotation));
    Pose::new(frame.origin, turned)
}
