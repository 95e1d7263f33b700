//! Vectors and matrices as words of the command line.
//!
//! Reads: text.  Writes: nothing.
//! Called by: `impact`, `query`.
//! Source: numbers separated by commas; a symmetric matrix by 1, 3, 6 (xx,yy,zz,xy,xz,yz) or 9 (rows) of them.

use tippe::{Mat3, Vec3};

/// A collision matrix.
#[derive(Clone, Copy, Debug)]
pub struct Response(pub Mat3);

/// An inertia tensor.
#[derive(Clone, Copy, Debug)]
pub struct Inertia(pub Mat3);

/// Finite numbers separated by commas.
fn list(text: &str) -> Result<Vec<f64>, String> {
    text.split(',')
        .map(|word| match word.trim().parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(format!("`{}` is no finite number", word.trim())),
        })
        .collect()
}

/// Some numbers.
#[derive(Clone, Debug)]
pub struct Numbers(pub Vec<f64>);

/// Numbers, however many.
///
/// # Errors
/// What is wrong with the text.
pub fn numbers(text: &str) -> Result<Numbers, String> {
    list(text).map(Numbers)
}

/// Three numbers.
///
/// # Errors
/// What is wrong with the text.
pub fn vector(text: &str) -> Result<Vec3, String> {
    match list(text)?[..] {
        [x, y, z] => Ok(Vec3::new(x, y, z)),
        ref other => Err(format!(
            "needs 3 numbers such as 0,0,-1, got {}",
            other.len()
        )),
    }
}

/// A collision matrix: 3, 6 or 9 numbers.
///
/// # Errors
/// What is wrong with the text.
pub fn response(text: &str) -> Result<Response, String> {
    match matrix(&list(text)?) {
        Some(m) if text.contains(',') => Ok(Response(m)),
        _ => Err("needs 3 numbers (diagonal), 6 (xx,yy,zz,xy,xz,yz) or 9 (rows)".into()),
    }
}

/// An inertia tensor: 1, 3, 6 or 9 numbers.
///
/// # Errors
/// What is wrong with the text.
pub fn inertia(text: &str) -> Result<Inertia, String> {
    matrix(&list(text)?)
        .map(Inertia)
        .ok_or_else(|| "needs 1 number, 3 (diagonal), 6 (xx,yy,zz,xy,xz,yz) or 9 (rows)".to_owned())
}

fn matrix(numbers: &[f64]) -> Option<Mat3> {
    match *numbers {
        [a] => Some(Mat3::from_diagonal(Vec3::splat(a))),
        [a, b, c] => Some(Mat3::from_diagonal(Vec3::new(a, b, c))),
        [xx, yy, zz, xy, xz, yz] => Some(Mat3::from_cols(
            Vec3::new(xx, xy, xz),
            Vec3::new(xy, yy, yz),
            Vec3::new(xz, yz, zz),
        )),
        [a, b, c, d, e, f, g, h, i] => Some(Mat3::from_cols(
            Vec3::new(a, d, g),
            Vec3::new(b, e, h),
            Vec3::new(c, f, i),
        )),
        _ => None,
    }
}

/// The inverse of a symmetric positive definite matrix.
pub fn inverse(m: Mat3) -> Option<Mat3> {
    let size = m
        .to_cols_array()
        .iter()
        .fold(0.0, |s: f64, x| s.max(x.abs()));
    let unsymmetric = (m - m.transpose())
        .to_cols_array()
        .iter()
        .any(|x| x.abs() > 1e-9 * size);
    let minor = m.x_axis.x * m.y_axis.y - m.x_axis.y * m.y_axis.x;
    let definite = m.x_axis.x > 0.0 && minor > 0.0 && m.determinant() > 0.0;
    let inverse = m.inverse();
    (definite && !unsymmetric && inverse.is_finite()).then_some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_read_in_all_forms() {
        let six = response("1,2,3,4,5,6").unwrap().0;
        let nine = response("1,4,5, 4,2,6, 5,6,3").unwrap().0;
        assert_eq!(six, nine);
        assert_eq!(inertia("2").unwrap().0, Mat3::IDENTITY * 2.0);
        for bad in ["", "1", "1,2", "1,2,x", "1,2,nan", "1,2,3,4", "1,,2"] {
            assert!(response(bad).is_err(), "{bad}");
        }
        for bad in ["1,2", "1,2,3,4", "inf,0,0", "-"] {
            assert!(vector(bad).is_err(), "{bad}");
        }
        assert_eq!(vector("-1, 2.5,1e-3").unwrap(), Vec3::new(-1.0, 2.5, 1e-3));
    }

    #[test]
    fn only_definite_inertia_has_an_inverse() {
        assert!(inverse(Mat3::IDENTITY).is_some());
        for bad in ["0", "-1", "1,0,1", "1,1,1,2,0,0", "1,5,0, 0,1,0, 0,0,1"] {
            assert!(inverse(inertia(bad).unwrap().0).is_none(), "{bad}");
        }
    }
}
