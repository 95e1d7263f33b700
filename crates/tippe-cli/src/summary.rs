//! The summary of a run: one object for machines, one table for people.
//!
//! Reads: Statistics, World.  Writes: JSON and text.
//! Called by: `run`, `report`.
//! Source: the keys of the object are a contract; extend inside `residuals` and `energy`, never rename.

use std::fmt::Write as _;

use serde::Serialize;
use tippe::{BodyKind, EnergyLedger, World};

use crate::format::{count, number, share, step_length};
use crate::statistics::Statistics;
use crate::verdict::{Class, Verdict};

/// What `--json` prints last and `summary.json` holds.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the scene.
    pub scene: String,
    /// Name of the method.
    pub method: String,
    /// Step length [s].
    pub dt: f64,
    /// Steps taken.
    pub steps: u64,
    /// Time reached [s].
    pub time: f64,
    /// Bodies, fixed ones included.
    pub bodies: usize,
    /// Contact points per step.
    pub contacts_mean: f64,
    /// Impacts per step.
    pub collisions_mean: f64,
    /// Largest penetration [m].
    pub max_depth: f64,
    /// Largest overlap of bodies that prescribed surfaces press together [m].
    pub squeezed: f64,
    /// Whether the run can be trusted, and what speaks against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Steps that are certified: every threshold of `tippe::CERTIFIED` kept.
    pub certified_steps: u64,
    /// What the others missed, for people.
    #[serde(skip)]
    pub missed: String,
    /// Worst residuals.
    pub residuals: ResidualsSummary,
    /// Adaptive trees, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveSummary>,
    /// The energy ledger.
    pub energy: EnergySummary,
    /// Mean wall time of a step [ms].
    pub ms_per_step: f64,
    /// 99th percentile of the wall time of a step [ms].
    pub p99_ms: f64,
    /// Mean processor time of a step, all threads together [ms]; none where the machine has no clock of it.
    pub cpu_ms_per_step: Option<f64>,
    /// Threads that computed.
    pub threads: usize,
    /// Hash of the final state, hexadecimal.
    pub hash: String,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Worst residuals of the run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ResidualsSummary {
    /// Normal conditions [m/s].
    pub complementarity: f64,
    /// Friction cone, relative [1].
    pub friction_cone: f64,
    /// Stick and slip [m/s].
    pub stick_slip: f64,
    /// Joint positions [m].
    pub joint_position: f64,
    /// Joint velocities [m/s].
    pub joint_velocity: f64,
}

/// Adaptive trees over the run: the residual R is the error estimate of what is locked.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AdaptiveSummary {
    /// Joints that move, per step.
    pub moving_mean: f64,
    /// Joints that are locked, per step.
    pub locked_mean: f64,
    /// Most joints that moved beyond the budget.
    pub over_budget_max: usize,
    /// Steps in which more joints moved than the budget.
    pub over_budget_steps: u64,
    /// Mean residual R [rad²/s²].
    pub residual_mean: f64,
    /// Largest residual R [rad²/s²].
    pub residual_max: f64,
}

impl AdaptiveSummary {
    fn new(statistics: &Statistics) -> Option<Self> {
        let steps = statistics.steps.max(1) as f64;
        let any = statistics.moving + statistics.locked > 0;
        any.then(|| Self {
            moving_mean: statistics.per_step(statistics.moving),
            locked_mean: statistics.per_step(statistics.locked),
            over_budget_max: statistics.over_budget_max,
            over_budget_steps: statistics.over_budget_steps,
            residual_mean: statistics.locked_residual.0 / steps,
            residual_max: statistics.locked_residual.1,
        })
    }
}

/// The energy ledger of the run [J].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EnergySummary {
    /// Kinetic energy at the start.
    pub kinetic_start: f64,
    /// Potential energy at the start.
    pub potential_start: f64,
    /// Kinetic energy at the end.
    pub kinetic: f64,
    /// Potential energy at the end.
    pub potential: f64,
    /// Energy stored in compliant contacts at the end.
    pub elastic: f64,
    /// Work of gravity.
    pub gravity: f64,
    /// Work of applied forces.
    pub external: f64,
    /// Work of motors.
    pub motors: f64,
    /// Work of prescribed bodies.
    pub prescribed: f64,
    /// Work of compliant contacts without their damping.
    pub elastic_work: f64,
    /// Loss to friction.
    pub friction: f64,
    /// Loss in normal direction.
    pub restitution: f64,
    /// Loss to drag.
    pub drag: f64,
    /// Loss in joints.
    pub joint_friction: f64,
    /// Loss to the damping of compliant contacts.
    pub contact_damping: f64,
    /// Plastic loss of joints, limits and prescribed bodies.
    pub shock: f64,
    /// Loss to the numerical method itself.
    pub numerical_damping: f64,
    /// Energy made from nothing.
    pub gained: f64,
    /// Brought in by the least rebound of micro-collisions.
    pub hops: f64,
    /// What `gained` is measured by: kinetic energy at the start plus works put in, not less than weight times size of the bodies.
    pub scale: f64,
    /// Brought in by position correction.
    pub position_correction: f64,
    /// Numerical error.
    pub unexplained: f64,
    /// Energy that moved at all.
    pub turnover: f64,
    /// Largest sum of kinetic and potential energy, by size; depends on where the origin is.
    pub total: f64,
}

impl EnergySummary {
    /// The account of a run that started with `start` = (kinetic, potential).
    pub fn new(start: (f64, f64), ledger: &EnergyLedger, statistics: &Statistics) -> Self {
        Self {
            kinetic_start: start.0,
            potential_start: start.1,
            kinetic: ledger.kinetic,
            potential: ledger.potential,
            elastic: ledger.elastic,
            gravity: ledger.gravity,
            external: ledger.external,
            motors: ledger.motors,
            prescribed: ledger.prescribed,
            elastic_work: ledger.elastic_work,
            friction: ledger.friction,
            restitution: ledger.restitution,
            drag: ledger.drag,
            joint_friction: ledger.joint_friction,
            contact_damping: ledger.contact_damping,
            shock: ledger.shock,
            numerical_damping: ledger.numerical_damping,
            gained: ledger.gained,
            hops: ledger.hops,
            scale: statistics.energy_scale(start.0),
            position_correction: ledger.position_correction,
            unexplained: ledger.unexplained,
            turnover: statistics.turnover(ledger),
            total: statistics.total_max,
        }
    }

    /// The transfers with their names, as they enter the account: `change of kinetic energy = sum`.
    pub const fn transfers(&self) -> [(&'static str, f64); 16] {
        [
            ("work of gravity", self.gravity),
            ("work of applied forces", self.external),
            ("work of motors", self.motors),
            ("work of prescribed bodies", self.prescribed),
            ("work of springs and compliant contacts", self.elastic_work),
            ("lost to friction", -self.friction),
            ("lost to restitution", -self.restitution),
            ("lost to drag", -self.drag),
            ("lost in joints", -self.joint_friction),
            ("lost to contact damping", -self.contact_damping),
            ("lost to shocks", -self.shock),
            ("numerical damping", -self.numerical_damping),
            ("gained from nothing", self.gained),
            ("brought in by micro-collisions", self.hops),
            ("position correction", self.position_correction),
            ("unexplained", self.unexplained),
        ]
    }
}

/// The entries of the residuals with their names and units.
impl ResidualsSummary {
    /// Name, value and unit of each entry.
    pub const fn entries(&self) -> [(&'static str, f64, &'static str); 5] {
        [
            ("normal (complementarity)", self.complementarity, "m/s"),
            ("friction cone", self.friction_cone, "of its bound"),
            ("stick and slip", self.stick_slip, "m/s"),
            ("joint position", self.joint_position, "m"),
            ("joint velocity", self.joint_velocity, "m/s"),
        ]
    }
}

impl Summary {
    /// Sums up a run.
    pub fn new(
        scene: &str,
        world: &World,
        dt: f64,
        start: (f64, f64),
        statistics: &Statistics,
        warnings: Vec<String>,
    ) -> Self {
        let (ms_per_step, p99_ms) = statistics.step_times();
        let r = statistics.residuals;
        // Before the first step the running ledger knows no energies yet.
        let mut ledger = *world.ledger();
        if statistics.steps == 0 {
            (ledger.kinetic, ledger.potential) = start;
        }
        Self {
            scene: scene.to_string(),
            method: world.method().name().to_string(),
            dt,
            steps: statistics.steps,
            time: world.time(),
            bodies: world.body_count(),
            contacts_mean: statistics.per_step(statistics.contacts),
            collisions_mean: statistics.per_step(statistics.collisions),
            max_depth: statistics.depth_max,
            squeezed: statistics.squeezed_max,
            verdict: None,
            certified_steps: statistics.certified_steps,
            missed: missed(statistics),
            residuals: ResidualsSummary {
                complementarity: r.complementarity,
                friction_cone: r.friction_cone,
                stick_slip: r.stick_slip,
                joint_position: r.joint_position,
                joint_velocity: r.joint_velocity,
            },
            adaptive: AdaptiveSummary::new(statistics),
            energy: EnergySummary::new(start, &ledger, statistics),
            ms_per_step,
            p99_ms,
            cpu_ms_per_step: statistics.cpu_per_step(),
            threads: world.threads(),
            hash: format!("{:#018x}", world.hash()),
            warnings,
        }
    }

    /// The same with a verdict.
    pub fn with_verdict(self, verdict: Verdict) -> Self {
        Self {
            verdict: Some(verdict),
            ..self
        }
    }

    /// Label and value of every line above the ledger; for the table and for the page.
    pub fn lines(&self, world: &World) -> Vec<(String, String)> {
        let mut lines: Vec<(String, String)> = Vec::new();
        let mut line = |label: &str, value: String| lines.push((label.to_string(), value));
        for (i, text) in self.verdict.iter().flat_map(Verdict::lines).enumerate() {
            line(if i == 0 { "verdict" } else { "" }, text);
        }
        line("scene", self.scene.clone());
        line("method", self.method.clone());
        line("step", step_length(self.dt));
        line(
            "time",
            format!("{} s in {}", number(self.time), count(self.steps, "step")),
        );
        line("bodies", bodies(world));
        line("contacts", format!("{} a step", number(self.contacts_mean)));
        line(
            "collisions",
            format!("{} a step", number(self.collisions_mean)),
        );
        line(
            "deepest penetration",
            format!("{} m", number(self.max_depth)),
        );
        line("certified", self.certified());
        // Joint rows are worth a line only where there are joints.
        for (name, value, unit) in self
            .residuals
            .entries()
            .into_iter()
            .filter(|e| !e.0.starts_with("joint") || e.1 > 0.0)
        {
            line(
                &format!("worst residual, {name}"),
                format!("{} {unit}", number(value)),
            );
        }
        if let Some(a) = &self.adaptive {
            let text = format!(
                "{} move a step, {} are locked",
                number(a.moving_mean),
                number(a.locked_mean)
            );
            line("adaptive joints", text);
            if a.over_budget_max > 0 {
                let text = format!(
                    "in {} of {} steps, by {} at most: joints faster than `lock_speed` are not locked, and impacts need some more",
                    a.over_budget_steps, self.steps, a.over_budget_max
                );
                line("moving beyond the budget", text);
            }
            let text = format!(
                "{} rad²/s² at most, {} in the mean",
                number(a.residual_max),
                number(a.residual_mean)
            );
            line("residual R of locked joints", text);
        }
        line(
            "wall time",
            format!(
                "{} ms a step, 99 % within {} ms, {} s in all",
                number(self.ms_per_step),
                number(self.p99_ms),
                number(self.ms_per_step * self.steps as f64 * 1e-3)
            ),
        );
        if let Some(ms) = self.cpu_ms_per_step {
            let text = format!(
                "{} ms a step, {} s in all",
                number(ms),
                number(ms * self.steps as f64 * 1e-3)
            );
            line("processor time", text);
        }
        line("hash", self.hash.clone());
        lines
    }

    /// The table for people.
    pub fn text(&self, world: &World) -> String {
        let mut out = String::new();
        let lines = self.lines(world);
        let width = lines.iter().map(|l| l.0.len()).max().unwrap_or(0);
        for (label, value) in &lines {
            let _ = writeln!(out, "{label:width$}  {value}");
        }
        let e = &self.energy;
        let _ = writeln!(
            out,
            "\n{:26}{:>14}{:>14}{:>14}",
            "energy [J]", "start", "end", "change"
        );
        for (name, start, end) in [
            ("kinetic", e.kinetic_start, e.kinetic),
            ("potential", e.potential_start, e.potential),
        ] {
            let _ = writeln!(
                out,
                "  {name:24}{:>14}{:>14}{:>14}",
                number(start),
                number(end),
                number(end - start)
            );
        }
        let _ = writeln!(
            out,
            "\n{:26}{:>14}{:>14}{:>14}",
            "where it went [J]", "into motion", "of turnover", "of total"
        );
        for (name, value) in e
            .transfers()
            .into_iter()
            .filter(|t| t.1 != 0.0 || t.0 == "position correction" || t.0 == "unexplained")
        {
            let _ = writeln!(
                out,
                "  {name:24}{:>14}{:>14}{:>14}",
                number(value),
                share(value, e.turnover),
                share(value, e.total)
            );
        }
        let _ = writeln!(
            out,
            "  turnover {} J: the energy that moved at all; total {} J: kinetic and potential at most",
            number(e.turnover),
            number(e.total)
        );
        for warning in &self.warnings {
            let _ = writeln!(out, "\nwarning: {warning}");
        }
        out
    }
}

impl Summary {
    /// How many steps kept the absolute thresholds, and what the others missed; a verdict that is good says that this is small beside the
    /// size and speed of the scene.
    fn certified(&self) -> String {
        let steps = count(self.steps, "step");
        let good = self
            .verdict
            .as_ref()
            .is_some_and(|v| v.class == Class::Good);
        let missed = match self.missed.strip_suffix(')') {
            Some(words) if good => {
                format!("{words}; small beside the size and speed of the scene)")
            }
            _ => self.missed.clone(),
        };
        format!("{} of {steps}{missed}", self.certified_steps)
    }
}

/// What kept steps from being certified, the most frequent first.
fn missed(statistics: &Statistics) -> String {
    let mut all: Vec<_> = statistics.missed.iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let words: Vec<String> = all
        .iter()
        .map(|(name, count)| format!("{name} in {count}"))
        .collect();
    if words.is_empty() {
        String::new()
    } else {
        format!(" (missed: {})", words.join(", "))
    }
}

/// How many bodies of which kind.
pub fn bodies(world: &World) -> String {
    let count = |wanted: fn(&BodyKind) -> bool| {
        world
            .body_ids()
            .filter(|id| world.body(*id).is_ok_and(|b| wanted(&b.kind)))
            .count()
    };
    let (dynamic, fixed) = (
        count(|k| matches!(k, BodyKind::Dynamic)),
        count(|k| matches!(k, BodyKind::Fixed)),
    );
    let moved = count(|k| matches!(k, BodyKind::Kinematic(_)));
    let links = match count(|k| matches!(k, BodyKind::Link { .. })) {
        0 => String::new(),
        n => format!(", {n} links"),
    };
    let prescribed = if moved > 0 {
        format!(", {moved} with prescribed motion")
    } else {
        String::new()
    };
    format!(
        "{} ({dynamic} dynamic, {fixed} fixed{prescribed}{links})",
        world.body_count()
    )
}
