//! The cases, one file per family: scene text, oracle, tolerance and its reason.
//!
//! Reads: `analytic` (answers).  Writes: nothing.
//! Called by: `run`.
//! Source: each case names its own.

pub mod balls;
pub mod bounce;
pub mod chain;
pub mod cube_toss;
pub mod ellipse;
pub mod euler_disk;
pub mod flight;
pub mod free_top;
pub mod heavy_top;
pub mod isotropy;
pub mod joint_drift;
pub mod oblique;
pub mod one_step;
pub mod overhang;
pub mod painleve;
pub mod pendulum;
pub mod rod;
pub mod roll_down;
pub mod rolling;
pub mod slope;
pub mod stack;
pub mod tippe_top;
pub mod tipping;
pub mod turntable;
pub mod wedge;

use crate::case::Case;

/// Every case, in order.
#[must_use]
pub fn all_cases() -> &'static [Case] {
    const CASES: &[Case] = &[
        flight::F00,
        slope::F01,
        slope::F02,
        isotropy::F03,
        rolling::F04,
        rolling::F05,
        bounce::F06,
        turntable::F07,
        balls::F08,
        balls::F09,
        oblique::F10,
        rod::F11,
        tippe_top::F12,
        free_top::F13,
        heavy_top::F14,
        pendulum::F15,
        pendulum::F16,
        chain::F17,
        overhang::F18,
        stack::F19,
        wedge::F20,
        painleve::F21,
        joint_drift::F22,
        euler_disk::F23,
        roll_down::F24,
        tipping::F25,
        cube_toss::F26,
        ellipse::F27,
        one_step::F28,
    ];
    CASES
}

/// The cases of these ids, in the order of the ids; the ids that name no case as error.
///
/// # Errors
/// The unknown ids.
pub fn find_cases(ids: &[&str]) -> Result<Vec<Case>, Vec<String>> {
    let find = |id: &str| {
        all_cases()
            .iter()
            .find(|c| c.id.eq_ignore_ascii_case(id))
            .copied()
    };
    let unknown: Vec<String> = ids
        .iter()
        .filter(|id| find(id).is_none())
        .map(|id| (*id).to_owned())
        .collect();
    if unknown.is_empty() {
        Ok(ids.iter().filter_map(|id| find(id)).collect())
    } else {
        Err(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_complete_and_part_names_are_unique() {
        let cases = all_cases();
        assert_eq!(cases.len(), 29);
        for (i, case) in cases.iter().enumerate() {
            assert_eq!(case.id, format!("F{i:02}"));
            let names: Vec<&str> = case.parts().map(|p| p.name).collect();
            for (k, name) in names.iter().enumerate() {
                assert!(
                    !names[..k].contains(name),
                    "{} has two parts `{name}`",
                    case.id
                );
            }
            assert!(
                case.parts()
                    .all(|p| !p.measure.is_empty() && !p.reason.is_empty()),
                "{}",
                case.id
            );
        }
    }

    #[test]
    fn cases_are_found_by_id() {
        assert_eq!(
            find_cases(&["f13", "F01"])
                .unwrap()
                .iter()
                .map(|c| c.id)
                .collect::<Vec<_>>(),
            ["F13", "F01"]
        );
        assert_eq!(find_cases(&["F99", "F01"]).unwrap_err(), ["F99"]);
    }
}
