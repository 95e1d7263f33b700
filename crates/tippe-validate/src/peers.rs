//! What other engines score on the same cases, to print beside ours.
//!
//! Reads: rows.  Writes: comparisons.
//! Called by: the command line, tests, docs.
//! Source: measured on 15 November 2026 by small programs of our own, each engine at the settings of [`SETTINGS`].

use crate::case::{DT_COARSE, DT_FINE};
use crate::row::Row;

/// When the figures were measured.
pub const MEASURED: &str = "2026-11-15";

/// How many engines have figures.
pub const ENGINES: usize = 6;

/// Version and settings of each engine.
pub const SETTINGS: [(&str, &str); ENGINES] = [
    (
        "MuJoCo",
        "4.0.0, Euler, pyramidal cone, Newton solver, solref 0.02 1; where e > 0 a spring and damper for e, solimp 0.99, refsafe off",
    ),
    (
        "MuJoCo RK4",
        "the same with RK4, elliptic cone, impratio 10, noslip_iterations 10",
    ),
    (
        "Bullet",
        "pybullet 3.2.7, multibody, 50 iterations, damping 0, speed cap lifted; joints through URDF (reduced coordinates)",
    ),
    (
        "Rapier f32",
        "0.36.1, defaults (4 substeps, simplified friction, length_unit 1), impulse joints, sleeping off, allow_fast_rotation",
    ),
    (
        "Rapier f64",
        "0.36.1, defaults (4 substeps, simplified friction, length_unit 1), impulse joints, sleeping off, allow_fast_rotation",
    ),
    (
        "Box3D",
        "boxddd 0.4.0 (f32), 4 substeps, restitution threshold 0.01 m/s, sleeping off, allow_fast_rotation; ground a 100 m box",
    ),
];

/// Engines of [`SETTINGS`] from this one on are the ones that Tippe's own tests measure it against.
const RIVALS: usize = 3;

/// What other engines score on the measured cube tosses (F26) with one set of parameters: position [widths], rotation [°].
pub const TOSSES: [(&str, f64, f64); 6] = [
    ("Bullet, parameters of [Acosta22]", 0.156, 16.6),
    ("MuJoCo, tuned a little", 0.145, 19.1),
    ("MuJoCo, parameters of [Acosta22]", 0.280, 23.9),
    ("Rapier f64, μ 0.18, e 0, length_unit 0.1", 0.142, 20.8),
    ("Box3D, μ 0.18, e 0", 0.159, 25.1),
    ("Drake 1.51, parameters of [Acosta22]", 0.202, 26.0),
];

/// One figure of the other engines: the size of the error, SI units; NaN where an engine has none, infinite where it fell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peer {
    /// Case.
    pub case: &'static str,
    /// Part, as ours.
    pub part: &'static str,
    /// What was measured; where it differs from our part, our `peer_error` is the same measure.
    pub measure: &'static str,
    /// The engines of [`SETTINGS`] at 1 ms.
    pub fine: [f64; ENGINES],
    /// The same at 1/60 s.
    pub coarse: [f64; ENGINES],
}

const fn peer(
    case: &'static str,
    part: &'static str,
    measure: &'static str,
    fine: [f64; ENGINES],
    coarse: [f64; ENGINES],
) -> Peer {
    Peer {
        case,
        part,
        measure,
        fine,
        coarse,
    }
}

const NONE: f64 = f64::NAN;
/// What should have stood fell.
const FELL: f64 = f64::INFINITY;
/// Radians in a degree.
const DEG: f64 = std::f64::consts::PI / 180.0;

/// All figures that have a part of ours beside them.
#[rustfmt::skip]
pub const PEERS: &[Peer] = &[
    peer("F00", "position", "z error at 2 s [m]", [0.00981, 1.4e-13, 0.00981, 0.00295, 0.00245, 0.00285], [0.164, 1.8e-14, 0.164, 0.0409, 0.0409, 0.0409]),
    peer("F01", "distance", "relative", [0.00094, 0.00063, 0.00242, 0.00057, 0.00056, 0.00216], [0.0328, 0.00279, 0.153, 0.0104, 0.0104, 0.00935]),
    peer("F02", "a", "m in 60 s", [0.108, 2.75e-05, 0.000364, 1.69e-05, 1.44e-05, 4.88e-06], [0.18, 0.000622, 0.00119, 8.39e-05, 7.85e-05, 9.29e-05]),
    peer("F02", "b", "m in 60 s", [0.163, 9.38e-05, 0.00424, 1.59e-05, 1.4e-05, 5.07e-06], [1.89, 0.000723, 29.0, 0.000157, 0.000108, 0.000125]),
    peer("F02", "c", "relative", [0.00212, 6.3e-07, 0.0183, 0.00186, 0.00134, 0.00528], [0.0786, 0.00601, 1.85, 0.0313, 0.0219, 0.0274]),
    peer("F03", "distance", "relative", [0.413, 0.00941, 0.00166, 0.00041, 0.00039, 0.00023], [0.387, 0.00596, 0.0463, 0.00684, 0.00684, 0.00629]),
    peer("F03", "lateral", "m", [0.204, 0.00569, 0.00068, 7.42e-06, 4.77e-06, 9.46e-06], [0.24, 0.00412, 0.0211, 2.75e-06, 4.69e-06, 2.43e-05]),
    peer("F04", "v", "relative", [0.0001, 0.00054, 9.3e-15, 5.8e-05, 0.00021, 0.00147], [0.00898, 0.00226, 1.3e-15, 0.00985, 0.00983, 0.00883]),
    peer("F04", "x", "m", [0.00147, 0.00423, 0.000712, 0.00231, 0.00189, 0.012], [0.0849, 0.018, 0.0118, 0.0778, 0.0777, 0.0686]),
    peer("F05", "v", "v_y, relative", [0.147, 0.00044, 2.2e-16, 0.00068, 0.00013, 0.00011], [0.167, 0.00651, 2.2e-16, 0.00568, 0.00568, 0.00646]),
    peer("F05", "position", "y [m]", [0.978, 0.00027, 0.000465, 0.000377, 0.000243, 0.00222], [1.02, 0.00121, 0.00775, 0.0241, 0.024, 0.0204]),
    peer("F06", "a", "worst of 5 peaks, of h₀", [0.0104, 0.146, 0.531, 0.00876, 0.00877, 0.00852], [0.0713, 0.114, 0.473, 0.0523, 0.0523, 0.0254]),
    peer("F06", "b", "worst of 3 peaks, of h₀", [0.0625, 0.0513, 0.25, 0.00085, 0.00086, 0.00085], [0.00925, 0.0165, 0.0418, 0.0114, 0.0114, 0.00948]),
    peer("F06", "c", "|height − 1| after 10 s", [0.0, 0.001, 1.00001, 0.046, 0.046, 0.025], [0.02, 0.0, 1.76, 0.154, 0.154, 0.014]),
    peer("F07", "return", "radii at 21 s", [0.51, 0.205, 0.0085, 0.0755, 0.0754, 0.0739], [0.277, 0.373, 0.151, 0.586, 0.586, 0.586]),
    peer("F08", "a-velocity", "worst k, of v", [0.781, 0.78, 0.694, 0.498, 0.457, 0.509], [0.782, 0.783, 0.832, 0.481, 0.481, 0.546]),
    peer("F08", "a-energy", "worst k, relative", [0.0122, 0.00371, 0.12, 0.293, 0.386, 0.278], [0.114, 0.0259, 0.13, 0.33, 0.331, 0.265]),
    peer("F08", "b-velocity", "worst k, of v", [0.471, 0.471, 0.0609, 0.0, 0.0, 0.343], [0.672, 0.686, 0.149, 0.473, 0.473, 0.377]),
    peer("F09", "velocity", "e = 1, of v", [0.0197, 0.0195, 0.00693, 0.0948, 0.0983, 0.0646], [0.142, 0.14, 0.0437, 0.103, 0.103, 0.0678]),
    peer("F09", "symmetry", "m/s", [1.1e-16, 5.6e-17, 1.6e-06, 0.057, 0.0587, 0.0498], [2.8e-16, 1e-15, 3.8e-07, 0.0626, 0.0626, 0.0476]),
    peer("F10", "a", "mean of 5 phases", [0.0179, 0.0188, 0.333, 0.0948, 0.0945, 0.0879], [0.0687, 0.0691, 0.0204, 0.0801, 0.0801, 0.0796]),
    peer("F10", "b", "mean of 5 phases", [0.229, 0.228, 0.333, 0.0427, 0.0421, 0.0515], [0.207, 0.203, 0.0204, 0.0133, 0.0133, 0.012]),
    peer("F10", "c", "mean of 5 phases", [0.0459, 0.046, 0.537, 0.583, 0.581, 0.576], [0.291, 0.289, 0.033, 0.63, 0.63, 0.624]),
    peer("F11", "A", "mean of 5 phases", [0.036, 0.0324, 0.415, 0.3, 0.3, 0.296], [0.576, 0.52, 0.0532, 0.167, 0.167, 0.166]),
    peer("F11", "B", "mean of 5 phases", [0.0577, 0.0568, 0.346, 0.121, 0.121, 0.119], [0.442, 0.399, 0.0437, 0.0823, 0.0822, 0.0817]),
    peer("F11", "C", "mean of 5 phases", [0.146, 0.146, 0.322, 0.0819, 0.0819, 0.0784], [0.481, 0.43, 0.166, 0.0454, 0.0454, 0.0449]),
    peer("F11", "D", "mean of 5 phases", [0.0715, 0.0647, 0.28, 0.269, 0.269, 0.265], [0.369, 0.342, 0.036, 0.123, 0.123, 0.122]),
    peer("F11", "E", "mean of 5 phases", [0.267, 0.273, 0.321, 0.352, 0.351, 0.347], [0.664, 0.603, 0.109, 0.349, 0.349, 0.333]),
    peer("F12", "a-J", "relative in 5 s", [0.00013, 6.9e-07, 2.8e-15, 0.0139, 0.0129, 0.0312], [0.0208, 0.00755, 0.00319, 0.014, 0.014, 0.015]),
    peer("F13", "a-L", "relative", [0.0188, 2.9e-11, 0.0188, 0.00669, 0.0016, 0.0143], [0.41, 2.2e-06, 0.41, 0.025, 0.0239, 0.0669]),
    peer("F13", "a-T", "relative", [0.0356, 3.9e-13, 0.0356, 0.0132, 1.2e-05, 0.0284], [0.979, 7.9e-08, 0.979, 0.00105, 0.00015, 0.129]),
    peer("F13", "a-angle", "rad at 20 s", [48.8 * DEG, 0.0, 48.8 * DEG, 18.9 * DEG, 0.224 * DEG, 36.6 * DEG], [87.0 * DEG, 0.0, 87.0 * DEG, 5.98 * DEG, 7.44 * DEG, 170.0 * DEG]),
    peer("F14", "a-precession", "relative", [3.99, 7.9e-06, 334.0, 0.0037, 0.0034, 0.00702], [0.762, 0.149, 101.0, 0.0935, 0.0936, 0.00817]),
    peer("F14", "a-tilt", "°", [120.0, 0.0006, 80.0, 10.5, 10.5, 11.0], [120.0, 120.0, 91.8, 110.0, 110.0, 111.0]),
    peer("F14", "b", "lower bound in the last 5 s [°]", [56.8, 0.0455, 56.8, 6.05, 6.05, 4.85], [104.0, 17.1, 59.8, 92.8, 92.8, 93.8]),
    peer("F15", "time", "relative at 9.75 T", [2.7e-05, 6.3e-12, 2.7e-05, 0.00362, 0.00382, 0.00024], [0.00044, 2.6e-09, 0.00044, 0.0422, 0.0422, 0.0006]),
    peer("F15", "energy", "of m g L/2 after 60 s", [0.00049, 1.6e-12, 0.00049, 0.0951, 0.1, 0.00909], [0.00816, 2e-06, 0.00816, 0.661, 0.661, 0.0312]),
    peer("F16", "energy", "of m g L in 60 s", [0.333, 1.6e-08, 0.388, 0.337, 0.301, 0.469], [1.89, 0.021, 1.89, 1.05, 1.05, 0.586]),
    peer("F17", "energy", "after 10 s", [0.191, 0.00038, 0.00941, 0.266, 0.285, 0.561], [0.00555, 0.00391, 1.7e+08, 0.593, 0.592, 0.627]),
    peer("F17", "gap", "m", [6.8e-16, 7e-16, 6.8e-16, 0.000201, 8.38e-05, 0.00445], [5.5e-16, 6.7e-16, 6.7e-16, 0.0127, 0.0127, 0.00984]),
    peer("F18", "stand", "m", [0.015, FELL, 0.0027, 0.014, 0.014, 0.014], [FELL, FELL, FELL, 0.014, 0.014, 0.014]),
    peer("F18", "fall", "verdict", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    peer("F19", "sag-10", "whole sag [m]", [0.00162, 0.00504, 0.000177, 0.0255, 0.0255, 0.0255], [0.00365, 0.012, 1.84, 0.0255, 0.0255, 0.0255]),
    peer("F19", "sag-20", "whole sag [m]", [0.00572, 3.8, 0.000688, 0.107, 0.106, 0.106], [0.011, 3.8, 3.8, 0.106, 0.106, 0.106]),
    peer("F19", "jitter-20", "m/s", [7.5e-13, 2.8e-06, 0.0289, 0.0118, 0.00369, 0.00831], [0.0004, 4.7e-10, 5e-05, 0.00459, 0.0153, 0.00315]),
    peer("F19", "sag-10x100", "whole sag [m]", [0.0145, 1.8, 0.0027, 1.8, 0.5, 1.8], [0.0401, 1.8, 1.8, 0.493, 1.65, 1.8]),
    peer("F20", "displacement", "relative", [0.00166, 0.00034, 0.00353, 2.3e-05, 2.4e-05, NONE], [0.0326, 0.00071, 0.0517, 0.00772, 0.00769, NONE]),
    peer("F21", "energy", "relative", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    peer("F24", "sphere-roll", "worst of all bodies, relative", [0.00146, 0.00132, 0.001, 0.00026, 0.00025, 0.00201], [0.0175, 0.00254, 0.0167, 0.00588, 0.00588, 0.00633]),
    peer("F25", "stand", "m", [0.022, 0.00021, 0.00086, 3.7e-05, 3.9e-05, 4.1e-05], [FELL, FELL, FELL, FELL, FELL, 0.0003]),
    peer("F25", "tip", "verdict", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
];

/// Our error beside theirs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Their figures.
    pub peer: &'static Peer,
    /// Ours in their measure.
    pub ours: f64,
    /// The better of Rapier and Box3D.
    pub best: f64,
    /// The best of all.
    pub best_of_all: f64,
}

/// Below this an error is rounding, and no figure of theirs tells it from zero.
const ROUNDING: f64 = 1e-12;

impl Comparison {
    /// Whether our error is below the better of theirs, or nothing but rounding.
    #[must_use]
    pub fn wins(&self) -> bool {
        self.ours < self.best || self.ours < ROUNDING
    }

    /// Whether some other engine is better, and not by rounding alone.
    #[must_use]
    pub fn loses(&self) -> bool {
        self.ours > self.best_of_all && self.ours >= ROUNDING
    }
}

/// Compares a measured row with the others' figures; `None` if they have none for this part and step.
#[must_use]
pub fn compare(row: &Row) -> Option<Comparison> {
    let ours = row.peer_error()?;
    let peer = PEERS
        .iter()
        .find(|p| p.case == row.case && p.part == row.part)?;
    let figures = peer.at(row.dt)?;
    // `min` passes over NaN.
    let least = |some: &[f64]| some.iter().copied().fold(f64::NAN, f64::min);
    Some(Comparison {
        peer,
        ours,
        best: least(&figures[RIVALS..]),
        best_of_all: least(&figures),
    })
}

impl Peer {
    /// The figures at a step; `None` where none were measured.
    #[must_use]
    pub fn at(&self, dt: f64) -> Option<[f64; ENGINES]> {
        let is = |step: f64| (dt / step - 1.0).abs() < 1e-9;
        if is(DT_FINE) {
            Some(self.fine)
        } else if is(DT_COARSE) {
            Some(self.coarse)
        } else {
            None
        }
    }
}

/// A figure of theirs as text.
#[must_use]
pub fn figure(x: f64) -> String {
    match x {
        x if x.is_nan() => "-".to_owned(),
        x if x.is_infinite() => "fell".to_owned(),
        x => format!("{x:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Form;
    use crate::row::Outcome;

    #[test]
    fn every_figure_names_a_part_of_ours() {
        for p in PEERS {
            let case = crate::cases::all_cases()
                .iter()
                .find(|c| c.id == p.case)
                .unwrap();
            assert!(
                case.parts().any(|part| part.name == p.part),
                "{} {}",
                p.case,
                p.part
            );
        }
    }

    #[test]
    fn the_better_engine_is_the_mark() {
        let row = |dt| Row {
            case: "F20",
            part: "displacement",
            method: "sequential".to_owned(),
            form: Form::Maximal,
            dt,
            outcome: Outcome::Measured {
                error: 2.35e-5,
                tolerance: 1e-3,
                peer_error: None,
            },
            cpu: 0.0,
        };
        let c = compare(&row(0.001)).unwrap();
        assert_eq!(c.best, 2.3e-5);
        assert!(!c.wins());
        assert!(compare(&row(1.0 / 60.0)).unwrap().wins());
        assert!(compare(&row(0.002)).is_none());
    }
}
