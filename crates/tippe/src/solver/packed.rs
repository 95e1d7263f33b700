//! Sweeps over a large island of plain contacts, eight contacts at once.
//!
//! Reads: rows, solver bodies.  Writes: their impulses and velocities, work counts.
//! Called by: `sweep`, in place of visits one by one.
//! Source: visits as in `row`, acceleration as in `sweep` ([Silcowitz10]). A batch holds eight contacts that share no body of finite mass;
//! contacts that share one keep their order, so that a sweep that looks at all does what visits one by one in that order would do. Batches
//! that nothing presses sleep and are looked at now and then; long sweeps carry momentum ([Nesterov83]).

#![allow(non_snake_case)]

use crate::fault::{self, Fault};
use crate::math::lanes::{Eight, Eight3, F8, LANES, Lanes, OnLanes, eight, on_best};
use crate::math::{Mat3, Vec3};
use crate::solver::batch_colouring::Seats;
use crate::solver::choose::{MOMENTUM_SWEEPS, PACKED_CONTACTS, PACKED_SWEEPS};
use crate::solver::contact::ContactRow;
use crate::solver::ends::SolverBody;

/// No row, no body.
const NONE: u32 = u32::MAX;
/// Body of empty lanes: fixed, at rest.
const NOBODY: u32 = 0;

/// Three components, eight of each.
pub(crate) type V8 = [F8; 3];

/// Velocities of a body, or their change: v, ω, and two numbers for the sake of a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Motion([f64; 8]);

impl Motion {
    fn of(body: &SolverBody) -> Self {
        let (v, w) = (body.v, body.w);
        Self([v.x, v.y, v.z, w.x, w.y, w.z, 0.0, 0.0])
    }
}

/// 1/m and the upper triangle of the inverse inertia: xx, xy, xz, yy, yz, zz.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Response([f64; 8]);

/// What does not change of eight contacts; letters as in [`Row`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    a: [u32; LANES],
    b: [u32; LANES],
    pub n: V8,
    t1: V8,
    pub r_a: V8,
    pub r_b: V8,
    pub k_n: V8,
    pub k_n_inverse: F8,
    k_t_inverse: V8,
    /// 1 / largest eigenvalue of the tangential block, and that eigenvalue.
    step_t: F8,
    largest_t: F8,
    pub target_n: F8,
    target_t: [F8; 2],
    friction: F8,
}

impl Batch {
    const EMPTY: Self = Self {
        a: [NOBODY; LANES],
        b: [NOBODY; LANES],
        n: [F8::ZERO; 3],
        t1: [F8::ZERO; 3],
        r_a: [F8::ZERO; 3],
        r_b: [F8::ZERO; 3],
        k_n: [F8::ZERO; 3],
        k_n_inverse: F8::ZERO,
        k_t_inverse: [F8::ZERO; 3],
        step_t: F8::ZERO,
        largest_t: F8::ZERO,
        target_n: F8::ZERO,
        target_t: [F8::ZERO; 2],
        friction: F8::ZERO,
    };
}

/// What can be packed.
pub(crate) trait Pack {
    /// Slots of its bodies.
    fn ends(&self) -> (u32, u32);
    /// Fills a lane of a batch; the bodies are there.
    fn pack(&self, batch: &mut Batch, lane: usize);
    /// Replaces what it aims at, and its bounds.
    fn aim(&self, batch: &mut Batch, lane: usize);
    /// The accumulated impulse in the frame (n, t1, t2).
    fn impulse(&self) -> Vec3;
    /// Replaces it.
    fn set_impulse(&mut self, p: Vec3);
}

/// Puts a vector into a lane.
pub(crate) fn put(to: &mut V8, lane: usize, x: Vec3) {
    for (to, x) in to.iter_mut().zip(x.to_array()) {
        to.0[lane] = x;
    }
}

impl Pack for ContactRow {
    fn ends(&self) -> (u32, u32) {
        (self.a, self.b)
    }

    fn pack(&self, batch: &mut Batch, lane: usize) {
        put(&mut batch.n, lane, self.n);
        put(&mut batch.t1, lane, self.t1);
        put(&mut batch.r_a, lane, self.r_a);
        put(&mut batch.r_b, lane, self.r_b);
        put(&mut batch.k_n, lane, self.k_n);
        put(&mut batch.k_t_inverse, lane, self.k_t_inverse);
        batch.k_n_inverse.0[lane] = 1.0 / self.k_n.x;
        batch.step_t.0[lane] = self.step_t;
        batch.largest_t.0[lane] = 1.0 / self.step_t;
        self.aim(batch, lane);
    }

    fn aim(&self, batch: &mut Batch, lane: usize) {
        batch.target_n.0[lane] = self.target_n;
        batch.target_t[0].0[lane] = self.target_t[0];
        batch.target_t[1].0[lane] = self.target_t[1];
        batch.friction.0[lane] = self.friction();
    }

    fn impulse(&self) -> Vec3 {
        self.frame_impulse()
    }

    fn set_impulse(&mut self, p: Vec3) {
        self.set_frame_impulse(p);
    }
}

/// Scratch of packed sweeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    /// The rows in it, in the order of their visits.
    order: Vec<u32>,
    batches: Vec<Batch>,
    seats: Seats,
    /// By batch: impulses in the frame (n, t1, t2).
    impulses: Vec<V8>,
    before: Vec<V8>,
    direction: Vec<V8>,
    /// By batch: whether nothing in it has pressed so far in these sweeps, nor was about to when it was last looked at.
    asleep: Vec<bool>,
    /// By body of the island; the first is nobody.
    motion: Vec<Motion>,
    motion_before: Vec<Motion>,
    motion_direction: Vec<Motion>,
    response: Vec<Response>,
    slots: Vec<u32>,
    /// By slot: number of the body in the island.
    local: Vec<u32>,
}

impl Packed {
    /// Whether there are enough of something to pack it.
    pub(crate) const fn is_many(count: usize) -> bool {
        count >= PACKED_CONTACTS
    }

    /// Whether sweeps over these rows are better done eight at once.
    pub(crate) fn is_worth(rows: &[ContactRow], order: &[u32], sweeps: u32) -> bool {
        let plain = |&i: &u32| rows[i as usize].is_plain() && !rows[i as usize].linked;
        let faulty = fault::active(Fault::HalfImpulse) || fault::active(Fault::FrictionPyramid);
        Self::is_many(order.len()) && sweeps >= PACKED_SWEEPS && !faulty && order.iter().all(plain)
    }

    /// Takes rows and bodies over.
    pub(crate) fn pack<R: Pack>(
        &mut self,
        rows: &[R],
        order: impl Iterator<Item = u32>,
        bodies: &[SolverBody],
    ) {
        self.order.clear();
        self.order.extend(order);
        self.take_bodies(rows, bodies);
        let local = &self.local;
        let ends = self.order.iter().map(|&i| {
            let (a, b) = rows[i as usize].ends();
            [local[a as usize], local[b as usize]]
        });
        let moves = self.response.iter().map(|r| r.0[0] > 0.0);
        if self.seats.assign(ends, moves) {
            // Lanes that nobody has are empty.
            let count = self.seats.batches();
            self.batches.resize(count, Batch::EMPTY);
            self.impulses.resize(count, [F8::ZERO; 3]);
            let all = self.batches.iter_mut().zip(&mut self.impulses);
            for ((batch, p), &taken) in all.zip(self.seats.taken()) {
                if usize::from(taken) < LANES {
                    *batch = Batch::EMPTY;
                    *p = [F8::ZERO; 3];
                }
            }
        }
        for (k, (&i, &(place, lane))) in self.order.iter().zip(self.seats.list()).enumerate() {
            let row = &rows[i as usize];
            let (place, lane) = (place as usize, usize::from(lane));
            let batch = &mut self.batches[place];
            [batch.a[lane], batch.b[lane]] = self.seats.ends(k);
            row.pack(batch, lane);
            put(&mut self.impulses[place], lane, row.impulse());
        }
        self.before.resize(self.batches.len(), [F8::ZERO; 3]);
        self.asleep.clear();
        self.asleep.resize(self.batches.len(), true);
    }

    /// Takes the same rows over again, whose aims, bounds and impulses alone may have changed, and the bodies' velocities.
    pub(crate) fn pack_again<R: Pack>(&mut self, rows: &[R], bodies: &[SolverBody]) {
        for (&i, &(place, lane)) in self.order.iter().zip(self.seats.list()) {
            let row = &rows[i as usize];
            let (place, lane) = (place as usize, usize::from(lane));
            row.aim(&mut self.batches[place], lane);
            put(&mut self.impulses[place], lane, row.impulse());
        }
        for (&slot, motion) in self.slots.iter().zip(&mut self.motion).skip(1) {
            *motion = Motion::of(&bodies[slot as usize]);
        }
        self.asleep.fill(true);
    }

    /// Numbers the bodies of the island.
    fn take_bodies<R: Pack>(&mut self, rows: &[R], bodies: &[SolverBody]) {
        self.local.resize(bodies.len().max(self.local.len()), NONE);
        self.motion.clear();
        self.response.clear();
        self.slots.clear();
        self.motion.push(Motion([0.0; 8]));
        self.response.push(Response([0.0; 8]));
        self.slots.push(NONE);
        for &i in &self.order {
            let ends = rows[i as usize].ends();
            for slot in [ends.0, ends.1] {
                let local = &mut self.local[slot as usize];
                if *local != NONE {
                    continue;
                }
                *local = self.slots.len() as u32;
                self.slots.push(slot);
                let body = &bodies[slot as usize];
                self.motion.push(Motion::of(body));
                self.response.push(response(body));
            }
        }
    }

    /// Gives impulses and velocities back.
    pub(crate) fn unpack<R: Pack>(&mut self, rows: &mut [R], bodies: &mut [SolverBody]) {
        for (&i, &(place, lane)) in self.order.iter().zip(self.seats.list()) {
            let p = self.impulses[place as usize].map(|p| p.0[usize::from(lane)]);
            rows[i as usize].set_impulse(Vec3::from_array(p));
        }
        for (&slot, motion) in self.slots.iter().zip(&self.motion).skip(1) {
            self.local[slot as usize] = NONE;
            let body = &mut bodies[slot as usize];
            if body.inverse_mass > 0.0 {
                let m = motion.0;
                body.v = Vec3::new(m[0], m[1], m[2]);
                body.w = Vec3::new(m[3], m[4], m[5]);
            }
        }
    }

    /// Up to `limit` double sweeps with the acceleration of [`crate::solver::sweep`], until the change of velocity is at most `tolerance`,
    /// with friction or over normals alone. Returns the change that the last one made, and how many there were.
    pub(crate) fn sweep<const FRICTION: bool>(&mut self, limit: u32, tolerance: f64) -> (f64, u32) {
        on_best(Sweep::<FRICTION> {
            packed: self,
            limit,
            tolerance,
        })
    }

    /// Visits everything forward and backward, what sleeps only to `look` whether it should wake. Returns the largest change of velocity,
    /// and the size of the change of all impulses as energy; the changes themselves are in `before`.
    #[inline(always)]
    fn double_sweep<S: Lanes, const FRICTION: bool>(&mut self, s: S, look: bool) -> (f64, f64) {
        let mut change = Eight::splat(s, 0.0);
        let mut size = Eight::splat(s, 0.0);
        let (motion, response) = (&mut self.motion[..], &self.response[..]);
        let batches = &self.batches[..];
        let (impulses, before) = (&mut self.impulses[..], &mut self.before[..]);
        let asleep = &mut self.asleep[..];
        for (((batch, p), before), asleep) in batches
            .iter()
            .zip(&mut *impulses)
            .zip(&mut *before)
            .zip(&mut *asleep)
        {
            if *asleep && !look {
                continue;
            }
            *before = *p;
            if let Some(by) = visit::<S, FRICTION>(s, batch, p, motion, response) {
                change = change.max(by);
                *asleep = false;
            }
        }
        for (((batch, p), before), asleep) in
            batches.iter().zip(impulses).zip(before).zip(asleep).rev()
        {
            if *asleep && !look {
                continue;
            }
            match visit::<S, FRICTION>(s, batch, p, motion, response) {
                Some(by) => {
                    change = change.max(by);
                    *asleep = false;
                }
                None if *asleep => continue,
                None => {}
            }
            let by = Eight3::new(s, *p) - Eight3::new(s, *before);
            *before = by.get();
            let [n, t1, t2] = by.0;
            size = size + n * n * Eight::new(s, batch.k_n[0]);
            if FRICTION {
                size = size + (t1 * t1 + t2 * t2) * Eight::new(s, batch.largest_t);
            }
        }
        (
            change.get().0.into_iter().fold(0.0, f64::max),
            size.get().0.into_iter().sum(),
        )
    }

    /// Turns velocities before a sweep into their changes.
    #[inline(always)]
    fn motion_changes(&mut self) {
        for (before, motion) in self.motion_before.iter_mut().zip(&self.motion) {
            for (before, x) in before.0.iter_mut().zip(motion.0) {
                *before = x - *before;
            }
        }
    }

    /// No way so far.
    fn forget_way(&mut self) {
        self.direction.clear();
        self.direction.resize(self.batches.len(), [F8::ZERO; 3]);
        self.motion_direction.clear();
        self.motion_direction
            .resize(self.motion.len(), Motion([0.0; 8]));
    }

    /// Goes on by the part `beta` of the whole way from the answer of the last sweep to that of this one [Nesterov83]; 0 forgets the way.
    #[inline(always)]
    fn carry_on<S: Lanes>(&mut self, s: S, beta: f64) {
        let factor = Eight::splat(s, beta);
        let impulses = self.impulses.iter_mut().zip(&mut self.direction);
        for (((p, direction), change), asleep) in impulses.zip(&self.before).zip(&self.asleep) {
            if *asleep {
                continue;
            }
            let stride = (Eight3::new(s, *direction) + Eight3::new(s, *change)) * factor;
            *p = (Eight3::new(s, *p) + stride).get();
            *direction = stride.get();
        }
        let motions = self.motion.iter_mut().zip(&mut self.motion_direction);
        for ((motion, direction), change) in motions.zip(&self.motion_before) {
            for i in 0..6 {
                let stride = (direction.0[i] + change.0[i]) * beta;
                motion.0[i] += stride;
                direction.0[i] = stride;
            }
        }
    }

    /// Goes on along the conjugate direction by `beta`, or starts it anew where the change grew. Velocities are linear in the
    /// impulses: their direction goes along.
    #[inline(always)]
    fn extrapolate<S: Lanes>(&mut self, s: S, beta: f64) {
        if beta.is_nan() || beta >= 1.0 || beta == 0.0 {
            self.direction.clone_from(&self.before);
            self.motion_direction.clone_from(&self.motion_before);
            return;
        }
        let factor = Eight::splat(s, beta);
        for (((p, direction), change), asleep) in self
            .impulses
            .iter_mut()
            .zip(&mut self.direction)
            .zip(&self.before)
            .zip(&self.asleep)
        {
            if *asleep {
                continue;
            }
            let stride = Eight3::new(s, *direction) * factor;
            *p = (Eight3::new(s, *p) + stride).get();
            *direction = (stride + Eight3::new(s, *change)).get();
        }
        for ((motion, direction), change) in self
            .motion
            .iter_mut()
            .zip(&mut self.motion_direction)
            .zip(&self.motion_before)
        {
            for i in 0..6 {
                let stride = direction.0[i] * beta;
                motion.0[i] += stride;
                direction.0[i] = stride + change.0[i];
            }
        }
    }
}

/// The sweeps as a piece of work for any lanes.
struct Sweep<'a, const FRICTION: bool> {
    packed: &'a mut Packed,
    limit: u32,
    tolerance: f64,
}

impl<const FRICTION: bool> OnLanes for Sweep<'_, FRICTION> {
    type Output = (f64, u32);

    #[inline(always)]
    fn run<S: Lanes>(self, s: S) -> (f64, u32) {
        let packed = self.packed;
        let mut size_before = f64::INFINITY;
        let mut change = f64::INFINITY;
        let mut settled = false;
        let mut since = 0;
        let momentum = self.limit >= MOMENTUM_SWEEPS;
        if momentum {
            packed.forget_way();
        }
        for k in 0..self.limit {
            packed.motion_before.clone_from(&packed.motion);
            let size;
            let look = is_look(k) || settled || k + 1 == self.limit;
            (change, size) = packed.double_sweep::<S, FRICTION>(s, look);
            settled = change <= self.tolerance;
            if settled && look {
                return (change, k + 1);
            }
            // The answer stays inside the cones: no extrapolation after the last sweep.
            if k + 1 < self.limit {
                packed.motion_changes();
                if momentum {
                    since = if size < size_before { since + 1 } else { 0 };
                    packed.carry_on(s, f64::from(since) / f64::from(since + 3));
                } else {
                    packed.extrapolate(s, size / size_before);
                }
                size_before = size;
            }
        }
        (change, self.limit)
    }
}

/// Whether double sweep `k` looks at what sleeps: 0, 1, 3, 7, when the others have moved about as much as they did before, then every eighth.
const fn is_look(k: u32) -> bool {
    (k + 1).is_power_of_two() || (k + 1).is_multiple_of(8)
}

fn response(body: &SolverBody) -> Response {
    let m: Mat3 = body.inverse_inertia;
    Response([
        body.inverse_mass,
        m.x_axis.x,
        m.y_axis.x,
        m.z_axis.x,
        m.y_axis.y,
        m.z_axis.y,
        m.z_axis.z,
        0.0,
    ])
}

/// [`Row::visit`], eight at once, with friction or without. Returns the changes of velocity; nothing where no contact presses nor is about to.
#[inline(always)]
fn visit<S: Lanes, const FRICTION: bool>(
    s: S,
    batch: &Batch,
    p: &mut V8,
    motion: &mut [Motion],
    response: &[Response],
) -> Option<Eight<S>> {
    let (v_a, w_a) = gather(s, motion, &batch.a);
    let (v_b, w_b) = gather(s, motion, &batch.b);
    let (n, t1) = (Eight3::new(s, batch.n), Eight3::new(s, batch.t1));
    let t2 = n.cross(t1);
    let (r_a, r_b) = (Eight3::new(s, batch.r_a), Eight3::new(s, batch.r_b));
    let u = (v_b + w_b.cross(r_b)) - (v_a + w_a.cross(r_a));
    let [p_n0, p_10, p_20] = Eight3::new(s, *p).0;
    // Normal: 0 ≤ P_n ⊥ u_n − target ≥ 0.
    let missing = Eight::new(s, batch.target_n) - u.dot(n);
    let zero = Eight::splat(s, 0.0);
    if missing.all_within(zero) && (p_n0.abs() + p_10.abs() + p_20.abs()).all_within(zero) {
        return None;
    }
    let k_n = Eight3::new(s, batch.k_n).0;
    let p_n = (p_n0 + missing * Eight::new(s, batch.k_n_inverse)).max(zero);
    let d_n = p_n - p_n0;
    if !FRICTION {
        *p = Eight3([p_n, p_10, p_20]).get();
        let P = n * d_n;
        push(s, motion, response, &batch.b, (v_b, w_b), P, r_b);
        push(s, motion, response, &batch.a, (v_a, w_a), -P, r_a);
        return Some((d_n * k_n[0]).abs());
    }
    // Friction sees the normal impulse just made, through K.
    let u_t = [
        u.dot(t1) + k_n[1] * d_n - Eight::new(s, batch.target_t[0]),
        u.dot(t2) + k_n[2] * d_n - Eight::new(s, batch.target_t[1]),
    ];
    let [p_1, p_2] = friction(s, batch, p_n, [p_10, p_20], u_t);
    let (d_1, d_2) = (p_1 - p_10, p_2 - p_20);
    *p = Eight3([p_n, p_1, p_2]).get();
    let P = n * d_n + t1 * d_1 + t2 * d_2;
    push(s, motion, response, &batch.b, (v_b, w_b), P, r_b);
    push(s, motion, response, &batch.a, (v_a, w_a), -P, r_a);
    let along = (d_1.abs() + d_2.abs()) * Eight::new(s, batch.largest_t);
    Some((d_n * k_n[0]).abs().max(along))
}

/// The tangential impulse that answers the slip `u_t`, within the cone of the normal impulse `p_n`.
#[inline(always)]
fn friction<S: Lanes>(
    s: S,
    batch: &Batch,
    p_n: Eight<S>,
    p_t: [Eight<S>; 2],
    u_t: [Eight<S>; 2],
) -> [Eight<S>; 2] {
    let bound = Eight::new(s, batch.friction) * p_n;
    let bound_squared = bound * bound;
    let k = Eight3::new(s, batch.k_t_inverse).0;
    // Stick: the whole 2×2 block at once.
    let stick = [
        p_t[0] - (k[0] * u_t[0] + k[1] * u_t[1]),
        p_t[1] - (k[1] * u_t[0] + k[2] * u_t[1]),
    ];
    // Slide: projected gradient, whose fixed point has the friction exactly against the slip, for any K.
    let stride = Eight::new(s, batch.step_t);
    let slide = [p_t[0] - stride * u_t[0], p_t[1] - stride * u_t[1]];
    let size_squared = slide[0] * slide[0] + slide[1] * slide[1];
    let shrink = size_squared.within(
        bound_squared,
        Eight::splat(s, 1.0),
        bound / size_squared.sqrt(),
    );
    let stick_squared = stick[0] * stick[0] + stick[1] * stick[1];
    let zero = Eight::splat(s, 0.0);
    // A contact that does not press has no friction, whatever its velocity: what is not a number stays with its body.
    let held = [
        stick_squared.within(bound_squared, stick[0], slide[0] * shrink),
        stick_squared.within(bound_squared, stick[1], slide[1] * shrink),
    ];
    [
        bound.within(zero, zero, held[0]),
        bound.within(zero, zero, held[1]),
    ]
}

#[inline(always)]
fn gather<S: Lanes>(s: S, motion: &[Motion], at: &[u32; LANES]) -> (Eight3<S>, Eight3<S>) {
    let m = Eight::columns(s, eight!(i => &motion[at[i] as usize].0));
    (Eight3([m[0], m[1], m[2]]), Eight3([m[3], m[4], m[5]]))
}

/// Gives eight bodies with the velocities `v`, `w` an impulse each.
#[inline(always)]
fn push<S: Lanes>(
    s: S,
    motion: &mut [Motion],
    response: &[Response],
    at: &[u32; LANES],
    (v, w): (Eight3<S>, Eight3<S>),
    P: Eight3<S>,
    r: Eight3<S>,
) {
    let [mass, xx, xy, xz, yy, yz, zz, _] =
        Eight::columns(s, eight!(i => &response[at[i] as usize].0));
    let v = v + P * mass;
    let L = r.cross(P).0;
    let w = w + Eight3([
        xx * L[0] + xy * L[1] + xz * L[2],
        xy * L[0] + yy * L[1] + yz * L[2],
        xz * L[0] + yz * L[1] + zz * L[2],
    ]);
    let zero = Eight::splat(s, 0.0);
    let [v, w] = [v.0, w.0];
    let rows = Eight::rows(s, [v[0], v[1], v[2], w[0], w[1], w[2], zero, zero]);
    for i in 0..LANES {
        motion[at[i] as usize].0 = rows[i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::Placement;
    use crate::material::Surface;
    use crate::solver::ends::Bodies;

    /// Numbers from −1 to 1.
    fn draws() -> impl FnMut() -> f64 {
        let mut state = 7_u64;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    fn vector(draw: &mut impl FnMut() -> f64) -> Vec3 {
        Vec3::new(draw(), draw(), draw())
    }

    /// A heap: 40 bodies, one of them fixed, 200 contacts at random.
    fn heap() -> (Vec<ContactRow>, Bodies) {
        let mut draw = draws();
        let mut bodies = Bodies::default();
        for i in 0..40 {
            let mass = 1.0 + 0.5 * draw();
            bodies.flat.push(if i == 0 {
                SolverBody::FIXED
            } else {
                SolverBody {
                    v: vector(&mut draw),
                    w: vector(&mut draw),
                    inverse_mass: mass,
                    inverse_inertia: Mat3::from_diagonal(Vec3::new(mass, 2.0 * mass, 3.0)),
                }
            });
        }
        let surface = Surface {
            friction_static: 0.4,
            friction_kinetic: 0.4,
            ..Surface::default()
        };
        let mut rows = Vec::new();
        for k in 0..200_u32 {
            let a = k % 40;
            let b = (a + 1 + ((draw() + 1.0) * 10.0) as u32) % 40;
            let place = Placement {
                normal: vector(&mut draw).normalize(),
                point_a: vector(&mut draw),
                point_b: vector(&mut draw),
                gap: 0.0,
            };
            let centers = (Vec3::ZERO, Vec3::ZERO);
            let mut row = ContactRow::new((a, b), &place, centers, &bodies, &surface, 0.0);
            row.target_n = 0.2 * draw();
            row.target_t = [0.1 * draw(), 0.1 * draw()];
            rows.push(row);
        }
        (rows, bodies)
    }

    #[test]
    fn eight_at_once_do_what_visits_one_by_one_do() {
        let (mut rows, mut bodies) = heap();
        let (mut others, mut there) = (rows.clone(), bodies.clone());
        let order: Vec<u32> = (0..rows.len() as u32).collect();
        assert!(Packed::is_worth(&rows, &order, 3));
        let mut packed = Packed::default();
        let mut apart: f64 = 0.0;
        for _ in 0..5 {
            packed.pack(&others, order.iter().copied(), &there);
            for &i in order.iter().chain(order.iter().rev()) {
                rows[i as usize].visit(&mut bodies);
            }
            assert_eq!(packed.sweep::<true>(1, 0.0).1, 1);
            packed.unpack(&mut others, &mut there);
            for (row, other) in rows.iter().zip(&others) {
                apart = apart.max((row.frame_impulse() - other.frame_impulse()).length());
            }
            for (body, other) in bodies.iter().zip(there.iter()) {
                apart = apart.max((body.v - other.v).length() + (body.w - other.w).length());
            }
        }
        assert!(apart < 1e-11, "{apart:e}");
        // Pressed, slid and stuck: all of it was compared.
        assert!(rows.iter().any(|r| r.p_n > 0.1) && rows.iter().any(|r| r.p_n == 0.0));
        assert!(rows.iter().any(|r| r.slides(&bodies)));
    }

    #[test]
    fn batches_are_full_and_keep_the_order_of_contacts_that_share_a_body() {
        let (rows, bodies) = heap();
        let mut packed = Packed::default();
        packed.pack(&rows, 0..rows.len() as u32, &bodies);
        let batch_of: Vec<u32> = packed.seats.list().iter().map(|s| s.0).collect();
        let moves = |slot: u32| bodies[slot as usize].inverse_mass > 0.0;
        for (i, late) in rows.iter().enumerate() {
            for (j, early) in rows[..i].iter().enumerate() {
                let shared = [late.a, late.b]
                    .iter()
                    .any(|x| moves(*x) && [early.a, early.b].contains(x));
                assert!(!shared || batch_of[j] < batch_of[i], "{j} {i}");
            }
        }
        assert!(packed.batches.len() < rows.len() / 2);
    }
}
