//! The certificate: what a step did and how far from right it is, the same for all methods.
//!
//! Reads: nothing.  Writes: filled by the method of the step; never read back by it.
//! Called by: users, recordings, validation.
//! Source: docs/methods/contract.md, "The certificate".

use crate::joint::JointId;
use crate::math::Vec3;
use crate::model::BodyId;
use crate::solver::choose::VISIT;

/// What one step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StepReport {
    /// Time at the end of the step [s].
    pub time: f64,
    /// Length of the step [s].
    pub dt: f64,
    /// Contact points that carried an impulse.
    pub contacts: usize,
    /// Contact points looked at, including near misses.
    pub candidates: usize,
    /// Impacts: contact points that arrived in this step and were given the impact law.
    pub collisions: usize,
    /// Largest penetration at the end of the step, of the contacts handled [m].
    pub penetration: f64,
    /// Largest penetration found by the detection at the start of the step [m].
    pub penetration_found: f64,
    /// Overlap left at contacts of bodies that prescribed surfaces press together, where no velocity meets all of them [m].
    pub squeezed: f64,
    /// How far the solution is from the conditions it should meet.
    pub residuals: Residuals,
    /// Work done by the solver.
    pub work: SolverWork,
    /// Touching pairs of different materials for which no pair was given.
    pub material_fallbacks: usize,
    /// Total momentum of the dynamic bodies at the end of the step [kg·m/s].
    pub momentum: Vec3,
    /// Total angular momentum of the dynamic bodies about the world origin [kg·m²/s].
    pub angular_momentum: Vec3,
    /// What moving bodies apart without velocity added to that [kg·m²/s].
    pub position_correction_moment: Vec3,
    /// Where the energy of this step went.
    pub energy: EnergyLedger,
    /// What errors of energy are measured by [J]: kinetic energy at the start of the step plus works put in, and not less than weight
    /// times size of the bodies.
    pub energy_scale: f64,
    /// What adaptive trees did; zeros if there are none.
    pub adaptive: AdaptiveReport,
}

/// What the adaptive trees of a world did in a step, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AdaptiveReport {
    /// Error estimate R: the score of all joints that are locked, `Σ w (q̇ + Δt q̈)²` as a rule, at the last choice
    /// [rad²/s²].
    pub residual: f64,
    /// How far R of a tree is above the error it was given [rad²/s²]; 0 where it is not.
    pub excess: f64,
    /// Joints that move.
    pub moving: usize,
    /// Joints that are locked.
    pub locked: usize,
    /// Joints above the budget that had to go on moving.
    pub over_budget: usize,
    /// Choices made in this step.
    pub selections: u32,
    /// How often the step was made again, with joints chosen for what newly touched a tree.
    pub again: u32,
}

impl StepReport {
    /// Takes in the report of the part of a step that follows: counts and transfers add up, worst values stay, values at the end are new.
    pub fn append(&mut self, part: &Self) {
        let mut energy = self.energy;
        energy.add(&part.energy);
        let mut work = self.work;
        work.add(&part.work);
        *self = Self {
            dt: self.dt + part.dt,
            contacts: self.contacts.max(part.contacts),
            candidates: self.candidates.max(part.candidates),
            collisions: self.collisions + part.collisions,
            penetration: part.penetration,
            penetration_found: self.penetration_found.max(part.penetration_found),
            squeezed: self.squeezed.max(part.squeezed),
            residuals: self.residuals.max(part.residuals),
            work,
            material_fallbacks: self.material_fallbacks.max(part.material_fallbacks),
            position_correction_moment: self.position_correction_moment
                + part.position_correction_moment,
            energy,
            energy_scale: self.energy_scale.max(part.energy_scale),
            ..*part
        };
    }
}

/// What a step must keep to be certified. All thresholds, in one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Penetration left at the end of the step [m].
    pub penetration: f64,
    /// Penetration that detection found at its start [m].
    pub penetration_found: f64,
    /// Approach speed left, or speed apart under load [m/s].
    pub complementarity: f64,
    /// Tangential impulse beyond the cone, relative to its bound [1].
    pub friction_cone: f64,
    /// Slip left at sticking contacts [m/s].
    pub stick_slip: f64,
    /// Worst row of a joint [m].
    pub joint_position: f64,
    /// Worst velocity left in a joint row [m/s].
    pub joint_velocity: f64,
    /// Energy gained, relative to the scale of the step [1].
    pub gained: f64,
    /// Energy unexplained, relative to the scale of the step [1].
    pub unexplained: f64,
}

/// The thresholds of [`StepReport::certified`]. Depth and complementarity are those that [Bender06] states for its funnel; the others
/// are of the same order for bodies of about a metre.
pub const CERTIFIED: Thresholds = Thresholds {
    penetration: 1e-4,
    penetration_found: 1e-3,
    complementarity: 1e-3,
    friction_cone: 1e-3,
    stick_slip: 1e-3,
    joint_position: 1e-4,
    joint_velocity: 1e-3,
    gained: 1e-6,
    unexplained: 1e-3,
};

/// Part of the thresholds of residuals below which a loop that ended at its limit has left nothing [1].
const MADE_GOOD: f64 = 0.01;

impl StepReport {
    /// Whether the step can be trusted: every residual, depth and energy error within [`CERTIFIED`], and no loop that ended at its limit
    /// without being made good. What a loop of the solver left is measured by the residuals: where all of them are below a hundredth of
    /// their thresholds it has been made good. Limits that leave no residual ([`SolverWork::caps_blind`]) always count.
    #[must_use]
    pub fn certified(&self) -> bool {
        self.missed().is_empty()
    }

    /// What keeps the step from being certified, by name; empty if it is.
    #[must_use]
    pub fn missed(&self) -> Vec<&'static str> {
        let (r, e, limit) = (&self.residuals, &self.energy, &CERTIFIED);
        let scale = self.energy_scale;
        let left = [
            (r.complementarity, limit.complementarity),
            (r.friction_cone, limit.friction_cone),
            (r.stick_slip, limit.stick_slip),
            (r.joint_position, limit.joint_position),
            (r.joint_velocity, limit.joint_velocity),
            (self.penetration, limit.penetration),
        ];
        let exact = left.iter().all(|(x, most)| *x <= MADE_GOOD * most);
        let caps = if exact {
            self.work.caps_blind()
        } else {
            self.work.caps_open()
        };
        let values = [
            ("penetration", self.penetration, limit.penetration),
            (
                "penetration_found",
                self.penetration_found,
                limit.penetration_found,
            ),
            ("squeezed", self.squeezed, limit.penetration),
            ("complementarity", r.complementarity, limit.complementarity),
            ("friction_cone", r.friction_cone, limit.friction_cone),
            ("stick_slip", r.stick_slip, limit.stick_slip),
            ("joint_position", r.joint_position, limit.joint_position),
            ("joint_velocity", r.joint_velocity, limit.joint_velocity),
            ("gained", e.gained, limit.gained * scale),
            (
                "unexplained",
                e.unexplained.abs(),
                limit.unexplained * scale,
            ),
            ("caps_hit", f64::from(caps), 0.0),
            ("adaptive_error", self.adaptive.excess, 0.0),
        ];
        // What is not a number is not within a limit either.
        let within = |value: f64, limit: f64| value <= limit;
        values
            .iter()
            .filter(|&&(_, value, limit)| !within(value, limit))
            .map(|v| v.0)
            .collect()
    }

    /// Whether every number of the report is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        let (r, e) = (&self.residuals, &self.energy);
        let numbers = [
            self.penetration,
            self.penetration_found,
            self.squeezed,
            r.complementarity,
            r.friction_cone,
            r.stick_slip,
            r.joint_position,
            r.joint_velocity,
            e.kinetic,
            e.potential,
            e.elastic,
            e.gravity,
            e.external,
            e.motors,
            e.prescribed,
            e.elastic_work,
            e.friction,
            e.restitution,
            e.drag,
            e.joint_friction,
            e.contact_damping,
            e.shock,
            e.numerical_damping,
            e.gained,
            e.hops,
            e.position_correction,
            e.unexplained,
            self.energy_scale,
            self.adaptive.residual,
            self.adaptive.excess,
        ];
        numbers.iter().all(|x| x.is_finite())
            && self.momentum.is_finite()
            && self.angular_momentum.is_finite()
    }
}

/// Distances from the contact and joint conditions, the worst of the step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Residuals {
    /// Normal conditions `0 ≤ P ⊥ u_n ≥ 0`: worst of approach speed left, and of speed apart under load [m/s].
    pub complementarity: f64,
    /// Tangential impulse beyond the friction cone, relative to its bound [1].
    pub friction_cone: f64,
    /// Slip left at sticking contacts, or direction error times slip at sliding ones [m/s].
    pub stick_slip: f64,
    /// Worst row of a joint: an axis of the distance of its anchors, how far it is beyond a limit, or of its axes times 1 m [m].
    pub joint_position: f64,
    /// Worst velocity left in a joint row [m/s].
    pub joint_velocity: f64,
}

impl Residuals {
    /// The worse of two steps, entry by entry.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            complementarity: self.complementarity.max(other.complementarity),
            friction_cone: self.friction_cone.max(other.friction_cone),
            stick_slip: self.stick_slip.max(other.stick_slip),
            joint_position: self.joint_position.max(other.joint_position),
            joint_velocity: self.joint_velocity.max(other.joint_velocity),
        }
    }
}

/// Work of the solver in one step: counts, never times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SolverWork {
    /// Sweeps over the contacts, all solves of the step together.
    pub sweeps: u32,
    /// Contact points visited by those sweeps.
    pub rows_swept: u64,
    /// Multiply–adds of direct solves, counted by blocks and rows.
    pub operations: u64,
    /// Parts that the step was divided into, 1 if it was not.
    pub substeps: u32,
    /// Newton steps of direct solves.
    pub newton_steps: u32,
    /// Loops that ended at their limit instead of at their tolerance.
    pub caps_hit: u32,
    /// Those of them whose work was made good later in the same step.
    pub caps_mended: u32,
    /// Those that are open and of loops whose shortfall is in the residuals: solves of a step's contacts and joints.
    pub caps_measured: u32,
    /// Groups of bodies that were slowed down by what they had gained from nothing, and islands whose impulses were taken back because
    /// they made bodies faster than anything there could.
    pub guarded: u32,
    /// Looks at near pairs (`events`).
    pub looks: u64,
    /// Changes of the heap of their times (`events`).
    pub heap_operations: u64,
    /// Contacts that came to rest (`events`).
    pub promotions: u32,
}

impl SolverWork {
    /// Loops that ended at their limit and were not made good.
    #[must_use]
    pub const fn caps_open(&self) -> u32 {
        self.caps_hit.saturating_sub(self.caps_mended)
    }

    /// Those of them that leave no residual: places not looked for, times not found, impacts not answered as the law says.
    #[must_use]
    pub const fn caps_blind(&self) -> u32 {
        self.caps_open().saturating_sub(self.caps_measured)
    }

    /// Multiply–adds of all solves: a visit of a contact by a sweep counts for [`THRESHOLDS`](crate::THRESHOLDS)' `VISIT`.
    #[must_use]
    pub fn counted(&self) -> f64 {
        VISIT * self.rows_swept as f64 + self.operations as f64
    }

    /// A loop ended at its limit, and residuals will tell what it left.
    pub(crate) const fn cap_measured(&mut self) {
        self.caps_hit += 1;
        self.caps_measured += 1;
    }

    /// No residual tells what was left by the loops that ended at a limit since the measured count was `measured`.
    pub(crate) const fn blind_since(&mut self, measured: u32) {
        if self.caps_measured > measured {
            self.caps_measured = measured;
        }
    }

    /// What ended at a limit since the open count was `open` has been made good. Of what was open before as much as possible is taken for
    /// blind: too little trust rather than too much.
    pub(crate) const fn mend_to(&mut self, open: u32) {
        let blind = self.caps_blind();
        self.caps_mended = self.caps_hit - open;
        self.caps_measured = open.saturating_sub(blind);
    }

    /// The work of an attempt that was given up: it counts, but its limits and substeps do not matter any more.
    pub(crate) const fn given_up(&self) -> Self {
        Self {
            substeps: 0,
            caps_mended: self.caps_hit,
            caps_measured: 0,
            ..*self
        }
    }

    /// Adds the counts of more work.
    pub(crate) const fn add(&mut self, more: &Self) {
        self.sweeps += more.sweeps;
        self.rows_swept += more.rows_swept;
        self.operations += more.operations;
        self.substeps += more.substeps;
        self.newton_steps += more.newton_steps;
        self.caps_hit += more.caps_hit;
        self.caps_mended += more.caps_mended;
        self.caps_measured += more.caps_measured;
        self.guarded += more.guarded;
        self.looks += more.looks;
        self.heap_operations += more.heap_operations;
        self.promotions += more.promotions;
    }
}

/// Energies at the end of a step and every transfer during it [J].
///
/// `kinetic`, `potential` and `elastic` are values; all other entries are transfers since the step (or, in the world's running ledger, since
/// the start). Works are positive into the bodies, losses are positive out of them. The account is
/// `Δkinetic = gravity + external + motors + prescribed + elastic_work − friction − restitution − drag − joint_friction
/// − contact_damping − shock − numerical_damping + position_correction + gained + hops + unexplained`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EnergyLedger {
    /// Kinetic energy of the dynamic bodies.
    pub kinetic: f64,
    /// Potential energy of the dynamic bodies in the gravity field, zero at the world origin.
    pub potential: f64,
    /// Energy stored in springs and compliant contacts.
    pub elastic: f64,
    /// Work of gravity.
    pub gravity: f64,
    /// Work of forces, torques and impulses that the user applied.
    pub external: f64,
    /// Work of motors.
    pub motors: f64,
    /// Work of bodies with prescribed motion.
    pub prescribed: f64,
    /// Work of springs and of compliant contacts without their damping: minus the change of `elastic`.
    pub elastic_work: f64,
    /// Loss to friction (sliding, rolling and spinning).
    pub friction: f64,
    /// Loss in normal direction at contacts: what restitution below one takes.
    pub restitution: f64,
    /// Loss to drag.
    pub drag: f64,
    /// Loss to friction in joints.
    pub joint_friction: f64,
    /// Loss to the damping of compliant contacts.
    pub contact_damping: f64,
    /// Plastic loss where joints, limits or prescribed bodies change velocities at once.
    pub shock: f64,
    /// Loss to the numerical method itself: implicit stiffness, the error of second order of springs and of motion on joints (which goes
    /// both ways), locking, regularisation, falling asleep.
    pub numerical_damping: f64,
    /// Energy that impulses made from nothing: the positive part of the balance of bodies that exchange impulses, over whole substeps.
    pub gained: f64,
    /// Energy that the least rebound of micro-collisions brings in (`events` without promotion).
    pub hops: f64,
    /// Energy brought in by moving bodies apart without velocity.
    pub position_correction: f64,
    /// What remains: numerical error.
    pub unexplained: f64,
}

impl EnergyLedger {
    /// Kinetic, potential and elastic energy [J].
    #[must_use]
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential + self.elastic
    }

    /// Adds the transfers of one more step and takes over its energies.
    pub fn add(&mut self, step: &Self) {
        self.kinetic = step.kinetic;
        self.potential = step.potential;
        self.elastic = step.elastic;
        self.gravity += step.gravity;
        self.external += step.external;
        self.motors += step.motors;
        self.prescribed += step.prescribed;
        self.elastic_work += step.elastic_work;
        self.friction += step.friction;
        self.restitution += step.restitution;
        self.drag += step.drag;
        self.joint_friction += step.joint_friction;
        self.contact_damping += step.contact_damping;
        self.shock += step.shock;
        self.numerical_damping += step.numerical_damping;
        self.gained += step.gained;
        self.hops += step.hops;
        self.position_correction += step.position_correction;
        self.unexplained += step.unexplained;
    }
}

/// Parts of a step, in their order; a step in several parts goes through them again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Phase {
    /// Finding contacts.
    Detect,
    /// Answering what collides (`iterative`), and making rows.
    Collide,
    /// Impulses of contacts and joints that make positions right at the end.
    Rest,
    /// Motion and the pose-only pass.
    Move,
    /// Making velocities right at the end.
    Project,
    /// Memory, events, forces and the account; whatever follows.
    Finish,
}

/// What one contact point carried in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactForce {
    /// Body A; the normal points from A to B.
    pub body_a: BodyId,
    /// Body B.
    pub body_b: BodyId,
    /// Which shape of A.
    pub shape_a: u32,
    /// Which shape of B.
    pub shape_b: u32,
    /// Names the touching features; stable while the same features touch.
    pub feature_id: u32,
    /// Contact point at the end of the step, world [m].
    pub point: Vec3,
    /// Unit normal from A to B at the end of the step.
    pub normal: Vec3,
    /// Gap at the end of the step [m].
    pub gap: f64,
    /// Normal part of the impulse on B, all impulses of the step together [N·s].
    pub normal_impulse: f64,
    /// Tangential part of the impulse on B [N·s].
    pub tangential_impulse: Vec3,
    /// Whether the contact slides (else it sticks).
    pub sliding: bool,
    /// Length of the step the impulses belong to [s].
    pub dt: f64,
}

impl ContactForce {
    /// Names the contact, in the order that contacts are listed in.
    pub(crate) const fn key(&self) -> (BodyId, BodyId, u32, u32, u32) {
        let Self {
            body_a,
            body_b,
            shape_a,
            shape_b,
            feature_id,
            ..
        } = *self;
        (body_a, body_b, shape_a, shape_b, feature_id)
    }

    /// The impulse on B [N·s].
    #[must_use]
    pub fn impulse(&self) -> Vec3 {
        self.normal * self.normal_impulse + self.tangential_impulse
    }

    /// Mean force on B over the step [N].
    #[must_use]
    pub fn force(&self) -> Vec3 {
        self.impulse() / self.dt
    }
}

/// What one joint carried in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointForce {
    /// Which joint.
    pub joint: JointId,
    /// Mean force on B [N].
    pub force: Vec3,
    /// Mean torque on B about the joint's origin on B [N·m].
    pub torque: Vec3,
    /// Angle of the rotation about z, counted through full turns [rad]; 0 for kinds without.
    pub angle: f64,
    /// Displacement along z, or distance [m]; 0 for kinds without.
    pub displacement: f64,
}

/// Something that began, ended or hit, in a fixed order: by kind, then by bodies, shapes and feature.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// When, inside the step [s].
    pub time: f64,
    /// Body A.
    pub body_a: BodyId,
    /// Body B.
    pub body_b: BodyId,
    /// Which shape of A.
    pub shape_a: u32,
    /// Which shape of B.
    pub shape_b: u32,
    /// Where, world [m]; zero for `End` and `SensorEnd`.
    pub point: Vec3,
    /// Speed of approach for `Impact` [m/s], else 0.
    pub speed: f64,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum EventKind {
    /// Two shapes began to touch.
    Begin,
    /// Two shapes no longer touch.
    End,
    /// A contact arrived and was given the impact law.
    Impact,
    /// A shape entered a sensor.
    SensorBegin,
    /// A shape left a sensor.
    SensorEnd,
    /// A joint broke and is gone. Body A is body B where A was the world.
    JointBreak,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_limits_that_leave_residuals_are_made_good_by_small_ones() {
        let mut report = StepReport::default();
        report.work.cap_measured();
        assert!(report.certified());
        report.residuals.complementarity = 0.5 * CERTIFIED.complementarity;
        assert_eq!(report.missed(), ["caps_hit"]);
        report.residuals.complementarity = 0.0;
        report.work.caps_hit += 1;
        assert_eq!(report.missed(), ["caps_hit"]);
    }

    #[test]
    fn mending_never_hides_a_blind_limit_from_before() {
        let mut work = SolverWork {
            caps_hit: 1,
            ..SolverWork::default()
        };
        let open = work.caps_open();
        work.cap_measured();
        assert_eq!((work.caps_open(), work.caps_blind()), (2, 1));
        work.mend_to(open);
        assert_eq!((work.caps_open(), work.caps_blind()), (1, 1));
        assert_eq!(work.given_up().caps_blind(), 0);
        let measured = work.caps_measured;
        work.cap_measured();
        work.blind_since(measured);
        assert_eq!((work.caps_open(), work.caps_blind()), (2, 2));
    }
}
