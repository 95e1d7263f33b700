//! How an articulation answers as an end of contacts and joints: the response of its touched links, and its free motion.
//!
//! Reads: Articulation, its state, loads.  Writes: Ω, inertia and Jacobians of touched links; the state its flight leads to.
//! Called by: `solver::ends` (answers to impulses), `two_stage::trees` (flights).
//! Source: [Articulated] slides 20–31; docs/methods/two-stage.md, "Articulated bodies". Letters: Ω = J M⁻¹ Jᵀ over the
//! touched links of a tree, six rows each (velocity of the centre of mass, angular velocity), so that a push on one
//! link changes the velocities of all.

#![allow(non_snake_case)]

use super::{
    Integrator, Load, Motion, TreeError, Work as TreeWork, articulate, crba, impulse_response,
    jacobian as jacobian_of, kinematics, link_pose, link_velocity, step,
};
use crate::articulation::{Articulation, ArticulationState};
use crate::math::{Quat, Vec3, rotation};
use crate::model::Model;
use crate::state::{BodyState, State};

/// Turn of a joint that one part of a step may take [rad].
const TURN: f64 = 0.1;
/// Most parts of a step.
const PIECES_MAX: u32 = 64;

/// Most freedoms of a tree that takes part in a direct solve.
const ENDS_FREEDOMS_MAX: usize = 384;

/// A force or impulse with its moment about the centre of mass, or a velocity with its spin.
pub(crate) type Pair = (Vec3, Vec3);

/// What the solves need of one articulation.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreeEnd {
    /// Touched links: number and body slot.
    pub(crate) links: Vec<(u32, u32)>,
    /// Ω by rows, six for each touched link.
    pub(crate) response: Vec<f64>,
    /// The joint-space inertia matrix, and six rows of the Jacobian for each touched link; empty if it is too large for a direct solve.
    pub(crate) inertia: Vec<f64>,
    pub(crate) jacobian: Vec<f64>,
    pub(crate) freedoms: usize,
    /// Impulses on the touched links since the load, six numbers each.
    pub(crate) impulse: Vec<f64>,
    scratch: Option<Box<Scratch>>,
    /// Where it would be at the end of the step, and its links; written by `fly`.
    pub(crate) next: ArticulationState,
    pub(crate) poses: Vec<BodyState>,
    /// Loss to joint friction on that flight [J].
    pub(crate) dissipated: f64,
    /// How long that flight was, if nothing touched the tree [s]: it need not be followed twice.
    pub(crate) untouched: Option<f64>,
    /// Whether impulses of this substep were left out, since no finite motion follows from them.
    pub(crate) given_up: bool,
    /// What went wrong.
    pub(crate) error: Option<TreeError>,
}

#[derive(Clone, Debug)]
struct Scratch {
    work: TreeWork,
    loads: Vec<Load>,
    change: Vec<f64>,
    tau: Vec<f64>,
    /// Where a flight starts, in case it has to start again.
    start: ArticulationState,
}

impl TreeEnd {
    fn scratch(&mut self, articulation: &Articulation) -> &mut Scratch {
        let tree = &articulation.tree;
        let fits = self.scratch.as_ref().is_some_and(|s| s.work.fits(tree));
        if !fits {
            self.scratch = None;
        }
        self.scratch.get_or_insert_with(|| {
            Box::new(Scratch {
                work: TreeWork::new(tree),
                loads: Vec::new(),
                change: vec![0.0; tree.freedom_count()],
                tau: vec![0.0; tree.freedom_count()],
                start: ArticulationState::default(),
            })
        })
    }

    /// Whether the solve under way has pushed no link.
    pub(crate) fn is_unpushed(&self) -> bool {
        self.impulse.iter().all(|x| *x == 0.0)
    }

    /// A 6×6 block of Ω times an impulse.
    pub(crate) fn times(&self, to: u32, from: u32, impulse: Pair) -> Pair {
        let n = 6 * self.links.len();
        let x = flat(impulse);
        let row = |i: usize| {
            let start = (to as usize + i) * n + from as usize;
            let r = &self.response[start..start + 6];
            r[0] * x[0] + r[1] * x[1] + r[2] * x[2] + r[3] * x[3] + r[4] * x[4] + r[5] * x[5]
        };
        (
            Vec3::new(row(0), row(1), row(2)),
            Vec3::new(row(3), row(4), row(5)),
        )
    }

    /// Ω of the touched links.
    pub(crate) fn respond(
        &mut self,
        articulation: &Articulation,
        state: &ArticulationState,
        bodies: &[BodyState],
    ) -> Result<(), TreeError> {
        let links = std::mem::take(&mut self.links);
        let mut response = std::mem::take(&mut self.response);
        let n = 6 * links.len();
        response.clear();
        response.resize(n * n, 0.0);
        let tree = &articulation.tree;
        let s = self.scratch(articulation);
        let done = articulate(tree, &state.positions, &mut s.work).and_then(|()| {
            for (k, &(link, slot)) in links.iter().enumerate() {
                let center = bodies[slot as usize].position;
                for axis in 0..6 {
                    let unit = Vec3::AXES[axis % 3];
                    let mut load = Load::new(link as usize, center, Vec3::ZERO);
                    if axis < 3 {
                        load.force = unit;
                    } else {
                        load.torque = unit;
                    }
                    impulse_response(tree, &[load], &mut s.work, &mut s.change)?;
                    for (j, &(to, slot)) in links.iter().enumerate() {
                        let at = bodies[slot as usize].position;
                        let d = s.work.change_at(tree, to as usize, at)?;
                        for (i, x) in flat(d).into_iter().enumerate() {
                            response[(6 * j + i) * n + 6 * k + axis] = x;
                        }
                    }
                }
            }
            Ok(())
        });
        self.impulse.clear();
        self.impulse.resize(n, 0.0);
        self.links = links;
        self.response = response;
        done
    }

    /// Inertia matrix and Jacobians of the touched links, for trees that are not too large.
    pub(crate) fn outline(
        &mut self,
        articulation: &Articulation,
        state: &ArticulationState,
        bodies: &[BodyState],
    ) -> Result<(), TreeError> {
        let tree = &articulation.tree;
        let n = tree.freedom_count();
        self.freedoms = n;
        self.inertia.clear();
        self.jacobian.clear();
        if n > ENDS_FREEDOMS_MAX {
            return Ok(());
        }
        let links = std::mem::take(&mut self.links);
        let (mut inertia, mut jacobian) = (
            std::mem::take(&mut self.inertia),
            std::mem::take(&mut self.jacobian),
        );
        inertia.resize(n * n, 0.0);
        jacobian.resize(6 * links.len() * n, 0.0);
        let work = &mut self.scratch(articulation).work;
        let done = kinematics(tree, &state.positions, &state.velocities, work).and_then(|()| {
            for (k, &(link, slot)) in links.iter().enumerate() {
                let at = bodies[slot as usize].position;
                let J = &mut jacobian[6 * k * n..6 * (k + 1) * n];
                jacobian_of(tree, link as usize, at, work, J)?;
                // The velocity comes first here.
                J.rotate_left(3 * n);
            }
            crba(tree, &state.positions, work, &mut inertia)
        });
        self.links = links;
        (self.inertia, self.jacobian) = (inertia, jacobian);
        done
    }

    /// Adds `M⁻¹ Jᵀ` of the impulses to the velocities of `next`, whose positions must be those of the last load.
    pub(crate) fn kick(
        &mut self,
        articulation: &Articulation,
        kicked: bool,
        bodies: &[BodyState],
    ) -> Result<(), TreeError> {
        if !kicked || self.is_unpushed() {
            return Ok(());
        }
        let tree = &articulation.tree;
        let mut loads = std::mem::take(&mut self.scratch(articulation).loads);
        loads.clear();
        for (k, &(link, slot)) in self.links.iter().enumerate() {
            let p = &self.impulse[6 * k..6 * k + 6];
            loads.push(Load {
                torque: Vec3::new(p[3], p[4], p[5]),
                ..Load::new(
                    link as usize,
                    bodies[slot as usize].position,
                    Vec3::new(p[0], p[1], p[2]),
                )
            });
        }
        let mut next = std::mem::take(&mut self.next);
        let s = self.scratch(articulation);
        let mut done = articulate(tree, &next.positions, &mut s.work)
            .and_then(|()| impulse_response(tree, &loads, &mut s.work, &mut s.change).map(|_| ()));
        if done.is_ok() && !s.change.iter().all(|d| d.is_finite()) {
            done = Err(TreeError::NonFinite {
                argument: "impulse",
            });
        }
        if done.is_ok() {
            for (v, d) in next.velocities.iter_mut().zip(&s.change) {
                *v += d;
            }
        }
        s.loads = loads;
        self.next = next;
        done
    }

    /// Free motion of `next` under gravity, joint friction and the user's forces.
    pub(crate) fn move_on(
        &mut self,
        model: &Model,
        articulation: &Articulation,
        state: &State,
        h: f64,
    ) -> Result<(), TreeError> {
        debug_assert_eq!(model.gravity, articulation.tree.gravity());
        let mut next = std::mem::take(&mut self.next);
        let s = self.scratch(articulation);
        s.loads.clear();
        for (link, &slot) in articulation.slots.iter().enumerate() {
            let load = &state.loads[slot as usize];
            if load.force != Vec3::ZERO || load.torque != Vec3::ZERO {
                s.loads.push(Load {
                    torque: load.torque,
                    ..Load::new(link, state.bodies[slot as usize].position, load.force)
                });
            }
        }
        let tree = &articulation.tree;
        let integrator = articulation.desc.integrator;
        // Runge and Kutta follow a turn of a tenth of a radian well: fast joints get their step in parts.
        let pieces = |v: &[f64]| match integrator {
            Integrator::HighOrder => ((h * tree.fastest_turn(v) / TURN) as u32)
                .saturating_add(1)
                .min(PIECES_MAX),
            Integrator::OneEvaluation => 1,
        };
        let mut count = pieces(&next.velocities);
        s.start.clone_from(&next);
        let mut lost;
        let done = loop {
            let mut done = Ok(());
            lost = 0.0;
            for _ in 0..count {
                done = done.and_then(|()| {
                    step(
                        tree,
                        integrator,
                        h / f64::from(count),
                        &s.tau,
                        &s.loads,
                        &mut next.positions,
                        &mut next.velocities,
                        &mut s.work,
                    )
                });
                lost += s.work.dissipated();
            }
            // A joint that became much faster on the way was not followed well: again from the start.
            let needed = match done {
                Ok(()) => pieces(&next.velocities),
                Err(_) => PIECES_MAX,
            };
            if needed <= 2 * count || count >= PIECES_MAX {
                break done;
            }
            count = needed;
            next.clone_from(&s.start);
        };
        self.dissipated = lost;
        self.next = next;
        done
    }

    /// Poses and velocities of the links of `next`.
    pub(crate) fn place(&mut self, articulation: &Articulation) -> Result<(), TreeError> {
        let next = std::mem::take(&mut self.next);
        let mut poses = std::mem::take(&mut self.poses);
        let s = self.scratch(articulation);
        let done = place(articulation, &next, &mut s.work, &mut poses);
        self.next = next;
        self.poses = poses;
        done
    }

    /// Writes the links to their slots.
    pub(crate) fn write(&self, articulation: &Articulation, out: &mut [BodyState]) {
        for (&slot, pose) in articulation.slots.iter().zip(&self.poses) {
            out[slot as usize] = *pose;
        }
    }
}

/// Poses and velocities of all links of an articulation.
pub(crate) fn place(
    articulation: &Articulation,
    state: &ArticulationState,
    work: &mut TreeWork,
    out: &mut Vec<BodyState>,
) -> Result<(), TreeError> {
    let tree = &articulation.tree;
    kinematics(tree, &state.positions, &state.velocities, work)?;
    out.clear();
    for (i, desc) in articulation.desc.links.iter().enumerate() {
        let frame = link_pose(tree, work, i)?;
        let Motion { angular, linear } = link_velocity(tree, work, i)?;
        let center = desc.link.mass.center;
        out.push(BodyState {
            position: frame.point(center),
            rotation: rotation::normalized(Quat::from_mat3(&frame.rotation)),
            velocity: frame.rotation * (linear + angular.cross(center)),
            angular_velocity: frame.rotation * angular,
        });
    }
    Ok(())
}

pub(crate) const fn flat((a, b): Pair) -> [f64; 6] {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}
