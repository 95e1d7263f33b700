//! Parameters of the methods: the public fields of the engine's parameter types, each mirrored once.
//!
//! Reads: `format`.  Writes: `Problems`.
//! Called by: `format` (tables), `build` (to the engine and back).
//! Source: `tippe::SequentialParams`, `tippe::IterativeParams`, `tippe::EventsParams`; their own checks say what makes sense.

use crate::diagnostics::{At, Problems};
use crate::read::record;
use tippe::{BuildError, EventsParams, IterativeParams, SequentialParams};

/// Declares the table of a method's parameters, and how it goes to the engine's type and back.
macro_rules! params {
    (
        $(#[$meta:meta])*
        $name:ident for $target:ident {
            always { $($(#[$f_meta:meta])* $f:ident: $f_type:ty,)* }
            maybe { $($(#[$m_meta:meta])* $m:ident: $m_type:ty,)* }
            renamed { $($(#[$o_meta:meta])* $old:ident => $new:ident: $o_type:ty,)* }
        }
    ) => {
        record! {
            $(#[$meta])*
            $name {
                required {}
                optional {
                    $($(#[$f_meta])* $f: $f_type,)*
                    $($(#[$m_meta])* $m: $m_type,)*
                    $($(#[$o_meta])* $old: $o_type,)*
                }
            }
        }

        impl $name {
            /// The parameters these fields make of `base`, which has the values of the fields left out.
            pub(crate) fn apply(&self, mut base: $target, at: &At, problems: &mut Problems) -> $target {
                // Each field is checked alone first, so that several slips are reported at once.
                let defaults = base;
                $(if let Some(value) = self.$old {
                    let successor = stringify!($new);
                    let reason = format!("is now called `{successor}`; the old name goes with the next version");
                    problems.warning(&at.key(stringify!($old)), reason, format!("write `{successor}`"));
                    base.$new = value;
                    report(base.check(), at, problems);
                })*
                $(if let Some(value) = self.$f {
                    base.$f = value;
                    let alone = $target { $f: value, ..defaults };
                    report(alone.check(), at, problems);
                })*
                $(base.$m = self.$m.or(base.$m);)*
                report(base.check(), at, problems);
                base
            }

            /// Every parameter written out.
            pub(crate) fn written_out(p: &$target) -> Self {
                Self { $($f: Some(p.$f),)* $($m: p.$m,)* $($old: None,)* }
            }
        }
    };
}

fn report(checked: Result<(), BuildError>, at: &At, problems: &mut Problems) {
    if let Err(e) = checked {
        let help = "leave it out for the default; docs/methods says what it does";
        problems.error(&at.key(&e.field), e.reason, help);
    }
}

params! {
    /// Parameters of the method `sequential`; defaults and reasons in docs/methods/sequential.md.
    Sequential for SequentialParams {
        always {
            /// Most sweeps, forward and backward, of an island before it is solved directly or left as it is.
            sweeps: u32,
            /// Most rounds of a direct solve.
            direct_rounds: u32,
            /// Block products that the direct solve of an island may cost for each of its contacts.
            direct_cost: f64,
            /// Block products that the direct solve of an island may cost when all its contacts are new.
            direct_cost_cold: f64,
            /// Make direct solves by the core instead of rounds of Newton's method: on trial.
            core: bool,
            /// Change of velocity in a sweep below which an island counts as solved [m/s].
            velocity_tolerance: f64,
            /// Part of the remaining depth that the pose-only pass removes in one step, 0 to 1.
            depenetration: f64,
            /// Depth the pose-only pass leaves alone [m].
            slop: f64,
            /// Start each solve from the impulses of the last step.
            warm_start: bool,
            /// Distance [m] or angle [rad] to which joints are brought at the end of the step.
            joint_tolerance: f64,
            /// Most substeps that a step is divided into where joints need it.
            substeps_max: u32,
        }
        maybe {
            /// Shuffle the contact order of every sweep with this seed; left out, sweeps go forward and backward in turn.
            shuffle_seed: u64,
            /// Speed below which an island at rest is left as it is [m/s]; 0 never does.
            rest_tolerance: f64,
        }
        renamed {
            /// Old name of `substeps_max`, read for one more version.
            parts_max => substeps_max: u32,
        }
    }
}

params! {
    /// Parameters of the method `iterative`; defaults and reasons in docs/methods/iterative.md.
    Iterative for IterativeParams {
        always {
            /// Depth at which a resting contact counts as solved at the end of the step [m].
            depth_tolerance: f64,
            /// Tangential distance to which sticking contacts are held in a step [m].
            drift_tolerance: f64,
            /// Velocity at which collisions and the velocities at the end of the step count as solved [m/s].
            velocity_tolerance: f64,
            /// Distance [m] or angle [rad] to which joints are brought at the end of the step.
            joint_tolerance: f64,
            /// Depth ε of resting contacts [m]: one that bears load collides only above √(2 g ε).
            contact_depth: f64,
            /// Most passes of the collision phase, each over what collides then.
            passes: u32,
            /// Most times that the contact phase looks at the motion it has made and aims again.
            predictions: u32,
            /// Most times that a step stops at a time of impact; 0 answers all impacts inside the step.
            impact_substeps: u32,
            /// Contacts of an island beyond which its impacts are answered inside the step.
            impact_contacts: u32,
            /// Sweeps, forward and backward, of an island before it is solved directly.
            sweeps: u32,
            /// Most sweeps of an island that cannot be solved directly.
            sweeps_max: u32,
            /// Most rounds of a direct solve.
            direct_rounds: u32,
            /// Block products that the direct solve of an island may cost.
            direct_cost: f64,
            /// Most rounds over whole friction cones where sweeps do not finish a large island; 0 leaves it to the sweeps.
            cone_rounds: u32,
            /// Make direct solves by the core instead of rounds of Newton's method: on trial.
            core: bool,
            /// Motion of a pair in one step up to which the contact features of its start serve for all of it, relative to half the width of the thinner shape.
            feature_motion: f64,
            /// Start cold islands from a pass of shock propagation.
            shock_guess: bool,
            /// Part of the remaining depth that the pose-only pass removes in one step, 0 to 1.
            depenetration: f64,
            /// Depth the pose-only pass leaves alone [m].
            slop: f64,
            /// Start each solve of resting contacts from the impulses of the last step.
            warm_start: bool,
        }
        maybe {
            /// End the first solve with shock propagation, level by level, after this many sweeps; left out, it goes on to the tolerance.
            shock_sweeps: u32,
            /// Shuffle the contact order of every sweep with this seed; left out, sweeps go forward and backward in turn.
            shuffle_seed: u64,
        }
        renamed {}
    }
}

params! {
    /// Parameters of the method `events`; defaults and reasons in docs/methods/events.md.
    Events for EventsParams {
        always {
            /// Contact band relative to the smaller body of a pair: contacts within it answer an impact together.
            band: f64,
            /// Length of the substeps of what is not ballistic, on the absolute clock [s].
            substep: f64,
            /// Length of the frames over which paths are bounded to find near pairs [s].
            sweep: f64,
            /// Let contacts that carry load at low speed rest; else they live by micro-collisions.
            promotion: bool,
            /// Most impacts of one pair in one frame before it rests all the same.
            impacts_max: u32,
            /// Most passes over the contacts of one impact before what still approaches stops.
            passes: u32,
            /// Distance [m] or angle [rad] to which joints are brought at the end of a substep.
            joint_tolerance: f64,
            /// Change of velocity in a sweep below which an island of resting contacts counts as solved [m/s].
            velocity_tolerance: f64,
        }
        maybe {}
        renamed {}
    }
}
