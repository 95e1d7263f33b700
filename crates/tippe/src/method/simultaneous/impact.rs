//! One simultaneous impact in phases: compression without restitution, restitution that makes no energy, connections and friction again, no point left approaching.
//!
//! Reads: components of the pass.  Writes: impulses of the system.
//! Called by: `method::simultaneous::passes`.
//! Source: [Ermolin] §3.1–3.2 (two phases, p′ = (1 + e) p); docs/methods/simultaneous.md, "Restitution" and "Friction", for what it leaves open.

use super::components::{APART, Components};
use super::cones::Cones;
use super::passes::{Point, connection};
use super::sets::Set;
use super::system::{EXACT, ROUGH, Solved, System};
use crate::dynamics::impact::impact;
use crate::math::block_cholesky::Block6;
use crate::math::{Mat3, Vec3};
use crate::solver::problem::{Friction, Group, Law, NONE, Problem};

/// Most solves in which friction bounds follow the normal impulses.
const BOUNDS_MAX: u32 = 60;
/// Change of a bound that counts as none, relative to the largest impulse [1].
const BOUNDS_EXACT: f64 = 1e-11;
/// The same from which on solves are exact.
const BOUNDS_NEAR: f64 = 1e-7;
/// Approach left by restitution that is worth one more solve, relative to the largest velocity [1].
const CLOSED: f64 = 1e-12;

/// Energy made by a component that counts as rounding, relative to what its impulses turn over [1].
const MADE: f64 = 1e-9;

/// Scratch of the phases.
#[derive(Clone, Debug, Default)]
pub(super) struct Impacts {
    /// Worst of the solves of this pass, and the least factor on restitution.
    pub worst: Solved,
    pub guard: f64,
    /// By row: impulses and velocities after compression.
    p: Vec<f64>,
    u: Vec<f64>,
    /// By component: energy that compression took, energy that restitution would give, factor.
    taken: Vec<f64>,
    given: Vec<f64>,
    factor: Vec<f64>,
    /// Friction and load found together.
    cones: Cones,
    /// By row, kept while responses are found and while bounds are.
    kept: Vec<f64>,
    kept_base: Vec<f64>,
}

impl Impacts {
    /// A pass begins: nothing takes part.
    pub(super) fn begin(&mut self, system: &mut System) {
        self.worst = Solved::default();
        self.guard = 1.0;
        system.sets.fill(Set::Held);
    }

    /// Lone points: the impact law of their pair, on the response that connections leave them.
    pub(super) fn alone(
        &mut self,
        problem: &Problem,
        points: &[Point],
        components: &mut Components,
        system: &mut System,
    ) {
        let lone = std::mem::take(&mut components.lone);
        for &i in &lone {
            let point = &points[i as usize];
            let g = &problem.groups[point.group];
            if system.u[g.row] >= 0.0 {
                continue;
            }
            let component = components.of_group[point.group];
            let jointed = components.jointed[component as usize];
            if g.rows == 1 && !jointed {
                system.p[g.row] =
                    -(1.0 + point.surface.restitution) * system.u[g.row] / system.response[g.row];
                continue;
            }
            let response = if g.rows == 1 {
                None
            } else if jointed || on_tree(problem, g) {
                Some(self.held_response(problem, point, component, components, system))
            } else {
                Some(response(problem, g))
            };
            let u = &system.u[g.row..g.row + g.rows];
            let law = response
                .and_then(|k| impact(k, Vec3::X, Vec3::new(u[0], u[1], u[2]), &point.surface).ok());
            let Some(law) = law else {
                components.unlone(i);
                continue;
            };
            self.worst.capped |= law.capped;
            system.p[g.row..g.row + 3].copy_from_slice(&law.impulse.to_array());
        }
        components.lone = lone;
        if !components.lone.is_empty() {
            system.velocities(problem);
        }
    }

    /// K of a lone point in its frame, with what connections and its tree answer: the velocities of three unit impulses.
    fn held_response(
        &mut self,
        problem: &Problem,
        point: &Point,
        component: u32,
        components: &Components,
        system: &mut System,
    ) -> Mat3 {
        self.kept.clone_from(&system.p);
        self.kept_base.clone_from(&system.base);
        let scale = system.scale;
        system.base.fill(0.0);
        self.connect(problem, components, system, Some(component));
        let g = &problem.groups[point.group];
        system.scale = system.response[g.row];
        let mut columns = [Vec3::ZERO; 3];
        for (k, column) in columns.iter_mut().enumerate() {
            system.p.fill(0.0);
            system.p[g.row + k] = 1.0;
            system.velocities(problem);
            self.note(system, problem);
            *column = Vec3::from_slice(&system.u[g.row..g.row + 3]);
        }
        system.sets.fill(Set::Held);
        system.scale = scale;
        system.p.clone_from(&self.kept);
        system.base.clone_from(&self.kept_base);
        system.velocities(problem);
        let k = Mat3::from_cols(columns[0], columns[1], columns[2]);
        (k + k.transpose()) * 0.5
    }

    /// Connections of the components of this pass, or of one of them, take part.
    fn connect(
        &self,
        problem: &Problem,
        components: &Components,
        system: &mut System,
        only: Option<u32>,
    ) {
        for (i, g) in problem.groups.iter().enumerate() {
            let of = components.of_group[i];
            if of != APART && !components.is_point[i] && only.is_none_or(|c| c == of) {
                system.sets[g.row] = connection(&g.law);
            }
        }
    }

    /// SR-8: all points together as if none had restitution, with friction and connections. SR-12, 7.7: no point pulls.
    pub(super) fn compress(
        &mut self,
        problem: &Problem,
        points: &[Point],
        components: &Components,
        system: &mut System,
    ) {
        self.connect(problem, components, system, None);
        self.push(problem, points, components, system);
    }

    /// Points push by no less than they do now; friction bounds follow their normal impulses until they agree.
    fn push(
        &mut self,
        problem: &Problem,
        points: &[Point],
        components: &Components,
        system: &mut System,
    ) {
        for &i in &components.several {
            let g = &problem.groups[points[i as usize].group];
            system.sets[g.row] = Set::Between(system.p[g.row], f64::INFINITY);
        }
        let rubs = |g: &Group| matches!(g.law, Law::Cone(f) if f.sliding > 0.0 || f.has_torque());
        let rough = components
            .several
            .iter()
            .any(|&i| rubs(&problem.groups[points[i as usize].group]));
        if !rough {
            return self.note(system, problem);
        }
        self.kept.clone_from(&system.p);
        for _ in 0..BOUNDS_MAX {
            self.bound(problem, points, components, system);
            self.note(system, problem);
            let change = bound_change(problem, points, components, system);
            if change <= BOUNDS_EXACT && system.exact == EXACT {
                return;
            }
            system.exact = if change <= BOUNDS_NEAR { EXACT } else { ROUGH };
        }
        // They chase each other: found together, from where they began.
        system.exact = EXACT;
        system.p.clone_from(&self.kept);
        system.velocities(problem);
        if !self.cones.solve(problem, points, components, system) {
            self.clamp(problem, points, components, system);
        }
    }

    /// Normal impulses as they come out with the friction of the moment, so that friction ends inside its cone; points may be left approaching.
    fn clamp(
        &mut self,
        problem: &Problem,
        points: &[Point],
        components: &Components,
        system: &mut System,
    ) {
        self.worst.capped = true;
        self.note(system, problem);
        for &i in &components.several {
            let g = &problem.groups[points[i as usize].group];
            system.sets[g.row] = Set::Held;
        }
        self.bound(problem, points, components, system);
        self.note(system, problem);
    }

    /// Friction of every point is bounded by its normal impulse of now.
    fn bound(
        &self,
        problem: &Problem,
        points: &[Point],
        components: &Components,
        system: &mut System,
    ) {
        for &i in &components.several {
            let g = &problem.groups[points[i as usize].group];
            let Law::Cone(friction) = g.law else { continue };
            for (k, set) in bounds(&friction, system.p[g.row], g.rows) {
                system.sets[g.row + k] = set;
            }
        }
    }

    /// SR-9: every point gives back e of what it took, less where that would make energy (7.8); connections answer (7.9), friction is bounded anew.
    pub(super) fn restitute(
        &mut self,
        problem: &Problem,
        points: &[Point],
        components: &Components,
        system: &mut System,
        literal: bool,
    ) {
        let e = |i: u32| points[i as usize].surface.restitution;
        if components.several.iter().all(|&i| e(i) == 0.0) {
            return;
        }
        self.p.clone_from(&system.p);
        self.u.clone_from(&system.u);
        self.hold_points(problem, points, components, system);
        for &i in &components.several {
            let row = problem.groups[points[i as usize].group].row;
            system.p[row] *= 1.0 + e(i);
        }
        system.velocities(problem);
        if literal {
            return;
        }
        let jointed = components.jointed.iter().any(|j| *j);
        if jointed {
            self.note(system, problem);
        }
        self.scale(problem, points, components, system);
        let rubs = |i: &u32| matches!(problem.groups[points[*i as usize].group].law, Law::Cone(_));
        if components.several.iter().any(rubs) {
            self.bound(problem, points, components, system);
            self.note(system, problem);
        }
    }

    /// Normal impulses and friction keep what they have.
    fn hold_points(
        &self,
        problem: &Problem,
        points: &[Point],
        components: &Components,
        system: &mut System,
    ) {
        for &i in &components.several {
            let g = &problem.groups[points[i as usize].group];
            system.sets[g.row..g.row + g.rows].fill(Set::Held);
        }
    }

    /// 7.8: restitution of a component gives no more than the normal impulses of its compression took.
    fn scale(
        &mut self,
        problem: &Problem,
        points: &[Point],
        components: &Components,
        system: &mut System,
    ) {
        let count = components.points.len();
        for x in [&mut self.taken, &mut self.given, &mut self.factor] {
            x.clear();
            x.resize(count, 0.0);
        }
        for &i in &components.several {
            let g = points[i as usize].group;
            let row = problem.groups[g].row;
            let c = components.of_group[g] as usize;
            self.taken[c] -= self.p[row] * (system.base[row] + self.u[row]);
        }
        for (i, g) in problem.groups.iter().enumerate() {
            let c = components.of_group[i];
            if c == APART {
                continue;
            }
            for k in g.row..g.row + g.rows {
                self.given[c as usize] += (system.p[k] - self.p[k]) * (system.u[k] - self.u[k]);
            }
        }
        let mut scaled = false;
        for c in 0..count {
            let (taken, given) = (self.taken[c].max(0.0), self.given[c]);
            let whole = given <= taken || components.points[c] < 2;
            self.factor[c] = if whole { 1.0 } else { (taken / given).sqrt() };
            self.guard = self.guard.min(self.factor[c]);
            scaled |= !whole;
        }
        if !scaled {
            return;
        }
        for (i, g) in problem.groups.iter().enumerate() {
            let c = components.of_group[i];
            if c == APART {
                continue;
            }
            for k in g.row..g.row + g.rows {
                system.p[k] = self.p[k] + self.factor[c as usize] * (system.p[k] - self.p[k]);
            }
        }
        system.velocities(problem);
    }

    /// No point of the pass may approach afterwards: one more solve without restitution where one does.
    pub(super) fn close(
        &mut self,
        problem: &Problem,
        points: &[Point],
        components: &Components,
        system: &mut System,
    ) {
        let approaches = |&i: &u32| {
            let row = problem.groups[points[i as usize].group].row;
            system.u[row] < -CLOSED * system.scale
        };
        if components.several.iter().any(approaches) && self.worst.contradiction == 0.0 {
            self.connect(problem, components, system, None);
            self.push(problem, points, components, system);
        }
    }

    /// An answer that makes energy, or none, is not taken: the impulses of its component are shortened to the share s that takes the most.
    /// Relative to targets they turn over s p·u⁰ + s²/2 p·A p, which no right answer makes positive.
    pub(super) fn shorten(
        &mut self,
        problem: &Problem,
        components: &Components,
        system: &mut System,
    ) {
        let count = components.points.len();
        for x in [&mut self.taken, &mut self.given, &mut self.factor] {
            x.clear();
            x.resize(count, 0.0);
        }
        for (i, g) in problem.groups.iter().enumerate() {
            let c = components.of_group[i];
            if c == APART {
                continue;
            }
            for k in g.row..g.row + g.rows {
                self.taken[c as usize] -= system.p[k] * system.base[k];
                self.given[c as usize] += system.p[k] * (system.u[k] - system.base[k]);
            }
        }
        let mut shortened = false;
        for c in 0..count {
            let (taken, given) = (self.taken[c], self.given[c]);
            let made = 0.5 * given - taken;
            let sound = made <= MADE * (taken.abs() + given) || components.points[c] < 2;
            self.factor[c] = if sound {
                1.0
            } else if taken > 0.0 && given.is_finite() {
                (taken / given).min(1.0)
            } else {
                0.0
            };
            shortened |= !sound;
        }
        if !shortened {
            return;
        }
        self.worst.capped = true;
        for (i, g) in problem.groups.iter().enumerate() {
            let c = components.of_group[i];
            if c == APART || self.factor[c as usize] == 1.0 {
                continue;
            }
            for p in &mut system.p[g.row..g.row + g.rows] {
                // A number that is not finite times zero is none either.
                *p = if self.factor[c as usize] > 0.0 {
                    *p * self.factor[c as usize]
                } else {
                    0.0
                };
            }
        }
        system.velocities(problem);
    }

    /// Solves, and notes what was left.
    fn note(&mut self, system: &mut System, problem: &Problem) {
        let solved = system.solve(problem);
        self.worst.residual = self.worst.residual.max(solved.residual);
        self.worst.contradiction = self.worst.contradiction.max(solved.contradiction);
        self.worst.capped |= solved.capped;
    }
}

/// Largest change of a friction bound that the normal impulses of now ask for, relative to the largest impulse.
fn bound_change(
    problem: &Problem,
    points: &[Point],
    components: &Components,
    system: &System,
) -> f64 {
    let largest = system.p.iter().fold(0.0, |a: f64, p| a.max(p.abs()));
    let radius = |s: Set| match s {
        Set::Disc(r) | Set::Between(_, r) => r,
        _ => 0.0,
    };
    let mut worst = 0.0_f64;
    for &i in &components.several {
        let g = &problem.groups[points[i as usize].group];
        let Law::Cone(friction) = g.law else { continue };
        for (k, set) in bounds(&friction, system.p[g.row], g.rows) {
            worst = worst.max((radius(set) - radius(system.sets[g.row + k])).abs());
        }
    }
    if largest > 0.0 { worst / largest } else { 0.0 }
}

/// Sets of the rows of a contact beside its normal, for a normal impulse: row of the group and set.
fn bounds(friction: &Friction, normal: f64, rows: usize) -> impl Iterator<Item = (usize, Set)> {
    let (slide, roll, spin) = (
        friction.sliding * normal,
        friction.rolling * normal,
        friction.spinning * normal,
    );
    [
        (1, Set::Disc(slide)),
        (2, Set::Second),
        (3, Set::Disc(roll)),
        (4, Set::Second),
        (5, Set::Between(-spin, spin)),
    ]
    .into_iter()
    .take(rows - 1)
}

/// Whether a side of a group is a block of a tree.
fn on_tree(problem: &Problem, g: &Group) -> bool {
    let sides = &problem.sides[g.sides.clone()];
    sides
        .iter()
        .any(|s| problem.tree_of[s.block as usize] != NONE)
}

/// K of a contact between bodies, in its frame.
fn response(problem: &Problem, g: &Group) -> Mat3 {
    let mut k = [[0.0; 3]; 3];
    for side in &problem.sides[g.sides.clone()] {
        let rows = &problem.jacobian[side.first as usize..side.first as usize + 3];
        let inverse = &problem.inverse[side.block as usize];
        for (j, row) in rows.iter().enumerate() {
            let moved: Block6 =
                std::array::from_fn(|a| (0..6).map(|b| inverse[6 * a + b] * row[b]).sum());
            for i in 0..3 {
                k[j][i] += rows[i].iter().zip(&moved).map(|(x, y)| x * y).sum::<f64>();
            }
        }
    }
    Mat3::from_cols_array_2d(&k)
}
