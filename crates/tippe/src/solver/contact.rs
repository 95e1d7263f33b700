//! One contact as three coupled rows (normal and two tangents), and its visit by a Gauss–Seidel sweep.
//!
//! Reads: placements of contacts, masses.  Writes: solver bodies' velocities, accumulated impulses.
//! Called by: `two_stage::targets` builds; `sweep` and `direct` visit (friction is projected in `visit`); `two_stage::book` reads.
//! Source: [Lecture] "Impulse Update", [Catto05]; letters: r levers, n normal A → B, t tangents, K with Δu = K P.

#![allow(non_snake_case)]

use crate::collide::Placement;
use crate::fault::{self, Fault};
use crate::material::Surface;
use crate::math::{Mat3, Vec3, tangents};
use crate::solver::ends::{Bodies, SolverBody, acting_point, matrix};
use crate::solver::problem::Friction;
use crate::state::Impulse;

/// Response below which a direction of a link counts as immovable, relative to the largest [1].
const IMMOVABLE: f64 = 1e-12;
/// Slip that counts as sliding [m/s]: well above what a solve leaves at a contact that sticks.
const SLIP_MIN: f64 = 1e-5;

/// Friction against rolling and spinning at one contact.
#[derive(Clone, Copy, Debug)]
struct AngularFriction {
    /// Bounds per normal impulse: about tangents, about the normal [m].
    roll: f64,
    spin: f64,
    /// Largest eigenvalue bound of the angular response [1/(kg·m²)].
    response: f64,
}

impl AngularFriction {
    fn of(surface: &Surface, radius: f64, bodies: [&SolverBody; 2]) -> Self {
        let (roll, spin) = (
            surface.friction_rolling * radius,
            surface.friction_spinning * radius,
        );
        let response = if roll == 0.0 && spin == 0.0 {
            0.0
        } else {
            bodies.map(|b| norm_bound(b.inverse_inertia)).iter().sum()
        };
        Self {
            roll,
            spin,
            response,
        }
    }
}

/// A contact in one of the two solves of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactRow {
    pub a: u32,
    pub b: u32,
    pub n: Vec3,
    pub(crate) t1: Vec3,
    pub(crate) t2: Vec3,
    pub r_a: Vec3,
    pub r_b: Vec3,
    /// K in the frame (n, t1, t2): nn, n1, n2.
    pub(super) k_n: Vec3,
    /// Inverse of the tangential block: 11, 12, 22.
    pub(super) k_t_inverse: Vec3,
    /// 1 / largest eigenvalue of the tangential block [kg].
    pub(super) step_t: f64,
    /// Normal velocity to reach or exceed [m/s].
    pub target_n: f64,
    /// Tangential velocity to reach, in (t1, t2) [m/s].
    pub target_t: [f64; 2],
    /// Cone: the bound of the tangential impulse is μ times the normal one.
    friction_static: f64,
    friction_kinetic: f64,
    slip_speed: f64,
    angular: AngularFriction,
    /// Accumulated impulses [N·s], [N·m·s].
    pub p_n: f64,
    p_t: [f64; 2],
    p_w: Vec3,
    /// Slides (bound by the kinetic coefficient) or sticks (bound by the static one).
    pub sliding: bool,
    /// Whether an end is a link: its tree answers.
    pub linked: bool,
}

impl ContactRow {
    /// The rows of a contact at a placement, between bodies whose centres of mass are at `x_a` and `x_b`.
    pub(crate) fn new(
        (a, b): (u32, u32),
        place: &Placement,
        (x_a, x_b): (Vec3, Vec3),
        bodies: &Bodies,
        surface: &Surface,
        rolling_radius: f64,
    ) -> Self {
        let point = acting_point(bodies, (a as usize, b as usize), place);
        let levers = (point - x_a, point - x_b);
        Self::with_levers(
            (a, b),
            place.normal,
            levers,
            bodies,
            surface,
            rolling_radius,
        )
    }

    /// Whether it has no friction along the tangents.
    pub(crate) fn is_smooth(&self) -> bool {
        self.friction_static == 0.0 && self.friction_kinetic == 0.0
    }

    /// The rows of a contact with a normal, at levers from the centres of mass.
    pub(crate) fn with_levers(
        (a, b): (u32, u32),
        n: Vec3,
        (r_a, r_b): (Vec3, Vec3),
        bodies: &Bodies,
        surface: &Surface,
        rolling_radius: f64,
    ) -> Self {
        let (body_a, body_b) = (&bodies[a as usize], &bodies[b as usize]);
        let (t1, t2) = tangents(n);
        let (k_n, k_t_inverse, step_t) = response([n, t1, t2], (r_a, r_b), body_a, body_b);
        let mut row = Self {
            a,
            b,
            n,
            t1,
            t2,
            r_a,
            r_b,
            k_n,
            k_t_inverse,
            step_t,
            target_n: 0.0,
            target_t: [0.0; 2],
            friction_static: surface.friction_static,
            friction_kinetic: surface.friction_kinetic,
            slip_speed: surface.slip_speed,
            angular: AngularFriction::of(surface, rolling_radius, [body_a, body_b]),
            p_n: 0.0,
            p_t: [0.0; 2],
            p_w: Vec3::ZERO,
            sliding: false,
            linked: false,
        };
        if bodies.linked(a, b) {
            row.use_trees(bodies);
        }
        row
    }

    /// Where an end is a link, the responses are those of its tree; directions that no joint allows stay still.
    fn use_trees(&mut self, bodies: &Bodies) {
        self.linked = true;
        let (a, b) = (self.a, self.b);
        let K = self.tree_response(bodies);
        let axes = [self.n, self.t1, self.t2];
        let k = |i: usize, j: usize| 0.5 * (axes[i].dot(K * axes[j]) + axes[j].dot(K * axes[i]));
        let (k11, k12, k22) = (k(1, 1), k(1, 2), k(2, 2));
        let spread = (0.25 * (k11 - k22) * (k11 - k22) + k12 * k12).sqrt();
        let largest = 0.5 * (k11 + k22) + spread;
        let det = k11 * k22 - k12 * k12;
        let size = norm_bound(K);
        self.k_n = Vec3::new(k(0, 0), k(0, 1), k(0, 2));
        if self.k_n.x <= IMMOVABLE * size || size == 0.0 {
            self.k_n = Vec3::new(f64::MAX, 0.0, 0.0);
        }
        if largest <= IMMOVABLE * size || size == 0.0 {
            // Nothing gives way along the surface.
            self.k_t_inverse = Vec3::ZERO;
            self.step_t = 1.0 / self.k_n.x;
        } else {
            self.step_t = 1.0 / largest;
            self.k_t_inverse = if det > IMMOVABLE * largest * largest {
                Vec3::new(k22, -k12, k11) / det
            } else {
                // One direction alone: K = λ e eᵀ, and K/λ² is its inverse there.
                Vec3::new(k11, k12, k22) / (largest * largest)
            };
        }
        self.angular.response = norm_bound(matrix(|d| {
            let (d_a, d_b) = bodies.answer(a, b, (Vec3::ZERO, -d), (Vec3::ZERO, d));
            d_b.1 - d_a.1
        }));
    }

    /// Whether no joint of its trees lets it move along its normal: no impulse answers it.
    pub(crate) fn is_immovable(&self) -> bool {
        self.k_n.x == f64::MAX
    }

    /// Takes a part of the impulses back, from the bodies too.
    pub(crate) fn take_back(&mut self, part: f64, bodies: &mut Bodies) {
        self.push(-self.impulse() * part, -self.p_w * part, bodies);
        let left = 1.0 - part;
        self.p_n *= left;
        self.p_t = self.p_t.map(|p| p * left);
        self.p_w *= left;
    }

    /// The impulse and the moment on B that would stop slip, relative spin and parting of the contact, were it alone; of what it gave along the
    /// normal at most `pushed` is taken back, along the surface friction is the bound.
    pub(crate) fn brake(&self, pushed: f64, bodies: &Bodies) -> (Vec3, Vec3) {
        let u = self.velocity(bodies);
        let rough = !self.is_smooth();
        let slip = if rough {
            self.friction_kinetic.max(self.friction_static) * pushed.max(0.0)
        } else {
            0.0
        };
        let slip = ((u - self.n * u.dot(self.n)) * self.step_t).clamp_length_max(slip);
        let parting = (u.dot(self.n).max(0.0) / self.k_n.x).min(pushed.max(0.0));
        let turn = |slot: u32| {
            let j = bodies[slot as usize].inverse_inertia;
            j.x_axis.x + j.y_axis.y + j.z_axis.z
        };
        let spins = turn(self.a) + turn(self.b);
        let W = if rough && spins > 0.0 {
            self.spin(bodies) / -spins
        } else {
            Vec3::ZERO
        };
        (-slip - self.n * parting, W)
    }

    /// Work that the prescribed side of the contact does by an impulse and a moment on B, the opposite on A [J].
    pub(crate) fn braking_work(&self, P: Vec3, W: Vec3, bodies: &Bodies) -> f64 {
        let side = |slot: u32, r: Vec3| {
            let body = &bodies[slot as usize];
            if body.inverse_mass > 0.0 {
                0.0
            } else {
                P.dot(body.at(r)) + W.dot(body.w)
            }
        };
        side(self.a, self.r_a) - side(self.b, self.r_b)
    }

    /// K of a contact with an end on a tree [1/kg].
    pub(crate) fn tree_response(&self, bodies: &Bodies) -> Mat3 {
        let (a, b, r_a, r_b) = (self.a, self.b, self.r_a, self.r_b);
        let K = matrix(|d| {
            let (d_a, d_b) = bodies.answer(a, b, (-d, -r_a.cross(d)), (d, r_b.cross(d)));
            d_b.0 + d_b.1.cross(r_b) - d_a.0 - d_a.1.cross(r_a)
        });
        (K + K.transpose()) * 0.5
    }

    /// +P and the moment +W on B, the opposite on A, through the trees.
    fn push_trees(&self, P: Vec3, W: Vec3, bodies: &mut Bodies) {
        bodies.push(self.a, -P, -self.r_a.cross(P) - W);
        bodies.push(self.b, P, self.r_b.cross(P) + W);
    }

    /// Takes the response of bodies whose masses are not those that the row was made with.
    pub(crate) fn respond(&mut self, bodies: &[SolverBody]) {
        (self.k_n, self.k_t_inverse, self.step_t) = response(
            [self.n, self.t1, self.t2],
            (self.r_a, self.r_b),
            &bodies[self.a as usize],
            &bodies[self.b as usize],
        );
    }

    /// Velocity in the frame (n, t1, t2), less the targets if `aimed`.
    pub(crate) fn missed(&self, bodies: &[SolverBody], aimed: bool) -> Vec3 {
        let u = self.velocity(bodies);
        let u = Vec3::new(u.dot(self.n), u.dot(self.t1), u.dot(self.t2));
        if aimed {
            u - Vec3::new(self.target_n, self.target_t[0], self.target_t[1])
        } else {
            u
        }
    }

    /// Whether it bears nothing and has nothing to answer.
    pub(crate) fn is_apart(&self, bodies: &[SolverBody]) -> bool {
        self.is_idle() && self.velocity(bodies).dot(self.n) >= self.target_n
    }

    /// Velocity of B relative to A at the contact.
    pub(crate) fn velocity(&self, bodies: &[SolverBody]) -> Vec3 {
        bodies[self.b as usize].at(self.r_b) - bodies[self.a as usize].at(self.r_a)
    }

    /// Angular velocity of B relative to A.
    pub(crate) fn spin(&self, bodies: &[SolverBody]) -> Vec3 {
        bodies[self.b as usize].w - bodies[self.a as usize].w
    }

    /// Components of a world vector along the two tangents.
    pub(crate) fn tangential(&self, x: Vec3) -> [f64; 2] {
        [x.dot(self.t1), x.dot(self.t2)]
    }

    /// Impulse on B in world axes [N·s].
    pub(crate) fn impulse(&self) -> Vec3 {
        self.n * self.p_n + self.tangential_impulse()
    }

    pub(crate) fn tangential_impulse(&self) -> Vec3 {
        self.t1 * self.p_t[0] + self.t2 * self.p_t[1]
    }

    /// Angular impulse on B in world axes [N·m·s].
    pub(crate) const fn angular_impulse(&self) -> Vec3 {
        self.p_w
    }

    /// What the next step's warm start needs.
    pub(crate) fn memory(&self) -> Impulse {
        Impulse {
            normal: self.p_n,
            tangential: self.tangential_impulse(),
            angular: self.p_w,
        }
    }

    /// Starts from a remembered impulse, turned into this row's tangent plane, and applies it.
    pub(crate) fn warm_start(&mut self, memory: &Impulse, bodies: &mut Bodies) {
        if *memory == Impulse::default() {
            return;
        }
        self.p_n = memory.normal;
        self.p_t = self.tangential(memory.tangential);
        self.p_w = memory.angular;
        self.push(self.impulse(), self.p_w, bodies);
    }

    fn push(&self, P: Vec3, W: Vec3, bodies: &mut Bodies) {
        if self.linked {
            self.push_trees(P, W, bodies);
            return;
        }
        let bodies = &mut bodies.flat;
        self.push_bodies(P, bodies);
        let a = &mut bodies[self.a as usize];
        a.w -= a.inverse_inertia * W;
        let b = &mut bodies[self.b as usize];
        b.w += b.inverse_inertia * W;
    }

    /// +P on B, −P on A.
    fn push_bodies(&self, P: Vec3, bodies: &mut [SolverBody]) {
        bodies[self.a as usize].push(-P, self.r_a);
        let P = if fault::active(Fault::HalfImpulse) {
            P * 0.5
        } else {
            P
        };
        bodies[self.b as usize].push(P, self.r_b);
    }

    /// The accumulated impulse in the frame (n, t1, t2) [N·s].
    pub(crate) const fn frame_impulse(&self) -> Vec3 {
        Vec3::new(self.p_n, self.p_t[0], self.p_t[1])
    }

    /// All resistance of the contact, with the coefficient of its present state.
    pub(super) fn resistance(&self) -> Friction {
        Friction {
            sliding: self.friction(),
            rolling: self.angular.roll,
            spinning: self.angular.spin,
            slip_speed: self.slip_speed,
        }
    }

    /// Angular impulse in the order (t1, t2, n).
    pub(super) fn frame_torque(&self) -> Vec3 {
        Vec3::new(
            self.p_w.dot(self.t1),
            self.p_w.dot(self.t2),
            self.p_w.dot(self.n),
        )
    }

    /// Replaces impulse and angular impulse, given in the frame, and gives the ends the difference.
    pub(super) fn exchange(&mut self, p: Vec3, torque: Vec3, bodies: &mut Bodies) {
        let d = p - self.frame_impulse();
        let w = self.t1 * torque.x + self.t2 * torque.y + self.n * torque.z;
        let P = self.n * d.x + self.t1 * d.y + self.t2 * d.z;
        self.push(P, w - self.p_w, bodies);
        self.set_frame_impulse(p);
        self.p_w = w;
    }

    /// Replaces the accumulated impulse; the bodies are the caller's.
    pub(super) const fn set_frame_impulse(&mut self, p: Vec3) {
        self.p_n = p.x;
        self.p_t = [p.y, p.z];
    }

    /// Adds to the accumulated impulse, given in the frame (n, t1, t2), whatever the cone says: the next visit mends that.
    pub(crate) fn extrapolate(&mut self, d: Vec3, bodies: &mut Bodies) {
        self.p_n += d.x;
        self.p_t = [self.p_t[0] + d.y, self.p_t[1] + d.z];
        let P = self.n * d.x + self.t1 * d.y + self.t2 * d.z;
        if self.linked {
            self.push_trees(P, Vec3::ZERO, bodies);
            return;
        }
        self.push_bodies(P, &mut bodies.flat);
    }

    /// Size of an impulse in this row's frame as energy: its square times the diagonal of K [J].
    pub(crate) fn energy_norm(&self, d: Vec3) -> f64 {
        d.x * d.x * self.k_n.x + (d.y * d.y + d.z * d.z) / self.step_t
    }

    /// An impulse of the frame (n, t1, t2) in world axes.
    pub(crate) fn world(&self, p: Vec3) -> Vec3 {
        self.n * p.x + self.t1 * p.y + self.t2 * p.z
    }

    /// A world vector in the frame (n, t1, t2).
    pub(crate) fn frame(&self, x: Vec3) -> Vec3 {
        Vec3::new(x.dot(self.n), x.dot(self.t1), x.dot(self.t2))
    }

    /// Response along the normal, nᵀ K n [1/kg].
    pub(crate) const fn response_n(&self) -> f64 {
        self.k_n.x
    }

    /// Forgets the accumulated impulse; the bodies are the caller's.
    pub(crate) const fn clear(&mut self) {
        self.p_n = 0.0;
        self.p_t = [0.0; 2];
        self.p_w = Vec3::ZERO;
    }

    pub(crate) const fn lever_a(&self) -> Vec3 {
        self.r_a
    }

    pub(crate) const fn lever_b(&self) -> Vec3 {
        self.r_b
    }

    /// Whether the row has nothing but a normal and ideal Coulomb friction.
    pub(crate) fn is_plain(&self) -> bool {
        self.slip_speed == 0.0 && self.angular.roll == 0.0 && self.angular.spin == 0.0
    }

    /// Largest tangential impulse that the present normal impulse allows [N·s].
    pub(crate) fn friction_bound(&self) -> f64 {
        self.friction() * self.p_n
    }

    /// The friction coefficient in force.
    pub(crate) fn friction(&self) -> f64 {
        if self.sliding {
            self.friction_kinetic
        } else {
            self.friction_static
        }
    }

    /// One Gauss–Seidel visit: normal, then friction, then rolling. Returns the change of velocity it made [m/s].
    pub(crate) fn visit(&mut self, bodies: &mut Bodies) -> f64 {
        let u = self.velocity(bodies);
        // Normal: 0 ≤ P_n ⊥ u_n − target ≥ 0.
        let wanted = self.p_n + (self.target_n - u.dot(self.n)) / self.k_n.x;
        if wanted <= 0.0 && self.is_idle() {
            return 0.0;
        }
        let p_n = wanted.max(0.0);
        let d_n = p_n - self.p_n;
        self.p_n = p_n;
        // Friction sees the normal impulse just made, through K.
        let u_t = [
            u.dot(self.t1) + self.k_n.y * d_n - self.target_t[0],
            u.dot(self.t2) + self.k_n.z * d_n - self.target_t[1],
        ];
        let p_t = self.friction_impulse(u_t);
        let d_t = [p_t[0] - self.p_t[0], p_t[1] - self.p_t[1]];
        self.p_t = p_t;
        let P = self.n * d_n + self.t1 * d_t[0] + self.t2 * d_t[1];
        if self.linked {
            self.push_trees(P, Vec3::ZERO, bodies);
        } else {
            self.push_bodies(P, &mut bodies.flat);
        }
        let mut change = (d_n * self.k_n.x)
            .abs()
            .max((d_t[0].abs() + d_t[1].abs()) / self.step_t);
        if self.angular.roll > 0.0 || self.angular.spin > 0.0 {
            change = change.max(self.visit_angular(bodies));
        }
        change
    }

    /// Whether the row carries nothing, so that nothing has to be taken back when it stays open.
    pub(super) fn is_idle(&self) -> bool {
        self.p_n == 0.0 && self.p_t == [0.0; 2] && self.p_w == Vec3::ZERO
    }

    /// The tangential impulse that answers the slip `u_t`, within the cone of the present normal impulse.
    fn friction_impulse(&self, u_t: [f64; 2]) -> [f64; 2] {
        let bound = self.friction() * self.p_n;
        if bound <= 0.0 {
            return [0.0; 2];
        }
        if self.slip_speed > 0.0 {
            return self.regularised(u_t, bound);
        }
        // Stick: the whole 2×2 block at once.
        let k = self.k_t_inverse;
        let stick = [
            self.p_t[0] - (k.x * u_t[0] + k.y * u_t[1]),
            self.p_t[1] - (k.y * u_t[0] + k.z * u_t[1]),
        ];
        if length(stick) <= bound {
            return stick;
        }
        // Slide: projected gradient, whose fixed point has the friction exactly against the slip, for any K.
        let s = self.step_t;
        let slide = [self.p_t[0] - s * u_t[0], self.p_t[1] - s * u_t[1]];
        if fault::active(Fault::FrictionPyramid) {
            return boxed(slide, bound);
        }
        let size = length(slide);
        if size <= bound {
            return slide;
        }
        [slide[0] * (bound / size), slide[1] * (bound / size)]
    }

    /// Friction −bound u/√(u² + ε²), implicit in the slip u it leaves: with k = 1/step the free slip is z = u_t − k P_t.
    fn regularised(&self, u_t: [f64; 2], bound: f64) -> [f64; 2] {
        let k = 1.0 / self.step_t;
        let z = [u_t[0] - k * self.p_t[0], u_t[1] - k * self.p_t[1]];
        let size = length(z);
        if size == 0.0 {
            return [0.0; 2];
        }
        let slip = regularised_slip(size, k * bound, self.slip_speed);
        let p = -bound * slip / (slip * slip + self.slip_speed * self.slip_speed).sqrt();
        [p * z[0] / size, p * z[1] / size]
    }

    fn visit_angular(&mut self, bodies: &mut Bodies) -> f64 {
        let w = self.spin(bodies);
        let k = self.angular.response;
        let wanted = self.p_w - w / k;
        let along = wanted.dot(self.n);
        let spin_bound = self.angular.spin * self.p_n;
        let roll = wanted - self.n * along;
        let roll_size = roll.length();
        let roll_bound = self.angular.roll * self.p_n;
        let roll = if roll_size > roll_bound {
            roll * (roll_bound / roll_size)
        } else {
            roll
        };
        let p_w = self.n * along.max(-spin_bound).min(spin_bound) + roll;
        let d = p_w - self.p_w;
        self.p_w = p_w;
        if self.linked {
            self.push_trees(Vec3::ZERO, d, bodies);
            return d.length() * k * self.r_b.length().max(self.r_a.length());
        }
        let a = &mut bodies[self.a as usize];
        a.w -= a.inverse_inertia * d;
        let b = &mut bodies[self.b as usize];
        b.w += b.inverse_inertia * d;
        d.length() * k * self.r_b.length().max(self.r_a.length())
    }

    /// Whether a sticking contact must begin to slide: friction at its static bound does not hold it.
    pub(crate) fn slips(&self, bodies: &[SolverBody]) -> bool {
        !self.sliding && self.friction_kinetic < self.friction_static && self.slides(bodies)
    }

    /// Whether the contact slides: friction is at its bound, and slip is left. At its bound without slip it bears what it can while
    /// its neighbours bear the rest.
    pub(crate) fn slides(&self, bodies: &[SolverBody]) -> bool {
        if self.p_n <= 0.0 || length(self.p_t) < self.friction_bound() * (1.0 - 1e-9) {
            return false;
        }
        let u_t = self.tangential(self.velocity(bodies));
        let slip = [u_t[0] - self.target_t[0], u_t[1] - self.target_t[1]];
        length(slip) > SLIP_MIN
    }

    /// Work of sides with infinite mass: `P · u` of their own surface, into the other body [J].
    pub(crate) fn prescribed_work(&self, bodies: &[SolverBody]) -> f64 {
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        let (P, W) = (self.impulse(), self.p_w);
        let mut work = 0.0;
        if a.inverse_mass == 0.0 {
            work += P.dot(a.at(self.r_a)) + W.dot(a.w);
        }
        if b.inverse_mass == 0.0 {
            work -= P.dot(b.at(self.r_b)) + W.dot(b.w);
        }
        work
    }

    /// Distances from the conditions this row should meet: complementarity [m/s], cone [1], stick or slip [m/s].
    pub(crate) fn residuals(&self, bodies: &[SolverBody]) -> [f64; 3] {
        let u = self.velocity(bodies);
        let u_n = u.dot(self.n) - self.target_n;
        let normal = if self.p_n > 0.0 {
            u_n.abs()
        } else {
            (-u_n).max(0.0)
        };
        if self.p_n == 0.0 {
            return [normal, 0.0, 0.0];
        }
        let bound = self.friction() * self.p_n;
        let size = length(self.p_t);
        let cone = if bound > 0.0 {
            (size / bound - 1.0).max(0.0)
        } else {
            0.0
        };
        let u_t = [
            u.dot(self.t1) - self.target_t[0],
            u.dot(self.t2) - self.target_t[1],
        ];
        let p_t = self.friction_impulse(u_t);
        let tangential = length([p_t[0] - self.p_t[0], p_t[1] - self.p_t[1]]) / self.step_t;
        [normal, cone, tangential]
    }
}

/// Root s ≥ 0 of `s + f s/√(s² + ε²) = z`, by Newton from above (the left side is increasing).
fn regularised_slip(z: f64, f: f64, epsilon: f64) -> f64 {
    // Newton on a concave-convex function stays inside this bracket by bisection where it would leave it.
    let (mut low, mut high) = ((z - f).max(0.0), z);
    let mut s = high.min((z / (1.0 + f / epsilon)).max(low));
    for _ in 0..60 {
        let root = (s * s + epsilon * epsilon).sqrt();
        let value = s + f * s / root - z;
        if value > 0.0 {
            high = s
        } else {
            low = s
        }
        let slope = 1.0 + f * epsilon * epsilon / (root * root * root);
        let next = s - value / slope;
        let next = if next > low && next < high {
            next
        } else {
            0.5 * (low + high)
        };
        if (next - s).abs() <= 1e-15 * z {
            return next;
        }
        s = next;
    }
    s
}

/// K in the frame of three axes: its normal row, the inverse of its tangential block (11, 12, 22), and 1 / the largest eigenvalue of that block.
fn response(
    axes: [Vec3; 3],
    (r_a, r_b): (Vec3, Vec3),
    body_a: &SolverBody,
    body_b: &SolverBody,
) -> (Vec3, Vec3, f64) {
    let (c_a, c_b) = (axes.map(|d| r_a.cross(d)), axes.map(|d| r_b.cross(d)));
    let (j_a, j_b) = (
        c_a.map(|c| body_a.inverse_inertia * c),
        c_b.map(|c| body_b.inverse_inertia * c),
    );
    let mass = body_a.inverse_mass + body_b.inverse_mass;
    let k = |i: usize, j: usize| if i == j { mass } else { 0.0 } + c_a[i].dot(j_a[j]) + c_b[i].dot(j_b[j]);
    let (k11, k12, k22) = (k(1, 1), k(1, 2), k(2, 2));
    let det = k11 * k22 - k12 * k12;
    let spread = (0.25 * (k11 - k22) * (k11 - k22) + k12 * k12).sqrt();
    let largest = 0.5 * (k11 + k22) + spread;
    (
        Vec3::new(k(0, 0), k(0, 1), k(0, 2)),
        Vec3::new(k22, -k12, k11) * (1.0 / det),
        1.0 / largest,
    )
}

fn length(x: [f64; 2]) -> f64 {
    (x[0] * x[0] + x[1] * x[1]).sqrt()
}

/// Each component within the bound for itself: the base of a friction pyramid.
fn boxed(x: [f64; 2], bound: f64) -> [f64; 2] {
    x.map(|c| c.max(-bound).min(bound))
}

/// An upper bound of the largest eigenvalue of a symmetric matrix: its largest absolute column sum.
fn norm_bound(m: Mat3) -> f64 {
    let column = |c: Vec3| c.x.abs() + c.y.abs() + c.z.abs();
    column(m.x_axis).max(column(m.y_axis)).max(column(m.z_axis))
}
