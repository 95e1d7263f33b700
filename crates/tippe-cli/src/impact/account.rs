//! The account of an impact, for people and for machines.
//!
//! Reads: a computed impact.  Writes: strings.
//! Called by: `impact`.
//! Source: none; a piece of the account is a stretch of the path with one kind of slip and one phase.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tippe::dynamics::impact::{PathPoint, Phase, Slip};
use tippe::{ImpactLaw, Mat3, Vec3};

use super::Computed;
use crate::format::number;

/// A stretch of the path.
struct Piece {
    slip: Slip,
    phase: Phase,
    start: PathPoint,
    end: PathPoint,
}

fn pieces(points: &[PathPoint]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for pair in points.windows(2) {
        let (start, end) = (pair[0], pair[1]);
        match pieces.last_mut() {
            Some(last) if (last.slip, last.phase) == (end.slip, end.phase) => last.end = end,
            _ => pieces.push(Piece {
                slip: end.slip,
                phase: end.phase,
                start,
                end,
            }),
        }
    }
    pieces
}

const fn law_name(law: ImpactLaw) -> &'static str {
    match law {
        ImpactLaw::Stronge => "stronge",
        ImpactLaw::Poisson => "poisson",
        ImpactLaw::Newton => "newton",
    }
}

const fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Compression => "compression",
        Phase::Restitution => "restitution",
    }
}

/// One line that names the impact.
pub fn title(found: &Computed) -> String {
    let s = &found.surface;
    let friction = if s.friction_static > s.friction_kinetic {
        format!("{} (static {})", s.friction_kinetic, s.friction_static)
    } else {
        format!("{}", s.friction_kinetic)
    };
    let law = match s.impact_law {
        ImpactLaw::Stronge => "Stronge's",
        ImpactLaw::Poisson => "Poisson's",
        ImpactLaw::Newton => "Newton's",
    };
    format!("friction {friction}, {law} restitution {}", s.restitution)
}

fn vector(v: Vec3) -> String {
    format!("({}, {}, {})", number(v.x), number(v.y), number(v.z))
}

/// The account in words.
pub fn text(found: &Computed) -> String {
    let mut t = format!("impact: {}\n", title(found));
    let (i, n) = (&found.impact, found.n);
    let slip = |u: Vec3| (u - n * n.dot(u)).length();
    let _ = writeln!(
        t,
        "  before    u = {} m/s: approach {} m/s, slip {} m/s",
        vector(found.u),
        number(-n.dot(found.u)),
        number(slip(found.u))
    );
    if found.path.points.is_empty() {
        t.push_str(if i.locked {
            "  the point cannot move along the normal: no impulse\n"
        } else {
            "  the bodies do not approach: no impulse\n"
        });
        return t;
    }
    for piece in pieces(&found.path.points) {
        let what = match piece.slip {
            Slip::Slides => "slides",
            Slip::Sticks => "sticks",
            Slip::Resumes => "slides again",
        };
        let _ = writeln!(
            t,
            "  {:<11} {what:<12} P_n {} to {} N·s, u = {} m/s",
            phase_name(piece.phase),
            number(n.dot(piece.start.impulse)),
            number(n.dot(piece.end.impulse)),
            vector(piece.end.velocity)
        );
    }
    let normal = n.dot(i.impulse);
    let tangential = slip(i.impulse);
    let _ = writeln!(
        t,
        "  after     u = {} m/s: departure {} m/s, slip {} m/s\n  impulse   P = {} N·s on B: normal {}, tangential {}, ratio {}",
        vector(i.velocity),
        number(n.dot(i.velocity)),
        number(slip(i.velocity)),
        vector(i.impulse),
        number(normal),
        number(tangential),
        number(if normal > 0.0 {
            tangential / normal
        } else {
            0.0
        })
    );
    for side in &found.sides {
        let (v, w) = side.change(i.impulse);
        let _ = writeln!(
            t,
            "  body {}    velocity changes by {} m/s, spin by {} rad/s",
            side.name,
            vector(v),
            vector(w)
        );
    }
    let normal_work = i.compression_work + i.restitution_work;
    let _ = writeln!(
        t,
        "  energy    changes by {} J: {} J normal work ({} compression, {} restitution), {} J friction",
        number(i.energy_change),
        number(normal_work),
        number(i.compression_work),
        number(i.restitution_work),
        number(i.energy_change - normal_work)
    );
    for (flag, words) in [
        (
            i.jammed,
            "friction drove the bodies together for a while (jam)",
        ),
        (
            i.locked,
            "no impulse can stop the approach: the point is locked",
        ),
        (
            i.energy_change > 1e-12 * i.compression_work.abs(),
            "Newton's law gains energy here; Stronge's does not",
        ),
        (
            i.guarded,
            "the impulse was cut to keep the energy from growing: the matrix is nearly singular",
        ),
        (
            i.capped,
            "the limit on pieces was reached; the end of the path is straight",
        ),
    ] {
        if flag {
            let _ = writeln!(t, "  note      {words}");
        }
    }
    t
}

fn array(v: Vec3) -> Value {
    json!(v.to_array())
}

fn rows(m: Mat3) -> Value {
    json!(m.transpose().to_cols_array_2d())
}

/// The account as one line of JSON.
pub fn json(found: &Computed) -> String {
    let (i, s) = (&found.impact, &found.surface);
    let bodies: Vec<Value> = found
        .sides
        .iter()
        .map(|side| {
            let (v, w) = side.change(i.impulse);
            json!({"body": side.name, "velocity_change": array(v), "spin_change": array(w)})
        })
        .collect();
    let pieces: Vec<Value> = pieces(&found.path.points)
        .iter()
        .map(|p| {
            json!({"slip": p.slip.name(), "phase": phase_name(p.phase),
                "normal_impulse": [found.n.dot(p.start.impulse), found.n.dot(p.end.impulse)], "velocity": array(p.end.velocity)})
        })
        .collect();
    let path: Vec<Value> = found
        .path
        .points
        .iter()
        .map(|p| {
            json!({"impulse": array(p.impulse), "velocity": array(p.velocity), "slip": p.slip.name(), "phase": phase_name(p.phase)})
        })
        .collect();
    let object = json!({
        "law": law_name(s.impact_law),
        "friction": s.friction_kinetic,
        "friction_static": s.friction_static,
        "restitution": s.restitution,
        "k": rows(found.K),
        "normal": array(found.n),
        "velocity": array(found.u),
        "impulse": array(i.impulse),
        "velocity_after": array(i.velocity),
        "end": i.slip.name(),
        "jammed": i.jammed,
        "locked": i.locked,
        "guarded": i.guarded,
        "capped": i.capped,
        "compression": {"impulse": i.compression_impulse, "work": i.compression_work},
        "restitution_phase": {"impulse": i.restitution_impulse, "work": i.restitution_work},
        "energy_change": i.energy_change,
        "bodies": bodies,
        "pieces": pieces,
        "path": path,
    });
    object.to_string() + "\n"
}
