//! The phase between detection and impulses: points at which the bodies part have no impulse to take.
//!
//! Reads: contact points, states.  Writes: the list of points.
//! Called by: users; `two_stage::flights` for one point at a time.
//! Source: [Lecture] "Simulation Loop": broad phase, narrow phase, filter of receding points, impulses, motion.

use crate::collide::ContactPoint;
use crate::math::Vec3;
use crate::state::BodyState;

/// Speed at which a gap opens [m/s], negative where the bodies approach; `n` points from A to B, each body with its own point.
#[must_use]
pub fn opening_speed(n: Vec3, a: (&BodyState, Vec3), b: (&BodyState, Vec3)) -> f64 {
    (b.0.point_velocity(b.1) - a.0.point_velocity(a.1)).dot(n)
}

/// Drops the points whose gap does not close faster than `slow` [m/s]; each comes with the slots of A and B.
pub fn drop_receding(
    points: &mut Vec<(usize, usize, ContactPoint)>,
    bodies: &[BodyState],
    slow: f64,
) {
    points.retain(|(a, b, c)| {
        let (a, b) = ((&bodies[*a], c.point_a), (&bodies[*b], c.point_b));
        opening_speed(c.normal, a, b) < -slow
    });
}
