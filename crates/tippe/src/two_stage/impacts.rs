//! The collision phase: impulses at one moment, until no contact that touches still approaches.
//!
//! Reads: Model, touches, contacts.  Writes: State (velocities), touches (impacts), residuals and ledger of the report.
//! Called by: `method::iterative::step`; `flights`, for a few bodies on their own way.
//! Source: [Bender06] §3.1, eq. 1–6, in outer passes: each answers what collides then, so that an impact travels through touching bodies
//! contact by contact ([Lecture] "Sequence of impacts"). A contact alone in its cluster follows the impact law of `dynamics::impact`.

#![allow(non_snake_case)]

use crate::collide::Contact;
use crate::dynamics::impact::impact;
use crate::dynamics::impulse::point_response;
use crate::dynamics::island::Islands;
use crate::interrupt;
use crate::math::{Mat3, Vec3};
use crate::model::Model;
use crate::output::balance::Balance;
use crate::report::StepReport;
use crate::solver::choose::{Allowance, Settings};
use crate::solver::contact::ContactRow;
use crate::solver::ends::SolverBody;
use crate::solver::ends::{Bodies, Kept};
use crate::solver::joint::JointBlock;
use crate::solver::sweep::{Job, Sweeps};
use crate::state::{BodyState, ContactKey, State};
use crate::two_stage::arrival::StopLimits;
use crate::two_stage::book::Books;
use crate::two_stage::gather::{StepContact, load_bodies};
use crate::two_stage::misfit;
use crate::two_stage::targets::{RestLimits, new_row, placement};
use crate::work::Work;

/// Trials of the common factor on restitution where several contacts together would gain energy.
const TRIALS_MAX: u32 = 40;
/// Energy gained by several contacts that counts as rounding, relative to what their impulses turn over [1].
const GAIN: f64 = 1e-12;
/// The same beyond which a solve has missed [1].
const MISSED_GAIN: f64 = 1e-9;
/// Load that counts as resting, relative to the weight that one step brings [1].
const RESTING: f64 = 1e-2;
/// Approach of an unloaded contact that is left to the contact phase, relative to the speed gained by falling for a step [1].
const SLOW: f64 = 1e-3;

/// What impacts need of a method's parameters; documented there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImpactSettings {
    /// Cost and exactness of simultaneous solves.
    pub solve: Settings,
    /// What the core may cost in one of them.
    pub core: Allowance,
    /// Depth whose fall makes the speed below which a loaded contact rests [m].
    pub contact_depth: f64,
    /// Most passes over what collides.
    pub passes: u32,
    /// Whether a contact that the last step knew rests where its bounces would soon die out.
    pub dies_out: bool,
    /// Tolerances of the phase, and the sizes of what is followed from impact to impact.
    pub stops: StopLimits,
}

/// A contact that touches.
#[derive(Clone, Copy, Debug)]
struct Near {
    /// Place of its touch.
    step_contact: u32,
    row: ContactRow,
    /// Speed of approach above which it collides [m/s].
    threshold: f64,
}

/// Scratch of the phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collisions {
    near: Vec<Near>,
    /// Places in `near` of what collides in this pass.
    colliding: Vec<u32>,
    /// Colliding contacts and joints connected through bodies of finite mass.
    clusters: Islands,
    /// Rows and touches of the cluster at hand.
    rows: Vec<ContactRow>,
    step_contacts: Vec<StepContact>,
    /// Places in `near` of those rows.
    places: Vec<u32>,
    /// All joints, and those of the cluster at hand.
    joints: Vec<JointBlock>,
    joint_blocks: Vec<JointBlock>,
    /// All solver bodies before a trial, where joints or trees take part; else those of the cluster.
    saved: Kept,
    kept: Vec<(u32, SolverBody)>,
    sweeps: Sweeps,
    /// Impacts of the phase, for touches gathered anew: sorted by key.
    impacts: Vec<(ContactKey, Vec3, f64)>,
}

/// Answers what collides now. Says whether something did that goes on to places where contacts have not been looked for.
pub(crate) fn run(
    model: &Model,
    params: &ImpactSettings,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) -> bool {
    let Work {
        stage,
        detection,
        collisions,
        balance,
        ..
    } = work;
    collisions.impacts.clear();
    load_bodies(model, state, &detection.contacts, &mut stage.bodies);
    gather(
        model,
        params,
        &state.bodies,
        &stage.step_contacts,
        &detection.contacts,
        &stage.bodies,
        report.dt,
        collisions,
    );
    let mut phase = Phase {
        model,
        params,
        contacts: &detection.contacts,
        step_contacts: &mut stage.step_contacts,
        bodies: &mut stage.bodies,
        c: collisions,
        report,
        balance,
    };
    if !phase.find() {
        return false;
    }
    phase.join(state);
    phase.run();
    for (i, body) in model.present() {
        if body.is_free() {
            state.bodies[i].velocity = stage.bodies[i].v;
            state.bodies[i].angular_velocity = stage.bodies[i].w;
        }
    }
    stage.bodies.finish(model, state);
    // In dense islands impacts are answered inside the step, and what the step looked for is enough.
    let sparse = |range: &std::ops::Range<usize>| !params.stops.is_dense(range.len());
    let hit = |t: &StepContact| t.impact != Vec3::ZERO;
    let again = stage
        .islands
        .iter()
        .any(|p| sparse(&p.rows) && stage.step_contacts[p.rows.clone()].iter().any(hit));
    for step_contact in stage.step_contacts.iter().filter(|t| hit(t)) {
        let key = detection.contacts[step_contact.contact as usize].key;
        collisions
            .impacts
            .push((key, step_contact.impact, step_contact.impact_speed));
    }
    collisions.impacts.sort_by_key(|x| x.0);
    again
}

/// Answers what collides among a few bodies without joints: contacts and bodies of their own, at the states of now. Says whether something did;
/// impulses are on the step contacts.
pub(super) fn answer(
    model: &Model,
    params: &ImpactSettings,
    h: f64,
    contacts: &[Contact],
    step_contacts: &mut [StepContact],
    states: &[BodyState],
    bodies: &mut Bodies,
    c: &mut Collisions,
    report: &mut StepReport,
    balance: &mut Balance,
) -> bool {
    gather(model, params, states, step_contacts, contacts, bodies, h, c);
    let mut phase = Phase {
        model,
        params,
        contacts,
        step_contacts,
        bodies,
        c,
        report,
        balance,
    };
    let collides = phase.find();
    if collides {
        phase.c.joints.clear();
        phase.run();
    }
    collides
}

/// Gives touches that were gathered anew the impacts of the phase.
pub(crate) fn recall(work: &mut Work) {
    for step_contact in &mut work.stage.step_contacts {
        let key = work.detection.contacts[step_contact.contact as usize].key;
        let impacts = &work.collisions.impacts;
        if let Ok(i) = impacts.binary_search_by_key(&key, |x| x.0) {
            (step_contact.impact, step_contact.impact_speed) = (impacts[i].1, impacts[i].2);
        }
    }
}

/// An impulse in the frame of a row; without friction rounding leaves nothing across the normal.
fn in_frame(row: &ContactRow, impulse: Vec3) -> Vec3 {
    let p = row.frame(impulse);
    if row.is_smooth() {
        Vec3::new(p.x, 0.0, 0.0)
    } else {
        p
    }
}

/// What a contact that touches does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Approach {
    Separating,
    Resting,
    Colliding,
}

/// [Bender06] §3: by the normal velocity `u_n` and the speed above which an approach is a collision [m/s].
fn classify(u_n: f64, threshold: f64) -> Approach {
    if u_n > 0.0 {
        Approach::Separating
    } else if u_n < -threshold {
        Approach::Colliding
    } else {
        Approach::Resting
    }
}

/// [Mirtich94]: the speed gained by falling through the depth of a contact [m/s]; not less than what a step of gravity brings, or a body
/// at rest would collide in every step.
fn resting_speed(gravity: f64, contact_depth: f64, h: f64) -> f64 {
    (2.0 * gravity * contact_depth)
        .sqrt()
        .max(0.6 * gravity * h)
}

/// The speed of arrival below which no contact bounces [m/s]: that of a fall through the depth tolerance, since a rebound that does not rise
/// above what counts as touching is none; not less than a small part of what a step of gravity brings.
fn slow_speed(gravity: f64, depth_tolerance: f64, h: f64) -> f64 {
    (2.0 * gravity * depth_tolerance)
        .sqrt()
        .max(SLOW * gravity * h)
}

/// When a contact that bore load is at rest.
pub(crate) fn resting(gravity: f64, params: &ImpactSettings, h: f64) -> RestLimits {
    RestLimits {
        speed: resting_speed(gravity, params.contact_depth, h)
            + 10.0 * params.stops.velocity_tolerance,
        load: RESTING * gravity * h,
        slow: slow_speed(gravity, params.stops.depth_tolerance, h),
        fall: if params.dies_out { gravity * h } else { 0.0 },
    }
}

/// Whether a contact is one of the poses of now. Features of later poses stand behind those of now before they come around; what detection
/// calls their gap is then none.
pub(super) fn is_here(c: &Contact, states: &[BodyState], tolerance: f64) -> bool {
    let (a, b) = c.bodies();
    c.seen == 0.0 && c.at(&states[a], &states[b]).gap >= c.point.gap - tolerance
}

/// Rows of all contacts that touch, with the speed at which each counts as colliding.
#[allow(clippy::too_many_arguments)]
fn gather(
    model: &Model,
    params: &ImpactSettings,
    states: &[BodyState],
    step_contacts: &[StepContact],
    contacts: &[Contact],
    bodies: &Bodies,
    h: f64,
    out: &mut Collisions,
) {
    let g = model.gravity.length();
    out.near.clear();
    for (i, step_contact) in step_contacts.iter().enumerate() {
        if step_contact.gap_start > params.stops.depth_tolerance {
            continue;
        }
        let c = &contacts[step_contact.contact as usize];
        if !is_here(c, states, params.stops.depth_tolerance) {
            continue;
        }
        let row = new_row(c, &placement(c), states, bodies);
        if row.response_n() <= 0.0 {
            continue;
        }
        let resting = resting(g, params, h);
        let threshold = if resting.holds(step_contact, &row, 0.0) {
            resting.speed
        } else {
            resting.slow_at(step_contact, c.surface.restitution)
        };
        out.near.push(Near {
            step_contact: i as u32,
            row,
            threshold: threshold.max(10.0 * params.stops.velocity_tolerance),
        });
    }
}

/// The phase under way.
struct Phase<'a> {
    model: &'a Model,
    params: &'a ImpactSettings,
    contacts: &'a [Contact],
    step_contacts: &'a mut [StepContact],
    bodies: &'a mut Bodies,
    c: &'a mut Collisions,
    report: &'a mut StepReport,
    balance: &'a mut Balance,
}

impl Phase<'_> {
    /// Lists what collides now; says whether there is any.
    fn find(&mut self) -> bool {
        self.c.colliding.clear();
        for (i, near) in self.c.near.iter().enumerate() {
            let u_n = near.row.velocity(self.bodies).dot(near.row.n);
            if classify(u_n, near.threshold) == Approach::Colliding {
                self.c.colliding.push(i as u32);
            }
        }
        !self.c.colliding.is_empty()
    }

    /// Lays out the joints, which answer together with what collides.
    fn join(&mut self, state: &State) {
        let world = self.model.bodies.len() as u32;
        self.c.joints.clear();
        for (i, joint) in self.model.present_joints() {
            let place = joint.place(&state.bodies, &state.joints);
            let most = misfit::JOINT_APART;
            let block = JointBlock::as_found(i, joint, world, &place, most, self.bodies);
            self.c.joints.push(block);
        }
    }

    /// Outer passes: answer what collides, until nothing does.
    fn run(&mut self) {
        let measured = self.report.work.caps_measured;
        self.passes();
        // Restitution that an impact missed is in no residual.
        self.report.work.blind_since(measured);
    }

    fn passes(&mut self) {
        for _ in 0..self.params.passes {
            if interrupt::asked() {
                return;
            }
            self.pass();
            if !self.find() {
                return;
            }
        }
        // What still collides stops: one pass over all that touches, without restitution.
        self.report.work.caps_hit += 1;
        self.c.colliding.clear();
        self.c.colliding.extend(0..self.c.near.len() as u32);
        self.cluster();
        for cluster in 0..self.c.clusters.count() {
            self.take(cluster);
            self.together(0.0);
            self.give();
        }
    }

    /// Answers everything that collides now, cluster by cluster.
    fn pass(&mut self) {
        self.cluster();
        for cluster in 0..self.c.clusters.count() {
            self.take(cluster);
            match self.c.rows.len() {
                0 => {}
                1 => self.alone(),
                _ => self.guarded(),
            }
            self.give();
        }
    }

    /// Groups what collides, and joints, by the bodies of finite mass that connect them.
    fn cluster(&mut self) {
        let Collisions {
            near,
            colliding,
            clusters,
            joints,
            ..
        } = &mut *self.c;
        if let ([_], true) = (&colliding[..], joints.is_empty()) {
            clusters.one_item();
            return;
        }
        let bodies = &*self.bodies;
        let pairs = colliding
            .iter()
            .map(|&i| (near[i as usize].row.a, near[i as usize].row.b))
            .chain(joints.iter().map(|l| (l.a, l.b)))
            .map(|(a, b)| (self.model.node_of(a), self.model.node_of(b)));
        clusters.build(
            bodies.len(),
            |slot| bodies[slot as usize].inverse_mass > 0.0,
            pairs,
        );
    }

    /// Lays out the rows, touches and links of a cluster; without contacts there are none.
    fn take(&mut self, cluster: usize) {
        let c = &mut *self.c;
        c.rows.clear();
        c.step_contacts.clear();
        c.places.clear();
        c.joint_blocks.clear();
        let contacts = c.colliding.len() as u32;
        for &item in &c.clusters.order[c.clusters.range(cluster)] {
            if item < contacts {
                let place = c.colliding[item as usize];
                let near = &c.near[place as usize];
                let mut step_contact = self.step_contacts[near.step_contact as usize];
                step_contact.velocity_before = near.row.velocity(self.bodies);
                step_contact.spin_before = near.row.spin(self.bodies);
                c.rows.push(near.row);
                c.step_contacts.push(step_contact);
                c.places.push(place);
            } else if !c.rows.is_empty() {
                let mut block = c.joints[(item - contacts) as usize];
                // At one moment every change of a joint's velocity is a shock.
                block.note_velocity(self.bodies);
                block.shocked = true;
                c.joint_blocks.push(block);
            }
        }
    }

    /// Books what the cluster did and keeps its impulses on the touches.
    fn give(&mut self) {
        let c = &*self.c;
        let mut books = Books {
            model: self.model,
            report: self.report,
            balance: self.balance,
        };
        for ((row, step_contact), &place) in c.rows.iter().zip(&c.step_contacts).zip(&c.places) {
            books.contact(row, step_contact, self.bodies);
            let kept = &mut self.step_contacts[c.near[place as usize].step_contact as usize];
            kept.impact += row.impulse();
            let speed = -step_contact.velocity_before.dot(row.n);
            kept.impact_speed = kept.impact_speed.max(speed);
        }
        for block in &c.joint_blocks {
            books.joint(block, self.bodies);
        }
    }

    /// A contact alone in its cluster: the impact law, on the response that the joints leave it.
    fn alone(&mut self) {
        let K = if self.c.joint_blocks.is_empty() {
            self.free_response(0)
        } else {
            self.held_response()
        };
        let (row, step_contact) = (&self.c.rows[0], &self.c.step_contacts[0]);
        let c = &self.contacts[step_contact.contact as usize];
        let Ok(found) = impact(K, row.n, step_contact.velocity_before, &c.surface) else {
            return self.together(1.0);
        };
        self.report.work.caps_hit += u32::from(found.capped);
        let row = &mut self.c.rows[0];
        row.target_n = found.velocity.dot(row.n);
        row.target_t = row.tangential(found.velocity);
        row.extrapolate(in_frame(row, found.impulse), self.bodies);
        self.hold();
    }

    /// K of the row of a free contact.
    fn free_response(&self, row: usize) -> Mat3 {
        let row = &self.c.rows[row];
        if row.linked {
            return row.tree_response(self.bodies);
        }
        let one = |slot: u32, r: Vec3| {
            let body = &self.bodies[slot as usize];
            point_response(body.inverse_mass, body.inverse_inertia, r)
        };
        one(row.a, row.lever_a()) + one(row.b, row.lever_b())
    }

    /// K of the row of a contact whose bodies are held by joints: what three unit impulses do once the joints have answered.
    fn held_response(&mut self) -> Mat3 {
        let row = self.c.rows[0];
        self.bodies.keep(&mut self.c.saved);
        let mut columns = [Vec3::ZERO; 3];
        for (k, column) in columns.iter_mut().enumerate() {
            for body in self.bodies.iter_mut() {
                (body.v, body.w) = (Vec3::ZERO, Vec3::ZERO);
            }
            let mut P = Vec3::ZERO;
            P[k] = 1.0;
            let mut trial = row;
            trial.extrapolate(row.frame(P), self.bodies);
            self.hold();
            *column = row.velocity(self.bodies);
            self.c
                .joint_blocks
                .iter_mut()
                .for_each(|l| l.lambda = [0.0; 6]);
        }
        self.bodies.give_back(&self.c.saved);
        let K = Mat3::from_cols(columns[0], columns[1], columns[2]);
        (K + K.transpose()) * 0.5
    }

    /// Joints answer: no velocity along the rows that hold.
    fn hold(&mut self) {
        if self.c.joint_blocks.is_empty() {
            return;
        }
        let settings = self.params.solve;
        let mut job = Job {
            settings: &settings,
            core: self.params.core,
            spent: 0,
            failed: false,
            near: false,
            rows: &mut [],
            joint_blocks: &mut self.c.joint_blocks,
            bodies: self.bodies,
            work: &mut self.report.work,
        };
        job.converge(&mut self.c.sweeps, |_| true);
    }

    /// Several contacts at once, none to gain energy: their restitution is scaled down by a common factor where friction would make them.
    fn guarded(&mut self) {
        self.keep();
        self.together(1.0);
        let (gain, turnover) = self.gain();
        if gain <= GAIN * turnover {
            return;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..TRIALS_MAX {
            let factor = 0.5 * (low + high);
            self.again(factor);
            if self.gain().0 > 0.0 {
                high = factor;
            } else {
                low = factor;
            }
        }
        self.again(low);
        // A solve that ended at its limit may gain whatever it aims at; impacts one after the other cannot.
        let (gain, turnover) = self.gain();
        if gain > MISSED_GAIN * turnover && self.is_plain() {
            self.one_by_one();
        }
    }

    /// The cluster anew, contact by contact: whichever approaches follows the impact law of its pair, until none does. Each of them takes energy.
    fn one_by_one(&mut self) {
        self.give_back();
        self.c.rows.iter_mut().for_each(ContactRow::clear);
        let mut approaches = false;
        for _ in 0..self.params.passes {
            approaches = false;
            for i in 0..self.c.rows.len() {
                let u = self.c.rows[i].velocity(self.bodies);
                let threshold = self.c.near[self.c.places[i] as usize].threshold;
                if classify(u.dot(self.c.rows[i].n), threshold) != Approach::Colliding {
                    continue;
                }
                let surface = &self.contacts[self.c.step_contacts[i].contact as usize].surface;
                if let Ok(found) = impact(self.free_response(i), self.c.rows[i].n, u, surface) {
                    let row = &mut self.c.rows[i];
                    row.extrapolate(in_frame(row, found.impulse), self.bodies);
                    approaches = true;
                }
            }
            if !approaches {
                break;
            }
        }
        self.report.work.caps_hit += u32::from(approaches);
        for row in &mut self.c.rows {
            let u = row.velocity(self.bodies);
            (row.target_n, row.target_t) = (u.dot(row.n), row.tangential(u));
        }
    }

    /// Whether rigid bodies alone take part in the cluster.
    fn is_plain(&self) -> bool {
        self.c.joint_blocks.is_empty() && !self.c.rows.iter().any(|r| r.linked)
    }

    /// Keeps what a trial may change.
    fn keep(&mut self) {
        if !self.is_plain() {
            self.bodies.keep(&mut self.c.saved);
            return;
        }
        let Collisions { kept, rows, .. } = &mut *self.c;
        kept.clear();
        let ends = rows.iter().flat_map(|r| [r.a, r.b]);
        kept.extend(ends.map(|slot| (slot, self.bodies[slot as usize])));
    }

    /// Comes back to it.
    fn give_back(&mut self) {
        if !self.is_plain() {
            self.bodies.give_back(&self.c.saved);
            return;
        }
        for &(slot, body) in &self.c.kept {
            self.bodies[slot as usize] = body;
        }
    }

    /// The simultaneous solve anew, from the velocities before it.
    fn again(&mut self, factor: f64) {
        self.give_back();
        for row in &mut self.c.rows {
            row.clear();
        }
        for block in &mut self.c.joint_blocks {
            block.lambda = [0.0; 6];
        }
        self.together(factor);
    }

    /// Work of the cluster's impulses on the contacts, `Σ P · ½(u⁻ + u⁺)`, and the sum of its sizes [J].
    fn gain(&self) -> (f64, f64) {
        let mut sum = (0.0, 0.0);
        for (row, step_contact) in self.c.rows.iter().zip(&self.c.step_contacts) {
            let mean = 0.5 * (step_contact.velocity_before + row.velocity(self.bodies));
            sum.0 += row.impulse().dot(mean);
            sum.1 += row.impulse().length() * step_contact.velocity_before.length();
        }
        sum
    }

    /// One simultaneous solve: every contact to its rebound `u_n ≥ −factor · e u_n⁻`, friction to no slip within the cone, joints to no velocity.
    fn together(&mut self, factor: f64) {
        for (row, step_contact) in self.c.rows.iter_mut().zip(&self.c.step_contacts) {
            let e = self.contacts[step_contact.contact as usize]
                .surface
                .restitution;
            let u = step_contact.velocity_before;
            let slip = u - row.n * u.dot(row.n);
            row.target_n = (-factor * e * u.dot(row.n)).max(0.0);
            row.target_t = [0.0; 2];
            row.sliding = slip.length() > self.params.stops.velocity_tolerance;
        }
        let settings = self.params.solve;
        let mut job = Job {
            settings: &settings,
            core: self.params.core,
            spent: 0,
            failed: false,
            near: false,
            rows: &mut self.c.rows,
            joint_blocks: &mut self.c.joint_blocks,
            bodies: self.bodies,
            work: &mut self.report.work,
        };
        job.converge(&mut self.c.sweeps, |_| true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bs_04_contacts_separate_rest_or_collide() {
        let threshold = resting_speed(9.81, 1e-4, 1e-3);
        assert!((threshold - 0.04429).abs() < 1e-5, "{threshold}");
        assert_eq!(classify(1e-3, threshold), Approach::Separating);
        assert_eq!(classify(-0.9 * threshold, threshold), Approach::Resting);
        assert_eq!(classify(-1.1 * threshold, threshold), Approach::Colliding);
        // A body at rest must not collide with the floor in every step, however long the step: it arrives with ½ g h.
        let h = 1.0 / 60.0;
        assert_eq!(
            classify(-0.5 * 9.81 * h, resting_speed(9.81, 1e-4, h)),
            Approach::Resting
        );
    }
}
