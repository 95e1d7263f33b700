//! The ends of contacts and joints: velocities, and how a body or a link answers an impulse.
//!
//! Reads: masses, responses of trees.  Writes: velocities of solver bodies, impulses gathered on trees.
//! Called by: contact and joint rows, sweeps, direct solves.
//! Source: docs/solver.md, "Ends".

#![allow(non_snake_case)]

use crate::articulated::TreeError;
use crate::articulated::ends::{Pair, TreeEnd, flat};
use crate::collide::Placement;
use crate::dynamics::joint::JointRow;
use crate::math::{Mat3, Vec3};
use std::ops::{Deref, DerefMut};

pub(crate) const NONE: u32 = u32::MAX;

/// What a sweep needs of a body: its velocities and its response. Bodies of infinite mass have zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolverBody {
    pub v: Vec3,
    pub w: Vec3,
    pub inverse_mass: f64,
    pub inverse_inertia: Mat3,
}

impl SolverBody {
    /// At rest and immovable.
    pub(crate) const FIXED: Self = Self {
        v: Vec3::ZERO,
        w: Vec3::ZERO,
        inverse_mass: 0.0,
        inverse_inertia: Mat3::ZERO,
    };

    /// Answers no impulse until its masses are given back.
    pub(crate) const fn stand_still(&mut self) {
        self.inverse_mass = 0.0;
        self.inverse_inertia = Mat3::ZERO;
    }

    pub(crate) fn at(&self, r: Vec3) -> Vec3 {
        self.v + self.w.cross(r)
    }

    pub(crate) fn push(&mut self, P: Vec3, r: Vec3) {
        self.v += P * self.inverse_mass;
        self.w += self.inverse_inertia * r.cross(P);
    }
}

/// The one point at which a contact acts on both its ends, so that no couple is left over: the middle between two that move, else the point
/// of the one that does. Gap, response, slip and ledger are taken there too.
pub(crate) fn acting_point(bodies: &[SolverBody], ends: (usize, usize), place: &Placement) -> Vec3 {
    let moves = |slot: usize| bodies[slot].inverse_mass > 0.0;
    match (moves(ends.0), moves(ends.1)) {
        (true, false) => place.point_a,
        (false, true) => place.point_b,
        _ => 0.5 * (place.point_a + place.point_b),
    }
}

/// Solver bodies by slot, and the trees that some of them are links of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bodies {
    pub flat: Vec<SolverBody>,
    /// By slot: tree and first row in its Ω, for links that something touches or is joined to. Empty without articulations.
    pub(crate) ports: Vec<Port>,
    /// By articulation slot.
    pub(crate) trees: Vec<TreeEnd>,
}

/// What `Bodies::keep` kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    flat: Vec<SolverBody>,
    impulses: Vec<f64>,
}

/// A link and its tree for a direct solve: H, and the Jacobian of the link's velocity and angular velocity at its centre of mass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub tree: u32,
    pub freedoms: usize,
    pub inertia: &'a [f64],
    pub jacobian: &'a [f64],
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Port {
    pub(crate) tree: u32,
    pub(crate) row: u32,
}

impl Deref for Bodies {
    type Target = [SolverBody];
    fn deref(&self) -> &[SolverBody] {
        &self.flat
    }
}

impl DerefMut for Bodies {
    fn deref_mut(&mut self) -> &mut [SolverBody] {
        &mut self.flat
    }
}

/// A link in a solve: its velocities are kept, its response is its tree's. The mass only says that it is no prescribed side.
pub(crate) const LINK: SolverBody = SolverBody {
    inverse_mass: 1.0,
    ..SolverBody::FIXED
};

impl Bodies {
    /// Whether a slot is a link that moves with its tree.
    pub(crate) fn is_link(&self, slot: u32) -> bool {
        self.ports
            .get(slot as usize)
            .is_some_and(|p| p.tree != NONE)
    }

    /// What a direct solve needs of a link and its tree.
    pub(crate) fn view(&self, slot: u32) -> Option<View<'_>> {
        let port = self.ports.get(slot as usize).filter(|p| p.tree != NONE)?;
        let tree = &self.trees[port.tree as usize];
        let (n, start) = (tree.freedoms, port.row as usize);
        Some(View {
            tree: port.tree,
            freedoms: n,
            inertia: tree.inertia.get(..n * n)?,
            jacobian: tree.jacobian.get(start * n..(start + 6) * n)?,
        })
    }

    /// Whether either of two slots is one.
    pub(crate) fn linked(&self, a: u32, b: u32) -> bool {
        !self.ports.is_empty() && (self.is_link(a) || self.is_link(b))
    }

    /// Changes of velocity of two slots by impulses on both, together.
    pub(crate) fn answer(&self, a: u32, b: u32, on_a: Pair, on_b: Pair) -> (Pair, Pair) {
        let one = |to: u32, impulses: [(u32, Pair); 2]| {
            if !self.is_link(to) {
                let (body, own) = (&self.flat[to as usize], impulses[0].1);
                return (own.0 * body.inverse_mass, body.inverse_inertia * own.1);
            }
            let port = self.ports[to as usize];
            let tree = &self.trees[port.tree as usize];
            let mut d = (Vec3::ZERO, Vec3::ZERO);
            for (from, impulse) in impulses {
                if self.is_link(from) && self.ports[from as usize].tree == port.tree {
                    let part = tree.times(port.row, self.ports[from as usize].row, impulse);
                    d = (d.0 + part.0, d.1 + part.1);
                }
            }
            d
        };
        (
            one(a, [(a, on_a), (b, on_b)]),
            one(b, [(b, on_b), (a, on_a)]),
        )
    }

    /// How the velocity along one joint row answers an impulse along another: `J_to M⁻¹ J_fromᵀ`.
    pub(crate) fn row_answer(&self, a: u32, b: u32, to: &JointRow, from: &JointRow) -> f64 {
        let (d_a, d_b) = self.answer(a, b, (-from.e, from.ang_a), (from.e, from.ang_b));
        to.e.dot(d_b.0 - d_a.0) + to.ang_a.dot(d_a.1) + to.ang_b.dot(d_b.1)
    }

    /// An impulse with its moment about the centre of mass, on a link or a body.
    pub(crate) fn push(&mut self, slot: u32, P: Vec3, moment: Vec3) {
        if !self.is_link(slot) {
            let body = &mut self.flat[slot as usize];
            body.v += P * body.inverse_mass;
            body.w += body.inverse_inertia * moment;
            return;
        }
        let port = self.ports[slot as usize];
        let tree = &mut self.trees[port.tree as usize];
        let own = &mut tree.impulse[port.row as usize..port.row as usize + 6];
        for (x, y) in own.iter_mut().zip(flat((P, moment))) {
            *x += y;
        }
        for (k, &(_, slot)) in tree.links.iter().enumerate() {
            let d = tree.times(6 * k as u32, port.row, (P, moment));
            let body = &mut self.flat[slot as usize];
            body.v += d.0;
            body.w += d.1;
        }
    }

    /// Keeps velocities and impulses, to come back to them.
    pub(crate) fn keep(&self, out: &mut Kept) {
        out.flat.clone_from(&self.flat);
        out.impulses.clear();
        for tree in &self.trees {
            out.impulses.extend_from_slice(&tree.impulse);
        }
    }

    /// Comes back to what was kept since the last load.
    pub(crate) fn give_back(&mut self, kept: &Kept) {
        self.flat.copy_from_slice(&kept.flat);
        let mut from = 0;
        for tree in &mut self.trees {
            let end = from + tree.impulse.len();
            tree.impulse.copy_from_slice(&kept.impulses[from..end]);
            from = end;
        }
    }

    /// Scales the velocities of some slots, and of the whole trees that links among them belong to, with their impulses.
    pub(crate) fn scale(&mut self, slots: &[u32], part: f64) {
        let times = |v: Vec3| if part == 0.0 { Vec3::ZERO } else { v * part };
        let shrink = |body: &mut SolverBody| (body.v, body.w) = (times(body.v), times(body.w));
        let mut trees = Vec::new();
        for &slot in slots {
            if self.is_link(slot) {
                trees.push(self.ports[slot as usize].tree as usize);
            } else {
                shrink(&mut self.flat[slot as usize]);
            }
        }
        trees.sort_unstable();
        trees.dedup();
        for number in trees {
            let tree = &mut self.trees[number];
            for x in &mut tree.impulse {
                *x = if part == 0.0 { 0.0 } else { *x * part };
            }
            for &(_, slot) in &tree.links {
                shrink(&mut self.flat[slot as usize]);
            }
        }
    }

    /// How many articulations did not take the impulses of this substep.
    pub(crate) fn given_up(&self) -> u32 {
        self.trees.iter().filter(|t| t.given_up).count() as u32
    }

    /// The first articulation that a step could not answer for, and why.
    pub(crate) fn error(&self) -> Option<(usize, &TreeError)> {
        let found = |(i, t): (usize, &'_ TreeEnd)| t.error.is_some().then_some(i);
        let i = self.trees.iter().enumerate().find_map(found)?;
        self.trees[i].error.as_ref().map(|e| (i, e))
    }
}

/// The matrix of a linear map given by what it makes of the three axes.
pub(crate) fn matrix(f: impl Fn(Vec3) -> Vec3) -> Mat3 {
    Mat3::from_cols(f(Vec3::X), f(Vec3::Y), f(Vec3::Z))
}
