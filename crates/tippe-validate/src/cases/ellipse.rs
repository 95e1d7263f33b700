//! F27: measured impacts of an ellipse, predicted by the impact law alone.
//!
//! Reads: `ellipse-impacts/impacts.csv` in the folder of measured data.  Writes: nothing.
//! Called by: `run`.
//! Source: [Fazeli17]; one friction coefficient and one restitution for all impacts, fitted for each law; no time stepping.
//! Letters: the file's plane is x, y up with spin counter-clockwise; ours is x, z up, so that its spin w is −ω_y.

use std::path::{Path, PathBuf};

use tippe::dynamics::impact::impact;
use tippe::dynamics::impulse::point_response;
use tippe::{ImpactLaw, Mat3, Surface, Vec3};

use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::columns::columns;
use crate::support::Feature;

/// Mass [kg] and inertia [kg·m²] of the ellipse, semi-axes 35 and 25 mm.
const MASS: f64 = 0.037;
const INERTIA: f64 = MASS * (0.035 * 0.035 + 0.025 * 0.025) / 4.0;

/// Measured impacts of an ellipse.
pub const F27: Case = Case {
    id: "F27",
    name: "ellipse-impact",
    source: "[Fazeli17]",
    trials: &[Trial {
        parts: &[Part {
            name: "velocity",
            measure: "mean error of the best law [1]",
            tolerance: Tolerance::Constant(0.105),
            reason: "what the best fitted law leaves is 0.1045",
        }],
        needs: &[Feature::EllipseImpacts],
        run: velocity,
    }],
};

/// The file inside a folder of measured data.
#[must_use]
pub fn file(data: &Path) -> PathBuf {
    data.join("ellipse-impacts").join("impacts.csv")
}

/// One measured impact: velocities of the centre (x, z) and spin before and after, and the lever arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    before: [f64; 3],
    after: [f64; 3],
    arm: [f64; 2],
}

impl Measured {
    /// √(Δvᵀ M Δv / v₀ᵀ M v₀) of the predicted velocity after the impact, M = diag(m, m, I); `None` if the law refuses.
    fn error(&self, surface: &Surface) -> Option<f64> {
        let [v_x, v_z, w] = self.before;
        let r = Vec3::new(self.arm[0], 0.0, self.arm[1]);
        let inverse_inertia = Mat3::from_diagonal(Vec3::splat(1.0 / INERTIA));
        let spin = Vec3::new(0.0, -w, 0.0);
        let u = Vec3::new(v_x, 0.0, v_z) + spin.cross(r);
        let response = point_response(1.0 / MASS, inverse_inertia, r);
        let p = impact(response, Vec3::Z, u, surface).ok()?.impulse;
        let spin = spin + inverse_inertia * r.cross(p);
        let found = [v_x + p.x / MASS, v_z + p.z / MASS, -spin.y];
        let off: [f64; 3] = std::array::from_fn(|i| found[i] - self.after[i]);
        let energy = |v: [f64; 3]| MASS * (v[0] * v[0] + v[1] * v[1]) + INERTIA * v[2] * v[2];
        Some((energy(off) / energy(self.before)).sqrt())
    }
}

/// The impacts of the file that its owners did not mark as doubtful.
///
/// # Errors
/// The line and the column that is no number or not there.
pub fn read(text: &str) -> Result<Vec<Measured>, String> {
    let names = [
        "vx_pre", "vy_pre", "w_pre", "vx_post", "vy_post", "w_post", "rx", "ry", "flagged",
    ];
    let impacts: Vec<Measured> = columns(text, names)?
        .into_iter()
        .filter(|x| x[8] == 0.0)
        .map(|x| Measured {
            before: [x[0], x[1], x[2]],
            after: [x[3], x[4], x[5]],
            arm: [x[6], x[7]],
        })
        .collect();
    if impacts.is_empty() {
        return Err("no impacts".to_owned());
    }
    Ok(impacts)
}

/// Mean error with the best friction and restitution for all impacts: a grid, refined around its best point.
#[must_use]
pub fn fitted(impacts: &[Measured], impact_law: ImpactLaw) -> (f64, f64, f64) {
    let mean = |mu: f64, e: f64| {
        let surface = Surface {
            impact_law,
            ..Surface::new(mu, e)
        };
        let sum: Option<f64> = impacts.iter().map(|m| m.error(&surface)).sum();
        sum.map_or(f64::INFINITY, |s| s / impacts.len() as f64)
    };
    let (mut best, mut step) = ((mean(0.5, 0.5), 0.5, 0.5), 0.1);
    for _ in 0..10 {
        let (_, mu0, e0) = best;
        for i in -5..=5 {
            for j in -5..=5 {
                let (mu, e) = (mu0 + step * f64::from(i), e0 + step * f64::from(j));
                if mu < 0.0 || !(0.0..=1.0).contains(&e) {
                    continue;
                }
                let error = mean(mu, e);
                if error < best.0 {
                    best = (error, mu, e);
                }
            }
        }
        step *= 0.3;
        if step < 1e-4 {
            break;
        }
    }
    best
}

fn velocity(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let data = setup
        .data
        .as_deref()
        .ok_or_else(|| Stopped::new("no folder of data"))?;
    let path = file(data);
    let text = std::fs::read_to_string(&path)
        .map_err(|e| Stopped::new(format!("{}: {e}", path.display())))?;
    let impacts = read(&text).map_err(|e| Stopped::new(format!("{}: {e}", path.display())))?;
    let laws = [ImpactLaw::Stronge, ImpactLaw::Poisson, ImpactLaw::Newton];
    let best = laws
        .map(|law| fitted(&impacts, law).0)
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    Ok(vec![Value::from(best)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Impacts made by the law itself, written as the file has them.
    fn made(mu: f64, e: f64) -> String {
        let mut text = String::from(
            "impact,flagged,x,y,theta,vx_pre,vy_pre,w_pre,x_post,y_post,theta_post,vx_post,vy_post,w_post,rx,ry\n",
        );
        for i in 0..40 {
            let (v_x, w) = (0.1 * f64::from(i) - 2.0, f64::from(i % 7) * 5.0 - 15.0);
            let (r_x, r_y) = (0.002 * f64::from(i % 9) - 0.008, -0.03);
            let r = Vec3::new(r_x, 0.0, r_y);
            let inverse = Mat3::from_diagonal(Vec3::splat(1.0 / INERTIA));
            let u = Vec3::new(v_x - w * r_y, 0.0, -2.0 + w * r_x);
            let k = point_response(1.0 / MASS, inverse, r);
            let p = impact(k, Vec3::Z, u, &Surface::new(mu, e)).unwrap().impulse;
            // I dw = m (rx dvy − ry dvx), as the data's page says.
            let dw = (r_x * p.z - r_y * p.x) / INERTIA;
            let flagged = u8::from(i == 3);
            let spoiled = if i == 3 { 100.0 } else { 0.0 };
            text += &format!(
                "{i},{flagged},0,0,0,{v_x},-2.0,{w},0,0,0,{},{},{},{r_x},{r_y}\n",
                v_x + p.x / MASS + spoiled,
                -2.0 + p.z / MASS,
                w + dw
            );
        }
        text
    }

    #[test]
    fn the_fit_finds_what_made_the_data() {
        let impacts = read(&made(0.2, 0.55)).unwrap();
        assert_eq!(impacts.len(), 39, "doubtful impacts are left out");
        let (error, mu, e) = fitted(&impacts, ImpactLaw::Stronge);
        assert!(error < 2e-3, "{error}");
        assert!(
            (mu - 0.2).abs() < 2e-3 && (e - 0.55).abs() < 2e-3,
            "{mu} {e}"
        );
    }

    #[test]
    fn broken_files_are_told() {
        let good = made(0.2, 0.5);
        assert!(read("").unwrap_err().contains("column"));
        assert!(
            read(good.lines().next().unwrap())
                .unwrap_err()
                .contains("no impacts")
        );
        assert!(
            read(&good.replacen("-2.0", "x", 1))
                .unwrap_err()
                .contains("line 2")
        );
    }
}
