//! Generators: grids, stacks, pyramids, random fills and chains.
//!
//! Reads: generators of the file.  Writes: `Problems`, planned bodies and joints.
//! Called by: `build`.
//! Source: `docs/scene-format.md`, "Generators".

use crate::body::{Role, describe};
use crate::build::{MaterialTable, Parts, Planned};
use crate::chain::Chaining;
use crate::diagnostics::{At, Problems};
use crate::explain;
use crate::fill::Filling;
use crate::format::{self, OneOrMany};
use crate::grid::Gridding;
use crate::joint::{Names, PlannedJoint};
use crate::pyramid::Heaping;
use crate::stack::Stacking;
use tippe::shape::Core;
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
    /// Checks the bodies of a generator.
    pub(crate) fn prepare(
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

/// All generators of a scene, in the order in which they run.
#[derive(Default)]
pub(crate) struct Generators {
    grids: Vec<Gridding>,
    stacks: Vec<Stacking>,
    pyramids: Vec<Heaping>,
    fills: Vec<Filling>,
    chains: Vec<Chaining>,
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
            .map(|item| Gridding::prepare(item, materials, problems))
            .collect(),
        stacks: parts
            .stacks
            .iter()
            .map(|item| Stacking::prepare(item, materials, problems))
            .collect(),
        pyramids: parts
            .pyramids
            .iter()
            .map(|item| Heaping::prepare(item, materials, problems))
            .collect(),
        fills: parts
            .fills
            .iter()
            .map(|item| Filling::prepare(item, materials, problems))
            .collect(),
        chains: parts
            .chains
            .iter()
            .map(|item| Chaining::prepare(item, materials, problems))
            .collect(),
    }
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

/// How far a body reaches from its origin, against and along a direction [m].
pub(crate) fn extent(desc: &BodyDesc, along: Vec3) -> (f64, f64) {
    let mut reach = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for s in desc.shapes.iter().filter(|s| !s.sensor) {
        let offset = (desc.pose.rotation * s.pose.position).dot(along);
        let d = (desc.pose.rotation * s.pose.rotation).conjugate() * along;
        let (against, toward) = match &s.shape {
            Shape::Sphere { radius } => (*radius, *radius),
            Shape::Cuboid { half } => (half.dot(d.abs()), half.dot(d.abs())),
            Shape::Capsule {
                half_length,
                radius,
            } => {
                let half = half_length * d.z.abs() + radius;
                (half, half)
            }
            other => Core::of(other).map_or((f64::INFINITY, f64::INFINITY), |(core, radius)| {
                let far = |d: Vec3| d.dot(core.support(d, 0).point) + radius;
                (far(-d), far(d))
            }),
        };
        reach = (reach.0.max(against - offset), reach.1.max(toward + offset));
    }
    reach
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
        let chains = self.chains.iter().map(|c| (c.count, c.at.key("count")));
        let bodies = grids.chain(stacks).chain(pyramids).chain(fills);
        bodies.chain(chains)
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
        self.chains.iter().for_each(|c| c.run(&mut out));
        out
    }

    /// Makes the joints, once all bodies are planned; the first `singles` of those are bodies of the file.
    pub(crate) fn joints<'a>(
        &'a self,
        singles: usize,
        plan: &[Planned],
        names: &Names<'_>,
        out: &mut Vec<PlannedJoint<'a>>,
        problems: &mut Problems,
    ) {
        // Where something is wrong, bodies may be missing and numbers mean nothing.
        let complete = plan.len() as u64 == self.count().saturating_add(singles as u64);
        if !complete {
            return;
        }
        let mut first = singles;
        for grid in &self.grids {
            grid.joints(first, out);
            first += grid.count as usize;
        }
        let links: u64 = self.chains.iter().map(|c| c.count).sum();
        first = plan.len() - links as usize;
        for chain in &self.chains {
            chain.joints(first, names, out, problems);
            first += chain.count as usize;
        }
    }

    pub(crate) fn grids_written_out(&self, materials: &MaterialTable) -> Vec<format::Grid> {
        self.grids
            .iter()
            .map(|g| g.written_out(materials))
            .collect()
    }

    pub(crate) fn stacks_written_out(&self, materials: &MaterialTable) -> Vec<format::Stack> {
        self.stacks
            .iter()
            .map(|s| s.written_out(materials))
            .collect()
    }

    pub(crate) fn pyramids_written_out(&self, materials: &MaterialTable) -> Vec<format::Pyramid> {
        self.pyramids
            .iter()
            .map(|p| p.written_out(materials))
            .collect()
    }

    pub(crate) fn chains_written_out(&self, materials: &MaterialTable) -> Vec<format::Chain> {
        self.chains
            .iter()
            .map(|c| c.written_out(materials))
            .collect()
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
