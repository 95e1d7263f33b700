//! Clusters: the contacts that one impact reaches, answered in passes until none of them approaches.
//!
//! Reads: paths, near pairs, surfaces.  Writes: velocities of the bodies hit, records, the account.
//! Called by: `method::events`.
//! Source: [Mirtich94] §4; [Lecture] "Sequence of impacts". In every pass all contacts that approach are answered: one alone among its bodies by the
//! impact law, several that share a body together, so that what is symmetric stays so. Contacts within the band of the bodies
//! hit take part as soon as they approach: an impact runs through a row of touching balls contact by contact.

#![allow(non_snake_case)]

mod linked;

use super::Run;
use super::paths::Way;
use super::tied::{Answer, NONE};
use crate::articulated::ends::Pair;
use crate::collide::contact::Placement;
use crate::collide::narrow::collide_shapes;
use crate::dynamics::impact::impact;
use crate::dynamics::impulse::{inverse_inertia, point_response};
use crate::dynamics::island::Islands;
use crate::error::StepError;
use crate::geometry::separation_within;
use crate::material::Surface;
use crate::math::{Mat3, Vec3};
use crate::model::Model;
use crate::output::record::ContactRecord;
use crate::report::{EnergyLedger, Event, EventKind, SolverWork};
use crate::solver::choose::Allowance;
use crate::solver::contact::ContactRow;
use crate::solver::ends::{Bodies, SolverBody, acting_point};
use crate::solver::sweep::{Job, Sweeps};
use crate::state::{BodyState, ContactKey, PairKey};
use std::cmp::Ordering;

/// Approach that counts as none, relative to the speed of a slow arrival and to the speeds of an impact [1].
const APPROACH: f64 = 1e-9;
const APPROACH_ROUNDING: f64 = 1e-12;
/// Exactness of the solve of several contacts, relative to their speeds [1].
const TOGETHER: f64 = 1e-13;
/// Trials of the common factor on restitution where several contacts together would gain energy.
const GUARD_TRIALS: u32 = 40;
/// Energy gained that counts as rounding, relative to what impulses turn over [1].
const GAIN_ROUNDING: f64 = 1e-12;
/// Difference of two normals, as 1 less their cosine, that is rounding: the closest points are then those of a known contact [1].
const SAME_NORMAL: f64 = 1e-9;
/// The feature of closest points beside contacts of other normals.
const CLOSEST: u32 = u32::MAX;
/// Approach that may be left after a solve of several contacts, relative to their speeds [1]; more is left only where they contradict each other.
const PARTED: f64 = 1e-6;
/// Block products that the solve of several contacts may cost.
const TOGETHER_COST: u64 = 10_000_000;

/// A contact point of the cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub key: ContactKey,
    pub place: Placement,
    pub surface: Surface,
    /// Places of A and B in the cluster.
    a: u32,
    b: u32,
    /// Impulse on B so far [N·s], and the fastest approach [m/s].
    impulse: Vec3,
    speed: f64,
    before: Vec3,
    slides: bool,
    /// No impulse can part it: its targets contradict those of other contacts. It gets none any more.
    stuck: bool,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    slot: u32,
    state: BodyState,
    /// The answer of its tie, if joints or a tree hold it.
    tie: u32,
    /// Whether its neighbours have been taken in, and whether an impulse has changed it.
    expanded: bool,
    changed: bool,
}

/// The cluster of one impact, and its scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cluster {
    members: Vec<Member>,
    bodies: Bodies,
    pub points: Vec<Point>,
    pairs: Vec<u32>,
    approaching: Vec<u32>,
    islands: Islands,
    rows: Vec<ContactRow>,
    before: Vec<Vec3>,
    kept: Vec<SolverBody>,
    sweeps: Sweeps,
    /// Fastest contact of the last solve of several [m/s].
    fastest: f64,
    /// Contacts of ties had no answer together: they are answered one after another.
    unlinked: bool,
    work: SolverWork,
    energy: EnergyLedger,
    found: Vec<crate::collide::ContactPoint>,
    answers: Vec<Answer>,
    /// Changes of velocity by the last impulse asked about: places, and what they come to.
    changes: Vec<(u32, Pair)>,
}

impl Cluster {
    fn clear(&mut self) {
        self.members.clear();
        self.bodies.flat.clear();
        self.points.clear();
        self.pairs.clear();
        self.answers.clear();
        self.unlinked = false;
        self.work = SolverWork::default();
        self.energy = EnergyLedger::default();
    }

    fn velocity(&self, p: &Point) -> Vec3 {
        let at = |place: u32, point: Vec3| {
            let center = self.members[place as usize].state.position;
            self.bodies[place as usize].at(point - center)
        };
        at(p.b, p.place.point_b) - at(p.a, p.place.point_a)
    }

    /// Contacts that approach faster than rounding and than `slow`.
    fn find(&mut self, slow: f64) -> bool {
        let mut approaching = std::mem::take(&mut self.approaching);
        approaching.clear();
        for (i, p) in self.points.iter().enumerate().filter(|(_, p)| !p.stuck) {
            let u = self.velocity(p);
            let speeds = |place: u32| self.bodies[place as usize].v.length();
            let rounding = APPROACH_ROUNDING * (u.length() + speeds(p.a) + speeds(p.b));
            if u.dot(p.place.normal) < -(APPROACH * slow).max(rounding) {
                approaching.push(i as u32);
            }
        }
        self.approaching = approaching;
        !self.approaching.is_empty()
    }

    /// Groups what approaches by the bodies of finite mass and the ties that it shares.
    fn group(&mut self) {
        let (points, bodies, members) = (&self.points, &self.bodies, &self.members);
        // A tie answers as one: it goes by its first member.
        let one = |place: u32| {
            let tie = members[place as usize].tie;
            let first = members.iter().position(|m| tie != NONE && m.tie == tie);
            first.map_or(place, |i| i as u32)
        };
        let pairs = self.approaching.iter().map(|&i| {
            let p = &points[i as usize];
            (one(p.a), one(p.b))
        });
        let moves = |place: u32| {
            bodies[place as usize].inverse_mass > 0.0 || members[place as usize].tie != NONE
        };
        self.islands.build(bodies.len(), moves, pairs);
    }

    /// One pass over everything that approaches. `reverse` is the speed below which a lone contact follows the rule of micro-collisions.
    fn pass(&mut self, model: &Model, reverse: f64) {
        self.group();
        for island in 0..self.islands.count() {
            let range = self.islands.range(island);
            let list: Vec<u32> = self.islands.order[range]
                .iter()
                .map(|&k| self.approaching[k as usize])
                .collect();
            match list[..] {
                [only] => self.alone(model, only as usize, reverse),
                _ if self.touches_tied(&list) => {
                    if self.are_slow(&list, reverse) || !self.linked(model, &list) {
                        for i in list {
                            self.alone(model, i as usize, reverse);
                        }
                    }
                }
                _ if self.are_slow(&list, reverse) => self.guarded(&list, Some(0.25 * reverse)),
                _ => self.guarded(&list, None),
            }
        }
    }

    /// Whether one of the contacts is on tied bodies.
    fn touches_tied(&self, list: &[u32]) -> bool {
        list.iter().any(|&i| self.is_tied(&self.points[i as usize]))
    }

    /// Whether all contacts are slow enough for the rule of micro-collisions.
    fn are_slow(&self, list: &[u32], reverse: f64) -> bool {
        list.iter().all(|&i| {
            let p = &self.points[i as usize];
            -self.velocity(p).dot(p.place.normal) < reverse
        })
    }

    fn is_tied(&self, p: &Point) -> bool {
        [p.a, p.b]
            .iter()
            .any(|&m| self.members[m as usize].tie != NONE)
    }

    /// K of a contact [1/kg].
    fn response(&mut self, model: &Model, p: &Point) -> Mat3 {
        if self.is_tied(p) {
            let column = |e: Vec3| self.answer(model, p, e);
            let [x, y, z] = Vec3::AXES.map(column);
            return Mat3::from_cols(x, y, z);
        }
        let one = |place: u32, point: Vec3| {
            let body = &self.bodies[place as usize];
            let r = point - self.members[place as usize].state.position;
            point_response(body.inverse_mass, body.inverse_inertia, r)
        };
        one(p.a, p.place.point_a) + one(p.b, p.place.point_b)
    }

    /// Change of the relative velocity of a contact by an impulse on it, ties included; the bodies' own changes are left in `changes`.
    fn answer(&mut self, model: &Model, p: &Point, P: Vec3) -> Vec3 {
        self.changes.clear();
        let sides = [(p.a, p.place.point_a, -P), (p.b, p.place.point_b, P)];
        let arm = |place: u32, point: Vec3| point - self.members[place as usize].state.position;
        for (place, point, P) in sides {
            let body = &self.bodies[place as usize];
            if self.members[place as usize].tie == NONE && body.inverse_mass > 0.0 {
                let turn = body.inverse_inertia * arm(place, point).cross(P);
                self.changes.push((place, (P * body.inverse_mass, turn)));
            }
        }
        for answer in &mut self.answers {
            let mut pushes: Vec<(u32, Pair)> = Vec::new();
            for (place, point, P) in sides {
                if let Some(body) = answer.places.iter().position(|&m| m == place) {
                    let r = point - self.members[place as usize].state.position;
                    pushes.push((body as u32, (P, r.cross(P))));
                }
            }
            if pushes.is_empty() {
                continue;
            }
            if answer.respond(model, &pushes).is_err() {
                self.work.caps_hit += 1;
            }
            let changes = answer
                .places
                .iter()
                .copied()
                .zip(answer.change.iter().copied());
            self.changes.extend(changes);
        }
        self.change_at(p)
    }

    /// Change of the relative velocity of a contact by the last impulse asked about.
    fn change_at(&self, p: &Point) -> Vec3 {
        let at = |place: u32, point: Vec3| {
            let r = point - self.members[place as usize].state.position;
            let own = self.changes.iter().filter(|c| c.0 == place);
            own.fold(Vec3::ZERO, |sum, (_, (v, w))| sum + *v + w.cross(r))
        };
        at(p.b, p.place.point_b) - at(p.a, p.place.point_a)
    }

    /// A contact alone: the impact law, or the rule of micro-collisions.
    fn alone(&mut self, model: &Model, i: usize, reverse: f64) {
        let p = self.points[i];
        let u = self.velocity(&p);
        let n = p.place.normal;
        if u.dot(n) >= 0.0 {
            // Another impact of this pass has parted it.
            return;
        }
        let K = self.response(model, &p);
        if -u.dot(n) < reverse
            && let Some(P) =
                super::micro::reversal(K, n, u, p.surface.friction_static, 0.25 * reverse)
        {
            // The least rebound is the one thing that brings energy in.
            let work = P.dot(u) + 0.5 * P.dot(K * P);
            if work > GAIN_ROUNDING * P.length() * u.length() {
                self.energy.hops += work;
                self.energy.restitution += work;
            }
            return self.push(model, i, P, u);
        }
        match impact(K, n, u, &p.surface) {
            Ok(found) => {
                self.work.caps_hit += u32::from(found.capped);
                self.push(model, i, found.impulse, u);
            }
            Err(_) if self.is_tied(&p) => self.work.caps_hit += 1,
            Err(_) => self.guarded(&[i as u32], None),
        }
    }

    /// Gives a contact an impulse and books it; its relative velocity was `u`.
    fn push(&mut self, model: &Model, i: usize, P: Vec3, u: Vec3) {
        self.give(model, i, P);
        self.book(i, P, u);
    }

    /// Gives a contact an impulse.
    fn give(&mut self, model: &Model, i: usize, P: Vec3) {
        let p = self.points[i];
        if self.is_tied(&p) {
            return self.push_tied(model, &p, P);
        }
        for (place, point, P) in [(p.a, p.place.point_a, -P), (p.b, p.place.point_b, P)] {
            let r = point - self.members[place as usize].state.position;
            let body = &mut self.bodies[place as usize];
            if body.inverse_mass > 0.0 {
                body.push(P, r);
                self.members[place as usize].changed = true;
            }
        }
    }

    /// Gives a contact of tied bodies an impulse.
    fn push_tied(&mut self, model: &Model, p: &Point, P: Vec3) {
        self.answer(model, p, P);
        for &(place, (v, w)) in &self.changes {
            let body = &mut self.bodies[place as usize];
            body.v += v;
            body.w += w;
            self.members[place as usize].changed = true;
        }
        for answer in &mut self.answers {
            for (place, point, P) in [(p.a, p.place.point_a, -P), (p.b, p.place.point_b, P)] {
                if let Some(body) = answer.places.iter().position(|&m| m == place) {
                    let r = point - self.members[place as usize].state.position;
                    answer.pushed[body].0 += P;
                    answer.pushed[body].1 += r.cross(P);
                }
            }
        }
    }

    /// Books an impulse on a contact whose relative velocity was `u` before.
    fn book(&mut self, i: usize, P: Vec3, u: Vec3) {
        let p = self.points[i];
        let n = p.place.normal;
        let after = self.velocity(&p);
        let mean = 0.5 * (u + after);
        let normal = P.dot(n);
        self.energy.restitution -= normal * mean.dot(n);
        self.energy.friction -= (P - n * normal).dot(mean);
        // The side with prescribed motion does the rest of the work.
        for (place, point, P) in [(p.a, p.place.point_a, -P), (p.b, p.place.point_b, P)] {
            let body = &self.bodies[place as usize];
            if body.inverse_mass == 0.0 {
                let r = point - self.members[place as usize].state.position;
                self.energy.prescribed -= P.dot(body.at(r));
            }
        }
        let slip = after - n * after.dot(n);
        let p = &mut self.points[i];
        p.impulse += P;
        p.speed = p.speed.max(-u.dot(n));
        p.slides = slip.length() > APPROACH_ROUNDING * u.length();
    }

    /// The passes were not enough: what still approaches stops, all at once where the impacts of ties allow that.
    fn stop(&mut self, model: &Model) {
        self.work.caps_hit += 1;
        for p in &mut self.points {
            p.surface.restitution = 0.0;
        }
        if !self.answers.is_empty() {
            return self.pass(model, 0.0);
        }
        let all: Vec<u32> = (0..self.points.len() as u32)
            .filter(|&i| !self.points[i as usize].stuck)
            .collect();
        self.guarded(&all, None);
    }

    /// What approaches after every pass gets no more impulses.
    fn give_up_what_approaches(&mut self) {
        for &i in &self.approaching {
            self.points[i as usize].stuck = true;
        }
    }

    /// Several contacts at once, none to gain energy: restitution is scaled down by a common factor where friction would make them. With
    /// `floor` they are micro-collisions that reverse, with at least that rebound [m/s].
    fn guarded(&mut self, list: &[u32], floor: Option<f64>) {
        self.kept.clear();
        self.kept.extend_from_slice(&self.bodies.flat);
        self.before.clear();
        for &i in list {
            let u = self.velocity(&self.points[i as usize]);
            self.before.push(u);
        }
        let rule = floor.map(|_| 0.0);
        self.together(list, 1.0, rule);
        let missed = self.misses(list);
        if missed {
            self.together(list, 0.0, rule);
            if self.misses(list) && self.is_driven(list) {
                return self.give_up(list);
            }
        }
        let (gain, turnover) = self.gain(list);
        if missed {
            self.work.caps_hit += 1;
        } else if gain > GAIN_ROUNDING * turnover {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..GUARD_TRIALS {
                let factor = 0.5 * (low + high);
                self.together(list, factor, rule);
                if self.gain(list).0 > 0.0 {
                    high = factor;
                } else {
                    low = factor;
                }
            }
            self.together(list, low, rule);
            self.lift(list, low, floor);
        } else {
            self.lift(list, 1.0, floor);
        }
        for (k, &i) in list.iter().enumerate() {
            let (P, u) = (self.rows[k].impulse(), self.before[k]);
            let (a, b) = (self.points[i as usize].a, self.points[i as usize].b);
            self.members[a as usize].changed |= P != Vec3::ZERO;
            self.members[b as usize].changed |= P != Vec3::ZERO;
            self.book(i as usize, P, u);
        }
    }

    /// Whether contacts still approach after a solve that should have parted them: their targets contradict each other.
    fn misses(&self, list: &[u32]) -> bool {
        list.iter().any(|&i| {
            let p = &self.points[i as usize];
            self.velocity(p).dot(p.place.normal) < -PARTED * self.fastest
        })
    }

    /// Whether a prescribed motion drives one of the contacts. Without one, coming to rest is always an answer.
    fn is_driven(&self, list: &[u32]) -> bool {
        let moves = |place: u32| {
            let body = &self.bodies[place as usize];
            body.inverse_mass == 0.0 && (body.v != Vec3::ZERO || body.w != Vec3::ZERO)
        };
        list.iter().any(|&i| {
            let p = &self.points[i as usize];
            moves(p.a) || moves(p.b)
        })
    }

    /// No impulse parts these contacts, not even without restitution: they keep their velocities and get none any more.
    fn give_up(&mut self, list: &[u32]) {
        self.bodies.flat.copy_from_slice(&self.kept);
        self.work.caps_hit += 1;
        for &i in list {
            self.points[i as usize].stuck = true;
        }
    }

    /// Raises rebounds of micro-collisions that are slower than `floor`; the energy that brings in is booked.
    fn lift(&mut self, list: &[u32], factor: f64, floor: Option<f64>) {
        let Some(floor) = floor else {
            return;
        };
        let rises = |&i: &u32| {
            let p = &self.points[i as usize];
            self.velocity(p).dot(p.place.normal) >= floor
        };
        if list.iter().all(rises) {
            return;
        }
        self.together(list, factor, Some(floor));
        let (gain, turnover) = self.gain(list);
        if gain > GAIN_ROUNDING * turnover {
            self.energy.hops += gain;
            self.energy.restitution += gain;
        }
    }

    /// Work of the impulses on the contacts and the sum of its sizes [J].
    fn gain(&self, list: &[u32]) -> (f64, f64) {
        let mut sum = (0.0, 0.0);
        for (k, &i) in list.iter().enumerate() {
            let (P, u) = (self.rows[k].impulse(), self.before[k]);
            let mean = 0.5 * (u + self.velocity(&self.points[i as usize]));
            sum.0 += P.dot(mean);
            sum.1 += P.length() * u.length();
        }
        sum
    }

    /// One solve of several contacts from the velocities kept: every one to its rebound `u_n ≥ −factor e u_n⁻`, friction to no slip within its cone.
    /// With `floor` the slip is reversed too, and no rebound is slower than it.
    fn together(&mut self, list: &[u32], factor: f64, floor: Option<f64>) {
        self.bodies.flat.copy_from_slice(&self.kept);
        self.rows.clear();
        let mut fastest = 0.0_f64;
        for (k, &i) in list.iter().enumerate() {
            let p = &self.points[i as usize];
            let u = self.before[k];
            let centers = (
                self.members[p.a as usize].state.position,
                self.members[p.b as usize].state.position,
            );
            let ideal = Surface {
                slip_speed: 0.0,
                friction_rolling: 0.0,
                friction_spinning: 0.0,
                ..p.surface
            };
            let mut row = ContactRow::new((p.a, p.b), &p.place, centers, &self.bodies, &ideal, 0.0);
            let u_n = u.dot(row.n);
            row.target_n = (-factor * p.surface.restitution * u_n).max(0.0);
            row.sliding = (u - row.n * u_n).length() > APPROACH_ROUNDING * u.length();
            if let Some(floor) = floor {
                row.target_n = (-factor * u_n).max(floor);
                row.target_t = [u.dot(row.t1), u.dot(row.t2)].map(|x| -factor * x);
                row.sliding = false;
            }
            fastest = fastest.max(u.length());
            self.rows.push(row);
        }
        self.fastest = fastest;
        let mut settings = crate::method::SequentialParams::default().settings().solve;
        settings.velocity_tolerance = TOGETHER * fastest;
        let mut job = Job {
            settings: &settings,
            core: Allowance::of(TOGETHER_COST),
            spent: 0,
            failed: false,
            near: false,
            rows: &mut self.rows,
            joint_blocks: &mut [],
            bodies: &mut self.bodies,
            work: &mut self.work,
        };
        job.converge(&mut self.sweeps, |_| true);
    }
}

impl Run<'_> {
    /// The contact points of a pair within its band at time `t`, as features and places. With `closest` the closest points are among them:
    /// within the band unless another contact has their normal, and however far apart they are if there is no other.
    fn places_of(
        &self,
        key: &PairKey,
        [s_a, s_b]: [&BodyState; 2],
        closest: bool,
        found: &mut Vec<crate::collide::ContactPoint>,
    ) -> Vec<(u32, Placement)> {
        let (body_a, body_b) = (self.body(key.body_a), self.body(key.body_b));
        let (shape_a, shape_b) = (
            &body_a.shapes[key.shape_a as usize],
            &body_b.shapes[key.shape_b as usize],
        );
        let pose_a = s_a.frame(body_a).compose(&shape_a.pose);
        let pose_b = s_b.frame(body_b).compose(&shape_b.pose);
        let (shape_a, shape_b) = (&shape_a.shape, &shape_b.shape);
        let band = self.band(key);
        found.clear();
        let bounds = shape_a.bounds(&pose_a).grown(band);
        if closest || bounds.overlaps(&shape_b.bounds(&pose_b)) {
            collide_shapes(shape_a, &pose_a, shape_b, &pose_b, band, found);
        }
        let place = |p: &crate::collide::ContactPoint| Placement {
            normal: p.normal,
            point_a: p.point_a,
            point_b: p.point_b,
            gap: p.gap,
        };
        let mut places: Vec<_> = found.iter().map(|p| (p.feature_id, place(p))).collect();
        if closest {
            let (feature, limit) = match places[..] {
                [] => (0, f64::INFINITY),
                _ => (CLOSEST, band),
            };
            // Where two edges meet, the points of the faces beside them may all part.
            let seen = |n: Vec3| places.iter().any(|p| p.1.normal.dot(n) > 1.0 - SAME_NORMAL);
            if let Ok(Some(s)) = separation_within(shape_a, &pose_a, shape_b, &pose_b, limit)
                && s.distance >= -limit
                && !seen(s.normal)
            {
                let place = Placement {
                    normal: s.normal,
                    point_a: s.point_a,
                    point_b: s.point_b,
                    gap: s.distance,
                };
                places.push((feature, place));
            }
        }
        places.sort_by_key(|p| p.0);
        places
    }

    /// Takes the contact points of a pair at time `t` into a cluster; see `places_of`. Returns how many there are.
    pub(super) fn points_of(
        &mut self,
        number: u32,
        t: f64,
        closest: bool,
        c: &mut Cluster,
    ) -> usize {
        let key = self.s.near.get(number).key;
        let (s_a, s_b) = (self.at(key.body_a, t), self.at(key.body_b, t));
        let places = self.places_of(&key, [&s_a, &s_b], closest, &mut c.found);
        if places.is_empty() {
            return 0;
        }
        let material = |slot: u32, shape: u32| self.body(slot).shapes[shape as usize].material;
        let (surface, fell_back) = self.model.materials.lookup(
            material(key.body_a, key.shape_a),
            material(key.body_b, key.shape_b),
        );
        self.report.material_fallbacks += usize::from(fell_back);
        let (a, b) = (
            self.member(key.body_a, &s_a, c),
            self.member(key.body_b, &s_b, c),
        );
        for (feature, mut place) in places.iter().copied() {
            // Both sides take their impulse at one point, so that no couple is left over.
            let point = acting_point(&c.bodies.flat, (a as usize, b as usize), &place);
            (place.point_a, place.point_b) = (point, point);
            self.report.penetration_found = self.report.penetration_found.max(-place.gap);
            let mut point = Point {
                key: ContactKey { pair: key, feature },
                place,
                surface,
                a,
                b,
                impulse: Vec3::ZERO,
                speed: 0.0,
                before: Vec3::ZERO,
                slides: false,
                stuck: false,
            };
            point.before = c.velocity(&point);
            c.points.push(point);
        }
        places.len()
    }

    /// The place of a body in the cluster.
    fn member(&self, slot: u32, s: &BodyState, c: &mut Cluster) -> u32 {
        if let Some(place) = c.members.iter().position(|m| m.slot == slot) {
            return place as u32;
        }
        let body = self.body(slot);
        let moves = body.is_awake() && !self.rules.handed[slot as usize];
        let tie = self.tie_of[slot as usize];
        c.members.push(Member {
            slot,
            state: *s,
            tie: if moves { tie } else { NONE },
            expanded: !moves,
            changed: false,
        });
        c.bodies.flat.push(SolverBody {
            v: s.velocity,
            w: s.angular_velocity,
            inverse_mass: if moves { body.inverse_mass } else { 0.0 },
            inverse_inertia: if moves {
                inverse_inertia(body, s)
            } else {
                Mat3::ZERO
            },
        });
        c.members.len() as u32 - 1
    }

    /// The pair alone, as it touches at `t`: fastest approach of its points and the normal of the nearest.
    pub(super) fn approach(&mut self, number: u32, t: f64) -> (f64, Vec3) {
        let mut c = std::mem::take(&mut self.cluster);
        c.clear();
        self.points_of(number, t, true, &mut c);
        let slow = self.slow(&self.s.near.get(number).key);
        let approaches = c.find(slow);
        let (mut fastest, mut normal, mut gap) = (0.0_f64, Vec3::Z, f64::INFINITY);
        for p in &c.points {
            let u_n = c.velocity(p).dot(p.place.normal);
            if approaches {
                fastest = fastest.max(-u_n);
            }
            if p.place.gap < gap {
                (normal, gap) = (p.place.normal, p.place.gap);
            }
        }
        self.cluster = c;
        (fastest, normal)
    }

    /// Answers an impact of a pair at `t`, and of everything it reaches.
    pub(super) fn strike(&mut self, number: u32, t: f64) -> Result<(), StepError> {
        let key = self.s.near.get(number).key;
        self.ready(&key, t)?;
        let slow = self.slow(&key);
        let reverse = if self.params.promotion { 0.0 } else { slow };
        let mut c = std::mem::take(&mut self.cluster);
        c.clear();
        c.pairs.push(number);
        self.points_of(number, t, true, &mut c);
        self.expand(t, &mut c, true)?;
        self.tie(&mut c)?;
        let mut passes = 0;
        while c.find(slow) {
            if passes >= 2 * self.params.passes {
                c.give_up_what_approaches();
                break;
            }
            match passes.cmp(&self.params.passes) {
                Ordering::Less => c.pass(self.model, reverse),
                Ordering::Equal => c.stop(self.model),
                Ordering::Greater => c.pass(self.model, 0.0),
            }
            passes += 1;
            self.expand(t, &mut c, false)?;
            self.tie(&mut c)?;
        }
        self.close(t, &mut c)?;
        // What no impulse parts is borne as a load from now on.
        let mut stuck: Vec<PairKey> = c
            .points
            .iter()
            .filter(|p| p.stuck)
            .map(|p| p.key.pair)
            .collect();
        self.cluster = c;
        stuck.dedup();
        for key in stuck {
            self.promote(key, t, false)?;
        }
        Ok(())
    }

    /// Takes in the contacts within the band of bodies that were changed, or of all if it `begins`.
    fn expand(&mut self, t: f64, c: &mut Cluster, begins: bool) -> Result<(), StepError> {
        let mut place = 0;
        while place < c.members.len() {
            let m = c.members[place];
            if !m.expanded && (begins || m.changed) {
                c.members[place].expanded = true;
                let mut numbers = self.s.near.of(m.slot).to_vec();
                // By name: what was near first must not matter.
                numbers.sort_unstable_by_key(|&i| self.s.near.get(i).key);
                for number in numbers {
                    let pair = *self.s.near.get(number);
                    let key = pair.key;
                    let handed = self.rules.handed[key.body_a as usize]
                        || self.rules.handed[key.body_b as usize];
                    if pair.sensor || handed || c.pairs.contains(&number) {
                        continue;
                    }
                    let other = if key.body_a == m.slot {
                        key.body_b
                    } else {
                        key.body_a
                    };
                    if self.way(other) == Way::Grouped {
                        self.ready(&key, t)?;
                    }
                    if self.points_of(number, t, false, c) > 0 {
                        c.pairs.push(number);
                    }
                }
            }
            place += 1;
            if begins && place >= 2 {
                break;
            }
        }
        Ok(())
    }

    /// Brings the groups of a pair to the time `t`.
    pub(super) fn ready(&mut self, key: &PairKey, t: f64) -> Result<(), StepError> {
        let grouped = |slot: u32| self.s.grouped[slot as usize];
        if grouped(key.body_a) || grouped(key.body_b) {
            self.commit(t)?;
            self.group_changed = true;
        }
        Ok(())
    }

    /// Writes down what a cluster did: new flights, records, events, the account.
    fn close(&mut self, t: f64, c: &mut Cluster) -> Result<(), StepError> {
        let mut change = 0.0;
        let mut size = 0.0;
        for (m, solved) in c
            .members
            .iter()
            .zip(c.bodies.flat.iter())
            .filter(|(m, _)| m.changed)
        {
            let body = self.body(m.slot);
            let after = BodyState {
                velocity: solved.v,
                angular_velocity: solved.w,
                ..m.state
            };
            let energies = [&m.state, &after].map(|s| crate::dynamics::energy::kinetic(body, s));
            change += energies[1] - energies[0];
            size += energies[0].max(energies[1]);
        }
        // What is left after the work of prescribed motion is the impulses' own.
        if c.answers.iter().any(Answer::is_tree) {
            // Links have no energy of their own; the work of the contacts says the same.
            change = c.energy.prescribed + c.energy.hops - c.energy.restitution - c.energy.friction;
        }
        let gained = change - c.energy.prescribed - c.energy.hops;
        if gained > 1e-13 * (size + c.energy.prescribed.abs()) {
            self.report.energy.gained += gained;
            c.energy.restitution += gained;
        }
        self.report.energy.add(&EnergyLedger {
            kinetic: 0.0,
            potential: 0.0,
            ..c.energy
        });
        // Restitution that an impact missed is in no residual.
        c.work.blind_since(0);
        self.report.work.add(&c.work);
        for p in c.points.iter().filter(|p| p.impulse != Vec3::ZERO) {
            self.tell_impact(t, p);
        }
        for m in 0..c.members.len() {
            let (m, solved) = (c.members[m], c.bodies.flat[m]);
            if !m.changed {
                continue;
            }
            let state = BodyState {
                velocity: solved.v,
                angular_velocity: solved.w,
                ..m.state
            };
            self.launch(m.slot, t, state);
        }
        for answer in &mut c.answers {
            self.kick_tree(answer)?;
        }
        Ok(())
    }

    /// Takes in all bodies of the ties that members of the cluster belong to.
    fn tie(&mut self, c: &mut Cluster) -> Result<(), StepError> {
        for place in 0..c.members.len() {
            let tie = c.members[place].tie;
            if tie == NONE || c.answers.iter().any(|a| a.tie == tie) {
                continue;
            }
            let places = (0..self.ties[tie as usize].slots.len())
                .map(|k| {
                    let slot = self.ties[tie as usize].slots[k];
                    let state = self.state_in_group(slot);
                    self.member(slot, &state, c)
                })
                .collect();
            let answer = self.answer(tie, places)?;
            c.answers.push(answer);
        }
        Ok(())
    }

    fn tell_impact(&mut self, t: f64, p: &Point) {
        self.report.collisions += 1;
        let pair = &p.key.pair;
        self.records.contacts.push(ContactRecord {
            key: p.key,
            time: t,
            point: p.place.point_b,
            normal: p.place.normal,
            gap: p.place.gap,
            impulse: p.impulse,
            angular_impulse: Vec3::ZERO,
            velocity_before: p.before,
            velocity_after: Vec3::ZERO,
            duration: 0.0,
            sliding: p.slides,
            impacts: [(0.0, p.speed), (0.0, 0.0)],
            impact_point: p.place.point_b,
        });
        self.events.push(Event {
            kind: EventKind::Impact,
            time: t,
            body_a: self.model.id(pair.body_a as usize),
            body_b: self.model.id(pair.body_b as usize),
            shape_a: pair.shape_a,
            shape_b: pair.shape_b,
            point: p.place.point_b,
            speed: p.speed,
        });
    }

    /// A body goes on from `t` with a new velocity.
    pub(super) fn launch(&mut self, slot: u32, t: f64, state: BodyState) {
        match self.way(slot) {
            Way::Ballistic => {
                self.s.flights[slot as usize] = super::schedule::Start { time: t, state };
                self.memory[slot as usize] = (t, state);
                self.sweep(slot, t);
            }
            Way::Grouped => {
                if let Some(group) = &mut self.s.group {
                    group.bodies[slot as usize] = state;
                }
                self.memory[slot as usize] = (t, state);
                self.group_changed = true;
            }
            Way::Still | Way::Prescribed => {}
        }
    }
}
