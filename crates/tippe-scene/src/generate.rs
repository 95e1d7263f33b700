//! Generators: grids, stacks, pyramids and random fills.
//!
//! Reads: generators of the file.  Writes: `Problems`, planned bodies.
//! Called by: `build`.
//! Source: `docs/scene-format.md`, "Generators".

use crate::body::{Role, describe};
use crate::build::{Item, MaterialTable, Parts, Planned};
use crate::check::{LARGE, direction, positive, vector};
use crate::diagnostics::{At, Problems};
use crate::explain;
use crate::fill::Filling;
use crate::format::{self, OneOrMany};
use crate::random::Random;
use tippe::{BodyDesc, Pose, Shape, Vec3};

/// The bodies a generator repeats.
pub(crate) struct Templates {
    list: Vec<BodyDesc>,
    at: At,
    /// Name of a body without one: this and its number.
    prefix: String,
    many: bool,
}

impl Templates {
    fn prepare(
        body: &OneOrMany<format::Body>,
        random: bool,
        at: &At,
        materials: &MaterialTable,
        problems: &mut Problems,
    ) -> Self {
        let role = if random {
            Role::TemplateTurned
        } else {
            Role::Template
        };
        let body_at = at.key("body");
        let many = matches!(body, OneOrMany::Many(_));
        let place = |i: usize| {
            if many {
                body_at.index(i)
            } else {
                body_at.clone()
            }
        };
        let list = body
            .as_slice()
            .iter()
            .enumerate()
            .map(|(i, b)| describe(b, &place(i), role, materials, problems));
        let prefix = at.path.to_string().replace('[', "").replace(']', "_");
        Self {
            list: list.collect(),
            at: body_at,
            prefix,
            many,
        }
    }

    pub(crate) fn get(&self, n: u64) -> Option<&BodyDesc> {
        let k = self.list.len() as u64;
        if k == 0 {
            None
        } else {
            self.list.get((n % k) as usize)
        }
    }

    /// Body n at a pose.
    pub(crate) fn plan(&self, n: u64, pose: Pose, out: &mut Vec<Planned>) {
        let Some(template) = self.get(n) else { return };
        let mut desc = template.clone();
        let prefix = if template.name.is_empty() {
            &self.prefix
        } else {
            &template.name
        };
        desc.name = format!("{prefix}{n}");
        desc.pose = pose;
        let i = (n % self.list.len() as u64) as usize;
        out.push(Planned {
            desc,
            at: if self.many {
                self.at.index(i)
            } else {
                self.at.clone()
            },
        });
    }

    pub(crate) fn written_out(
        &self,
        random: bool,
        materials: &MaterialTable,
    ) -> OneOrMany<format::Body> {
        let write = |d: &BodyDesc| explain::template(d, random, materials);
        match self.list.as_slice() {
            [one] if !self.many => OneOrMany::One(write(one)),
            list => OneOrMany::Many(list.iter().map(write).collect()),
        }
    }

    /// All templates, for sizes.
    pub(crate) fn list(&self) -> &[BodyDesc] {
        &self.list
    }
}

/// A grid, ready to run.
pub(crate) struct Gridding {
    counts: [u64; 3],
    pitch: Vec3,
    origin: Vec3,
    /// Bodies it makes: all places, or the first so many.
    count: u64,
    seed: Option<u64>,
    templates: Templates,
    at: At,
}

/// A stack, ready to run.
pub(crate) struct Stacking {
    count: u64,
    origin: Vec3,
    along: Vec3,
    /// Distance of neighbours if it is the same for all.
    pitch: Option<f64>,
    templates: Templates,
    at: At,
}

/// A pyramid, ready to run.
pub(crate) struct Heaping {
    rows: u64,
    pitch: f64,
    rise: f64,
    origin: Vec3,
    along: Vec3,
    templates: Templates,
    at: At,
}

/// All generators of a scene, in the order in which they run.
#[derive(Default)]
pub(crate) struct Generators {
    grids: Vec<Gridding>,
    stacks: Vec<Stacking>,
    pyramids: Vec<Heaping>,
    fills: Vec<Filling>,
}

/// Checks all generators.
pub(crate) fn prepare(
    parts: &Parts,
    materials: &MaterialTable,
    problems: &mut Problems,
) -> Generators {
    Generators {
        grids: parts
            .grids
            .iter()
            .map(|item| grid(item, materials, problems))
            .collect(),
        stacks: parts
            .stacks
            .iter()
            .map(|item| stack(item, materials, problems))
            .collect(),
        pyramids: parts
            .pyramids
            .iter()
            .map(|item| pyramid(item, materials, problems))
            .collect(),
        fills: parts
            .fills
            .iter()
            .map(|item| Filling::prepare(item, materials, problems))
            .collect(),
    }
}

/// Prepares the templates of a generator.
pub(crate) fn templates(
    body: &OneOrMany<format::Body>,
    random: bool,
    at: &At,
    materials: &MaterialTable,
    problems: &mut Problems,
) -> Templates {
    Templates::prepare(body, random, at, materials, problems)
}

/// A count of at least one.
pub(crate) fn at_least_one(count: u64, at: &At, problems: &mut Problems) {
    if count == 0 {
        problems.error(
            at,
            "must be at least 1",
            "remove the generator to make no bodies",
        );
    }
}

fn grid(
    Item { value, at }: &Item<format::Grid>,
    materials: &MaterialTable,
    problems: &mut Problems,
) -> Gridding {
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
    Gridding {
        counts: value.counts,
        pitch,
        origin,
        count,
        seed,
        templates,
        at: at.clone(),
    }
}

fn stack(
    Item { value, at }: &Item<format::Stack>,
    materials: &MaterialTable,
    problems: &mut Problems,
) -> Stacking {
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
    Stacking {
        count: value.count,
        origin,
        along,
        pitch,
        templates,
        at: at.clone(),
    }
}

fn pyramid(
    Item { value, at }: &Item<format::Pyramid>,
    materials: &MaterialTable,
    problems: &mut Problems,
) -> Heaping {
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
    Heaping {
        rows: value.rows,
        pitch: value.pitch,
        rise,
        origin,
        along,
        templates,
        at: at.clone(),
    }
}

/// How far a body reaches from its origin, against and along a direction [m].
fn extent(desc: &BodyDesc, along: Vec3) -> (f64, f64) {
    let mut reach = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for s in desc.shapes.iter().filter(|s| !s.sensor) {
        let offset = (desc.pose.rotation * s.pose.position).dot(along);
        let d = (desc.pose.rotation * s.pose.rotation).conjugate() * along;
        let half = match s.shape {
            Shape::Sphere { radius } => radius,
            Shape::Cuboid { half } => half.dot(d.abs()),
            Shape::Capsule {
                half_length,
                radius,
            } => half_length * d.z.abs() + radius,
            Shape::HalfSpace { .. } => f64::INFINITY,
        };
        reach = (reach.0.max(half - offset), reach.1.max(half + offset));
    }
    reach
}

impl Gridding {
    fn run(&self, out: &mut Vec<Planned>) {
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
}

impl Stacking {
    fn run(&self, out: &mut Vec<Planned>) {
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
}

impl Heaping {
    fn count(&self) -> u64 {
        let n = u128::from(self.rows);
        u64::try_from(n * (n + 1) / 2).unwrap_or(u64::MAX)
    }

    fn run(&self, out: &mut Vec<Planned>) {
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
}

impl Generators {
    /// Bodies all of them make, not beyond the largest integer.
    pub(crate) fn count(&self) -> u64 {
        self.counts().fold(0, |sum, (n, _)| sum.saturating_add(n))
    }

    fn counts(&self) -> impl Iterator<Item = (u64, At)> {
        let grids = self.grids.iter().map(|g| (g.count, g.at.key("counts")));
        let stacks = self.stacks.iter().map(|s| (s.count, s.at.key("count")));
        let pyramids = self.pyramids.iter().map(|p| (p.count(), p.at.key("rows")));
        let fills = self.fills.iter().map(|f| (f.count, f.at.key("count")));
        grids.chain(stacks).chain(pyramids).chain(fills)
    }

    /// Reports the generator that asks for most.
    pub(crate) fn too_many(&self, singles: u64, limit: u64, problems: &mut Problems) {
        let help = "check the counts; set world.body_limit to raise the limit";
        let total = self.count().saturating_add(singles);
        let most = self
            .counts()
            .max_by_key(|(n, _)| *n)
            .filter(|(n, _)| *n > 0);
        let at = most.map_or_else(|| At::root(0).key("body"), |(_, at)| at);
        problems.error(
            &at,
            format!(
                "the scene asks for {} bodies; limit {}",
                grouped(total),
                grouped(limit)
            ),
            help,
        );
    }

    /// Makes the bodies.
    pub(crate) fn run(&self, problems: &mut Problems) -> Vec<Planned> {
        let mut out = Vec::new();
        self.grids.iter().for_each(|g| g.run(&mut out));
        self.stacks.iter().for_each(|s| s.run(&mut out));
        self.pyramids.iter().for_each(|p| p.run(&mut out));
        if problems.is_empty() {
            self.fills.iter().for_each(|f| f.run(&mut out, problems));
        }
        out
    }

    pub(crate) fn grids_written_out(&self, materials: &MaterialTable) -> Vec<format::Grid> {
        let write = |g: &Gridding| format::Grid {
            counts: g.counts,
            pitch: g.pitch.to_array(),
            body: g.templates.written_out(g.seed.is_some(), materials),
            origin: Some(g.origin.to_array()),
            center: None,
            count: Some(g.count),
            random_rotation: g.seed.map(|seed| format::RandomRotation { seed }),
        };
        self.grids.iter().map(write).collect()
    }

    pub(crate) fn stacks_written_out(&self, materials: &MaterialTable) -> Vec<format::Stack> {
        let write = |s: &Stacking| format::Stack {
            count: s.count,
            body: s.templates.written_out(false, materials),
            origin: Some(s.origin.to_array()),
            base: None,
            along: Some(s.along.to_array()),
            pitch: s.pitch,
        };
        self.stacks.iter().map(write).collect()
    }

    pub(crate) fn pyramids_written_out(&self, materials: &MaterialTable) -> Vec<format::Pyramid> {
        let write = |p: &Heaping| format::Pyramid {
            rows: p.rows,
            pitch: p.pitch,
            body: p.templates.written_out(false, materials),
            origin: Some(p.origin.to_array()),
            along: Some(p.along.to_array()),
            rise: Some(p.rise),
        };
        self.pyramids.iter().map(write).collect()
    }

    pub(crate) fn fills_written_out(&self, materials: &MaterialTable) -> Vec<format::Fill> {
        self.fills
            .iter()
            .map(|f| f.written_out(materials))
            .collect()
    }
}

/// A number with a comma every three digits.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}
