//! One join: how a piece answers at its handles, from the answers of its two parts and the joint between them.
//!
//! Reads: the handles of both parts, the joint.  Writes: the handles of the whole, and how the forces inside follow
//! from those outside (pure functions).
//! Called by: `assembly`, `select`, `impact`.
//! Source: [Featherstone99], turned round: a piece is told the acceleration `a` of its base and the force `f` on its
//! tip, and answers with the force on its base, `I a + p − Eᵀ f`, and the acceleration of its tip, `E a + Λ f + e`. No
//! inertia is inverted, so that no digits are lost to long levers, links may be massless, and a rigid piece is its own
//! inertia and lever, exactly.
//! Accelerations are those of the frames' origins, not spatial ones: then nothing depends on velocities but turns and
//! joint rates.
//! Letters: A carries B by joint S; X motion transform from A's tip to B's base; Λ' = X Λ_A Xᵀ; N = (1 + I_B Λ')⁻¹;
//! J = N I_B; D = (Sᵀ J S)⁻¹; W = J − J S D Sᵀ J; M = (1 − J S D Sᵀ) N; Y = Λ' N + Nᵀ S D Sᵀ N; g acceleration of B's base
//! without the joint's force and rate, h force on B's base without acceleration. Then
//! `f = W g + M h + J S D Q`, `a_B = Mᵀ g − Y h + Nᵀ S D Q`, `q̈ = D Q − D Sᵀ J g − D Sᵀ N h`.

use crate::articulated::joint::Plain;
use crate::articulated::six::{
    Matrix, ONE, Six, ZERO, apply, apply_transposed, dot, plus, sum, symmetric, times,
    times_transposed, transposed_times,
};

/// A joint whose resistance is below this fraction of the inertia it stands in has no answer [1].
const SINGULAR: f64 = 1e-15;
/// Most freedoms of a plain joint.
pub(super) const FREEDOMS_MAX: usize = 6;

/// How a piece answers at base and tip.
#[derive(Clone, Debug)]
pub(super) struct Handles {
    pub I: Matrix,
    /// E and Λ; meaningless where the piece is not open.
    pub E: Matrix,
    pub L: Matrix,
    /// Base and tip are one link: E = 1, Λ = 0.
    pub stiff: bool,
}

impl Handles {
    /// One link.
    pub const fn of_link(I: Matrix) -> Self {
        Self {
            I,
            E: ONE,
            L: ZERO,
            stiff: true,
        }
    }
}

/// What is inside a join, for one configuration.
#[derive(Clone, Debug)]
pub(super) struct Join {
    /// Components of motions along the freedoms of the joint.
    pub slots: &'static [usize],
    pub X: Matrix,
    pub W: Matrix,
    pub M: Matrix,
    pub Y: Matrix,
    /// D Sᵀ J and D Sᵀ N by rows, and D.
    pub DSJ: [Six; FREEDOMS_MAX],
    pub DSN: [Six; FREEDOMS_MAX],
    pub D: Matrix,
}

impl Join {
    pub const EMPTY: Self = Self {
        slots: &[],
        X: ONE,
        W: ZERO,
        M: ZERO,
        Y: ZERO,
        DSJ: ZERO,
        DSN: ZERO,
        D: ZERO,
    };
}

/// The part of the answers that does not depend on the handles: velocity terms, torques, loads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bias {
    /// Force on the base, and acceleration of the tip.
    pub p: Six,
    pub e: Six,
    /// Force on B, acceleration of B's base, and joint acceleration.
    pub f: Six,
    pub b: Six,
    pub rate: Six,
}

/// What moves inside a join, for given handles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside {
    /// Force of A on B.
    pub force: Six,
    /// Acceleration of B's base.
    pub base: Six,
    /// Joint acceleration.
    pub rate: Six,
}

/// Components of motions along which a joint moves; a weld has none.
pub(super) const fn slots(joint: Option<Plain>) -> &'static [usize] {
    match joint {
        None => &[],
        Some(Plain::Hinge) => &[2],
        Some(Plain::Slider) => &[5],
        Some(Plain::Ball) => &[0, 1, 2],
        Some(Plain::Free) => &[0, 1, 2, 3, 4, 5],
    }
}

/// Joins A and B. `None` if the joint moves no mass.
pub(super) fn join(
    a: &Handles,
    b: &Handles,
    X: Matrix,
    joint: Option<Plain>,
    side: bool,
    open: bool,
) -> Option<(Join, Handles)> {
    let slots = slots(joint);
    let (N, J, LN) = if a.stiff {
        (ONE, b.I, ZERO)
    } else {
        let L = symmetric(&times_transposed(&times(&X, &a.L), &X));
        let Nt = inverse(&sum(&ONE, &times(&L, &b.I), 1.0))?;
        let J = symmetric(&times(&b.I, &Nt));
        // Λ' N = Nᵀ Λ'
        (transposed_of(&Nt), J, symmetric(&times(&Nt, &L)))
    };
    let D = response(&J, slots)?;
    let (mut DSJ, mut DSN) = (ZERO, ZERO);
    for k in 0..slots.len() {
        for (l, &s) in slots.iter().enumerate() {
            DSJ[k] = plus(&DSJ[k], &J[s], D[k][l]);
            DSN[k] = plus(&DSN[k], &N[s], D[k][l]);
        }
    }
    let (mut W, mut M, mut Y) = (J, N, LN);
    for (k, &s) in slots.iter().enumerate() {
        for i in 0..6 {
            W[i] = plus(&W[i], &DSJ[k], -J[i][s]);
            M[i] = plus(&M[i], &DSN[k], -J[i][s]);
            Y[i] = plus(&Y[i], &DSN[k], N[s][i]);
        }
    }
    // Sᵀ W and Sᵀ M are zero, exactly.
    for &s in slots {
        for i in 0..6 {
            (W[s][i], W[i][s], M[s][i]) = (0.0, 0.0, 0.0);
        }
    }
    let (W, Y) = (symmetric(&W), symmetric(&Y));
    let XE = if a.stiff { X } else { times(&X, &a.E) };
    let I = symmetric(&sum(&a.I, &transposed_times(&XE, &times(&W, &XE)), 1.0));
    let mut whole = Handles::of_link(I);
    if !side {
        whole.stiff = false;
        if open {
            let reach = transposed_times(&M, &XE);
            (whole.E, whole.L) = if b.stiff {
                (reach, Y)
            } else {
                let give = times_transposed(&times(&b.E, &Y), &b.E);
                (times(&b.E, &reach), symmetric(&sum(&b.L, &give, 1.0)))
            };
        }
    }
    let inner = Join {
        slots,
        X,
        W,
        M,
        Y,
        DSJ,
        DSN,
        D,
    };
    Some((inner, whole))
}

fn transposed_of(a: &Matrix) -> Matrix {
    crate::articulated::six::transposed(a)
}

/// `(Sᵀ J S)⁻¹` in the first rows and columns.
fn response(J: &Matrix, slots: &[usize]) -> Option<Matrix> {
    let d = slots.len();
    // Turns are compared with turns and travels with travels.
    let scale = |s: usize| (0..3).fold(0.0, |t, k| t + J[3 * (s / 3) + k][3 * (s / 3) + k]);
    let mut a = ZERO;
    for i in 0..d {
        for j in 0..d {
            a[i][j] = J[slots[i]][slots[j]];
        }
        if !(a[i][i] > SINGULAR * scale(slots[i]) && a[i][i].is_finite()) {
            return None;
        }
    }
    if d == 1 {
        a[0][0] = 1.0 / a[0][0];
        return Some(a);
    }
    for i in d..6 {
        a[i][i] = 1.0;
    }
    let mut out = crate::articulated::six::inverse(&a)?;
    for i in d..6 {
        out[i][i] = 0.0;
    }
    Some(out)
}

/// Inverse of a general matrix by elimination with row exchange; `None` if it has none.
fn inverse(a: &Matrix) -> Option<Matrix> {
    let (mut a, mut out) = (*a, ONE);
    for c in 0..6 {
        let best = (c..6).reduce(|i, j| if a[j][c].abs() > a[i][c].abs() { j } else { i })?;
        a.swap(c, best);
        out.swap(c, best);
        let pivot = 1.0 / a[c][c];
        if !pivot.is_finite() {
            return None;
        }
        for x in 0..6 {
            a[c][x] *= pivot;
            out[c][x] *= pivot;
        }
        let (row, own) = (a[c], out[c]);
        for i in 0..6 {
            if i != c {
                let t = a[i][c];
                for x in 0..6 {
                    a[i][x] -= t * row[x];
                    out[i][x] -= t * own[x];
                }
            }
        }
    }
    Some(out)
}

/// The bias of the whole from those of its parts, the torques Q and the acceleration c that rates and turns give B's
/// base.
pub(super) fn bias(
    join: &Join,
    a: (&Handles, &Bias),
    b: (&Handles, &Bias),
    torques: &[f64],
    c: &Six,
    side: bool,
    open: bool,
) -> Bias {
    let g = plus(&apply(&join.X, &a.1.e), c, 1.0);
    let h = &b.1.p;
    let mut f = plus(&apply(&join.W, &g), &apply(&join.M, h), 1.0);
    let mut base = plus(&apply_transposed(&join.M, &g), &apply(&join.Y, h), -1.0);
    let mut rate = [0.0; 6];
    for (k, &Q) in torques.iter().enumerate() {
        f = plus(&f, &join.DSJ[k], Q);
        base = plus(&base, &join.DSN[k], Q);
    }
    for k in 0..join.slots.len() {
        rate[k] = -dot(&join.DSJ[k], &g) - dot(&join.DSN[k], h);
        for (l, &Q) in torques.iter().enumerate() {
            rate[k] += join.D[k][l] * Q;
        }
    }
    let mut carried = apply_transposed(&join.X, &f);
    if !a.0.stiff {
        carried = apply_transposed(&a.0.E, &carried);
    }
    let e = match (side || !open, b.0.stiff) {
        (true, _) => [0.0; 6],
        (_, true) => base,
        _ => plus(&b.1.e, &apply(&b.0.E, &base), 1.0),
    };
    Bias {
        p: plus(&a.1.p, &carried, 1.0),
        e,
        f,
        b: base,
        rate,
    }
}

/// What moves inside when the base accelerates by `a` and `f` acts on the tip.
pub(super) fn inside(
    join: &Join,
    left: &Handles,
    right: &Handles,
    bias: &Bias,
    side: bool,
    a: &Six,
    f: &Six,
) -> Inside {
    let reached = if left.stiff { *a } else { apply(&left.E, a) };
    let g = apply(&join.X, &reached);
    let mut out = Inside {
        force: plus(&bias.f, &apply(&join.W, &g), 1.0),
        base: plus(&bias.b, &apply_transposed(&join.M, &g), 1.0),
        rate: bias.rate,
    };
    for k in 0..join.slots.len() {
        out.rate[k] -= dot(&join.DSJ[k], &g);
    }
    if !side {
        // h = −E_Bᵀ f
        let h = if right.stiff {
            *f
        } else {
            apply_transposed(&right.E, f)
        };
        out.force = plus(&out.force, &apply(&join.M, &h), -1.0);
        out.base = plus(&out.base, &apply(&join.Y, &h), 1.0);
        for k in 0..join.slots.len() {
            out.rate[k] += dot(&join.DSN[k], &h);
        }
    }
    out
}
