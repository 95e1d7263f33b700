//! Grids: bodies in rows, columns and layers, joined to their neighbours if asked.
//!
//! Reads: a generator of the file.  Writes: `Problems`, planned bodies and joints.
//! Called by: `generate`.
//! Source: `docs/scene-format.md`, "Generators".

use crate::build::{Item, MaterialTable, Planned};
use crate::check::{LARGE, vector};
use crate::diagnostics::{At, Problems};
use crate::format;
use crate::generate::{Templates, at_least_one, grouped};
use crate::joint::{End, Jointing, PlannedJoint, describe};
use crate::random::Random;
use tippe::{BodyKind, Pose, Vec3};

/// A grid, ready to run.
pub(crate) struct Gridding {
    counts: [u64; 3],
    pitch: Vec3,
    origin: Vec3,
    /// Bodies it makes: all places, or the first so many.
    pub(crate) count: u64,
    seed: Option<u64>,
    templates: Templates,
    /// Numbers of the bodies that are fixed, sorted.
    fixed: Vec<u64>,
    places: Option<Vec<[u64; 3]>>,
    joint: Option<Jointing>,
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
            fixed: fixed(value, count, at, problems),
            places: value.fixed.clone(),
            joint: value
                .joint
                .as_ref()
                .map(|j| describe(j, &at.key("joint"), true, problems)),
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
            if let Some(last) = out.last_mut().filter(|_| self.is_fixed(n)) {
                last.desc.kind = BodyKind::Fixed;
                last.desc.velocity = Vec3::ZERO;
                last.desc.angular_velocity = Vec3::ZERO;
            }
        }
    }

    fn is_fixed(&self, n: u64) -> bool {
        self.fixed.binary_search(&n).is_ok()
    }

    /// Its joints, its first body being body `first` of the plan. Two fixed neighbours are not joined.
    pub(crate) fn joints<'a>(&'a self, first: usize, out: &mut Vec<PlannedJoint<'a>>) {
        let Some(what) = &self.joint else { return };
        let [nx, ny, nz] = self.counts.map(|n| n.max(1));
        let prefix = self
            .at
            .path
            .to_string()
            .replace('[', "")
            .replace(']', "_joint");
        let mut number = 0;
        for n in 0..self.count {
            let [i, j, k] = [n % nx, n / nx % ny, n / nx / ny];
            let steps = Vec3::new(i as f64, j as f64, k as f64);
            for (has, stride, axis) in [
                (i + 1 < nx, 1, Vec3::X),
                (j + 1 < ny, nx, Vec3::Y),
                (k + 1 < nz, nx * ny, Vec3::Z),
            ] {
                let other = n + stride;
                let fixed = self.is_fixed(n) && self.is_fixed(other);
                if !has || other >= self.count || fixed {
                    continue;
                }
                let [a, b] = what.frames_at(self.origin + self.pitch * (steps + axis * 0.5));
                let end = |n: u64, frame| End {
                    body: Some(first + n as usize),
                    frame,
                };
                out.push(PlannedJoint {
                    name: what.numbered(&prefix, number),
                    what,
                    ends: Some([end(n, a), end(other, b)]),
                    at: self.at.key("joint"),
                });
                number += 1;
            }
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
            fixed: self.places.clone(),
            joint: self.joint.as_ref().map(Jointing::written_out),
        }
    }
}

/// Numbers of the bodies at the fixed places of a grid, sorted.
fn fixed(value: &format::Grid, count: u64, at: &At, problems: &mut Problems) -> Vec<u64> {
    let [nx, ny, nz] = value.counts;
    let mut numbers = Vec::new();
    for (i, [x, y, z]) in value.fixed.iter().flatten().enumerate() {
        let number = z
            .saturating_mul(ny)
            .saturating_add(*y)
            .saturating_mul(nx)
            .saturating_add(*x);
        if *x >= nx || *y >= ny || *z >= nz || number >= count {
            problems.error(
                &at.key("fixed").index(i),
                "no such place in the grid",
                "write column, row and layer, each from 0 to one less than its count",
            );
        } else {
            numbers.push(number);
        }
    }
    numbers.sort_unstable();
    numbers
}
