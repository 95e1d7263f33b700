//! Generators of the scene file: thousands of bodies in a few lines.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `format` (the whole file).
//! Source: `docs/scene-format.md`, "Generators".

use super::{At, Body, Joint, Node, Problems, Read, Serialize, Value, record};

/// One table, or a list of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[cfg_attr(feature = "schema", schemars(rename = "{T}OneOrMany"))]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl<T> OneOrMany<T> {
    /// All of them.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

impl<T: Read> Read for OneOrMany<T> {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        match &node.value {
            Value::List(items) if items.is_empty() => {
                problems.error(at, "must not be empty", "write at least one table");
                Self::default()
            }
            Value::List(_) => Self::Many(Vec::read(node, at, problems)),
            _ => Self::One(T::read(node, at, problems)),
        }
    }
}

record! {
    /// Random orientations, equally likely in every direction: three draws a body, in the order of creation.
    RandomRotation { required {
        /// Seed of the random numbers.
        seed: u64,
    } optional {} }
}

record! {
    /// Bodies in rows, columns and layers. Body n stands at column n mod nx, row n / nx mod ny, layer n / (nx ny).
    Grid {
        required {
            /// Numbers of bodies along x, y, z.
            counts: [u64; 3],
            /// Distances between neighbours along x, y, z [m]; may be negative.
            pitch: [f64; 3],
            /// The body, or several: body n is number n mod k of them. Without position.
            body: OneOrMany<Body>,
        }
        optional {
            /// Position of the first body [m].
            origin: [f64; 3],
            /// Centre of the whole grid [m], instead of `origin`.
            center: [f64; 3],
            /// Stop after this many bodies. Default: fill the grid.
            count: u64,
            /// Random orientations, in place of the bodies' own.
            random_rotation: RandomRotation,
            /// Places, as column, row and layer from 0, whose bodies are fixed.
            fixed: Vec<[u64; 3]>,
            /// Joins each body to its neighbours along x, y and z, half-way between them. Without bodies and place.
            joint: Joint,
        }
    }
}

record! {
    /// Bodies one upon another, exactly touching.
    Stack {
        required {
            /// Number of bodies.
            count: u64,
            /// The body, or several: body n is number n mod k of them. Without position.
            body: OneOrMany<Body>,
        }
        optional {
            /// Position of the first body [m].
            origin: [f64; 3],
            /// The point on which the first body stands [m], instead of `origin`.
            base: [f64; 3],
            /// Direction of the stack; need not have length one. Default [0, 0, 1].
            along: [f64; 3],
            /// Distance between neighbours [m]. Default: so that they touch.
            pitch: f64,
        }
    }
}

record! {
    /// Rows of bodies, each one shorter than the row below.
    Pyramid {
        required {
            /// Number of rows, and of bodies in the lowest.
            rows: u64,
            /// Distance between neighbours of a row [m].
            pitch: f64,
            /// The body, or several: body n is number n mod k of them. Without position.
            body: OneOrMany<Body>,
        }
        optional {
            /// Position of the middle of the lowest row [m]. Default [0, 0, half the height of the first body].
            origin: [f64; 3],
            /// Direction of the rows; need not have length one. Default [1, 0, 0].
            along: [f64; 3],
            /// Distance between rows, upwards [m]. Default: so that they touch.
            rise: f64,
        }
    }
}

record! {
    /// A box of space.
    Region { required {
        /// Lowest corner [m].
        min: [f64; 3],
        /// Highest corner [m].
        max: [f64; 3],
    } optional {} }
}

record! {
    /// Bodies at random places without overlap of their bounding spheres.
    Fill {
        required {
            /// Number of bodies.
            count: u64,
            /// Where they lie, wholly inside.
            region: Region,
            /// Seed of the random places.
            seed: u64,
            /// The body, or several: body n is number n mod k of them. Without position.
            body: OneOrMany<Body>,
        }
        optional {
            /// Random orientations, in place of the bodies' own.
            random_rotation: RandomRotation,
            /// Tries for each body before the fill gives up. Default 1000.
            tries: u64,
        }
    }
}

record! {
    /// Links in a row, each joined to the next. Link n stands in the middle between joints n and n + 1.
    Chain {
        required {
            /// Number of links.
            count: u64,
            /// Length of a link, from joint to joint [m].
            pitch: f64,
            /// Start of the first link, where the first joint is [m].
            origin: [f64; 3],
            /// The link, or several: link n is number n mod k of them. Without position.
            body: OneOrMany<Body>,
            /// The joint, or several: joint n is number n mod k of them. Without bodies and place.
            joint: OneOrMany<Joint>,
        }
        optional {
            /// Direction of the chain; need not have length one. Default [0, 0, -1].
            along: [f64; 3],
            /// Body that the first link is joined to, or "world". Default: none.
            from: String,
            /// Body that the last link is joined to, or "world". Default: none.
            to: String,
        }
    }
}

impl Read for [u64; 3] {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        let help = "write three whole numbers: [10, 10, 10]";
        match &node.value {
            Value::List(items) if items.len() == 3 => {
                let mut number = |i: usize| u64::read(&items[i], &at.index(i), problems);
                return [number(0), number(1), number(2)];
            }
            Value::List(items) => problems.error(
                at,
                format!("must be three whole numbers, got {}", items.len()),
                help,
            ),
            _ => crate::read::wrong_type(node, at, "a list of three whole numbers", help, problems),
        }
        Self::default()
    }
}
