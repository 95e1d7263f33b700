//! Did you mean: the known word nearest to an unknown one.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `read` (unknown fields and words), `build` (unknown materials, methods).
//! Source: optimal string alignment distance; a short list of words other engines use for the same thing.

/// Words of other programs, and ours for the same thing.
const SYNONYMS: [(&str, &str); 42] = [
    ("mu", "friction"),
    ("mu_s", "friction_static"),
    ("mu_k", "friction_kinetic"),
    ("static_friction", "friction_static"),
    ("dynamic_friction", "friction_kinetic"),
    ("rolling_friction", "friction_rolling"),
    ("bounce", "restitution"),
    ("bounciness", "restitution"),
    ("elasticity", "restitution"),
    ("e", "restitution"),
    ("pos", "position"),
    ("translation", "position"),
    ("origin", "position"),
    ("orientation", "rotation"),
    ("quaternion", "rotation"),
    ("quat", "rotation"),
    ("euler", "rotation_deg"),
    ("rpy", "rotation_deg"),
    ("vel", "velocity"),
    ("linear_velocity", "velocity"),
    ("omega", "angular_velocity"),
    ("spin", "angular_velocity"),
    ("angvel", "angular_velocity"),
    ("com", "center"),
    ("centre", "center"),
    ("static", "fixed"),
    ("moving", "dynamic"),
    ("cube", "box"),
    ("cuboid", "box"),
    ("ball", "sphere"),
    ("plane", "half_space"),
    ("ground", "half_space"),
    ("halfspace", "half_space"),
    ("pill", "capsule"),
    ("type", "kind"),
    ("timestep", "dt"),
    ("time_step", "dt"),
    ("duration", "seconds"),
    ("time", "seconds"),
    ("bodies", "body"),
    ("template", "body"),
    ("solver", "method"),
];

/// The candidate nearest to `word`, if one is near enough to be meant.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase().replace('-', "_");
    let known: Vec<&str> = candidates.into_iter().collect();
    let synonym = SYNONYMS
        .iter()
        .filter(|(theirs, _)| *theirs == lower)
        .map(|(_, ours)| *ours);
    for ours in synonym {
        if let Some(found) = known.iter().find(|k| **k == ours) {
            return Some(found);
        }
    }
    // Long strangers are not worth comparing, and the distance is quadratic in the length.
    if word.chars().count() > 40 {
        return None;
    }
    let scored = known
        .into_iter()
        .map(|k| (distance(&lower, &k.to_lowercase()), k));
    let (d, best) = scored.min_by_key(|(d, _)| *d)?;
    let tolerated = 1 + best.chars().count() / 4;
    (d <= tolerated && d < best.chars().count()).then_some(best)
}

/// Least number of letters inserted, deleted, replaced or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_foreign_words_are_understood() {
        let fields = [
            "name",
            "kind",
            "position",
            "velocity",
            "restitution",
            "friction",
            "mass",
        ];
        assert_eq!(nearest("postion", fields), Some("position"));
        assert_eq!(nearest("Velocty", fields), Some("velocity"));
        assert_eq!(nearest("mu", fields), Some("friction"));
        assert_eq!(nearest("nmae", fields), Some("name"));
        assert_eq!(nearest("colour", fields), None);
        assert_eq!(nearest("x", fields), None);
        assert_eq!(nearest(&"y".repeat(10_000), fields), None);
    }
}
