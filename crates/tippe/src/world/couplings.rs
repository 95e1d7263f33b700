//! Couplings of a world: gears and racks between two joints.
//!
//! Reads: Model (joints), State.  Writes: Model (joints), State (memory).
//! Called by: users, `world` (removals).
//! Source: docs/assembly.md, "Couplings".

use super::World;
use crate::dynamics::joint::JointPlace;
use crate::error::{BuildError, UnknownJoint};
use crate::joint::{JointDesc, JointId, JointKind};
use crate::math::{Pose, Quat};
use crate::model::coupling::{Coupling, Mesh};
use crate::model::{BodyKind, Joint};

/// A named joint, turned so that its carrier is side A.
#[derive(Clone, Copy)]
struct Member {
    carrier: Option<u32>,
    on_carrier: Pose,
    wheel: u32,
    on_wheel: Pose,
}

impl World {
    /// Couples the free motions of two joints; the coupling is a joint of its own, between the two wheels, and goes with either of them.
    ///
    /// # Errors
    /// The field that makes no sense, and why.
    pub fn add_coupling(&mut self, name: &str, coupling: Coupling) -> Result<JointId, BuildError> {
        let (first, second) = match coupling {
            Coupling::Gear { first, second, .. } | Coupling::Rack { first, second, .. } => {
                (first, second)
            }
        };
        let rack = matches!(coupling, Coupling::Rack { .. });
        if first == second {
            return Err(BuildError::new(
                "second",
                "a joint cannot be coupled to itself",
            ));
        }
        let joints = [
            self.member("first", first, false)?,
            self.member("second", second, rack)?,
        ];
        let (members, grounded) = self.carried(joints)?;
        let [one, two] = members;
        let ids = [one.wheel, two.wheel].map(|slot| self.model.id(slot as usize));
        let kind = match coupling {
            Coupling::Gear { ratio, phase, .. } => JointKind::Gear {
                first,
                second,
                ratio,
                phase: phase.unwrap_or(0.0),
            },
            Coupling::Rack { radius, phase, .. } => JointKind::Rack {
                first,
                second,
                radius,
                phase: phase.unwrap_or(0.0),
            },
        };
        let frame = |m: &Member| {
            let center = self.model.bodies[m.wheel as usize]
                .as_ref()
                .map(|b| b.center);
            Pose::new(
                m.on_wheel.position + center.unwrap_or_default(),
                m.on_wheel.rotation,
            )
        };
        let mut desc = JointDesc {
            name: name.to_owned(),
            ..JointDesc::new(kind, Some(ids[0]), frame(&one), ids[1], frame(&two))
        };
        desc.check()?;
        let mut joint = Joint {
            desc: desc.clone(),
            slot: 0,
            a: Some(one.wheel),
            b: two.wheel,
            local_a: one.on_wheel,
            local_b: two.on_wheel,
            mesh: Some(Mesh {
                joints: [first.index, second.index],
                carriers: members.map(|m| m.carrier),
                locals: members.map(|m| m.on_carrier),
                grounded,
            }),
        };
        let place = joint.place(&self.state().bodies, &self.state.joints);
        if !place.can_couple(rack) {
            let reason = "these axes cannot be coupled on a carrier that moves: the load on it has nothing to balance it \
                          (two wheels on one axis need a fixed carrier, or planet wheels)";
            return Err(BuildError::new("second", reason));
        }
        let given = match coupling {
            Coupling::Gear { phase, .. } | Coupling::Rack { phase, .. } => phase,
        };
        if given.is_none() {
            let start = place.held(kind).residuals[0];
            match &mut desc.kind {
                JointKind::Gear { phase, .. } | JointKind::Rack { phase, .. } => *phase = start,
                _ => {}
            }
        }
        desc.check()?;
        joint.desc = desc;
        Ok(self.insert_joint(joint, 0.0))
    }

    /// Where a joint is now.
    ///
    /// # Errors
    /// The joint does not exist.
    pub fn joint_place(&self, id: JointId) -> Result<JointPlace, UnknownJoint> {
        let joint = self.model.get_joint(id).ok_or(UnknownJoint)?;
        Ok(joint.place(&self.state().bodies, &self.state.joints))
    }

    /// Angle of B relative to A about the axis of a joint, counted through full turns [rad].
    ///
    /// # Errors
    /// The joint does not exist.
    pub fn joint_angle(&self, id: JointId) -> Result<f64, UnknownJoint> {
        self.model.get_joint(id).ok_or(UnknownJoint)?;
        Ok(self.state.joints[id.index()].angle)
    }

    /// A joint that a coupling may name.
    fn member(&self, field: &str, id: JointId, rack: bool) -> Result<&Joint, BuildError> {
        let joint = self.model.get_joint(id).ok_or_else(|| {
            BuildError::new(
                field,
                "no such joint: it was removed, or the id belongs to another world",
            )
        })?;
        let fits = match joint.desc.kind {
            JointKind::Slider => rack,
            JointKind::Hinge | JointKind::Cylindrical => !rack,
            _ => false,
        };
        if fits {
            return Ok(joint);
        }
        let reason = if rack {
            "must be a slider: the rack"
        } else {
            "must be a hinge or a cylindrical joint: a wheel"
        };
        Err(BuildError::new(field, reason))
    }

    /// Finds carriers and wheels: the body that both joints share, or else bodies that cannot move.
    fn carried(&self, joints: [&Joint; 2]) -> Result<([Member; 2], bool), BuildError> {
        let fixed = |slot: Option<u32>| {
            slot.and_then(|i| self.model.bodies[i as usize].as_ref())
                .is_none_or(|b| b.kind == BodyKind::Fixed)
        };
        let sides = joints.map(|j| [j.a, Some(j.b)]);
        let shared = sides[0]
            .into_iter()
            .find(|&s| !fixed(s) && sides[1].contains(&s));
        let grounded = |j: &Joint| fixed(j.a) || fixed(Some(j.b));
        let carrier = |j: &Joint| match shared {
            Some(carrier) => carrier == Some(j.b),
            None => fixed(Some(j.b)),
        };
        if shared.is_none() && !(grounded(joints[0]) && grounded(joints[1])) {
            let reason = "the two joints must share a body, or both be on bodies that do not move";
            return Err(BuildError::new("second", reason));
        }
        let members = joints.map(|j| member(j, carrier(j)));
        let [Some(one), Some(two)] = members else {
            return Err(BuildError::new("second", "the world cannot be a wheel"));
        };
        if one.wheel == two.wheel {
            let reason = "both joints are on the same wheel: a body cannot mesh with itself";
            return Err(BuildError::new("second", reason));
        }
        Ok(([one, two], shared.is_none()))
    }

    /// Takes over where the joints of couplings are on their carriers, after a body was changed.
    pub(super) fn refresh_couplings(&mut self) {
        for i in 0..self.model.joints.len() {
            let Some(mut mesh) = self.model.joints[i].as_ref().and_then(|j| j.mesh) else {
                continue;
            };
            for k in 0..2 {
                if let Some(named) = &self.model.joints[mesh.joints[k] as usize] {
                    let carrier_is_a = named.a == mesh.carriers[k];
                    let local = if carrier_is_a {
                        &named.local_a
                    } else {
                        &named.local_b
                    };
                    mesh.locals[k].position = local.position;
                }
            }
            if let Some(joint) = &mut self.model.joints[i] {
                joint.mesh = Some(mesh);
            }
        }
    }

    /// Removes the couplings of joints that are gone.
    pub(super) fn drop_couplings(&mut self) {
        let lost = |world: &Self, kind: JointKind| {
            let gone = |id: &JointId| world.model.get_joint(*id).is_none();
            kind.coupled().is_some_and(|ids| ids.iter().any(gone))
        };
        let slots: Vec<usize> = self
            .model
            .present_joints()
            .filter(|(_, j)| lost(self, j.desc.kind))
            .map(|(i, _)| i)
            .collect();
        if !slots.is_empty() {
            self.drop_joints(|i, _| slots.contains(&i));
        }
    }
}

/// A joint with its carrier as side A; with both z axes turned round, angle and displacement keep their signs.
fn member(joint: &Joint, carrier_is_b: bool) -> Option<Member> {
    if !carrier_is_b {
        return Some(Member {
            carrier: joint.a,
            on_carrier: joint.local_a,
            wheel: joint.b,
            on_wheel: joint.local_b,
        });
    }
    let turned = |f: &Pose| Pose::new(f.position, f.rotation * Quat::from_xyzw(1.0, 0.0, 0.0, 0.0));
    Some(Member {
        carrier: Some(joint.b),
        on_carrier: turned(&joint.local_b),
        wheel: joint.a?,
        on_wheel: turned(&joint.local_a),
    })
}
