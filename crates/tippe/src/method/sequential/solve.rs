//! The two solves of a step: sweeps over each island until nothing changes, or to a limit that is reported.
//!
//! Reads: rows, islands.  Writes: rows' impulses, solver bodies, residuals and ledger of the report.
//! Called by: `method::sequential::step`.
//! Source: [Lecture] "Impulse Update" (accumulated impulses, random order), projected Gauss–Seidel.

use super::row::{Row, SolverBody};
use super::touch::Touch;
use super::{Scratch, SequentialParams};
use crate::report::StepReport;
use crate::work::Work;

/// Rounds in which sticking contacts at their static bound are let go, within one solve.
const SLIP_ROUNDS: u32 = 4;

/// Impulses at t: first as if nothing bounced, then with the bounce of the contacts that really press.
pub(crate) fn first(params: &SequentialParams, work: &mut Work, report: &mut StepReport) {
    let h = report.dt;
    let Scratch { bodies, touches, rows, order, .. } = &mut work.sequential;
    for island in 0..work.islands.count() {
        let range = work.islands.range(island);
        let (rows, touches) = (&mut rows[range.clone()], &mut touches[range]);
        let limit = sweep_limit(params, touches);
        converge(params, limit, rows, bodies, order, report, |_| true);
        let mut arrivals = false;
        for (row, touch) in rows.iter_mut().zip(touches.iter_mut()) {
            if row.p_n > 0.0 && touch.bounce.is_some() {
                arrivals |= touch.bounce.is_some_and(|b| b.gap_end > 0.0);
                touch.aim_at_bounce(row, h);
            }
        }
        if arrivals {
            converge(params, limit, rows, bodies, order, report, |_| true);
        }
    }
    book(rows, touches, bodies, report, |_| true);
}

/// Impulses at t + h over the projected contacts.
pub(crate) fn second(params: &SequentialParams, work: &mut Work, report: &mut StepReport) {
    let Scratch { bodies, touches, rows, order, .. } = &mut work.sequential;
    for island in 0..work.islands.count() {
        let range = work.islands.range(island);
        let (rows, touches) = (&mut rows[range.clone()], &touches[range]);
        let limit = sweep_limit(params, touches);
        converge(params, limit, rows, bodies, order, report, |i| touches[i].projected);
    }
    book(rows, touches, bodies, report, |t| t.projected);
}

/// More sweeps for an island with many new contacts: all new, all of `sweeps_cold`; the share of new ones enters squared, since a few new
/// contacts among many old ones disturb only their neighbours.
fn sweep_limit(params: &SequentialParams, touches: &[Touch]) -> u32 {
    let new = touches.iter().filter(|t| !t.known).count() as f64 / touches.len() as f64;
    params.sweeps + (new * new * f64::from(params.sweeps_cold)) as u32
}

/// Sweeps one island until no visit changes a velocity by more than the tolerance; lets sticking contacts at their bound slide.
fn converge(
    params: &SequentialParams,
    limit: u32,
    rows: &mut [Row],
    bodies: &mut [SolverBody],
    order: &mut Vec<u32>,
    report: &mut StepReport,
    active: impl Fn(usize) -> bool,
) {
    order.clear();
    order.extend((0..rows.len()).filter(|&i| active(i)).map(|i| i as u32));
    if order.is_empty() {
        return;
    }
    for _ in 0..SLIP_ROUNDS {
        let mut solved = false;
        for _ in 0..limit {
            let change = order.iter().map(|&i| rows[i as usize].visit(bodies)).fold(0.0, f64::max);
            report.work.sweeps += 1;
            report.work.rows_swept += order.len() as u64;
            if change <= params.velocity_tolerance {
                solved = true;
                break;
            }
            match params.shuffle_seed {
                Some(seed) => Lcg(seed ^ report.work.rows_swept).shuffle(order),
                None => order.reverse(),
            }
        }
        report.work.caps_hit += u32::from(!solved);
        let mut slipped = false;
        for &i in order.iter() {
            let row = &mut rows[i as usize];
            if row.slips() {
                row.sliding = true;
                slipped = true;
            }
        }
        if !slipped {
            return;
        }
    }
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
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            order.swap(i, ((self.0 >> 33) % (i as u64 + 1)) as usize);
        }
    }
}
