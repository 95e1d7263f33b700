//! Grids: bodies in rows, columns and layers.
//!
//! Reads: a generator of the file.  Writes: `Problems`, planned bodies.
//! Called by: `generate`.
//! Source: `docs/scene-format.md`, "Generators".

use crate::build::{Item, MaterialTable, Planned};
use crate::check::{LARGE, vector};
use crate::diagnostics::{At, Problems};
use crate::format;
use crate::generate::{Templates, at_least_one, grouped};
use crate::random::Random;
use tippe::{Pose, Vec3};

/// A grid, ready to run.
pub(crate) struct Gridding {
    counts: [u64; 3],
    pitch: Vec3,
    origin: Vec3,
    /// Bodies it makes: all places, or the first so many.
    pub(crate) count: u64,
    seed: Option<u64>,
    templates: Templates,
    pub(crate) at: At,
}

impl Gridding {
    pub(crate) fn prepare(
        Item { value, at }: &Item<format::Grid>,
        materials: &MaterialTable,
        problems: &mut Problems,
    ) -> Self {
        for (i, n) in value.counts.iter().enumerate() {
            at_least_one(*n, &at.key("counts").index(i), problems);
        }
        let pitch = vector(value.pitch, &at.key("pitch"), problems);
        let span = Vec3::from_array(value.counts.map(|n| n.saturating_sub(1) as f64)) * pitch;
        let origin = match (value.origin, value.center) {
            (Some(origin), None) => vector(origin, &at.key("origin"), problems),
            (None, Some(center)) => vector(center, &at.key("center"), problems) - span * 0.5,
            (Some(_), Some(_)) => {
                problems.error(
                    &at.key("center"),
                    "both origin and center",
                    "keep one of the two",
                );
                Vec3::ZERO
            }
            (None, None) => {
                problems.error(
                    &at.key("origin"),
                    "missing",
                    "add origin (position of the first body) or center (of the whole grid)",
                );
                Vec3::ZERO
            }
        };
        for i in 0..3 {
            if span[i].abs() > LARGE {
                problems.error(
                    &at.key("counts").index(i),
                    format!("the grid would be {:e} m long", span[i]),
                    "check counts and pitch",
                );
            }
        }
        let seed = value.random_rotation.as_ref().map(|r| r.seed);
        let templates = Templates::prepare(&value.body, seed.is_some(), at, materials, problems);
        let places = value.counts.iter().fold(1_u64, |n, k| n.saturating_mul(*k));
        if let Some(count) = value.count {
            at_least_one(count, &at.key("count"), problems);
            if count > places && !problems.touches(&at.key("counts")) {
                let reason = format!("{} bodies on {} places", grouped(count), grouped(places));
                problems.error(
                    &at.key("count"),
                    reason,
                    "raise counts, or leave count out to fill the grid",
                );
            }
        }
        let count = value.count.unwrap_or(places);
        Self {
            counts: value.counts,
            pitch,
            origin,
            count,
            seed,
            templates,
            at: at.clone(),
        }
    }

    pub(crate) fn run(&self, out: &mut Vec<Planned>) {
        let [nx, ny, _] = self.counts.map(|n| n.max(1));
        let mut random = self.seed.map(Random::new);
        for n in 0..self.count {
            let steps = Vec3::new((n % nx) as f64, (n / nx % ny) as f64, (n / nx / ny) as f64);
            let own = self
                .templates
                .get(n)
                .map_or(tippe::Quat::IDENTITY, |d| d.pose.rotation);
            let rotation = random.as_mut().map_or(own, Random::rotation);
            self.templates.plan(
                n,
                Pose::new(self.origin + self.pitch * steps, rotation),
                out,
            );
        }
    }

    pub(crate) fn written_out(&self, materials: &MaterialTable) -> format::Grid {
        format::Grid {
            counts: self.counts,
            pitch: self.pitch.to_array(),
            body: self.templates.written_out(self.seed.is_some(), materials),
            origin: Some(self.origin.to_array()),
            center: None,
            count: Some(self.count),
            random_rotation: self.seed.map(|seed| format::RandomRotation { seed }),
        }
    }
}
