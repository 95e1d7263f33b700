//! Where the impulse of a row may lie: its projection, the slope of that projection, and its natural map.
//!
//! Reads: impulses and velocities of one or two rows.  Writes: what the set answers to them.
//! Called by: `method::simultaneous::system`.
//! Source: spec of the mixed complementarity problem in docs/methods/simultaneous.md; a disc is Coulomb's cone at a given normal impulse.

/// Where the impulse of a row may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Set {
    /// It keeps the impulse it has: the row takes no part.
    Held,
    /// Anywhere: a connection.
    Any,
    /// Between bounds: a contact pushes, a motor has a largest torque.
    Between(f64, f64),
    /// This row and the next lie in a disc of this radius: friction.
    Disc(f64),
    /// The second row of a disc.
    Second,
}

/// What one projection found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answer {
    /// Projected impulses; the second one for discs only.
    pub p: [f64; 2],
    /// Derivative, symmetric: 11, 12, 22.
    pub slope: [f64; 3],
    /// 0 at a bound, 1 inside, 2 on the rim of a disc (where the slope changes with the place).
    pub state: u8,
}

impl Set {
    /// The point of the set that is nearest to z.
    pub(super) fn project(self, z: [f64; 2]) -> Answer {
        match self {
            Self::Held | Self::Second => Answer::default(),
            Self::Any => inside(z[0]),
            Self::Between(low, high) => {
                if z[0] > low && z[0] < high {
                    inside(z[0])
                } else {
                    Answer {
                        p: [z[0].max(low).min(high), 0.0],
                        ..Answer::default()
                    }
                }
            }
            Self::Disc(radius) => on_disc(z, radius),
        }
    }

    /// Rows that it takes.
    pub(super) const fn rows(self) -> usize {
        if matches!(self, Self::Disc(_)) { 2 } else { 1 }
    }
}

fn inside(z: f64) -> Answer {
    Answer {
        p: [z, 0.0],
        slope: [1.0, 0.0, 0.0],
        state: 1,
    }
}

fn on_disc(z: [f64; 2], radius: f64) -> Answer {
    let size = (z[0] * z[0] + z[1] * z[1]).sqrt();
    if size < radius {
        return Answer {
            p: z,
            slope: [1.0, 0.0, 1.0],
            state: 1,
        };
    }
    if radius <= 0.0 || size == 0.0 {
        return Answer::default();
    }
    // Along the rim only, the less the farther outside.
    let (x, y, s) = (z[0] / size, z[1] / size, radius / size);
    Answer {
        p: [radius * x, radius * y],
        slope: [s * y * y, -s * x * y, s * x * x],
        state: 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_the_projection() {
        let h = 1e-6;
        for z in [[0.3, 0.2], [2.0, -1.0], [-0.7, 3.0]] {
            let at = |x: f64, y: f64| Set::Disc(1.0).project([x, y]);
            let [xx, xy, yy] = at(z[0], z[1]).slope;
            let (dx, dy) = (at(z[0] + h, z[1]).p, at(z[0], z[1] + h).p);
            let p = at(z[0], z[1]).p;
            for (exact, found) in [
                (xx, dx[0] - p[0]),
                (xy, dx[1] - p[1]),
                (xy, dy[0] - p[0]),
                (yy, dy[1] - p[1]),
            ] {
                assert!((exact - found / h).abs() < 1e-5, "{exact} {found}");
            }
        }
    }
}
