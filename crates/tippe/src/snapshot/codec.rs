//! Encoding of every stored type, field by field, in one place.
//!
//! Reads: values or bytes.  Writes: bytes or values.
//! Called by: `snapshot`.
//! Source: —

use crate::compliance::Compliance;
use crate::dynamics::sleep::Sleeping;
use crate::error::SnapshotError;
use crate::joint::{Freedom, JointDesc, JointId, JointKind, Motor, Spring};
use crate::material::{ImpactLaw, MaterialId, Materials, Pair, Surface};
use crate::math::{Pose, Quat, Vec2, Vec3};
use crate::model::coupling::Mesh;
use crate::model::family::Family;
use crate::model::{Body, BodyId, BodyKind, Drag, Filter, Joint, Model, ShapeDesc};
use crate::motion::Motion;
use crate::report::EnergyLedger;
use crate::shape::{ConvexHull, Profile, ProfileEdge, ProfilePath, Rounded, Shape, TriangleMesh};
use crate::state::{
    BodyState, CompliantContact, CompliantMemory, ContactKey, ContactMemory, EffortMemory, Impulse,
    JointMemory, Load, PairKey, State,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Bytes being written.
#[derive(Default)]
pub(super) struct Output {
    pub bytes: Vec<u8>,
}

/// Bytes being read.
pub(super) struct Input<'a> {
    pub bytes: &'a [u8],
    pub offset: usize,
    /// Family of the world being read, for its ids.
    pub family: Family,
}

impl Input<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let end = self
            .offset
            .checked_add(N)
            .filter(|&end| end <= self.bytes.len());
        let end = end.ok_or(SnapshotError::Corrupt {
            offset: self.offset,
        })?;
        let mut out = [0; N];
        out.copy_from_slice(&self.bytes[self.offset..end]);
        self.offset = end;
        Ok(out)
    }

    pub(super) fn corrupt<T>(&self) -> Result<T, SnapshotError> {
        Err(SnapshotError::Corrupt {
            offset: self.offset,
        })
    }
}

/// A type with a fixed encoding.
pub(super) trait Code: Sized {
    fn write(&self, out: &mut Output);
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError>;
}

macro_rules! code_number {
    ($($t:ty),*) => { $(
        impl Code for $t {
            fn write(&self, out: &mut Output) {
                out.bytes.extend(self.to_le_bytes());
            }
            fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
                Ok(Self::from_le_bytes(input.take()?))
            }
        }
    )* };
}
code_number!(u8, u32, u64, f64);

/// Encodes a struct as its fields in the order given; with `..` the others are encoded elsewhere.
macro_rules! code_struct {
    ($t:ident { $($f:ident),*, .. }) => {
        impl Code for $t {
            fn write(&self, out: &mut Output) {
                $( self.$f.write(out); )*
            }
            fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
                Ok(Self { $( $f: Code::read(input)?, )* ..Self::default() })
            }
        }
    };
    ($t:ident { $($f:ident),* }) => {
        impl Code for $t {
            fn write(&self, out: &mut Output) {
                $( self.$f.write(out); )*
            }
            fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
                Ok(Self { $( $f: Code::read(input)?, )* })
            }
        }
    };
}
code_struct!(Pose { position, rotation });
code_struct!(BodyState {
    position,
    rotation,
    velocity,
    angular_velocity
});
code_struct!(Load { force, torque });
code_struct!(PairKey {
    body_a,
    body_b,
    shape_a,
    shape_b
});
code_struct!(ContactKey { pair, feature });
code_struct!(Impulse {
    normal,
    tangential,
    angular
});
code_struct!(ContactMemory {
    key,
    first,
    second,
    sliding
});
code_struct!(JointMemory {
    first,
    second,
    bounded_first,
    bounded_second,
    angle,
    force
});
code_struct!(EffortMemory {
    slot,
    set,
    pause,
    failures
});
code_struct!(CompliantContact { key, speed });
code_struct!(CompliantMemory { step, contacts });
code_struct!(State {
    time,
    step_count,
    bodies,
    loads,
    substeps,
    substep,
    joints,
    contacts,
    efforts,
    touching,
    sensed,
    ..
});
code_struct!(Sleeping { speed, time });
/// Encodes an id without its family, which is that of the whole snapshot.
macro_rules! code_id {
    ($t:ident) => {
        impl Code for $t {
            fn write(&self, out: &mut Output) {
                self.index.write(out);
                self.generation.write(out);
            }
            fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
                Ok(Self {
                    index: Code::read(input)?,
                    generation: Code::read(input)?,
                    family: input.family,
                })
            }
        }
    };
}
code_id!(BodyId);
code_struct!(Spring {
    rest,
    stiffness,
    damping
});
code_struct!(Freedom {
    limits,
    motor,
    spring
});
code_struct!(JointDesc {
    name,
    kind,
    body_a,
    body_b,
    frame_a,
    frame_b,
    rotation,
    translation,
    break_force,
    break_torque,
    collide
});
code_struct!(Joint {
    desc,
    slot,
    a,
    b,
    local_a,
    local_b,
    mesh
});
code_id!(JointId);
code_struct!(Mesh {
    joints,
    carriers,
    locals,
    grounded
});
code_struct!(Surface {
    friction_static,
    friction_kinetic,
    friction_rolling,
    friction_spinning,
    restitution,
    impact_law,
    slip_speed,
    compliance
});
code_struct!(Pair {
    first,
    second,
    surface
});
code_struct!(Materials {
    names,
    surfaces,
    pairs
});
code_struct!(Filter { groups, mask });
code_struct!(ShapeDesc {
    shape,
    pose,
    material,
    filter,
    sensor
});
code_struct!(Body {
    name,
    kind,
    pose_start,
    shapes,
    drag,
    gravity_scale,
    mass,
    inverse_mass,
    center,
    axes,
    moments,
    inverse_moments,
    reach,
    asleep,
    user_data
});
code_struct!(Model {
    gravity,
    bodies,
    generations,
    free,
    materials,
    joints,
    joint_generations,
    joint_free,
    jointed,
    sleeping,
    ..
});
code_struct!(EnergyLedger {
    kinetic,
    potential,
    elastic,
    gravity,
    external,
    motors,
    prescribed,
    elastic_work,
    friction,
    restitution,
    drag,
    joint_friction,
    contact_damping,
    shock,
    numerical_damping,
    gained,
    hops,
    position_correction,
    unexplained
});

impl Code for Compliance {
    fn write(&self, out: &mut Output) {
        match *self {
            Self::Rigid => 0_u8.write(out),
            Self::Power {
                stiffness,
                exponent,
            } => {
                1_u8.write(out);
                stiffness.write(out);
                exponent.write(out);
            }
            Self::Hertz { modulus } => {
                2_u8.write(out);
                modulus.write(out);
            }
        }
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        Ok(match u8::read(input)? {
            0 => Self::Rigid,
            1 => Self::Power {
                stiffness: Code::read(input)?,
                exponent: Code::read(input)?,
            },
            2 => Self::Hertz {
                modulus: Code::read(input)?,
            },
            _ => return input.corrupt(),
        })
    }
}

impl Code for bool {
    fn write(&self, out: &mut Output) {
        u8::from(*self).write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        match u8::read(input)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => input.corrupt(),
        }
    }
}

impl<const N: usize> Code for [f64; N] {
    fn write(&self, out: &mut Output) {
        self.iter().for_each(|x| x.write(out));
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        let mut out = [0.0; N];
        for x in &mut out {
            *x = f64::read(input)?;
        }
        Ok(out)
    }
}

impl<A: Code, B: Code> Code for (A, B) {
    fn write(&self, out: &mut Output) {
        self.0.write(out);
        self.1.write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        Ok((A::read(input)?, B::read(input)?))
    }
}

impl Code for Vec3 {
    fn write(&self, out: &mut Output) {
        self.to_array().iter().for_each(|x| x.write(out));
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        Ok(Self::new(
            f64::read(input)?,
            f64::read(input)?,
            f64::read(input)?,
        ))
    }
}

impl Code for Quat {
    fn write(&self, out: &mut Output) {
        [self.w, self.x, self.y, self.z]
            .iter()
            .for_each(|x| x.write(out));
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        let w = f64::read(input)?;
        Ok(Self::from_xyzw(
            f64::read(input)?,
            f64::read(input)?,
            f64::read(input)?,
            w,
        ))
    }
}

impl Code for MaterialId {
    fn write(&self, out: &mut Output) {
        self.0.write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        Ok(Self(u32::read(input)?))
    }
}

impl Code for String {
    fn write(&self, out: &mut Output) {
        self.as_bytes().to_vec().write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        Self::from_utf8(Vec::read(input)?).or_else(|_| input.corrupt())
    }
}

impl<T: Code> Code for Vec<T> {
    fn write(&self, out: &mut Output) {
        (self.len() as u64).write(out);
        self.iter().for_each(|x| x.write(out));
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        let length = u64::read(input)?;
        // Every entry takes at least one byte: a longer list than there are bytes is damage, not a reason to allocate.
        if length > (input.bytes.len() - input.offset) as u64 {
            return input.corrupt();
        }
        (0..length).map(|_| T::read(input)).collect()
    }
}

impl Code for BTreeSet<u32> {
    fn write(&self, out: &mut Output) {
        self.iter().copied().collect::<Vec<u32>>().write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        Ok(Vec::read(input)?.into_iter().collect())
    }
}

impl<T: Code> Code for Option<T> {
    fn write(&self, out: &mut Output) {
        self.is_some().write(out);
        if let Some(x) = self {
            x.write(out);
        }
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        Ok(if bool::read(input)? {
            Some(T::read(input)?)
        } else {
            None
        })
    }
}

/// Two of a kind.
macro_rules! code_pair {
    ($($t:ty),*) => { $(
        impl Code for [$t; 2] {
            fn write(&self, out: &mut Output) {
                self.iter().for_each(|x| x.write(out));
            }
            fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
                Ok([<$t>::read(input)?, <$t>::read(input)?])
            }
        }
    )* };
}
code_pair!(u32, Option<u32>, Pose);

impl Code for [u32; 3] {
    fn write(&self, out: &mut Output) {
        self.iter().for_each(|x| x.write(out));
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        Ok([u32::read(input)?, u32::read(input)?, u32::read(input)?])
    }
}

impl Code for Arc<ConvexHull> {
    fn write(&self, out: &mut Output) {
        self.vertices().to_vec().write(out);
        self.triangles().to_vec().write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        let (vertices, triangles) = (Code::read(input)?, Code::read(input)?);
        match ConvexHull::from_surface(vertices, triangles) {
            Ok(hull) => Ok(Self::new(hull)),
            Err(_) => input.corrupt(),
        }
    }
}

impl Code for Arc<Rounded> {
    fn write(&self, out: &mut Output) {
        self.core().write(out);
        self.radius().write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        // Only these have a core of their own kind: anything else would nest without end.
        let core = match input.bytes.get(input.offset) {
            Some(1 | 4 | 6) => Shape::read(input)?,
            _ => return input.corrupt(),
        };
        match Rounded::new(core, f64::read(input)?) {
            Ok(rounded) => Ok(Self::new(rounded)),
            Err(_) => input.corrupt(),
        }
    }
}

impl Code for Vec2 {
    fn write(&self, out: &mut Output) {
        self.x.write(out);
        self.y.write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        Ok(Self::new(Code::read(input)?, Code::read(input)?))
    }
}

impl Code for ProfilePath {
    fn write(&self, out: &mut Output) {
        self.start.write(out);
        self.edges.write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        Ok(Self {
            start: Code::read(input)?,
            edges: Code::read(input)?,
        })
    }
}

impl Code for Arc<Profile> {
    fn write(&self, out: &mut Output) {
        self.paths().to_vec().write(out);
        self.thickness().write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        let (paths, thickness): (Vec<ProfilePath>, f64) = (Code::read(input)?, Code::read(input)?);
        match Profile::new(&paths, thickness) {
            Ok(profile) => Ok(Self::new(profile)),
            Err(_) => input.corrupt(),
        }
    }
}

impl Code for Arc<TriangleMesh> {
    fn write(&self, out: &mut Output) {
        self.vertices().to_vec().write(out);
        self.triangles().to_vec().write(out);
    }
    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        let (vertices, triangles): (Vec<Vec3>, Vec<[u32; 3]>) =
            (Code::read(input)?, Code::read(input)?);
        match TriangleMesh::new(&vertices, &triangles) {
            Ok(mesh) => Ok(Self::new(mesh)),
            Err(_) => input.corrupt(),
        }
    }
}

/// Encodes an enum as a byte and the fields of the variant.
macro_rules! code_enum {
    ($t:ident { $($tag:literal => $variant:ident $({ $($f:ident),* })? $(($x:ident))?),* $(,)? }) => {
        impl Code for $t {
            fn write(&self, out: &mut Output) {
                match self { $(
                    Self::$variant $({ $($f),* })? $(($x))? => {
                        let tag: u8 = $tag;
                        tag.write(out);
                        $( $($f.write(out);)* )?
                        $( $x.write(out); )?
                    }
                )* }
            }
            fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
                match u8::read(input)? {
                    $( $tag => {
                        $( $(let $f = Code::read(input)?;)* )?
                        $( let $x = Code::read(input)?; )?
                        Ok(Self::$variant $({ $($f),* })? $(($x))?)
                    } )*
                    _ => input.corrupt(),
                }
            }
        }
    };
}
code_enum!(ImpactLaw { 0 => Stronge, 1 => Poisson, 2 => Newton });
code_enum!(Shape {
    0 => Sphere { radius },
    1 => Cuboid { half },
    2 => Capsule { half_length, radius },
    3 => HalfSpace { normal },
    4 => Cylinder { half_length, radius },
    5 => Cone { half_length, radius },
    6 => Hull(hull),
    7 => Mesh(mesh),
    8 => Rounded(rounded),
    9 => Profile(profile),
});
code_enum!(ProfileEdge { 0 => Line { to }, 1 => Arc { through, to } });
code_enum!(Motion {
    0 => Constant { velocity, angular_velocity },
    1 => Sine { amplitude, rotation_amplitude, frequency, phase },
    2 => Table { times, poses },
    3 => Steered { since, velocity, angular_velocity },
});
code_enum!(BodyKind { 0 => Fixed, 1 => Kinematic(motion), 2 => Dynamic, 3 => Link { articulation, link } });
code_enum!(Drag {
    0 => Stokes { radius, viscosity },
    1 => Quadratic { coefficient, area, density },
    2 => Automatic { radius, coefficient, viscosity, density },
});
code_enum!(JointKind {
    0 => Ball,
    1 => Hinge,
    2 => Slider,
    3 => Fixed,
    4 => Cylindrical,
    5 => Universal,
    6 => Distance { min, max },
    7 => Turn,
    8 => Slide,
    9 => Swing,
    10 => Twist,
    11 => PointOnLine,
    12 => PointOnPlane,
    13 => Parallel,
    14 => Perpendicular,
    15 => Angle { angle },
    16 => LineOnLine,
    17 => Planar,
    18 => SphereOnPlane { radius },
    19 => CylinderOnPlane { radius },
    20 => Orientation,
    21 => Screw { pitch },
    22 => Gear { first, second, ratio, phase },
    23 => Rack { first, second, radius, phase },
});
code_enum!(Motor {
    0 => Velocity { target, max_force },
    1 => Position { target, time, max_force },
    2 => Servo { position, velocity, kp, kd, max_force },
});

// For the encodings that have files of their own.
pub(super) use {code_enum, code_struct};
