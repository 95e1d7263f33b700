//! Quantities of a world by name: `body.block.position.z`, `joint.hip.rate`, `articulation.arm.positions[0]`, `sensor.imu.acceleration.x`.
//!
//! Reads: World.  Writes: nothing.
//! Called by: `recording` (what is recorded), users.
//! Source: docs/recording.md, "Quantities". Names are those of the library and of the scene format.

use crate::suggest::nearest;
use tippe::articulated::Joint;
use tippe::articulation::Articulation;
use tippe::{ArticulationId, BodyId, JointId, World};

/// Names of the numbers of a body, in their order.
const BODY: [&str; 16] = [
    "position.x",
    "position.y",
    "position.z",
    "rotation.w",
    "rotation.x",
    "rotation.y",
    "rotation.z",
    "velocity.x",
    "velocity.y",
    "velocity.z",
    "angular_velocity.x",
    "angular_velocity.y",
    "angular_velocity.z",
    "center_of_mass.x",
    "center_of_mass.y",
    "center_of_mass.z",
];

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Body(BodyId, usize),
    JointPosition(JointId, usize),
    JointRate(JointId, usize),
    Position(ArticulationId, usize),
    Velocity(ArticulationId, usize),
    Reading(usize),
}

/// Some quantities of a world, with their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantities {
    names: Vec<String>,
    sources: Vec<Source>,
}

impl Quantities {
    /// All quantities that a world has.
    #[must_use]
    pub fn all(world: &World) -> Self {
        let mut all = Self::default();
        for (id, body, _) in world.bodies() {
            for (k, name) in BODY.iter().enumerate() {
                all.push(format!("body.{}.{name}", body.name), Source::Body(id, k));
            }
        }
        for id in world.joint_ids() {
            let Ok(name) = world.joint(id).map(|j| j.desc.name.clone()) else {
                continue;
            };
            let count = world.joint_positions(id).map_or(0, |p| p.len());
            for k in 0..count {
                let place = if count == 1 {
                    String::new()
                } else {
                    format!("[{k}]")
                };
                all.push(
                    format!("joint.{name}.position{place}"),
                    Source::JointPosition(id, k),
                );
                all.push(
                    format!("joint.{name}.rate{place}"),
                    Source::JointRate(id, k),
                );
            }
        }
        for id in world.articulation_ids() {
            let (Ok(tree), Ok(state)) = (world.articulation(id), world.articulation_state(id))
            else {
                continue;
            };
            let name = &tree.desc.name;
            for (k, stored) in written_order(tree).into_iter().enumerate() {
                all.push(
                    format!("articulation.{name}.positions[{k}]"),
                    Source::Position(id, stored),
                );
            }
            for k in 0..state.velocities.len() {
                all.push(
                    format!("articulation.{name}.velocities[{k}]"),
                    Source::Velocity(id, k),
                );
            }
        }
        for (k, name) in world.reading_names().into_iter().enumerate() {
            all.push(format!("sensor.{name}"), Source::Reading(k));
        }
        all
    }

    fn push(&mut self, name: String, source: Source) {
        self.names.push(name);
        self.sources.push(source);
    }

    /// Those of these names; a part of a name up to a point or bracket stands for all that begin with it. The first name that fits none, with
    /// the nearest one, is the error.
    ///
    /// # Errors
    /// Place in the list, and what to write instead.
    pub fn choose(world: &World, names: &[String]) -> Result<Self, (usize, String)> {
        let all = Self::all(world);
        let mut chosen = Self::default();
        for (i, name) in names.iter().enumerate() {
            let fits = |full: &str| {
                full.strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            let before = chosen.names.len();
            for (full, source) in all
                .names
                .iter()
                .zip(&all.sources)
                .filter(|(full, _)| fits(full))
            {
                if !chosen.names.contains(full) {
                    chosen.push(full.clone(), *source);
                }
            }
            let known = all.names.iter().any(|full| fits(full));
            if chosen.names.len() == before && !known {
                return Err((i, all.meant(name)));
            }
        }
        Ok(chosen)
    }

    /// What was probably meant by a name.
    fn meant(&self, name: &str) -> String {
        // The nearest of the names as far down as the unknown one goes.
        let depth = name.matches('.').count();
        let cut = |full: &str| {
            full.split('.')
                .take(depth + 1)
                .collect::<Vec<_>>()
                .join(".")
        };
        let mut short: Vec<String> = self.names.iter().map(|n| cut(n)).collect();
        short.dedup();
        match nearest(name, short.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None => "names begin with body, joint, articulation or sensor, such as \"body.block.position.z\"".into(),
        }
    }

    /// Their names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Their values now; what is gone reads 0.
    #[must_use]
    pub fn values(&self, world: &World) -> Vec<f64> {
        self.sources
            .iter()
            .map(|s| value(world, *s).unwrap_or(0.0))
            .collect()
    }
}

/// Places of an articulation's positions in the order they are written: quaternions as w, x, y, z, which are x, y, z, w in memory.
#[must_use]
pub fn written_order(tree: &Articulation) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tree.tree.position_count()).collect();
    for (i, link) in tree.desc.links.iter().enumerate() {
        let turns = matches!(link.link.joint, Joint::Spherical | Joint::Free);
        if let (true, Some(places)) = (turns, tree.tree.positions_of(i)) {
            order[places.end - 4..places.end].rotate_right(1);
        }
    }
    order
}

fn value(world: &World, source: Source) -> Option<f64> {
    match source {
        Source::Body(id, k) => {
            let (state, pose) = (world.body_state(id).ok()?, world.pose(id).ok()?);
            let q = state.rotation;
            Some(match k {
                0..3 => pose.position[k],
                3 => q.w,
                4 => q.x,
                5 => q.y,
                6 => q.z,
                7..10 => state.velocity[k - 7],
                10..13 => state.angular_velocity[k - 10],
                _ => state.position[k - 13],
            })
        }
        Source::JointPosition(id, k) => world.joint_positions(id).ok()?.get(k).copied(),
        Source::JointRate(id, k) => world.joint_rates(id).ok()?.get(k).copied(),
        Source::Position(id, k) => world.articulation_state(id).ok()?.positions.get(k).copied(),
        Source::Velocity(id, k) => world
            .articulation_state(id)
            .ok()?
            .velocities
            .get(k)
            .copied(),
        Source::Reading(k) => world.readings().get(k).copied(),
    }
}
