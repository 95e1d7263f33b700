//! Inertia tensors given as numbers, checked for physical sense.
//!
//! Reads: the numbers of the file.  Writes: `Problems`.
//! Called by: `body`.
//! Source: I = tr(S) 1 − S with the second moments S = ∫ x xᵀ dm, which are positive semi-definite for every distribution of mass.

use crate::check::HEAVY;
use crate::diagnostics::{At, Problems};
use tippe::{Mat3, Vec3};

/// Rounding that is forgiven, relative to the trace: six printed digits.
const TOLERANCE: f64 = 1e-6;

/// The tensor of 3 numbers (xx, yy, zz) or 6 (xx, yy, zz, xy, xz, yz) [kg·m²]; the unit tensor for what is none, which is reported.
pub(crate) fn tensor(numbers: &[f64], at: &At, problems: &mut Problems) -> Mat3 {
    let (xx, yy, zz, xy, xz, yz) = match *numbers {
        [xx, yy, zz] => (xx, yy, zz, 0.0, 0.0, 0.0),
        [xx, yy, zz, xy, xz, yz] => (xx, yy, zz, xy, xz, yz),
        _ => {
            let help = "write xx, yy, zz, or all six: xx, yy, zz, xy, xz, yz";
            problems.error(
                at,
                format!("must be 3 or 6 numbers, got {}", numbers.len()),
                help,
            );
            return Mat3::IDENTITY;
        }
    };
    for (i, x) in numbers.iter().enumerate() {
        if i < 3 && *x <= 0.0 {
            problems.error(
                &at.index(i),
                format!("must be positive, got {x}"),
                "moments of inertia are in kg·m²",
            );
        } else if x.abs() > HEAVY {
            problems.error(
                &at.index(i),
                format!("too large: {x:e}; limit {HEAVY:e}"),
                "moments of inertia are in kg·m²",
            );
        }
    }
    let tensor = Mat3::from_cols(
        Vec3::new(xx, xy, xz),
        Vec3::new(xy, yy, yz),
        Vec3::new(xz, yz, zz),
    );
    if !problems.touches(at) && !is_physical(&tensor) {
        let help = if numbers.len() == 3 {
            "each moment is at most the sum of the other two; about the centre of mass, in body axes"
        } else {
            "each principal moment is positive and at most the sum of the other two; check the signs of xy, xz, yz"
        };
        problems.error(at, "no body has this inertia", help);
    }
    tensor
}

/// Whether some distribution of mass has this inertia: its second moments ½ tr(I) 1 − I have no negative principal minor.
fn is_physical(i: &Mat3) -> bool {
    let trace = i.x_axis.x + i.y_axis.y + i.z_axis.z;
    let s = (Mat3::from_diagonal(Vec3::splat(0.5 * trace)) - *i) * (1.0 / trace);
    let (a, b, c) = (s.x_axis.x, s.y_axis.y, s.z_axis.z);
    let (d, e, f) = (s.x_axis.y, s.x_axis.z, s.y_axis.z);
    let minors = [
        a,
        b,
        c,
        a * b - d * d,
        a * c - e * e,
        b * c - f * f,
        s.determinant(),
    ];
    minors.iter().all(|m| *m >= -TOLERANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(numbers: &[f64]) -> bool {
        let mut problems = Problems::default();
        tensor(numbers, &At::root(0), &mut problems);
        problems.is_empty()
    }

    #[test]
    fn only_what_some_body_has_is_accepted() {
        assert!(
            verdict(&[1.0, 2.0, 3.0]),
            "a plate: the largest is the sum of the others"
        );
        assert!(!verdict(&[1.0, 2.0, 3.1]));
        assert!(!verdict(&[1.0, 2.0, -3.0]));
        assert!(!verdict(&[1.0, 2.0]));
        assert!(verdict(&[1.25e-5, 1.25e-5, 1.375e-5]));
        // diag(1, 2, 2.5) turned by 45° about z.
        assert!(verdict(&[1.5, 1.5, 2.5, -0.5, 0.0, 0.0]));
        assert!(!verdict(&[1.5, 1.5, 2.5, -1.3, 0.0, 0.0]));
        assert!(!verdict(&[1.0, 1.0, 1.0, 2.0, 0.0, 0.0]));
    }
}
