//! One execution of the fuzzer, from a seed and a number: the same two always do the same.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: the example `fuzz`, the test of the same name.
//! Source: mutations of small scenes; random shapes, poses and questions with extreme numbers among them.

use std::sync::Arc;
use tippe::collide::narrow::collide_shapes;
use tippe::geometry::{Flight, Separation, TimeOfImpact, closest_points, time_of_impact};
use tippe::query::{Hit, QueryFilter};
use tippe::{BodyDesc, ConvexHull, Pose, Quat, Shape, Vec3, World};
use tippe_scene::{Format, load_str};

/// What was executed, and how often it came to an answer rather than to a refusal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Scene texts, those that loaded, those that were stepped.
    pub texts: [u64; 3],
    /// Pairs of shapes, those with an answer.
    pub pairs: [u64; 2],
    /// Questions to a world, those with a hit.
    pub questions: [u64; 2],
}

/// What one execution was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A scene text: refused, loaded, stepped.
    Text(usize),
    /// A pair of shapes: without or with an answer.
    Pair(usize),
    /// A question: without or with a hit.
    Question(usize),
}

impl Tally {
    /// Counts one execution.
    pub fn add(&mut self, kind: Kind) {
        match kind {
            Kind::Text(level) => self.texts[..=level].iter_mut().for_each(|n| *n += 1),
            Kind::Pair(level) => self.pairs[..=level].iter_mut().for_each(|n| *n += 1),
            Kind::Question(level) => self.questions[..=level].iter_mut().for_each(|n| *n += 1),
        }
    }
}

/// Carries out execution `i` of `seed`; the error says what came out that must not.
///
/// # Errors
/// A number that is not finite, or an answer that contradicts itself.
pub fn execute(seed: u64, i: u64) -> Result<Kind, String> {
    let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ i.wrapping_mul(0x9e37_79b9));
    match i % 4 {
        0 => text(&mut random).map(Kind::Text),
        1 | 2 => pair(&mut random).map(Kind::Pair),
        _ => question(&mut random).map(Kind::Question),
    }
}

/// A small generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
    fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
    /// A length that is mostly ordinary, sometimes absurd.
    fn number(&mut self) -> f64 {
        const ODD: [f64; 16] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            1e-12,
            1e-300,
            1e12,
            -1e12,
            1e150,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e-6,
            1e6,
        ];
        match self.below(8) {
            0 => ODD[self.below(ODD.len())],
            1 => self.range(-1e3, 1e3),
            2 => f64::from(self.range(-3.0, 3.0) as i32),
            _ => self.range(-2.0, 2.0),
        }
    }
    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number())
    }
    /// A unit quaternion, often along the axes, where degenerate cases are.
    fn rotation(&mut self) -> Quat {
        let q = match self.below(4) {
            0 => Quat::IDENTITY,
            1 => Quat::from_xyzw(0.0, 0.0, 1.0, 1.0),
            _ => Quat::from_xyzw(
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(0.1, 1.0),
            ),
        };
        q * (1.0 / q.length_squared().sqrt())
    }
    fn pose(&mut self) -> Pose {
        Pose::new(self.vector(), self.rotation())
    }
    fn shape(&mut self) -> Shape {
        let size = |r: &mut Self| r.number().abs();
        match self.below(8) {
            0 => Shape::Sphere { radius: size(self) },
            1 => Shape::Capsule {
                half_length: size(self),
                radius: size(self),
            },
            2 => Shape::Cylinder {
                half_length: size(self),
                radius: size(self),
            },
            3 => Shape::Cone {
                half_length: size(self),
                radius: size(self),
            },
            4 => Shape::HalfSpace {
                normal: self.rotation() * Vec3::Z,
            },
            5 => self.hull().unwrap_or(Shape::Sphere { radius: 1.0 }),
            _ => Shape::Cuboid {
                half: Vec3::new(size(self), size(self), size(self)),
            },
        }
    }
    fn hull(&mut self) -> Option<Shape> {
        let flat = if self.below(3) == 0 { 0.0 } else { 1.0 };
        let count = self.below(24);
        let points: Vec<Vec3> = (0..count)
            .map(|_| match self.below(6) {
                0 => self.vector(),
                _ => Vec3::new(
                    self.range(-1.0, 1.0),
                    self.range(-1.0, 1.0),
                    flat * self.range(-1.0, 1.0),
                ),
            })
            .collect();
        ConvexHull::new(&points)
            .ok()
            .map(|hull| Shape::Hull(Arc::new(hull)))
    }
}

/// Small scenes that the texts are mutations of.
const SEEDS: [&str; 4] = [
    r#"version = 1
name = "pile"
[world]
gravity = [0, 0, -9.81]
[method]
dt = "1/60"
seconds = 1
[[material]]
name = "wood"
friction = 0.5
restitution = 0.2
[[pair]]
materials = ["wood", "wood"]
friction = 0.4
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[body]]
name = "ball"
position = [0, 0, 1]
velocity = [1, 0, 0]
material = "wood"
shape.sphere = { radius = 0.1 }
[[body]]
name = "brick"
position = [0.5, 0, 1]
rotation_deg = { axis = [0, 1, 0], angle = 30 }
density = 500
shape.box = { size = [0.2, 0.1, 0.3] }
"#,
    r#"version = 1
[[body]]
name = "base"
kind = "kinematic"
motion = { kind = "sine", amplitude = [0, 0, 0.1], frequency = 2 }
shape.box = { size = [2, 2, 0.2] }
[[body]]
name = "pin"
position = [0, 0, 0.5]
shape.capsule = { length = 0.3, radius = 0.1 }
[[body]]
name = "arm"
position = [0.4, 0, 0.9]
shapes = [ { box = { size = [0.1, 0.1, 0.4] } }, { sphere = { radius = 0.1 }, position = [0, 0, 0.3] } ]
[[joint]]
kind = "hinge"
bodies = ["pin", "arm"]
at = [0, 0, 0.7]
axis = [0, 1, 0]
"#,
    r#"version = 1
[[body]]
name = "ground"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[grid]]
counts = [2, 2, 2]
pitch = [1.1, 1.1, 1.1]
origin = [0, 0, 1]
random_rotation = { seed = 1 }
[grid.body]
density = 1000
shape.cylinder = { length = 1, radius = 0.3 }
[[stack]]
count = 3
base = [5, 0, 0]
[stack.body]
shape.box = { size = [0.2, 0.2, 0.2] }
"#,
    r#"{ "version": 1, "method": { "dt": 0.01, "seconds": 0.1 },
  "body": [ { "name": "a", "kind": "fixed", "shape": { "box": { "size": [1, 1, 1] } } },
    { "name": "b", "position": [0, 0, 2], "velocity": [0, 0, -500], "shape": { "hull": { "points":
      [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[0.3,0.3,0.3]] } } } ] }
"#,
];

/// Words that mutations put in.
const WORDS: [&str; 28] = [
    "nan",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e-320",
    "0",
    "-0",
    "-1",
    "99999999999999999999",
    "\"1/0\"",
    "\"\"",
    "[]",
    "{}",
    "[[",
    "]]",
    "\n",
    "\"",
    "#",
    "true",
    "shape",
    "box",
    "sphere",
    "\u{0}",
    "é",
    "[0,0,0]",
    "[1,2]",
    "1_000",
];

fn text(random: &mut Random) -> Result<usize, String> {
    let which = random.below(SEEDS.len());
    let format = if which == 3 {
        Format::Json
    } else {
        Format::Toml
    };
    let mut bytes = SEEDS[which].as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        mutate(random, &mut bytes);
    }
    let text = String::from_utf8_lossy(&bytes);
    let Ok(scene) = load_str(&text, "fuzz", format, &Default::default()) else {
        return Ok(0);
    };
    let mut world = scene.world;
    if world.body_count() > 64 {
        return Ok(1);
    }
    for _ in 0..2 {
        // A step may be refused; a state that is not finite must be.
        let report = world.step(scene.dt);
        for id in world.body_ids() {
            let finite = world.body_state(id).is_ok_and(|s| s.is_finite());
            if !finite {
                return Err(format!("a body is not finite after a step of\n{text}"));
            }
        }
        if report.is_err() {
            return Ok(1);
        }
    }
    Ok(2)
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    match random.below(7) {
        0 => bytes[at] = random.next() as u8,
        1 => {
            bytes.remove(at);
        }
        2 => {
            let word = WORDS[random.below(WORDS.len())];
            bytes.splice(at..at, word.bytes());
        }
        3 => {
            // A number becomes another.
            let start = (at..bytes.len()).find(|&k| bytes[k].is_ascii_digit());
            if let Some(start) = start {
                let end = (start..bytes.len())
                    .find(|&k| !(bytes[k].is_ascii_digit() || bytes[k] == b'.'))
                    .unwrap_or(bytes.len());
                let new = match random.below(3) {
                    0 => WORDS[random.below(11)].to_owned(),
                    1 => format!("{}", random.range(-3.0, 3.0)),
                    _ => format!("{:e}", random.number()),
                };
                bytes.splice(start..end, new.bytes());
            }
        }
        4 => {
            // A piece is doubled.
            let end = (at + random.below(80)).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
        }
        5 => {
            let end = (at + random.below(40)).min(bytes.len());
            bytes.drain(at..end);
        }
        _ => bytes.truncate(at),
    }
}

fn sound(s: &Separation) -> Result<(), String> {
    let unit = (s.normal.length() - 1.0).abs() < 1e-6;
    if s.distance.is_finite() && s.point_a.is_finite() && s.point_b.is_finite() && unit {
        Ok(())
    } else {
        Err(format!("{s:?}"))
    }
}

fn pair(random: &mut Random) -> Result<usize, String> {
    let (a, b) = (random.shape(), random.shape());
    let (p, q) = (random.pose(), random.pose());
    let what = |e: String| format!("{e}\nof {a:?} at {p:?}\nand {b:?} at {q:?}");
    let answered = closest_points(&a, &p, &b, &q);
    if let Ok(s) = &answered {
        sound(s).map_err(what)?;
    }
    let mut points = Vec::new();
    if answered.is_ok() {
        collide_shapes(&a, &p, &b, &q, random.range(-0.1, 0.1), &mut points);
    }
    for c in &points {
        if !(c.gap.is_finite() && c.normal.is_finite() && c.point_a.is_finite()) {
            return Err(what(format!("{c:?}")));
        }
    }
    let flight = |random: &mut Random, pose: Pose| Flight {
        pose,
        center: random.vector() * 0.1,
        velocity: random.vector(),
        acceleration: random.vector(),
        angular_velocity: random.vector(),
        moments: Vec3::new(
            random.range(0.1, 1.0),
            random.range(0.1, 1.0),
            random.range(0.1, 1.0),
        ),
        axes: random.rotation(),
        exact: random.below(2) == 0,
        prescribed: None,
    };
    let (f, g) = (flight(random, p), flight(random, q));
    let horizon = random.range(0.0, 1.0);
    match time_of_impact((&a, &f), (&b, &g), horizon, 1e-6) {
        Ok(TimeOfImpact::At { time, separation }) => {
            sound(&separation).map_err(what)?;
            if !(0.0..=horizon).contains(&time) {
                return Err(what(format!("time of impact {time}")));
            }
        }
        Ok(TimeOfImpact::Unresolved { time }) if !(0.0..=horizon).contains(&time) => {
            return Err(what(format!("time of impact {time}")));
        }
        _ => {}
    }
    Ok(usize::from(answered.is_ok()))
}

fn question(random: &mut Random) -> Result<usize, String> {
    let mut world = World::default();
    for _ in 0..random.below(5) {
        let shape = random.shape();
        let mut desc = if random.below(2) == 0 {
            BodyDesc::fixed(shape, Vec3::ZERO)
        } else {
            BodyDesc::dynamic(shape, Vec3::ZERO)
        };
        desc.pose = random.pose();
        // Bodies that make no sense are refused: that is tested elsewhere.
        let _ = world.add_body(&desc);
    }
    let filter = QueryFilter {
        sensors: random.below(2) == 0,
        ..QueryFilter::default()
    };
    let shape = random.shape();
    let pose = random.pose();
    let (origin, direction) = (random.vector(), random.vector());
    let length = random.number();
    let mut queries = world.queries();
    let answer = match random.below(5) {
        0 | 1 => queries.ray(origin, direction, length, &filter),
        2 => queries.cast(&shape, &pose, direction, length, &filter),
        3 => queries.within(&shape, &pose, length, &filter),
        _ => queries.within_of_point(origin, length, &filter),
    };
    let hits = answer.unwrap_or_default();
    let broken = |h: &Hit| {
        !(h.distance.is_finite() && h.point.is_finite() && (h.normal.length() - 1.0).abs() < 1e-6)
    };
    if let Some(h) = hits.iter().find(|h| broken(h)) {
        return Err(format!("{h:?}"));
    }
    if hits.windows(2).any(|w| w[0].distance > w[1].distance) {
        return Err(format!("not in order: {hits:?}"));
    }
    Ok(usize::from(!hits.is_empty()))
}
