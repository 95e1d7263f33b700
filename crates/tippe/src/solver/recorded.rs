//! Recorded islands as text: one line for each body, fixed end, contact and joint row.
//!
//! Reads: text, or a `Problem`.  Writes: a `Problem`, or text.
//! Called by: tests of the core, `crates/tippe/examples/islands.rs`, `solver::recorder`.
//! Source: own format. Lines: `b` inverse mass, inverse inertia (xx xy xz yy yz zz), velocity, angular velocity (with the starting impulses in them); `f` id and
//! velocities of an end that impulses do not move; `c` ends A and B, normal, tangents, levers, targets, μ, starting impulses; `s` ends, axis, torque
//! directions on A and B, target, bounds, starting impulse. Ends that are not bodies have negative ids.
//! What `write` writes holds any problem, trees and rolling resistance too: `n` freedoms, mass matrix, velocities without the impulses sought; `g`
//! law (0 equality, 1 bounded, 2 cone), its four numbers, rows, targets, starting impulses, then for each side its node and the rows there.

use super::problem::{Friction, Law, NONE, Node, Problem, ROWS_MAX};
use crate::math::{Mat3, Vec3};
use std::fmt::Write as _;

/// Reads an island; the message names the line that is wrong.
///
/// # Errors
/// If a line is unknown, too short or not numeric, names an unknown end, or a body has no positive mass.
pub fn read(text: &str) -> Result<Problem, String> {
    let mut problem = Problem::default();
    let mut nodes: Vec<Node> = Vec::new();
    let mut fixed: Vec<(i64, [f64; 6])> = Vec::new();
    let mut general = false;
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
            "n" => 1,
            "g" => 8,
            _ => return Err(wrong("unknown kind of line")),
        };
        if x.len() < needed {
            return Err(wrong("too few numbers"));
        }
        general |= key == "n";
        match key {
            "b" => nodes.push(body(&mut problem, &x).ok_or_else(|| wrong("no positive mass"))?),
            "n" => nodes.push(node(&mut problem, &x).ok_or_else(|| wrong("no mass matrix"))?),
            "g" => group(&mut problem, &nodes, &x).map_err(|e| wrong(&e))?,
            "f" => fixed.push((x[0] as i64, std::array::from_fn(|c| x[1 + c]))),
            _ => rows(&mut problem, &nodes, &fixed, key == "c", &x).map_err(|e| wrong(&e))?,
        }
    }
    // Velocities of nodes are without the starting impulses already.
    if !general {
        problem.remove_start();
    }
    Ok(problem)
}

/// A problem as text that reads back with the same numbers.
#[must_use]
pub fn write(problem: &Problem) -> String {
    let mut out = format!("size {} blocks {} rows\n", problem.blocks(), problem.rows());
    let add = |out: &mut String, numbers: &[f64]| {
        for x in numbers {
            // Shortest digits that read back to the same bits.
            let _ = write!(out, " {x:?}");
        }
    };
    // Node of each block: bodies have one, trees several.
    let mut node_of = vec![(0_usize, 0_usize); problem.blocks()];
    let (mut block, mut nodes) = (0, 0);
    while block < problem.blocks() {
        let tree = problem.tree_of[block];
        let (blocks, mass) = if tree == NONE {
            (1, problem.mass[block].to_vec())
        } else {
            let t = &problem.trees[tree as usize];
            let n = 6 * t.blocks;
            (
                t.blocks,
                problem.tree_mass[t.matrix..t.matrix + n * n].to_vec(),
            )
        };
        let _ = write!(out, "n {}", 6 * blocks);
        add(&mut out, &mass);
        add(&mut out, problem.free[block..block + blocks].as_flattened());
        out.push('\n');
        for b in 0..blocks {
            node_of[block + b] = (nodes, b);
        }
        (block, nodes) = (block + blocks, nodes + 1);
    }
    let widths = widths(problem, &node_of, nodes);
    for group in &problem.groups {
        let (law, numbers) = match group.law {
            Law::Equality => (0, [0.0; 4]),
            Law::Bounded { low, high } => (1, [low, high, 0.0, 0.0]),
            Law::Cone(f) => (2, [f.sliding, f.rolling, f.spinning, f.slip_speed]),
        };
        let _ = write!(out, "g {law}");
        add(&mut out, &numbers);
        let _ = write!(out, " {}", group.rows);
        add(&mut out, &problem.target[group.row..group.row + group.rows]);
        add(&mut out, &problem.start[group.row..group.row + group.rows]);
        for side in &problem.sides[group.sides.clone()] {
            let (node, b) = node_of[side.block as usize];
            let _ = write!(out, " {node}");
            // The other blocks of a tree have a side of their own; sides on one node add up.
            for i in 0..group.rows {
                let mut row = vec![0.0; widths[node]];
                row[6 * b..6 * b + 6].copy_from_slice(&problem.jacobian[side.first as usize + i]);
                add(&mut out, &row);
            }
        }
        out.push('\n');
    }
    out
}

/// Freedoms of each node.
fn widths(problem: &Problem, node_of: &[(usize, usize)], nodes: usize) -> Vec<usize> {
    let mut widths = vec![0; nodes];
    for (node, _) in node_of.iter().take(problem.blocks()) {
        widths[*node] += 6;
    }
    widths
}

/// Most freedoms of a recorded node: a damaged file must not ask for a matrix without end.
const FREEDOMS_MAX: f64 = 6000.0;

fn node(problem: &mut Problem, x: &[f64]) -> Option<Node> {
    if !(1.0..=FREEDOMS_MAX).contains(&x[0]) {
        return None;
    }
    let k = x[0] as usize;
    let (mass, free) = (x.get(1..1 + k * k)?, x.get(1 + k * k..1 + k * k + k)?);
    problem.add_node(mass, free)
}

fn group(problem: &mut Problem, nodes: &[Node], x: &[f64]) -> Result<(), String> {
    let law = match x[0] {
        0.0 => Law::Equality,
        1.0 => Law::Bounded {
            low: x[1],
            high: x[2],
        },
        2.0 => Law::Cone(Friction {
            sliding: x[1],
            rolling: x[2],
            spinning: x[3],
            slip_speed: x[4],
        }),
        other => return Err(format!("unknown law {other}")),
    };
    let rows = match law {
        Law::Cone(f) if f.has_torque() => 6,
        Law::Cone(_) => 3,
        _ => 1,
    };
    if x[5] != rows as f64 || x.len() < 6 + 2 * rows {
        return Err("the rows do not fit the law".into());
    }
    let mut target = [0.0; ROWS_MAX];
    let mut start = target;
    target[..rows].copy_from_slice(&x[6..6 + rows]);
    start[..rows].copy_from_slice(&x[6 + rows..6 + 2 * rows]);
    match law {
        Law::Cone(friction) => problem.add_contact(friction, target, start),
        other => problem.add_row(other, target[0], start[0]),
    };
    let mut rest = &x[6 + 2 * rows..];
    while let Some((first, after)) = rest.split_first() {
        let node = nodes
            .get(*first as usize)
            .filter(|_| *first >= 0.0)
            .ok_or_else(|| format!("unknown node {first}"))?;
        let length = rows * node.freedoms();
        let entries = after.get(..length).ok_or("too few numbers")?;
        problem.add_side(*node, entries);
        rest = &after[length..];
    }
    Ok(())
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
