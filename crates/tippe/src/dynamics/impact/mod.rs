//! The impact law: one collision at one point with Coulomb friction, followed through the growing normal impulse.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: the methods that answer a lone colliding contact, `tippe impact`, users.
//! Source: [Mirtich94] §4 eq. 5–10, with what it leaves open settled in docs/methods/impact-law.md; [Keller86];
//! [Stronge90]; [Lecture] "Rigid Body Impact".
//! Letters: K with Δu = K P, n normal from A to B, u = u_B − u_A, P impulse on B, P_n its normal part, which plays the part of time.

#![allow(non_snake_case)]

mod collision;
mod slide;
mod stop;

pub use collision::{Path, PathPoint, Phase};
pub use stop::{AfterStop, after_stop};

use crate::error::BuildError;
use crate::material::Surface;
use crate::math::{Mat3, Vec3, tangents};

use collision::Collision;

/// What slip did, or came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    /// The point slides as it did on arrival, perhaps turned.
    Slides,
    /// Slip stopped and stays stopped.
    Sticks,
    /// Slip stopped and set in again along the outgoing ray.
    Resumes,
}

impl Slip {
    /// The word for it: `slide`, `stick` or `resumed`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slides => "slide",
            Self::Sticks => "stick",
            Self::Resumes => "resumed",
        }
    }
}

/// What an impact came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Impulse on B [N·s]; zero for a contact that separates.
    pub impulse: Vec3,
    /// Relative velocity after the impact, u + K P [m/s].
    pub velocity: Vec3,
    /// Slip at the end.
    pub slip: Slip,
    /// Normal impulse while the bodies approached [N·s].
    pub compression_impulse: f64,
    /// Normal impulse while they parted [N·s].
    pub restitution_impulse: f64,
    /// Normal work while the bodies approached, not positive [J].
    pub compression_work: f64,
    /// Normal work while they parted, not negative [J].
    pub restitution_work: f64,
    /// Change of kinetic energy, P·(u + ½ K P) [J]; the part that is not normal work is friction's.
    pub energy_change: f64,
    /// Friction drove the bodies together for a while: the normal velocity fell although they were pressed apart.
    pub jammed: bool,
    /// No impulse can stop the approach: the point cannot give way along n, or only together with slip that friction holds.
    pub locked: bool,
    /// The impulse was cut, by more than rounding, because it would have gained energy: K is nearly singular. Newton's law is left alone.
    pub guarded: bool,
    /// The limit on pieces was reached and the rest was followed along a straight line.
    pub capped: bool,
}

impl Impact {
    fn none(u: Vec3, locked: bool) -> Self {
        Self {
            impulse: Vec3::ZERO,
            velocity: u,
            slip: Slip::Slides,
            compression_impulse: 0.0,
            restitution_impulse: 0.0,
            compression_work: 0.0,
            restitution_work: 0.0,
            energy_change: 0.0,
            jammed: false,
            locked,
            guarded: false,
            capped: false,
        }
    }
}

/// One impact with friction.
///
/// `K` [1/kg] maps an impulse on B to the change of the relative velocity `u` = u_B − u_A [m/s] at the point; `n` is the unit normal from A to B. Of
/// `surface` the law uses both friction coefficients, restitution and impact law: an ideal Coulomb contact, so that `slip_speed` and the rolling and
/// spinning coefficients play no part. K may be singular. A contact that separates gets no impulse.
///
/// ```
/// use tippe::dynamics::impact::{Slip, impact};
/// use tippe::{Mat3, Surface, Vec3};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A uniform ball of 1 kg on a floor: 1/m along the normal, 7/(2m) along the floor.
/// let K = Mat3::from_diagonal(Vec3::new(3.5, 3.5, 1.0));
/// let ball = impact(K, Vec3::Z, Vec3::new(1.0, 0.5, -1.0), &Surface::new(0.3, 0.8))?;
/// assert_eq!(ball.slip, Slip::Sticks);
/// assert!((ball.velocity - Vec3::Z * 0.8).length() < 1e-12);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The first argument that makes no sense, and why.
pub fn impact(K: Mat3, n: Vec3, u: Vec3, surface: &Surface) -> Result<Impact, BuildError> {
    solve(K, n, u, surface, None)
}

/// The same impact with the path that the velocity takes through it, for pictures and diagnosis.
///
/// # Errors
/// As `impact`.
pub fn impact_with_path(
    K: Mat3,
    n: Vec3,
    u: Vec3,
    surface: &Surface,
) -> Result<(Impact, Path), BuildError> {
    let mut path = Path::default();
    let impact = solve(K, n, u, surface, Some(&mut path))?;
    Ok((impact, path))
}

/// A normal may be off unit length by this much [1].
const UNIT_TOLERANCE: f64 = 1e-9;
/// K may be unsymmetric and have negative minors by this much of its largest entry [1].
const MATRIX_TOLERANCE: f64 = 1e-9;
/// Below this share of the largest entry of K the point cannot move along the normal [1].
const IMMOVABLE: f64 = 1e-12;

fn solve(
    K: Mat3,
    n: Vec3,
    u: Vec3,
    surface: &Surface,
    path: Option<&mut Path>,
) -> Result<Impact, BuildError> {
    check(K, n, u)?;
    surface.check()?;
    let (t1, t2) = tangents(n);
    let F = Mat3::from_cols(t1, t2, n);
    let (K_F, u_F) = (F.transpose() * K * F, F.transpose() * u);
    if u_F.z >= 0.0 {
        return Ok(Impact::none(u, false));
    }
    // In units of the largest speed and the largest entry of K all numbers are of order one.
    let speed = u_F.abs().max_element();
    let response = largest(K_F);
    if K_F.z_axis.z <= IMMOVABLE * response {
        return Ok(Impact::none(u, true));
    }
    let mut collision = Collision::new(K_F * (1.0 / response), u_F / speed, surface, path);
    let mut found = collision.run();
    if let Some(path) = collision.into_path() {
        path.scale(F, speed, speed / response);
    }
    let (impulse, work) = (speed / response, speed * (speed / response));
    found.impulse = F * (found.impulse * impulse);
    found.velocity = u + K * found.impulse;
    found.compression_impulse *= impulse;
    found.restitution_impulse *= impulse;
    found.compression_work *= work;
    found.restitution_work *= work;
    found.energy_change *= work;
    let numbers = [found.energy_change, found.compression_work];
    if found.velocity.is_finite() && numbers.iter().all(|x| x.is_finite()) {
        Ok(found)
    } else {
        Err(BuildError::new(
            "K",
            "the impulse is beyond the range of numbers",
        ))
    }
}

fn largest(K: Mat3) -> f64 {
    K.to_cols_array().iter().fold(0.0, |s, x| s.max(x.abs()))
}

fn check(K: Mat3, n: Vec3, u: Vec3) -> Result<(), BuildError> {
    if !u.is_finite() {
        return Err(BuildError::new(
            "velocity",
            format!("must be finite, got {u}"),
        ));
    }
    if !(n.is_finite() && (n.length() - 1.0).abs() <= UNIT_TOLERANCE) {
        return Err(BuildError::new(
            "normal",
            format!("must have unit length, got {n}"),
        ));
    }
    let size = largest(K);
    if !(K.is_finite() && size.is_finite()) {
        return Err(BuildError::new("K", "must be finite"));
    }
    if size == 0.0 {
        return Ok(());
    }
    let K = K * (1.0 / size);
    if largest(K - K.transpose()) > MATRIX_TOLERANCE {
        return Err(BuildError::new("K", "must be symmetric"));
    }
    // Not negative definite in any direction: all principal minors.
    let [x, y, z] = [K.x_axis, K.y_axis, K.z_axis];
    let minors = [
        x.x,
        y.y,
        z.z,
        x.x * y.y - x.y * y.x,
        x.x * z.z - x.z * z.x,
        y.y * z.z - y.z * z.y,
        K.determinant(),
    ];
    if minors.iter().any(|m| *m < -MATRIX_TOLERANCE) {
        return Err(BuildError::new(
            "K",
            "must be positive semidefinite: an impulse cannot push a point towards itself",
        ));
    }
    Ok(())
}

/// Velocities after a central impact of two masses, and the work lost to deformation [J].
///
/// `V_A⁺ = V̄ + e M_B/(M_A+M_B) V_rel`, `V_B⁺ = V̄ − e M_A/(M_A+M_B) V_rel`, `W = ½ M_A M_B/(M_A+M_B) V_rel² (1 − e²)`.
#[must_use]
pub fn central(m_a: f64, m_b: f64, v_a: f64, v_b: f64, restitution: f64) -> (f64, f64, f64) {
    let total = m_a + m_b;
    let mean = (m_a * v_a + m_b * v_b) / total;
    let relative = v_b - v_a;
    let work = 0.5 * m_a * m_b / total * relative * relative * (1.0 - restitution * restitution);
    (
        mean + restitution * m_b / total * relative,
        mean - restitution * m_a / total * relative,
        work,
    )
}
