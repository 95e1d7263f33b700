//! Sub-assemblies: the bodies, joints and articulations of another file, placed and named anew.
//!
//! Reads: `format::Assembly`.  Writes: the tables of the file, planned bodies and joints, `Problems`.
//! Called by: `load` (names), `build` (places).
//! Source: `docs/scene-format.md`, "Sub-assemblies".

use crate::body::rotation;
use crate::check::vector;
use crate::diagnostics::{At, Problems};
use crate::format::{self, SceneFile};
use crate::joint::{End, Frame, WORLD};
use tippe::{BodyDesc, BodyKind, Motion, Pose};

/// Where the things of a file stand, and what their names begin with.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// Empty, or a name.
    pub(crate) prefix: String,
    pub(crate) pose: Pose,
}

impl Placement {
    /// That of the main file and what it includes.
    pub(crate) const NONE: Self = Self {
        prefix: String::new(),
        pose: Pose::IDENTITY,
    };

    /// The placement of a sub-assembly of a file that is itself placed.
    pub(crate) fn of(&self, table: &format::Assembly, at: &At, problems: &mut Problems) -> Self {
        if table.name.trim().is_empty() && !problems.touches(&at.key("name")) {
            let help = "give the sub-assembly a name of its own: name = \"left\"";
            problems.error(&at.key("name"), "must not be empty", help);
        }
        let position = vector(
            table.position.unwrap_or_default(),
            &at.key("position"),
            problems,
        );
        let turn = rotation(table.rotation, table.rotation_deg.as_ref(), at, problems);
        Self {
            prefix: self.named(&table.name),
            pose: self.pose.compose(&Pose::new(position, turn)),
        }
    }

    /// A name of the file, as the scene has it.
    pub(crate) fn named(&self, name: &str) -> String {
        if self.prefix.is_empty() || name == WORLD {
            name.to_owned()
        } else {
            format!("{}.{name}", self.prefix)
        }
    }

    fn is_none(&self) -> bool {
        self.prefix.is_empty()
    }

    /// Gives the things of a file their names in the scene, and places the trees.
    pub(crate) fn rename(&self, file: &mut SceneFile, at: &At, problems: &mut Problems) {
        if self.is_none() {
            return;
        }
        for (key, given) in [
            ("grid", file.grid.is_some()),
            ("stack", file.stack.is_some()),
            ("pyramid", file.pyramid.is_some()),
            ("fill", file.fill.is_some()),
            ("chain", file.chain.is_some()),
        ] {
            if given {
                let reason = "a sub-assembly has bodies, joints and articulations, no generators";
                problems.error(
                    &at.key(key),
                    reason,
                    "include the file, or write the bodies",
                );
            }
        }
        if file.program.is_some() {
            let reason = "a sub-assembly has no time programs";
            problems.error(
                &at.key("program"),
                reason,
                "write them in the file that places it",
            );
        }
        for sensor in file.sensor.iter_mut().flatten() {
            sensor.name = self.named(&sensor.name);
            for name in [&mut sensor.body, &mut sensor.joint, &mut sensor.other] {
                *name = name.as_ref().map(|n| self.named(n));
            }
        }
        for body in file.body.iter_mut().flatten() {
            body.name = body.name.as_ref().map(|n| self.named(n));
        }
        for (i, joint) in file.joint.iter_mut().flatten().enumerate() {
            let own = joint.name.clone().unwrap_or_else(|| format!("joint{i}"));
            joint.name = Some(self.named(&own));
            for names in [&mut joint.bodies, &mut joint.joints] {
                *names = names.as_ref().map(|n| n.each_ref().map(|n| self.named(n)));
            }
        }
        for (i, tree) in file.articulation.iter_mut().flatten().enumerate() {
            tree.name = self.named(&tree.name);
            let at = at.key("articulation").index(i);
            let own = Pose::new(
                vector(
                    tree.position.unwrap_or_default(),
                    &at.key("position"),
                    problems,
                ),
                rotation(tree.rotation, tree.rotation_deg.as_ref(), &at, problems),
            );
            let placed = self.pose.compose(&own);
            let q = placed.rotation;
            tree.position = Some(placed.position.to_array());
            tree.rotation = Some([q.w, q.x, q.y, q.z]);
            tree.rotation_deg = None;
        }
    }

    /// Places a body that was described in the file's own axes.
    pub(crate) fn place(&self, desc: &mut BodyDesc) {
        if self.is_none() {
            return;
        }
        let turn = self.pose.rotation;
        desc.pose = self.pose.compose(&desc.pose);
        desc.velocity = turn * desc.velocity;
        desc.angular_velocity = turn * desc.angular_velocity;
        if let BodyKind::Kinematic(motion) = &mut desc.kind {
            self.place_motion(motion);
        }
    }

    fn place_motion(&self, motion: &mut Motion) {
        let turn = self.pose.rotation;
        match motion {
            Motion::Constant {
                velocity,
                angular_velocity,
            }
            | Motion::Steered {
                velocity,
                angular_velocity,
                ..
            } => {
                (*velocity, *angular_velocity) = (turn * *velocity, turn * *angular_velocity);
            }
            Motion::Sine {
                amplitude,
                rotation_amplitude,
                ..
            } => {
                (*amplitude, *rotation_amplitude) = (turn * *amplitude, turn * *rotation_amplitude);
            }
            Motion::Table { poses, .. } => {
                let place = |p: &mut Pose| *p = self.pose.compose(p);
                poses.iter_mut().for_each(place);
            }
        }
    }

    /// Places the ends of a joint that were described in the file's own axes.
    pub(crate) fn place_ends(&self, ends: &mut [End; 2]) {
        if self.is_none() {
            return;
        }
        for end in ends {
            end.frame = match end.frame {
                Frame::World(pose) => Frame::World(self.pose.compose(&pose)),
                Frame::Local(pose) if end.body.is_none() => Frame::Local(self.pose.compose(&pose)),
                Frame::Oriented(q) => Frame::Oriented(self.pose.rotation * q),
                local => local,
            };
        }
    }
}
