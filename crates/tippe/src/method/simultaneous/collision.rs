//! The collision phase: every island's touching points and joints as one problem, resolved until no point approaches.
//!
//! Reads: Model, step contacts, contacts.  Writes: State (velocities), step contacts (impacts), residuals and ledger of the report.
//! Called by: `method::simultaneous::step`, `method::simultaneous::literal`.
//! Source: [Ermolin] §3.2; the resolution itself is in `method::simultaneous::passes`.

use super::passes::{Clusters, Point, Resolution};
use super::{Limits, SimultaneousParams};
use crate::collide::Contact;
use crate::math::Vec3;
use crate::model::Model;
use crate::output::balance::Balance;
use crate::report::StepReport;
use crate::solver::contact::ContactRow;

use crate::solver::exchange::{Exchange, System, give_back};
use crate::solver::joint::JointBlock;
use crate::state::{ContactKey, State};
use crate::two_stage::Scratch;
use crate::two_stage::book::Books;
use crate::two_stage::gather::{StepContact, load_bodies};
use crate::two_stage::misfit;
use crate::two_stage::targets::{new_row, placement};
use crate::work::Work;

/// Scratch of the phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collisions {
    /// Points of the island at hand: rows, speeds at which they collide, places of their step contacts.
    rows: Vec<ContactRow>,
    points: Vec<Point>,
    step_contacts: Vec<StepContact>,
    places: Vec<u32>,
    order: Vec<u32>,
    /// Its joints.
    joint_blocks: Vec<JointBlock>,
    exchange: Exchange,
    clusters: Clusters,
    /// Impacts of the phase, for contacts gathered anew: sorted by key.
    impacts: Vec<(ContactKey, Vec3, f64)>,
}

/// Answers what collides now. Says whether something did that goes on to places where contacts have not been looked for.
pub(crate) fn run(
    model: &Model,
    params: &SimultaneousParams,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) -> bool {
    let Work {
        stage,
        detection,
        simultaneous,
        balance,
        ..
    } = work;
    simultaneous.impacts.clear();
    load_bodies(model, state, &detection.contacts, &mut stage.bodies);
    let mut phase = Phase {
        model,
        params,
        contacts: &detection.contacts,
        stage,
        c: simultaneous,
        report,
        balance,
    };
    let mut answered = false;
    for island in 0..phase.stage.islands.len() {
        answered |= phase.island(island, state);
    }
    if !answered {
        return false;
    }
    for (i, body) in model.present() {
        if body.is_free() {
            state.bodies[i].velocity = stage.bodies[i].v;
            state.bodies[i].angular_velocity = stage.bodies[i].w;
        }
    }
    stage.bodies.finish(model, state);
    note_impacts(
        params,
        stage,
        &detection.contacts,
        &mut simultaneous.impacts,
    )
}

/// Keeps the impacts by key. In dense islands impacts are answered inside the step, and what the step looked for is enough.
fn note_impacts(
    params: &SimultaneousParams,
    stage: &Scratch,
    contacts: &[Contact],
    impacts: &mut Vec<(ContactKey, Vec3, f64)>,
) -> bool {
    let limits = params.stop_limits();
    let hit = |t: &StepContact| t.impact != Vec3::ZERO;
    for t in stage.step_contacts.iter().filter(|t| hit(t)) {
        let key = contacts[t.contact as usize].key;
        impacts.push((key, t.impact, t.impact_speed));
    }
    impacts.sort_by_key(|x| x.0);
    let sparse = stage
        .islands
        .iter()
        .filter(|p| !limits.is_dense(p.rows.len()));
    sparse
        .map(|p| &stage.step_contacts[p.rows.clone()])
        .any(|contacts| contacts.iter().any(hit))
}

/// Gives step contacts that were gathered anew the impacts of the phase.
pub(crate) fn recall(work: &mut Work) {
    for step_contact in &mut work.stage.step_contacts {
        let key = work.detection.contacts[step_contact.contact as usize].key;
        let impacts = &work.simultaneous.impacts;
        if let Ok(i) = impacts.binary_search_by_key(&key, |x| x.0) {
            (step_contact.impact, step_contact.impact_speed) = (impacts[i].1, impacts[i].2);
        }
    }
}

/// The phase under way.
struct Phase<'a> {
    model: &'a Model,
    params: &'a SimultaneousParams,
    contacts: &'a [Contact],
    stage: &'a mut Scratch,
    c: &'a mut Collisions,
    report: &'a mut StepReport,
    balance: &'a mut Balance,
}

impl Phase<'_> {
    /// Answers one island; says whether something collided there.
    fn island(&mut self, island: usize, state: &State) -> bool {
        // The paper's own mode holds connections here, at position level; else the closing solves do.
        let connects = self.params.literal && !self.stage.islands[island].joint_blocks.is_empty();
        if !self.take_points(island, state) && !connects {
            return false;
        }
        self.take_joints(island, state);
        let Collisions {
            rows,
            points,
            order,
            joint_blocks,
            exchange,
            clusters,
            ..
        } = &mut *self.c;
        order.clear();
        order.extend(0..rows.len() as u32);
        let bodies = &mut self.stage.bodies;
        let mut system = System {
            rows,
            order,
            joint_blocks,
        };
        let limits = self.params.limits();
        let found = if exchange.build(&system, bodies) {
            clusters.resolve(exchange.problem(), points, &limits)
        } else {
            None
        };
        let Some(found) = found else {
            // Too large for one system: its impacts are answered inside the step.
            self.report.work.caps_hit += 1;
            return false;
        };
        give_back(clusters.impulses(), &mut system, bodies);
        self.tell(&found, &limits);
        self.book();
        true
    }

    /// Rows of all points of an island that touch; says whether one approaches.
    fn take_points(&mut self, island: usize, state: &State) -> bool {
        let c = &mut *self.c;
        c.rows.clear();
        c.points.clear();
        c.step_contacts.clear();
        c.places.clear();
        let resting = self
            .params
            .rest_limits(self.model.gravity.length(), self.report.dt);
        let mut approaches = false;
        for place in self.stage.islands[island].rows.clone() {
            let mut step_contact = self.stage.step_contacts[place];
            let contact = &self.contacts[step_contact.contact as usize];
            if step_contact.gap_start > self.params.depth_tolerance
                || !is_here(contact, state, self.params.depth_tolerance)
            {
                continue;
            }
            let mut row = new_row(
                contact,
                &placement(contact),
                &state.bodies,
                &self.stage.bodies,
            );
            if row.response_n() <= 0.0 {
                continue;
            }
            let u = row.velocity(&self.stage.bodies);
            let u_n = u.dot(row.n);
            row.sliding = (u - row.n * u_n).length() > self.params.velocity_tolerance;
            let threshold = if resting.holds(&step_contact, &row, 0.0) {
                resting.speed
            } else {
                resting.slow
            };
            let threshold = if self.params.literal {
                self.params.velocity_tolerance
            } else {
                threshold.max(10.0 * self.params.velocity_tolerance)
            };
            approaches |= u_n < -threshold;
            step_contact.velocity_before = u;
            step_contact.spin_before = row.spin(&self.stage.bodies);
            c.points.push(Point {
                group: c.rows.len(),
                surface: contact.surface,
                threshold,
            });
            c.rows.push(row);
            c.step_contacts.push(step_contact);
            c.places.push(place as u32);
        }
        approaches
    }

    /// Joints of an island, at velocity level; at position level in the paper's own mode.
    fn take_joints(&mut self, island: usize, state: &State) {
        let world = self.model.bodies.len() as u32;
        let bodies = &self.stage.bodies;
        self.c.joint_blocks.clear();
        for &i in &self.stage.joints[self.stage.islands[island].joint_blocks.clone()] {
            let Some(joint) = &self.model.joints[i as usize] else {
                continue;
            };
            // The paper closes what is apart by velocity.
            let most = if self.params.literal {
                f64::INFINITY
            } else {
                misfit::JOINT_APART
            };
            let place = joint.place(&state.bodies, &state.joints);
            let mut block = JointBlock::as_found(i as usize, joint, world, &place, most, bodies);
            // At one moment every change of a joint's velocity is a shock.
            block.note_velocity(bodies);
            block.shocked = true;
            if self.params.literal {
                block.aim_at_closing(1.0 / self.report.dt);
            }
            self.c.joint_blocks.push(block);
        }
    }

    /// Limits and residuals of a resolution.
    fn tell(&mut self, found: &Resolution, limits: &Limits) {
        let work = &mut self.report.work;
        work.newton_steps += found.factorisations;
        let ended = found.cycled || (found.capped && !limits.literal);
        work.caps_hit += u32::from(ended) + u32::from(found.solved.capped);
        let left = found.solved.residual.max(found.solved.contradiction);
        let residuals = &mut self.report.residuals;
        residuals.complementarity = residuals.complementarity.max(left);
    }

    /// Books what the points did and keeps their impulses on the step contacts.
    fn book(&mut self) {
        let bodies = &self.stage.bodies;
        let mut books = Books {
            model: self.model,
            report: self.report,
            balance: self.balance,
        };
        let Collisions {
            rows,
            step_contacts,
            places,
            joint_blocks,
            ..
        } = &mut *self.c;
        for ((row, step_contact), &place) in rows.iter_mut().zip(&*step_contacts).zip(&*places) {
            if row.impulse() == Vec3::ZERO {
                continue;
            }
            // What it was resolved to is its target: residuals of the resolution have been told.
            let u = row.velocity(bodies);
            row.target_n = u.dot(row.n);
            row.target_t = row.tangential(u);
            books.contact(row, step_contact, bodies);
            let kept = &mut self.stage.step_contacts[place as usize];
            kept.impact += row.impulse();
            let speed = -step_contact.velocity_before.dot(row.n);
            kept.impact_speed = kept.impact_speed.max(speed);
        }
        for block in joint_blocks.iter() {
            books.joint(block, bodies);
        }
    }
}

/// Whether a contact is one of the poses of now. Features of later poses stand behind those of now before they come around; what detection
/// calls their gap is then none.
fn is_here(c: &Contact, state: &State, tolerance: f64) -> bool {
    let (a, b) = c.bodies();
    c.seen == 0.0 && c.at(&state.bodies[a], &state.bodies[b]).gap >= c.point.gap - tolerance
}
