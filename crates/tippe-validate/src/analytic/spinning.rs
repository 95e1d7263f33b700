//! Bodies that swing and spin: pendulum, free and heavy top, tippe top, rolling disc.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `cases::{free_top, heavy_top, pendulum, tippe_top}`; the disc waits for its shape.
//! Source: \[Euler1758], \[Jacobi1849] (free top), Lagrange (1788) (heavy top), \[Jellett1872], Moffatt (2000) (disc).

use super::elliptic::{complete_first, incomplete_first, jacobi};
use super::ode::integrate;
use tippe::{Quat, Vec3};

/// Period of a uniform rod of length `l` hinged at one end and let go at `amplitude` [rad] from hanging [s].
#[must_use]
pub fn rod_pendulum_period(l: f64, amplitude: f64, g: f64) -> f64 {
    // ω₀² = 3g/2L,  T = 4 K(sin²(θ₀/2)) / ω₀
    let s = libm::sin(0.5 * amplitude);
    4.0 * complete_first(s * s) / (1.5 * g / l).sqrt()
}

/// Angular speed at the bottom of a rod let go at `amplitude` [rad/s].
#[must_use]
pub fn rod_pendulum_speed(l: f64, amplitude: f64, g: f64) -> f64 {
    (3.0 * g / l * (1.0 - libm::cos(amplitude))).sqrt()
}

/// Body-frame angular velocity at time `t` of a free body with moments `i` (all different, rising) [rad/s].
#[must_use]
pub fn free_top_spin(i: Vec3, w0: Vec3, t: f64) -> Vec3 {
    let energy2 = (i * w0).dot(w0);
    let momentum2 = (i * w0).length_squared();
    if momentum2 < energy2 * i.y {
        // The momentum circles the axis of the least moment: the axes x and z change roles.
        let swap = |v: Vec3| Vec3::new(v.z, v.y, v.x);
        return swap(free_top_core(swap(i), swap(w0), energy2, momentum2, t));
    }
    free_top_core(i, w0, energy2, momentum2, t)
}

/// `w = (s₁ A₁ cn, A₂ sn, s₃ A₃ dn)` of `±n t + u₀`, for L² > 2T I₂ after ordering.
fn free_top_core(i: Vec3, w0: Vec3, t2: f64, l2: f64, t: f64) -> Vec3 {
    let Vec3 {
        x: i1,
        y: i2,
        z: i3,
    } = i;
    let a1 = ((t2 * i3 - l2) / (i1 * (i3 - i1))).sqrt();
    let a2 = ((t2 * i3 - l2) / (i2 * (i3 - i2))).sqrt();
    let a3 = ((l2 - t2 * i1) / (i3 * (i3 - i1))).sqrt();
    let n = ((i3 - i2) * (l2 - t2 * i1) / (i1 * i2 * i3)).sqrt();
    let m = (i2 - i1) * (t2 * i3 - l2) / ((i3 - i2) * (l2 - t2 * i1));
    let (s1, s3) = (1f64.copysign(w0.x), 1f64.copysign(w0.z));
    // I₂ ẇ₂ = (I₃ − I₁) w₃ w₁ gives the direction.
    let direction = ((i3 - i1) * s1 * s3).signum();
    let u0 = incomplete_first(libm::atan2(w0.y / a2, w0.x.abs() / a1), m);
    let (sn, cn, dn) = jacobi(direction * n * t + u0, m);
    Vec3::new(s1 * a1 * cn, a2 * sn, s3 * a3 * dn)
}

/// Longest extrapolated step of the free-top reference in turns of the body [rad].
const TURN_PER_STEP: f64 = 0.25;

/// Body-frame angular velocity and orientation at time `t` of a free body that starts at the identity, by integration of Euler's equations.
#[must_use]
pub fn free_top(i: Vec3, w0: Vec3, t: f64) -> (Vec3, Quat) {
    let rate = |y: &[f64; 7]| {
        let [w1, w2, w3, a, b, c, d] = *y;
        // I ẇ = (I w) × w;  q̇ = ½ q (0, w)
        [
            (i.y - i.z) / i.x * w2 * w3,
            (i.z - i.x) / i.y * w3 * w1,
            (i.x - i.y) / i.z * w1 * w2,
            0.5 * (-b * w1 - c * w2 - d * w3),
            0.5 * (a * w1 + c * w3 - d * w2),
            0.5 * (a * w2 - b * w3 + d * w1),
            0.5 * (a * w3 + b * w2 - c * w1),
        ]
    };
    let steps = (w0.length() * t / TURN_PER_STEP).ceil().max(1.0) as usize;
    let y = integrate(rate, [w0.x, w0.y, w0.z, 1.0, 0.0, 0.0, 0.0], t, steps);
    (
        Vec3::new(y[0], y[1], y[2]),
        Quat::from_xyzw(y[4], y[5], y[6], y[3]),
    )
}

/// A top on a fixed point: mass, distance of the centre of mass from the point, moments about the axis and across it at the point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeavyTop {
    /// Mass [kg].
    pub mass: f64,
    /// Distance of the centre of mass from the fixed point [m].
    pub distance: f64,
    /// Moment about the axis [kg·m²].
    pub axial: f64,
    /// Moment across the axis at the fixed point [kg·m²].
    pub transverse: f64,
}

impl HeavyTop {
    /// Slow rate of steady precession at tilt θ with spin component w₃ along the axis [rad/s].
    #[must_use]
    pub fn steady_precession(&self, theta: f64, w3: f64, g: f64) -> f64 {
        // I₁ φ̇² cos θ − I₃ w₃ φ̇ + m g l = 0
        let a = self.transverse * libm::cos(theta);
        let b = self.axial * w3;
        let c = self.mass * g * self.distance;
        2.0 * c / (b + (b * b - 4.0 * a * c).sqrt())
    }

    /// The lowest tilt of a top let go at rest at tilt θ₀ with spin w₃: the other end of the cusps [rad].
    #[must_use]
    pub fn cusp_lower_bound(&self, theta0: f64, w3: f64, g: f64) -> f64 {
        // With u = cos θ: 1 − u² = b (u₀ − u), b = (I₃ w₃)² / (2 I₁ m g l)
        let p = self.axial * w3;
        let b = p * p / (2.0 * self.transverse * self.mass * g * self.distance);
        let u0 = libm::cos(theta0);
        let root = (b * b - 4.0 * (b * u0 - 1.0)).sqrt();
        libm::acos(0.5 * (b - root))
    }
}

/// Jellett's integral `L · (R ẑ − a e)` of an eccentric ball on level ground, constant under any friction [kg·m²/s·m].
///
/// `l` angular momentum about the centre of mass, `e` unit symmetry axis, `a` distance of the centre of mass below the centre.
#[must_use]
pub fn jellett(l: Vec3, e: Vec3, radius: f64, a: f64) -> f64 {
    l.dot(Vec3::Z * radius - e * a)
}

/// Rate at which the contact runs round under a thin disc rolling with its centre at rest, at inclination α [rad/s].
#[must_use]
pub fn disc_rate(radius: f64, alpha: f64, g: f64) -> f64 {
    (4.0 * g / (radius * libm::sin(alpha))).sqrt()
}

/// Angle between two orientations [rad].
#[must_use]
pub fn angle_between(p: Quat, q: Quat) -> f64 {
    let d = p.conjugate() * q;
    2.0 * libm::atan2(Vec3::new(d.x, d.y, d.z).length(), d.w.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytic::{G, radians};
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn pendulum_matches_the_table() {
        let t = rod_pendulum_period(1.0, FRAC_PI_2, G);
        assert!((t - 1.933_334_854_4).abs() < 6e-11);
        assert!((10.0 * t - 19.333_348_543_7).abs() < 6e-10);
        assert!((9.75 * t - 18.850_014_8).abs() < 6e-7, "{}", 9.75 * t);
        assert!((rod_pendulum_speed(1.0, FRAC_PI_2, G) - 5.424_942_396).abs() < 6e-11);
    }

    #[test]
    fn free_top_matches_the_table() {
        let table = [
            (
                Vec3::new(1.0, 2.0, 3.0),
                Vec3::new(0.3, 5.0, 0.2),
                Vec3::new(0.085_395_841_8, 5.008_263_925_8, 0.111_493_572_0),
                [
                    -0.987_093_498_8,
                    -0.010_036_016_7,
                    0.158_813_732_3,
                    0.017_997_264_2,
                ],
                1e-10,
            ),
            // Exponentially sensitive: the last digits of the table are its integrator's.
            (
                Vec3::new(1.0, 2.0, 3.0),
                Vec3::new(0.01, 5.0, 0.01),
                Vec3::new(0.015_715_217_7, 4.999_985_303_2, 0.012_206_119_6),
                [
                    -0.709_562_695_2,
                    -0.000_671_189_1,
                    -0.704_637_374_3,
                    -0.002_549_858_3,
                ],
                1e-8,
            ),
            (
                Vec3::new(0.4, 1.0, 1.2),
                Vec3::new(1.0, 2.0, 3.0),
                Vec3::new(-1.473_722_716_5, 1.457_746_949_2, 3.189_335_141_6),
                [
                    -0.413_855_374_8,
                    0.050_667_999_8,
                    -0.428_353_336_9,
                    -0.801_666_951_6,
                ],
                1e-10,
            ),
        ];
        for (i, w0, w, [qw, qx, qy, qz], tolerance) in table {
            let (spin, q) = free_top(i, w0, 20.0);
            assert!((spin - w).length() < tolerance, "{spin} {w}");
            let exact = Quat::from_xyzw(qx, qy, qz, qw);
            assert!(angle_between(q, exact) < 4.0 * tolerance, "{q} {exact}");
            let closed = free_top_spin(i, w0, 20.0);
            assert!((closed - w).length() < tolerance, "{closed} {w}");
        }
    }

    #[test]
    fn heavy_top_matches_the_table() {
        let top = HeavyTop {
            mass: 1.0,
            distance: 0.1,
            axial: 0.005,
            transverse: 0.01275,
        };
        let rate = top.steady_precession(radians(60.0), 150.0, G);
        assert!((rate - 1.322_874_984_9).abs() < 6e-11);
        assert!((10.0 * rate - 13.228_749_849_2).abs() < 6e-10);
        assert!((150.0 - 0.5 * rate - 149.338_562_507_5).abs() < 6e-11);
        let lower = top.cusp_lower_bound(radians(60.0), 60.0, G);
        assert!((lower - radians(76.245_461_229_4)).abs() < 1e-12);
    }

    #[test]
    fn jellett_and_disc_match_the_table() {
        let theta = 0.1;
        let e = Vec3::new(libm::sin(theta), 0.0, libm::cos(theta));
        let j = jellett(e * (1.25e-5 * 150.0), e, 0.025, 0.005);
        assert!((j - 3.726_582_0e-5).abs() < 6e-13, "{j}");
        assert!((disc_rate(0.0375, radians(30.0), G) - 45.747_131_057_6).abs() < 6e-11);
        assert!((disc_rate(0.0375, radians(10.0), G) - 77.627_169_429).abs() < 6e-11);
    }
}
