//! Joint rows alone: Jacobians against differences of the residuals, ranks, and the motions each kind leaves free.

use crate::support;

use std::f64::consts::FRAC_PI_2;
use support::{below, near};
use tippe::dynamics::joint::{JointPlace, JointRow, rotation_vector};
use tippe::math::rotation;
use tippe::{JointKind, Pose, Quat, Vec3};

/// Every kind, the distance joint as a rod of the given length [m].
const fn kinds(length: f64) -> [JointKind; 18] {
    [
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Slider,
        JointKind::Fixed,
        JointKind::Cylindrical,
        JointKind::Universal,
        JointKind::Distance {
            min: length,
            max: length,
        },
        JointKind::PointOnLine,
        JointKind::PointOnPlane,
        JointKind::Parallel,
        JointKind::Perpendicular,
        JointKind::Angle { angle: 0.8 },
        JointKind::LineOnLine,
        JointKind::Planar,
        JointKind::SphereOnPlane { radius: 0.3 },
        JointKind::CylinderOnPlane { radius: -0.4 },
        JointKind::Orientation,
        JointKind::Screw { pitch: 0.25 },
    ]
}

/// Half the width of the differences.
const EPS: f64 = 1e-5;
/// Their error: EPS² times a sixth of the third derivative (for points that pass each other at 4 m/s at 0.7 m: up to 4³ · 3 / 0.7² / 6 ≈ 65),
/// and rounding, 1e-16 / EPS.
const DIFFERENCE: f64 = 1e-8;

/// Numbers between −1 and 1 from a fixed seed.
struct Draw(u64);

impl Draw {
    fn number(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number())
    }

    fn pose(&mut self) -> Pose {
        Pose::new(self.vector(), rotation::exp(self.vector() * 2.0))
    }

    fn twist(&mut self) -> Twist {
        Twist {
            v: self.vector(),
            w: self.vector(),
        }
    }
}

/// Velocity of a centre of mass and angular velocity.
#[derive(Clone, Copy, Debug)]
struct Twist {
    v: Vec3,
    w: Vec3,
}

const REST: Twist = Twist {
    v: Vec3::ZERO,
    w: Vec3::ZERO,
};

/// Two bodies (poses of their centres of mass) with a joint frame on each.
#[derive(Clone, Copy, Debug)]
struct Pair {
    a: Pose,
    b: Pose,
    local_a: Pose,
    local_b: Pose,
    winding: f64,
}

impl Pair {
    /// Bodies anywhere, joint frames anywhere.
    fn anywhere(draw: &mut Draw) -> Self {
        Self {
            a: draw.pose(),
            b: draw.pose(),
            local_a: draw.pose(),
            local_b: draw.pose(),
            winding: 0.0,
        }
    }

    /// Bodies anywhere whose joint frames differ by `offset`, seen from the frame on A.
    fn joined(draw: &mut Draw, offset: Pose) -> Self {
        let mut pair = Self::anywhere(draw);
        let frame = pair.a.compose(&pair.local_a).compose(&offset);
        pair.local_b = pair.b.inverse().compose(&frame);
        // Full turns that the displacement of a screw of pitch 0.25 tells.
        pair.winding = std::f64::consts::TAU * offset.position.z / 0.25;
        pair
    }

    fn place(&self) -> JointPlace {
        JointPlace {
            a: self.a.compose(&self.local_a),
            b: self.b.compose(&self.local_b),
            center_a: self.a.position,
            center_b: self.b.position,
            winding: self.winding,
            coupled: None,
        }
    }

    /// The place after both bodies moved with their velocities for the time `t`.
    fn moved(&self, a: Twist, b: Twist, t: f64) -> JointPlace {
        let go = |pose: &Pose, x: Twist| {
            Pose::new(
                pose.position + x.v * t,
                rotation::exp(x.w * t) * pose.rotation,
            )
        };
        Self {
            a: go(&self.a, a),
            b: go(&self.b, b),
            ..*self
        }
        .place()
    }
}

fn velocity(row: &JointRow, a: Twist, b: Twist) -> f64 {
    row.e.dot(b.v - a.v) + row.ang_a.dot(a.w) + row.ang_b.dot(b.w)
}

/// Largest difference between the rows and the differences of the residuals, over random motions.
fn jacobian_error(pair: &Pair, kind: JointKind, draw: &mut Draw) -> f64 {
    let held = pair.place().held(kind);
    let mut worst: f64 = 0.0;
    for _ in 0..20 {
        let (a, b) = (draw.twist(), draw.twist());
        let (after, before) = (
            pair.moved(a, b, EPS).held(kind),
            pair.moved(a, b, -EPS).held(kind),
        );
        for i in 0..held.count {
            let slope = (after.residuals[i] - before.residuals[i]) / (2.0 * EPS);
            worst = worst.max((slope - velocity(&held.rows[i], a, b)).abs());
        }
    }
    worst
}

/// The same for a row and value of a free motion.
fn freedom_error(pair: &Pair, draw: &mut Draw, of: impl Fn(&JointPlace) -> (JointRow, f64)) -> f64 {
    let (row, _) = of(&pair.place());
    let mut worst: f64 = 0.0;
    for _ in 0..20 {
        let (a, b) = (draw.twist(), draw.twist());
        let (after, before) = (of(&pair.moved(a, b, EPS)).1, of(&pair.moved(a, b, -EPS)).1);
        let slope = (after - before) / (2.0 * EPS);
        worst = worst.max((slope - velocity(&row, a, b)).abs());
    }
    worst
}

/// How many of the vectors are independent: Gaussian elimination with full pivoting.
fn rank<const N: usize>(mut rows: Vec<[f64; N]>) -> usize {
    for done in 0..rows.len() {
        let mut pivot = (done, 0, 0.0);
        for (i, row) in rows.iter().enumerate().skip(done) {
            for (j, x) in row.iter().enumerate() {
                if x.abs() > pivot.2 {
                    pivot = (i, j, x.abs());
                }
            }
        }
        if pivot.2 < 1e-9 {
            return done;
        }
        rows.swap(done, pivot.0);
        let top = rows[done];
        for row in rows.iter_mut().skip(done + 1) {
            let factor = row[pivot.1] / top[pivot.1];
            for (x, t) in row.iter_mut().zip(top) {
                *x -= factor * t;
            }
        }
    }
    rows.len()
}

fn both_sides(row: &JointRow) -> [f64; 12] {
    let parts = [-row.e, row.ang_a, row.e, row.ang_b].map(|v| v.to_array());
    std::array::from_fn(|i| parts[i / 3][i % 3])
}

fn flat(v: Vec3, w: Vec3) -> [f64; 6] {
    [v.x, v.y, v.z, w.x, w.y, w.z]
}

/// Where the joint of this kind holds: how its two frames may then differ.
fn assembled(kind: JointKind, draw: &mut Draw) -> Pose {
    let (angle, slide) = (2.0 * draw.number(), draw.number());
    let about_z = rotation::exp(Vec3::Z * angle);
    let along_z = Vec3::Z * slide;
    let in_plane = Vec3::new(draw.number(), draw.number(), 0.0);
    let tilted = |angle: f64| rotation::exp(Vec3::X * angle);
    // Either sense of the axis.
    let either = if slide > 0.0 {
        Quat::IDENTITY
    } else {
        tilted(std::f64::consts::PI)
    };
    match kind {
        JointKind::Ball => Pose::new(Vec3::ZERO, rotation::exp(draw.vector())),
        JointKind::Hinge => Pose::new(Vec3::ZERO, about_z),
        JointKind::Slider => Pose::from_position(along_z),
        JointKind::Fixed => Pose::IDENTITY,
        JointKind::Cylindrical => Pose::new(along_z, about_z),
        JointKind::Universal => {
            let across = rotation::exp(Vec3::X * FRAC_PI_2);
            Pose::new(
                Vec3::ZERO,
                about_z * across * rotation::exp(Vec3::Z * slide),
            )
        }
        JointKind::Distance { min, .. } => {
            let rotation = rotation::exp(draw.vector());
            Pose::new(rotation * Vec3::X * min, rotation)
        }
        JointKind::Turn | JointKind::Slide | JointKind::Swing | JointKind::Twist => {
            Pose::new(draw.vector(), rotation::exp(draw.vector()))
        }
        JointKind::PointOnLine => Pose::new(along_z, rotation::exp(draw.vector())),
        JointKind::PointOnPlane => Pose::new(in_plane, rotation::exp(draw.vector())),
        JointKind::Parallel => Pose::new(draw.vector(), either * about_z),
        JointKind::Perpendicular => Pose::new(draw.vector(), about_z * tilted(FRAC_PI_2) * about_z),
        JointKind::Angle { angle } => Pose::new(draw.vector(), about_z * tilted(angle) * about_z),
        JointKind::LineOnLine => Pose::new(along_z, either * about_z),
        JointKind::Planar => Pose::new(in_plane, either * about_z),
        JointKind::SphereOnPlane { radius } => {
            Pose::new(in_plane + Vec3::Z * radius, rotation::exp(draw.vector()))
        }
        JointKind::CylinderOnPlane { radius } => Pose::new(
            in_plane + Vec3::Z * radius,
            about_z * tilted(FRAC_PI_2) * rotation::exp(Vec3::Z * slide),
        ),
        JointKind::Orientation => Pose::from_position(draw.vector()),
        JointKind::Screw { pitch } => {
            let turn = std::f64::consts::TAU * slide / pitch;
            Pose::new(along_z, rotation::exp(Vec3::Z * turn))
        }
        JointKind::Gear { .. } | JointKind::Rack { .. } => unreachable!("see couplings.rs"),
    }
}

/// A small turn of the frame on B beside its assembled pose [rad].
const TILT: f64 = 1e-3;

#[test]
fn held_rows_are_the_slopes_of_their_residuals() {
    let mut draw = Draw(1);
    for kind in kinds(0.7) {
        for _ in 0..20 {
            let offset = assembled(kind, &mut draw);
            let pair = Pair::joined(&mut draw, offset);
            let held = pair.place().held(kind);
            for i in 0..held.count {
                let what = format!("{kind:?}, residual {i} where the joint holds");
                below(&what, held.residuals[i].abs(), 1e-14);
            }
            let what = format!("{kind:?}, Jacobian where the joint holds");
            below(&what, jacobian_error(&pair, kind, &mut draw), DIFFERENCE);
        }
    }
}

#[test]
fn point_rows_are_exact_anywhere_and_axis_rows_to_first_order_in_the_tilt() {
    let mut draw = Draw(2);
    for _ in 0..20 {
        let pair = Pair::anywhere(&mut draw);
        let exact = [0, 5, 6].into_iter().chain(7..16);
        for kind in exact.map(|i| kinds(0.7)[i]) {
            let what = format!("{kind:?}, Jacobian at a random pose");
            // The third derivative of a distance grows with 1/distance².
            let near = pair.place().distance().1.min(1.0);
            let allowed = DIFFERENCE * (1.0 + 1.0 / (near * near));
            below(&what, jacobian_error(&pair, kind, &mut draw), allowed);
        }
        for kind in kinds(0.7) {
            let mut offset = assembled(kind, &mut draw);
            offset.position += draw.vector();
            offset.rotation = rotation::exp(draw.vector() * TILT) * offset.rotation;
            let pair = Pair::joined(&mut draw, offset);
            let what = format!("{kind:?}, Jacobian at a tilt of {TILT}");
            // The rows turn with the tilt (at most √3 · TILT); speeds of the motions are at most 2√3 each.
            let allowed = 20.0 * TILT;
            below(&what, jacobian_error(&pair, kind, &mut draw), allowed);
        }
    }
}

#[test]
fn rows_of_free_motions_are_the_slopes_of_angle_slide_and_distance() {
    let mut draw = Draw(3);
    for _ in 0..20 {
        let offset = assembled(JointKind::Cylindrical, &mut draw);
        let aligned = Pair::joined(&mut draw, offset);
        let error = freedom_error(&aligned, &mut draw, JointPlace::angle);
        below("angle, axes aligned", error, DIFFERENCE);
        let turn = 2.0 * libm::atan2(offset.rotation.z, offset.rotation.w);
        near("angle", aligned.place().angle().1, turn, 1e-14);
        near("slide", aligned.place().slide().1, offset.position.z, 1e-14);

        let apart = Pair::joined(
            &mut draw,
            Pose::new(Vec3::new(0.3, -0.4, 1.2), Quat::IDENTITY),
        );
        near("distance", apart.place().distance().1, 1.3, 1e-14);
        let error = freedom_error(&apart, &mut draw, JointPlace::distance);
        below("distance", error, DIFFERENCE);

        let anywhere = Pair::anywhere(&mut draw);
        let error = freedom_error(&anywhere, &mut draw, JointPlace::slide);
        below("slide, anywhere", error, DIFFERENCE);
    }
}

#[test]
fn coinciding_points_have_a_distance_row_without_nan() {
    let pair = Pair::joined(&mut Draw(4), Pose::IDENTITY);
    let mut place = pair.place();
    place.b.position = place.a.position;
    let (row, distance) = place.distance();
    near("distance", distance, 0.0, 0.0);
    near("direction", row.e.length(), 1.0, 1e-15);
    assert!(row.ang_a.is_finite() && row.ang_b.is_finite());
}

#[test]
fn sr_18_rows_of_every_kind_have_the_rank_of_the_table() {
    let table = [3, 5, 5, 6, 4, 4, 1, 2, 1, 2, 1, 1, 4, 3, 1, 2, 3, 5];
    let mut draw = Draw(5);
    for (kind, wanted) in kinds(0.7).into_iter().zip(table) {
        assert_eq!(kind.rank(), wanted, "{kind:?}: what the kind says");
        for _ in 0..20 {
            let offset = assembled(kind, &mut draw);
            let held = Pair::joined(&mut draw, offset).place().held(kind);
            let rows = &held.rows[..held.count];
            assert_eq!(held.count, wanted, "{kind:?}: how many rows");
            let pair_rank = rank(rows.iter().map(both_sides).collect());
            assert_eq!(pair_rank, wanted, "{kind:?}: rank over both bodies");
            let alone = rank(rows.iter().map(|r| flat(r.e, r.ang_b)).collect());
            assert_eq!(alone, wanted, "{kind:?}: rank over B alone, A held");
        }
    }
}

/// The motions of B that the table lists as free, with A at rest.
fn free_motions(kind: JointKind, place: &JointPlace) -> Vec<Twist> {
    let turn = |axis: Vec3| Twist {
        v: axis.cross(place.center_b - place.b.position),
        w: axis,
    };
    let shift = |v: Vec3| Twist { v, w: Vec3::ZERO };
    let all = [Vec3::X, Vec3::Y, Vec3::Z];
    let (z_a, z_b) = (place.a.vector(Vec3::Z), place.b.vector(Vec3::Z));
    let (x_a, y_a) = (place.a.vector(Vec3::X), place.a.vector(Vec3::Y));
    match kind {
        JointKind::Ball => all.map(turn).to_vec(),
        JointKind::Hinge => vec![turn(z_b)],
        JointKind::Slider => vec![shift(z_b)],
        JointKind::Fixed => Vec::new(),
        JointKind::Cylindrical => vec![turn(z_b), shift(z_b)],
        JointKind::Universal => vec![turn(z_a), turn(z_b)],
        JointKind::Distance { .. } => {
            let (t1, t2) = tippe::math::tangents(place.distance().0.e);
            let mut free = all.map(turn).to_vec();
            free.extend([shift(t1), shift(t2)]);
            free
        }
        JointKind::Turn | JointKind::Slide | JointKind::Swing | JointKind::Twist => {
            let mut free = all.map(turn).to_vec();
            free.extend(all.map(shift));
            free
        }
        JointKind::PointOnLine => [all.map(turn).to_vec(), vec![shift(z_a)]].concat(),
        JointKind::PointOnPlane | JointKind::SphereOnPlane { .. } => {
            [all.map(turn).to_vec(), vec![shift(x_a), shift(y_a)]].concat()
        }
        JointKind::Parallel => [vec![turn(z_b)], all.map(shift).to_vec()].concat(),
        JointKind::Perpendicular | JointKind::Angle { .. } => {
            [vec![turn(z_a), turn(z_b)], all.map(shift).to_vec()].concat()
        }
        JointKind::LineOnLine => vec![turn(z_b), shift(z_b)],
        JointKind::Planar => vec![turn(z_b), shift(x_a), shift(y_a)],
        JointKind::CylinderOnPlane { .. } => vec![turn(z_a), turn(z_b), shift(x_a), shift(y_a)],
        JointKind::Orientation => all.map(shift).to_vec(),
        JointKind::Screw { pitch } => {
            let rise = pitch / std::f64::consts::TAU;
            let Twist { v, w } = turn(z_b);
            vec![Twist {
                v: v + z_b * rise,
                w,
            }]
        }
        JointKind::Gear { .. } | JointKind::Rack { .. } => unreachable!("see couplings.rs"),
    }
}

#[test]
fn sr_18_rows_leave_free_what_the_table_lists_and_nothing_else() {
    let mut draw = Draw(6);
    for kind in kinds(0.7) {
        for _ in 0..20 {
            let offset = assembled(kind, &mut draw);
            let place = Pair::joined(&mut draw, offset).place();
            let held = place.held(kind);
            let free = free_motions(kind, &place);
            for motion in &free {
                for row in &held.rows[..held.count] {
                    let what = format!("{kind:?}: {motion:?} is free");
                    below(&what, velocity(row, REST, *motion).abs(), 1e-14);
                }
            }
            let count = rank(free.iter().map(|m| flat(m.v, m.w)).collect());
            assert_eq!(count, free.len(), "{kind:?}: free motions differ");
            assert_eq!(count + kind.rank(), 6, "{kind:?}: held or free");
        }
    }
}

#[test]
fn rows_feel_no_common_motion_of_the_two_bodies() {
    let mut draw = Draw(7);
    for kind in kinds(0.7) {
        let offset = assembled(kind, &mut draw);
        let place = Pair::joined(&mut draw, offset).place();
        let held = place.held(kind);
        let Twist { v, w } = draw.twist();
        let at = |center: Vec3| Twist {
            v: v + w.cross(center),
            w,
        };
        for row in &held.rows[..held.count] {
            let u = velocity(row, at(place.center_a), at(place.center_b));
            below(&format!("{kind:?}: common motion"), u.abs(), 1e-14);
        }
    }
}

#[test]
fn rotation_vectors_undo_the_exponential() {
    let mut draw = Draw(8);
    for _ in 0..100 {
        let turn = draw.vector() * 1.7;
        let q = rotation::exp(turn);
        below("turn", (rotation_vector(q) - turn).length(), 1e-14);
        below("−q", (rotation_vector(-q) - turn).length(), 1e-14);
    }
    assert_eq!(rotation_vector(Quat::IDENTITY), Vec3::ZERO);
}
