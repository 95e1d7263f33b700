//! Joint rows: residual and Jacobian of every joint at given poses. Shared by all methods.
//!
//! Reads: joints, body poses.  Writes: nothing (pure functions).
//! Called by: the methods' row phases, reports.
//! Couplings are in `coupling`, mates that are no mechanical joint in `mate`.
//! Source: [Ermolin] §4, as the table in docs/methods/two-stage.md, "Joints". Letters: Δ = x_B − x_A between the two
//! origins, r levers from the centres of mass, axes of the joint frame on B.

use crate::dynamics::coupling::Coupled;
use crate::joint::JointKind;
use crate::math::{Pose, Quat, Vec3};

/// 1 + cosine of the swing below which axes count as opposite, so that there is no twist [1].
pub(crate) const OPPOSITE: f64 = 1e-6;

/// One row: `velocity = e · (v_B − v_A) + ang_a · ω_A + ang_b · ω_B`; an impulse λ pushes B along +e and A along −e.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointRow {
    /// Direction of the linear part.
    pub e: Vec3,
    /// Angular part on A.
    pub ang_a: Vec3,
    /// Angular part on B.
    pub ang_b: Vec3,
}

impl JointRow {
    pub(crate) fn angular(e: Vec3) -> Self {
        Self {
            e: Vec3::ZERO,
            ang_a: -e,
            ang_b: e,
        }
    }
}

/// Where the two sides of a joint are.
#[derive(Clone, Copy, Debug)]
pub struct JointPlace {
    /// World pose of the joint frame on A.
    pub a: Pose,
    /// World pose of the joint frame on B.
    pub b: Pose,
    /// Centre of mass of A, world; anything if A is the world.
    pub center_a: Vec3,
    /// Centre of mass of B, world.
    pub center_b: Vec3,
    /// Angle about z from which full turns are counted [rad]; for kinds whose rows count them.
    pub winding: f64,
    /// The carriers of a coupling.
    pub coupled: Option<Coupled>,
}

/// Rows that must hold, and their residuals [m] or [rad].
#[derive(Clone, Copy, Debug, Default)]
pub struct JointRows {
    /// How many rows there are.
    pub count: usize,
    /// Jacobians.
    pub rows: [JointRow; 6],
    /// Residuals, zero where the joint holds.
    pub residuals: [f64; 6],
}

impl JointRows {
    pub(crate) fn push(&mut self, row: JointRow, residual: f64) {
        self.rows[self.count] = row;
        self.residuals[self.count] = residual;
        self.count += 1;
    }
}

impl JointPlace {
    pub(crate) fn delta(&self) -> Vec3 {
        self.b.position - self.a.position
    }

    pub(crate) fn axis_a(&self) -> Vec3 {
        self.a.vector(Vec3::Z)
    }

    pub(crate) fn axis_b(&self) -> Vec3 {
        self.b.vector(Vec3::Z)
    }

    /// Row of `Δ · e` for a direction fixed in the world.
    pub(crate) fn point(&self, e: Vec3) -> JointRow {
        let (r_a, r_b) = (
            self.a.position - self.center_a,
            self.b.position - self.center_b,
        );
        JointRow {
            e,
            ang_a: -r_a.cross(e),
            ang_b: r_b.cross(e),
        }
    }

    /// Row of `Δ · e` for a direction fixed in B: the lever of B ends at the point of A.
    pub(crate) fn point_in_b(&self, e: Vec3) -> JointRow {
        let (r_a, r_b) = (
            self.a.position - self.center_a,
            self.a.position - self.center_b,
        );
        JointRow {
            e,
            ang_a: -r_a.cross(e),
            ang_b: r_b.cross(e),
        }
    }

    /// The place with the frame on A moved by `shift`, given in that frame.
    pub(crate) fn shifted(&self, shift: &Pose) -> Self {
        Self {
            a: self.a.compose(shift),
            ..*self
        }
    }

    /// The shift of the frame on A after which what should coincide does, for the kinds whose rows are exact only there or act at two points
    /// otherwise; none for the others.
    pub(crate) fn misfit(&self, kind: JointKind) -> Pose {
        let (mut position, mut rotation) = (self.a.position, self.a.rotation);
        if matches!(
            kind,
            JointKind::Ball | JointKind::Hinge | JointKind::Fixed | JointKind::Universal
        ) {
            position = self.b.position;
        }
        if matches!(
            kind,
            JointKind::Hinge
                | JointKind::Slider
                | JointKind::Fixed
                | JointKind::Cylindrical
                | JointKind::Orientation
        ) {
            rotation = self.b.rotation;
        }
        self.a.inverse().compose(&Pose::new(position, rotation))
    }

    /// Everything that must hold for the kind.
    #[must_use]
    pub fn held(&self, kind: JointKind) -> JointRows {
        let mut held = JointRows::default();
        match kind {
            JointKind::Ball => self.coincide(&mut held),
            JointKind::Hinge => {
                self.coincide(&mut held);
                self.parallel(&mut held);
            }
            JointKind::Slider => {
                self.on_line(&mut held);
                self.oriented(&mut held);
            }
            JointKind::Fixed => {
                self.coincide(&mut held);
                self.oriented(&mut held);
            }
            JointKind::Cylindrical => {
                self.on_line(&mut held);
                self.parallel(&mut held);
            }
            JointKind::Universal => {
                self.coincide(&mut held);
                // z_A · z_B = 0, Jacobian (0, w, 0, −w) with w = z_A × z_B.
                let w = self.axis_a().cross(self.axis_b());
                held.push(JointRow::angular(-w), self.axis_a().dot(self.axis_b()));
            }
            JointKind::Screw { pitch } => {
                self.on_line(&mut held);
                self.parallel(&mut held);
                self.screw(pitch, &mut held);
            }
            JointKind::Gear { ratio, phase, .. } => self.gear(ratio, phase, &mut held),
            JointKind::Rack { radius, phase, .. } => self.rack(radius, phase, &mut held),
            JointKind::Turn | JointKind::Slide | JointKind::Swing | JointKind::Twist => {}
            JointKind::Distance { min, max } => {
                if min == max {
                    let (row, distance) = self.distance();
                    held.push(row, distance - min);
                }
            }
            mate => self.mate(mate, &mut held),
        }
        held
    }

    pub(crate) fn coincide(&self, held: &mut JointRows) {
        let delta = self.delta();
        for e in [Vec3::X, Vec3::Y, Vec3::Z] {
            held.push(self.point(e), delta.dot(e));
        }
    }

    pub(crate) fn on_line(&self, held: &mut JointRows) {
        let delta = self.delta();
        for e in [self.b.vector(Vec3::X), self.b.vector(Vec3::Y)] {
            held.push(self.point_in_b(e), delta.dot(e));
        }
    }

    /// `t · (z_A × z_B) = 0` for two directions across the axis. Jacobian exact where the axes coincide.
    fn parallel(&self, held: &mut JointRows) {
        let tilt = self.axis_a().cross(self.axis_b());
        for t in [self.b.vector(Vec3::X), self.b.vector(Vec3::Y)] {
            held.push(JointRow::angular(t), tilt.dot(t));
        }
    }

    /// Rotation vector of `R_B R_Aᵀ`. Jacobian exact where the frames coincide.
    pub(crate) fn oriented(&self, held: &mut JointRows) {
        let turn = rotation_vector(self.b.rotation * self.a.rotation.conjugate());
        for e in [Vec3::X, Vec3::Y, Vec3::Z] {
            held.push(JointRow::angular(e), turn.dot(e));
        }
    }

    /// Row and value of the distance of the origins; along an arbitrary fixed axis where they coincide.
    #[must_use]
    pub fn distance(&self) -> (JointRow, f64) {
        let delta = self.delta();
        let distance = delta.length();
        let e = if distance > 0.0 {
            delta / distance
        } else {
            Vec3::Z
        };
        (self.point(e), distance)
    }

    /// Row and angle of the rotation of B about z relative to A [rad], between −π and π.
    #[must_use]
    pub fn angle(&self) -> (JointRow, f64) {
        let z = self.axis_b();
        let (x_a, x_b) = (self.a.vector(Vec3::X), self.b.vector(Vec3::X));
        (
            JointRow::angular(z),
            libm::atan2(z.dot(x_a.cross(x_b)), x_a.dot(x_b)),
        )
    }

    /// Row and value of the rotation that a kind leaves free [rad].
    #[must_use]
    pub fn turn(&self, kind: JointKind) -> (JointRow, f64) {
        match kind {
            JointKind::Swing => self.swing(),
            JointKind::Twist => self.twist(),
            _ => self.angle(),
        }
    }

    /// Row and angle between the z axes, from 0 to π [rad]; about an arbitrary axis across where they are parallel.
    #[must_use]
    pub fn swing(&self) -> (JointRow, f64) {
        let (z_a, z_b) = (self.axis_a(), self.axis_b());
        let across = z_a.cross(z_b);
        let sine = across.length();
        let e = if sine > 0.0 {
            across / sine
        } else {
            self.b.vector(Vec3::X)
        };
        (JointRow::angular(e), libm::atan2(sine, z_a.dot(z_b)))
    }

    /// Row and angle of the turn about z that is left of the rotation of B relative to A without its swing, between −π and π [rad]. Its
    /// rate is ω · (z_A + z_B)/(1 + z_A · z_B); where the axes are opposite there is none.
    #[must_use]
    pub fn twist(&self) -> (JointRow, f64) {
        let q = self.a.rotation.conjugate() * self.b.rotation;
        let q = if q.w < 0.0 { -q } else { q };
        let (z_a, z_b) = (self.axis_a(), self.axis_b());
        let common = 1.0 + z_a.dot(z_b);
        let e = if common > OPPOSITE {
            (z_a + z_b) / common
        } else {
            Vec3::ZERO
        };
        (JointRow::angular(e), 2.0 * libm::atan2(q.z, q.w))
    }

    /// Row and displacement of B along z relative to A [m].
    #[must_use]
    pub fn slide(&self) -> (JointRow, f64) {
        let z = self.axis_b();
        (self.point_in_b(z), self.delta().dot(z))
    }
}

/// The angle nearest to `before` among those that differ by full turns.
#[must_use]
pub fn unwrapped(angle: f64, before: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    angle + turn * ((before - angle) / turn).round()
}

/// The rotation vector of a unit quaternion, the short way round [rad].
#[must_use]
pub fn rotation_vector(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = Vec3::new(q.x, q.y, q.z);
    let s = v.length();
    if s == 0.0 {
        Vec3::ZERO
    } else {
        v * (2.0 * libm::atan2(s, q.w) / s)
    }
}
