//! Parameters of `events`: band and clocks first, then what may be spent.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `method::events`; by their table: scene files, snapshots, docs/methods/events.md.
//! Source: [Mirtich94] §3, §4.5; the reasons stand in the table.

use crate::method::SequentialParams;
use crate::params;

params! {
    /// Parameters of `events`.
    EventsParams of "events" {
        /// Contact band ε_c relative to the smaller body of a pair: contacts within it answer an impact together, and a body that falls
        /// through it is slow.
        band: f64 = 1e-4, "1", Between(1e-9, 0.1), "0.2 mm of a body of 2 m; slow is then what fell so far";
        /// Length of the substeps of what is not ballistic, on the absolute clock.
        substep: f64 = 1e-3, "s", Positive, "as exact as the other methods at their usual step, whatever the step";
        /// Longest frame over which paths are bounded to find near pairs, on the absolute clock; halved where bodies move fast.
        sweep: f64 = 0.03125, "s", Positive, "about a frame of the source; shorter ones find fewer pairs, more often";
        /// Let contacts that carry load at low speed rest, solved together in substeps; else they live by micro-collisions.
        promotion: bool = true, "", Any, "stacks would ask for more impacts than there is time for";
        /// Most impacts of one pair in one frame before it rests all the same.
        impacts_max: u32 = 200, "1", AtLeast(1.0), "a ball that comes to rest has some ten";
        /// Most passes over the contacts of one impact before what still approaches stops without restitution.
        passes: u32 = 256, "1", AtLeast(1.0), "five touching balls need four";
        /// Distance [m] or angle [rad] to which joints are brought at the end of a substep.
        joint_tolerance: f64 = 1e-10, "m, rad", NotNegative, "as `sequential`";
        /// Change of velocity in a sweep below which an island of resting contacts counts as solved.
        velocity_tolerance: f64 = 1e-8, "m/s", NotNegative, "as `sequential`";
    }
    renamed {}
    dropped {}
}

impl EventsParams {
    /// The parameters of the solves of groups.
    pub(crate) fn solves(&self) -> SequentialParams {
        SequentialParams {
            joint_tolerance: self.joint_tolerance,
            velocity_tolerance: self.velocity_tolerance,
            ..SequentialParams::default()
        }
    }
}
