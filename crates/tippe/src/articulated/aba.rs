//! The articulated-body algorithm: accelerations of a tree from its torques, in time linear in the links.
//!
//! Reads: `Model`, positions, velocities, torques, loads.  Writes: `Work` (frames, flows, bodies, factors, accelerations), accelerations.
//! Called by: users; `integrate`, `constraint`; `response` and `spread` reuse the factors.
//! Source: [Featherstone08] table 7.1; [Articulated] slides 15–19. Gravity is an acceleration −g of the world.
//! Letters: S joint axis, c = v × S q̇, I^A articulated inertia, p^A bias force, U = I^A S, D = Sᵀ U, u = τ − Sᵀ p^A.
//! We keep u' = u − Uᵀ c, so that p^a = p^A + I^A c + U D⁻¹ u' and q̈ = D⁻¹ (u' − Uᵀ X a_λ): the same numbers with one product less.

use super::error::TreeError;
use super::factor::{ball_factor, ball_remainder, floating_factor, floating_solve};
use super::inertia::ArticulatedInertia;
use super::joint::Plain;
use super::kinematics::{flow, place, poses, vector};
use super::load::Load;
use super::model::{Model, Node, WORLD};
use super::spatial::{Force, Frame, Motion};
use super::work::{Ball, Body, Floating, Flow, Single, Work};
use crate::math::Vec3;

/// A joint whose D is below this fraction of the inertia it stands in moves no mass in this configuration: it is rounding alone [1].
const SINGULAR: f64 = 1e-15;
/// The same for a model: a joint that is so near to it in a configuration without symmetry is a mistake [1].
const SINGULAR_MODEL: f64 = 1e-12;

/// Accelerations `q̈` for torques `tau` and loads on the links: solves `M q̈ + C = τ + Σ Jᵀ F`.
pub fn aba(
    model: &Model,
    q: &[f64],
    v: &[f64],
    tau: &[f64],
    loads: &[Load],
    work: &mut Work,
    acceleration: &mut [f64],
) -> Result<(), TreeError> {
    model.check_positions(q)?;
    model.check_freedoms("v", v)?;
    model.check_freedoms("tau", tau)?;
    model.check_output("acceleration", acceleration.len(), model.freedom_count())?;
    work.check(model)?;
    work.added.copy_from_slice(&model.armature);
    accelerate(model, q, v, tau, loads, work, acceleration)
}

/// `aba` without the checks of its input and with what `Work::added` holds.
pub(super) fn accelerate(
    model: &Model,
    q: &[f64],
    v: &[f64],
    tau: &[f64],
    loads: &[Load],
    work: &mut Work,
    acceleration: &mut [f64],
) -> Result<(), TreeError> {
    work.reset();
    start(model, q, v, work)?;
    work.ready.flows = true;
    if !loads.is_empty() {
        poses(model, work);
        for load in loads {
            let (node, f) = load.on_node(model, work)?;
            work.bodies[node].force = work.bodies[node].force - f;
        }
    }
    inward(model, tau, work)?;
    outward(model, work, acceleration);
    work.ready.factors = true;
    work.ready.accelerations = true;
    Ok(())
}

/// The factors U and D of a configuration alone: what answers to impulses need. Fills poses too.
pub fn articulate(model: &Model, q: &[f64], work: &mut Work) -> Result<(), TreeError> {
    model.check_positions(q)?;
    work.check(model)?;
    work.reset();
    work.added.copy_from_slice(&model.armature);
    for i in 1..model.nodes.len() {
        let node = &model.nodes[i];
        work.frames[i] = place(node, q)?;
        work.bodies[i].inertia = ArticulatedInertia::from_rigid(&node.inertia);
    }
    poses(model, work);
    factors(model, SINGULAR, work)
}

/// Whether every joint of the model moves mass at `q`, with a wide margin.
pub(super) fn check_mass(model: &Model, q: &[f64]) -> Result<(), TreeError> {
    let mut work = Work::new(model);
    for i in 1..model.nodes.len() {
        let node = &model.nodes[i];
        work.frames[i] = place(node, q)?;
        work.bodies[i].inertia = ArticulatedInertia::from_rigid(&node.inertia);
    }
    factors(model, SINGULAR_MODEL, &mut work)
}

/// First pass, outward: frames, velocities, inertias, bias forces.
fn start(model: &Model, q: &[f64], v: &[f64], work: &mut Work) -> Result<(), TreeError> {
    work.bodies[WORLD] = Body::ZERO;
    for i in 1..model.nodes.len() {
        work.visited += 1;
        let node = &model.nodes[i];
        let frame = place(node, q)?;
        let f = flow(node, &frame, work.flows[node.parent as usize].velocity, v);
        work.frames[i] = frame;
        work.flows[i] = f;
        work.bodies[i] = Body {
            inertia: ArticulatedInertia::from_rigid(&node.inertia),
            force: f.velocity.cross_force(node.inertia.times(f.velocity)),
        };
    }
    Ok(())
}

/// Second pass, inward: factors, and what each node asks of its parent.
fn inward(model: &Model, tau: &[f64], work: &mut Work) -> Result<(), TreeError> {
    for i in (1..model.nodes.len()).rev() {
        work.visited += 1;
        let node = &model.nodes[i];
        let (carriers, carried) = work.bodies.split_at_mut(i);
        let (body, parent) = (&carried[0], &mut carriers[node.parent as usize]);
        let (frame, drift) = (&work.frames[i], work.flows[i].drift);
        let at = node.v as usize;
        let mut force = body.force + body.inertia.times(drift);
        match node.joint {
            Plain::Hinge | Plain::Slider => {
                let s = single_factor(node, &body.inertia, work.added[at], SINGULAR)?;
                let u = tau[at] - along(node.joint, force);
                force = force + s.column * (s.d_inverse * u);
                pass_single(node, &body.inertia, frame, &s, work.added[at], parent);
                work.singles[i] = Single { u, ..s };
            }
            Plain::Ball => {
                let b = ball_factor(&body.inertia, work.added[at], SINGULAR)
                    .ok_or_else(|| singular(node))?;
                let u = vector(tau, at) - force.torque;
                force = force + b.push(u);
                pass_ball(node, &body.inertia, frame, &b, work.added[at], parent);
                work.balls[node.slot as usize] = Ball { u, ..b };
            }
            Plain::Free => {
                let b = floating_factor(&body.inertia, SINGULAR).ok_or_else(|| singular(node))?;
                let u = Force::new(vector(tau, at), vector(tau, at + 3)) - force;
                // Nothing of the inertia reaches the parent; it feels the torque alone.
                force = force + u;
                work.floatings[node.slot as usize] = Floating { u, ..b };
            }
        }
        parent.force = parent.force + frame.force_to_parent(force);
    }
    Ok(())
}

/// The inward pass for inertias alone.
fn factors(model: &Model, singular_below: f64, work: &mut Work) -> Result<(), TreeError> {
    for i in (1..model.nodes.len()).rev() {
        let node = &model.nodes[i];
        let (carriers, carried) = work.bodies.split_at_mut(i);
        let (inertia, parent) = (&carried[0].inertia, &mut carriers[node.parent as usize]);
        let (frame, added) = (&work.frames[i], work.added[node.v as usize]);
        match node.joint {
            Plain::Hinge | Plain::Slider => {
                let s = single_factor(node, inertia, added, singular_below)?;
                pass_single(node, inertia, frame, &s, added, parent);
                work.singles[i] = s;
            }
            Plain::Ball => {
                let b =
                    ball_factor(inertia, added, singular_below).ok_or_else(|| singular(node))?;
                pass_ball(node, inertia, frame, &b, added, parent);
                work.balls[node.slot as usize] = b;
            }
            Plain::Free => {
                work.floatings[node.slot as usize] =
                    floating_factor(inertia, singular_below).ok_or_else(|| singular(node))?;
            }
        }
    }
    work.ready.factors = true;
    Ok(())
}

/// Third pass, outward: `a' = X a_λ`, `q̈ = D⁻¹(u' − Uᵀ a')`, `a = a' + c + S q̈`.
fn outward(model: &Model, work: &mut Work, acceleration: &mut [f64]) {
    work.accelerations[WORLD] = Motion::new(Vec3::ZERO, -model.gravity);
    for i in 1..model.nodes.len() {
        work.visited += 1;
        let node = &model.nodes[i];
        let Flow { drift, .. } = work.flows[i];
        let mut a = work.frames[i].motion_to_child(work.accelerations[node.parent as usize]);
        let at = node.v as usize;
        match node.joint {
            Plain::Hinge | Plain::Slider => {
                let s = &work.singles[i];
                let rate = s.d_inverse * (s.u - a.dot(s.column));
                acceleration[at] = rate;
                a = a + drift;
                *z_of(node.joint, &mut a) += rate;
            }
            Plain::Ball => {
                let b = &work.balls[node.slot as usize];
                let rate = b.d_inverse.times(b.u - b.pull(a));
                write(acceleration, at, rate);
                a = a + drift;
                a.angular += rate;
            }
            Plain::Free => {
                let b = &work.floatings[node.slot as usize];
                let rate = floating_solve(b, b.u - b.inertia.times(a));
                write(acceleration, at, rate.angular);
                write(acceleration, at + 3, rate.linear);
                a = a + drift + rate;
            }
        }
        work.accelerations[i] = a;
    }
}

/// `Sᵀ f` of a joint with one freedom.
#[inline]
pub(super) fn along(joint: Plain, f: Force) -> f64 {
    if joint == Plain::Hinge {
        f.torque.z
    } else {
        f.force.z
    }
}

/// The component of a motion along a joint with one freedom.
#[inline]
pub(super) fn z_of(joint: Plain, m: &mut Motion) -> &mut f64 {
    if joint == Plain::Hinge {
        &mut m.angular.z
    } else {
        &mut m.linear.z
    }
}

#[inline]
pub(super) fn write(out: &mut [f64], at: usize, v: Vec3) {
    out[at..at + 3].copy_from_slice(&v.to_array());
}

/// U and D⁻¹ of a hinge or slider: columns of I^A, because the axis is z.
#[inline]
fn single_factor(
    node: &Node,
    inertia: &ArticulatedInertia,
    added: f64,
    singular_below: f64,
) -> Result<Single, TreeError> {
    let b = &inertia.coupling;
    let (column, own, scale) = if node.joint == Plain::Hinge {
        (
            Force::new(
                inertia.angular.z(),
                Vec3::new(b.x_axis.z, b.y_axis.z, b.z_axis.z),
            ),
            inertia.angular.zz,
            inertia.angular.trace(),
        )
    } else {
        (
            Force::new(b.z_axis, inertia.linear.z()),
            inertia.linear.zz,
            inertia.linear.trace(),
        )
    };
    // Written so that NaN is refused too.
    if !(own > singular_below * scale && own.is_finite()) {
        return Err(singular(node));
    }
    Ok(Single {
        column,
        d_inverse: 1.0 / (own + added),
        u: 0.0,
    })
}

fn singular(node: &Node) -> TreeError {
    TreeError::Singular {
        link: node.link as usize,
    }
}

/// `I^A_λ += Xᵀ (I^A − U D⁻¹ Uᵀ) X`
#[inline]
fn pass_single(
    node: &Node,
    inertia: &ArticulatedInertia,
    frame: &Frame,
    s: &Single,
    added: f64,
    parent: &mut Body,
) {
    if node.parent as usize == WORLD {
        return;
    }
    let rest = inertia.plus_outer(s.column, -s.d_inverse);
    let rest = if added != 0.0 {
        rest.carried(frame)
    } else if node.joint == Plain::Hinge {
        rest.carried_hinge(frame)
    } else {
        rest.carried_slider(frame)
    };
    parent.inertia.add(&rest);
}

/// The same for a spherical joint.
#[inline]
fn pass_ball(
    node: &Node,
    inertia: &ArticulatedInertia,
    frame: &Frame,
    b: &Ball,
    added: f64,
    parent: &mut Body,
) {
    if node.parent as usize != WORLD {
        let rest = ball_remainder(inertia, b, added).carried(frame);
        parent.inertia.add(&rest);
    }
}
