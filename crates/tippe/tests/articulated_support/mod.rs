//! Trees for the tests of articulated bodies: reference files, random trees, chains.

#![allow(dead_code, clippy::unwrap_used)]

pub mod adaptive;

use serde_json::Value;
use tippe::articulated::{Joint, LinkDesc, Model};
use tippe::math::{Mat3, Pose, Quat, Vec3};
use tippe::shape::mass::MassProperties;

/// A tree and a state of it.
pub struct Case {
    pub model: Model,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub tau: Vec<f64>,
}

pub fn read(name: &str) -> Value {
    let path = format!(
        "{}/tests/data/articulated/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub fn numbers(v: &Value) -> Vec<f64> {
    v.as_array()
        .unwrap()
        .iter()
        .map(|x| x.as_f64().unwrap())
        .collect()
}

pub fn vec3(v: &Value) -> Vec3 {
    Vec3::from_slice(&numbers(v))
}

/// A matrix given as a list of rows.
pub fn mat3(v: &Value) -> Mat3 {
    let rows = v.as_array().unwrap();
    Mat3::from_cols(vec3(&rows[0]), vec3(&rows[1]), vec3(&rows[2])).transpose()
}

pub fn matrix(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().flat_map(numbers).collect()
}

/// The tree of a reference file. Its link and joint frames, coordinates and quaternion order are ours.
pub fn reference(file: &Value) -> Case {
    let model = &file["model"];
    let mut links = Vec::new();
    let (mut q, mut v, mut tau) = (Vec::new(), Vec::new(), Vec::new());
    for l in model["links"].as_array().unwrap() {
        let j = &l["joint"];
        let joint = match j["type"].as_str().unwrap() {
            "revolute" => Joint::Revolute {
                axis: vec3(&j["axis"]),
            },
            "prismatic" => Joint::Prismatic {
                axis: vec3(&j["axis"]),
            },
            "spherical" => Joint::Spherical,
            "free" => Joint::Free,
            "fixed" => Joint::Fixed,
            other => panic!("unknown joint {other}"),
        };
        let mass = MassProperties {
            mass: l["mass"].as_f64().unwrap(),
            center: vec3(&l["com"]),
            inertia: mat3(&l["inertia_com"]),
        };
        let placement = Pose::new(vec3(&j["p"]), Quat::from_mat3(&mat3(&j["R"])));
        let parent = usize::try_from(l["parent"].as_i64().unwrap()).ok();
        links.push(LinkDesc::new(parent, joint, placement, mass));
        q.extend(numbers(&l["q"]));
        v.extend(numbers(&l["qd"]));
        tau.extend(numbers(&l["tau"]));
    }
    Case {
        model: Model::new(&links, vec3(&model["gravity"])).unwrap(),
        q,
        v,
        tau,
    }
}

/// A fixed sequence of numbers in (−1, 1).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        (((self.next() + 1.0) * 0.5 * n as f64) as usize).min(n - 1)
    }

    pub fn vec3(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }

    pub fn direction(&mut self) -> Vec3 {
        let v = self.vec3();
        if v.length() < 0.1 {
            Vec3::Y
        } else {
            v.normalize()
        }
    }

    pub fn quat(&mut self) -> Quat {
        let q = Quat::from_xyzw(self.next(), self.next(), self.next(), self.next());
        if q.length() < 0.1 {
            Quat::IDENTITY
        } else {
            q.normalize()
        }
    }

    /// Mass of a box of random size and pose.
    pub fn mass(&mut self) -> MassProperties {
        let mass = 1.0 + 0.8 * self.next();
        let a = (self.vec3() * 0.2 + Vec3::splat(0.3)).powf(2.0);
        let inertia = Vec3::new(a.y + a.z, a.x + a.z, a.x + a.y) * (mass / 12.0);
        let r = Mat3::from_quat(self.quat());
        MassProperties {
            mass,
            center: self.vec3() * 0.2,
            inertia: r * Mat3::from_diagonal(inertia) * r.transpose(),
        }
    }

    pub fn joint(&mut self) -> Joint {
        let (a, b) = (self.direction(), self.direction());
        match self.below(12) {
            0..=3 => Joint::Revolute { axis: a },
            4 | 5 => Joint::Prismatic { axis: a },
            6 | 7 => Joint::Spherical,
            8 => Joint::Fixed,
            9 if a.cross(b).length() > 0.3 => Joint::Universal {
                first: a,
                second: b,
            },
            10 => Joint::Cylindrical { axis: a },
            11 => Joint::Planar { normal: a },
            _ => Joint::Revolute { axis: b },
        }
    }

    /// A tree of `n` links of all joints; every third one floats.
    pub fn tree(&mut self, n: usize) -> Case {
        let floating = self.below(3) == 0;
        let mut links = Vec::new();
        for i in 0..n {
            // Mostly the last link carries the next, so that there are long branches.
            let parent = match i {
                0 => None,
                _ if self.next() < 0.3 => Some(i - 1),
                _ => Some(self.below(i)),
            };
            let joint = match i {
                0 if floating => Joint::Free,
                _ => self.joint(),
            };
            let placement = Pose::new(self.vec3() * 0.4, self.quat());
            links.push(LinkDesc::new(parent, joint, placement, self.mass()));
        }
        let gravity = self.vec3() * 10.0;
        self.state(Model::new(&links, gravity).unwrap())
    }

    /// A random state of a model.
    pub fn state(&mut self, model: Model) -> Case {
        let mut q: Vec<f64> = (0..model.position_count()).map(|_| self.next()).collect();
        for link in 0..model.link_count() {
            let at = model.positions_of(link).unwrap();
            let quaternion = match model.links()[link].joint {
                Joint::Spherical => at.start..at.end,
                Joint::Free => at.start + 3..at.end,
                _ => continue,
            };
            q[quaternion].copy_from_slice(&self.quat().to_array());
        }
        let n = model.freedom_count();
        Case {
            v: (0..n).map(|_| self.next() * 2.0).collect(),
            tau: (0..n).map(|_| self.next() * 5.0).collect(),
            model,
            q,
        }
    }
}

/// Largest difference of two vectors over the largest entry of the second.
pub fn relative(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(1e-300_f64, |s, x| s.max(x.abs()));
    found.iter().zip(expected).fold(0.0_f64, |s, (a, b)| {
        let d = (a - b).abs() / size;
        if d.is_nan() { f64::INFINITY } else { s.max(d) }
    })
}

/// A thin rod of 1 kg and 1 m from the origin of its frame along x.
pub fn rod() -> MassProperties {
    MassProperties {
        mass: 1.0,
        center: Vec3::X * 0.5,
        inertia: Mat3::from_diagonal(Vec3::new(0.0, 1.0 / 12.0, 1.0 / 12.0)),
    }
}

/// `n` rods in line along x, hinged about y; the first on the world.
pub fn rods(n: usize) -> Vec<LinkDesc> {
    (0..n)
        .map(|i| {
            let place = if i == 0 { Vec3::ZERO } else { Vec3::X };
            LinkDesc::new(
                i.checked_sub(1),
                Joint::Revolute { axis: Vec3::Y },
                Pose::from_position(place),
                rod(),
            )
        })
        .collect()
}

/// Solves `A x = b` by elimination with row exchange.
pub fn solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for c in 0..n {
        let p = (c..n)
            .max_by(|i, j| a[i * n + c].abs().total_cmp(&a[j * n + c].abs()))
            .unwrap();
        for k in 0..n {
            a.swap(c * n + k, p * n + k);
        }
        b.swap(c, p);
        for i in c + 1..n {
            let t = a[i * n + c] / a[c * n + c];
            for k in c..n {
                a[i * n + k] -= t * a[c * n + k];
            }
            b[i] -= t * b[c];
        }
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            b[i] -= a[i * n + k] * b[k];
        }
        b[i] /= a[i * n + i];
    }
    b
}
