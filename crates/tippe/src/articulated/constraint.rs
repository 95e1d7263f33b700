//! Prescribed and bounded motions of a tree by test forces: the accelerations of a frozen state are affine in the forces, so a few
//! answers to unit forces give a small system for the forces that are wanted.
//!
//! Reads: `Model`, positions, velocities, torques, loads, rows.  Writes: forces of the rows, accelerations or velocities; `Work`.
//! Called by: users.
//! Source: [Kokkevis04]; [Articulated] slides 33–43. Columns of K are impulse responses, not differences of whole evaluations, which
//! would cancel digits. A one-sided row holds only by pushing, so that a joint is released when it wants to leave its limit.
//! Letters: a = K f + a⁰; K = J M⁻¹ Jᵀ; +f on B and −f on A.

use super::aba::accelerate;
use super::collision::{LinkPoint, Touch};
use super::error::TreeError;
use super::joint::Plain;
use super::kinematics::{kinematics, point_acceleration, point_velocity, poses, vector};
use super::load::Load;
use super::model::{Model, WORLD};
use super::response::{climb, spread_out};
use super::spatial::Force;
use super::work::Work;
use super::{Motion, articulate};
use crate::math::Vec3;
use crate::math::mixed_lcp::{self, Bound, Solved};

/// One motion of a tree that can be held or bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConstraintRow {
    /// The rate of one freedom; its force is a joint torque or force.
    Freedom(usize),
    /// Velocity of a point of B relative to A along a fixed world direction.
    Point {
        /// The two ends.
        touch: Touch,
        /// Unit direction in the world.
        direction: Vec3,
    },
    /// Angular velocity of link B relative to link A (`None`: the world) about a fixed world direction.
    Turn {
        /// Link that feels the opposite torque.
        a: Option<usize>,
        /// Link that feels the torque.
        b: Option<usize>,
        /// Unit direction in the world.
        direction: Vec3,
    },
}

/// Three rows of a contact: normal, then two tangents, for bounds `NotNegative`, `Friction`, `FrictionSecond`.
#[must_use]
pub fn contact_rows(touch: Touch, normal: Vec3) -> [ConstraintRow; 3] {
    let (t1, t2) = crate::math::tangents(normal);
    [normal, t1, t2].map(|direction| ConstraintRow::Point { touch, direction })
}

/// `K = J M⁻¹ Jᵀ` of the rows, row by row, in time O(n m + m²). Needs `articulate` or `aba`.
pub fn row_responses(
    model: &Model,
    rows: &[ConstraintRow],
    work: &mut Work,
    K: &mut [f64],
) -> Result<(), TreeError> {
    let m = rows.len();
    model.check_output("K", K.len(), m * m)?;
    let mut change = vec![0.0; model.freedom_count()];
    for (column, row) in rows.iter().enumerate() {
        respond(model, &[*row], &[1.0], work, &mut change)?;
        for (i, to) in rows.iter().enumerate() {
            K[i * m + column] = answered(model, to, work, &change)?;
        }
    }
    // Two routes to each entry: their mean is exactly symmetric.
    for i in 0..m {
        for j in 0..i {
            let mean = 0.5 * (K[i * m + j] + K[j * m + i]);
            (K[i * m + j], K[j * m + i]) = (mean, mean);
        }
    }
    Ok(())
}

/// Changes of all velocities, `M⁻¹ Jᵀ f`, by impulses along the rows. Needs `articulate` or `aba`.
pub fn respond(
    model: &Model,
    rows: &[ConstraintRow],
    f: &[f64],
    work: &mut Work,
    change: &mut [f64],
) -> Result<(), TreeError> {
    model.check_output("f", f.len(), rows.len())?;
    model.check_output("change", change.len(), model.freedom_count())?;
    super::response::ready(model, work)?;
    work.drive.fill(0.0);
    for (row, &f) in rows.iter().zip(f) {
        match *row {
            ConstraintRow::Freedom(i) => climb_joint(model, work, i, f)?,
            ConstraintRow::Point { touch, direction } => {
                for (end, sign) in touch.ends() {
                    let load = Load::new(end.link, end.point, direction * (f * sign));
                    push(model, work, &load)?;
                }
            }
            ConstraintRow::Turn { a, b, direction } => {
                for (link, sign) in [(b, 1.0), (a, -1.0)] {
                    let Some(link) = link else { continue };
                    let load = Load {
                        torque: direction * (f * sign),
                        ..Load::new(link, Vec3::ZERO, Vec3::ZERO)
                    };
                    push(model, work, &load)?;
                }
            }
        }
    }
    spread_out(model, work, change);
    Ok(())
}

fn push(model: &Model, work: &mut Work, load: &Load) -> Result<(), TreeError> {
    let (node, f) = load.on_node(model, work)?;
    climb(model, work, node, f * -1.0);
    Ok(())
}

/// An impulse in one freedom: its own drive, and what its joint passes on towards the world.
fn climb_joint(model: &Model, work: &mut Work, freedom: usize, f: f64) -> Result<(), TreeError> {
    let Some(&i) = model.freedom_nodes.get(freedom) else {
        return Err(TreeError::OutOfRange {
            argument: "freedom",
            found: freedom,
            count: model.freedom_count(),
        });
    };
    let i = i as usize;
    let node = &model.nodes[i];
    let at = node.v as usize;
    work.drive[freedom] += f;
    let through = match node.joint {
        Plain::Hinge | Plain::Slider => {
            let s = &work.singles[i];
            s.column * (s.d_inverse * f)
        }
        Plain::Ball => {
            let mut w = Vec3::ZERO;
            w[freedom - at] = f;
            work.balls[node.slot as usize].push(w)
        }
        Plain::Free => {
            let mut w = [0.0; 6];
            w[freedom - at] = f;
            Force::new(vector(&w, 0), vector(&w, 3))
        }
    };
    let y = work.frames[i].force_to_parent(through);
    climb(model, work, node.parent as usize, y);
    Ok(())
}

/// Change of a row's velocity after `respond`.
fn answered(
    model: &Model,
    row: &ConstraintRow,
    work: &Work,
    change: &[f64],
) -> Result<f64, TreeError> {
    let moved = |link: usize| -> Result<(usize, Motion), TreeError> {
        let node = model.link("link", link)?.node as usize;
        Ok((node, work.changes[node]))
    };
    match *row {
        ConstraintRow::Freedom(i) => Ok(change[i]),
        ConstraintRow::Point { touch, direction } => {
            let mut u = 0.0;
            for (end, sign) in touch.ends() {
                let (node, d) = moved(end.link)?;
                let pose = &work.poses[node];
                let v = pose.rotation * d.at(pose.point_to_child(end.point));
                u += sign * direction.dot(v);
            }
            Ok(u)
        }
        ConstraintRow::Turn { a, b, direction } => {
            let mut u = 0.0;
            for (link, sign) in [(b, 1.0), (a, -1.0)] {
                let Some(link) = link else { continue };
                let (node, d) = moved(link)?;
                u += sign * direction.dot(work.poses[node].rotation * d.angular);
            }
            Ok(u)
        }
    }
}

/// Velocities along the rows. Needs `kinematics` with these velocities.
pub fn row_velocities(
    model: &Model,
    rows: &[ConstraintRow],
    v: &[f64],
    work: &Work,
    out: &mut [f64],
) -> Result<(), TreeError> {
    let point = |e: LinkPoint| point_velocity(model, work, e.link, e.point);
    let spin = |link: usize| -> Result<Vec3, TreeError> {
        let node = model.link("link", link)?.node as usize;
        Ok(work.poses[node].rotation * work.flows[node].velocity.angular)
    };
    values(model, rows, v, out, point, spin)
}

/// Accelerations along the rows, velocity terms included. Needs `aba`.
fn row_accelerations(
    model: &Model,
    rows: &[ConstraintRow],
    acceleration: &[f64],
    work: &Work,
    out: &mut [f64],
) -> Result<(), TreeError> {
    let point = |e: LinkPoint| point_acceleration(model, work, e.link, e.point);
    let spin = |link: usize| -> Result<Vec3, TreeError> {
        let node = model.link("link", link)?.node as usize;
        Ok(if node == WORLD {
            Vec3::ZERO
        } else {
            work.poses[node].rotation * work.accelerations[node].angular
        })
    };
    values(model, rows, acceleration, out, point, spin)
}

fn values(
    model: &Model,
    rows: &[ConstraintRow],
    rates: &[f64],
    out: &mut [f64],
    point: impl Fn(LinkPoint) -> Result<Vec3, TreeError>,
    spin: impl Fn(usize) -> Result<Vec3, TreeError>,
) -> Result<(), TreeError> {
    model.check_output("rows", out.len(), rows.len())?;
    for (row, out) in rows.iter().zip(out) {
        *out = match *row {
            ConstraintRow::Freedom(i) => *rates.get(i).ok_or(TreeError::OutOfRange {
                argument: "freedom",
                found: i,
                count: rates.len(),
            })?,
            ConstraintRow::Point { touch, direction } => {
                let mut u = Vec3::ZERO;
                for (end, sign) in touch.ends() {
                    u += point(end)? * sign;
                }
                direction.dot(u)
            }
            ConstraintRow::Turn { a, b, direction } => {
                let mut u = Vec3::ZERO;
                for (link, sign) in [(b, 1.0), (a, -1.0)] {
                    if let Some(link) = link {
                        u += spin(link)? * sign;
                    }
                }
                direction.dot(u)
            }
        };
    }
    Ok(())
}

/// Accelerations under constraints: each row reaches its target, or keeps to its side of it, by a force within its bounds.
///
/// Writes `q̈` and the forces of the rows; `forces` is also where the search starts. `w = a − target` of each row is what its bound
/// speaks of.
pub fn constrained_accelerations(
    model: &Model,
    q: &[f64],
    v: &[f64],
    tau: &[f64],
    loads: &[Load],
    rows: &[ConstraintRow],
    bounds: &[Bound],
    targets: &[f64],
    work: &mut Work,
    acceleration: &mut [f64],
    forces: &mut [f64],
) -> Result<Solved, TreeError> {
    let m = rows.len();
    model.check_positions(q)?;
    model.check_freedoms("v", v)?;
    model.check_freedoms("tau", tau)?;
    model.check_output("acceleration", acceleration.len(), model.freedom_count())?;
    check(model, rows, bounds, targets, forces)?;
    work.check(model)?;
    work.added.copy_from_slice(&model.armature);
    accelerate(model, q, v, tau, loads, work, acceleration)?;
    poses(model, work);
    let mut b = vec![0.0; m];
    row_accelerations(model, rows, acceleration, work, &mut b)?;
    for (b, target) in b.iter_mut().zip(targets) {
        *b -= target;
    }
    let solved = hold(model, rows, bounds, &b, work, forces, acceleration)?;
    // The accelerations of the links belonged to the tree without the forces.
    work.ready.accelerations = false;
    Ok(solved)
}

/// Velocities after an impact in which each row reaches its target velocity, or keeps to its side of it, by an impulse within its
/// bounds. Gravity, torques and velocity terms have no part in it. `v` becomes the velocity after.
pub fn constrained_impact(
    model: &Model,
    q: &[f64],
    rows: &[ConstraintRow],
    bounds: &[Bound],
    targets: &[f64],
    work: &mut Work,
    v: &mut [f64],
    impulses: &mut [f64],
) -> Result<Solved, TreeError> {
    check(model, rows, bounds, targets, impulses)?;
    kinematics(model, q, v, work)?;
    let mut b = vec![0.0; rows.len()];
    row_velocities(model, rows, v, work, &mut b)?;
    for (b, target) in b.iter_mut().zip(targets) {
        *b -= target;
    }
    articulate(model, q, work)?;
    hold(model, rows, bounds, &b, work, impulses, v)
}

/// Solves `w = K f + b` within the bounds and adds `M⁻¹ Jᵀ f` to the rates.
fn hold(
    model: &Model,
    rows: &[ConstraintRow],
    bounds: &[Bound],
    b: &[f64],
    work: &mut Work,
    f: &mut [f64],
    rates: &mut [f64],
) -> Result<Solved, TreeError> {
    let m = rows.len();
    let mut K = vec![0.0; m * m];
    row_responses(model, rows, work, &mut K)?;
    let solved = mixed_lcp::solve(&K, b, bounds, f);
    let mut change = vec![0.0; model.freedom_count()];
    respond(model, rows, f, work, &mut change)?;
    for (rate, d) in rates.iter_mut().zip(&change) {
        *rate += d;
    }
    Ok(solved)
}

fn check(
    model: &Model,
    rows: &[ConstraintRow],
    bounds: &[Bound],
    targets: &[f64],
    forces: &[f64],
) -> Result<(), TreeError> {
    for (argument, length) in [
        ("bounds", bounds.len()),
        ("targets", targets.len()),
        ("forces", forces.len()),
    ] {
        model.check_output(argument, length, rows.len())?;
    }
    super::model::check_slice("targets", targets, rows.len())?;
    super::model::check_slice("forces", forces, rows.len())?;
    for (i, bound) in bounds.iter().enumerate() {
        let wrong = match *bound {
            Bound::Friction { normal, .. } => {
                normal >= i || bounds.get(i + 1) != Some(&Bound::FrictionSecond)
            }
            Bound::FrictionSecond => i == 0 || !matches!(bounds[i - 1], Bound::Friction { .. }),
            _ => false,
        };
        if wrong {
            return Err(TreeError::OutOfRange {
                argument: "bounds",
                found: i,
                count: bounds.len(),
            });
        }
    }
    Ok(())
}

/// The rows of hinges and sliders that are at or beyond a limit, with the bound that keeps them inside, the target of an impact with the
/// restitution of the stop, and the sign of the push. For `constrained_impact` take the targets, for `constrained_accelerations` zeros.
///
/// A row that pushes towards lower values is its mirror image: its force is not positive.
pub fn limit_rows(
    model: &Model,
    q: &[f64],
    v: &[f64],
    tolerance: f64,
) -> Result<Vec<(ConstraintRow, Bound, f64)>, TreeError> {
    model.check_positions(q)?;
    model.check_freedoms("v", v)?;
    let mut rows = Vec::new();
    for node in &model.nodes[1..] {
        let Some(limits) = model.descs[node.link as usize].limits else {
            continue;
        };
        let (x, u, freedom) = (q[node.q as usize], v[node.v as usize], node.v as usize);
        let range = tolerance * (limits.max - limits.min).max(f64::MIN_POSITIVE);
        let row = ConstraintRow::Freedom(freedom);
        let infinite = f64::INFINITY;
        if x <= limits.min + range {
            let high = if limits.min == limits.max {
                infinite
            } else {
                0.0
            };
            let bound = Bound::Box {
                low: -high,
                high: infinite,
            };
            rows.push((row, bound, -limits.restitution * u.min(0.0)));
        } else if x >= limits.max - range {
            let bound = Bound::Box {
                low: -infinite,
                high: 0.0,
            };
            rows.push((row, bound, -limits.restitution * u.max(0.0)));
        }
    }
    Ok(rows)
}

/// Torque of dry friction needs a row `Freedom` with target 0 and this bound: it sticks, or slides with the full torque.
#[must_use]
pub fn dry_friction(torque: f64) -> Bound {
    Bound::Box {
        low: -torque,
        high: torque,
    }
}
