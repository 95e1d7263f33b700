//! The scene as the engine understood it: the same file with every default written out.
//!
//! Reads: descriptions of bodies, the resolved scene.  Writes: nothing.
//! Called by: `build`, `generate` (bodies back to the format), users (text).
//! Source: own. Loading the text gives the same world, bit for bit; numbers are printed so that they read back unchanged.

use crate::build::MaterialTable;
use crate::format::{self, Kind};
use crate::joint::WORLD;
use crate::load::Scene;
use tippe::{
    BodyDesc, BodyKind, Drag, Filter, JointId, MassSpec, Method, Motion, Pose, Quat, Rounded,
    Shape, ShapeDesc, World,
};

/// A scene as TOML with every default written out; it loads to the same world.
#[must_use]
pub fn explain(scene: &Scene) -> String {
    let head = "# Written by tippe: every default is spelled out, generators stay as they are.\n\n";
    match toml::to_string(&scene.resolved) {
        Ok(text) => format!(
            "{head}{text}\n{}{}",
            parameters(scene.world.method()),
            thresholds()
        ),
        // Every type of the format has a TOML form; a failure here is a bug, and the reader should see it.
        Err(e) => format!("{head}# This scene could not be written: {e}\n"),
    }
}

/// The parameters of the method with their units and reasons, as comments: their values stand in the scene.
fn parameters(method: &Method) -> String {
    let line = |p: &tippe::method::Param| {
        let default = format!("{}{}", p.default_value(), p.unit_in_brackets());
        format!("# {:<20} {default:<16} {}\n", p.name, p.reason)
    };
    let table = method.params().table();
    let lines: String = table.params.iter().map(line).collect();
    let name = table.method;
    format!(
        "# Parameters of `{name}`, their defaults and reasons (docs/methods/{name}.md):\n{lines}#\n"
    )
}

/// The thresholds that decide how islands are solved, as comments: they are no parameters.
fn thresholds() -> String {
    let line = |(name, value, reason): &(&str, f64, &str)| {
        format!("# {:<20} {value:<8} {reason}\n", name.to_lowercase())
    };
    let lines: String = tippe::THRESHOLDS.iter().map(line).collect();
    format!("# Thresholds of the solver, which no scene sets:\n{lines}")
}

/// The same scene as JSON.
#[must_use]
pub fn explain_json(scene: &Scene) -> String {
    serde_json::to_string_pretty(&scene.resolved)
        .unwrap_or_else(|e| format!("{{\"error\": {:?}}}", e.to_string()))
}

/// A body with every default written out.
pub(crate) fn body(desc: &BodyDesc, materials: &MaterialTable) -> format::Body {
    let table = matches!(desc.kind, BodyKind::Kinematic(Motion::Table { .. }));
    format::Body {
        // A table says where the body is.
        position: if table {
            None
        } else {
            Some(desc.pose.position.to_array())
        },
        ..template(desc, false, materials)
    }
}

/// A template with every default written out.
pub(crate) fn template(
    desc: &BodyDesc,
    random_rotation: bool,
    materials: &MaterialTable,
) -> format::Body {
    let dynamic = desc.kind == BodyKind::Dynamic;
    let mut body = format::Body {
        name: if desc.name.is_empty() {
            None
        } else {
            Some(desc.name.clone())
        },
        kind: Some(match desc.kind {
            BodyKind::Dynamic => Kind::Dynamic,
            BodyKind::Fixed => Kind::Fixed,
            BodyKind::Kinematic(_) => Kind::Kinematic,
            // Links are written with their articulation.
            BodyKind::Link { .. } => Kind::Dynamic,
        }),
        rotation: if random_rotation {
            None
        } else {
            Some(quaternion(desc.pose.rotation))
        },
        velocity: dynamic.then(|| desc.velocity.to_array()),
        angular_velocity: dynamic.then(|| desc.angular_velocity.to_array()),
        gravity_scale: Some(desc.gravity_scale),
        drag: desc.drag.map(drag),
        motion: match &desc.kind {
            BodyKind::Kinematic(m) => Some(motion(m)),
            _ => None,
        },
        ..format::Body::default()
    };
    if dynamic {
        write_mass(&desc.mass, &mut body);
    }
    match desc.shapes.as_slice() {
        [] => {}
        [one] if one.pose == Pose::IDENTITY => {
            body.shape = Some(shape(&one.shape));
            body.material = Some(materials.name(one.material).into());
            body.sensor = Some(one.sensor);
            let (groups, mask) = filter(one.filter);
            body.collision = Some(format::Collision {
                groups: Some(groups),
                mask: Some(mask),
            });
        }
        several => body.shapes = Some(several.iter().map(|s| entry(s, materials)).collect()),
    }
    body
}

/// A joint with every default written out; both frames on their bodies, so that they keep their bits.
pub(crate) fn joint(id: JointId, world: &World) -> Option<format::Joint> {
    let desc = &world.joint(id).ok()?.desc;
    let name = |id| world.body(id).ok().map(|b| b.name.clone());
    let frame = |pose: &Pose| {
        Some(format::Frame {
            position: Some(pose.position.to_array()),
            rotation: Some(quaternion(pose.rotation)),
            rotation_deg: None,
        })
    };
    let own = crate::mate::written(desc.kind);
    if let Some(ids) = desc.kind.coupled() {
        let [Some(first), Some(second)] = ids.map(|id| world.joint(id).ok()) else {
            return None;
        };
        return Some(format::Joint {
            name: Some(desc.name.clone()),
            joints: Some([first, second].map(|j| j.desc.name.clone())),
            ..own
        });
    }
    let body_a = match desc.body_a {
        None => WORLD.to_owned(),
        Some(id) => name(id)?,
    };
    let strength = [desc.break_force, desc.break_torque];
    let mut out = format::Joint {
        name: Some(desc.name.clone()),
        bodies: Some([body_a, name(desc.body_b)?]),
        frame_a: frame(&desc.frame_a),
        frame_b: frame(&desc.frame_b),
        min: own.min,
        max: own.max,
        angle: own.angle,
        radius: own.radius,
        pitch: own.pitch,
        ..crate::drive::written_out(
            own.kind,
            &desc.rotation,
            &desc.translation,
            strength,
            desc.collide,
        )
    };
    if crate::mate::is_reversed(out.kind) {
        if let Some(bodies) = &mut out.bodies {
            bodies.swap(0, 1);
        }
        std::mem::swap(&mut out.frame_a, &mut out.frame_b);
    }
    Some(out)
}

fn write_mass(mass: &MassSpec, body: &mut format::Body) {
    match mass {
        MassSpec::Density(density) => body.density = Some(*density),
        MassSpec::Mass(mass) => body.mass = Some(*mass),
        MassSpec::Explicit {
            mass,
            center,
            inertia: i,
        } => {
            let (xy, xz, yz) = (i.x_axis.y, i.x_axis.z, i.y_axis.z);
            let diagonal = [i.x_axis.x, i.y_axis.y, i.z_axis.z];
            let off = if (xy, xz, yz) == (0.0, 0.0, 0.0) {
                vec![]
            } else {
                vec![xy, xz, yz]
            };
            body.mass = Some(*mass);
            body.center = Some(center.to_array());
            body.inertia = Some([diagonal.to_vec(), off].concat());
        }
    }
}

const fn quaternion(q: Quat) -> [f64; 4] {
    [q.w, q.x, q.y, q.z]
}

fn filter(f: Filter) -> (format::Bits, format::Bits) {
    (
        format::Bits::from_mask(f.groups),
        format::Bits::from_mask(f.mask),
    )
}

fn shape(shape: &Shape) -> format::Shape {
    match shape.clone() {
        Shape::Sphere { radius } => format::Shape::Sphere(format::Sphere { radius }),
        Shape::Cuboid { half } => format::Shape::Box(format::BoxShape {
            size: (half * 2.0).to_array(),
            rounding: None,
        }),
        Shape::Capsule {
            half_length,
            radius,
        } => format::Shape::Capsule(format::Capsule {
            radius,
            length: half_length * 2.0,
        }),
        Shape::Cylinder {
            half_length,
            radius,
        } => format::Shape::Cylinder(format::Cylinder {
            radius,
            length: half_length * 2.0,
            rounding: None,
        }),
        Shape::Rounded(rounded) => round_shape(&rounded),
        Shape::Cone {
            half_length,
            radius,
        } => format::Shape::Cone(format::Cone {
            radius,
            height: half_length * 2.0,
        }),
        Shape::Hull(hull) => format::Shape::Hull(format::Hull {
            points: Some(hull.vertices().iter().map(|v| v.to_array()).collect()),
            ..format::Hull::default()
        }),
        Shape::Mesh(mesh) => format::Shape::Mesh(format::Mesh {
            vertices: Some(mesh.vertices().iter().map(|v| v.to_array()).collect()),
            triangles: Some(mesh.triangles().to_vec()),
            ..format::Mesh::default()
        }),
        Shape::Profile(profile) => format::Shape::Profile(crate::profile::explained(&profile)),
        Shape::HalfSpace { normal } => format::Shape::HalfSpace(format::HalfSpace {
            normal: normal.to_array(),
        }),
    }
}

/// A rounded solid with the size that leads to the same core.
fn round_shape(rounded: &Rounded) -> format::Shape {
    let r = rounded.radius();
    match shape(rounded.core()) {
        format::Shape::Box(b) => format::Shape::Box(format::BoxShape {
            size: b.size.map(|x| 2.0 * thickened(0.5 * x, r)),
            rounding: Some(r),
        }),
        format::Shape::Cylinder(c) => format::Shape::Cylinder(format::Cylinder {
            radius: thickened(c.radius, r),
            length: 2.0 * thickened(0.5 * c.length, r),
            rounding: Some(r),
        }),
        format::Shape::Hull(h) => format::Shape::Hull(format::Hull {
            rounding: Some(r),
            ..h
        }),
        other => other,
    }
}

/// The number nearest to `core` + `r` that gives exactly `core` when `r` is taken away, where there is one.
fn thickened(core: f64, r: f64) -> f64 {
    let sum = core + r;
    let near = [
        sum,
        sum.next_up(),
        sum.next_down(),
        sum.next_up().next_up(),
        sum.next_down().next_down(),
    ];
    near.into_iter().find(|x| x - r == core).unwrap_or(sum)
}

fn entry(s: &ShapeDesc, materials: &MaterialTable) -> format::ShapeEntry {
    let (groups, mask) = filter(s.filter);
    format::ShapeEntry {
        shape: shape(&s.shape),
        place: format::ShapePlace {
            position: Some(s.pose.position.to_array()),
            rotation: Some(quaternion(s.pose.rotation)),
            rotation_deg: None,
            material: Some(materials.name(s.material).into()),
            sensor: Some(s.sensor),
            groups: Some(groups),
            mask: Some(mask),
        },
    }
}

const fn drag(drag: Drag) -> format::Drag {
    match drag {
        Drag::Stokes { radius, viscosity } => {
            format::Drag::Stokes(format::DragStokes { radius, viscosity })
        }
        Drag::Quadratic {
            coefficient,
            area,
            density,
        } => format::Drag::Quadratic(format::DragQuadratic {
            coefficient,
            area,
            density,
        }),
        Drag::Automatic {
            radius,
            coefficient,
            viscosity,
            density,
        } => format::Drag::Automatic(format::DragAutomatic {
            radius,
            coefficient,
            viscosity,
            density,
        }),
    }
}

fn motion(motion: &Motion) -> format::Motion {
    match motion {
        // Scenes steer nothing: the velocity is what can be said of it.
        Motion::Constant {
            velocity,
            angular_velocity,
        }
        | Motion::Steered {
            velocity,
            angular_velocity,
            ..
        } => format::Motion::Constant(format::ConstantMotion {
            velocity: Some(velocity.to_array()),
            angular_velocity: Some(angular_velocity.to_array()),
        }),
        Motion::Sine {
            amplitude,
            rotation_amplitude,
            frequency,
            phase,
        } => format::Motion::Sine(format::SineMotion {
            frequency: *frequency,
            amplitude: Some(amplitude.to_array()),
            rotation_amplitude: Some(rotation_amplitude.to_array()),
            rotation_amplitude_deg: None,
            phase: Some(*phase),
            phase_deg: None,
        }),
        Motion::Table { times, poses } => format::Motion::Table(format::TableMotion {
            times: times.clone(),
            positions: poses.iter().map(|p| p.position.to_array()).collect(),
            rotations: Some(poses.iter().map(|p| quaternion(p.rotation)).collect()),
        }),
    }
}
