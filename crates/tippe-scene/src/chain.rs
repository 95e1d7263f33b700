//! Chains: links in a row, each joined to the next.
//!
//! Reads: a generator of the file.  Writes: `Problems`, planned bodies and joints.
//! Called by: `generate`.
//! Source: `docs/scene-format.md`, "Generators".

use crate::build::{Item, MaterialTable, Planned};
use crate::check::{LARGE, direction, positive, vector};
use crate::diagnostics::{At, Problems};
use crate::format::{self, OneOrMany};
use crate::generate::{Templates, at_least_one};
use crate::joint::{End, Frame, Jointing, Names, PlannedJoint, describe};
use tippe::{Pose, Vec3};

/// A chain, ready to run.
pub(crate) struct Chaining {
    pub(crate) count: u64,
    pitch: f64,
    origin: Vec3,
    along: Vec3,
    /// What the first and the last link are joined to, by name.
    ends: [Option<String>; 2],
    templates: Templates,
    joints: Vec<Jointing>,
    many: bool,
    pub(crate) at: At,
}

impl Chaining {
    pub(crate) fn prepare(
        Item { value, at }: &Item<format::Chain>,
        materials: &MaterialTable,
        problems: &mut Problems,
    ) -> Self {
        at_least_one(value.count, &at.key("count"), problems);
        let help = "write the length of a link in metres, from joint to joint";
        let known = positive(value.pitch, LARGE, help, &at.key("pitch"), problems);
        if known && value.count as f64 * value.pitch > LARGE {
            let reason = format!(
                "the chain would be {:e} m long",
                value.count as f64 * value.pitch
            );
            problems.error(&at.key("count"), reason, "check count and pitch");
        }
        let many = matches!(value.joint, OneOrMany::Many(_));
        let joint_at = at.key("joint");
        let joints = value.joint.as_slice().iter().enumerate().map(|(i, j)| {
            let at = if many {
                joint_at.index(i)
            } else {
                joint_at.clone()
            };
            describe(j, &at, true, problems)
        });
        let joints = joints.collect();
        Self {
            count: value.count,
            pitch: value.pitch,
            origin: vector(value.origin, &at.key("origin"), problems),
            along: direction(
                value.along.unwrap_or([0.0, 0.0, -1.0]),
                &at.key("along"),
                problems,
            ),
            ends: [value.from.clone(), value.to.clone()],
            templates: Templates::prepare(&value.body, false, at, materials, problems),
            joints,
            many,
            at: at.clone(),
        }
    }

    pub(crate) fn run(&self, out: &mut Vec<Planned>) {
        for n in 0..self.count {
            let Some(template) = self.templates.get(n) else {
                return;
            };
            let middle = self.point(n as f64 + 0.5);
            self.templates
                .plan(n, Pose::new(middle, template.pose.rotation), out);
        }
    }

    /// The point this many links from the start.
    fn point(&self, links: f64) -> Vec3 {
        self.origin + self.along * (self.pitch * links)
    }

    /// Its joints, its first link being body `first` of the plan.
    pub(crate) fn joints<'a>(
        &'a self,
        first: usize,
        names: &Names<'_>,
        out: &mut Vec<PlannedJoint<'a>>,
        problems: &mut Problems,
    ) {
        let count = self.count as usize;
        let mut outer = |key: &str, i: usize, link: usize| {
            let name = self.ends[i].as_ref()?;
            let found = names.find(name, &self.at.key(key), problems)?;
            if found == Some(link) {
                let reason = format!("{name:?} is the link that it would be joined to");
                problems.error(
                    &self.at.key(key),
                    reason,
                    "write another body, or \"world\"",
                );
            }
            Some(found)
        };
        let from = outer("from", 0, first);
        let to = outer("to", 1, first + count.max(1) - 1);
        if self.joints.is_empty() || count == 0 {
            return;
        }
        let inner = (1..count).map(|n| (Some(first + n - 1), Some(first + n), n));
        let start = from.map(|body| (body, Some(first), 0));
        let end = to.map(|body| (Some(first + count - 1), body, count));
        let pairs = start.into_iter().chain(inner).chain(end);
        let prefix = self
            .at
            .path
            .to_string()
            .replace('[', "")
            .replace(']', "_joint");
        for (n, (a, b, links)) in pairs.enumerate() {
            let k = n % self.joints.len();
            let point = self.point(links as f64);
            let mut frames = self.joints[k].frames_at(point);
            // A distance joint holds the origins of the links, but not that of what the chain hangs on.
            let outside = [links == 0, links == count];
            for (frame, outside) in frames.iter_mut().zip(outside) {
                if outside && matches!(frame, Frame::Local(_)) {
                    *frame = Frame::World(Pose::from_position(point));
                }
            }
            let at = self.at.key("joint");
            out.push(PlannedJoint {
                name: self.joints[k].numbered(&prefix, n),
                what: &self.joints[k],
                ends: Some([
                    End {
                        body: a,
                        frame: frames[0],
                    },
                    End {
                        body: b,
                        frame: frames[1],
                    },
                ]),
                at: if self.many { at.index(k) } else { at },
            });
        }
    }

    pub(crate) fn written_out(&self, materials: &MaterialTable) -> format::Chain {
        let mut joints: Vec<format::Joint> =
            self.joints.iter().map(Jointing::written_out).collect();
        format::Chain {
            count: self.count,
            pitch: self.pitch,
            origin: self.origin.to_array(),
            body: self.templates.written_out(false, materials),
            joint: match joints.pop() {
                Some(one) if !self.many => OneOrMany::One(one),
                last => OneOrMany::Many(joints.into_iter().chain(last).collect()),
            },
            along: Some(self.along.to_array()),
            from: self.ends[0].clone(),
            to: self.ends[1].clone(),
        }
    }
}
