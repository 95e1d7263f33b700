//! Bodies, joints and surfaces of a world as a recording lists them.
//!
//! Reads: World.  Writes: nothing.
//! Called by: `recording::write`.
//! Source: `docs/recording.md`.

use super::{RecordedBody, RecordedJoint, RecordedShape, RecordedSurface, Solid};
use crate::load::Scene;
use tippe::articulated::Joint as TreeJoint;
use tippe::{BodyId, BodyKind, JointId, JointKind, Shape, Vec3, World};

/// A body, with its materials by name.
pub(super) fn body(world: &World, id: BodyId, materials: &[String]) -> Option<RecordedBody> {
    let body = world.body(id).ok()?;
    let shapes = body.shapes.iter().map(|s| {
        let q = s.pose.rotation;
        RecordedShape {
            solid: solid(&s.shape),
            position: s.pose.position.to_array(),
            rotation: [q.w, q.x, q.y, q.z],
            sensor: s.sensor,
            material: materials
                .get(s.material.index())
                .cloned()
                .unwrap_or_default(),
        }
    });
    Some(RecordedBody {
        name: body.name.clone(),
        slot: id.index() as u32,
        kind: match body.kind {
            BodyKind::Dynamic => "dynamic",
            BodyKind::Fixed => "fixed",
            BodyKind::Kinematic(_) => "kinematic",
            BodyKind::Link { .. } => "link",
        }
        .into(),
        mass: body.mass,
        center: body.center.to_array(),
        shapes: shapes.collect(),
    })
}

/// A joint.
pub(super) fn joint(world: &World, id: JointId) -> Option<RecordedJoint> {
    let joint = world.joint(id).ok()?;
    let desc = &joint.desc;
    Some(RecordedJoint {
        name: desc.name.clone(),
        kind: match desc.kind {
            JointKind::Ball => "ball",
            JointKind::Hinge => "hinge",
            JointKind::Slider => "slider",
            JointKind::Fixed => "fixed",
            JointKind::Cylindrical => "cylindrical",
            JointKind::Universal => "universal",
            JointKind::Distance { .. } => "distance",
            JointKind::Turn => "turn",
            JointKind::Slide => "slide",
            JointKind::Swing => "swing",
            JointKind::Twist => "twist",
            JointKind::PointOnLine => "point_on_line",
            JointKind::PointOnPlane => "point_on_plane",
            JointKind::Parallel => "parallel",
            JointKind::Perpendicular => "perpendicular",
            JointKind::Angle { .. } => "angle",
            JointKind::LineOnLine => "line_on_line",
            JointKind::Planar => "planar",
            JointKind::SphereOnPlane { .. } => "sphere_on_plane",
            JointKind::CylinderOnPlane { .. } => "cylinder_on_plane",
            JointKind::Orientation => "orientation",
            JointKind::Screw { .. } => "screw",
            JointKind::Gear { .. } => "gear",
            JointKind::Rack { .. } => "rack",
        }
        .into(),
        body_a: joint.a,
        body_b: joint.b,
        at_a: desc.frame_a.position.to_array(),
        at_b: desc.frame_b.position.to_array(),
        axis_b: (desc.frame_b.rotation * Vec3::Z).to_array(),
    })
}

/// The joints inside articulations. Those that hold nothing are left out.
pub(super) fn tree_joints(world: &World) -> Vec<RecordedJoint> {
    let mut all = Vec::new();
    for id in world.articulation_ids() {
        let Ok(tree) = world.articulation(id) else {
            continue;
        };
        for (link, slot) in tree.desc.links.iter().zip(tree.slots()) {
            let kind = match link.link.joint {
                TreeJoint::Revolute { .. } => "hinge",
                TreeJoint::Prismatic { .. } => "slider",
                TreeJoint::Spherical => "ball",
                TreeJoint::Fixed => "fixed",
                TreeJoint::Universal { .. } => "universal",
                TreeJoint::Cylindrical { .. } => "cylindrical",
                TreeJoint::Planar { .. } => "planar",
                TreeJoint::Free => continue,
            };
            let axis = match link.link.joint {
                TreeJoint::Revolute { axis }
                | TreeJoint::Prismatic { axis }
                | TreeJoint::Cylindrical { axis } => axis,
                TreeJoint::Universal { second, .. } => second,
                TreeJoint::Planar { normal } => normal,
                _ => Vec3::Z,
            };
            all.push(RecordedJoint {
                name: link.name.clone(),
                kind: kind.into(),
                body_a: link.link.parent.and_then(|p| tree.slots().get(p).copied()),
                body_b: *slot,
                at_a: link.link.placement.position.to_array(),
                at_b: [0.0; 3],
                axis_b: axis.to_array(),
            });
        }
    }
    all
}

/// Every pair of materials of a scene.
pub(super) fn surfaces(scene: &Scene) -> Vec<RecordedSurface> {
    // A scene of very many materials would spend its header on pairs that never meet.
    const MATERIALS_MAX: usize = 64;
    let names = &scene.material_names;
    let materials = scene.world.materials();
    let ids: Vec<_> = names.iter().map(|n| (n, materials.find(n))).collect();
    let mut pairs = Vec::new();
    for (i, (a, id_a)) in ids.iter().enumerate().take(MATERIALS_MAX) {
        for (b, id_b) in ids.iter().take(i + 1) {
            if let (Some(id_a), Some(id_b)) = (id_a, id_b) {
                let surface = materials.lookup(*id_a, *id_b).0;
                pairs.push(RecordedSurface {
                    materials: [(*b).clone(), (*a).clone()],
                    friction_static: surface.friction_static,
                    friction_kinetic: surface.friction_kinetic,
                    restitution: surface.restitution,
                });
            }
        }
    }
    pairs
}

fn solid(shape: &Shape) -> Solid {
    match shape.clone() {
        Shape::Sphere { radius } => Solid::Sphere { radius },
        Shape::Cuboid { half } => Solid::Box {
            size: (half * 2.0).to_array(),
        },
        Shape::Capsule {
            half_length,
            radius,
        } => Solid::Capsule {
            radius,
            length: half_length * 2.0,
        },
        Shape::Cylinder {
            half_length,
            radius,
        } => Solid::Cylinder {
            radius,
            length: half_length * 2.0,
        },
        Shape::Cone {
            half_length,
            radius,
        } => Solid::Cone {
            radius,
            height: half_length * 2.0,
        },
        Shape::Hull(hull) => Solid::Hull {
            points: hull.vertices().iter().map(|v| v.to_array()).collect(),
            triangles: hull.triangles().to_vec(),
        },
        // Drawn only: a run goes on from snapshots, which have the exact solid.
        Shape::Rounded(rounded) => match rounded.polyhedron() {
            Some(hull) => solid(&Shape::Hull(hull.into())),
            None => solid(rounded.core()),
        },
        Shape::Mesh(mesh) => Solid::Mesh {
            points: mesh.vertices().iter().map(|v| v.to_array()).collect(),
            triangles: mesh.triangles().to_vec(),
        },
        Shape::Profile(profile) => {
            let (points, triangles) = profile.drawn();
            Solid::Mesh {
                points: points.iter().map(|v| v.to_array()).collect(),
                triangles,
            }
        }
        Shape::HalfSpace { normal } => Solid::HalfSpace {
            normal: normal.to_array(),
        },
    }
}
