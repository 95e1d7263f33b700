//! Collision matrices of links: how an impulse at a contact changes the velocity there, and at every other contact.
//!
//! Reads: `Model`, `Work` (poses, factors).  Writes: `Work` (drives).
//! Called by: users; the contact side of the methods to come.
//! Source: [MirtichThesis96] ch. 4; [Articulated] slides 27, 31, 40: test impulses along x, y, z. Two ends on one tree are struck together,
//! because each also moves the other.
//! Letters: +P on B and −P on A, u = u_B − u_A, Δu = K P.

use super::error::TreeError;
use super::kinematics::{kinematics, point_velocity};
use super::load::Load;
use super::model::Model;
use super::response::{change_of, clear_path, climb, impulse_response, ready};
use super::work::Work;
use super::{Force, articulate};
use crate::dynamics::impact::{Impact, impact};
use crate::error::BuildError;
use crate::material::Surface;
use crate::math::{Mat3, Vec3};

/// A point of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkPoint {
    /// The link.
    pub link: usize,
    /// Where it is touched, in the world [m].
    pub point: Vec3,
}

/// A contact of this tree: with something else, or with itself. The impulse is +P on `b` and −P on `a`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The end that feels −P, if it is a link of this tree.
    pub a: Option<LinkPoint>,
    /// The end that feels +P, if it is a link of this tree.
    pub b: Option<LinkPoint>,
}

impl Touch {
    /// A contact of one link with something that is no link of this tree.
    #[must_use]
    pub const fn one(link: usize, point: Vec3) -> Self {
        Self {
            a: None,
            b: Some(LinkPoint { link, point }),
        }
    }

    /// A contact between two links of this tree at one point, +P on `b`.
    #[must_use]
    pub const fn two(a: usize, b: usize, point: Vec3) -> Self {
        Self {
            a: Some(LinkPoint { link: a, point }),
            b: Some(LinkPoint { link: b, point }),
        }
    }

    pub(super) fn ends(&self) -> impl Iterator<Item = (LinkPoint, f64)> + use<> {
        let one = |end: Option<LinkPoint>, sign: f64| end.map(|e| (e, sign));
        [one(self.b, 1.0), one(self.a, -1.0)].into_iter().flatten()
    }
}

/// `K = J M⁻¹ Jᵀ` of one contact [1/kg]: symmetric, not negative, zero in directions that no joint allows.
///
/// For contacts with another body add that body's matrix. Needs `articulate`.
pub fn collision_matrix(model: &Model, touch: &Touch, work: &mut Work) -> Result<Mat3, TreeError> {
    coupling(model, touch, touch, work)
}

/// `J_to M⁻¹ J_fromᵀ` [1/kg]: what an impulse at one contact does to the velocity at another. Needs `articulate`.
pub fn coupling(
    model: &Model,
    to: &Touch,
    from: &Touch,
    work: &mut Work,
) -> Result<Mat3, TreeError> {
    ready(model, work)?;
    let mut columns = [Vec3::ZERO; 3];
    for (unit, column) in Vec3::AXES.into_iter().zip(&mut columns) {
        for t in [to, from] {
            for (end, _) in t.ends() {
                let node = model.link("link", end.link)?.node as usize;
                clear_path(model, work, node);
            }
        }
        for (end, sign) in from.ends() {
            let load = Load::new(end.link, end.point, unit * sign);
            let (node, f) = load.on_node(model, work)?;
            climb(model, work, node, f * -1.0);
        }
        for (end, sign) in to.ends() {
            let node = model.link("link", end.link)?.node as usize;
            let change = change_of(model, work, node);
            let pose = &work.poses[node];
            *column += pose.rotation * change.at(pose.point_to_child(end.point)) * sign;
        }
    }
    Ok(Mat3::from_cols(columns[0], columns[1], columns[2]))
}

/// What a link hits, where that is no link of the same tree: how it answers an impulse at the point, and how it moves there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherSide {
    /// Its matrix K at the point [1/kg]; zero for what cannot be moved.
    pub response: Mat3,
    /// Velocity of its material at the point [m/s].
    pub velocity: Vec3,
}

impl OtherSide {
    /// At rest and immovable.
    pub const GROUND: Self = Self {
        response: Mat3::ZERO,
        velocity: Vec3::ZERO,
    };
}

/// One impact with friction at a contact of the tree, by the impact law of all methods: `v` becomes the velocity after it.
///
/// `n` is the unit normal from A to B. The other side feels the impulse with the opposite sign of the end of this tree; what it does with
/// it, and the velocity it then has, is the caller's. Also returns the impulse that joints to the world took up, about the world's origin.
///
/// # Errors
/// The tree is in a singular pose (field `tree`), or the first argument of the law that makes no sense.
pub fn strike(
    model: &Model,
    q: &[f64],
    v: &mut [f64],
    touch: &Touch,
    n: Vec3,
    other: &OtherSide,
    surface: &Surface,
    work: &mut Work,
) -> Result<(Impact, Force), BuildError> {
    let tree = |e: TreeError| BuildError::new("tree", e.to_string());
    kinematics(model, q, v, work).map_err(tree)?;
    let mut u = match (touch.a, touch.b) {
        (Some(_), None) => other.velocity,
        (None, Some(_)) => -other.velocity,
        _ => Vec3::ZERO,
    };
    for (end, sign) in touch.ends() {
        u += point_velocity(model, work, end.link, end.point).map_err(tree)? * sign;
    }
    articulate(model, q, work).map_err(tree)?;
    let mut K = collision_matrix(model, touch, work).map_err(tree)?;
    K = (K + K.transpose()) * 0.5;
    if touch.a.is_none() || touch.b.is_none() {
        K += other.response;
    }
    let found = impact(K, n, u, surface)?;
    let loads: Vec<Load> = touch
        .ends()
        .map(|(end, sign)| Load::new(end.link, end.point, found.impulse * sign))
        .collect();
    let mut change = vec![0.0; model.freedom_count()];
    let reaction = impulse_response(model, &loads, work, &mut change).map_err(tree)?;
    for (v, d) in v.iter_mut().zip(&change) {
        *v += d;
    }
    Ok((found, reaction))
}
