//! Rounds of the direct solve over whole friction cones, for large islands where friction and load are wedged into each other.
//!
//! Reads: rows, solver bodies.  Writes: rows' impulses, solver bodies.
//! Called by: `sweep`.
//! Source: [Cadoux09] (what slip adds is held, the rest is convex), [Rockafellar76] (impulses of the last round as the centre of the next),
//! [AlartCurnier91] (Newton's method on the projection); letters as in `direct`.
//!
//! Coulomb's law for a contact with impulse P in the cone C = {|P_t| ≤ μ P_n}, slip u_t and normal velocity u_n, both less their aims:
//! `P ∈ C ⊥ u + s n ∈ C*`, `s = μ |u_t|` ([Acary08]). With the shift s held it is the condition of a convex problem. So a round
//! finds the step d that minimises `½ dᵀ M d + Σ ψ(u + J d)` with `−∇ψ = Jᵀ (P⁺ − P)`, `P⁺ = proj_C(P − ρ (u + J d + s n))`: Newton's method
//! with a search along each step arrives from anywhere. Friction bounds are not held and grow with the load within the round; what is
//! held is slip, which changes little where impulses of wedged bodies change a lot. The next round has new shifts.

#![allow(non_snake_case)]

use crate::math::{Mat3, Vec3};
use crate::solver::contact::ContactRow;
use crate::solver::direct::{Direct, System, masses, momentum};
use crate::solver::ends::Bodies;
use crate::solver::ends::SolverBody;

/// Stiffness of the augmentation relative to a row's own mass, in the first round and in later ones [1]. Softer ones leave flat wedges
/// for many rounds, stiffer ones change so many states that one round in ten finds no balance.
const STIFFNESS_FIRST: f64 = 1e3;
const STIFFNESS_LATER: f64 = 1e4;
/// Newton steps of one round.
const STEPS_MAX: u32 = 60;
/// Unbalanced impulse at which a round ends, relative to the impulses that act [1]. Rounds that end at a thousandth diverge.
const BALANCED: f64 = 1e-6;
/// Trials of the length of a Newton step.
const TRIALS_MAX: u32 = 30;
/// Slope at which a length is accepted, relative to the slope at the start [1].
const SLOPE: f64 = 1e-2;

/// `proj_C(P − ρ (u − aim + s n))` in the frame (n, t1, t2) for ρ of the given stiffness, and its derivative by −u in world axes.
pub(super) fn answer(row: &ContactRow, u: Vec3, stiffness: f64, shift: f64) -> (Vec3, Mat3) {
    // One ρ for all directions: the projection is the nearest point in the metric of ρ.
    let rho = stiffness * row.step_t.min(1.0 / row.k_n.x);
    let mu = row.friction();
    let p = row.frame_impulse();
    let z_n = p.x - rho * (u.dot(row.n) - row.target_n + shift);
    let z = [
        p.y - rho * (u.dot(row.t1) - row.target_t[0]),
        p.z - rho * (u.dot(row.t2) - row.target_t[1]),
    ];
    let size = (z[0] * z[0] + z[1] * z[1]).sqrt();
    // Sticks. Without friction nothing does.
    if mu > 0.0 && size <= mu * z_n {
        let free = Mat3::from_diagonal(Vec3::splat(rho));
        return (Vec3::new(z_n, z[0], z[1]), free);
    }
    // Apart.
    if mu * size <= -z_n {
        return (Vec3::ZERO, Mat3::ZERO);
    }
    // Slides: the nearest point of the cone's surface, p_n (1, μ t), moves along the surface and around the cone.
    let p_n = (z_n + mu * size) / (1.0 + mu * mu);
    if mu == 0.0 || size == 0.0 {
        return (Vec3::new(p_n, 0.0, 0.0), outer(row.n) * rho);
    }
    let t = (row.t1 * z[0] + row.t2 * z[1]) / size;
    let along = outer(row.n + t * mu) * (rho / (1.0 + mu * mu));
    let around = outer(row.n.cross(t)) * (rho * mu * p_n / size);
    let p_t = mu * p_n / size;
    (Vec3::new(p_n, p_t * z[0], p_t * z[1]), along + around)
}

fn outer(x: Vec3) -> Mat3 {
    Mat3::from_cols(x * x.x, x * x.y, x * x.z)
}

/// What slip adds to the normal velocity, μ |u_t| [m/s].
fn shift(row: &ContactRow, bodies: &[SolverBody]) -> f64 {
    let u = row.missed(bodies, true);
    row.friction() * (u.y * u.y + u.z * u.z).sqrt()
}

impl Direct {
    /// A round over the cones of plain contacts between bodies, prepared by [`Direct::prepare`], soft as the first one or not; false (and
    /// nothing changed) if it found no balance. Counts its Newton steps.
    pub(super) fn cone_round(
        &mut self,
        soft: bool,
        system: &mut System<'_>,
        bodies: &mut Bodies,
        steps: &mut u32,
    ) -> bool {
        self.stiffness = if soft {
            STIFFNESS_FIRST
        } else {
            STIFFNESS_LATER
        };
        self.moved.clear();
        self.moved.resize(self.slots.len(), [0.0; 6]);
        self.bounds.clear();
        let shifts = system.contacts().map(|row| shift(row, bodies));
        self.bounds.extend(shifts);
        self.coupled = false;
        let found = self.find_cones(system, bodies, steps);
        if found {
            self.take(system, bodies, |row, u, stiffness, shift| {
                answer(row, u, stiffness, shift).0
            });
        }
        found
    }

    /// Newton steps with the shifts held, along which a convex function falls; false if they do not arrive.
    fn find_cones(&mut self, system: &System<'_>, bodies: &[SolverBody], steps: &mut u32) -> bool {
        let mut scale = system.impulse_squared();
        for iteration in 0..=STEPS_MAX {
            self.balance(system, bodies, answer);
            let unbalanced: f64 = self.newton.iter().flatten().map(|x| x * x).sum();
            if iteration == 0 {
                scale = scale.max(unbalanced);
            }
            if unbalanced <= BALANCED * BALANCED * scale {
                return true;
            }
            self.assemble(system, bodies);
            if iteration == STEPS_MAX || !self.factor.factor() {
                return false;
            }
            self.downhill.clone_from(&self.newton);
            self.factor.solve(&mut self.newton);
            *steps += 1;
            if !self.go_downhill(system, bodies) {
                return false;
            }
        }
        false
    }

    /// Takes the Newton step, or the part of it at which the slope along it vanishes (regula falsi with halved ends). What each row
    /// has at the start and gains along the step is found once. False if rounding has left no way downhill.
    fn go_downhill(&mut self, system: &System<'_>, bodies: &[SolverBody]) -> bool {
        let product = |x: &[[f64; 6]], y: &[[f64; 6]]| -> f64 {
            let pairs = x.iter().flatten().zip(y.iter().flatten());
            pairs.map(|(x, y)| x * y).sum()
        };
        let start = product(&self.newton, &self.downhill);
        if start.is_nan() || start <= 0.0 {
            return false;
        }
        let mut ways = std::mem::take(&mut self.ways);
        ways.clear();
        ways.extend(system.contacts().map(|row| {
            let along = self.change(&self.newton, row.b, row.lever_b())
                - self.change(&self.newton, row.a, row.lever_a());
            (self.velocity(row, bodies), along)
        }));
        // −Δ·M d is linear in the length.
        let (mut held, mut gain) = (0.0, 0.0);
        for (node, &slot) in self.slots.iter().enumerate() {
            let (mass, inertia) = masses(&bodies[slot as usize]);
            let push = momentum(&self.newton[node], mass, inertia);
            for k in 0..6 {
                held -= push[k] * self.moved[node][k];
                gain -= push[k] * self.newton[node][k];
            }
        }
        let (mut low, mut at_low, mut high, mut at_high) = (0.0, start, 1.0, 0.0);
        let mut length = 1.0;
        for trial in 0..TRIALS_MAX {
            let mut force = held + gain * length;
            for ((row, (u, along)), &shift) in system.contacts().zip(&ways).zip(&self.bounds) {
                let (wanted, _) = answer(row, *u + *along * length, self.stiffness, shift);
                force += row.world(wanted - row.frame_impulse()).dot(*along);
            }
            if force.abs() <= SLOPE * start || (trial == 0 && force > 0.0) {
                break;
            }
            if force > 0.0 {
                (low, at_low) = (length, force);
                at_high *= 0.5;
            } else {
                (high, at_high) = (length, force);
                if trial > 0 {
                    at_low *= 0.5;
                }
            }
            length = low + (high - low) * at_low / (at_low - at_high);
        }
        for (m, n) in self.moved.iter_mut().zip(&self.newton) {
            for k in 0..6 {
                m[k] += length * n[k];
            }
        }
        self.ways = ways;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::Placement;
    use crate::material::Surface;
    use crate::report::SolverWork;
    use crate::solver::choose::Settings;
    use crate::solver::sweep::{Job, Sweeps};

    /// Numbers from −1 to 1.
    fn draws() -> impl FnMut() -> f64 {
        let mut state = 11_u64;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    fn vector(draw: &mut impl FnMut() -> f64) -> Vec3 {
        Vec3::new(draw(), draw(), draw())
    }

    /// Bodies thrown at random, the first of them fixed, and contacts at random between them: more than they have freedoms.
    fn heap(friction: f64) -> (Vec<ContactRow>, Bodies) {
        let mut draw = draws();
        let mut bodies = Bodies::default();
        for i in 0..50 {
            let mass = 1.0 + 0.5 * draw();
            bodies.flat.push(if i == 0 {
                SolverBody::FIXED
            } else {
                SolverBody {
                    v: vector(&mut draw),
                    w: vector(&mut draw),
                    inverse_mass: mass,
                    inverse_inertia: Mat3::from_diagonal(Vec3::new(mass, 2.0 * mass, 3.0)),
                }
            });
        }
        let surface = Surface {
            friction_static: friction,
            friction_kinetic: friction,
            ..Surface::default()
        };
        let mut rows = Vec::new();
        for k in 0..400_u32 {
            let a = k % 50;
            let b = (a + 1 + ((draw() + 1.0) * 3.0) as u32) % 50;
            let normal = vector(&mut draw).normalize();
            // Both sides touch at the origin, each at a random lever from its centre.
            let place = Placement {
                normal,
                point_a: Vec3::ZERO,
                point_b: Vec3::ZERO,
                gap: 0.0,
            };
            let centers = (-vector(&mut draw), -vector(&mut draw));
            rows.push(ContactRow::new(
                (a, b),
                &place,
                centers,
                &bodies,
                &surface,
                0.0,
            ));
        }
        (rows, bodies)
    }

    /// Solves rows; how far the worst row is from Coulomb's law along the normal, from its cone and across, and the limits that were hit.
    fn solve(
        (mut rows, mut bodies): (Vec<ContactRow>, Bodies),
        velocity_tolerance: f64,
        cone_rounds: u32,
    ) -> ([f64; 3], u32) {
        let settings = Settings {
            sweeps: 10,
            sweeps_last: 0,
            direct_rounds: 0,
            newton_steps: u32::MAX,
            direct_tries: 0,
            core: false,
            cone_rounds,
            velocity_tolerance,
            shuffle_seed: None,
        };
        let mut work = SolverWork::default();
        let mut job = Job {
            settings: &settings,
            cost_max: 1_000_000,
            near: false,
            rows: &mut rows,
            joint_blocks: &mut [],
            bodies: &mut bodies,
            work: &mut work,
        };
        job.converge(&mut Sweeps::default(), |_| true);
        let mut worst = [0.0_f64; 3];
        for row in &rows {
            for (worst, x) in worst.iter_mut().zip(row.residuals(&bodies)) {
                *worst = worst.max(x);
            }
        }
        assert!(rows.iter().all(|r| r.p_n >= 0.0));
        assert!(rows.iter().any(|r| r.p_n == 0.0) && rows.iter().any(|r| r.p_n > 0.0));
        (worst, work.caps_hit)
    }

    #[test]
    fn rounds_over_cones_solve_what_sweeps_leave() {
        for friction in [0.0, 0.1, 0.5] {
            let ([left, ..], caps) = solve(heap(friction), 1e-7, 0);
            assert!(left > 1e-4 && caps > 0, "sweeps alone leave {left:e}");
            let ([normal, cone, across], caps) = solve(heap(friction), 1e-7, 30);
            assert!(normal <= 1e-7 && across <= 1e-7, "{normal:e} {across:e}");
            assert!(cone <= 1e-12 && caps == 0, "{cone:e} {caps}");
        }
    }

    /// A line of balls without friction: the first half run into each other, the others fly apart. Nothing slips.
    fn line() -> (Vec<ContactRow>, Bodies) {
        let count = 400_i32;
        let mut bodies = Bodies::default();
        for i in 0..=count {
            let speed = f64::from((i - count / 2).abs());
            bodies.flat.push(SolverBody {
                v: Vec3::X * (0.1 * speed),
                w: Vec3::ZERO,
                inverse_mass: 1.0,
                inverse_inertia: Mat3::IDENTITY,
            });
        }
        let place = Placement {
            normal: Vec3::X,
            point_a: Vec3::ZERO,
            point_b: Vec3::ZERO,
            gap: 0.0,
        };
        let surface = Surface {
            friction_static: 0.0,
            friction_kinetic: 0.0,
            ..Surface::default()
        };
        let row = |i: i32| {
            let ends = (i as u32, i as u32 + 1);
            ContactRow::new(
                ends,
                &place,
                (Vec3::ZERO, Vec3::ZERO),
                &bodies,
                &surface,
                0.0,
            )
        };
        ((0..count).map(row).collect(), bodies)
    }

    #[test]
    fn contacts_without_friction_do_not_stick() {
        for tolerance in [4e-3, 1e-7] {
            // That none pulls is asserted there.
            let ([normal, ..], caps) = solve(line(), tolerance, 30);
            assert!(normal <= tolerance && caps == 0, "{normal:e} {caps}");
        }
    }

    #[test]
    fn answers_are_in_the_cone_and_have_the_derivative_they_say() {
        let (rows, bodies) = heap(0.4);
        let (mut draw, mut states) = (draws(), [0; 3]);
        for mut row in rows {
            row.extrapolate(vector(&mut draw), &mut bodies.clone());
            let (u, shift) = (vector(&mut draw), 0.1 * (1.0 + draw()));
            let (p, W) = answer(&row, u, 10.0, shift);
            let size = (p.y * p.y + p.z * p.z).sqrt();
            assert!(size <= 0.4 * p.x * (1.0 + 1e-12), "{p}");
            let inside = size < 0.4 * p.x * (1.0 - 1e-9);
            states[usize::from(p.x > 0.0) + usize::from(inside)] += 1;
            let d = vector(&mut draw) * 1e-7;
            let change = answer(&row, u + d, 10.0, shift).0 - answer(&row, u - d, 10.0, shift).0;
            let missed = (row.world(change) + W * d * 2.0).length();
            assert!(missed <= 1e-4 * d.length() * 10.0, "{missed:e} at {p}");
        }
        // Apart, sliding and sticking: all of it was compared.
        assert!(states.iter().all(|&n| n > 10), "{states:?}");
    }
}
