//! Scene texts built from the grammar of the format, so that most of them load: bodies, joints, articulations, generators, materials.
//!
//! Reads: random numbers.  Writes: text.
//! Called by: the campaigns `scenes`, `worlds`, and the snapshots that are mutated.
//! Source: docs/scene-format.md.

use super::random::{ODD, Random};
use std::fmt::Write as _;

const SHAPES: [&str; 5] = ["sphere", "box", "capsule", "cylinder", "cone"];
const JOINTS: [&str; 7] = [
    "ball",
    "hinge",
    "slider",
    "fixed",
    "cylindrical",
    "universal",
    "distance",
];
const LINKS: [&str; 5] = [
    "revolute",
    "prismatic",
    "spherical",
    "universal",
    "cylindrical",
];

/// A scene; with `odd` some of its numbers are absurd, and it is mostly refused.
pub struct Grammar<'a> {
    random: &'a mut Random,
    odd: bool,
    text: String,
}

/// A scene text.
pub fn scene(random: &mut Random, odd: bool) -> String {
    let mut g = Grammar {
        random,
        odd,
        text: "version = 1\n".into(),
    };
    g.settings();
    let bodies = 2 + g.random.below(7);
    for i in 0..bodies {
        g.body(i);
    }
    for _ in 0..g.random.below(4) {
        g.joint(bodies);
    }
    if g.random.one_in(3) {
        g.articulation();
    }
    if g.random.one_in(4) {
        g.generator();
    }
    g.text
}

impl Grammar<'_> {
    /// A number in a range, or an absurd one.
    fn number(&mut self, low: f64, high: f64) -> String {
        let x = if self.odd && self.random.one_in(40) {
            *self.random.pick(&ODD)
        } else {
            self.random.range(low, high)
        };
        if x.is_finite() {
            format!("{x:e}")
        } else {
            "1e999".into()
        }
    }

    fn vector(&mut self, low: f64, high: f64) -> String {
        let [x, y, z] = [0; 3].map(|_| self.number(low, high));
        format!("[{x}, {y}, {z}]")
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn settings(&mut self) {
        let method = *self.random.pick(&["sequential", "iterative"]);
        let dt = *self.random.pick(&["0.001", "0.01", "\"1/60\"", "\"1/30\""]);
        let gravity = *self
            .random
            .pick(&["[0, 0, -9.81]", "[0, 0, 0]", "[3, 0, -5]"]);
        let sleeping = self.random.one_in(4);
        self.line(&format!(
            "[world]\ngravity = {gravity}\nsleeping = {sleeping}"
        ));
        self.line(&format!(
            "[method]\nname = \"{method}\"\ndt = {dt}\nseconds = 1"
        ));
        for name in ["wood", "ice"] {
            let (mu, e) = (self.number(0.0, 1.2), self.number(0.0, 1.0));
            self.line(&format!(
                "[[material]]\nname = \"{name}\"\nfriction = {mu}\nrestitution = {e}"
            ));
        }
    }

    fn shape(&mut self) -> String {
        let kind = *self.random.pick(&SHAPES);
        let (a, b) = (self.number(0.05, 0.4), self.number(0.05, 0.6));
        match kind {
            "sphere" => format!("shape.sphere = {{ radius = {a} }}"),
            "box" => format!("shape.box = {{ size = {} }}", self.vector(0.1, 0.6)),
            "cone" => format!("shape.cone = {{ radius = {a}, height = {b} }}"),
            kind => format!("shape.{kind} = {{ radius = {a}, length = {b} }}"),
        }
    }

    fn body(&mut self, i: usize) {
        self.line(&format!("[[body]]\nname = \"b{i}\""));
        if i == 0 {
            self.line("kind = \"fixed\"\nshape.half_space = { normal = [0, 0, 1] }");
            return;
        }
        let position = self.vector(-1.0, 1.0);
        let angle = self.number(-180.0, 180.0);
        let shape = self.shape();
        let material = *self.random.pick(&["wood", "ice", "default"]);
        self.line(&format!(
            "position = {position}\nmaterial = \"{material}\"\n{shape}"
        ));
        self.line(&format!(
            "rotation_deg = {{ axis = [1, 2, 3], angle = {angle} }}"
        ));
        match self.random.below(6) + 2 * usize::from(i < 3) {
            0 => self.line(
                "kind = \"kinematic\"\nmotion = { kind = \"constant\", velocity = [0.5, 0, 0] }",
            ),
            1 => {
                let (f, a) = (self.number(0.1, 5.0), self.vector(-0.2, 0.2));
                let line = format!(
                    "kind = \"kinematic\"\nmotion = {{ kind = \"sine\", frequency = {f}, amplitude = {a} }}"
                );
                self.line(&line);
            }
            _ => {
                let (v, w) = (self.vector(-3.0, 3.0), self.vector(-9.0, 9.0));
                let mass = self.number(0.01, 100.0);
                self.line(&format!(
                    "velocity = {v}\nangular_velocity = {w}\nmass = {mass}"
                ));
            }
        }
    }

    fn joint(&mut self, bodies: usize) {
        let kind = *self.random.pick(&JOINTS);
        // Joints hold bodies to those before them, or to the world; the first bodies are always dynamic.
        let b = 1 + self.random.below(bodies - 1);
        let a = if b == 1 {
            0
        } else {
            1 + self.random.below((b - 1).min(2))
        };
        let at = self.vector(-1.0, 1.0);
        let name = if a == 0 || (b < 3 && self.random.one_in(3)) {
            "world".into()
        } else {
            format!("b{a}")
        };
        self.line(&format!(
            "[[joint]]\nkind = \"{kind}\"\nbodies = [\"{name}\", \"b{b}\"]"
        ));
        match kind {
            "distance" => {}
            "universal" => self.line(&format!("at = {at}\naxis = [0, 0, 1]\naxis_b = [1, 0, 0]")),
            "hinge" | "slider" | "cylindrical" => {
                self.line(&format!("at = {at}\naxis = [0, 1, 2]"))
            }
            _ => self.line(&format!("at = {at}")),
        }
        if matches!(kind, "hinge" | "slider") && self.random.one_in(2) {
            let (v, f) = (self.number(-5.0, 5.0), self.number(0.0, 50.0));
            self.line(&format!("motor = {{ velocity = {v}, max_force = {f} }}"));
        }
        if self.random.one_in(6) {
            let force = self.number(1.0, 500.0);
            self.line(&format!("break_force = {force}"));
        }
    }

    fn articulation(&mut self) {
        self.line("[[articulation]]\nname = \"tree\"\nposition = [0, 0, 2]");
        let mut path = String::from("articulation.link");
        for i in 0..=self.random.below(4) {
            let joint = *self.random.pick(&LINKS);
            let (at, shape) = (self.vector(-0.5, 0.5), self.shape());
            let _ = write!(
                self.text,
                "[[{path}]]\nname = \"l{i}\"\njoint = \"{joint}\"\nposition = {at}\n{shape}\n"
            );
            path.push_str(".link");
        }
    }

    fn generator(&mut self) {
        let [x, y, z] = [0; 3].map(|_| 1 + self.random.below(3));
        let pitch = self.vector(0.15, 0.5);
        let shape = self.shape();
        self.line(&format!("[[grid]]\ncounts = [{x}, {y}, {z}]\npitch = {pitch}\norigin = [0, 0, 1]\n[grid.body]\nname = \"g\"\n{shape}"));
    }
}
