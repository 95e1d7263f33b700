//! Cones and boxes: projection, derivative, De Saxcé's shift, natural-map residual. The only scalar form of friction in the solver.
//!
//! Reads: impulses r and velocities u of one group of rows.  Writes: what the law answers to them.
//! Called by: `solver::core` and its phases.
//! Source: [DeSaxce98] for the shift u_n + μ|u_t|; projection on Coulomb's cone [AlartCurnier91]; several cones on one normal as in [AcaryBourrier21].
//!
//! Coulomb's law is r = proj(r − ρ (u + s n)) with the shift s = μ|u_t|, for any ρ > 0. With rolling and spinning resistance (coefficients a, b) the cone is the
//! intersection |t| ≤ μ n, |m| ≤ a n, |w| ≤ b n, its shift μ|u_t| + a|ω_t| + b|ω_n|. Torques are scaled by the length κ = √(ρ_torque/ρ), so that one ρ serves
//! all six rows; natural maps are then velocities.

use super::problem::{Friction, Law, ROWS_MAX};

/// Length of a 2-vector.
#[must_use]
pub fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// Projection of (n, t1, t2) on |t| ≤ μ n.
#[must_use]
pub fn project(z: [f64; 3], mu: f64) -> [f64; 3] {
    let t = length(z[1], z[2]);
    // Without friction the second alone would hold for a pull too.
    if z[0] >= 0.0 && t <= mu * z[0] {
        return z;
    }
    if mu * t <= -z[0] {
        return [0.0; 3];
    }
    let n = (z[0] + mu * t) / (1.0 + mu * mu);
    if mu == 0.0 || t == 0.0 {
        return [n, 0.0, 0.0];
    }
    [n, mu * n * z[1] / t, mu * n * z[2] / t]
}

/// The same with its derivative, row major.
#[must_use]
pub fn project_derivative(z: [f64; 3], mu: f64) -> ([f64; 3], [f64; 9]) {
    let t = length(z[1], z[2]);
    if mu > 0.0 && t <= mu * z[0] {
        return (z, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }
    if mu * t <= -z[0] {
        return ([0.0; 3], [0.0; 9]);
    }
    let n = (z[0] + mu * t) / (1.0 + mu * mu);
    if mu == 0.0 || t == 0.0 {
        let mut d = [0.0; 9];
        d[0] = 1.0;
        return ([n, 0.0, 0.0], d);
    }
    let (x, y) = (z[1] / t, z[2] / t);
    // Along the generator, and around the axis.
    let (a, b) = ([1.0, mu * x, mu * y], [0.0, -y, x]);
    let (along, around) = (1.0 / (1.0 + mu * mu), mu * n / t);
    let d = std::array::from_fn(|k| along * a[k / 3] * a[k % 3] + around * b[k / 3] * b[k % 3]);
    ([n, mu * n * x, mu * n * y], d)
}

/// Rows of the parts of a contact with torques: tangential force, rolling torque, spinning torque.
const PARTS: [std::ops::Range<usize>; 3] = [1..3, 3..5, 5..6];

/// Projection on |z_j| ≤ c_j n for three parts j that share the normal, and its derivative if asked for.
///
/// n solves n − z_n = Σ c_j (|z_j| − c_j n)₊, which is piecewise linear: parts inside their bound are dropped until none is left to drop.
fn project_parts(z: &[f64; 6], c: [f64; 3], derivative: Option<&mut [f64]>) -> [f64; 6] {
    let size = PARTS.map(|j| z[j].iter().map(|x| x * x).sum::<f64>().sqrt());
    let mut bound = [true; 3];
    let mut n = 0.0;
    for _ in 0..=3 {
        let over = |f: &dyn Fn(usize) -> f64| -> f64 { (0..3).filter(|&j| bound[j]).map(f).sum() };
        n = (z[0] + over(&|j| c[j] * size[j])) / (1.0 + over(&|j| c[j] * c[j]));
        let mut dropped = false;
        for j in 0..3 {
            if bound[j] && size[j] <= c[j] * n {
                bound[j] = false;
                dropped = true;
            }
        }
        if !dropped {
            break;
        }
    }
    let mut p = [0.0; 6];
    if n <= 0.0 {
        if let Some(d) = derivative {
            d.fill(0.0);
        }
        return p;
    }
    p[0] = n;
    for (j, rows) in PARTS.into_iter().enumerate() {
        for i in rows {
            p[i] = if !bound[j] {
                z[i]
            } else if size[j] > 0.0 {
                c[j] * n * z[i] / size[j]
            } else {
                0.0
            };
        }
    }
    if let Some(d) = derivative {
        parts_derivative(z, c, n, size, bound, d);
    }
    p
}

fn parts_derivative(
    z: &[f64; 6],
    c: [f64; 3],
    n: f64,
    size: [f64; 3],
    bound: [bool; 3],
    d: &mut [f64],
) {
    d.fill(0.0);
    let mut along = [0.0; 6];
    along[0] = 1.0;
    let mut sum = 1.0;
    for (j, rows) in PARTS.into_iter().enumerate() {
        if !bound[j] {
            for i in rows {
                d[7 * i] = 1.0;
            }
            continue;
        }
        sum += c[j] * c[j];
        if size[j] == 0.0 {
            continue;
        }
        let around = c[j] * n / size[j];
        for i in rows.clone() {
            along[i] = c[j] * z[i] / size[j];
            for k in rows.clone() {
                let own = if i == k { 1.0 } else { 0.0 };
                d[6 * i + k] = around * (own - z[i] * z[k] / (size[j] * size[j]));
            }
        }
    }
    for i in 0..6 {
        for k in 0..6 {
            d[6 * i + k] += along[i] * along[k] / sum;
        }
    }
}

/// De Saxcé's shift of a contact's normal velocity: μ|u_t|, with torques also a|ω_t| + b|ω_n|. Regularised sliding has no shift of its own.
#[must_use]
pub fn shift(friction: &Friction, u: &[f64]) -> f64 {
    let mut s = 0.0;
    if friction.slip_speed == 0.0 {
        s += friction.sliding * length(u[1], u[2]);
    }
    if u.len() == ROWS_MAX {
        s += friction.rolling * length(u[3], u[4]) + friction.spinning * u[5].abs();
    }
    s
}

/// The shift μ(√(|u_t|² + ε²) − ε) of the interior point, without cancellation, and its derivative by u_t.
#[must_use]
pub fn smooth_shift(mu: f64, u: [f64; 2], epsilon: f64) -> (f64, [f64; 2]) {
    let squared = u[0] * u[0] + u[1] * u[1];
    let root = (squared + epsilon * epsilon).sqrt();
    if root == 0.0 {
        return (0.0, [0.0; 2]);
    }
    (
        mu * squared / (root + epsilon),
        [mu * u[0] / root, mu * u[1] / root],
    )
}

/// Scales of one group: ρ of its forces, and the length κ of its torques.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scales {
    /// Impulse per velocity.
    pub rho: f64,
    /// √(ρ of torques / ρ of forces).
    pub kappa: f64,
}

/// `r⁺ = proj(r − ρ (u + s n))` with the shift held (`Some`) or that of u.
pub fn answer(law: &Law, scales: Scales, r: &[f64], u: &[f64], held: Option<f64>, out: &mut [f64]) {
    respond(law, scales, r, u, held, out, None);
}

/// The same, and its derivative by −u, row major: symmetric if the shift is held.
pub fn answer_derivative(
    law: &Law,
    scales: Scales,
    r: &[f64],
    u: &[f64],
    held: Option<f64>,
    out: &mut [f64],
    weight: &mut [f64],
) {
    respond(law, scales, r, u, held, out, Some(weight));
}

fn respond(
    law: &Law,
    scales: Scales,
    r: &[f64],
    u: &[f64],
    held: Option<f64>,
    out: &mut [f64],
    weight: Option<&mut [f64]>,
) {
    let rho = scales.rho;
    match law {
        Law::Equality => {
            out[0] = r[0] - rho * u[0];
            if let Some(w) = weight {
                w[0] = rho;
            }
        }
        Law::Bounded { low, high } => {
            let z = r[0] - rho * u[0];
            out[0] = z.max(*low).min(*high);
            if let Some(w) = weight {
                w[0] = if *low < z && z < *high { rho } else { 0.0 };
            }
        }
        Law::Cone(f) if u.len() == 3 && f.slip_speed == 0.0 => {
            respond_cone(f.sliding, rho, r, u, held, out, weight);
        }
        Law::Cone(f) => respond_parts(f, scales, r, u, held, out, weight),
    }
}

fn respond_cone(
    mu: f64,
    rho: f64,
    r: &[f64],
    u: &[f64],
    held: Option<f64>,
    out: &mut [f64],
    weight: Option<&mut [f64]>,
) {
    let slip = length(u[1], u[2]);
    let s = held.unwrap_or(mu * slip);
    let z = [
        r[0] - rho * (u[0] + s),
        r[1] - rho * u[1],
        r[2] - rho * u[2],
    ];
    let Some(w) = weight else {
        out.copy_from_slice(&project(z, mu));
        return;
    };
    let (p, d) = project_derivative(z, mu);
    out.copy_from_slice(&p);
    for k in 0..9 {
        w[k] = rho * d[k];
    }
    // ∂s/∂u_t = μ u_t/|u_t| goes through the column of the normal.
    if held.is_none() && slip > 0.0 {
        for k in 0..3 {
            let n = w[3 * k];
            w[3 * k + 1] += n * mu * u[1] / slip;
            w[3 * k + 2] += n * mu * u[2] / slip;
        }
    }
}

/// Contacts with torques or regularised sliding.
fn respond_parts(
    f: &Friction,
    scales: Scales,
    r: &[f64],
    u: &[f64],
    held: Option<f64>,
    out: &mut [f64],
    weight: Option<&mut [f64]>,
) {
    let (rho, kappa, rows) = (scales.rho, scales.kappa, u.len());
    let regular = f.slip_speed > 0.0;
    let s = held.unwrap_or_else(|| shift(f, u));
    let unit = |i: usize| if i < 3 { 1.0 } else { kappa };
    let mut z = [0.0; 6];
    for i in 0..rows {
        z[i] = r[i] / unit(i) - rho * unit(i) * u[i];
    }
    z[0] -= rho * s;
    if regular {
        (z[1], z[2]) = (0.0, 0.0);
    }
    let c = [
        if regular { 0.0 } else { f.sliding },
        f.rolling / kappa,
        f.spinning / kappa,
    ];
    let mut d = [0.0; 36];
    let p = project_parts(&z, c, weight.is_some().then_some(&mut d));
    for i in 0..rows {
        out[i] = p[i] * unit(i);
    }
    if regular {
        let root = (u[1] * u[1] + u[2] * u[2] + f.slip_speed * f.slip_speed).sqrt();
        for i in 1..3 {
            out[i] = -f.sliding * p[0] * u[i] / root;
        }
    }
    if let Some(w) = weight {
        parts_weight(f, scales, u, held.is_some(), p[0], &d, w);
    }
}

fn parts_weight(
    f: &Friction,
    scales: Scales,
    u: &[f64],
    held: bool,
    n: f64,
    d: &[f64; 36],
    w: &mut [f64],
) {
    let rows = u.len();
    let unit = |i: usize| if i < 3 { 1.0 } else { scales.kappa };
    let regular = f.slip_speed > 0.0;
    // ∂s/∂u
    let mut slope = [0.0; 6];
    if !held {
        let mut part = |rows: std::ops::Range<usize>, c: f64| {
            let size = u[rows.clone()].iter().map(|x| x * x).sum::<f64>().sqrt();
            for i in rows {
                slope[i] = if size > 0.0 { c * u[i] / size } else { 0.0 };
            }
        };
        if !regular {
            part(1..3, f.sliding);
        }
        if rows == 6 {
            part(3..5, f.rolling);
            part(5..6, f.spinning);
        }
    }
    for i in 0..rows {
        for k in 0..rows {
            w[rows * i + k] = scales.rho * unit(i) * (d[6 * i + k] * unit(k) + d[6 * i] * slope[k]);
        }
    }
    if regular {
        // t = −μ n u_t/√(u_t² + ε²): by −u_t itself, and through n unless that is held.
        let squared = f.slip_speed * f.slip_speed;
        let root = (u[1] * u[1] + u[2] * u[2] + squared).sqrt();
        for i in 1..3 {
            for k in 0..rows {
                w[rows * i + k] = if held {
                    0.0
                } else {
                    -f.sliding * u[i] / root * w[k]
                };
            }
            for k in 1..3 {
                let own = if i == k { 1.0 } else { 0.0 };
                w[rows * i + k] += f.sliding * n / root * (own - u[i] * u[k] / (root * root));
            }
        }
    }
}

/// Projection in scaled coordinates (r over its scale `lambda`, torques over `lambda κ`), in place. Regularised sliding counts as Coulomb's.
pub fn project_scaled(law: &Law, kappa: f64, lambda: f64, z: &mut [f64]) {
    match law {
        Law::Equality => {}
        Law::Bounded { low, high } => z[0] = z[0].max(low / lambda).min(high / lambda),
        Law::Cone(f) if z.len() == 3 => {
            let p = project([z[0], z[1], z[2]], f.sliding);
            z.copy_from_slice(&p);
        }
        Law::Cone(f) => {
            let mut all = [0.0; 6];
            all.copy_from_slice(z);
            let c = [f.sliding, f.rolling / kappa, f.spinning / kappa];
            z.copy_from_slice(&project_parts(&all, c, None));
        }
    }
}

/// Natural map |r − proj(r − ρ (u + s n))|/ρ of one group [unit of u].
#[must_use]
pub fn residual(law: &Law, scales: Scales, r: &[f64], u: &[f64]) -> f64 {
    let mut p = [0.0; ROWS_MAX];
    answer(law, scales, r, u, None, &mut p[..r.len()]);
    let mut sum = 0.0;
    for i in 0..r.len() {
        let e = (r[i] - p[i]) / if i < 3 { 1.0 } else { scales.kappa };
        sum += e * e;
    }
    let size = sum.sqrt() / scales.rho;
    if size.is_nan() { f64::INFINITY } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pulls_is_projected_to_nothing_with_and_without_friction() {
        for mu in [0.0, 0.3] {
            for t in [0.0, 0.1] {
                assert_eq!(project([-2.0, t, 0.0], mu), [0.0; 3], "μ = {mu}, t = {t}");
                assert_eq!(project_derivative([-2.0, t, 0.0], mu).0, [0.0; 3]);
            }
            assert_eq!(project([2.0, 0.0, 0.0], mu), [2.0, 0.0, 0.0]);
        }
    }
}
