//! The two solves of a step: sweeps over each island until nothing changes, or to a limit that is reported.
//!
//! Reads: rows, islands.  Writes: rows' impulses, solver bodies, residuals and ledger of the report.
//! Called by: `method::sequential::step`.
//! Source: [Lecture] "Impulse Update" (accumulated impulses, random order), projected Gauss–Seidel.

use super::direct::Direct;
use super::row::{Row, SolverBody};
use super::touch::Touch;
use super::{Scratch, SequentialParams};
use crate::math::Vec3;
use crate::report::StepReport;
use crate::work::Work;

/// Scratch of the sweeps over one island.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweeps {
    /// Rows to visit, in order.
    order: Vec<u32>,
    /// By place in `order`: the impulse before a sweep, then its change.
    before: Vec<Vec3>,
    /// By place in `order`: the conjugate direction.
    direction: Vec<Vec3>,
    /// Scratch of the direct solve.
    direct: Direct,
}

/// Sweeps after each round of the direct solve: they settle stick, slip and separation.
const SETTLING_SWEEPS: u32 = 2;
/// Rounds in which sticking contacts at their static bound are let go, within one solve.
const SLIP_ROUNDS: u32 = 4;

/// Impulses at t: first as if nothing bounced, then with the bounce of the contacts that really press.
pub(crate) fn first(params: &SequentialParams, work: &mut Work, report: &mut StepReport) {
    let h = report.dt;
    let Scratch {
        bodies,
        touches,
        rows,
        sweeps,
        ..
    } = &mut work.sequential;
    for island in 0..work.islands.count() {
        let range = work.islands.range(island);
        let (rows, touches) = (&mut rows[range.clone()], &mut touches[range]);
        let limit = cost_limit(params, touches);
        converge(params, limit, rows, bodies, sweeps, report, |_| true);
        let mut arrivals = false;
        for (row, touch) in rows.iter_mut().zip(touches.iter_mut()) {
            if row.p_n > 0.0 && touch.bounce.is_some() {
                arrivals |= touch.bounce.is_some_and(|b| b.gap_end > 0.0);
                touch.aim_at_bounce(row, h);
            }
        }
        if arrivals {
            converge(params, limit, rows, bodies, sweeps, report, |_| true);
        }
    }
    book(rows, touches, bodies, report, |_| true);
}

/// Impulses at t + h over the projected contacts.
pub(crate) fn second(params: &SequentialParams, work: &mut Work, report: &mut StepReport) {
    let Scratch {
        bodies,
        touches,
        rows,
        sweeps,
        ..
    } = &mut work.sequential;
    for island in 0..work.islands.count() {
        let range = work.islands.range(island);
        let (rows, touches) = (&mut rows[range.clone()], &touches[range]);
        let limit = cost_limit(params, touches);
        converge(params, limit, rows, bodies, sweeps, report, |i| {
            touches[i].projected
        });
    }
    book(rows, touches, bodies, report, |t| t.projected);
}

/// Block products that a direct solve of an island may cost: `direct_cost` for each contact, and up to `direct_cost_cold` where
/// contacts are new, for a cold start is what makes stacks sag. The share of new ones enters squared, since a few new contacts among
/// many old ones disturb only their neighbours. Nothing where something hits: the next step is another problem anyway.
fn cost_limit(params: &SequentialParams, touches: &[Touch]) -> u64 {
    if touches.iter().any(|t| t.hit) {
        return 0;
    }
    let near = touches.iter().filter(|t| t.loaded || t.gap_start <= 0.0);
    let (mut count, mut new) = (0.0, 0.0);
    for touch in near {
        count += 1.0;
        new += f64::from(u8::from(!touch.known));
    }
    let share = new / f64::max(count, 1.0);
    (params.direct_cost * count + share * share * params.direct_cost_cold) as u64
}

/// One solve of one island: sweeps, accelerated by conjugate directions, until no visit changes a velocity by more than the tolerance.
/// Sticking contacts that slip at their bound are then let go, and the sweeps go on.
fn converge(
    params: &SequentialParams,
    cost_max: u64,
    rows: &mut [Row],
    bodies: &mut [SolverBody],
    scratch: &mut Sweeps,
    report: &mut StepReport,
    active: impl Fn(usize) -> bool,
) {
    let order = &mut scratch.order;
    order.clear();
    order.extend((0..rows.len()).filter(|&i| active(i)).map(|i| i as u32));
    if order.is_empty() {
        return;
    }
    for _ in 0..SLIP_ROUNDS {
        let solved = accelerated_sweeps(params, params.sweeps, rows, bodies, scratch, report)
            || newton(params, cost_max, rows, bodies, scratch, report);
        report.work.caps_hit += u32::from(!solved);
        let mut slipped = false;
        for &i in &scratch.order {
            let row = &mut rows[i as usize];
            if row.slips(bodies) {
                row.sliding = true;
                slipped = true;
            }
        }
        if !slipped {
            return;
        }
    }
}

/// [Silcowitz10]: a sweep maps impulses to impulses; its change r is a preconditioned residual. The Fletcher–Reeves direction
/// `p ← β p + r`, `β = |r|²/|r_before|²`, carries on what earlier sweeps were doing; where r grows, it starts again. Each sweep ends
/// inside the cones, so the last one is the answer. Returns whether the tolerance was met.
fn accelerated_sweeps(
    params: &SequentialParams,
    limit: u32,
    rows: &mut [Row],
    bodies: &mut [SolverBody],
    scratch: &mut Sweeps,
    report: &mut StepReport,
) -> bool {
    let Sweeps {
        order,
        before,
        direction,
        ..
    } = scratch;
    direction.clear();
    direction.resize(order.len(), Vec3::ZERO);
    let mut size_before = f64::INFINITY;
    for k in 0..limit {
        before.clear();
        if let Some(seed) = params.shuffle_seed {
            Lcg(seed ^ report.work.rows_swept).shuffle(order);
            direction.fill(Vec3::ZERO);
        }
        before.extend(order.iter().map(|&i| rows[i as usize].frame_impulse()));
        let mut change: f64 = 0.0;
        for &i in order.iter() {
            change = change.max(rows[i as usize].visit(bodies));
        }
        for &i in order.iter().rev() {
            change = change.max(rows[i as usize].visit(bodies));
        }
        report.work.sweeps += 2;
        report.work.rows_swept += 2 * order.len() as u64;
        if change <= params.velocity_tolerance {
            return true;
        }
        let mut size = 0.0;
        for (k, &i) in order.iter().enumerate() {
            let row = &rows[i as usize];
            before[k] = row.frame_impulse() - before[k];
            size += row.energy_norm(before[k]);
        }
        let beta = size / size_before;
        size_before = size;
        if k + 1 == limit {
            // The answer stays inside the cones.
        } else if beta < 1.0 {
            for (k, &i) in order.iter().enumerate() {
                rows[i as usize].extrapolate(direction[k] * beta, bodies);
                direction[k] = direction[k] * beta + before[k];
            }
        } else {
            direction.clone_from(before);
        }
    }
    false
}

/// Rounds of the direct solve, each followed by a few sweeps that settle stick, slip and separation.
/// Returns whether the tolerance was met.
fn newton(
    params: &SequentialParams,
    cost_max: u64,
    rows: &mut [Row],
    bodies: &mut [SolverBody],
    scratch: &mut Sweeps,
    report: &mut StepReport,
) -> bool {
    if !scratch
        .direct
        .prepare(rows, &scratch.order, bodies, cost_max)
    {
        return false;
    }
    for round in 0..params.direct_rounds {
        if !scratch.direct.round(
            round,
            rows,
            &scratch.order,
            bodies,
            &mut report.work.newton_steps,
        ) {
            return false;
        }
        if accelerated_sweeps(params, SETTLING_SWEEPS, rows, bodies, scratch, report) {
            return true;
        }
    }
    false
}

/// Residuals and energy of a finished solve. `ΔE = Σ P · ½(u⁻ + u⁺)`, split into normal and tangential parts.
fn book(
    rows: &[Row],
    touches: &[Touch],
    bodies: &[SolverBody],
    report: &mut StepReport,
    active: impl Fn(&Touch) -> bool,
) {
    for (row, touch) in rows.iter().zip(touches).filter(|(_, t)| active(t)) {
        let [normal, cone, tangential] = row.residuals(bodies);
        let r = &mut report.residuals;
        r.complementarity = r.complementarity.max(normal);
        r.friction_cone = r.friction_cone.max(cone);
        r.stick_slip = r.stick_slip.max(tangential);
        if row.p_n == 0.0 {
            continue;
        }
        let mean = 0.5 * (touch.velocity_before + row.velocity(bodies));
        let spin = 0.5 * (touch.spin_before + row.spin(bodies));
        let e = &mut report.energy;
        e.restitution -= row.p_n * mean.dot(row.n);
        e.friction -= row.tangential_impulse().dot(mean) + row.angular_impulse().dot(spin);
        // The side with prescribed motion does the rest of the work: P · u of its surface.
        e.prescribed += row.prescribed_work(bodies);
    }
}

/// The generator of the shuffled order: Knuth's 64-bit multiplier, top bits. Seeded anew for each sweep by the work done so far.
struct Lcg(u64);

impl Lcg {
    fn shuffle(&mut self, order: &mut [u32]) {
        for i in (1..order.len()).rev() {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            order.swap(i, ((self.0 >> 33) % (i as u64 + 1)) as usize);
        }
    }
}
