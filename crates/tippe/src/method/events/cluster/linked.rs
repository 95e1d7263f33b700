//! Several contacts at once of bodies that joints or trees hold: one solve over the collision matrices between all of them.
//!
//! Reads: the cluster's points, answers of ties.  Writes: velocities, what trees were pushed by, the account.
//! Called by: `method::events::cluster`.
//! Source: [Mirtich94] §5.2 for the matrices; block Gauss–Seidel over them, so that what is symmetric stays so whichever contact comes first.

#![allow(non_snake_case)]

use super::{APPROACH_ROUNDING, Cluster, GAIN_ROUNDING, GUARD_TRIALS};
use crate::math::{Mat3, Vec3, tangents};
use crate::model::Model;

/// Contacts that are answered at once; more are answered one after another.
const CONTACTS_MAX: usize = 32;
/// Sweeps over them, and the change of velocity that ends them, relative to the speeds [1].
const SWEEPS_MAX: u32 = 2000;
const MET: f64 = 1e-14;
/// The same that counts as solved all the same.
const MET_NEARLY: f64 = 1e-10;
/// Response along the normal below which a contact does not move, relative to all of it [1].
const IMMOVABLE: f64 = 1e-12;

/// A contact of the solve: its frame and own response, aim and bound.
struct Row {
    n: Vec3,
    t: [Vec3; 2],
    k_n: f64,
    /// Inverse of the tangential block (xx, xy, yy), and the step of its projected gradient.
    k_t: [f64; 3],
    step: f64,
    friction: f64,
    rebound: f64,
    P: Vec3,
    u: Vec3,
}

impl Row {
    /// Answers the contact alone; returns the change of its impulse.
    fn visit(&mut self, K: &Mat3, factor: f64) -> Vec3 {
        let p_n = self.P.dot(self.n);
        let missing = factor * self.rebound - self.u.dot(self.n);
        let wanted = (p_n + missing / self.k_n).max(0.0);
        let u = self.u + *K * (self.n * (wanted - p_n));
        let bound = self.friction * wanted;
        let [p, u_t] = [self.P, u].map(|v| self.t.map(|t| v.dot(t)));
        let k = &self.k_t;
        let stick = [
            p[0] - k[0] * u_t[0] - k[1] * u_t[1],
            p[1] - k[1] * u_t[0] - k[2] * u_t[1],
        ];
        let p_t = if length(stick) <= bound {
            stick
        } else {
            let slide = [p[0] - self.step * u_t[0], p[1] - self.step * u_t[1]];
            let scale = bound / length(slide).max(f64::MIN_POSITIVE);
            slide.map(|x| x * scale.min(1.0))
        };
        let P = self.n * wanted + self.t[0] * p_t[0] + self.t[1] * p_t[1];
        let change = P - self.P;
        self.P = P;
        change
    }
}

impl Cluster {
    /// Answers several contacts together, none to gain energy; says whether there was an answer.
    pub(super) fn linked(&mut self, model: &Model, list: &[u32]) -> bool {
        if list.len() > CONTACTS_MAX || self.unlinked {
            return false;
        }
        let K = self.responses(model, list);
        let before: Vec<Vec3> = list
            .iter()
            .map(|&i| self.velocity(&self.points[i as usize]))
            .collect();
        let rows = list.iter().zip(&before).enumerate();
        let mut rows: Vec<Row> = rows
            .map(|(k, (&i, u))| self.row(i, *u, &K[k * list.len() + k]))
            .collect();
        if !solve(&mut rows, &before, &K, 1.0) {
            self.unlinked = true;
            return false;
        }
        let (gain, turnover) = gain(&rows, &before);
        if gain > GAIN_ROUNDING * turnover {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..GUARD_TRIALS {
                let factor = 0.5 * (low + high);
                solve(&mut rows, &before, &K, factor);
                if self::gain(&rows, &before).0 > 0.0 {
                    high = factor;
                } else {
                    low = factor;
                }
            }
            if !solve(&mut rows, &before, &K, low) {
                self.work.caps_hit += 1;
            }
        }
        for (&i, row) in list.iter().zip(&rows) {
            self.give(model, i as usize, row.P);
        }
        for ((&i, row), u) in list.iter().zip(&rows).zip(&before) {
            self.book(i as usize, row.P, *u);
        }
        true
    }

    /// Changes of the velocity of every contact by a unit impulse on every other, by rows [1/kg].
    fn responses(&mut self, model: &Model, list: &[u32]) -> Vec<Mat3> {
        let n = list.len();
        let mut K = vec![[Vec3::ZERO; 3]; n * n];
        for (k, &j) in list.iter().enumerate() {
            let pushed = self.points[j as usize];
            for (axis, e) in Vec3::AXES.into_iter().enumerate() {
                self.answer(model, &pushed, e);
                for (i, &at) in list.iter().enumerate() {
                    K[i * n + k][axis] = self.change_at(&self.points[at as usize]);
                }
            }
        }
        K.into_iter()
            .map(|[x, y, z]| Mat3::from_cols(x, y, z))
            .collect()
    }

    fn row(&self, i: u32, u: Vec3, K: &Mat3) -> Row {
        let p = &self.points[i as usize];
        let n = p.place.normal;
        let (t1, t2) = tangents(n);
        let (a, b, c) = (t1.dot(*K * t1), t1.dot(*K * t2), t2.dot(*K * t2));
        let determinant = a * c - b * b;
        let half = 0.5 * (a + c);
        let most = half + (0.25 * (a - c) * (a - c) + b * b).sqrt();
        let trace = a + c + n.dot(*K * n);
        let singular = determinant <= IMMOVABLE * trace * trace;
        let slides = (u - n * u.dot(n)).length() > APPROACH_ROUNDING * u.length();
        let k_n = n.dot(*K * n);
        Row {
            n,
            t: [t1, t2],
            k_n: if k_n > IMMOVABLE * trace {
                k_n
            } else {
                f64::INFINITY
            },
            k_t: if singular {
                [0.0; 3]
            } else {
                [c, -b, a].map(|x| x / determinant)
            },
            step: if most > 0.0 { 1.0 / most } else { 0.0 },
            friction: match slides {
                _ if singular => 0.0,
                true => p.surface.friction_kinetic,
                false => p.surface.friction_static,
            },
            rebound: (-p.surface.restitution * u.dot(n)).max(0.0),
            P: Vec3::ZERO,
            u,
        }
    }
}

fn length([x, y]: [f64; 2]) -> f64 {
    (x * x + y * y).sqrt()
}

/// Work of the impulses on the contacts and the sum of its sizes [J].
fn gain(rows: &[Row], before: &[Vec3]) -> (f64, f64) {
    let mut sum = (0.0, 0.0);
    for (row, u) in rows.iter().zip(before) {
        sum.0 += row.P.dot(0.5 * (*u + row.u));
        sum.1 += row.P.length() * u.length();
    }
    sum
}

/// Sweeps until nothing changes; whether it came to that.
fn solve(rows: &mut [Row], before: &[Vec3], K: &[Mat3], factor: f64) -> bool {
    let n = rows.len();
    let mut fastest = 0.0_f64;
    for (row, u) in rows.iter_mut().zip(before) {
        (row.P, row.u) = (Vec3::ZERO, *u);
        fastest = fastest.max(u.length());
    }
    let mut change = f64::INFINITY;
    for _ in 0..SWEEPS_MAX {
        change = 0.0;
        for i in 0..n {
            let P = rows[i].visit(&K[i * n + i], factor);
            if P == Vec3::ZERO {
                continue;
            }
            for (k, row) in rows.iter_mut().enumerate() {
                let du = K[k * n + i] * P;
                row.u += du;
                change = change.max(du.length());
            }
        }
        if change <= MET * fastest {
            break;
        }
    }
    change <= MET_NEARLY * fastest
}
