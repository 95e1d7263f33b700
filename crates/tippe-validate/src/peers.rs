//! What other engines score on the same cases, to print beside ours.
//!
//! Reads: rows.  Writes: comparisons.
//! Called by: the command line, tests, docs.
//! Source: measured on 15 November 2026 by small programs of our own, each engine at the settings of [`SETTINGS`].

use crate::case::{DT_COARSE, DT_FINE};
use crate::row::Row;

/// When the figures were measured.
pub const MEASURED: &str = "2026-11-15";

/// Version and settings of each engine.
pub const SETTINGS: [(&str, &str); 3] = [
    (
        "Rapier f32",
        "0.36.1, defaults (4 substeps, simplified friction, length_unit 1), sleeping off, allow_fast_rotation",
    ),
    (
        "Rapier f64",
        "0.36.1, defaults (4 substeps, simplified friction, length_unit 1), sleeping off, allow_fast_rotation",
    ),
    (
        "Box3D",
        "boxddd 0.4.0 (f32), 4 substeps, restitution threshold 0.01 m/s, sleeping off, allow_fast_rotation; ground a 100 m box",
    ),
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
    /// Rapier f32, Rapier f64, Box3D at 1 ms.
    pub fine: [f64; 3],
    /// The same at 1/60 s.
    pub coarse: [f64; 3],
}

const fn peer(
    case: &'static str,
    part: &'static str,
    measure: &'static str,
    fine: [f64; 3],
    coarse: [f64; 3],
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
    peer("F00", "position", "z error at 2 s [m]", [0.00295, 0.00245, 0.00285], [0.0409, 0.0409, 0.0409]),
    peer("F01", "distance", "relative", [5.7e-4, 5.6e-4, 0.00216], [0.0104, 0.0104, 0.00935]),
    peer("F02", "a", "m in 60 s", [1.69e-5, 1.44e-5, 4.88e-6], [8.39e-5, 7.85e-5, 9.29e-5]),
    peer("F02", "b", "m in 60 s", [1.59e-5, 1.4e-5, 5.07e-6], [1.57e-4, 1.08e-4, 1.25e-4]),
    peer("F02", "c", "relative", [0.00186, 0.00134, 0.00528], [0.0313, 0.0219, 0.0274]),
    peer("F03", "distance", "relative", [4.1e-4, 3.9e-4, 2.3e-4], [0.00684, 0.00684, 0.00629]),
    peer("F03", "lateral", "m", [7.42e-6, 4.77e-6, 9.46e-6], [2.75e-6, 4.69e-6, 2.43e-5]),
    peer("F04", "v", "relative", [5.8e-5, 2.1e-4, 0.00147], [0.00985, 0.00983, 0.00883]),
    peer("F04", "x", "m", [0.00231, 0.00189, 0.012], [0.0778, 0.0777, 0.0686]),
    peer("F05", "v", "v_y, relative", [6.8e-4, 1.3e-4, 1.1e-4], [0.00568, 0.00568, 0.00646]),
    peer("F05", "position", "y [m]", [3.77e-4, 2.43e-4, 0.00222], [0.0241, 0.024, 0.0204]),
    peer("F06", "a", "worst of 5 peaks, of h₀", [0.00876, 0.00877, 0.00852], [0.0523, 0.0523, 0.0254]),
    peer("F06", "b", "worst of 3 peaks, of h₀", [8.5e-4, 8.6e-4, 8.5e-4], [0.0114, 0.0114, 0.00948]),
    peer("F06", "c", "|height − 1| after 10 s", [0.046, 0.046, 0.025], [0.154, 0.154, 0.014]),
    peer("F07", "return", "radii at 21 s", [0.0755, 0.0754, 0.0739], [0.586, 0.586, 0.586]),
    peer("F08", "a-velocity", "worst k, of v", [0.498, 0.457, 0.509], [0.481, 0.481, 0.546]),
    peer("F08", "a-energy", "worst k, relative", [0.293, 0.386, 0.278], [0.33, 0.331, 0.265]),
    peer("F08", "b-velocity", "worst k, of v", [0.0, 0.0, 0.343], [0.473, 0.473, 0.377]),
    peer("F09", "velocity", "e = 1, of v", [0.0948, 0.0983, 0.0646], [0.103, 0.103, 0.0678]),
    peer("F09", "symmetry", "m/s", [0.057, 0.0587, 0.0498], [0.0626, 0.0626, 0.0476]),
    peer("F10", "a", "mean of 5 phases", [0.0948, 0.0945, 0.0879], [0.0801, 0.0801, 0.0796]),
    peer("F10", "b", "mean of 5 phases", [0.0427, 0.0421, 0.0515], [0.0133, 0.0133, 0.012]),
    peer("F10", "c", "mean of 5 phases", [0.583, 0.581, 0.576], [0.63, 0.63, 0.624]),
    peer("F11", "A", "mean of 5 phases", [0.3, 0.3, 0.296], [0.167, 0.167, 0.166]),
    peer("F11", "B", "mean of 5 phases", [0.121, 0.121, 0.119], [0.0823, 0.0822, 0.0817]),
    peer("F11", "C", "mean of 5 phases", [0.0819, 0.0819, 0.0784], [0.0454, 0.0454, 0.0449]),
    peer("F11", "D", "mean of 5 phases", [0.269, 0.269, 0.265], [0.123, 0.123, 0.122]),
    peer("F11", "E", "mean of 5 phases", [0.352, 0.351, 0.347], [0.349, 0.349, 0.333]),
    peer("F12", "a-J", "relative in 5 s", [0.0139, 0.0129, 0.0312], [0.014, 0.014, 0.015]),
    peer("F13", "a-L", "relative", [0.00669, 0.0016, 0.0143], [0.025, 0.0239, 0.0669]),
    peer("F13", "a-T", "relative", [0.0132, 1.2e-5, 0.0284], [0.00105, 1.5e-4, 0.129]),
    peer("F13", "a-angle", "rad at 20 s", [18.9 * DEG, 0.224 * DEG, 36.6 * DEG], [5.98 * DEG, 7.44 * DEG, 170.0 * DEG]),
    peer("F14", "a-precession", "relative", [0.0037, 0.0034, 0.00702], [0.0935, 0.0936, 0.00817]),
    peer("F14", "a-tilt", "°", [10.5, 10.5, 11.0], [110.0, 110.0, 111.0]),
    peer("F15", "time", "relative at 9.75 T", [0.00362, 0.00382, 2.4e-4], [0.0422, 0.0422, 6.0e-4]),
    peer("F15", "energy", "of m g L/2 after 60 s", [0.0951, 0.1, 0.00909], [0.661, 0.661, 0.0312]),
    peer("F16", "energy", "of m g L in 60 s", [0.337, 0.301, 0.469], [1.05, 1.05, 0.586]),
    peer("F17", "energy", "after 10 s", [0.266, 0.285, 0.561], [0.593, 0.592, 0.627]),
    peer("F17", "gap", "m", [2.01e-4, 8.38e-5, 0.00445], [0.0127, 0.0127, 0.00984]),
    peer("F18", "stand", "m", [0.014, 0.014, 0.014], [0.014, 0.014, 0.014]),
    peer("F18", "fall", "verdict", [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    peer("F19", "sag-10", "whole sag [m]", [0.0255, 0.0255, 0.0255], [0.0255, 0.0255, 0.0255]),
    peer("F19", "sag-20", "whole sag [m]", [0.107, 0.106, 0.106], [0.106, 0.106, 0.106]),
    peer("F19", "jitter-20", "m/s", [0.0118, 0.00369, 0.00831], [0.00459, 0.0153, 0.00315]),
    peer("F19", "sag-10x100", "whole sag [m]", [1.8, 0.5, 1.8], [0.493, 1.65, 1.8]),
    peer("F20", "displacement", "relative", [2.3e-5, 2.4e-5, NONE], [0.00772, 0.00769, NONE]),
    peer("F21", "energy", "relative", [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    peer("F24", "sphere-roll", "worst of all bodies, relative", [2.6e-4, 2.5e-4, 0.00201], [0.00588, 0.00588, 0.00633]),
    peer("F25", "stand", "m", [3.7e-5, 3.9e-5, 4.1e-5], [FELL, FELL, 3e-4]),
    peer("F25", "tip", "verdict", [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
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
}

/// Below this an error is rounding, and no figure of theirs tells it from zero.
const ROUNDING: f64 = 1e-12;

impl Comparison {
    /// Whether our error is below the better of theirs, or nothing but rounding.
    #[must_use]
    pub fn wins(&self) -> bool {
        self.ours < self.best || self.ours < ROUNDING
    }
}

/// Compares a measured row with the others' figures; `None` if they have none for this part and step.
#[must_use]
pub fn compare(row: &Row) -> Option<Comparison> {
    let ours = row.peer_error()?;
    let peer = PEERS
        .iter()
        .find(|p| p.case == row.case && p.part == row.part)?;
    let figures = if (row.dt / DT_FINE - 1.0).abs() < 1e-9 {
        peer.fine
    } else if (row.dt / DT_COARSE - 1.0).abs() < 1e-9 {
        peer.coarse
    } else {
        return None;
    };
    // `min` passes over NaN.
    let best = figures.into_iter().fold(f64::NAN, f64::min);
    Some(Comparison { peer, ours, best })
}

/// A table of our errors beside the others', for the rows that have figures.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let mut out = format!(
        "{:<5} {:<14} {:<8} {:>10} {:>11} {:>11} {:>10}  {}\n",
        "case", "part", "dt", "ours", "Rapier f32", "Rapier f64", "Box3D", "measure"
    );
    for (row, c) in rows.iter().filter_map(|r| compare(r).map(|c| (r, c))) {
        let [a, b, d] = if row.dt < 2.0 * DT_FINE {
            c.peer.fine
        } else {
            c.peer.coarse
        };
        let [a, b, d] = [a, b, d].map(figure);
        let mark = if c.wins() { ' ' } else { '!' };
        out.push_str(&format!(
            "{:<5} {:<14} {:<8} {:>10.2e}{mark}{a:>11} {b:>11} {d:>10}  {}\n",
            row.case,
            row.part,
            crate::row::step_name(row.dt),
            c.ours,
            c.peer.measure
        ));
    }
    out
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
        };
        let c = compare(&row(0.001)).unwrap();
        assert_eq!(c.best, 2.3e-5);
        assert!(!c.wins());
        assert!(compare(&row(1.0 / 60.0)).unwrap().wins());
        assert!(compare(&row(0.002)).is_none());
    }
}
