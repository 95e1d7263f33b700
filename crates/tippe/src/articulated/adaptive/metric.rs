//! How much a piece would move, as a quadratic function of what happens at its handles: known before any acceleration
//! is.
//!
//! Reads: joins, biases, the measures of both parts.  Writes: the measure of the whole (pure functions).
//! Called by: `assembly`, `select`, `impact`.
//! Source: [Redon05], in our handles: base acceleration a and tip force f instead of two forces.
//! Letters: A(C) = s² (aᵀ Ψ_aa a + 2 aᵀ Ψ_af f + fᵀ Ψ_ff f) + ψ_a·a + ψ_f·f + η, with rates r = s₀ q̇ + s q̈ and
//! weights w.

use super::join::{Bias, Handles, Inside, Join};
use crate::articulated::six::{
    Matrix, Six, ZERO, apply, apply_transposed, dot, plus, sum, symmetric, times, times_transposed,
    transposed, transposed_times,
};

/// The quadratic part Ψ: it depends on the configuration alone.
#[derive(Clone, Debug)]
pub(super) struct Quadratic {
    pub aa: Matrix,
    pub af: Matrix,
    pub ff: Matrix,
}

impl Quadratic {
    pub const ZERO: Self = Self {
        aa: ZERO,
        af: ZERO,
        ff: ZERO,
    };

    /// `aᵀ Ψ_aa a + 2 aᵀ Ψ_af f + fᵀ Ψ_ff f`
    pub fn at(&self, a: &Six, f: &Six) -> f64 {
        let af = apply(&self.af, f);
        dot(a, &apply(&self.aa, a)) + 2.0 * dot(a, &af) + dot(f, &apply(&self.ff, f))
    }
}

/// The rest: it depends on rates, torques and loads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Affine {
    pub a: Six,
    pub f: Six,
    pub constant: f64,
}

/// How rates are judged: r = `rate` q̇ + `step` q̈.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judge {
    pub rate: f64,
    pub step: f64,
}

impl Judge {
    /// Accelerations, or changes of velocity, alone.
    pub const CHANGE: Self = Self {
        rate: 0.0,
        step: 1.0,
    };

    /// A(C).
    pub fn measure(&self, q: &Quadratic, l: &Affine, a: &Six, f: &Six) -> f64 {
        let x = self.step * self.step * q.at(a, f) + dot(&l.a, a) + dot(&l.f, f) + l.constant;
        x.max(0.0)
    }
}

/// How what happens inside a join follows from its handles (the linear part).
struct Maps {
    /// Force on A's tip from a and from f.
    ta: Matrix,
    tf: Matrix,
    /// Acceleration of B's base from a and from f.
    ba: Matrix,
    bf: Matrix,
    /// Joint acceleration from a and from f, by rows.
    ga: [Six; 6],
    gf: [Six; 6],
}

fn maps(join: &Join, left: &Handles, right: &Handles, through: bool) -> Maps {
    let XE = if left.stiff {
        join.X
    } else {
        times(&join.X, &left.E)
    };
    let force = transposed_times(&join.X, &times(&join.W, &XE));
    let mut m = Maps {
        ta: sum(&ZERO, &force, -1.0),
        tf: ZERO,
        ba: transposed_times(&join.M, &XE),
        bf: ZERO,
        ga: ZERO,
        gf: ZERO,
    };
    for k in 0..join.slots.len() {
        m.ga[k] = plus(&[0.0; 6], &apply_transposed(&XE, &join.DSJ[k]), -1.0);
    }
    if through {
        let XM = transposed_times(&join.X, &join.M);
        (m.tf, m.bf) = if right.stiff {
            (XM, join.Y)
        } else {
            (
                times_transposed(&XM, &right.E),
                times_transposed(&join.Y, &right.E),
            )
        };
        for k in 0..join.slots.len() {
            m.gf[k] = if right.stiff {
                join.DSN[k]
            } else {
                apply(&right.E, &join.DSN[k])
            };
        }
    }
    m
}

/// Ψ of a join. `through` if a force on the tip acts on B's tip; parts that are links have none.
pub(super) fn quadratic(
    join: &Join,
    left: (&Handles, Option<&Quadratic>),
    right: (&Handles, Option<&Quadratic>),
    through: bool,
    weights: &[f64],
) -> Quadratic {
    let m = maps(join, left.0, right.0, through);
    let mut out = Quadratic::ZERO;
    if let Some(q) = left.1 {
        let pull = times(&q.ff, &m.ta);
        let mixed = sum(&times(&q.af, &m.ta), &q.aa, 0.5);
        out.aa = sum(&mixed, &transposed(&mixed), 1.0);
        out.aa = sum(&out.aa, &transposed_times(&m.ta, &pull), 1.0);
        if through {
            out.af = times(&sum(&q.af, &transposed(&pull), 1.0), &m.tf);
            out.ff = transposed_times(&m.tf, &times(&q.ff, &m.tf));
        }
    }
    if let Some(q) = right.1 {
        let reach = times(&q.aa, &m.ba);
        out.aa = sum(&out.aa, &transposed_times(&m.ba, &reach), 1.0);
        if through {
            let mixed = sum(&times(&q.aa, &m.bf), &q.af, 1.0);
            out.af = sum(&out.af, &transposed_times(&m.ba, &mixed), 1.0);
            let half = transposed_times(&m.bf, &q.af);
            let square = transposed_times(&m.bf, &times(&q.aa, &m.bf));
            out.ff = sum(&sum(&out.ff, &square, 1.0), &q.ff, 1.0);
            out.ff = sum(&sum(&out.ff, &half, 1.0), &transposed(&half), 1.0);
        }
    }
    for k in 0..join.slots.len() {
        for i in 0..6 {
            out.aa[i] = plus(&out.aa[i], &m.ga[k], weights[k] * m.ga[k][i]);
            out.af[i] = plus(&out.af[i], &m.gf[k], weights[k] * m.ga[k][i]);
            out.ff[i] = plus(&out.ff[i], &m.gf[k], weights[k] * m.gf[k][i]);
        }
    }
    out.aa = symmetric(&out.aa);
    out.ff = symmetric(&out.ff);
    out
}

/// Parts of a join for `affine`: handles, and the measure unless the part is a link.
pub(super) type Measured<'a> = (&'a Handles, Option<(&'a Quadratic, &'a Affine)>);

/// ψ and η of a join, in products of matrices with vectors alone.
pub(super) fn affine(
    join: &Join,
    bias: &Bias,
    left: Measured,
    right: Measured,
    through: bool,
    judge: Judge,
    weights: &[f64],
    rates: &[f64],
) -> Affine {
    let s2 = judge.step * judge.step;
    let mut out = Affine::default();
    // Gradients with respect to the force inside, to the acceleration of B's base and to g, collected before they are
    // carried outside.
    let (mut by_force, mut by_base) = ([0.0; 6], [0.0; 6]);
    if let Some((q, l)) = left.1 {
        // The force on A's tip without handles: −Xᵀ f.
        let t = plus(&[0.0; 6], &apply_transposed(&join.X, &bias.f), -1.0);
        let pull = plus(&l.f, &apply(&q.ff, &t), 2.0 * s2);
        out.a = plus(&l.a, &apply(&q.af, &t), 2.0 * s2);
        by_force = plus(&[0.0; 6], &apply(&join.X, &pull), -1.0);
        out.constant += l.constant + s2 * dot(&t, &apply(&q.ff, &t)) + dot(&l.f, &t);
    }
    if let Some((q, l)) = right.1 {
        by_base = plus(&l.a, &apply(&q.aa, &bias.b), 2.0 * s2);
        out.constant += l.constant + s2 * dot(&bias.b, &apply(&q.aa, &bias.b)) + dot(&l.a, &bias.b);
        if through {
            out.f = plus(&l.f, &apply_transposed(&q.af, &bias.b), 2.0 * s2);
        }
    }
    // f = W g + M h, a_B = Mᵀ g − Y h, q̈ = −DSJ g − DSN h
    let mut by_g = plus(&apply(&join.W, &by_force), &apply(&join.M, &by_base), 1.0);
    let mut by_h = plus(
        &apply_transposed(&join.M, &by_force),
        &apply(&join.Y, &by_base),
        -1.0,
    );
    for k in 0..join.slots.len() {
        let r = judge.rate * rates[k] + judge.step * bias.rate[k];
        let slope = 2.0 * judge.step * weights[k] * r;
        by_g = plus(&by_g, &join.DSJ[k], -slope);
        by_h = plus(&by_h, &join.DSN[k], -slope);
        out.constant += weights[k] * r * r;
    }
    // g = X E_A a, h = −E_Bᵀ f
    let mut carried = apply_transposed(&join.X, &by_g);
    if !left.0.stiff {
        carried = apply_transposed(&left.0.E, &carried);
    }
    out.a = plus(&out.a, &carried, 1.0);
    if through {
        let pushed = if right.0.stiff {
            by_h
        } else {
            apply(&right.0.E, &by_h)
        };
        out.f = plus(&out.f, &pushed, -1.0);
    }
    out
}

/// `Σ w r²` of one joint.
pub(super) fn own(judge: Judge, inside: &Inside, weights: &[f64], rates: &[f64]) -> f64 {
    (0..weights.len()).fold(0.0, |sum, k| {
        let r = judge.rate * rates[k] + judge.step * inside.rate[k];
        sum + weights[k] * r * r
    })
}
