//! Motion of a tree over one step: one evaluation of the dynamics, or a Runge–Kutta method of order four.
//!
//! Reads: `Model`, positions, velocities, torques, loads.  Writes: positions, velocities; `Work` (stages and what `aba` writes).
//! Called by: users.
//! Source: [MuntheKaas99] (Runge–Kutta in the exponential map); the one-evaluation step is Störmer–Verlet, drift–kick–drift.
//! Letters: θ turn since the start of the step in the axes of the start, κ = dθ/dt, a = q̈.
//! Quaternions are never differentiated as coordinates: a ball turns by `R ← R exp(θ)`.

use super::aba::{accelerate, write};
use super::error::TreeError;
use super::joint::Plain;
use super::kinematics::vector;
use super::load::Load;
use super::model::{Model, Node, check_slice};
use super::work::Work;
use crate::math::{Quat, Vec3, rotation};

/// How a step is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Integrator {
    /// Half a step of motion, one evaluation of the accelerations in the middle, half a step of motion. Second order for forces that do
    /// not depend on velocities, first order for those that do. Viscous joint friction and springs are implicit: stable whatever their
    /// size.
    OneEvaluation,
    /// Four evaluations, error of a step O(h⁵). Where joint friction or springs are too stiff for the step, it is made with one
    /// evaluation instead.
    HighOrder,
}

/// Advances positions and velocities by `h` [s]. Torques are constant over the step; loads keep force and world point. Viscous friction
/// of the joints is added. After an error nothing has changed.
pub fn step(
    model: &Model,
    integrator: Integrator,
    h: f64,
    tau: &[f64],
    loads: &[Load],
    q: &mut [f64],
    v: &mut [f64],
    work: &mut Work,
) -> Result<(), TreeError> {
    model.check_positions(q)?;
    model.check_freedoms("v", v)?;
    model.check_freedoms("tau", tau)?;
    work.check(model)?;
    if !h.is_finite() {
        return Err(TreeError::NonFinite { argument: "h" });
    }
    work.dissipated = 0.0;
    // The stages live in the work space, out of it while the dynamics run.
    let mut s = std::mem::take(&mut work.stages);
    let done = match integrator {
        Integrator::OneEvaluation => one_evaluation(model, h, tau, loads, q, v, work, &mut s),
        Integrator::HighOrder => match runge_kutta(model, h, tau, loads, q, v, work, &mut s) {
            Ok(true) => Ok(()),
            Ok(false) => {
                work.dissipated = 0.0;
                one_evaluation(model, h, tau, loads, q, v, work, &mut s)
            }
            Err(e) => Err(e),
        },
    }
    .and_then(|()| check_slice("q", &s.q, s.q.len()))
    .and_then(|()| check_slice("v", &s.v, s.v.len()));
    if done.is_ok() {
        q.copy_from_slice(&s.q);
        v.copy_from_slice(&s.v);
    }
    work.added.copy_from_slice(&model.armature);
    work.stages = s;
    work.reset();
    done
}

/// Scratch of a step. Written and read by `integrate` alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Stages {
    /// Position and velocity of the stage.
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    /// Torques with friction.
    pub tau: Vec<f64>,
    /// Accelerations of the stage, κ of the stage, and their weighted sums.
    pub a: Vec<f64>,
    pub rate: Vec<f64>,
    pub a_sum: Vec<f64>,
    pub rate_sum: Vec<f64>,
}

impl Stages {
    pub fn new(model: &Model) -> Self {
        let zero = vec![0.0; model.freedom_count()];
        Self {
            q: vec![0.0; model.position_count()],
            v: zero.clone(),
            tau: zero.clone(),
            a: zero.clone(),
            rate: zero.clone(),
            a_sum: zero.clone(),
            rate_sum: zero,
        }
    }
}

/// Drift h/2, kick h, drift h/2.
fn one_evaluation(
    model: &Model,
    h: f64,
    tau: &[f64],
    loads: &[Load],
    q: &[f64],
    v: &[f64],
    work: &mut Work,
    s: &mut Stages,
) -> Result<(), TreeError> {
    s.q.copy_from_slice(q);
    s.v.copy_from_slice(v);
    drift(model, 0.5 * h, &mut s.q, &mut s.v);
    // (M + h B) a = τ − B v − C: the friction of the velocity to come.
    for i in 0..tau.len() {
        let b = model.viscous[i];
        s.tau[i] = tau[i] - b * s.v[i];
        work.added[i] = model.armature[i] + h.abs() * b;
    }
    // A spring at the mean of both ends of the step, q + h² a/4 from here: no energy gained or lost, however stiff.
    for spring in &model.springs {
        let i = spring.v as usize;
        s.tau[i] += spring.torque(&s.q);
        work.added[i] += 0.25 * h * h * spring.stiffness;
    }
    accelerate(model, &s.q, &s.v, &s.tau, loads, work, &mut s.a)?;
    s.rate.copy_from_slice(&s.v);
    for node in &model.nodes[1..] {
        kick(node, h, &s.a, &mut s.v);
    }
    // The friction torque −b v⁺ acts on the mean velocity of the kick. Free joints have none, so turned axes do not matter.
    for i in 0..tau.len() {
        work.dissipated += 0.5 * h * model.viscous[i] * s.v[i] * (s.rate[i] + s.v[i]);
    }
    drift(model, 0.5 * h, &mut s.q, &mut s.v);
    Ok(())
}

/// `v ← v + h a`; the origin of a free link by its classical acceleration `a + ω × v`, so that its drift carries no spin.
#[inline]
fn kick(node: &Node, h: f64, a: &[f64], v: &mut [f64]) {
    let at = node.v as usize;
    match node.joint {
        Plain::Hinge | Plain::Slider => v[at] += h * a[at],
        Plain::Ball => write(v, at, vector(v, at) + vector(a, at) * h),
        Plain::Free => {
            let (w, u) = (vector(v, at), vector(v, at + 3));
            write(v, at, w + vector(a, at) * h);
            write(v, at + 3, u + (vector(a, at + 3) + w.cross(u)) * h);
        }
    }
}

/// Motion with constant rates; the velocity of the origin of a free link is constant in the axes of its parent.
fn drift(model: &Model, h: f64, q: &mut [f64], v: &mut [f64]) {
    for node in &model.nodes[1..] {
        let (p, at) = (node.q as usize, node.v as usize);
        match node.joint {
            Plain::Hinge | Plain::Slider => q[p] += h * v[at],
            Plain::Ball => turn(&mut q[p..p + 4], vector(v, at) * h),
            Plain::Free => {
                let u = quaternion(&q[p + 3..p + 7]) * vector(v, at + 3);
                let moved = vector(q, p) + u * h;
                write(q, p, moved);
                turn(&mut q[p + 3..p + 7], vector(v, at) * h);
                let u = quaternion(&q[p + 3..p + 7]).conjugate() * u;
                write(v, at + 3, u);
            }
        }
    }
}

/// Product of step and rate of decay, or square of step and frequency, above which a step is not followed by four evaluations [1].
const STIFF: f64 = 0.5;

/// Whether joint friction or springs are too stiff for a step, after the first evaluation: h b/D or h² k/D of some joint is above `STIFF`.
fn stiff(model: &Model, h: f64, work: &Work) -> bool {
    let single = |i: usize| work.singles[model.freedom_nodes[i] as usize].d_inverse;
    let damped = model.viscous.iter().enumerate().any(|(i, &b)| {
        let node = &model.nodes[model.freedom_nodes[i] as usize];
        let response = || match node.joint {
            Plain::Hinge | Plain::Slider => single(i),
            Plain::Ball => {
                let d = &work.balls[node.slot as usize].d_inverse;
                d.xx + d.yy + d.zz
            }
            Plain::Free => 0.0,
        };
        b > 0.0 && h.abs() * b * response() > STIFF
    });
    damped
        || model
            .springs
            .iter()
            .any(|s| h * h * s.stiffness * single(s.v as usize) > STIFF)
}

/// The classical method of order four on (θ, v), with θ pulled back to the start of the step. False if the step is too stiff for it.
fn runge_kutta(
    model: &Model,
    h: f64,
    tau: &[f64],
    loads: &[Load],
    q: &[f64],
    v: &[f64],
    work: &mut Work,
    s: &mut Stages,
) -> Result<bool, TreeError> {
    work.added.copy_from_slice(&model.armature);
    s.q.copy_from_slice(q);
    s.v.copy_from_slice(v);
    s.rate.fill(0.0);
    s.a_sum.fill(0.0);
    s.rate_sum.fill(0.0);
    // Place of the stage in the step, and its weight in the sum.
    let stages = [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)];
    for (k, (place, weight)) in stages.into_iter().enumerate() {
        if k > 0 {
            for i in 0..v.len() {
                s.v[i] = v[i] + place * h * s.a[i];
            }
            move_by(model, q, &s.rate, place * h, &mut s.q);
        }
        for i in 0..tau.len() {
            s.tau[i] = tau[i] - model.viscous[i] * s.v[i];
            work.dissipated += weight * h / 6.0 * model.viscous[i] * s.v[i] * s.v[i];
        }
        for spring in &model.springs {
            s.tau[spring.v as usize] += spring.torque(&s.q);
        }
        pull_back(model, place * h, &s.q, &s.v, &mut s.rate);
        accelerate(model, &s.q, &s.v, &s.tau, loads, work, &mut s.a)?;
        if k == 0 && stiff(model, h, work) {
            return Ok(false);
        }
        for i in 0..v.len() {
            s.a_sum[i] += weight * s.a[i];
            s.rate_sum[i] += weight * s.rate[i];
        }
    }
    for i in 0..v.len() {
        s.v[i] = v[i] + h / 6.0 * s.a_sum[i];
    }
    move_by(model, q, &s.rate_sum, h / 6.0, &mut s.q);
    Ok(true)
}

/// κ of a stage from its velocity: `κ = ω + ½ θ×ω + θ×(θ×ω)/12` for turns (enough for order four), `R v` for origins of free links.
///
/// On entry `rate` is κ of the stage before, so that θ = t κ.
pub(super) fn pull_back(model: &Model, t: f64, q: &[f64], v: &[f64], rate: &mut [f64]) {
    for node in &model.nodes[1..] {
        let at = node.v as usize;
        match node.joint {
            Plain::Hinge | Plain::Slider => rate[at] = v[at],
            Plain::Ball | Plain::Free => {
                let (theta, w) = (vector(rate, at) * t, vector(v, at));
                let c = theta.cross(w);
                write(rate, at, w + c * 0.5 + theta.cross(c) / 12.0);
            }
        }
        if node.joint == Plain::Free {
            let p = node.q as usize;
            let u = quaternion(&q[p + 3..p + 7]) * vector(v, at + 3);
            write(rate, at + 3, u);
        }
    }
}

/// The position reached from `q` by κ for the time `t`.
pub(super) fn move_by(model: &Model, q: &[f64], rate: &[f64], t: f64, out: &mut [f64]) {
    for node in &model.nodes[1..] {
        let (p, at) = (node.q as usize, node.v as usize);
        match node.joint {
            Plain::Hinge | Plain::Slider => out[p] = q[p] + t * rate[at],
            Plain::Ball => {
                out[p..p + 4].copy_from_slice(&q[p..p + 4]);
                turn(&mut out[p..p + 4], vector(rate, at) * t);
            }
            Plain::Free => {
                write(out, p, vector(q, p) + vector(rate, at + 3) * t);
                out[p + 3..p + 7].copy_from_slice(&q[p + 3..p + 7]);
                turn(&mut out[p + 3..p + 7], vector(rate, at) * t);
            }
        }
    }
}

/// Moves positions with constant velocities `v` for the time `h`: free links along a screw, balls about a fixed axis.
pub fn advance(model: &Model, v: &[f64], h: f64, q: &mut [f64]) -> Result<(), TreeError> {
    model.check_positions(q)?;
    model.check_freedoms("v", v)?;
    if !h.is_finite() {
        return Err(TreeError::NonFinite { argument: "h" });
    }
    for node in &model.nodes[1..] {
        let (p, at) = (node.q as usize, node.v as usize);
        match node.joint {
            Plain::Hinge | Plain::Slider => q[p] += h * v[at],
            Plain::Ball => turn(&mut q[p..p + 4], vector(v, at) * h),
            Plain::Free => {
                let shift = screw(vector(v, at) * h, vector(v, at + 3) * h);
                let moved = vector(q, p) + quaternion(&q[p + 3..p + 7]) * shift;
                write(q, p, moved);
                turn(&mut q[p + 3..p + 7], vector(v, at) * h);
            }
        }
    }
    Ok(())
}

/// Translation of the screw with turn θ and travel d per unit time: `d + (1−cos)/θ² θ×d + (θ−sin)/θ³ θ×(θ×d)`.
fn screw(theta: Vec3, d: Vec3) -> Vec3 {
    let x = theta.length_squared();
    let (b, c) = if x < 1e-4 {
        (
            0.5 - x / 24.0 * (1.0 - x / 30.0),
            1.0 / 6.0 - x / 120.0 * (1.0 - x / 42.0),
        )
    } else {
        let t = x.sqrt();
        let half = libm::sin(0.5 * t);
        (2.0 * half * half / x, (t - libm::sin(t)) / (x * t))
    };
    let e = theta.cross(d);
    d + e * b + theta.cross(e) * c
}

/// `R ← R exp(θ)`, kept at length one.
#[inline]
fn turn(q: &mut [f64], theta: Vec3) {
    let turned = rotation::normalized(quaternion(q) * rotation::exp(theta));
    q.copy_from_slice(&turned.to_array());
}

/// Four numbers (x, y, z, w) of length one.
#[inline]
fn quaternion(q: &[f64]) -> Quat {
    rotation::normalized(Quat::from_xyzw(q[0], q[1], q[2], q[3]))
}
