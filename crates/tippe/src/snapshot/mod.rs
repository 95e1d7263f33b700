//! Snapshots: a world as bytes and back, and the hash of its state.
//!
//! Reads: World.  Writes: bytes; a new World.
//! Called by: `World::snapshot`, `World::restore`, `World::hash`.
//! Source: an envelope of magic, version and checksum around the fields in the order of `codec`; everything little endian,
//! floats by their bits. The checksum is FNV-1a (Fowler, Noll, Vo): every step of it is a bijection, so that any single
//! changed byte changes it.

mod articulations;
mod check;
mod codec;
mod control;
mod params;
mod schedule;

use crate::error::SnapshotError;
use crate::model::Model;
use crate::model::family::Family;
use crate::state::{CompliantMemory, State};
use crate::work::Work;
use crate::world::World;
use codec::{Code, Input, Output};

const MAGIC: [u8; 8] = *b"TIPPEWLD";
/// Raised whenever the layout changes.
const VERSION: u32 = 21;
/// Bytes before the fields: magic, version, checksum of the fields.
const ENVELOPE: usize = MAGIC.len() + 4 + 8;

/// The world as bytes, of a family; of none if what is restored shall be a family of its own.
pub(crate) fn write(world: &World, family: Family) -> Vec<u8> {
    let mut out = Output::default();
    out.bytes.extend(MAGIC);
    VERSION.write(&mut out);
    0_u64.write(&mut out);
    family.number().write(&mut out);
    world.method.write(&mut out);
    world.model.write(&mut out);
    let state = world.state();
    state.write(&mut out);
    world.ledger.write(&mut out);
    articulations::write(&world.model, state, &mut out);
    state.quiet.write(&mut out);
    state.asleep.write(&mut out);
    schedule::write(&world.model, state, &mut out);
    world.model.sensors.write(&mut out);
    world.model.programs.write(&mut out);
    state.compliant.write(&mut out);
    world.model.locks.write(&mut out);
    world.model.steady.write(&mut out);
    seal(&mut out.bytes);
    out.bytes
}

/// Writes the checksum of the fields into their envelope.
pub(crate) fn seal(bytes: &mut [u8]) {
    let checksum = fnv(&bytes[ENVELOPE..]);
    bytes[ENVELOPE - 8..ENVELOPE].copy_from_slice(&checksum.to_le_bytes());
}

/// A world from bytes: the checksum tells damage, the checks of every number tell what no world could have written.
pub(crate) fn read(bytes: &[u8]) -> Result<World, SnapshotError> {
    if bytes.len() < MAGIC.len() || bytes[..MAGIC.len()] != MAGIC {
        return Err(SnapshotError::NotASnapshot);
    }
    let mut input = Input {
        bytes,
        offset: MAGIC.len(),
        family: Family::NONE,
    };
    let found = u32::read(&mut input)?;
    if found != VERSION {
        return Err(SnapshotError::Version {
            found,
            expected: VERSION,
        });
    }
    let checksum = u64::read(&mut input)?;
    if checksum != fnv(&bytes[input.offset..]) {
        return Err(SnapshotError::Checksum);
    }
    input.family = Family::restored(u32::read(&mut input)?);
    let mut world = World {
        method: Code::read(&mut input)?,
        model: Code::read(&mut input)?,
        state: Code::read(&mut input)?,
        ledger: Code::read(&mut input)?,
        work: Work::default(),
        keyframes: Vec::new(),
        placed: std::sync::OnceLock::new(),
    };
    world.model.family = input.family;
    articulations::read(&mut input, &mut world.model, &mut world.state)?;
    world.state.quiet = Code::read(&mut input)?;
    world.state.asleep = Code::read(&mut input)?;
    schedule::read(&mut input, &world.model, &mut world.state)?;
    world.model.sensors = Code::read(&mut input)?;
    world.model.programs = Code::read(&mut input)?;
    world.state.compliant = Code::read(&mut input)?;
    world.model.locks = Code::read(&mut input)?;
    world.model.steady = Code::read(&mut input)?;
    world.model.sleepers = world.state.asleep.iter().flatten().count();
    if input.offset != bytes.len() || !check::consistent(&world.model, &world.state) {
        return Err(SnapshotError::Corrupt {
            offset: input.offset,
        });
    }
    match check::numbers(&world) {
        Ok(()) => {
            world.sense(0.0);
            Ok(world)
        }
        Err(e) => Err(SnapshotError::Impossible {
            field: e.field,
            reason: e.reason,
        }),
    }
}

/// FNV-1a over the bytes of the state and the slot order, 64 bits.
pub(crate) fn hash(model: &Model, state: &State) -> u64 {
    let mut out = Output::default();
    state.write(&mut out);
    if !model.articulations.is_empty() {
        state.articulations.write(&mut out);
    }
    if crate::adaptive::any(model) {
        articulations::write_adaptive(state, &mut out);
    }
    model.generations.write(&mut out);
    for body in &model.bodies {
        body.is_some().write(&mut out);
    }
    if model.sleeping.is_some() {
        state.quiet.write(&mut out);
        for (slot, _) in model.present() {
            state.asleep[slot].write(&mut out);
        }
    }
    if state.events.started {
        schedule::write(model, state, &mut out);
    }
    if state.compliant != CompliantMemory::default() {
        state.compliant.write(&mut out);
    }
    fnv(&out.bytes)
}

/// FNV-1a, 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, byte| {
        (h ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
