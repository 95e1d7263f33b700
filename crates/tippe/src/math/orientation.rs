//! On which side of a plane a point lies, without rounding: the exact sign of a 3×3 determinant of differences.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `shape::quickhull`, `collide::loops`.
//! Source: [Shewchuk97] §2 (sums and products without error), §4 (the bound of the fast path). We deviate: the slow path is one exact
//! evaluation on plain lists instead of four stages.

use super::Vec3;

/// [Shewchuk97] table 6: the fast determinant is right if it exceeds this part of the sum of its terms' sizes; (7 + 56ε)ε, ε = 2⁻⁵³.
const FAST_BOUND: f64 = 7.771_561_172_376_103e-16;

/// Sign of the volume of (a, b, c, d): 1 if d lies above the plane of a, b, c (counter-clockwise seen from above), −1 below, 0 in it.
///
/// Exact as long as no product of three coordinate differences overflows or underflows.
#[must_use]
pub fn orientation(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> i32 {
    let (u, v, w) = (b - a, c - a, d - a);
    let terms = [
        (v.y * w.z, v.z * w.y, u.x),
        (v.z * w.x, v.x * w.z, u.y),
        (v.x * w.y, v.y * w.x, u.z),
    ];
    let (mut det, mut size) = (0.0, 0.0);
    for (p, q, s) in terms {
        det += s * (p - q);
        size += s.abs() * (p.abs() + q.abs());
    }
    if det.abs() > FAST_BOUND * size {
        return if det > 0.0 { 1 } else { -1 };
    }
    if size == 0.0 {
        return 0;
    }
    exact(a, b, c, d)
}

/// Sign of the first component of (b − a) × (d − c) that is not zero, exactly; 0 if the two are parallel.
#[must_use]
pub fn cross_sign(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> i32 {
    let difference = |to: f64, from: f64| {
        let (high, low) = two_sum(to, -from);
        Expansion::from([low, high])
    };
    let u = |k: usize| difference(b[k], a[k]);
    let v = |k: usize| difference(d[k], c[k]);
    for (j, k) in [(1, 2), (2, 0), (0, 1)] {
        let sign = u(j).times(&v(k)).plus(&u(k).times(&v(j)).negated()).sign();
        if sign != 0 {
            return sign;
        }
    }
    0
}

fn exact(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> i32 {
    let difference = |p: Vec3| -> [Expansion; 3] {
        [0, 1, 2].map(|k| {
            let (high, low) = two_sum(p[k], -a[k]);
            Expansion::from([low, high])
        })
    };
    let (u, v, w) = (difference(b), difference(c), difference(d));
    let mut det = Expansion::default();
    for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        let minor = v[j].times(&w[k]).plus(&v[k].times(&w[j]).negated());
        det = det.plus(&u[i].times(&minor));
    }
    det.sign()
}

/// A sum of numbers that do not overlap, from small to large, without zeros.
#[derive(Clone, Debug, Default)]
struct Expansion(Vec<f64>);

impl Expansion {
    fn from(parts: [f64; 2]) -> Self {
        Self(parts.into_iter().filter(|x| *x != 0.0).collect())
    }

    fn negated(mut self) -> Self {
        self.0.iter_mut().for_each(|x| *x = -*x);
        self
    }

    /// [Shewchuk97] "grow expansion".
    fn add(&mut self, x: f64) {
        let mut carry = x;
        let mut kept = 0;
        for i in 0..self.0.len() {
            let (high, low) = two_sum(carry, self.0[i]);
            carry = high;
            if low != 0.0 {
                self.0[kept] = low;
                kept += 1;
            }
        }
        self.0.truncate(kept);
        if carry != 0.0 {
            self.0.push(carry);
        }
    }

    fn plus(mut self, other: &Self) -> Self {
        other.0.iter().for_each(|x| self.add(*x));
        self
    }

    fn times(&self, other: &Self) -> Self {
        let mut out = Self::default();
        for x in &self.0 {
            for y in &other.0 {
                let (high, low) = two_product(*x, *y);
                out.add(low);
                out.add(high);
            }
        }
        out
    }

    /// The largest part decides.
    fn sign(&self) -> i32 {
        match self.0.last() {
            Some(x) if *x > 0.0 => 1,
            Some(x) if *x < 0.0 => -1,
            _ => 0,
        }
    }
}

/// a + b = high + low, exactly.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let high = a + b;
    let b_round = high - a;
    let a_round = high - b_round;
    (high, (a - a_round) + (b - b_round))
}

/// a b = high + low, exactly.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let high = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    let error = ((high - a_high * b_high) - a_low * b_high) - a_high * b_low;
    (high, a_low * b_low - error)
}

/// Upper and lower half of the digits.
fn split(a: f64) -> (f64, f64) {
    const SPLITTER: f64 = 134_217_729.0; // 2²⁷ + 1
    let c = SPLITTER * a;
    let high = c - (c - a);
    (high, a - high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_last_bit() {
        let (a, b, c) = (Vec3::ZERO, Vec3::X, Vec3::Y);
        assert_eq!(orientation(a, b, c, Vec3::Z), 1);
        assert_eq!(orientation(a, b, c, -Vec3::Z), -1);
        assert_eq!(orientation(a, b, c, Vec3::new(0.3, 0.4, 0.0)), 0);
        // The plane z = x/3 as rounded: points on it by construction, then one last bit above and below.
        let third = 1.0 / 3.0;
        let p = [
            Vec3::new(0.0, 0.0, 0.0),
            Vec3::new(3.0, 0.0, 3.0 * third),
            Vec3::new(0.0, 1.0, 0.0),
        ];
        let q = Vec3::new(6.0, 5.0, 6.0 * third);
        assert_eq!(orientation(p[0], p[1], p[2], q), 0);
        let up = Vec3::new(q.x, q.y, q.z.next_up());
        let down = Vec3::new(q.x, q.y, q.z.next_down());
        assert_eq!(orientation(p[0], p[1], p[2], up), 1);
        assert_eq!(orientation(p[0], p[1], p[2], down), -1);
        // Far from the origin every difference is rounded.
        let shift = Vec3::new(0.1, 1e5 / 3.0, -7e3 / 9.0);
        let far = |v: Vec3| v + shift;
        let signs = [up, down].map(|v| orientation(far(p[0]), far(p[1]), far(p[2]), far(v)));
        let mirrored = [up, down].map(|v| orientation(far(p[1]), far(p[0]), far(p[2]), far(v)));
        assert_eq!(signs.map(|s| -s), mirrored);
    }
}
