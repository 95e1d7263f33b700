//! Clusters of bodies and contact points as problems of the simultaneous resolution, with a dense twin of the same system.

#![allow(
    dead_code,
    non_snake_case,
    clippy::unwrap_used,
    reason = "helpers of tests, not all used by each"
)]

pub mod racks;

use tippe::math::{Mat3, Vec3, tangents};
use tippe::method::simultaneous::{Clusters, Limits, Point, Resolution};
use tippe::solver::problem::{Friction, Law, Node, Problem};
use tippe::{ImpactLaw, Surface};

/// A body of a cluster; without mass it is fixed, or moves as prescribed.
#[derive(Clone, Copy, Debug)]
pub struct Mass {
    pub inverse_mass: f64,
    pub inverse_inertia: Mat3,
    pub x: Vec3,
    pub v: Vec3,
    pub w: Vec3,
}

pub fn ball(m: f64, radius: f64, x: Vec3, v: Vec3) -> Mass {
    Mass {
        inverse_mass: 1.0 / m,
        inverse_inertia: Mat3::IDENTITY * (2.5 / (m * radius * radius)),
        x,
        v,
        w: Vec3::ZERO,
    }
}

pub fn prescribed(x: Vec3, v: Vec3) -> Mass {
    Mass {
        inverse_mass: 0.0,
        inverse_inertia: Mat3::ZERO,
        x,
        v,
        w: Vec3::ZERO,
    }
}

/// SR-5: a point, its normal from a to b, the ordered pair, restitution and friction.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub a: usize,
    pub b: usize,
    pub x: Vec3,
    pub n: Vec3,
    pub e: f64,
    pub mu: f64,
}

/// Points of two bodies that must stay together.
#[derive(Clone, Copy, Debug)]
pub struct Pin {
    pub a: usize,
    pub b: usize,
    pub x: Vec3,
}

#[derive(Clone, Debug, Default)]
pub struct Cluster {
    pub bodies: Vec<Mass>,
    pub touches: Vec<Touch>,
    pub pins: Vec<Pin>,
}

/// A cluster after its resolution.
pub struct After {
    pub found: Resolution,
    pub v: Vec<Vec3>,
    pub w: Vec<Vec3>,
    /// By touch: normal impulse, friction in world axes, normal velocity, slip.
    pub p: Vec<f64>,
    pub friction: Vec<Vec3>,
    pub u: Vec<f64>,
    pub slip: Vec<Vec3>,
}

impl Cluster {
    pub fn add(&mut self, body: Mass) -> usize {
        self.bodies.push(body);
        self.bodies.len() - 1
    }

    pub fn touch(&mut self, a: usize, b: usize, x: Vec3, n: Vec3, e: f64) {
        self.touches.push(Touch {
            a,
            b,
            x,
            n,
            e,
            mu: 0.0,
        });
    }

    /// Two balls touch on the line between their centres.
    pub fn touch_balls(&mut self, a: usize, b: usize, e: f64) {
        let (x, y) = (self.bodies[a].x, self.bodies[b].x);
        self.touch(a, b, 0.5 * (x + y), (y - x).normalize(), e);
    }

    pub fn velocity(&self, body: usize, x: Vec3) -> Vec3 {
        let m = &self.bodies[body];
        m.v + m.w.cross(x - m.x)
    }

    pub fn problem(&self) -> (Problem, Vec<Point>) {
        let mut p = Problem::default();
        let nodes: Vec<Option<Node>> = self
            .bodies
            .iter()
            .map(|m| {
                (m.inverse_mass > 0.0).then(|| {
                    p.add_body(m.inverse_mass, m.inverse_inertia, m.v, m.w)
                        .unwrap()
                })
            })
            .collect();
        let mut points = Vec::new();
        for t in &self.touches {
            let (t1, t2) = tangents(t.n);
            // Prescribed velocities become targets.
            let surface = |i: usize| {
                if nodes[i].is_none() {
                    self.velocity(i, t.x)
                } else {
                    Vec3::ZERO
                }
            };
            let given = surface(t.b) - surface(t.a);
            let target = [
                -given.dot(t.n),
                -given.dot(t1),
                -given.dot(t2),
                0.0,
                0.0,
                0.0,
            ];
            let group = if t.mu > 0.0 {
                p.add_contact(Friction::coulomb(t.mu), target, [0.0; 6])
            } else {
                p.add_row(
                    Law::Bounded {
                        low: 0.0,
                        high: f64::INFINITY,
                    },
                    target[0],
                    0.0,
                )
            };
            for (i, sign) in [(t.a, -1.0), (t.b, 1.0)] {
                if let Some(node) = nodes[i] {
                    p.add_contact_side(node, sign, [t.n, t1, t2], t.x - self.bodies[i].x);
                }
            }
            points.push(Point {
                group,
                surface: Surface {
                    impact_law: ImpactLaw::Poisson,
                    ..Surface::new(t.mu, t.e)
                },
                threshold: 1e-12 * self.speed(),
            });
        }
        for pin in &self.pins {
            for d in [Vec3::X, Vec3::Y, Vec3::Z] {
                p.add_row(Law::Equality, 0.0, 0.0);
                for (i, sign) in [(pin.a, -1.0), (pin.b, 1.0)] {
                    if let Some(node) = nodes[i] {
                        let m = (pin.x - self.bodies[i].x).cross(d) * sign;
                        let d = d * sign;
                        p.add_side(node, &[d.x, d.y, d.z, m.x, m.y, m.z]);
                    }
                }
            }
        }
        (p, points)
    }

    fn speed(&self) -> f64 {
        self.bodies.iter().map(|b| b.v.length()).fold(0.0, f64::max)
    }

    pub fn resolve(&self) -> After {
        self.resolve_with(&Limits {
            passes: 100,
            ..Limits::default()
        })
    }

    pub fn resolve_with(&self, limits: &Limits) -> After {
        let (problem, points) = self.problem();
        let mut clusters = Clusters::default();
        let found = clusters.resolve(&problem, &points, limits).unwrap();
        let (mut v, mut w) = (Vec::new(), Vec::new());
        let mut block = 0;
        for m in &self.bodies {
            if m.inverse_mass > 0.0 {
                let x = clusters.velocities()[block];
                v.push(Vec3::new(x[0], x[1], x[2]));
                w.push(Vec3::new(x[3], x[4], x[5]));
                block += 1;
            } else {
                v.push(m.v);
                w.push(m.w);
            }
        }
        let after = Self {
            bodies: self
                .bodies
                .iter()
                .enumerate()
                .map(|(i, m)| Mass {
                    v: v[i],
                    w: w[i],
                    ..*m
                })
                .collect(),
            ..Self::default()
        };
        let (mut p, mut friction, mut u, mut slip) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (t, point) in self.touches.iter().zip(&points) {
            let rows = problem.group_rows(point.group);
            let r = &clusters.impulses()[rows];
            let (t1, t2) = tangents(t.n);
            p.push(r[0]);
            friction.push(if r.len() > 1 {
                t1 * r[1] + t2 * r[2]
            } else {
                Vec3::ZERO
            });
            let relative = after.velocity(t.b, t.x) - after.velocity(t.a, t.x);
            u.push(relative.dot(t.n));
            slip.push(relative - t.n * relative.dot(t.n));
        }
        After {
            found,
            v,
            w,
            p,
            friction,
            u,
            slip,
        }
    }

    /// Normal velocity of a touch before.
    pub fn approach(&self, t: &Touch) -> f64 {
        (self.velocity(t.b, t.x) - self.velocity(t.a, t.x)).dot(t.n)
    }

    pub fn kinetic(&self, v: &[Vec3], w: &[Vec3]) -> f64 {
        let of = |(i, m): (usize, &Mass)| {
            if m.inverse_mass == 0.0 {
                return 0.0;
            }
            let inertia = m.inverse_inertia.inverse();
            0.5 * v[i].length_squared() / m.inverse_mass + 0.5 * w[i].dot(inertia * w[i])
        };
        self.bodies.iter().enumerate().map(of).sum()
    }

    pub fn kinetic_before(&self) -> f64 {
        let (v, w): (Vec<_>, Vec<_>) = self.bodies.iter().map(|b| (b.v, b.w)).unzip();
        self.kinetic(&v, &w)
    }

    /// Momentum and angular momentum about the origin.
    pub fn momenta(&self, v: &[Vec3], w: &[Vec3]) -> (Vec3, Vec3) {
        let mut sum = (Vec3::ZERO, Vec3::ZERO);
        for (i, m) in self
            .bodies
            .iter()
            .enumerate()
            .filter(|(_, m)| m.inverse_mass > 0.0)
        {
            let p = v[i] / m.inverse_mass;
            sum.0 += p;
            sum.1 += m.x.cross(p) + m.inverse_inertia.inverse() * w[i];
        }
        sum
    }

    pub fn momenta_before(&self) -> (Vec3, Vec3) {
        let (v, w): (Vec<_>, Vec<_>) = self.bodies.iter().map(|b| (b.v, b.w)).unzip();
        self.momenta(&v, &w)
    }

    /// Dense A over the normals of all touches, by the formula of eq. 7 as corrected: bodies of the row's contact.
    pub fn dense(&self) -> Vec<Vec<f64>> {
        let entry = |l: &Touch, k: &Touch| {
            let mut sum = 0.0;
            for (c, m) in self
                .bodies
                .iter()
                .enumerate()
                .filter(|(_, m)| m.inverse_mass > 0.0)
            {
                let sign =
                    |t: &Touch| f64::from(i8::from(t.b == c)) - f64::from(i8::from(t.a == c));
                let (r_l, r_k) = (l.x - m.x, k.x - m.x);
                let answer = k.n * m.inverse_mass + (m.inverse_inertia * r_k.cross(k.n)).cross(r_l);
                sum += sign(l) * sign(k) * answer.dot(l.n);
            }
            sum
        };
        let row = |l: &Touch| self.touches.iter().map(|k| entry(l, k)).collect();
        self.touches.iter().map(row).collect()
    }
}

/// A small generator (splitmix64), so that every run sees the same cases.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.next() >> 11) as f64 / (1_u64 << 53) as f64)
    }
    pub fn count(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }
    pub fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(
            self.range(-size, size),
            self.range(-size, size),
            self.range(-size, size),
        )
    }
    pub fn direction(&mut self) -> Vec3 {
        self.vector(1.0).normalize_or(Vec3::Z)
    }
}

/// A random cluster of 2 to 20 bodies with uniform restitution, no fixed bodies; some are boxes by their inertia.
pub fn random(seed: u64, e: f64, mu: f64) -> Cluster {
    let mut r = Random(seed);
    let mut c = Cluster::default();
    let count = r.count(2, 20);
    for _ in 0..count {
        let m = r.range(0.5, 2.0);
        let mut body = ball(m, r.range(0.3, 1.0), r.vector(2.0), r.vector(1.0));
        if r.count(0, 1) == 1 {
            let d = Vec3::new(r.range(1.0, 5.0), r.range(1.0, 5.0), r.range(1.0, 5.0)) / m;
            body.inverse_inertia = Mat3::from_diagonal(d);
            body.w = r.vector(1.0);
        }
        c.add(body);
    }
    for _ in 0..r.count(count - 1, 2 * count) {
        let a = r.count(0, count - 1);
        let b = (a + r.count(1, count - 1)) % count;
        let x = 0.5 * (c.bodies[a].x + c.bodies[b].x) + r.vector(0.3);
        let n = r.direction();
        c.touches.push(Touch { a, b, x, n, e, mu });
    }
    c
}
