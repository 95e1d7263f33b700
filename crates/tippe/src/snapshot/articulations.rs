//! Encoding of articulations: descriptions, slots and states. The tree is built anew from its description.
//!
//! Reads: values or bytes.  Writes: bytes or values.
//! Called by: `snapshot`.
//! Source: —

use super::codec::{Code, Input, Output, code_enum, code_struct};
use crate::articulated::{
    AdaptiveDesc, AdaptiveState, Choice, Integrator, Joint, JointFriction, Limits, LinkDesc, Load,
    Score,
};
use crate::articulation::{
    Articulation, ArticulationDesc, ArticulationState, ConeLimits, LinkBodyDesc,
};
use crate::error::SnapshotError;
use crate::math::{Mat3, Vec3};
use crate::model::{BodyKind, Model};
use crate::shape::MassProperties;
use crate::state::{AdaptiveMemory, State};

code_struct!(Limits {
    min,
    max,
    restitution
});
code_struct!(JointFriction { viscous, coulomb });
code_struct!(MassProperties {
    mass,
    center,
    inertia
});
code_struct!(LinkDesc {
    parent,
    joint,
    placement,
    mass,
    limits,
    friction,
    spring,
    armature
});
code_struct!(LinkBodyDesc {
    name,
    link,
    shapes,
    motor,
    cone,
    collide
});
code_struct!(ConeLimits {
    center,
    limb,
    swing,
    twist
});
code_struct!(ArticulationDesc {
    name,
    links,
    positions,
    velocities,
    integrator,
    adaptive
});
code_struct!(AdaptiveDesc {
    choice,
    score,
    weights,
    interval,
    lock_speed,
    patience,
    slow_turn
});
code_enum!(Choice { 0 => Joints(budget), 1 => Error(error) });
code_enum!(Score { 0 => Acceleration, 1 => Velocity });
code_struct!(AdaptiveState {
    active,
    idle,
    clock,
    residual
});
code_struct!(Load {
    link,
    point,
    force,
    torque
});
code_struct!(AdaptiveMemory {
    joints,
    loads,
    loaded
});

impl Code for u16 {
    fn write(&self, out: &mut Output) {
        u32::from(*self).write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        let found = u32::read(input)?;
        Self::try_from(found).or_else(|_| input.corrupt())
    }
}
code_struct!(ArticulationState {
    positions,
    velocities
});
code_enum!(Integrator { 0 => OneEvaluation, 1 => HighOrder });
code_enum!(Joint {
    0 => Revolute { axis },
    1 => Prismatic { axis },
    2 => Spherical,
    3 => Fixed,
    4 => Free,
    5 => Universal { first, second },
    6 => Cylindrical { axis },
    7 => Planar { normal },
});

impl Code for usize {
    fn write(&self, out: &mut Output) {
        (*self as u64).write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        Ok(u64::read(input)? as Self)
    }
}

impl Code for Mat3 {
    fn write(&self, out: &mut Output) {
        self.to_cols_array().write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        Ok(Self::from_cols_array(&Code::read(input)?))
    }
}

/// What is stored of an articulation besides its tree.
struct Stored {
    desc: ArticulationDesc,
    slots: Vec<u32>,
    drives: Vec<u32>,
}
code_struct!(Stored {
    desc,
    slots,
    drives
});

pub(super) fn write(model: &Model, state: &State, out: &mut Output) {
    let stored: Vec<Option<Stored>> = model
        .articulations
        .iter()
        .map(|a| {
            a.as_ref().map(|a| Stored {
                desc: a.desc.clone(),
                slots: a.slots.clone(),
                drives: a.drives.clone(),
            })
        })
        .collect();
    stored.write(out);
    model.articulation_generations.write(out);
    model.articulation_free.write(out);
    state.articulations.write(out);
    if crate::adaptive::any(model) {
        write_adaptive(state, out);
    }
}

/// What adaptive trees add to a state.
pub(super) fn write_adaptive(state: &State, out: &mut Output) {
    state.adaptive.write(out);
    // With adaptive trees `events` makes its schedule anew in every step, from these.
    state.events.resting.write(out);
    state.events.carry.write(out);
}

pub(super) fn read(
    input: &mut Input<'_>,
    model: &mut Model,
    state: &mut State,
) -> Result<(), SnapshotError> {
    let stored: Vec<Option<Stored>> = Code::read(input)?;
    for one in stored {
        let built = match one {
            None => None,
            Some(s) => Some(build(s, model.gravity).ok_or(SnapshotError::Corrupt {
                offset: input.offset,
            })?),
        };
        model.articulations.push(built);
    }
    model.articulation_generations = Code::read(input)?;
    model.articulation_free = Code::read(input)?;
    state.articulations = Code::read(input)?;
    if crate::adaptive::any(model) {
        state.adaptive = Code::read(input)?;
        state.events.resting = Code::read(input)?;
        state.events.carry = Code::read(input)?;
    }
    Ok(())
}

fn build(stored: Stored, gravity: Vec3) -> Option<Articulation> {
    let tree = stored.desc.build(gravity).ok()?;
    Some(Articulation {
        desc: stored.desc,
        tree,
        slots: stored.slots,
        drives: stored.drives,
    })
}

/// Whether the memory of an adaptive tree has the size of the tree, and no other tree has one.
fn adaptive_fits(a: &Articulation, memory: Option<&AdaptiveMemory>) -> bool {
    let (Some(m), Some(desc)) = (memory, &a.desc.adaptive) else {
        return memory.is_none();
    };
    let joints = AdaptiveState::new(&a.tree).active.len();
    let links = a.tree.link_count();
    m.joints.active.len() == joints
        && m.joints.idle.len() == joints
        && m.joints.clock < desc.interval
        && m.joints.residual.is_finite()
        && m.loaded.is_sorted()
        && m.loads.iter().all(|l| {
            l.link < links && l.point.is_finite() && l.force.is_finite() && l.torque.is_finite()
        })
}

/// Whether slots, links and states agree.
pub(super) fn consistent(model: &Model, state: &State) -> bool {
    let count = model.articulations.len();
    let free = &model.articulation_free;
    let known = |slot: u32| model.bodies.get(slot as usize).is_some_and(Option::is_some);
    let each = model.present_articulations().all(|(i, a)| {
        let Some(s) = state.articulations.get(i) else {
            return false;
        };
        a.slots.len() == a.tree.link_count()
            && a.slots.iter().all(|&slot| known(slot))
            && s.positions.len() == a.tree.position_count()
            && s.velocities.len() == a.tree.freedom_count()
            && adaptive_fits(a, state.adaptive.get(i).and_then(Option::as_ref))
    });
    let kinds = model.present_articulations().all(|(i, a)| {
        let kind = |link: usize| {
            if a.desc.moves(link) {
                BodyKind::Link {
                    articulation: i as u32,
                    link: link as u32,
                }
            } else {
                BodyKind::Fixed
            }
        };
        let body = |slot: u32| model.bodies.get(slot as usize).and_then(Option::as_ref);
        let mut slots = a.slots.iter().enumerate();
        slots.all(|(link, &slot)| body(slot).is_some_and(|b| b.kind == kind(link)))
    });
    let links = model.present().all(|(slot, body)| match body.kind {
        BodyKind::Link { articulation, link } => model
            .articulations
            .get(articulation as usize)
            .and_then(Option::as_ref)
            .is_some_and(|a| a.slots.get(link as usize) == Some(&(slot as u32))),
        _ => true,
    });
    model.articulation_generations.len() == count
        && state.articulations.len() == count
        && model.articulations.iter().filter(|a| a.is_none()).count() == free.len()
        && free
            .iter()
            .all(|&i| (i as usize) < count && model.articulations[i as usize].is_none())
        && each
        && kinds
        && links
}
