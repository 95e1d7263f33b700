//! Shapes and mass of a body of the file.
//!
//! Reads: `format::Body`, the materials of the scene.  Writes: `Problems`.
//! Called by: `body`.
//! Source: `docs/scene-format.md`, "Bodies".

use crate::body::rotation;
use crate::build::MaterialTable;
use crate::check::{LARGE, SMALL, direction, positive, vector, weight};
use crate::diagnostics::{At, Problems};
use crate::format::{self, Kind};
use crate::inertia;
use crate::profile;
use std::sync::Arc;
use tippe::{
    BodyKind, BuildError, ConvexHull, Filter, MassSpec, Pose, Rounded, Shape, ShapeDesc,
    TriangleMesh, Vec3,
};

/// The shapes of a body.
pub(crate) fn shapes(
    body: &format::Body,
    at: &At,
    materials: &MaterialTable,
    problems: &mut Problems,
) -> Vec<ShapeDesc> {
    let (one, many) = (at.key("shape"), at.key("shapes"));
    let dynamic = body.kind.unwrap_or_default() == Kind::Dynamic;
    let moves = (dynamic, body.inertia.is_none());
    let filter = Filter {
        groups: body
            .collision
            .as_ref()
            .and_then(|c| c.groups.as_ref())
            .map_or(1, format::Bits::to_mask),
        mask: body
            .collision
            .as_ref()
            .and_then(|c| c.mask.as_ref())
            .map_or(u32::MAX, format::Bits::to_mask),
    };
    let material = body
        .material
        .as_ref()
        .map(|m| materials.find(m, &at.key("material"), problems));
    let material = material.unwrap_or(tippe::MaterialId::DEFAULT);
    let sensor = body.sensor.unwrap_or(false);
    let plain = |shape: Shape| ShapeDesc {
        shape,
        pose: Pose::IDENTITY,
        material,
        filter,
        sensor,
    };
    match (&body.shape, &body.shapes) {
        (Some(_), Some(_)) => {
            problems.error(
                &many,
                "both `shape` and `shapes`",
                "put all shapes into `shapes`, or keep one in `shape`",
            );
            Vec::new()
        }
        (Some(s), None) => vec![plain(shape(s, moves, &one, problems))],
        (None, Some(list)) => {
            if list.is_empty() && !problems.touches(&many) {
                problems.error(
                    &many,
                    "must not be empty",
                    "write at least one shape, such as { box = { size = [1, 1, 1] } }",
                );
            }
            let entries = list.iter().enumerate().map(|(i, entry)| {
                let at = many.index(i);
                let place = &entry.place;
                ShapeDesc {
                    shape: shape(&entry.shape, moves, &at, problems),
                    pose: Pose::new(
                        vector(
                            place.position.unwrap_or_default(),
                            &at.key("position"),
                            problems,
                        ),
                        rotation(place.rotation, place.rotation_deg.as_ref(), &at, problems),
                    ),
                    material: place.material.as_ref().map_or(material, |m| {
                        materials.find(m, &at.key("material"), problems)
                    }),
                    filter: Filter {
                        groups: place
                            .groups
                            .as_ref()
                            .map_or(filter.groups, format::Bits::to_mask),
                        mask: place
                            .mask
                            .as_ref()
                            .map_or(filter.mask, format::Bits::to_mask),
                    },
                    sensor: place.sensor.unwrap_or(sensor),
                }
            });
            entries.collect()
        }
        (None, None) => {
            if !dynamic || body.inertia.is_none() {
                let help = "add one, such as shape.box = { size = [1, 1, 1] } or shape.sphere = { radius = 0.5 }";
                problems.error(&one, "missing", help);
            }
            Vec::new()
        }
    }
}

fn shape(
    shape: &format::Shape,
    (dynamic, weighed): (bool, bool),
    at: &At,
    problems: &mut Problems,
) -> Shape {
    let at = at.key(shape.name());
    let mut size = |value: f64, at: &At| {
        if positive(value, LARGE, "sizes are in metres", at, problems) && value < SMALL {
            problems.error(
                at,
                format!("too small: {value:e}; at least {SMALL:e}"),
                "sizes are in metres",
            );
        }
        value
    };
    match shape {
        format::Shape::Box(b) => {
            let edge = |i: usize| size(b.size[i], &at.key("size").index(i)) * 0.5;
            let half = Vec3::from_array([0, 1, 2].map(edge));
            let round = |r| Rounded::cuboid(half, r);
            rounded(Shape::Cuboid { half }, b.rounding, round, &at, problems)
        }
        format::Shape::Sphere(s) => Shape::Sphere {
            radius: size(s.radius, &at.key("radius")),
        },
        format::Shape::Capsule(c) => Shape::Capsule {
            radius: size(c.radius, &at.key("radius")),
            half_length: size(c.length, &at.key("length")) * 0.5,
        },
        format::Shape::Cylinder(c) => {
            let radius = size(c.radius, &at.key("radius"));
            let half_length = size(c.length, &at.key("length")) * 0.5;
            let sharp = Shape::Cylinder {
                half_length,
                radius,
            };
            let round = |r| Rounded::cylinder(half_length, radius, r);
            rounded(sharp, c.rounding, round, &at, problems)
        }
        format::Shape::Cone(c) => Shape::Cone {
            radius: size(c.radius, &at.key("radius")),
            half_length: size(c.height, &at.key("height")) * 0.5,
        },
        format::Shape::Hull(h) => {
            let sharp = hull(h, &at, problems);
            let core = sharp.clone();
            // What could not be made is no hull.
            let rounding = h.rounding.filter(|_| matches!(core, Shape::Hull(_)));
            rounded(sharp, rounding, |r| Rounded::new(core, r), &at, problems)
        }
        format::Shape::Mesh(m) => {
            let made = mesh(m, &at, problems);
            if let (true, Shape::Mesh(made)) = (dynamic, &made) {
                judge(made, m, weighed, &at, problems);
            }
            made
        }
        format::Shape::Profile(p) => profile::shape(p, &at, problems),
        format::Shape::HalfSpace(h) => {
            if dynamic {
                let help = "add kind = \"fixed\" (or \"kinematic\"), or use a box";
                problems.error(
                    &at,
                    "a dynamic body cannot be a half-space, which has no end and no mass",
                    help,
                );
            }
            Shape::HalfSpace {
                normal: direction(h.normal, &at.key("normal"), problems),
            }
        }
    }
}

/// The solid with its edges rounded off, if it says so.
fn rounded(
    sharp: Shape,
    rounding: Option<f64>,
    round: impl FnOnce(f64) -> Result<Rounded, BuildError>,
    at: &At,
    problems: &mut Problems,
) -> Shape {
    let Some(radius) = rounding else { return sharp };
    let at = at.key("rounding");
    if problems.touches(&at) || !positive(radius, LARGE, "sizes are in metres", &at, problems) {
        return sharp;
    }
    match round(radius) {
        Ok(rounded) => Shape::Rounded(Arc::new(rounded)),
        Err(e) => {
            problems.error(&at, e.reason, "leave it out for sharp edges");
            sharp
        }
    }
}

/// The hull of the points in the file.
fn hull(hull: &format::Hull, at: &At, problems: &mut Problems) -> Shape {
    let at = &at.key(if hull.file.is_some() {
        "file"
    } else {
        "points"
    });
    if hull.points.is_none() {
        if hull.file.is_none() && !problems.touches(at) {
            let help = "write points = [[x, y, z], …] or file = \"….stl\"";
            problems.error(at, "missing", help);
        }
        // Files are read by the loader, which says what is wrong with them.
        return Shape::Sphere { radius: 1.0 };
    }
    let points = hull.points.iter().flatten();
    let points: Vec<Vec3> = points.map(|p| Vec3::from_array(*p)).collect();
    let largest = points
        .iter()
        .fold(0.0_f64, |s, p| s.max(p.abs().max_element()));
    let made = if largest > LARGE {
        let reason = format!("a coordinate of {largest:e} m is too large; at most {LARGE:e}");
        problems.error(at, reason, "sizes are in metres");
        None
    } else {
        match ConvexHull::new(&points) {
            Ok(hull) => Some(hull),
            Err(e) => {
                let help = "a hull needs four points that do not lie in one plane";
                problems.error(at, e.reason, help);
                None
            }
        }
    };
    // What could not be made is stood in for by what causes no further errors.
    made.map_or(Shape::Sphere { radius: 1.0 }, |h| Shape::Hull(Arc::new(h)))
}

/// The triangles of the file.
fn mesh(mesh: &format::Mesh, at: &At, problems: &mut Problems) -> Shape {
    let stand_in = Shape::HalfSpace { normal: Vec3::Z };
    let (Some(vertices), Some(triangles)) = (&mesh.vertices, &mesh.triangles) else {
        if mesh.file.is_none() && !problems.touches(at) {
            let help = "write file = \"….stl\", or vertices = [[x, y, z], …] and triangles = [[0, 1, 2], …]";
            problems.error(at, "vertices or triangles missing", help);
        }
        return stand_in;
    };
    let vertices: Vec<Vec3> = vertices.iter().map(|p| Vec3::from_array(*p)).collect();
    match TriangleMesh::new(&vertices, triangles) {
        Ok(mesh) => Shape::Mesh(Arc::new(mesh)),
        Err(e) => {
            let at = if mesh.file.is_some() {
                at.key("file")
            } else {
                at.clone()
            };
            let reason = format!("{} {}", e.field, e.reason);
            problems.error(
                &at,
                reason,
                "a mesh needs triangles with an area, by vertices that are there",
            );
            stand_in
        }
    }
}

/// What a mesh that moves should be: closed, with its front outside. `weighed`: its mass follows from it.
fn judge(
    made: &TriangleMesh,
    mesh: &format::Mesh,
    weighed: bool,
    at: &At,
    problems: &mut Problems,
) {
    let Some(defect) = made.defect() else { return };
    let at = if mesh.file.is_some() {
        at.key("file")
    } else {
        at.clone()
    };
    let reason = format!("{} {}", defect.field, defect.reason);
    if made.is_inside_out() {
        let help = "a mesh that moves is felt from outside: turn its triangles";
        problems.error(&at, reason, help);
    } else if weighed && made.mass_properties(1.0).is_none() {
        let help = "a flat mesh has no mass of its own: give mass and inertia";
        problems.error(&at, reason, help);
    } else {
        let help = if weighed {
            "close it; until then it weighs and turns like its convex hull, and is felt from its front alone"
        } else {
            "close it; until then it is felt from its front alone"
        };
        problems.warning(&at, format!("is not closed: {reason}"), help);
    }
}

/// Where the mass of a body comes from.
pub(crate) fn mass(
    body: &format::Body,
    kind: &BodyKind,
    shapes: &[ShapeDesc],
    at: &At,
    problems: &mut Problems,
) -> MassSpec {
    let given = [
        ("density", body.density.is_some()),
        ("mass", body.mass.is_some()),
        ("inertia", body.inertia.is_some()),
    ];
    if *kind != BodyKind::Dynamic
        && let Some((key, _)) = given.iter().find(|(_, given)| *given)
    {
        problems.warning(
            &at.key(key),
            "has no effect: only dynamic bodies have mass",
            "remove it, or make the body dynamic",
        );
    }
    if let Some(density) = body.density {
        weight(
            density,
            "density is in kg/m³: water 1000, steel 7850",
            &at.key("density"),
            problems,
        );
        if body.mass.is_some() {
            problems.error(
                &at.key("density"),
                "both density and mass",
                "keep one of the two",
            );
        }
    }
    if let Some(mass) = body.mass {
        weight(
            mass,
            "write the mass in kilograms, such as mass = 1.0",
            &at.key("mass"),
            problems,
        );
    }
    if body.center.is_some() && body.inertia.is_none() {
        let help = "add mass and inertia, or remove it: the centre then follows from the shapes";
        problems.error(
            &at.key("center"),
            "a given centre of mass needs a given inertia",
            help,
        );
    }
    if let Some(inertia) = &body.inertia {
        let tensor = inertia::tensor(inertia, &at.key("inertia"), problems);
        let center = vector(body.center.unwrap_or_default(), &at.key("center"), problems);
        if body.mass.is_none() {
            problems.error(
                &at.key("mass"),
                "missing: inertia alone does not make a mass",
                "add mass = … in kilograms",
            );
        }
        return MassSpec::Explicit {
            mass: body.mass.unwrap_or(1.0),
            center,
            inertia: tensor,
        };
    }
    if *kind == BodyKind::Dynamic && !shapes.is_empty() && shapes.iter().all(|s| s.sensor) {
        let help = "add mass and inertia, or a shape that is no sensor";
        problems.error(at, "a dynamic body of sensors alone has no mass", help);
    }
    body.mass.map_or(
        MassSpec::Density(body.density.unwrap_or(1000.0)),
        MassSpec::Mass,
    )
}
