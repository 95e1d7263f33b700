//! The stiffness of stressed joints, implicit: what a body whose joints pull hard answers, so that it does not swing faster than a step follows.
//!
//! Reads: inverse inertia, stiffness, angular velocity of a body.  Writes: nothing (pure functions).
//! Called by: `net`.
//! Source: [Tournier15]; docs/solver.md, "Joint networks".
//!
//! A joint under the force f on the lever r of a body turns it back with the stiffness K = (f·r) 1 − ½ (r fᵀ + f rᵀ). Where (h/2)² K is more than a
//! quarter of the body's inertia, the excess d acts as inertia on the velocity that the half step leaves, (I + d) ω⁺ = I ω + τ. That
//! takes energy.

#![allow(non_snake_case)]

use crate::math::eigen::{Eights, symmetric_eigen_of_eight};
use crate::math::lanes::{Eight, F8, LANES, Lanes, OnLanes, on_best};
use crate::math::{Mat3, Vec3};

/// Share of its inertia up to which the stiffness of a body is followed as it is [1].
const FOLLOWED: f64 = 0.25;

/// `(f·r) 1 − ½ (r fᵀ + f rᵀ)`: how a force on a lever turns a body back [N·m].
pub(crate) fn stiffness(r: Vec3, f: Vec3) -> Mat3 {
    let outer = Mat3::from_cols(r * f.x, r * f.y, r * f.z);
    Mat3::from_diagonal(Vec3::splat(f.dot(r))) - (outer + outer.transpose()) * 0.5
}

/// What a body answers whose stiffness is implicit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stiffened {
    /// `(I + d)⁻¹` [1/(kg·m²)].
    pub inverse: Mat3,
    /// `I`; nothing along axes about which it cannot turn [kg·m²].
    pub inertia: Mat3,
}

/// A body and its answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stiff {
    /// Inverse inertia, and stiffness times (h/2)².
    inverse: Mat3,
    K: Mat3,
    /// Nothing if the step follows it as it is.
    pub answer: Option<Stiffened>,
}

/// Gives bodies the inverse inertia and the stiffness times (h/2)² of now, and finds the answers of those for which that is new. `todo` is scratch.
pub(crate) fn renew(
    bodies: &mut [Stiff],
    now: impl Iterator<Item = (Mat3, Mat3)>,
    todo: &mut Vec<u32>,
) {
    todo.clear();
    for (i, (body, (inverse, K))) in bodies.iter_mut().zip(now).enumerate() {
        if body.inverse == inverse && body.K == K {
            continue;
        }
        *body = Stiff {
            inverse,
            K,
            answer: None,
        };
        // No eigenvalue is larger than the trace of a product of positive matrices, or of their sizes.
        let size = |m: &Mat3| m.x_axis.length() + m.y_axis.length() + m.z_axis.length();
        if size(&inverse) * size(&K) > FOLLOWED {
            todo.push(i as u32);
        }
    }
    on_best(Renew(bodies, todo));
}

/// Answers of the bodies named.
struct Renew<'a>(&'a mut [Stiff], &'a [u32]);

impl OnLanes for Renew<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Lanes>(self, s: S) {
        let Self(bodies, todo) = self;
        for some in todo.chunks(LANES) {
            let mut inverse = [[F8::ZERO; 3]; 3];
            let mut K = [[F8::ZERO; 3]; 3];
            for (lane, &i) in some.iter().enumerate() {
                put(&mut inverse, lane, &bodies[i as usize].inverse);
                put(&mut K, lane, &bodies[i as usize].K);
            }
            let mut eights = [[[Eight::splat(s, 0.0); 3]; 3]; 2];
            for i in 0..3 {
                for j in 0..3 {
                    eights[0][i][j] = Eight::new(s, inverse[i][j]);
                    eights[1][i][j] = Eight::new(s, K[i][j]);
                }
            }
            let (softer, inertia, k) = answer(s, &eights[0], &eights[1]);
            let k = k.get();
            for i in 0..3 {
                for j in 0..3 {
                    (inverse[i][j], K[i][j]) = (softer[i][j].get(), inertia[i][j].get());
                }
            }
            for (lane, &i) in some.iter().enumerate() {
                bodies[i as usize].answer = (k.0[lane] > FOLLOWED).then(|| Stiffened {
                    inverse: take(&inverse, lane),
                    inertia: take(&K, lane),
                });
            }
        }
    }
}

/// `(I + d)⁻¹`, `I` and the greatest κ of eight bodies.
///
/// In the axes in which the inertia is 1 and K diagonal with κ, the kick leaves ω/(1 + d), 4 (κ − d) = 2/(d + 2) beyond κ = ¼.
#[inline(always)]
fn answer<S: Lanes>(s: S, inverse: &Eights<S>, K: &Eights<S>) -> (Eights<S>, Eights<S>, Eight<S>) {
    let number = |x: f64| Eight::splat(s, x);
    let (V, m) = symmetric_eigen_of_eight(s, inverse);
    let (nil, one, two) = (number(0.0), number(1.0), number(2.0));
    // No closures: what they do would go through memory.
    let (mut root, mut moments) = (m, m);
    for i in 0..3 {
        root[i] = m[i].max(nil).sqrt();
        moments[i] = m[i].within(nil, nil, one / m[i]);
    }
    let S = spread(&V, &root);
    let (W, k) = symmetric_eigen_of_eight(s, &product(&S, &product(K, &S)));
    let mut share = k;
    for i in 0..3 {
        let root = (k[i] * k[i] + number(4.0) * k[i] + two).sqrt();
        let d = number(0.5) * (k[i] - two + root);
        share[i] = k[i].within(number(FOLLOWED), one, one / (one + d));
    }
    let SW = product(&S, &W);
    (
        spread(&SW, &share),
        spread(&V, &moments),
        k[0].max(k[1]).max(k[2]),
    )
}

/// `A B` by columns.
#[inline(always)]
fn product<S: Lanes>(A: &Eights<S>, B: &Eights<S>) -> Eights<S> {
    let mut out = *B;
    for j in 0..3 {
        for i in 0..3 {
            out[j][i] = A[0][i] * B[j][0] + A[1][i] * B[j][1] + A[2][i] * B[j][2];
        }
    }
    out
}

/// `A diag(d) Aᵀ`.
#[inline(always)]
fn spread<S: Lanes>(A: &Eights<S>, d: &[Eight<S>; 3]) -> Eights<S> {
    let mut out = *A;
    for j in 0..3 {
        let by = [d[0] * A[0][j], d[1] * A[1][j], d[2] * A[2][j]];
        for i in 0..3 {
            out[j][i] = A[0][i] * by[0] + A[1][i] * by[1] + A[2][i] * by[2];
        }
    }
    out
}

fn put(to: &mut [[F8; 3]; 3], lane: usize, m: &Mat3) {
    for (column, x) in to.iter_mut().zip(m.to_cols_array_2d()) {
        for (to, x) in column.iter_mut().zip(x) {
            to.0[lane] = x;
        }
    }
}

fn take(from: &[[F8; 3]; 3], lane: usize) -> Mat3 {
    Mat3::from_cols_array_2d(&from.map(|column| column.map(|x| x.0[lane])))
}

impl Stiffened {
    /// Energy that the excess takes where an angular impulse `torque` turns the body from `before` to `after` [J]: the rest of the impulse, −d ω⁺,
    /// on the mean of both.
    pub(crate) fn taken(&self, torque: Vec3, before: Vec3, after: Vec3) -> f64 {
        (torque - self.inertia * (after - before)).dot(0.5 * (before + after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pull of 100 kN on half a metre, on 0.1 kg·m²: κ is about 35 across the lever in steps of 1/60 s.
    fn stiff() -> (Mat3, Mat3) {
        let (r, f) = (Vec3::new(0.5, 0.0, 0.0), Vec3::new(1e5, 2e4, 0.0));
        let quarter = 0.25 / 3600.0;
        let inverse = Mat3::from_diagonal(Vec3::new(12.0, 10.0, 8.0));
        (inverse, stiffness(r, f) * quarter)
    }

    /// The answer of one body among others.
    fn answer_of(inverse: Mat3, K: Mat3) -> Option<Stiffened> {
        let other = (Mat3::IDENTITY, Mat3::IDENTITY * 3.0);
        let all = [other, (inverse, K), other];
        let mut bodies = [Stiff::default(); 3];
        renew(&mut bodies, all.into_iter(), &mut Vec::new());
        bodies[1].answer
    }

    #[test]
    fn a_body_gets_the_same_bits_whoever_is_looked_at_with_it() {
        let (inverse, K) = stiff();
        let (K, among) = (
            K + Mat3::IDENTITY * 1e-3,
            answer_of(inverse, K + Mat3::IDENTITY * 1e-3),
        );
        let mut alone = [Stiff::default()];
        renew(&mut alone, [(inverse, K)].into_iter(), &mut Vec::new());
        let (x, y) = (alone[0].answer.expect("stiff"), among.expect("stiff"));
        assert_eq!(x.inverse, y.inverse);
        assert_eq!(x.inertia, y.inertia);
    }

    #[test]
    fn a_stiff_body_turns_less_and_what_it_loses_is_told() {
        let (inverse, K) = stiff();
        let s = answer_of(inverse, K).expect("stiff");
        let (w, torque) = (Vec3::new(0.3, -1.0, 2.0), Vec3::new(0.1, 0.2, -0.3));
        let after = s.inverse * (s.inertia * w + torque);
        let kinetic = |w: Vec3| 0.5 * w.dot(s.inertia * w);
        let work = torque.dot(0.5 * (w + after));
        let gained = kinetic(after) - kinetic(w);
        let error = gained - (work - s.taken(torque, w, after));
        assert!(error.abs() < 1e-14, "{error:e}");
        // Without a torque it only loses.
        let free = s.inverse * (s.inertia * w);
        assert!(s.taken(Vec3::ZERO, w, free) > 0.3 * kinetic(w));
    }

    #[test]
    fn what_the_step_follows_is_left_alone() {
        let (inverse, K) = stiff();
        assert!(answer_of(inverse, K * 1e-3).is_none());
        // Pulled inwards it is turned on, not back.
        let inwards = stiffness(Vec3::X * 0.5, Vec3::X * -1e5) * (0.25 / 3600.0);
        assert!(answer_of(inverse, inwards).is_none());
        assert!(answer_of(inverse, inwards * -1.0).is_some());
    }
}
