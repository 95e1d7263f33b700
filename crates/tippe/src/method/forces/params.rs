//! Parameters of `forces`: tolerances first, then what they may cost.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `method::forces`; by their table: scene files, snapshots, docs/methods/forces.md.
//! Source: [Lecture] "Contact Force Approach"; the reasons stand in the table.

use crate::params;

params! {
    /// Parameters of `forces`.
    ForcesParams of "forces" {
        /// Gap up to which two shapes touch, and depth to which an impact is located.
        touch_tolerance: f64 = 1e-9, "m", Positive, "far above the rounding of metres, far below what is visible";
        /// Approach speed above which a contact that touches is an impact.
        velocity_tolerance: f64 = 1e-9, "m/s", Positive, "what is below is projected away";
        /// Slip below which a contact may stick, relative to the speed that gravity gives in a step.
        slip_tolerance: f64 = 1e-4, "1", Positive, "a slip that ends is located far more exactly";
        /// Flight after a bounce below which the bounce is none, relative to the step.
        bounce_time: f64 = 0.05, "1", Between(0.0, 1.0), "a ball comes to rest in finite time";
        /// Most passes over impacts at one instant.
        passes: u32 = 200, "1", AtLeast(1.0), "then everything that touches stops, and a limit is counted";
        /// Most pieces that events divide a step into.
        pieces: u32 = 400, "1", AtLeast(1.0), "the last one goes on without events, and a limit is counted";
        /// Part of a depth beyond 1 µm that one piece removes.
        depenetration: f64 = 0.2, "1", Between(0.0, 1.0), "deep overlaps of a bad start come apart over some steps, without a jump";
        /// Start from the forces and modes of the last step.
        warm_start: bool = true, "", Any, "the steady step of a stack is then one verified linear solve";
        /// Contact forces as impulses of the piece: no slip and no approach at its end.
        impulse_level: bool = false, "", Any, "always has an answer, and is of order one";
        /// Error of a substep of compliant contacts, relative to the speeds at hand.
        compliant_tolerance: f64 = 1e-10, "1", Positive, "an elastic impact of hundreds of substeps then keeps its energy to 1e-8";
        /// Most substeps of compliant contacts in a piece; beyond, the step is refused with the limit of explicit steps.
        compliant_substeps: u32 = 100000, "1", AtLeast(1.0), "a stiffness that nobody can follow is told, not waited for";
        /// Slip speed of compliant contacts whose pair states none.
        compliant_slip: f64 = 1e-3, "m/s", Positive, "their friction is regularised: at rest on a slope they creep by less than this";
    }
    renamed {}
    dropped {}
}
