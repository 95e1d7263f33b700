//! Rotations: exponential map and torque-free motion of a rigid body.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `dynamics::integrate`.
//! Source: [Mirtich94] §2 (ballistic motion); [MuntheKaas99] (RKMK4). Letters: L angular momentum, I inertia, ω angular velocity, all world axes.

use super::{Mat3, Quat, Vec3};

/// Largest turn of one Runge–Kutta step [rad]; a longer step is divided.
const ROTATION_TURN_MAX: f64 = 0.1;
/// Most divisions of one step: beyond this the spin is not resolvable and accuracy degrades gracefully.
const DIVISIONS_MAX: f64 = 4096.0;
/// Relative difference of principal moments below which they count as equal [1].
const EQUAL_MOMENTS: f64 = 1e-12;

/// The rotation by the vector `phi` [rad]: `exp([φ]ₓ)` as a unit quaternion.
#[must_use]
pub fn exp(phi: Vec3) -> Quat {
    let half_sq = 0.25 * phi.length_squared();
    // cos(θ/2) and sin(θ/2)/θ; the series is exact to rounding below θ/2 = 0.03.
    let (c, s) = if half_sq < 1e-3 {
        let x = half_sq;
        (
            1.0 - x / 2.0 * (1.0 - x / 12.0 * (1.0 - x / 30.0 * (1.0 - x / 56.0))),
            0.5 * (1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0)))),
        )
    } else {
        let half = half_sq.sqrt();
        (libm::cos(half), 0.5 * libm::sin(half) / half)
    };
    Quat::from_xyzw(s * phi.x, s * phi.y, s * phi.z, c)
}

/// Scales a nearly unit quaternion back to length one.
#[must_use]
pub fn normalized(q: Quat) -> Quat {
    q * (1.0 / q.length_squared().sqrt())
}

/// The world matrix `R diag(d) Rᵀ` of a tensor given in principal axes.
#[must_use]
pub fn world_tensor(axes: Quat, diagonal: Vec3) -> Mat3 {
    let r = Mat3::from_quat(axes);
    Mat3::from_cols(
        r.x_axis * diagonal.x,
        r.y_axis * diagonal.y,
        r.z_axis * diagonal.z,
    ) * r.transpose()
}

/// The angular velocity of a body with angular momentum `l`: `ω = R I⁻¹ Rᵀ L`.
#[must_use]
pub fn spin(axes: Quat, inverse_inertia: Vec3, l: Vec3) -> Vec3 {
    axes * (inverse_inertia * (axes.conjugate() * l))
}

/// Principal axes after torque-free motion for the time `h` [s] from `axes`, with constant world angular momentum `l`.
///
/// Exact for three equal moments; exact for two equal moments (a symmetric top turns uniformly about L and about its own axis);
/// otherwise RKMK4 with at most `ROTATION_TURN_MAX` of turn per division, error O(h⁵) per division.
#[must_use]
pub fn torque_free(axes: Quat, inverse_inertia: Vec3, l: Vec3, h: f64) -> Quat {
    let j = inverse_inertia;
    let size = EQUAL_MOMENTS * j.max_element();
    let equal = |a: f64, b: f64| (a - b).abs() <= size;
    let turned = if equal(j.x, j.y) && equal(j.y, j.z) {
        exp(l * (j.x * h)) * axes
    } else if equal(j.x, j.y) {
        symmetric_top(axes, j.x, j.z, Vec3::Z, l, h)
    } else if equal(j.y, j.z) {
        symmetric_top(axes, j.y, j.x, Vec3::X, l, h)
    } else if equal(j.x, j.z) {
        symmetric_top(axes, j.x, j.y, Vec3::Y, l, h)
    } else {
        asymmetric_top(axes, j, l, h)
    };
    normalized(turned)
}

/// `R(h) = exp(L h / I₁) R exp(e (1/I₃ − 1/I₁) L₃ h)`: precession about L times spin about the body's own axis `e`.
fn symmetric_top(axes: Quat, j1: f64, j3: f64, e: Vec3, l: Vec3, h: f64) -> Quat {
    let l3 = (axes.conjugate() * l).dot(e);
    exp(l * (j1 * h)) * axes * exp(e * ((j3 - j1) * l3 * h))
}

/// The same as [`torque_free`] to rounding, however long the flight: an asymmetric top is followed by Taylor series, whose steps are as long as
/// their last terms allow. Costs a few times as much as `torque_free` for a turn of a tenth, and less for long ones.
#[must_use]
pub fn torque_free_exact(axes: Quat, inverse_inertia: Vec3, l: Vec3, h: f64) -> Quat {
    let j = inverse_inertia;
    let size = EQUAL_MOMENTS * j.max_element();
    let equal = |a: f64, b: f64| (a - b).abs() <= size;
    if equal(j.x, j.y) || equal(j.y, j.z) || equal(j.x, j.z) {
        return torque_free(axes, j, l, h);
    }
    // A step of the series turns by a radian at most: what needs more of them than there may be is not followed in part.
    if h.abs() * l.length() * j.max_element() > f64::from(TAYLOR_STEPS_MAX) {
        return torque_free(axes, j, l, h);
    }
    let mut q = axes;
    let mut left = h;
    for _ in 0..TAYLOR_STEPS_MAX {
        // The momentum in the body's axes is taken from the attitude at every step: L stays what it is.
        let (next, done) = taylor_step(q, j, q.conjugate() * l, left);
        q = normalized(next);
        left -= done;
        if left == 0.0 {
            return q;
        }
    }
    // Spun so fast that it cannot be followed: the rest at lower order.
    torque_free(q, j, l, left)
}

/// Order of the series, and its most steps.
const TAYLOR_ORDER: usize = 20;
const TAYLOR_STEPS_MAX: u32 = 100_000;
/// Size of the last term of a series that counts as nothing [1].
const TAYLOR_TERM: f64 = 1e-17;

/// One step of `l' = l × ω`, `q' = ½ q ω` with ω = J⁻¹ l, all in the body's axes, by at most `h`; returns the attitude and the time it took.
fn taylor_step(axes: Quat, j: Vec3, momentum: Vec3, h: f64) -> (Quat, f64) {
    const N: usize = TAYLOR_ORDER;
    // In units of the fastest spin, terms are of order one.
    let rate = momentum.length() * j.max_element();
    if rate == 0.0 {
        return (axes, h);
    }
    let mut l = [Vec3::ZERO; N + 1];
    let mut w = [Vec3::ZERO; N + 1];
    let mut q = [Quat::from_xyzw(0.0, 0.0, 0.0, 0.0); N + 1];
    l[0] = momentum;
    w[0] = j * momentum / rate;
    q[0] = axes;
    for k in 0..N {
        let (mut turn, mut slope) = (Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0));
        for i in 0..=k {
            let v = w[k - i];
            turn += l[i].cross(v);
            slope += q[i] * Quat::from_xyzw(v.x, v.y, v.z, 0.0);
        }
        let part = 1.0 / (k + 1) as f64;
        l[k + 1] = turn * part;
        w[k + 1] = j * l[k + 1] / rate;
        q[k + 1] = slope * (0.5 * part);
    }
    let size = momentum.length();
    let last = |k: usize| (l[k].length() / size).max(q[k].length());
    let bound = |k: usize| {
        let term = last(k);
        if term > 0.0 {
            libm::pow(TAYLOR_TERM / term, 1.0 / k as f64)
        } else {
            1.0
        }
    };
    let most = bound(N).min(bound(N - 1)).min(1.0);
    let whole = h.abs() * rate;
    let (step, done) = if whole <= most {
        (h * rate, h)
    } else {
        let step = most.copysign(h);
        (step, step / rate)
    };
    let mut sum = q[N];
    for k in (0..N).rev() {
        sum = sum * step + q[k];
    }
    (sum, done)
}

fn asymmetric_top(axes: Quat, j: Vec3, l: Vec3, h: f64) -> Quat {
    let turn = l.length() * j.max_element() * h.abs();
    let divisions = (turn / ROTATION_TURN_MAX).ceil().clamp(1.0, DIVISIONS_MAX);
    let k = h / divisions;
    let mut q = axes;
    let mut done = 0.0;
    while done < divisions {
        q = rkmk4(q, j, l, k);
        done += 1.0;
    }
    q
}

/// One step of the fourth-order Runge–Kutta–Munthe-Kaas method for `Ṙ = [ω(R)]ₓ R`.
fn rkmk4(q: Quat, j: Vec3, l: Vec3, h: f64) -> Quat {
    let rate = |q: Quat| spin(q, j, l);
    // dexp⁻¹ truncated: φ' = ω − ½ φ×ω + (1/12) φ×(φ×ω); enough for order four.
    let pull = |phi: Vec3, w: Vec3| {
        let c = phi.cross(w);
        w - 0.5 * c + phi.cross(c) / 12.0
    };
    let k1 = rate(q);
    let p2 = 0.5 * h * k1;
    let k2 = pull(p2, rate(exp(p2) * q));
    let p3 = 0.5 * h * k2;
    let k3 = pull(p3, rate(exp(p3) * q));
    let p4 = h * k3;
    let k4 = pull(p4, rate(exp(p4) * q));
    exp(h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)) * q
}
