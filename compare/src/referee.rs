//! The referee: how deep bodies overlap and how far joints are apart, by exact queries that belong to no engine's solver.
//!
//! Reads: `Input` (shapes, joints), poses.  Writes: `Findings`.
//! Called by: `measure`.
//! Source: pair queries of the crate parry3d-f64; double precision, the same shapes for every engine.

use anyhow::{Context, Result, anyhow, bail};
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::{Pose as ParryPose, Rotation, Vector};
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};
use parry3d_f64::query::contact;
use parry3d_f64::shape::{Ball, Capsule, ConvexPolyhedron, Cuboid, Shape as ParryShape};
use std::collections::BTreeSet;
use tippe::joint::JointKind;
use tippe::{Filter, Pose, Shape, Vec3};

use crate::input::Input;

/// What is wrong with the poses of one engine, over all samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Findings {
    /// Deepest overlap of any pair in any sample [m].
    pub deepest: f64,
    /// Depth that one in a hundred overlapping pairs exceeds, in the worst sample [m].
    pub p99: f64,
    /// Most overlapping pairs in a sample.
    pub overlapping: usize,
    /// Greatest distance between the two anchors of a joint [m].
    pub joint_error: f64,
    /// Bodies below the floor or outside all fixed bodies, in the worst sample.
    pub escaped: usize,
    /// Mean height of the dynamic bodies in the last sample [m].
    pub height: f64,
}

/// One solid of one body.
struct Solid {
    body: usize,
    dynamic: bool,
    shape: Box<dyn ParryShape>,
    pose: Pose,
    filter: Filter,
}

/// The scene as the referee knows it.
pub struct Referee<'a> {
    input: &'a Input,
    solids: Vec<Solid>,
    /// Pairs of bodies that a joint keeps from touching, the lower index first.
    jointed: BTreeSet<(usize, usize)>,
    /// What a body may not leave; `None` where there is no floor.
    room: Option<Aabb>,
}

impl<'a> Referee<'a> {
    /// Prepares the shapes.
    pub fn new(input: &'a Input) -> Result<Self> {
        let mut solids = Vec::new();
        for (i, body) in input.bodies.iter().enumerate() {
            for s in &body.shapes {
                solids.push(Solid {
                    body: i,
                    dynamic: body.dynamic,
                    shape: solid(&s.shape)?,
                    pose: s.pose,
                    filter: s.filter,
                });
            }
        }
        let jointed = input
            .joints
            .iter()
            .filter(|j| !j.collide)
            .filter_map(|j| j.a.0.map(|a| (a.min(j.b.0), a.max(j.b.0))))
            .collect();
        let poses: Vec<Pose> = input.bodies.iter().map(|b| b.pose).collect();
        let room = room(input, &solids, &poses);
        Ok(Self {
            input,
            solids,
            jointed,
            room,
        })
    }

    /// Looks at one sample.
    pub fn look(&self, poses: &[Pose], findings: &mut Findings) -> Result<()> {
        let mut depths = self.depths(poses)?;
        depths.sort_unstable_by(f64::total_cmp);
        // The least depth that at least 99 of 100 overlapping pairs do not exceed.
        let rank = (depths.len() * 99).div_ceil(100);
        let p99 = rank.checked_sub(1).map_or(0.0, |i| depths[i]);
        findings.deepest = findings.deepest.max(depths.last().copied().unwrap_or(0.0));
        findings.p99 = findings.p99.max(p99);
        findings.overlapping = findings.overlapping.max(depths.len());
        for joint in &self.input.joints {
            let end = |body: usize, frame: &Pose| poses[body].compose(frame);
            let a = joint.a.0.map_or(joint.a.1, |a| end(a, &joint.a.1));
            let mut apart = end(joint.b.0, &joint.b.1).position - a.position;
            if joint.kind == JointKind::Slider {
                let along = a.rotation * Vec3::Z;
                apart -= along * along.dot(apart);
            }
            let error = apart.length();
            findings.joint_error = findings.joint_error.max(error);
        }
        let dynamic = || {
            let bodies = self.input.bodies.iter().zip(poses);
            bodies.filter(|(b, _)| b.dynamic).map(|(_, p)| p.position)
        };
        let outside = |p: &Vec3| {
            self.room
                .is_some_and(|r| !r.contains_local_point(vector(*p)))
        };
        findings.escaped = findings.escaped.max(dynamic().filter(outside).count());
        findings.height = dynamic().map(|p| p.z).sum::<f64>() / dynamic().count().max(1) as f64;
        Ok(())
    }

    /// Depths of all overlapping pairs [m].
    fn depths(&self, poses: &[Pose]) -> Result<Vec<f64>> {
        let placed: Vec<ParryPose> = self
            .solids
            .iter()
            .map(|s| pose(&poses[s.body].compose(&s.pose)))
            .collect();
        let boxes: Vec<Aabb> = self
            .solids
            .iter()
            .zip(&placed)
            .map(|(s, p)| s.shape.compute_aabb(p))
            .collect();
        // A body that is nowhere has no box.
        if let Some(i) = placed.iter().position(|p| !p.translation.is_finite()) {
            bail!("{} is nowhere", self.input.bodies[self.solids[i].body].name);
        }
        let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        let mut depths = Vec::new();
        for (i, a) in self.solids.iter().enumerate() {
            for j in tree.intersect_aabb(&boxes[i]).map(|j| j as usize) {
                let b = &self.solids[j];
                if j <= i || !self.may_touch(a, b) {
                    continue;
                }
                let found = contact(&placed[i], &*a.shape, &placed[j], &*b.shape, 0.0)
                    .map_err(|e| anyhow!("{e}"))?;
                depths.extend(found.map(|c| -c.dist).filter(|depth| *depth > 0.0));
            }
        }
        Ok(depths)
    }

    fn may_touch(&self, a: &Solid, b: &Solid) -> bool {
        let pair = (a.body.min(b.body), a.body.max(b.body));
        a.body != b.body
            && (a.dynamic || b.dynamic)
            && a.filter.allows(b.filter)
            && !self.jointed.contains(&pair)
    }
}

/// Above the top of the floor, and between the outermost fixed bodies; `None` without a floor.
fn room(input: &Input, solids: &[Solid], poses: &[Pose]) -> Option<Aabb> {
    let boxes = || {
        solids.iter().filter(|s| !s.dynamic).map(|s| {
            (
                s,
                s.shape.compute_aabb(&pose(&poses[s.body].compose(&s.pose))),
            )
        })
    };
    let (_, floor) = boxes().find(|(s, _)| input.bodies[s.body].name == "floor")?;
    let mut room = Aabb::new_invalid();
    for (_, b) in boxes() {
        room.mins = room.mins.min(b.mins);
        room.maxs = room.maxs.max(b.maxs);
    }
    room.mins.z = floor.maxs.z;
    room.maxs.z = f64::INFINITY;
    Some(room)
}

fn solid(shape: &Shape) -> Result<Box<dyn ParryShape>> {
    let points = |v: &[Vec3]| v.iter().map(|p| vector(*p)).collect::<Vec<_>>();
    Ok(match shape {
        Shape::Sphere { radius } => Box::new(Ball::new(*radius)),
        Shape::Cuboid { half } => Box::new(Cuboid::new(vector(*half))),
        Shape::Capsule {
            half_length,
            radius,
        } => Box::new(Capsule::new_z(*half_length, *radius)),
        Shape::Cylinder { .. } | Shape::Cone { .. } => {
            // As prisms and pyramids that lie within the shape by 5e-4 of its radius.
            let outline = round_outline(shape);
            Box::new(ConvexPolyhedron::from_convex_hull(&points(&outline)).context("no hull")?)
        }
        Shape::Hull(hull) => Box::new(
            ConvexPolyhedron::from_convex_hull(&points(hull.vertices())).context("no hull")?,
        ),
        _ => bail!("the referee does not know {shape:?}"),
    })
}

/// Corners of a cylinder or cone along z [m].
fn round_outline(shape: &Shape) -> Vec<Vec3> {
    const CORNERS: u32 = 100;
    let rim = |radius: f64, z: f64| {
        (0..CORNERS).map(move |i| {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(CORNERS);
            Vec3::new(radius * angle.cos(), radius * angle.sin(), z)
        })
    };
    match *shape {
        Shape::Cylinder {
            half_length,
            radius,
        } => rim(radius, -half_length)
            .chain(rim(radius, half_length))
            .collect(),
        Shape::Cone {
            half_length,
            radius,
        } => rim(radius, -half_length)
            .chain([Vec3::Z * half_length])
            .collect(),
        _ => Vec::new(),
    }
}

fn vector(v: Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn pose(pose: &Pose) -> ParryPose {
    let q = pose.rotation;
    ParryPose::from_parts(
        vector(pose.position),
        Rotation::from_xyzw(q.x, q.y, q.z, q.w),
    )
}
