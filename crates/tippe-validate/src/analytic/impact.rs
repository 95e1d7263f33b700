//! Impacts: bouncing, oblique balls, simultaneous balls, and one contact with friction in impulse space.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `cases::{bounce, balls, oblique, rod}`.
//! Source: Newton (1687) (restitution), \[Routh1905] (friction during impact), \[Keller86], \[Stronge90], \[Mirtich94].
//! Letters: planar, x along the ground, z up, spin w about +y: the point at r moves with (v_x + w r_z, v_z − w r_x).

/// Peak number `n` of a ball dropped from `h0`: e²ⁿ h0 [m].
#[must_use]
pub fn bounce_peak(e: f64, h0: f64, n: u32) -> f64 {
    (0..n).fold(h0, |h, _| h * e * e)
}

/// Bounces followed by [`bounce_height`]; what comes after is lower than anyone can see.
const BOUNCES_MAX: u32 = 1000;

/// Height of a ball's lowest point at time `t` after it was dropped from `h0` [m].
#[must_use]
pub fn bounce_height(e: f64, h0: f64, g: f64, t: f64) -> f64 {
    let first = (2.0 * h0 / g).sqrt();
    if t <= first {
        return h0 - 0.5 * g * t * t;
    }
    // Each flight starts with e times the speed of the last and takes 2 v/g.
    let (mut since, mut v) = (t - first, e * g * first);
    for _ in 0..BOUNCES_MAX {
        let flight = 2.0 * v / g;
        if since <= flight {
            return (v - 0.5 * g * since) * since;
        }
        since -= flight;
        v *= e;
    }
    0.0
}

/// When a ball dropped from `h0` has come to rest, after infinitely many bounces [s].
#[must_use]
pub fn bounce_rest_time(e: f64, h0: f64, g: f64) -> f64 {
    (2.0 * h0 / g).sqrt() * (1.0 + e) / (1.0 - e)
}

/// What restitution ratio `e` is a ratio of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Of normal velocities.
    Newton,
    /// Of normal impulses.
    Poisson,
    /// Of the square roots of normal works.
    Stronge,
}

impl Law {
    /// All laws.
    pub const ALL: [Self; 3] = [Self::Stronge, Self::Poisson, Self::Newton];

    /// The name used in scene files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Newton => "newton",
            Self::Poisson => "poisson",
            Self::Stronge => "stronge",
        }
    }
}

/// A planar body meeting the ground at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarImpact {
    /// Mass [kg].
    pub mass: f64,
    /// Inertia about the centre of mass [kg·m²].
    pub inertia: f64,
    /// Contact point from the centre of mass, (x, z) [m].
    pub arm: [f64; 2],
    /// Velocity of the centre of mass before, (x, z) [m/s].
    pub velocity: [f64; 2],
    /// Spin before [rad/s].
    pub spin: f64,
    /// Coulomb friction.
    pub friction: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
}

/// What the impact leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarOutcome {
    /// Velocity of the centre of mass, (x, z) [m/s].
    pub velocity: [f64; 2],
    /// Spin [rad/s].
    pub spin: f64,
    /// Slip of the contact point [m/s].
    pub slip: f64,
    /// Change of kinetic energy [J].
    pub energy_change: f64,
}

/// Slip below which a contact counts as sticking, relative to the speeds of the cases [m/s].
const SLIP_ZERO: f64 = 1e-13;
/// Most pieces of an impact: slide, stick or slide back, in compression and in restitution.
const PIECES_MAX: usize = 12;

impl PlanarImpact {
    /// Integrates Coulomb friction along the normal impulse, piece by piece in closed form, under the law.
    #[must_use]
    pub fn solve(&self, law: Law) -> PlanarOutcome {
        let [r_x, r_z] = self.arm;
        // Contact velocity per impulse: K = 1/m E + 1/I [r_z², −r_x r_z; −r_x r_z, r_x²]
        let k_xx = 1.0 / self.mass + r_z * r_z / self.inertia;
        let k_xz = -r_x * r_z / self.inertia;
        let k_zz = 1.0 / self.mass + r_x * r_x / self.inertia;
        let mut slip = self.velocity[0] + self.spin * r_z;
        let mut normal = self.velocity[1] - self.spin * r_x;
        let approach = normal;
        let (mut p_x, mut p_z, mut work) = (0.0, 0.0, 0.0);
        // Impulse and work at the end of compression, once it is reached.
        let mut compression: Option<(f64, f64)> = None;
        for _ in 0..PIECES_MAX {
            let ratio = friction_ratio(slip, k_xx, k_xz, self.friction);
            let (slip_rate, normal_rate) = (k_xz + k_xx * ratio, k_zz + k_xz * ratio);
            let end = match compression {
                None if normal_rate > 0.0 => -normal / normal_rate,
                None => f64::INFINITY,
                Some((p_c, w_c)) => match law {
                    Law::Newton => (-self.restitution * approach - normal) / normal_rate,
                    Law::Poisson => (1.0 + self.restitution) * p_c - p_z,
                    Law::Stronge => {
                        // W + u p + ½ u' p² = (1 − e²) W_c
                        let left = (1.0 - self.restitution * self.restitution) * w_c - work;
                        let root = (normal * normal + 2.0 * normal_rate * left).max(0.0).sqrt();
                        (root - normal) / normal_rate
                    }
                },
            }
            .max(0.0);
            let stop = if slip * slip_rate < 0.0 {
                -slip / slip_rate
            } else {
                f64::INFINITY
            };
            let p = end.min(stop);
            work += normal * p + 0.5 * normal_rate * p * p;
            slip = if stop <= end {
                0.0
            } else {
                slip + slip_rate * p
            };
            normal += normal_rate * p;
            p_x += ratio * p;
            p_z += p;
            if end <= stop {
                if compression.is_some() {
                    break;
                }
                normal = 0.0;
                compression = Some((p_z, work));
            }
        }
        self.outcome(p_x, p_z, slip)
    }

    fn outcome(&self, p_x: f64, p_z: f64, slip: f64) -> PlanarOutcome {
        let velocity = [
            self.velocity[0] + p_x / self.mass,
            self.velocity[1] + p_z / self.mass,
        ];
        let spin = self.spin + (self.arm[1] * p_x - self.arm[0] * p_z) / self.inertia;
        let kinetic = |v: [f64; 2], w: f64| {
            0.5 * self.mass * (v[0] * v[0] + v[1] * v[1]) + 0.5 * self.inertia * w * w
        };
        PlanarOutcome {
            velocity,
            spin,
            slip,
            energy_change: kinetic(velocity, spin) - kinetic(self.velocity, self.spin),
        }
    }
}

/// Tangential impulse per normal impulse: against the slip, or what keeps it zero, or the bound where that is not enough.
fn friction_ratio(slip: f64, k_xx: f64, k_xz: f64, mu: f64) -> f64 {
    if slip.abs() > SLIP_ZERO {
        return -mu * slip.signum();
    }
    (-k_xz / k_xx).clamp(-mu, mu)
}

/// Impulse per mass that a ball of speed 1 gives each of two touching equal balls it hits symmetrically, without friction.
#[must_use]
pub fn break_impulse(e: f64) -> f64 {
    // Centres at ±30°: J/m = (1 + e) cos 30° / 2.5
    (1.0 + e) * (3f64.sqrt() / 2.0) / 2.5
}

/// Velocities after the three-ball break at speed 1: of the first ball along x, of the two others (x, ±y) [m/s].
#[must_use]
pub fn break_three(e: f64) -> (f64, [f64; 2]) {
    let j = break_impulse(e);
    let c = 3f64.sqrt() / 2.0;
    (1.0 - 2.0 * j * c, [j * c, 0.5 * j])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytic::{G, radians};

    #[test]
    fn bounce_matches_the_table() {
        let peaks: Vec<f64> = (1..=5).map(|n| bounce_peak(0.9, 1.0, n)).collect();
        for (peak, exact) in
            peaks
                .iter()
                .zip([0.81, 0.6561, 0.531_441, 0.430_467_21, 0.348_678_440_1])
        {
            assert!((peak - exact).abs() < 1e-15);
        }
        assert_eq!(bounce_peak(0.5, 1.0, 4), 0.003_906_25);
        assert!((bounce_rest_time(0.9, 1.0, G) - 8.578_949_178_7).abs() < 6e-11);
        assert!((bounce_rest_time(0.5, 1.0, G) - 1.354_570_923).abs() < 6e-11);
    }

    #[test]
    fn oblique_sphere_matches_the_table() {
        let table = [
            ([3.0, -2.0], 0.0, 0.1, [2.68, 1.2], 8.0),
            (
                [3.0, -2.0],
                0.0,
                0.5,
                [2.142_857_142_9, 1.2],
                21.428_571_428_6,
            ),
            ([1.0, -2.0], -60.0, 0.3, [0.04, 1.2], -36.0),
        ];
        for (velocity, spin, friction, v, w) in table {
            let impact = PlanarImpact {
                mass: 1.0,
                inertia: 0.004,
                arm: [0.0, -0.1],
                velocity,
                spin,
                friction,
                restitution: 0.6,
            };
            // With r_x = 0 friction and restitution do not couple: the laws agree.
            for law in [Law::Newton, Law::Poisson, Law::Stronge] {
                let out = impact.solve(law);
                assert!((out.velocity[0] - v[0]).abs() < 6e-11, "{out:?}");
                assert!((out.velocity[1] - v[1]).abs() < 1e-13, "{out:?}");
                assert!((out.spin - w).abs() < 6e-11, "{out:?}");
            }
        }
        // Sticks from μ = 2 v_x / (7 (1 + e) v_z) on.
        assert!((2.0 * 3.0 / (7.0 * 1.6 * 2.0) - 0.267_857f64).abs() < 5e-7);
    }

    #[test]
    fn break_three_matches_the_table() {
        let (v1, v2) = break_three(1.0);
        assert!(
            (v1 + 0.2).abs() < 1e-15
                && (v2[0] - 0.6).abs() < 1e-15
                && (v2[1] - 0.346_410_161_5).abs() < 6e-11
        );
        let (v1, v2) = break_three(0.8);
        assert!(
            (v1 + 0.08).abs() < 1e-15
                && (v2[0] - 0.54).abs() < 1e-15
                && (v2[1] - 0.311_769_145_4).abs() < 6e-11
        );
    }

    fn rod(theta: f64, velocity: [f64; 2], friction: f64, restitution: f64) -> PlanarImpact {
        let t = radians(theta);
        PlanarImpact {
            mass: 1.0,
            inertia: 1.0 / 12.0,
            arm: [-0.5 * libm::cos(t), -0.5 * libm::sin(t) - 0.02],
            velocity,
            spin: 0.0,
            friction,
            restitution,
        }
    }

    #[test]
    fn rod_matches_the_table() {
        use Law::{Newton, Poisson, Stronge};
        let (a, b) = (
            rod(60.0, [0.0, -2.0], 0.6, 0.5),
            rod(60.0, [0.0, -2.0], 0.2, 0.5),
        );
        let (c, d) = (
            rod(45.0, [1.0, -2.0], 0.3, 0.5),
            rod(30.0, [-0.5, -2.0], 0.9, 0.5),
        );
        let e = rod(45.0, [0.6, -1.0], 0.8, 0.8);
        let table = [
            (
                a,
                Stronge,
                [0.967_827, 0.465_894, 2.136_424, 0.0, -1.232_947],
            ),
            (
                a,
                Newton,
                [0.967_827, 0.465_894, 2.136_424, 0.0, -1.232_947],
            ),
            (
                b,
                Stronge,
                [0.405_901, 0.029_506, 3.881_977, -1.352_684, -1.289_281],
            ),
            (
                c,
                Newton,
                [1.134_178, -0.714_939, 4.850_580, -0.677_772, -0.620_913],
            ),
            (
                c,
                Poisson,
                [1.104_665, -0.813_316, 4.565_498, -0.600_792, -0.690_626],
            ),
            (
                c,
                Stronge,
                [1.112_237, -0.788_076, 4.638_640, -0.620_542, -0.674_392],
            ),
            (
                d,
                Poisson,
                [0.858_603, -0.490_441, 3.442_025, -0.070_743, -1.142_487],
            ),
            (
                e,
                Newton,
                [0.924_047, -0.074_573, 2.473_667, 0.0, 0.004_671],
            ),
            (
                e,
                Poisson,
                [0.816_060, -0.256_806, 2.184_587, 0.0, -0.115_198],
            ),
            (
                e,
                Stronge,
                [0.836_101, -0.222_986, 2.238_237, 0.0, -0.096_869],
            ),
        ];
        for (impact, law, exact) in table {
            let out = impact.solve(law);
            let got = [
                out.velocity[0],
                out.velocity[1],
                out.spin,
                out.slip,
                out.energy_change,
            ];
            for (g, x) in got.iter().zip(exact) {
                assert!((g - x).abs() < 6e-7, "{law:?}: {got:?} {exact:?}");
            }
        }
    }

    #[test]
    fn painleve_rod_is_stopped_by_a_tangential_impact() {
        // The end slides into its own friction at 3 m/s without approaching; an impact without collision brings it to rest.
        let impact = PlanarImpact {
            velocity: [-3.0, 0.0],
            ..rod(60.0, [0.0, 0.0], 1.5, 0.0)
        };
        let out = impact.solve(Law::Stronge);
        assert_eq!(out.slip, 0.0);
        assert!(out.energy_change < 0.0);
    }
}
