//! Compliant contacts: which bodies they bind, what they press at a moment, and the motion of their islands in substeps of their own.
//!
//! Reads: Model, contacts, states, memory of the contacts.  Writes: states of the islands at the end of the piece, sums over it, memory.
//! Called by: `method::forces`.
//! Source: [Lecture] "Elastic Impact" for the law, [Hunt75] for the form of the damping, docs/methods/forces.md, "Compliant contact".
//! Substeps follow the error of a step against two halves of it, so that nobody chooses a step for them; the rest of the world is not
//! divided. Letters: ξ depth, v approach speed that the damping belongs to, d = λ v.

use super::ForcesParams;
use super::locate::slip;
use super::piece::Course;
use super::smooth::{ContactSum, JointSum, Part, Scene, Smooth, SpringSum};
use super::system::{Mode, NO_NODE, Node, wrench};
use crate::collide::Contact;
use crate::compliance::{ContactLaw, loss};
use crate::dynamics::impulse::inverse_inertia;
use crate::error::StepError;
use crate::math::Vec3;
use crate::model::{BodyKind, Model};
use crate::state::{BodyState, CompliantContact, CompliantMemory, ContactKey};
use crate::work::Work;

/// Growth and shrinkage of the substep from one to the next [1].
const GROW_MAX: f64 = 4.0;
const SHRINK_MAX: f64 = 0.2;
/// Part of the step that the error estimate allows which is taken [1].
const CAUTION: f64 = 0.9;
/// Substep at which a break of the modes is passed, relative to the piece [1].
const BREAK: f64 = 1e-6;
/// Most trials to find where a gap closes or a slip ends.
const CLOSING_MAX: u32 = 60;
/// Slip against its first direction that counts as ended [m/s].
const SLIP_ENDED: f64 = 1e-11;
/// Substep below which nothing is gained by halving, relative to the piece [1].
const SHORTEST: f64 = 1e-12;

/// Differences of positions and turns that are rounding, relative to them [1].
const ROUNDING: f64 = 4e-15;

/// A contact that gives way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Yielding {
    /// Its place among the contacts of the detection.
    pub contact: u32,
    pub law: ContactLaw,
    /// d of its restitution, and the speed v it belongs to: the largest of approach since it touches [m/s].
    loss: f64,
    pub speed: f64,
    /// Response along the normal [1/kg].
    inverse_mass: f64,
    friction: f64,
    slip_speed: f64,
    /// Speed at which it touched within the piece [m/s]; 0 if it did not.
    pub hit: f64,
}

/// What it did over a piece.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct YieldingSum {
    /// Impulse on B [N·s].
    pub impulse: Vec3,
    /// Losses to damping and friction, work of prescribed sides [J].
    pub damping: f64,
    pub friction: f64,
    pub prescribed: f64,
}

/// What it presses at a moment.
struct Press {
    point: Vec3,
    normal: Vec3,
    /// Force on B, and its elastic and whole normal parts [N].
    force: Vec3,
    elastic: f64,
    pressed: f64,
    /// Velocity of B relative to A [m/s].
    velocity: Vec3,
}

impl Yielding {
    fn new(
        model: &Model,
        bodies: &[BodyState],
        (c, contact): (&Contact, u32),
        slip_speed: f64,
    ) -> Option<Self> {
        let law = c.surface.compliance.at(c.point.rolling_radius)?;
        let (a, b) = c.bodies();
        let at = c.at(&bodies[a], &bodies[b]);
        let point = (at.point_a + at.point_b) * 0.5;
        let mut inverse_mass = 0.0;
        for slot in [a, b] {
            if let Some(body) = model.bodies[slot].as_ref().filter(|b| b.is_free()) {
                let turn = (point - bodies[slot].position).cross(at.normal);
                let turned = inverse_inertia(body, &bodies[slot]) * turn;
                inverse_mass += body.inverse_mass + turn.dot(turned);
            }
        }
        Some(Self {
            contact,
            law,
            loss: loss(c.surface.restitution),
            speed: 0.0,
            inverse_mass,
            friction: c.surface.friction_kinetic,
            slip_speed: if c.surface.slip_speed > 0.0 {
                c.surface.slip_speed
            } else {
                slip_speed
            },
            hit: 0.0,
        })
    }

    /// F = k ξʳ (1 + d ξ̇/v), never pulling, and regularised Coulomb friction on top.
    fn press(&self, c: &Contact, bodies: &[BodyState]) -> Option<Press> {
        let (a, b) = c.bodies();
        let at = c.at(&bodies[a], &bodies[b]);
        if at.gap >= 0.0 {
            return None;
        }
        let point = (at.point_a + at.point_b) * 0.5;
        let velocity = bodies[b].point_velocity(point) - bodies[a].point_velocity(point);
        let u_n = at.normal.dot(velocity);
        let elastic = self.law.force(-at.gap);
        // What is stored came from a speed too: ½ m v² at least. An impact never has more than it came with, a load at rest has this alone.
        let held = (2.0 * self.law.energy(-at.gap) * self.inverse_mass).sqrt();
        let speed = self.speed.max(held).max(-u_n);
        let damped = if speed > 0.0 {
            1.0 - self.loss * u_n / speed
        } else {
            1.0
        };
        let pressed = elastic * damped.max(0.0);
        let u_t = velocity - at.normal * u_n;
        let slip = (u_t.length_squared() + self.slip_speed * self.slip_speed).sqrt();
        let force = at.normal * pressed - u_t * (self.friction * pressed / slip);
        Some(Press {
            point,
            normal: at.normal,
            force,
            elastic,
            pressed,
            velocity,
        })
    }
}

/// Marks the bodies of islands in which a contact gives way, over contacts that touch or may and over joints. False if there is none.
pub(crate) fn mark(model: &Model, contacts: &[Contact], marks: &mut Vec<bool>) -> bool {
    marks.clear();
    marks.resize(model.bodies.len(), false);
    let yields = |c: &&Contact| c.surface.compliance.gives_way();
    if !contacts.iter().any(|c| yields(&c)) {
        return false;
    }
    let free = |slot: u32| {
        let body = model.bodies.get(slot as usize).and_then(Option::as_ref);
        body.is_some_and(crate::model::Body::is_free)
    };
    let mut parent: Vec<u32> = (0..model.bodies.len() as u32).collect();
    let joints = model
        .present_joints()
        .filter_map(|(_, j)| Some((j.a?, j.b)));
    let touches = contacts
        .iter()
        .map(|c| (c.key.pair.body_a, c.key.pair.body_b));
    for (a, b) in touches.chain(joints) {
        if free(a) && free(b) {
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let mut island = vec![false; model.bodies.len()];
    for c in contacts.iter().filter(yields) {
        for slot in [c.key.pair.body_a, c.key.pair.body_b] {
            island[root(&mut parent, slot) as usize] = true;
        }
    }
    for slot in 0..marks.len() as u32 {
        marks[slot as usize] = free(slot) && island[root(&mut parent, slot) as usize];
    }
    marks.contains(&true)
}

/// Refuses contacts that give way on links, and islands of such contacts that touch or are joined to links.
pub(crate) fn check_links(model: &Model, work: &Work) -> Result<(), StepError> {
    let marks = &work.forces.marks;
    if !work.forces.yields
        && !work
            .detection
            .contacts
            .iter()
            .any(|c| c.surface.compliance.gives_way())
    {
        return Ok(());
    }
    let link = |slot: u32| {
        let body = model.bodies.get(slot as usize).and_then(Option::as_ref);
        body.is_some_and(|b| matches!(b.kind, BodyKind::Link { .. }))
    };
    let marked = |slot: u32| marks.get(slot as usize).copied().unwrap_or(false);
    let touches = work.detection.contacts.iter().map(|c| {
        let pair = &c.key.pair;
        (pair.body_a, pair.body_b, c.surface.compliance.gives_way())
    });
    let joints = model.present_joints();
    let joints = joints.filter_map(|(_, j)| Some((j.a?, j.b, false)));
    for (a, b, gives_way) in touches.chain(joints) {
        if (link(a) && (gives_way || marked(b))) || (link(b) && (gives_way || marked(a))) {
            let [a, b] = [a, b].map(|slot| model.name(slot as usize));
            return Err(StepError::Refused {
                reason: format!(
                    "`{a}` and `{b}`: contacts that give way do not act on links of articulations; use joints between bodies"
                ),
            });
        }
    }
    Ok(())
}

fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        let up = parent[parent[i as usize] as usize];
        parent[i as usize] = up;
        i = up;
    }
    i
}

/// Why a contact has no law: `None` if all have.
pub(crate) fn lawless(contacts: &[Contact]) -> Option<ContactKey> {
    let lost = |c: &&Contact| {
        let law = c.surface.compliance;
        law.gives_way() && law.at(c.point.rolling_radius).is_none()
    };
    contacts.iter().find(lost).map(|c| c.key)
}

/// Energy stored in the contacts that give way [J].
pub(crate) fn stored(contacts: &[Contact], bodies: &[BodyState]) -> f64 {
    contacts.iter().map(|c| stored_in(c, bodies)).sum()
}

fn stored_in(c: &Contact, bodies: &[BodyState]) -> f64 {
    let Some(law) = c.surface.compliance.at(c.point.rolling_radius) else {
        return 0.0;
    };
    let (a, b) = c.bodies();
    law.energy(-c.at(&bodies[a], &bodies[b]).gap)
}

impl Smooth {
    /// Lists the contacts of the part that give way, with the speeds of their memory.
    pub(crate) fn yield_to(
        &mut self,
        params: &ForcesParams,
        scene: &Scene<'_>,
        bodies: &[BodyState],
        memory: &CompliantMemory,
    ) {
        self.yielding.clear();
        if scene.part != Part::Compliant {
            return;
        }
        for (i, c) in scene.contacts.iter().enumerate() {
            let Some(mut y) =
                Yielding::new(scene.model, bodies, (c, i as u32), params.compliant_slip)
            else {
                continue;
            };
            let known = memory.contacts.binary_search_by_key(&c.key, |m| m.key);
            y.speed = match known {
                Ok(k) => memory.contacts[k].speed,
                // A new feature of a pair that touches goes on with the speed of the pair.
                Err(_) => memory
                    .contacts
                    .iter()
                    .filter(|m| m.key.pair == c.key.pair)
                    .fold(0.0, |v: f64, m| v.max(m.speed)),
            };
            self.yielding.push(y);
        }
    }

    /// Forces of the contacts that give way, on the nodes.
    pub(crate) fn press(&self, scene: &Scene<'_>, bodies: &[BodyState], nodes: &mut [Node]) {
        for y in &self.yielding {
            let c = &scene.contacts[y.contact as usize];
            let Some(press) = y.press(c, bodies) else {
                continue;
            };
            let (a, b) = c.bodies();
            for (slot, sign) in [(a, -1.0), (b, 1.0)] {
                if let Some(node) = nodes.get_mut(self.node_of[slot] as usize) {
                    let lever = press.point - bodies[slot].position;
                    let push = node.response(&wrench(sign, press.force, lever));
                    for (f, a) in node.free.iter_mut().zip(push) {
                        *f += a;
                    }
                }
            }
        }
    }

    /// Impulses and works of a stage with its weight [s].
    pub(crate) fn sum_yielding(&mut self, scene: &Scene<'_>, weight: f64) {
        let bodies = &self.stage.bodies;
        for (y, sum) in self.yielding.iter().zip(&mut self.yielding_sums) {
            let c = &scene.contacts[y.contact as usize];
            let Some(p) = y.press(c, bodies) else {
                continue;
            };
            sum.impulse += p.force * weight;
            let u_n = p.normal.dot(p.velocity);
            sum.damping -= (p.pressed - p.elastic) * u_n * weight;
            sum.friction -= (p.force - p.normal * p.pressed).dot(p.velocity) * weight;
            let (a, b) = c.bodies();
            for (slot, sign) in [(a, 1.0), (b, -1.0)] {
                if !scene.model.is_awake(slot as u32) {
                    let work = p.force.dot(bodies[slot].point_velocity(p.point));
                    sum.prescribed += sign * work * weight;
                }
            }
        }
    }

    /// Whether a side of a contact that gives way has prescribed motion.
    pub(crate) fn presses_prescribed(&self, scene: &Scene<'_>) -> bool {
        let kinematic = |slot: usize| {
            let body = scene.model.bodies[slot].as_ref();
            body.is_some_and(|b| matches!(b.kind, BodyKind::Kinematic(_)))
        };
        self.yielding.iter().any(|y| {
            let (a, b) = scene.contacts[y.contact as usize].bodies();
            kinematic(a) || kinematic(b)
        })
    }

    /// Speeds of approach of contacts that touch: the largest since they do. What does not touch has none.
    fn note_speeds(&mut self, scene: &Scene<'_>, bodies: &[BodyState], touch: f64) {
        for y in &mut self.yielding {
            let c = &scene.contacts[y.contact as usize];
            let (a, b) = c.bodies();
            let at = c.at(&bodies[a], &bodies[b]);
            if at.gap > touch {
                y.speed = 0.0;
                continue;
            }
            let point = (at.point_a + at.point_b) * 0.5;
            let u = bodies[b].point_velocity(point) - bodies[a].point_velocity(point);
            let approach = -at.normal.dot(u);
            if y.speed == 0.0 && approach > 0.0 {
                y.hit = y.hit.max(approach);
            }
            y.speed = y.speed.max(approach);
        }
    }
}

/// Sums over the substeps of a piece.
#[derive(Clone, Debug, Default)]
struct Totals {
    contacts: Vec<ContactSum>,
    joints: Vec<JointSum>,
    yielding: Vec<YieldingSum>,
    drag: Vec<f64>,
    external: Vec<f64>,
    springs: SpringSum,
    motors: f64,
}

impl Totals {
    fn clear(&mut self, smooth: &Smooth) {
        self.contacts.clear();
        self.contacts
            .resize(smooth.active.len(), ContactSum::default());
        self.joints.clear();
        self.joints.resize(smooth.joints.len(), JointSum::default());
        self.yielding.clear();
        self.yielding
            .resize(smooth.yielding.len(), YieldingSum::default());
        for list in [&mut self.drag, &mut self.external] {
            list.clear();
            list.resize(smooth.slots.len(), 0.0);
        }
        self.springs = SpringSum::default();
        self.motors = 0.0;
    }

    fn add(&mut self, smooth: &Smooth) {
        for (sum, s) in self.contacts.iter_mut().zip(&smooth.contact_sums) {
            sum.impulse += s.impulse;
            sum.friction += s.friction;
            sum.prescribed += s.prescribed;
        }
        for (sum, s) in self.joints.iter_mut().zip(&smooth.joint_sums) {
            sum.impulse += s.impulse;
            sum.angular += s.angular;
            sum.prescribed += s.prescribed;
            sum.driven += s.driven;
        }
        for (sum, s) in self.yielding.iter_mut().zip(&smooth.yielding_sums) {
            sum.impulse += s.impulse;
            sum.damping += s.damping;
            sum.friction += s.friction;
            sum.prescribed += s.prescribed;
        }
        for (sum, s) in self.drag.iter_mut().zip(&smooth.drag_loss) {
            *sum += s;
        }
        for (sum, s) in self.external.iter_mut().zip(&smooth.external) {
            *sum += s;
        }
        self.springs.add(&smooth.spring_works);
        self.motors += smooth.motor_work;
    }

    fn give(&self, smooth: &mut Smooth) {
        smooth.contact_sums.clone_from(&self.contacts);
        smooth.joint_sums.clone_from(&self.joints);
        smooth.yielding_sums.clone_from(&self.yielding);
        smooth.drag_loss.clone_from(&self.drag);
        smooth.external.clone_from(&self.external);
        smooth.spring_works = self.springs;
        smooth.motor_work = self.motors;
    }
}

/// Scratch of the substeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Substeps {
    now: Vec<BodyState>,
    whole: Vec<BodyState>,
    half: Vec<BodyState>,
    end: Vec<BodyState>,
    totals: Totals,
    trial: Totals,
    /// Speeds of the contacts at the start of the piece, from which it may be run again.
    speeds: Vec<f64>,
    /// By rigid contact of the part that slides: its place among the active ones, and its direction.
    slips: Vec<(u32, Vec3)>,
    pub substeps: u32,
}

/// What a trial came to.
enum Trial {
    /// Error relative to the tolerance [1], and whether the modes hold.
    Done(f64, bool),
    /// Something happens within it, about here [s]; whether the piece ends there.
    Within(f64, bool),
    /// No forces.
    Lost,
}

impl Substeps {
    /// Moves the islands from `start` at time `t` for `left` at most; returns how far. `end` holds their bodies then.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn advance(
        &mut self,
        params: &ForcesParams,
        scene: &Scene<'_>,
        smooth: &mut Smooth,
        start: &[BodyState],
        (t, left): (f64, f64),
        step: &mut f64,
        end: &mut Vec<BodyState>,
    ) -> Result<f64, StepError> {
        self.begin(scene, smooth, start);
        let mut done = 0.0;
        let mut h = if *step > 0.0 { *step } else { left };
        let (mut count, mut closing) = (0, 0);
        loop {
            smooth.note_speeds(scene, &self.now, params.touch_tolerance);
            let mut ends = false;
            let rest = left - done;
            let mut length = if h >= rest * (1.0 - 1e-9) { rest } else { h };
            smooth.pose(scene, &self.now, t + done);
            if !smooth.system.solve() {
                return Ok(self.finish(smooth, end, done));
            }
            smooth.keep_forces();
            smooth.keep_first();
            loop {
                count += 1;
                if count > params.compliant_substeps {
                    return Err(too_stiff(scene, smooth, &self.now, left));
                }
                let shortest = length <= SHORTEST * left;
                match self.trial(params, scene, smooth, (t + done, length), left) {
                    Trial::Lost if shortest => return Ok(self.finish(smooth, end, done)),
                    Trial::Lost => length *= 0.5,
                    Trial::Within(x, stops) if closing < CLOSING_MAX && !shortest => {
                        closing += 1;
                        ends = stops;
                        // Every fourth trial halves, so that the bracket shrinks whatever the shape.
                        length = if closing % 4 == 0 { 0.5 * length } else { x };
                    }
                    Trial::Within(_, stops) => {
                        ends = stops;
                        break;
                    }
                    Trial::Done(_, false) if length > BREAK * left => length *= 0.5,
                    Trial::Done(error, _) if error > 1.0 && !shortest => {
                        length *= (CAUTION * libm::pow(error, -0.2)).clamp(SHRINK_MAX, CAUTION);
                    }
                    Trial::Done(error, holds) => {
                        ends |= !holds;
                        let room = (CAUTION * libm::pow(error.max(1e-12), -0.2)).min(GROW_MAX);
                        // A step cut short by the end of the piece says nothing against the one before.
                        h = if length < h {
                            h.min((length * room).max(length)).max(length)
                        } else {
                            length * room
                        };
                        break;
                    }
                }
            }
            closing = 0;
            self.totals.add_trial(&self.trial);
            done = if length == rest { left } else { done + length };
            let opened = self.opens(scene, smooth);
            self.now.clone_from(&self.end);
            if done >= left || ends || opened {
                *step = h;
                self.substeps = count;
                smooth.note_speeds(scene, &self.now, params.touch_tolerance);
                return Ok(self.finish(smooth, end, done));
            }
        }
    }

    fn begin(&mut self, scene: &Scene<'_>, smooth: &mut Smooth, start: &[BodyState]) {
        self.now.clear();
        self.now.extend_from_slice(start);
        self.totals.clear(smooth);
        if self.speeds.len() == smooth.yielding.len() {
            for (y, v) in smooth.yielding.iter_mut().zip(&self.speeds) {
                (y.speed, y.hit) = (*v, 0.0);
            }
        }
        self.slips.clear();
        for (k, active) in smooth.active.iter().enumerate() {
            let c = &scene.contacts[active.contact as usize];
            let u = slip(c, start);
            let slides = matches!(active.mode, Mode::Slide(_)) && c.surface.slip_speed == 0.0;
            if slides && u.length() > SLIP_ENDED {
                self.slips.push((k as u32, u / u.length()));
            }
        }
    }

    /// Remembers the speeds at the start of the piece, in case it is run again.
    pub(crate) fn keep(&mut self, smooth: &Smooth) {
        self.speeds.clear();
        self.speeds.extend(smooth.yielding.iter().map(|y| y.speed));
    }

    fn finish(&mut self, smooth: &mut Smooth, end: &mut Vec<BodyState>, done: f64) -> f64 {
        self.totals.give(smooth);
        end.clone_from(&self.now);
        done
    }

    /// One substep as a whole and in two halves.
    fn trial(
        &mut self,
        params: &ForcesParams,
        scene: &Scene<'_>,
        smooth: &mut Smooth,
        (t, h): (f64, f64),
        left: f64,
    ) -> Trial {
        smooth.come_back();
        let whole = smooth.run(scene, &self.now, t, h, &mut self.whole);
        smooth.come_back();
        let first = smooth.run(scene, &self.now, t, 0.5 * h, &mut self.half);
        self.trial.clear(smooth);
        self.trial.add(smooth);
        smooth.pose(scene, &self.half, t + 0.5 * h);
        if whole == Course::Lost || first == Course::Lost || !smooth.system.solve() {
            return Trial::Lost;
        }
        let second = smooth.run(scene, &self.half, t + 0.5 * h, 0.5 * h, &mut self.end);
        if second == Course::Lost {
            return Trial::Lost;
        }
        self.trial.add(smooth);
        if let Some((part, stops)) = self.happens(params, scene, smooth) {
            return Trial::Within(part * h, stops);
        }
        let error = self.error(scene, smooth, h, left) / params.compliant_tolerance;
        Trial::Done(
            if error.is_finite() { error } else { 1e12 },
            second != Course::Broken,
        )
    }

    /// Largest difference of the two ways, relative to the speeds at hand [1].
    fn error(&self, scene: &Scene<'_>, smooth: &Smooth, h: f64, left: f64) -> f64 {
        let mut speed = scene.model.gravity.length() * left;
        for y in &smooth.yielding {
            let (a, b) = scene.contacts[y.contact as usize].bodies();
            let apart = self.now[b].velocity - self.now[a].velocity;
            speed = speed.max(y.speed).max(apart.length());
        }
        let mut worst: f64 = 0.0;
        for &slot in &smooth.slots {
            let (x, y) = (&self.whole[slot as usize], &self.end[slot as usize]);
            let reach = scene.model.bodies[slot as usize]
                .as_ref()
                .map_or(1.0, |b| if b.reach.is_finite() { b.reach } else { 1.0 });
            let moved = (x.position - y.position).length();
            let turned = (x.rotation * y.rotation.conjugate()).xyz().length() * 2.0;
            worst = worst
                .max((x.velocity - y.velocity).length())
                .max((moved - ROUNDING * y.position.length()).max(0.0) / h)
                .max((x.angular_velocity - y.angular_velocity).length() * reach)
                .max((turned - ROUNDING).max(0.0) * reach / h);
            speed = speed.max(self.now[slot as usize].angular_velocity.length() * reach);
        }
        // Of a step against two halves of order four.
        if speed > 0.0 {
            worst / (15.0 * speed)
        } else {
            0.0
        }
    }

    /// The first thing that happens within the trial, as a part of it, and whether the piece ends there.
    fn happens(
        &self,
        params: &ForcesParams,
        scene: &Scene<'_>,
        smooth: &Smooth,
    ) -> Option<(f64, bool)> {
        let touch = params.touch_tolerance;
        let mut first: Option<(f64, bool)> = None;
        let mut note = |part: f64, stops: bool| {
            if first.is_none_or(|f| part < f.0) {
                first = Some((part, stops));
            }
        };
        for (i, c) in scene.contacts.iter().enumerate() {
            if !scene.has(c) {
                continue;
            }
            let yields = c.surface.compliance.gives_way();
            let carries =
                |x: &super::smooth::Active| x.contact as usize == i && x.mode != Mode::Open;
            if !yields && smooth.active.iter().any(carries) {
                continue;
            }
            let (a, b) = c.bodies();
            let (before, after) = (
                c.at(&self.now[a], &self.now[b]).gap,
                c.at(&self.end[a], &self.end[b]).gap,
            );
            let open = before > if yields { touch } else { -touch };
            if open && after < -touch {
                let level = before.max(0.0) + 0.5 * touch;
                note(level / (level - after), !yields);
            }
        }
        for &(k, direction) in &self.slips {
            let c = &scene.contacts[smooth.active[k as usize].contact as usize];
            let (before, after) = (
                slip(c, &self.now).dot(direction),
                slip(c, &self.end).dot(direction),
            );
            if after < -SLIP_ENDED {
                note((before / (before - after)).clamp(0.0, 1.0), true);
            }
        }
        first
    }

    /// Whether a contact that gives way came apart in the substep just done: bodies then go where nobody has looked.
    fn opens(&self, scene: &Scene<'_>, smooth: &Smooth) -> bool {
        smooth.yielding.iter().any(|y| {
            let c = &scene.contacts[y.contact as usize];
            let (a, b) = c.bodies();
            let gap = |s: &[BodyState]| c.at(&s[a], &s[b]).gap;
            gap(&self.now) < 0.0 && gap(&self.end) >= 0.0
        })
    }
}

impl Totals {
    fn add_trial(&mut self, trial: &Self) {
        for (sum, s) in self.contacts.iter_mut().zip(&trial.contacts) {
            sum.impulse += s.impulse;
            sum.friction += s.friction;
            sum.prescribed += s.prescribed;
        }
        for (sum, s) in self.joints.iter_mut().zip(&trial.joints) {
            sum.impulse += s.impulse;
            sum.angular += s.angular;
            sum.prescribed += s.prescribed;
            sum.driven += s.driven;
        }
        for (sum, s) in self.yielding.iter_mut().zip(&trial.yielding) {
            sum.impulse += s.impulse;
            sum.damping += s.damping;
            sum.friction += s.friction;
            sum.prescribed += s.prescribed;
        }
        for (sum, s) in self.drag.iter_mut().zip(&trial.drag) {
            *sum += s;
        }
        for (sum, s) in self.external.iter_mut().zip(&trial.external) {
            *sum += s;
        }
        self.springs.add(&trial.springs);
        self.motors += trial.motors;
    }
}

/// The refusal of a contact that needs more substeps than there may be, with the limit of its explicit steps.
fn too_stiff(scene: &Scene<'_>, smooth: &Smooth, bodies: &[BodyState], left: f64) -> StepError {
    let mut limit = f64::INFINITY;
    let mut who = None;
    for y in &smooth.yielding {
        let c = &scene.contacts[y.contact as usize];
        let (a, b) = c.bodies();
        let inverse = |slot: usize| match smooth.node_of[slot] {
            NO_NODE => 0.0,
            n => smooth.system.nodes[n as usize].inverse_mass,
        };
        let mass = 1.0 / (inverse(a) + inverse(b)).max(f64::MIN_POSITIVE);
        let depth = -c.at(&bodies[a], &bodies[b]).gap;
        let one = y.law.explicit_limit(mass, depth.max(0.0));
        if depth > 0.0 && one < limit {
            (limit, who) = (one, Some((a, b)));
        }
    }
    let pair = who.map_or_else(String::new, |(a, b)| {
        let model = scene.model;
        format!(" of `{}` and `{}`", model.name(a), model.name(b))
    });
    StepError::Refused {
        reason: format!(
            "compliant contact{pair}: {left:e} s need more than `compliant_substeps`; explicit steps are stable below 2√(m/k) = {limit:e} s there"
        ),
    }
}

/// The memory of a piece: speeds of the contacts that touch, by key.
pub(crate) fn remember(
    scene: &Scene<'_>,
    smooth: &Smooth,
    bodies: &[BodyState],
    memory: &mut CompliantMemory,
    touch: f64,
) {
    memory.contacts.clear();
    for y in &smooth.yielding {
        let c = &scene.contacts[y.contact as usize];
        let (a, b) = c.bodies();
        if y.speed > 0.0 && c.at(&bodies[a], &bodies[b]).gap <= touch {
            memory.contacts.push(CompliantContact {
                key: c.key,
                speed: y.speed,
            });
        }
    }
    memory.contacts.sort_unstable_by_key(|m| m.key);
}

/// What a contact gave back of its stored energy over a piece [J].
pub(crate) fn given_back(c: &Contact, before: &[BodyState], after: &[BodyState]) -> f64 {
    stored_in(c, before) - stored_in(c, after)
}
