//! Pyramids: rows of bodies, each one shorter than the row below.
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

/// A pyramid, ready to run.
pub(crate) struct Heaping {
    rows: u64,
    pitch: f64,
    rise: f64,
    origin: Vec3,
    along: Vec3,
    templates: Templates,
    pub(crate) at: At,
}

impl Heaping {
    pub(crate) fn prepare(
        Item { value, at }: &Item<format::Pyramid>,
        materials: &MaterialTable,
        problems: &mut Problems,
    ) -> Self {
        at_least_one(value.rows, &at.key("rows"), problems);
        positive(
            value.pitch,
            LARGE,
            "write the distance of neighbours in metres",
            &at.key("pitch"),
            problems,
        );
        let along = direction(
            value.along.unwrap_or([1.0, 0.0, 0.0]),
            &at.key("along"),
            problems,
        );
        let templates = Templates::prepare(&value.body, false, at, materials, problems);
        let (below, above) = templates.get(0).map_or((0.0, 0.0), |d| extent(d, Vec3::Z));
        let rise = value.rise.unwrap_or(below + above);
        let known = rise.is_finite() && rise > 0.0;
        if !known && !problems.touches(&at.key("body")) {
            problems.error(
                &at.key("rise"),
                "must be positive",
                "add rise, the distance of rows in metres",
            );
        }
        if rise > LARGE {
            problems.error(
                &at.key("rise"),
                format!("too large: {rise:e}; limit {LARGE:e}"),
                "write the distance of rows in metres",
            );
        }
        let origin = value.origin.map_or(Vec3::new(0.0, 0.0, below), |o| {
            vector(o, &at.key("origin"), problems)
        });
        Self {
            rows: value.rows,
            pitch: value.pitch,
            rise,
            origin,
            along,
            templates,
            at: at.clone(),
        }
    }

    pub(crate) fn count(&self) -> u64 {
        let n = u128::from(self.rows);
        u64::try_from(n * (n + 1) / 2).unwrap_or(u64::MAX)
    }

    pub(crate) fn run(&self, out: &mut Vec<Planned>) {
        let mut n = 0;
        for row in 0..self.rows {
            let wide = self.rows - row;
            for i in 0..wide {
                let x = (i as f64 - (wide - 1) as f64 / 2.0) * self.pitch;
                let position = self.origin + self.along * x + Vec3::Z * (self.rise * row as f64);
                let own = self
                    .templates
                    .get(n)
                    .map_or(tippe::Quat::IDENTITY, |d| d.pose.rotation);
                self.templates.plan(n, Pose::new(position, own), out);
                n += 1;
            }
        }
    }

    pub(crate) fn written_out(&self, materials: &MaterialTable) -> format::Pyramid {
        format::Pyramid {
            rows: self.rows,
            pitch: self.pitch,
            body: self.templates.written_out(false, materials),
            origin: Some(self.origin.to_array()),
            along: Some(self.along.to_array()),
            rise: Some(self.rise),
        }
    }
}
