//! Snapshots: a world as bytes and back, and the hash of its state.
//!
//! Reads: World.  Writes: bytes; a new World.
//! Called by: `World::snapshot`, `World::restore`, `World::hash`.
//! Source: the layout is the order of the fields in `codec`; everything little endian, floats by their bits.

mod articulations;
mod codec;
mod params;

use crate::error::SnapshotError;
use crate::model::{BodyKind, Model};
use crate::state::State;
use crate::work::Work;
use crate::world::World;
use codec::{Code, Input, Output};

const MAGIC: [u8; 8] = *b"TIPPEWLD";
/// Raised whenever the layout changes.
const VERSION: u32 = 11;

/// The world as bytes.
pub(crate) fn write(world: &World) -> Vec<u8> {
    let mut out = Output::default();
    out.bytes.extend(MAGIC);
    VERSION.write(&mut out);
    world.method.write(&mut out);
    world.model.write(&mut out);
    world.state.write(&mut out);
    world.ledger.write(&mut out);
    articulations::write(&world.model, &world.state, &mut out);
    world.state.quiet.write(&mut out);
    out.bytes
}

/// A world from bytes.
pub(crate) fn read(bytes: &[u8]) -> Result<World, SnapshotError> {
    if bytes.len() < MAGIC.len() || bytes[..MAGIC.len()] != MAGIC {
        return Err(SnapshotError::NotASnapshot);
    }
    let mut input = Input {
        bytes,
        offset: MAGIC.len(),
    };
    let found = u32::read(&mut input)?;
    if found != VERSION {
        return Err(SnapshotError::Version {
            found,
            expected: VERSION,
        });
    }
    let mut world = World {
        method: Code::read(&mut input)?,
        model: Code::read(&mut input)?,
        state: Code::read(&mut input)?,
        ledger: Code::read(&mut input)?,
        work: Work::default(),
    };
    articulations::read(&mut input, &mut world.model, &mut world.state)?;
    world.state.quiet = Code::read(&mut input)?;
    let asleep = world.model.present().filter(|(_, b)| b.asleep.is_some());
    world.model.sleepers = asleep.count();
    if input.offset != bytes.len() || !consistent(&world.model, &world.state) {
        return Err(SnapshotError::Corrupt {
            offset: input.offset,
        });
    }
    Ok(world)
}

/// Whether arrays by slot agree in length, every name of a body, shape or material exists, and joints make sense.
fn consistent(model: &Model, state: &State) -> bool {
    let slots = model.bodies.len();
    let lengths = [
        model.generations.len(),
        state.bodies.len(),
        state.loads.len(),
        state.quiet.len(),
    ];
    let sleepers = model.present().all(|(_, b)| match b.asleep {
        None => true,
        Some(_) => b.kind == BodyKind::Dynamic && b.inverse_mass == 0.0 && model.sleeping.is_some(),
    });
    let free = model.bodies.iter().filter(|b| b.is_none()).count() == model.free.len()
        && model
            .free
            .iter()
            .all(|&i| (i as usize) < slots && model.bodies[i as usize].is_none());
    let materials = model.materials.names.len();
    let known = model.materials.surfaces.len() == materials
        && model
            .materials
            .pairs
            .iter()
            .all(|p| p.first.index() < materials && p.second.index() < materials)
        && model
            .present()
            .all(|(_, b)| b.shapes.iter().all(|s| s.material.index() < materials));
    let pair = |p: &crate::state::PairKey| {
        let shape = |body: u32, shape: u32| {
            model.bodies.get(body as usize).is_some_and(|b| {
                b.as_ref()
                    .is_some_and(|b| (shape as usize) < b.shapes.len())
            })
        };
        shape(p.body_a, p.shape_a) && shape(p.body_b, p.shape_b)
    };
    let joints = model.joints.len();
    let body = |slot: u32| model.bodies.get(slot as usize).is_some_and(Option::is_some);
    let jointed = model.joint_generations.len() == joints
        && state.joints.len() == joints
        && model.joints.iter().filter(|j| j.is_none()).count() == model.joint_free.len()
        && model
            .joint_free
            .iter()
            .all(|&i| (i as usize) < joints && model.joints[i as usize].is_none())
        && model
            .present_joints()
            .all(|(_, j)| body(j.b) && j.a.is_none_or(body) && j.desc.check().is_ok());
    jointed
        && articulations::consistent(model, state)
        && lengths.iter().all(|&n| n == slots)
        && free
        && sleepers
        && known
        && state.contacts.iter().all(|c| pair(&c.key.pair))
        && state.touching.iter().chain(&state.sensed).all(pair)
}

/// FNV-1a over the bytes of the state and the slot order, 64 bits.
pub(crate) fn hash(model: &Model, state: &State) -> u64 {
    let mut out = Output::default();
    state.write(&mut out);
    if !model.articulations.is_empty() {
        state.articulations.write(&mut out);
    }
    model.generations.write(&mut out);
    for body in &model.bodies {
        body.is_some().write(&mut out);
    }
    if model.sleeping.is_some() {
        state.quiet.write(&mut out);
        for (_, body) in model.present() {
            body.asleep.write(&mut out);
        }
    }
    let mut h: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in out.bytes {
        h = (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    h
}
