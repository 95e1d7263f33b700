//! Recorded islands as text: one line for each body, fixed end, contact and joint row.
//!
//! Reads: text.  Writes: a `Problem`.
//! Called by: tests of the core, `crates/tippe/examples/islands.rs`.
//! Source: own format. Lines: `b` inverse mass, inverse inertia (xx xy xz yy yz zz), velocity, angular velocity (with the starting impulses in them); `f` id and
//! velocities of an end that impulses do not move; `c` ends A and B, normal, tangents, levers, targets, μ, starting impulses; `s` ends, axis, torque
//! directions on A and B, target, bounds, starting impulse. Ends that are not bodies have negative ids.

use super::problem::{Friction, Law, Node, Problem};
use crate::math::{Mat3, Vec3};

/// Reads an island; the message names the line that is wrong.
///
/// # Errors
/// If a line is unknown, too short or not numeric, names an unknown end, or a body has no positive mass.
pub fn read(text: &str) -> Result<Problem, String> {
    let mut problem = Problem::default();
    let mut nodes: Vec<Node> = Vec::new();
    let mut fixed: Vec<(i64, [f64; 6])> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}", number + 1);
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        if matches!(key, "note" | "size" | "" | "#") {
            continue;
        }
        let numbers: Result<Vec<f64>, _> = rest.split_whitespace().map(str::parse).collect();
        let x = numbers.map_err(|e| wrong(&e.to_string()))?;
        let needed = match key {
            "b" => 13,
            "f" => 7,
            "c" => 24,
            "s" => 15,
            _ => return Err(wrong("unknown kind of line")),
        };
        if x.len() < needed {
            return Err(wrong("too few numbers"));
        }
        match key {
            "b" => nodes.push(body(&mut problem, &x).ok_or_else(|| wrong("no positive mass"))?),
            "f" => fixed.push((x[0] as i64, std::array::from_fn(|c| x[1 + c]))),
            _ => rows(&mut problem, &nodes, &fixed, key == "c", &x).map_err(|e| wrong(&e))?,
        }
    }
    problem.remove_start();
    Ok(problem)
}

fn at(x: &[f64], i: usize) -> Vec3 {
    Vec3::new(x[i], x[i + 1], x[i + 2])
}

fn body(problem: &mut Problem, x: &[f64]) -> Option<Node> {
    let columns = [x[1], x[2], x[3], x[2], x[4], x[5], x[3], x[5], x[6]];
    problem.add_body(x[0], Mat3::from_cols_array(&columns), at(x, 7), at(x, 10))
}

fn rows(
    problem: &mut Problem,
    nodes: &[Node],
    fixed: &[(i64, [f64; 6])],
    contact: bool,
    x: &[f64],
) -> Result<(), String> {
    let mut sides = [[[0.0; 6]; 3]; 2];
    let count = if contact { 3 } else { 1 };
    for (s, side) in sides.iter_mut().enumerate() {
        let sign = if s == 0 { -1.0 } else { 1.0 };
        for i in 0..count {
            let axis = at(x, 2 + 3 * i);
            let turn = if contact {
                at(x, 11 + 3 * s).cross(axis) * sign
            } else {
                at(x, 5 + 3 * s)
            };
            let push = axis * sign;
            side[i] = [push.x, push.y, push.z, turn.x, turn.y, turn.z];
        }
    }
    let first = if contact { 17 } else { 11 };
    let mut target = [0.0; 3];
    target[..count].copy_from_slice(&x[first..first + count]);
    // The velocity of an end that impulses do not move belongs to the target.
    for (s, side) in sides.iter().enumerate() {
        let end = x[s] as i64;
        if end >= nodes.len() as i64 {
            return Err(format!("unknown body {end}"));
        }
        if let Some((_, v)) = fixed.iter().find(|f| end < 0 && f.0 == end) {
            for i in 0..count {
                target[i] -= (0..6).map(|c| side[i][c] * v[c]).sum::<f64>();
            }
        }
    }
    if contact {
        let start = [x[21], x[22], x[23], 0.0, 0.0, 0.0];
        let target = [target[0], target[1], target[2], 0.0, 0.0, 0.0];
        problem.add_contact(Friction::coulomb(x[20]), target, start);
    } else {
        let law = Law::Bounded {
            low: x[12],
            high: x[13],
        };
        problem.add_row(law, target[0], x[14]);
    }
    for (s, side) in sides.iter().enumerate() {
        if x[s] >= 0.0 {
            problem.add_side(nodes[x[s] as usize], side[..count].as_flattened());
        }
    }
    Ok(())
}
