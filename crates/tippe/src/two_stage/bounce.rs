//! The one-dimensional bounce: a gap under constant acceleration that is reflected with restitution, exactly, within one step.
//!
//! Reads: nothing.  Writes: nothing (pure function).
//! Called by: `targets`.
//! Source: elementary; the rows that use it are derived in docs/methods/two-stage.md, "Impact time inside the step".

/// Reflections followed inside one step; a bounce that needs more has come to rest for all purposes.
const REFLECTIONS_MAX: u32 = 64;

/// What a gap does in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounce {
    /// Time of the first impact after the start of the step [s].
    pub time: f64,
    /// Speed of approach at the first impact [m/s].
    pub speed: f64,
    /// Gap at the end of the step [m].
    pub gap_end: f64,
    /// Normal velocity at the end of the step [m/s].
    pub velocity_end: f64,
}

/// Follows `gap` (not negative) with velocity `u` and acceleration `a` for `h` [s]; `None` if it does not close.
pub(crate) fn bounce(gap: f64, u: f64, a: f64, restitution: f64, h: f64) -> Option<Bounce> {
    let time = closing_time(gap, u, a, h)?;
    let speed = -(u + a * time);
    let (mut left, mut u) = (h - time, restitution * speed);
    for _ in 0..REFLECTIONS_MAX {
        // On the surface with velocity u away from it: back when u t + ½ a t² = 0 again.
        if a >= 0.0 {
            break;
        }
        let back = -2.0 * u / a;
        if back >= left {
            break;
        }
        left -= back;
        u *= restitution;
    }
    let returns = a < 0.0 && -2.0 * u / a < left;
    if returns || (u == 0.0 && a <= 0.0) {
        return Some(Bounce {
            time,
            speed,
            gap_end: 0.0,
            velocity_end: 0.0,
        });
    }
    Some(Bounce {
        time,
        speed,
        gap_end: (u + 0.5 * a * left) * left,
        velocity_end: u + a * left,
    })
}

/// First time in [0, h] at which `gap + u t + ½ a t²` reaches zero downwards.
fn closing_time(gap: f64, u: f64, a: f64, h: f64) -> Option<f64> {
    if gap <= 0.0 && (u < 0.0 || (u == 0.0 && a < 0.0)) {
        return Some(0.0);
    }
    let discriminant = u * u - 2.0 * a * gap;
    if discriminant < 0.0 {
        return None;
    }
    // Stable form of the first root of ½ a t² + u t + gap = 0 with falling gap: t = 2 gap / (−u + √D).
    let below = -u + discriminant.sqrt();
    if below <= 0.0 {
        return None;
    }
    // From the surface upwards (gap = 0, u > 0) the root wanted is the later one, −2u/a.
    let time = if gap <= 0.0 {
        if a < 0.0 { -2.0 * u / a } else { return None }
    } else {
        2.0 * gap / below
    };
    (time <= h).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falls_and_rises_on_the_exact_parabola() {
        // Dropped from 5 mm at rest, e = 0.5, 0.1 s: impact at √(2·0.005/9.81).
        let b = bounce(0.005, 0.0, -9.81, 0.5, 0.1).unwrap();
        let t = (2.0_f64 * 0.005 / 9.81).sqrt();
        assert!((b.time - t).abs() < 1e-15 && (b.speed - 9.81 * t).abs() < 1e-14);
        // One more bounce at t + t (flight of 2·0.5·t), then rising with 0.25 of the speed for the rest, and so on.
        assert!(b.gap_end >= 0.0 && b.gap_end < 0.005 * 0.25);
    }

    #[test]
    fn elastic_bounce_keeps_its_energy() {
        let (g, h) = (-9.81, 0.05);
        let b = bounce(0.01, -0.3, g, 1.0, h).unwrap();
        let before = 0.5 * 0.3 * 0.3 - g * 0.01;
        let after = 0.5 * b.velocity_end * b.velocity_end - g * b.gap_end;
        assert!((after - before).abs() < 1e-14, "{before} {after}");
    }

    #[test]
    fn comes_to_rest_without_restitution_and_misses_when_rising() {
        assert_eq!(
            bounce(0.0, -1.0, -9.81, 0.0, 0.01).map(|b| (b.gap_end, b.velocity_end)),
            Some((0.0, 0.0))
        );
        assert_eq!(bounce(0.1, 1.0, 0.0, 0.5, 0.01), None);
        assert_eq!(bounce(0.1, -1.0, 0.0, 0.5, 0.01), None);
        assert_eq!(bounce(0.0, 0.0, 0.0, 0.5, 0.01), None);
    }
}
