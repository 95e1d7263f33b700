//! Random fill: bodies at random places whose bounding spheres do not overlap, by trying again.
//!
//! Reads: a fill of the file.  Writes: `Problems`, planned bodies.
//! Called by: `generate`.
//! Source: rejection sampling with a cap; a grid of cells as wide as the largest sphere finds the neighbours.

use crate::build::{Item, MaterialTable, Planned};
use crate::check::vector;
use crate::diagnostics::{At, Problems};
use crate::format;
use crate::generate::{Templates, at_least_one, grouped};
use crate::random::Random;
use std::collections::BTreeMap;
use tippe::{BodyDesc, Pose, Quat, Vec3};

/// Tries for each body unless the scene says otherwise.
const TRIES: u64 = 1000;
/// Most tries for each body that a scene may ask for.
const TRIES_MAX: u64 = 1_000_000;

/// A fill, ready to run.
pub(crate) struct Filling {
    pub(crate) count: u64,
    pub(crate) at: At,
    min: Vec3,
    max: Vec3,
    seed: u64,
    turn_seed: Option<u64>,
    tries: u64,
    templates: Templates,
}

impl Filling {
    pub(crate) fn prepare(
        Item { value, at }: &Item<format::Fill>,
        materials: &MaterialTable,
        problems: &mut Problems,
    ) -> Self {
        at_least_one(value.count, &at.key("count"), problems);
        let region_at = at.key("region");
        let min = vector(value.region.min, &region_at.key("min"), problems);
        let max = vector(value.region.max, &region_at.key("max"), problems);
        let turn_seed = value.random_rotation.as_ref().map(|r| r.seed);
        let templates =
            Templates::prepare(&value.body, turn_seed.is_some(), at, materials, problems);
        let tries = value.tries.unwrap_or(TRIES);
        if tries == 0 || tries > TRIES_MAX {
            let reason = format!("must be between 1 and {}, got {tries}", grouped(TRIES_MAX));
            problems.error(&at.key("tries"), reason, "1000 is plenty for a loose fill");
        }
        let widest = templates
            .list()
            .iter()
            .map(|d| 2.0 * reach(d))
            .fold(0.0, f64::max);
        if !widest.is_finite() {
            problems.error(
                &at.key("body"),
                "a half-space is infinite and fits nowhere",
                "fill with bodies of finite size",
            );
        } else if !problems.touches(&region_at) {
            for (i, axis) in ["x", "y", "z"].iter().enumerate() {
                if max[i] - min[i] < widest {
                    let reason = format!(
                        "{} m along {axis}, but a body needs {widest} m",
                        max[i] - min[i]
                    );
                    problems.error(
                        &region_at,
                        reason,
                        "enlarge the region: max must exceed min by more than the body's size",
                    );
                    break;
                }
            }
        }
        Self {
            count: value.count,
            at: at.clone(),
            min,
            max,
            seed: value.seed,
            turn_seed,
            tries,
            templates,
        }
    }

    pub(crate) fn run(&self, out: &mut Vec<Planned>, problems: &mut Problems) {
        let mut random = Random::new(self.seed);
        let mut turns = self.turn_seed.map(Random::new);
        let widest = self
            .templates
            .list()
            .iter()
            .map(|d| 2.0 * reach(d))
            .fold(0.0, f64::max);
        let mut placed = Cells::new(widest);
        for n in 0..self.count {
            let Some(template) = self.templates.get(n) else {
                return;
            };
            let radius = reach(template);
            let (low, high) = (
                self.min + Vec3::splat(radius),
                self.max - Vec3::splat(radius),
            );
            let place = (0..self.tries)
                .map(|_| random.point(low, high))
                .find(|p| placed.is_free(*p, radius));
            let Some(position) = place else {
                let reason = format!(
                    "found room for {} of {} bodies",
                    grouped(n),
                    grouped(self.count)
                );
                let help = "enlarge the region, ask for fewer bodies, or raise `tries`";
                problems.error(&self.at.key("count"), reason, help);
                return;
            };
            placed.add(position, radius);
            let rotation: Quat = turns
                .as_mut()
                .map_or(template.pose.rotation, Random::rotation);
            self.templates.plan(n, Pose::new(position, rotation), out);
        }
    }

    pub(crate) fn written_out(&self, materials: &MaterialTable) -> format::Fill {
        format::Fill {
            count: self.count,
            region: format::Region {
                min: self.min.to_array(),
                max: self.max.to_array(),
            },
            seed: self.seed,
            body: self
                .templates
                .written_out(self.turn_seed.is_some(), materials),
            random_rotation: self.turn_seed.map(|seed| format::RandomRotation { seed }),
            tries: Some(self.tries),
        }
    }
}

/// Largest distance of a point of the shapes from the body's origin [m].
fn reach(desc: &BodyDesc) -> f64 {
    let far = |s: &tippe::ShapeDesc| s.pose.position.length() + s.shape.reach();
    desc.shapes.iter().map(far).fold(0.0, f64::max)
}

/// Spheres by the cell their centre is in.
struct Cells {
    width: f64,
    spheres: BTreeMap<[i64; 3], Vec<(Vec3, f64)>>,
}

impl Cells {
    fn new(width: f64) -> Self {
        Self {
            width: if width > 0.0 { width } else { 1.0 },
            spheres: BTreeMap::new(),
        }
    }

    fn cell(&self, p: Vec3) -> [i64; 3] {
        (p / self.width).floor().to_array().map(|x| x as i64)
    }

    fn add(&mut self, p: Vec3, radius: f64) {
        self.spheres
            .entry(self.cell(p))
            .or_default()
            .push((p, radius));
    }

    fn is_free(&self, p: Vec3, radius: f64) -> bool {
        let [x, y, z] = self.cell(p);
        // Centres that could touch lie at most one cell width away.
        (x - 1..=x + 1).all(|i| {
            let (from, to) = ([i, y - 1, z - 1], [i, y + 1, z + 1]);
            let row = self.spheres.range(from..=to).flat_map(|(_, list)| list);
            row.into_iter()
                .all(|(q, r)| (p - *q).length() >= radius + r)
        })
    }
}
