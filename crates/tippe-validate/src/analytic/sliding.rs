//! Blocks that slide with Coulomb friction, on the flat and on a slope, and the wedge that gives way.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `cases::{slope, isotropy, wedge}`.
//! Source: Coulomb (1785) (friction independent of speed); elementary. α slope angle, μ friction, g gravity.

/// Where and when a sliding body comes to rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Distance covered [m].
    pub distance: f64,
    /// Time taken [s].
    pub time: f64,
}

impl Stop {
    /// Distance covered until the time `t` [m], at constant deceleration.
    #[must_use]
    pub fn way(&self, t: f64) -> f64 {
        let left = (1.0 - t / self.time).max(0.0);
        self.distance * (1.0 - left * left)
    }
}

/// A block launched down a slope at `v0` [m/s] that friction brings to rest; infinite if μ does not exceed tan α.
#[must_use]
pub fn slope_stop(v0: f64, mu: f64, alpha: f64, g: f64) -> Stop {
    // a = g (μ cos α − sin α),  d = v₀²/2a,  t = v₀/a
    let a = -slope_acceleration(mu, alpha, g);
    if a <= 0.0 {
        return Stop {
            distance: f64::INFINITY,
            time: f64::INFINITY,
        };
    }
    Stop {
        distance: v0 * v0 / (2.0 * a),
        time: v0 / a,
    }
}

/// Acceleration down the slope of a body that slides down it [m/s²]; negative if friction wins.
#[must_use]
pub fn slope_acceleration(mu: f64, alpha: f64, g: f64) -> f64 {
    g * (libm::sin(alpha) - mu * libm::cos(alpha))
}

/// A block sliding on level ground.
#[must_use]
pub fn level_stop(v0: f64, mu: f64, g: f64) -> Stop {
    slope_stop(v0, mu, 0.0, g)
}

/// Accelerations of a block on a frictionless wedge that is itself free to slide on frictionless ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wedge {
    /// Of the wedge, backwards [m/s²].
    pub wedge: f64,
    /// Of the block along the slope, relative to the wedge [m/s²].
    pub relative: f64,
    /// Of the block, forwards [m/s²].
    pub block_x: f64,
    /// Of the block, upwards (negative) [m/s²].
    pub block_z: f64,
}

/// Block of mass `m` on a wedge of mass `wedge_mass` and angle α.
#[must_use]
pub fn wedge(m: f64, wedge_mass: f64, alpha: f64, g: f64) -> Wedge {
    let (s, c) = (libm::sin(alpha), libm::cos(alpha));
    // Horizontal momentum is zero; Lagrange's equations for wedge position and block position on it.
    let divisor = wedge_mass + m * s * s;
    let wedge = m * g * s * c / divisor;
    let relative = (wedge_mass + m) * g * s / divisor;
    Wedge {
        wedge,
        relative,
        block_x: relative * c - wedge,
        block_z: -relative * s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytic::{G, radians};

    #[test]
    fn slope_stop_matches_the_table() {
        for (mu, d) in [
            (0.35, 2.572_375_415_4),
            (0.5, 0.909_565_807_7),
            (0.8, 0.396_701_738_3),
        ] {
            let stop = slope_stop(2.0, mu, radians(15.0), G);
            assert!((stop.distance - d).abs() < 6e-11, "{mu}: {stop:?}");
            assert!((stop.time - d).abs() < 6e-11, "{mu}: {stop:?}");
        }
        assert!(
            slope_stop(2.0, 0.2, radians(15.0), G)
                .distance
                .is_infinite()
        );
    }

    #[test]
    fn slope_slide_matches_the_table() {
        let alpha = radians(20.0);
        let tan = libm::tan(alpha);
        assert!((tan - 0.363_970_234_3).abs() < 6e-11);
        let a = slope_acceleration(0.95 * tan, alpha, G);
        assert!((a - 0.167_760_880_3).abs() < 6e-11);
        assert!((0.5 * a * 4.0 - 0.335_521_760_6).abs() < 6e-11);
    }

    #[test]
    fn level_stop_matches_the_table() {
        let stop = level_stop(3.0, 0.5, G);
        assert!((stop.distance - 0.917_431_192_7).abs() < 6e-11);
        assert!((stop.time - 0.611_620_795_1).abs() < 6e-11);
    }

    #[test]
    fn wedge_matches_the_table() {
        let w = wedge(1.0, 2.0, radians(30.0), G);
        assert!((w.wedge - 1.887_935_380_3).abs() < 6e-11);
        assert!((w.block_x - 3.775_870_760_5).abs() < 6e-11);
        assert!((w.block_z + 3.27).abs() < 1e-12);
        assert!((w.relative - 6.54).abs() < 1e-12);
        assert!((0.125 * w.wedge - 0.235_991_922_5).abs() < 6e-11);
        assert!((0.125 * w.block_x - 0.471_983_845_1).abs() < 6e-11);
    }
}
