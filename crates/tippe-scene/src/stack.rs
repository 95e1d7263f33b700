//! Stacks: bodies one upon another.
//!
//! Reads: a generator of the file.  Writes: `Problems`, planned bodies.
//! Called by: `generate`.
//! Source: `docs/scene-format.md`, "Generators".

use crate::build::{Item, MaterialTable, Planned};
use crate::check::{LARGE, direction, positive, vector};
use crate::diagnostics::{At, Problems};
use crate::format;
use crate::generate::{Templates, at_least_one, extent};
use tippe::{Pose, Vec3};

/// A stack, ready to run.
pub(crate) struct Stacking {
    pub(crate) count: u64,
    origin: Vec3,
    along: Vec3,
    /// Distance of neighbours if it is the same for all.
    pitch: Option<f64>,
    templates: Templates,
    pub(crate) at: At,
}

impl Stacking {
    pub(crate) fn prepare(
        Item { value, at }: &Item<format::Stack>,
        materials: &MaterialTable,
        problems: &mut Problems,
    ) -> Self {
        at_least_one(value.count, &at.key("count"), problems);
        let along = direction(
            value.along.unwrap_or([0.0, 0.0, 1.0]),
            &at.key("along"),
            problems,
        );
        let templates = Templates::prepare(&value.body, false, at, materials, problems);
        let sizes: Vec<(f64, f64)> = templates.list().iter().map(|d| extent(d, along)).collect();
        let pitch = match (value.pitch, sizes.as_slice()) {
            (Some(pitch), _) => {
                positive(
                    pitch,
                    LARGE,
                    "write the distance of neighbours in metres",
                    &at.key("pitch"),
                    problems,
                );
                Some(pitch)
            }
            (None, [(below, above)]) => Some(below + above),
            (None, _) => None,
        };
        let known = sizes
            .iter()
            .all(|(below, above)| (below + above).is_finite() && below + above > 0.0);
        if value.pitch.is_none() && !known && !problems.touches(&at.key("body")) {
            let help = "add pitch, or give the body a shape of finite size";
            problems.error(
                &at.key("body"),
                "its size along the stack is not known",
                help,
            );
        }
        let below = sizes.first().map_or(0.0, |s| s.0);
        let origin = match (value.origin, value.base) {
            (Some(origin), None) => vector(origin, &at.key("origin"), problems),
            (None, Some(base)) => vector(base, &at.key("base"), problems) + along * below,
            (Some(_), Some(_)) => {
                problems.error(
                    &at.key("base"),
                    "both origin and base",
                    "keep one of the two",
                );
                Vec3::ZERO
            }
            (None, None) => {
                problems.error(
                    &at.key("origin"),
                    "missing",
                    "add origin (position of the first body) or base (point it stands on)",
                );
                Vec3::ZERO
            }
        };
        Self {
            count: value.count,
            origin,
            along,
            pitch,
            templates,
            at: at.clone(),
        }
    }

    pub(crate) fn run(&self, out: &mut Vec<Planned>) {
        let mut height = 0.0;
        for n in 0..self.count {
            let Some(template) = self.templates.get(n) else {
                return;
            };
            if let Some(pitch) = self.pitch {
                height = pitch * n as f64;
            } else if n > 0 {
                let under = self
                    .templates
                    .get(n - 1)
                    .map_or(0.0, |d| extent(d, self.along).1);
                height += under + extent(template, self.along).0;
            }
            self.templates.plan(
                n,
                Pose::new(self.origin + self.along * height, template.pose.rotation),
                out,
            );
        }
    }

    pub(crate) fn written_out(&self, materials: &MaterialTable) -> format::Stack {
        format::Stack {
            count: self.count,
            body: self.templates.written_out(false, materials),
            origin: Some(self.origin.to_array()),
            base: None,
            along: Some(self.along.to_array()),
            pitch: self.pitch,
        }
    }
}
