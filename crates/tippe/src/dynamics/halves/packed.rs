//! Sweeps over a large island of plain contacts, four contacts at once.
//!
//! Reads: rows, solver bodies.  Writes: their impulses and velocities, work counts.
//! Called by: `sweep`, in place of visits one by one.
//! Source: visits as in `row`, acceleration as in `sweep` ([Silcowitz10]). A batch holds four contacts that share no body of finite mass;
//! contacts that share one keep their order, so that a sweep does what visits one by one would do.

#![allow(non_snake_case)]

use super::row::{Row, SolverBody};
use crate::fault::{self, Fault};
use crate::math::lanes::{F4, Four, Four3, LANES, Lanes, OnLanes, on_best};
use crate::math::{Mat3, Vec3};

/// Contacts below which packing is not worth it.
const WORTH: usize = 32;
/// Double sweeps below which packing is not worth it.
const WORTH_SWEEPS: u32 = 2;
/// Batches that a body is left alone for after a visit, so that the processor can work on several at once.
const SPREAD: u32 = 2;
/// No row, no body.
const NONE: u32 = u32::MAX;
/// Body of empty lanes: fixed, at rest.
const NOBODY: u32 = 0;

/// Three components, four of each.
pub(crate) type V4 = [F4; 3];

/// Velocities of a body, or their change: v, ω, and two numbers for the sake of a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Motion([f64; 8]);

/// 1/m and the upper triangle of the inverse inertia: xx, xy, xz, yy, yz, zz.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Response([f64; 8]);

/// What does not change of four contacts; letters as in [`Row`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    a: [u32; LANES],
    b: [u32; LANES],
    pub n: V4,
    t1: V4,
    pub r_a: V4,
    pub r_b: V4,
    pub k_n: V4,
    pub k_n_inverse: F4,
    k_t_inverse: V4,
    /// 1 / largest eigenvalue of the tangential block, and that eigenvalue.
    step_t: F4,
    largest_t: F4,
    pub target_n: F4,
    target_t: [F4; 2],
    friction: F4,
}

impl Batch {
    const EMPTY: Self = Self {
        a: [NOBODY; LANES],
        b: [NOBODY; LANES],
        n: [F4::ZERO; 3],
        t1: [F4::ZERO; 3],
        r_a: [F4::ZERO; 3],
        r_b: [F4::ZERO; 3],
        k_n: [F4::ZERO; 3],
        k_n_inverse: F4::ZERO,
        k_t_inverse: [F4::ZERO; 3],
        step_t: F4::ZERO,
        largest_t: F4::ZERO,
        target_n: F4::ZERO,
        target_t: [F4::ZERO; 2],
        friction: F4::ZERO,
    };
}

/// What can be packed.
pub(crate) trait Pack {
    /// Slots of its bodies.
    fn ends(&self) -> (u32, u32);
    /// Fills a lane of a batch; the bodies are there.
    fn pack(&self, batch: &mut Batch, lane: usize);
    /// The accumulated impulse in the frame (n, t1, t2).
    fn impulse(&self) -> Vec3;
    /// Replaces it.
    fn set_impulse(&mut self, p: Vec3);
}

/// Puts a vector into a lane.
pub(super) fn put(to: &mut V4, lane: usize, x: Vec3) {
    for (to, x) in to.iter_mut().zip(x.to_array()) {
        to.0[lane] = x;
    }
}

impl Pack for Row {
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
    batches: Vec<Batch>,
    /// By batch: the rows in it.
    rows: Vec<[u32; LANES]>,
    /// By batch: impulses in the frame (n, t1, t2).
    impulses: Vec<V4>,
    before: Vec<V4>,
    direction: Vec<V4>,
    /// By body of the island; the first is nobody.
    motion: Vec<Motion>,
    motion_before: Vec<Motion>,
    motion_direction: Vec<Motion>,
    response: Vec<Response>,
    slots: Vec<u32>,
    /// By slot: number of the body in the island.
    local: Vec<u32>,
    /// By body: the first batch that is free of it.
    free: Vec<u32>,
    /// By batch: itself if it has a lane left, else a later one to ask.
    open: Vec<u32>,
    /// By batch: lanes taken.
    taken: Vec<u8>,
}

impl Packed {
    /// Whether there are enough of something to pack it.
    pub(crate) const fn is_many(count: usize) -> bool {
        count >= WORTH
    }

    /// Whether sweeps over these rows are better done four at once.
    pub(crate) fn is_worth(rows: &[Row], order: &[u32], sweeps: u32) -> bool {
        let plain = |&i: &u32| rows[i as usize].is_plain() && !rows[i as usize].linked;
        let faulty = fault::active(Fault::HalfImpulse) || fault::active(Fault::FrictionPyramid);
        Self::is_many(order.len()) && sweeps >= WORTH_SWEEPS && !faulty && order.iter().all(plain)
    }

    /// Takes rows and bodies over.
    pub(crate) fn pack<R: Pack>(
        &mut self,
        rows: &[R],
        order: impl Iterator<Item = u32> + Clone,
        bodies: &[SolverBody],
    ) {
        self.take_bodies(rows, order.clone(), bodies);
        self.batches.clear();
        self.rows.clear();
        self.impulses.clear();
        self.open.clear();
        self.taken.clear();
        self.free.clear();
        self.free.resize(self.motion.len(), 0);
        for i in order {
            let row = &rows[i as usize];
            let ends = row.ends();
            let ends = (self.local[ends.0 as usize], self.local[ends.1 as usize]);
            let (place, lane) = self.seat(ends);
            let batch = &mut self.batches[place];
            (batch.a[lane], batch.b[lane]) = ends;
            row.pack(batch, lane);
            self.rows[place][lane] = i;
            put(&mut self.impulses[place], lane, row.impulse());
        }
        self.direction.clear();
        self.direction.resize(self.batches.len(), [F4::ZERO; 3]);
        self.motion_direction.clear();
        self.motion_direction
            .resize(self.motion.len(), Motion([0.0; 8]));
    }

    /// Numbers the bodies of the island.
    fn take_bodies<R: Pack>(
        &mut self,
        rows: &[R],
        order: impl Iterator<Item = u32>,
        bodies: &[SolverBody],
    ) {
        self.local.resize(bodies.len().max(self.local.len()), NONE);
        self.motion.clear();
        self.response.clear();
        self.slots.clear();
        self.motion.push(Motion([0.0; 8]));
        self.response.push(Response([0.0; 8]));
        self.slots.push(NONE);
        for i in order {
            let ends = rows[i as usize].ends();
            for slot in [ends.0, ends.1] {
                let local = &mut self.local[slot as usize];
                if *local != NONE {
                    continue;
                }
                *local = self.slots.len() as u32;
                self.slots.push(slot);
                let body = &bodies[slot as usize];
                let (v, w) = (body.v, body.w);
                self.motion
                    .push(Motion([v.x, v.y, v.z, w.x, w.y, w.z, 0.0, 0.0]));
                self.response.push(response(body));
            }
        }
    }

    /// The first batch with a lane left after all that share a body with these ends, and that lane.
    fn seat(&mut self, (a, b): (u32, u32)) -> (usize, usize) {
        let moves = |x: u32, response: &[Response]| response[x as usize].0[0] > 0.0;
        let first = self.free[a as usize].max(self.free[b as usize]);
        // Batches may be skipped: those have all their lanes left.
        while self.open.len() < first as usize {
            self.push_batch();
        }
        let mut batch = first as usize;
        while batch < self.open.len() && self.open[batch] as usize != batch {
            batch = self.open[batch] as usize;
        }
        // Shorten the way for those who ask next.
        let mut on_the_way = first as usize;
        while on_the_way < batch {
            on_the_way = std::mem::replace(&mut self.open[on_the_way], batch as u32) as usize;
        }
        while batch >= self.open.len() {
            self.push_batch();
        }
        let lane = self.taken[batch];
        self.taken[batch] += 1;
        if usize::from(self.taken[batch]) == LANES {
            self.open[batch] = batch as u32 + 1;
        }
        for x in [a, b] {
            if moves(x, &self.response) {
                self.free[x as usize] = batch as u32 + SPREAD;
            }
        }
        (batch, usize::from(lane))
    }

    fn push_batch(&mut self) {
        self.open.push(self.open.len() as u32);
        self.taken.push(0);
        self.batches.push(Batch::EMPTY);
        self.rows.push([NONE; LANES]);
        self.impulses.push([F4::ZERO; 3]);
    }

    /// Gives impulses and velocities back.
    pub(crate) fn unpack<R: Pack>(&mut self, rows: &mut [R], bodies: &mut [SolverBody]) {
        for (batch, p) in self.rows.iter().zip(&self.impulses) {
            for (lane, &i) in batch.iter().enumerate() {
                if i != NONE {
                    rows[i as usize].set_impulse(Vec3::new(
                        p[0].0[lane],
                        p[1].0[lane],
                        p[2].0[lane],
                    ));
                }
            }
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

    /// Up to `limit` double sweeps with the acceleration of [`super::sweep`], until the change of velocity is at most `tolerance`,
    /// with friction or over normals alone. Returns the change that the last one made, and how many there were.
    pub(crate) fn sweep<const FRICTION: bool>(&mut self, limit: u32, tolerance: f64) -> (f64, u32) {
        on_best(Sweep::<FRICTION> {
            packed: self,
            limit,
            tolerance,
        })
    }

    #[inline(always)]
    fn double_sweep<S: Lanes, const FRICTION: bool>(&mut self, s: S) -> f64 {
        let mut change = Four::splat(s, 0.0);
        let (motion, response) = (&mut self.motion[..], &self.response[..]);
        for (batch, p) in self.batches.iter().zip(self.impulses.iter_mut()) {
            change = change.max(visit::<S, FRICTION>(s, batch, p, motion, response));
        }
        for (batch, p) in self.batches.iter().zip(self.impulses.iter_mut()).rev() {
            change = change.max(visit::<S, FRICTION>(s, batch, p, motion, response));
        }
        change.get().0.into_iter().fold(0.0, f64::max)
    }

    /// Turns impulses and velocities before a sweep into their changes; returns the size of the change as energy.
    #[inline(always)]
    fn changes<S: Lanes>(&mut self, s: S) -> f64 {
        let mut size = Four::splat(s, 0.0);
        for ((before, p), batch) in self
            .before
            .iter_mut()
            .zip(&self.impulses)
            .zip(&self.batches)
        {
            let change = Four3::new(s, *p) - Four3::new(s, *before);
            *before = change.get();
            let [n, t1, t2] = change.0;
            size = size
                + (n * n * Four::new(s, batch.k_n[0])
                    + (t1 * t1 + t2 * t2) * Four::new(s, batch.largest_t));
        }
        for (before, motion) in self.motion_before.iter_mut().zip(&self.motion) {
            for (before, x) in before.0.iter_mut().zip(motion.0) {
                *before = x - *before;
            }
        }
        size.get().0.into_iter().sum()
    }

    /// Goes on along the conjugate direction by `beta`, or starts it anew where the change grew. Velocities are linear in the
    /// impulses: their direction goes along.
    #[inline(always)]
    fn extrapolate<S: Lanes>(&mut self, s: S, beta: f64) {
        if beta.is_nan() || beta >= 1.0 {
            self.direction.clone_from(&self.before);
            self.motion_direction.clone_from(&self.motion_before);
            return;
        }
        let factor = Four::splat(s, beta);
        for ((p, direction), change) in self
            .impulses
            .iter_mut()
            .zip(&mut self.direction)
            .zip(&self.before)
        {
            let step = Four3::new(s, *direction) * factor;
            *p = (Four3::new(s, *p) + step).get();
            *direction = (step + Four3::new(s, *change)).get();
        }
        for ((motion, direction), change) in self
            .motion
            .iter_mut()
            .zip(&mut self.motion_direction)
            .zip(&self.motion_before)
        {
            for i in 0..6 {
                let step = direction.0[i] * beta;
                motion.0[i] += step;
                direction.0[i] = step + change.0[i];
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
        for k in 0..self.limit {
            packed.before.clone_from(&packed.impulses);
            packed.motion_before.clone_from(&packed.motion);
            change = packed.double_sweep::<S, FRICTION>(s);
            if change <= self.tolerance {
                return (change, k + 1);
            }
            // The answer stays inside the cones: no extrapolation after the last sweep.
            if k + 1 < self.limit {
                let size = packed.changes(s);
                packed.extrapolate(s, size / size_before);
                size_before = size;
            }
        }
        (change, self.limit)
    }
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

/// [`Row::visit`], four at once, with friction or without. Returns the changes of velocity.
#[inline(always)]
fn visit<S: Lanes, const FRICTION: bool>(
    s: S,
    batch: &Batch,
    p: &mut V4,
    motion: &mut [Motion],
    response: &[Response],
) -> Four<S> {
    let (v_a, w_a) = gather(s, motion, &batch.a);
    let (v_b, w_b) = gather(s, motion, &batch.b);
    let (n, t1) = (Four3::new(s, batch.n), Four3::new(s, batch.t1));
    let t2 = n.cross(t1);
    let (r_a, r_b) = (Four3::new(s, batch.r_a), Four3::new(s, batch.r_b));
    let u = (v_b + w_b.cross(r_b)) - (v_a + w_a.cross(r_a));
    let [p_n0, p_10, p_20] = Four3::new(s, *p).0;
    let k_n = Four3::new(s, batch.k_n).0;
    // Normal: 0 ≤ P_n ⊥ u_n − target ≥ 0.
    let missing = Four::new(s, batch.target_n) - u.dot(n);
    let p_n = (p_n0 + missing * Four::new(s, batch.k_n_inverse)).max(Four::splat(s, 0.0));
    let d_n = p_n - p_n0;
    if !FRICTION {
        *p = Four3([p_n, p_10, p_20]).get();
        let P = n * d_n;
        push(s, motion, response, &batch.b, (v_b, w_b), P, r_b);
        push(s, motion, response, &batch.a, (v_a, w_a), -P, r_a);
        return (d_n * k_n[0]).abs();
    }
    // Friction sees the normal impulse just made, through K.
    let u_t = [
        u.dot(t1) + k_n[1] * d_n - Four::new(s, batch.target_t[0]),
        u.dot(t2) + k_n[2] * d_n - Four::new(s, batch.target_t[1]),
    ];
    let [p_1, p_2] = friction(s, batch, p_n, [p_10, p_20], u_t);
    let (d_1, d_2) = (p_1 - p_10, p_2 - p_20);
    *p = Four3([p_n, p_1, p_2]).get();
    let P = n * d_n + t1 * d_1 + t2 * d_2;
    push(s, motion, response, &batch.b, (v_b, w_b), P, r_b);
    push(s, motion, response, &batch.a, (v_a, w_a), -P, r_a);
    let along = (d_1.abs() + d_2.abs()) * Four::new(s, batch.largest_t);
    (d_n * k_n[0]).abs().max(along)
}

/// The tangential impulse that answers the slip `u_t`, within the cone of the normal impulse `p_n`.
#[inline(always)]
fn friction<S: Lanes>(
    s: S,
    batch: &Batch,
    p_n: Four<S>,
    p_t: [Four<S>; 2],
    u_t: [Four<S>; 2],
) -> [Four<S>; 2] {
    let bound = Four::new(s, batch.friction) * p_n;
    let bound_squared = bound * bound;
    let k = Four3::new(s, batch.k_t_inverse).0;
    // Stick: the whole 2×2 block at once.
    let stick = [
        p_t[0] - (k[0] * u_t[0] + k[1] * u_t[1]),
        p_t[1] - (k[1] * u_t[0] + k[2] * u_t[1]),
    ];
    // Slide: projected gradient, whose fixed point has the friction exactly against the slip, for any K.
    let step = Four::new(s, batch.step_t);
    let slide = [p_t[0] - step * u_t[0], p_t[1] - step * u_t[1]];
    let size_squared = slide[0] * slide[0] + slide[1] * slide[1];
    let shrink = size_squared.within(
        bound_squared,
        Four::splat(s, 1.0),
        bound / size_squared.sqrt(),
    );
    let stick_squared = stick[0] * stick[0] + stick[1] * stick[1];
    let zero = Four::splat(s, 0.0);
    // A contact that does not press has no friction, whatever its velocity: what is not a number stays with its body.
    [0, 1].map(|i| {
        let held = stick_squared.within(bound_squared, stick[i], slide[i] * shrink);
        bound.within(zero, zero, held)
    })
}

/// The two halves of a cache line.
#[inline(always)]
fn halves(x: &[f64; 8]) -> ([f64; 4], [f64; 4]) {
    ([x[0], x[1], x[2], x[3]], [x[4], x[5], x[6], x[7]])
}

/// Eight numbers of each of four bodies.
#[inline(always)]
fn columns<S: Lanes>(s: S, x: [&[f64; 8]; LANES]) -> [Four<S>; 8] {
    let [a, b, c, d] = x.map(halves);
    let low = Four::columns(s, [a.0, b.0, c.0, d.0]);
    let high = Four::columns(s, [a.1, b.1, c.1, d.1]);
    [
        low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3],
    ]
}

#[inline(always)]
fn gather<S: Lanes>(s: S, motion: &[Motion], at: &[u32; LANES]) -> (Four3<S>, Four3<S>) {
    let m = columns(s, at.map(|i| &motion[i as usize].0));
    (Four3([m[0], m[1], m[2]]), Four3([m[3], m[4], m[5]]))
}

/// Gives four bodies with the velocities `v`, `w` an impulse each.
#[inline(always)]
fn push<S: Lanes>(
    s: S,
    motion: &mut [Motion],
    response: &[Response],
    at: &[u32; LANES],
    (v, w): (Four3<S>, Four3<S>),
    P: Four3<S>,
    r: Four3<S>,
) {
    let [mass, xx, xy, xz, yy, yz, zz, _] = columns(s, at.map(|i| &response[i as usize].0));
    let v = v + P * mass;
    let L = r.cross(P).0;
    let w = w + Four3([
        xx * L[0] + xy * L[1] + xz * L[2],
        xy * L[0] + yy * L[1] + yz * L[2],
        xz * L[0] + yz * L[1] + zz * L[2],
    ]);
    let low = Four::rows(s, [v.0[0], v.0[1], v.0[2], w.0[0]]);
    let zero = Four::splat(s, 0.0);
    let high = Four::rows(s, [w.0[1], w.0[2], zero, zero]);
    for (lane, &i) in at.iter().enumerate() {
        let to = &mut motion[i as usize].0;
        to[..4].copy_from_slice(&low[lane]);
        to[4..].copy_from_slice(&high[lane]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::trees::Bodies;
    use super::*;
    use crate::collide::Placement;
    use crate::material::Surface;

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
    fn heap() -> (Vec<Row>, Bodies) {
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
            let mut row = Row::new((a, b), &place, centers, &bodies, &surface, 0.0);
            row.target_n = 0.2 * draw();
            row.target_t = [0.1 * draw(), 0.1 * draw()];
            rows.push(row);
        }
        (rows, bodies)
    }

    #[test]
    fn four_at_once_do_what_visits_one_by_one_do() {
        let (mut rows, mut bodies) = heap();
        let (mut others, mut there) = (rows.clone(), bodies.clone());
        let order: Vec<u32> = (0..rows.len() as u32).collect();
        assert!(Packed::is_worth(&rows, &order, 3));
        let mut packed = Packed::default();
        let mut apart: f64 = 0.0;
        for _ in 0..5 {
            for &i in order.iter().chain(order.iter().rev()) {
                rows[i as usize].visit(&mut bodies);
            }
            packed.pack(&others, order.iter().copied(), &there);
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
        let mut batch_of = vec![0; rows.len()];
        for (k, batch) in packed.rows.iter().enumerate() {
            for &i in batch.iter().filter(|i| **i != NONE) {
                batch_of[i as usize] = k;
            }
        }
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
