//! The certificate of a step as a row of numbers.
//!
//! Reads: `StepReport`.  Writes: nothing.
//! Called by: `recording::write`, `recording::read`, reports that plot columns.
//! Source: `tippe::StepReport`, field by field. The header of a recording names the columns, so old files stay readable.

use tippe::StepReport;

macro_rules! certificate {
    ($($name:literal => $($path:ident).+;)*) => {
        const NAMES: &[&str] = &[$($name,)*];

        #[allow(clippy::unnecessary_cast, reason = "counts and lengths alike become doubles")]
        fn numbers(r: &StepReport) -> Vec<f64> {
            vec![$(r.$($path).+ as f64,)*]
        }

        fn set(r: &mut StepReport, name: &str, value: f64) {
            match name {
                $($name => r.$($path).+ = value as _,)*
                _ => {}
            }
        }
    };
}

certificate! {
    "time" => time;
    "dt" => dt;
    "contacts" => contacts;
    "candidates" => candidates;
    "collisions" => collisions;
    "penetration" => penetration;
    "penetration_found" => penetration_found;
    "squeezed" => squeezed;
    "complementarity" => residuals.complementarity;
    "friction_cone" => residuals.friction_cone;
    "stick_slip" => residuals.stick_slip;
    "joint_position" => residuals.joint_position;
    "joint_velocity" => residuals.joint_velocity;
    "sweeps" => work.sweeps;
    "rows_swept" => work.rows_swept;
    "operations" => work.operations;
    "substeps" => work.substeps;
    "newton_steps" => work.newton_steps;
    "caps_hit" => work.caps_hit;
    "looks" => work.looks;
    "heap_operations" => work.heap_operations;
    "promotions" => work.promotions;
    "caps_mended" => work.caps_mended;
    "caps_measured" => work.caps_measured;
    "guarded" => work.guarded;
    "material_fallbacks" => material_fallbacks;
    "momentum_x" => momentum.x;
    "momentum_y" => momentum.y;
    "momentum_z" => momentum.z;
    "angular_momentum_x" => angular_momentum.x;
    "angular_momentum_y" => angular_momentum.y;
    "angular_momentum_z" => angular_momentum.z;
    "position_correction_moment_x" => position_correction_moment.x;
    "position_correction_moment_y" => position_correction_moment.y;
    "position_correction_moment_z" => position_correction_moment.z;
    "kinetic" => energy.kinetic;
    "potential" => energy.potential;
    "elastic" => energy.elastic;
    "gravity" => energy.gravity;
    "external" => energy.external;
    "motors" => energy.motors;
    "prescribed" => energy.prescribed;
    "elastic_work" => energy.elastic_work;
    "friction" => energy.friction;
    "restitution" => energy.restitution;
    "drag" => energy.drag;
    "joint_friction" => energy.joint_friction;
    "contact_damping" => energy.contact_damping;
    "shock" => energy.shock;
    "numerical_damping" => energy.numerical_damping;
    "gained" => energy.gained;
    "hops" => energy.hops;
    "energy_scale" => energy_scale;
    "position_correction" => energy.position_correction;
    "unexplained" => energy.unexplained;
    "adaptive_residual" => adaptive.residual;
    "adaptive_excess" => adaptive.excess;
    "adaptive_moving" => adaptive.moving;
    "adaptive_locked" => adaptive.locked;
    "adaptive_over_budget" => adaptive.over_budget;
    "adaptive_selections" => adaptive.selections;
    "adaptive_again" => adaptive.again;
}

/// Names of the numbers of a certificate, in their order.
#[must_use]
pub fn names() -> Vec<String> {
    NAMES.iter().map(ToString::to_string).collect()
}

/// The numbers of a certificate.
pub(super) fn to_numbers(report: &StepReport) -> Vec<f64> {
    numbers(report)
}

/// The report of a row of numbers whose columns have these names; unknown names are passed over, missing ones stay zero.
#[must_use]
pub fn from_numbers(names: &[String], row: &[f64]) -> StepReport {
    let mut report = StepReport::default();
    for (name, value) in names.iter().zip(row) {
        set(&mut report, name, *value);
    }
    report
}
