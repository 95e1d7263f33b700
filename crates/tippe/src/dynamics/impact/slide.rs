//! Sliding while the normal impulse grows: the flow of the slip velocity, by Taylor series.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `collision`.
//! Source: [Mirtich94] §4.3 eq. 9, dP/dP_n = (−μ ŵ, 1), which is singular where slip stops. In the stretched time dP_n = |w| dτ it is regular,
//!   dw/dτ = |w| k − μ T w,   dP/dτ = (−μ w, |w|),
//! and its Taylor coefficients follow from each other by products alone. Slip stops only at τ = ∞; straight rays are left to `collision`.
//! Letters: w = (u_x, u_y) slip, T and k as in `stop`, g and h the rates of |w| and of its direction per P_n and |w|.

#![allow(non_snake_case)]

use crate::math::Vec3;
use crate::math::glam::{DMat2, DVec2};

/// Degree of the series: steps of a seventh of the radius of convergence or more.
const DEGREE: usize = 16;
/// Error of one step in the velocity, in units of the speed of arrival [1].
const STEP_ERROR: f64 = 1e-13;
/// Longest step, in units of the rate of the flow.
const LENGTH_MAX: f64 = 4.0;
/// Halvings of a step whose series is worse than its last terms promise.
const HALVINGS_MAX: u32 = 20;
/// Disagreement of |w| as series and as length that is no truncation error, in units of the speed of arrival [1].
const SLIP_ERROR: f64 = 1e-12;
/// Iterations to locate an event.
const ROOT_STEPS_MAX: u32 = 80;

/// The response of the contact, in its own frame (x, y tangential, z normal).
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    /// Tangential block of K.
    pub T: DMat2,
    /// Its column (K_xz, K_yz).
    pub k: DVec2,
    /// K_zz.
    pub k_nn: f64,
}

impl Response {
    /// K P.
    pub fn times(&self, P: Vec3) -> Vec3 {
        let t = self.T * P.truncate() + self.k * P.z;
        t.extend(self.k.dot(P.truncate()) + self.k_nn * P.z)
    }
}

/// Rates of the slip at one moment, per normal impulse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    /// g: growth of the slip speed.
    pub speed: f64,
    /// h: turning, times the slip speed.
    pub turn: f64,
    /// dh/dθ at a ray: below zero where it attracts.
    pub turn_slope: f64,
    /// Bound of all of them.
    pub size: f64,
}

impl Rates {
    /// At slip along the unit vector `e`.
    pub fn at(K: &Response, mu: f64, e: DVec2) -> Self {
        let across = e.perp();
        let a = K.k - mu * (K.T * e);
        let speed = a.dot(e);
        Self {
            speed,
            turn: a.dot(across),
            // On a ray h′ = −g − μ K_⊥.
            turn_slope: -speed - mu * across.dot(K.T * across),
            size: rate(K, mu),
        }
    }
}

fn rate(K: &Response, mu: f64) -> f64 {
    let t = K.T.x_axis.length() + K.T.y_axis.length();
    K.k.length() + mu * t
}

/// One step of the flow: impulse, normal velocity and normal work as polynomials in τ from 0 to `length`.
#[derive(Clone, Debug)]
pub(super) struct Arc {
    impulse: [Vec3; DEGREE + 1],
    normal: [f64; DEGREE + 1],
    work: [f64; DEGREE + 1],
    /// Where the normal velocity turns, if it does.
    turn: Option<f64>,
    pub length: f64,
}

impl Arc {
    /// From the velocity `u` with slip, as far as the series carries.
    pub fn new(K: &Response, mu: f64, u: Vec3) -> Self {
        let r = 1.0 / rate(K, mu);
        let mut w = [DVec2::ZERO; DEGREE + 1];
        let mut s = [0.0; DEGREE + 1];
        let mut arc = Self {
            impulse: [Vec3::ZERO; DEGREE + 1],
            normal: [0.0; DEGREE + 1],
            work: [0.0; DEGREE + 1],
            turn: None,
            length: 0.0,
        };
        w[0] = u.truncate();
        s[0] = w[0].length();
        arc.normal[0] = u.z;
        for i in 0..DEGREE {
            if i > 0 {
                // |w|² = w·w, order by order: s_0 s_i = w_0·w_i + ½ Σ (w_j·w_{i−j} − s_j s_{i−j}), 0 < j < i
                let mut sum = w[0].dot(w[i]);
                for j in 1..i.div_ceil(2) {
                    sum += w[j].dot(w[i - j]) - s[j] * s[i - j];
                }
                if i % 2 == 0 {
                    sum += 0.5 * (w[i / 2].length_squared() - s[i / 2] * s[i / 2]);
                }
                s[i] = sum / s[0];
            }
            let P = (-mu * w[i]).extend(s[i]) * (r / (i + 1) as f64);
            let du = K.times(P);
            arc.impulse[i + 1] = P;
            w[i + 1] = du.truncate();
            arc.normal[i + 1] = du.z;
            let mut work = 0.0;
            for j in 0..=i {
                work += arc.normal[j] * s[i - j];
            }
            arc.work[i + 1] = work * (r / (i + 1) as f64);
        }
        arc.length = step_length(&w, &arc.normal);
        for _ in 0..HALVINGS_MAX {
            let x = arc.length;
            let slip = at(&w, x).length();
            if (at(&s[..DEGREE], x) - slip).abs() <= SLIP_ERROR {
                break;
            }
            arc.length = 0.5 * x;
        }
        arc.find_turn();
        arc
    }

    /// Impulse and normal work up to `x`.
    pub fn at(&self, x: f64) -> (Vec3, f64) {
        (at(&self.impulse, x), at(&self.work, x))
    }

    /// Where the normal velocity first passes `value`, upwards or downwards; at once if it is already past.
    pub fn reach_velocity(&self, value: f64, upwards: bool) -> Option<f64> {
        let before = |x: f64| (at(&self.normal, x) < value) == upwards;
        let mut a = 0.0;
        for b in self.turn.into_iter().chain([self.length]) {
            if !before(b) {
                let x = if before(a) {
                    root(&self.normal, value, a, b)
                } else {
                    a
                };
                return Some(x);
            }
            a = b;
        }
        None
    }

    /// Where the normal impulse of the arc reaches `value`.
    pub fn reach_impulse(&self, value: f64) -> Option<f64> {
        let poly = self.impulse.map(|P| P.z);
        (at(&poly, self.length) >= value).then(|| root(&poly, value, 0.0, self.length))
    }

    /// Where the normal work of the arc reaches `value`, while the normal velocity is positive.
    pub fn reach_work(&self, value: f64) -> Option<f64> {
        (at(&self.work, self.length) >= value).then(|| root(&self.work, value, 0.0, self.length))
    }

    /// Ends the arc at `x`.
    pub fn cut(&mut self, x: f64) {
        self.length = x;
        self.turn = self.turn.filter(|t| *t < x);
    }

    fn find_turn(&mut self) {
        let slope: [f64; DEGREE] = std::array::from_fn(|i| (i + 1) as f64 * self.normal[i + 1]);
        if slope[0] * at(&slope, self.length) < 0.0 {
            self.turn = Some(root(&slope, 0.0, 0.0, self.length));
        }
    }
}

/// The largest τ at which the last two terms stay below the error of a step.
fn step_length(w: &[DVec2; DEGREE + 1], normal: &[f64; DEGREE + 1]) -> f64 {
    let mut length = LENGTH_MAX;
    for i in [DEGREE - 1, DEGREE] {
        let size = w[i].length() + normal[i].abs();
        if size > 0.0 {
            length = length.min(libm::exp(libm::log(STEP_ERROR / size) / i as f64));
        }
    }
    length
}

/// The polynomial of these coefficients.
fn at<V>(c: &[V], x: f64) -> V
where
    V: Copy + Default + std::ops::Mul<f64, Output = V> + std::ops::Add<Output = V>,
{
    c.iter().rev().fold(V::default(), |sum, c| sum * x + *c)
}

/// A root of `poly − value` in (a, b), where it has opposite signs at the ends: Newton, kept inside the bracket by bisection.
fn root(poly: &[f64], value: f64, a: f64, b: f64) -> f64 {
    let f = |x: f64| {
        let (mut p, mut d) = (0.0, 0.0);
        for c in poly.iter().rev() {
            d = d * x + p;
            p = p * x + c;
        }
        (p - value, d)
    };
    let (mut low, mut high) = (a, b);
    let rises = f(b).0 > 0.0;
    let mut x = 0.5 * (a + b);
    for _ in 0..ROOT_STEPS_MAX {
        let (y, slope) = f(x);
        if y == 0.0 {
            break;
        }
        if (y > 0.0) == rises {
            high = x;
        } else {
            low = x;
        }
        let newton = x - y / slope;
        let next = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        if (next - x).abs() <= 1e-16 * b {
            x = next;
            break;
        }
        x = next;
    }
    x
}
