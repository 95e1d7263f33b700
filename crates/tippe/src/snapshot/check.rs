//! What a restored world must satisfy: arrays that agree, names that exist, numbers in range. A world that passes steps or says why not.
//!
//! Reads: World.  Writes: nothing.
//! Called by: `snapshot::read`.
//! Source: the checks are those of the doors through which values come into a world.

use super::articulations;
use crate::error::BuildError;
use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::model::{Body, BodyDesc, BodyKind, Joint, MassSpec, Model};
use crate::motion::Motion;
use crate::report::EnergyLedger;
use crate::state::{ContactMemory, Impulse, JointMemory, PairKey, State};
use crate::world::World;

/// Most steps that a world can have taken: the counter never overflows from there.
const STEP_COUNT_MAX: u64 = 1 << 62;
/// Most substeps of the last step; the methods' own limits are far below.
const SUBSTEPS_MAX: u32 = 1 << 20;
/// How far a quaternion may be from length one [1].
const QUATERNION_TOLERANCE: f64 = 1e-6;
/// How far the stored reach of a body may be from that of its shapes, relative [1].
const REACH_TOLERANCE: f64 = 1e-9;

/// Whether arrays by slot agree in length, every name of a body, shape or material exists, and lists are sorted.
pub(super) fn consistent(model: &Model, state: &State) -> bool {
    let slots = model.bodies.len();
    let lengths = [
        model.generations.len(),
        state.bodies.len(),
        state.loads.len(),
        state.quiet.len(),
        state.asleep.len(),
    ];
    let asleep = |slot: usize| state.asleep.get(slot).is_some_and(Option::is_some);
    let may_sleep =
        |b: &Body| b.kind == BodyKind::Dynamic && b.inverse_mass == 0.0 && model.sleeping.is_some();
    let sleepers = model.bodies.iter().enumerate().all(|(slot, b)| match b {
        Some(b) => b.asleep == asleep(slot) && (!b.asleep || may_sleep(b)),
        None => !asleep(slot),
    });
    let free = model.bodies.iter().filter(|b| b.is_none()).count() == model.free.len()
        && model
            .free
            .iter()
            .all(|&i| (i as usize) < slots && model.bodies[i as usize].is_none());
    lengths.iter().all(|&n| n == slots)
        && free
        && sleepers
        && materials(model)
        && joints(model, state)
        && articulations::consistent(model, state)
        && contacts(model, state)
        && state.efforts.windows(2).all(|w| w[0].slot < w[1].slot)
        && state
            .efforts
            .iter()
            .all(|e| (e.slot as usize) < slots && e.is_sound())
}

fn materials(model: &Model) -> bool {
    let count = model.materials.names.len();
    let pairs = &model.materials.pairs;
    let key = |p: &crate::material::Pair| (p.first, p.second);
    count > 0
        && model.materials.surfaces.len() == count
        && pairs
            .iter()
            .all(|p| p.first <= p.second && p.second.index() < count)
        && pairs.windows(2).all(|w| key(&w[0]) < key(&w[1]))
        && model
            .present()
            .all(|(_, b)| b.shapes.iter().all(|s| s.material.index() < count))
}

fn joints(model: &Model, state: &State) -> bool {
    let count = model.joints.len();
    let free = &model.joint_free;
    model.joint_generations.len() == count
        && state.joints.len() == count
        && model.joints.iter().filter(|j| j.is_none()).count() == free.len()
        && free
            .iter()
            .all(|&i| (i as usize) < count && model.joints[i as usize].is_none())
        // What a joint is follows from its description and the bodies.
        && model
            .present_joints()
            .all(|(i, j)| j.slot as usize == i && joint(model, j))
}

fn joint(model: &Model, joint: &Joint) -> bool {
    if joint.desc.kind.coupled().is_some() {
        return meshes(model, joint);
    }
    let made = model.joint_from(&joint.desc).map(|made| Joint {
        slot: joint.slot,
        ..made
    });
    made.as_ref() == Ok(joint)
}

/// Whether a coupling, and nothing else, has a mesh, on joints and bodies that exist.
fn meshes(model: &Model, joint: &Joint) -> bool {
    let Some(mesh) = &joint.mesh else {
        return joint.desc.kind.coupled().is_none();
    };
    let body = |slot: u32| model.bodies.get(slot as usize).is_some_and(Option::is_some);
    let named = joint.desc.kind.coupled();
    body(joint.b)
        && joint.a.is_some_and(body)
        && joint.desc.check().is_ok()
        && named.is_some_and(|ids| ids.iter().all(|id| model.get_joint(*id).is_some()))
        && named.map(|ids| ids.map(|id| id.index)) == Some(mesh.joints)
        && mesh.carriers.iter().all(|c| c.is_none_or(body))
        && mesh.locals.iter().all(Pose::is_finite)
}

fn contacts(model: &Model, state: &State) -> bool {
    let pair = |p: &PairKey| {
        let shape = |body: u32, shape: u32| {
            let body = model.bodies.get(body as usize).and_then(Option::as_ref);
            body.is_some_and(|b| (shape as usize) < b.shapes.len())
        };
        p.body_a < p.body_b && shape(p.body_a, p.shape_a) && shape(p.body_b, p.shape_b)
    };
    state.contacts.iter().all(|c| pair(&c.key.pair))
        && state.contacts.windows(2).all(|w| w[0].key <= w[1].key)
        && [&state.touching, &state.sensed]
            .into_iter()
            .all(|list| list.iter().all(pair) && list.windows(2).all(|w| w[0] <= w[1]))
}

/// Names the first number that no world could have written.
pub(super) fn numbers(world: &World) -> Result<(), BuildError> {
    let (model, state) = (&world.model, &world.state);
    world.method.check().map_err(|e| e.inside("method"))?;
    require("gravity", model.gravity.is_finite())?;
    if let Some(sleeping) = model.sleeping {
        sleeping.check().map_err(|e| e.inside("sleeping"))?;
    }
    for surface in &model.materials.surfaces {
        surface.check().map_err(|e| e.inside("materials"))?;
    }
    for pair in &model.materials.pairs {
        pair.surface.check().map_err(|e| e.inside("pairs"))?;
    }
    require("jointed", model.jointed_pairs() == model.jointed)?;
    for (i, b) in model.present() {
        body(b).map_err(|e| e.inside(&format!("bodies[{i}]")))?;
    }
    require("time", state.time.is_finite())?;
    require("step_count", state.step_count <= STEP_COUNT_MAX)?;
    require("substeps", state.substeps <= SUBSTEPS_MAX)?;
    require("substep", state.substep.is_finite() && state.substep >= 0.0)?;
    for (i, b) in state.bodies.iter().enumerate() {
        let load = &state.loads[i];
        let good = b.is_finite()
            && unit(b.rotation)
            && load.force.is_finite()
            && load.torque.is_finite()
            && state.quiet[i].is_finite();
        require(&format!("state.bodies[{i}]"), good)?;
    }
    require("state.contacts", state.contacts.iter().all(remembered))?;
    require("state.joints", state.joints.iter().all(joint_memory))?;
    for a in &state.articulations {
        let all = a.positions.iter().chain(&a.velocities);
        require(
            "state.articulations",
            all.into_iter().all(|x| x.is_finite()),
        )?;
    }
    super::control::check(model)?;
    let memory = &state.compliant;
    let speeds = memory.contacts.iter().map(|c| c.speed);
    let good = |x: f64| x.is_finite() && x >= 0.0;
    let sorted = memory.contacts.is_sorted_by(|a, b| a.key < b.key);
    require(
        "state.compliant",
        good(memory.step) && speeds.into_iter().all(good) && sorted,
    )?;
    require("ledger", ledger_finite(&world.ledger))
}

fn require(field: &str, good: bool) -> Result<(), BuildError> {
    if good {
        Ok(())
    } else {
        Err(BuildError::new(field, "out of range"))
    }
}

fn unit(q: Quat) -> bool {
    (q.length_squared() - 1.0).abs() < QUATERNION_TOLERANCE
}

/// A body passes the checks of its description, and what was computed from that fits.
fn body(body: &Body) -> Result<(), BuildError> {
    let dynamic = body.kind == BodyKind::Dynamic;
    if let BodyKind::Kinematic(Motion::Steered { since, .. }) = body.kind {
        require("motion.since", since.is_finite())?;
    }
    let kind = match &body.kind {
        BodyKind::Link { .. } => BodyKind::Fixed,
        kind => kind.clone(),
    };
    Body::build(&BodyDesc {
        name: body.name.clone(),
        kind,
        pose: body.pose_start,
        velocity: Vec3::ZERO,
        angular_velocity: Vec3::ZERO,
        shapes: body.shapes.clone(),
        mass: MassSpec::Explicit {
            mass: body.mass,
            center: body.center,
            inertia: Mat3::from_diagonal(body.moments),
        },
        drag: body.drag,
        gravity_scale: body.gravity_scale,
    })?;
    let answers = dynamic && !body.asleep;
    let (inverse_mass, inverse_moments) = if answers {
        (1.0 / body.mass, body.moments.recip())
    } else {
        (0.0, Vec3::ZERO)
    };
    require("mass", body.mass.is_finite() && body.mass >= 0.0)?;
    require("center", body.center.is_finite())?;
    let moments = body.moments;
    require(
        "moments",
        moments.is_finite() && moments.min_element() >= 0.0,
    )?;
    require("inverse_mass", body.inverse_mass == inverse_mass)?;
    require("inverse_moments", body.inverse_moments == inverse_moments)?;
    require("axes", body.axes.is_finite() && unit(body.axes))?;
    let reach = body.reach_about(body.center);
    let near = (body.reach - reach).abs() <= REACH_TOLERANCE * reach;
    require("reach", near || body.reach == reach)
}

fn impulse(i: &Impulse) -> bool {
    i.normal.is_finite() && i.tangential.is_finite() && i.angular.is_finite()
}

fn remembered(c: &ContactMemory) -> bool {
    impulse(&c.first) && impulse(&c.second)
}

fn joint_memory(m: &JointMemory) -> bool {
    let held = m.first.iter().chain(&m.second);
    let bounded = m.bounded_first.iter().chain(&m.bounded_second);
    let single = [&m.angle, &m.force];
    held.chain(bounded).chain(single).all(|x| x.is_finite())
}

fn ledger_finite(ledger: &EnergyLedger) -> bool {
    let mut out = super::Output::default();
    super::Code::write(ledger, &mut out);
    let (numbers, _) = out.bytes.as_chunks::<8>();
    numbers.iter().all(|x| f64::from_le_bytes(*x).is_finite())
}
