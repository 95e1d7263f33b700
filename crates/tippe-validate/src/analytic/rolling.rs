//! Round bodies that slide, take up rolling, roll down slopes and on a turntable.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `cases::{rolling, roll_down, turntable}`.
//! Source: \[Coriolis1835] (a ball's slip keeps its direction); \[Weltner79], \[Ehrlich95] (turntable).
//! Letters: k = I/(m r²), 2/5 for a solid ball; u slip of the contact point; Ω spin of the table.

use tippe::Vec3;

/// k of a solid ball.
pub const SOLID_SPHERE: f64 = 0.4;
/// k of a solid cylinder.
pub const SOLID_CYLINDER: f64 = 0.5;
/// k of a thin spherical shell.
pub const SHELL: f64 = 2.0 / 3.0;
/// k of a thin hoop.
pub const HOOP: f64 = 1.0;

/// A round body on level ground at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rolling {
    /// When slipping ends [s].
    pub time_rolling: f64,
    /// Where the centre is then, from its start [m].
    pub position_rolling: Vec3,
    /// Velocity from then on [m/s].
    pub velocity_rolling: Vec3,
    /// Velocity at the time asked for [m/s].
    pub velocity: Vec3,
    /// Displacement at the time asked for [m].
    pub position: Vec3,
}

/// Motion at time `t` of a ball started with velocity `v0` and slip `u0 = v0 + ω0 × (−r ẑ)` on level ground.
#[must_use]
pub fn slide_to_roll(v0: Vec3, u0: Vec3, k: f64, mu: f64, g: f64, t: f64) -> Rolling {
    let slip = u0.length();
    let direction = if slip > 0.0 { u0 / slip } else { Vec3::ZERO };
    // v̇ = −μg û,  u̇ = −μg (1 + 1/k) û: the slip keeps its direction and is used up at t₁ = |u₀| k/(1+k) / μg.
    let t1 = slip * k / (1.0 + k) / (mu * g);
    let at = |s: f64| v0 * s - direction * (0.5 * mu * g * s * s);
    let velocity_rolling = v0 - u0 * (k / (1.0 + k));
    let rolls = t >= t1;
    Rolling {
        time_rolling: t1,
        position_rolling: at(t1),
        velocity_rolling,
        velocity: if rolls {
            velocity_rolling
        } else {
            v0 - direction * (mu * g * t)
        },
        position: if rolls {
            at(t1) + velocity_rolling * (t - t1)
        } else {
            at(t)
        },
    }
}

/// Acceleration of a body that rolls down a slope without slip [m/s²].
#[must_use]
pub fn roll_acceleration(alpha: f64, k: f64, g: f64) -> f64 {
    g * libm::sin(alpha) / (1.0 + k)
}

/// The least friction coefficient with which it does not slip.
#[must_use]
pub fn roll_friction(alpha: f64, k: f64) -> f64 {
    libm::tan(alpha) * k / (1.0 + k)
}

/// Centre of a ball at time `t` that rolls without slip on a table turning at Ω about z through the origin.
///
/// The velocity turns at κ = Ω k/(1+k), so the path is a circle about `start + ẑ × v0 / κ`.
#[must_use]
pub fn turntable(start: Vec3, v0: Vec3, omega: f64, k: f64, t: f64) -> Vec3 {
    let circle = turntable_circle(start, v0, omega, k);
    let angle = circle.rate * t;
    let (s, c) = (libm::sin(angle), libm::cos(angle));
    let d = start - circle.center;
    circle.center + Vec3::new(c * d.x - s * d.y, s * d.x + c * d.y, d.z)
}

/// The circle that a ball runs on a turntable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    /// Centre [m].
    pub center: Vec3,
    /// Radius [m].
    pub radius: f64,
    /// Angular rate κ [rad/s].
    pub rate: f64,
}

/// Centre, radius and rate of the turntable circle.
#[must_use]
pub fn turntable_circle(start: Vec3, v0: Vec3, omega: f64, k: f64) -> Circle {
    let rate = omega * k / (1.0 + k);
    Circle {
        center: start + Vec3::Z.cross(v0) / rate,
        radius: v0.length() / rate,
        rate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytic::{G, radians};

    #[test]
    fn slide_to_roll_matches_the_table() {
        let v0 = Vec3::new(5.0, 0.0, 0.0);
        let r = slide_to_roll(v0, v0, SOLID_SPHERE, 0.2, G, 3.0);
        assert!((r.time_rolling - 0.728_119_994_2).abs() < 6e-11);
        assert!((r.position_rolling.x - 3.120_514_260_8).abs() < 6e-11);
        assert!((r.velocity.x - 3.571_428_571_4).abs() < 6e-11);
        assert!((r.position.x - 11.234_371_424_4).abs() < 6e-11);
        // Before the change both branches agree.
        let early = slide_to_roll(v0, v0, SOLID_SPHERE, 0.2, G, 0.5);
        assert!((early.velocity.x - (5.0 - 0.2 * G * 0.5)).abs() < 1e-14);
    }

    #[test]
    fn bowling_hook_matches_the_table() {
        let v0 = Vec3::new(8.0, 0.0, 0.0);
        let u0 = v0 + Vec3::new(-30.0, 0.0, 0.0).cross(Vec3::new(0.0, 0.0, -0.1085));
        assert!((u0 - Vec3::new(8.0, -3.255, 0.0)).length() < 1e-14);
        let r = slide_to_roll(v0, u0, SOLID_SPHERE, 0.1, G, 3.0);
        assert!((r.time_rolling - 2.515_462_690_3).abs() < 6e-11);
        assert!((r.velocity - Vec3::new(5.714_285_714_3, 0.93, 0.0)).length() < 6e-11);
        assert!((r.position.x - 20.017_671_646).abs() < 6e-11);
        assert!((r.position.y - 1.620_309_849).abs() < 6e-11);
    }

    #[test]
    fn roll_down_matches_the_table() {
        let table = [
            (SOLID_SPHERE, 2.961_346_534_1, 0.1332),
            (SOLID_CYLINDER, 2.763_923_431_8, 0.1554),
            (SHELL, 2.487_531_088_6, 0.1865),
            (HOOP, 2.072_942_573_8, 0.2332),
        ];
        for (k, a, mu) in table {
            assert!((roll_acceleration(radians(25.0), k, G) - a).abs() < 6e-11);
            assert!((roll_friction(radians(25.0), k) - mu).abs() < 6e-5);
        }
    }

    #[test]
    fn turntable_matches_the_table() {
        let (start, v0) = (Vec3::new(0.5, 0.0, 0.05), Vec3::new(0.0, 0.2, 0.0));
        let circle = turntable_circle(start, v0, std::f64::consts::PI, SOLID_SPHERE);
        assert!((circle.rate - 0.897_597_901).abs() < 6e-11);
        assert!((circle.radius - 0.222_816_920_3).abs() < 6e-11);
        assert!((circle.center.x - 0.277_183_079_7).abs() < 6e-11);
        let back = turntable(start, v0, std::f64::consts::PI, SOLID_SPHERE, 7.0);
        assert!((back - start).length() < 1e-14);
        // The path starts along v0.
        let soon = turntable(start, v0, std::f64::consts::PI, SOLID_SPHERE, 1e-6);
        assert!(((soon - start) / 1e-6 - v0).length() < 1e-6);
    }
}
