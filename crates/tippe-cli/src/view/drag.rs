//! A hand: a spring from a point of a body to the pointer, damped, and no stronger than the user allows.
//!
//! Reads: the world between two steps.  Writes: a force for the next step.
//! Called by: `view::live`.
//! Source: a critically damped spring of the body's own mass, F = m ω² d − 2 m ω v, cut at the limit.

use tippe::{BodyId, Vec3, World};

/// Angular frequency of the spring [rad/s]: two swings a second.
const FREQUENCY: f64 = 4.0 * std::f64::consts::PI;
/// Weight that `strength` counts in [m/s²].
const STANDARD_GRAVITY: f64 = 9.81;
/// Largest strength [1].
pub const STRENGTH_MAX: f64 = 1000.0;

/// Where a body is held and where to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drag {
    /// Which body.
    pub body: BodyId,
    /// Where it is held, in its frame [m].
    pub at: Vec3,
    /// Where to, in the world [m].
    pub to: Vec3,
    /// Largest force, in weights of the body [1].
    pub strength: f64,
}

impl Drag {
    /// Pulls for one step of length `dt` [s]. Bodies that forces cannot move are left alone.
    pub fn pull(&self, world: &mut World, dt: f64) {
        let (Ok(body), Ok(state), Ok(pose)) = (
            world.body(self.body),
            world.body_state(self.body),
            world.pose(self.body),
        ) else {
            return;
        };
        if !body.is_dynamic() {
            return;
        }
        let point = pose.point(self.at);
        // Long steps need a softer spring to stay stable.
        let w = FREQUENCY.min(0.5 / dt);
        let wanted = (self.to - point) * (w * w) - state.point_velocity(point) * (2.0 * w);
        let force =
            (wanted * body.mass).clamp_length_max(self.strength * STANDARD_GRAVITY * body.mass);
        if force.is_finite() {
            // The body was found above.
            let _ = world.apply_force(self.body, force, point);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe::{BodyDesc, Shape};

    #[test]
    fn a_hand_lifts_what_it_can_carry_and_no_more() {
        for (strength, lifted) in [(3.0, true), (0.5, false)] {
            let mut world = World::default();
            world
                .add_body(&BodyDesc::fixed(
                    Shape::HalfSpace { normal: Vec3::Z },
                    Vec3::ZERO,
                ))
                .unwrap();
            let body = world
                .add_body(&BodyDesc::dynamic(
                    Shape::Sphere { radius: 0.1 },
                    Vec3::Z * 0.1,
                ))
                .unwrap();
            let drag = Drag {
                body,
                at: Vec3::ZERO,
                to: Vec3::new(0.0, 0.0, 1.0),
                strength,
            };
            for _ in 0..300 {
                drag.pull(&mut world, 0.01);
                world.step(0.01).unwrap();
            }
            let z = world.pose(body).unwrap().position.z;
            // The spring carries the weight at rest: it hangs m g / (m ω²) below the hand.
            let hang = 1.0 - STANDARD_GRAVITY / (FREQUENCY * FREQUENCY);
            assert!(
                (z - if lifted { hang } else { 0.1 }).abs() < 1e-3,
                "{z} {hang}"
            );
        }
    }
}
