//! Collision matrices of links: how an impulse at a contact changes the velocity there, and at every other contact.
//!
//! Reads: `Model`, `Work` (poses, factors).  Writes: `Work` (drives).
//! Called by: users; the contact side of the methods to come.
//! Source: [MirtichThesis96] ch. 4; [Articulated] slides 27, 31, 40: test impulses along x, y, z. Two ends on one tree are struck together,
//! because each also moves the other.
//! Letters: +P on B and −P on A, u = u_B − u_A, Δu = K P.

use super::error::TreeError;
use super::load::Load;
use super::model::Model;
use super::response::{change_of, clear_path, climb, ready};
use super::work::Work;
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

    fn ends(&self) -> impl Iterator<Item = (LinkPoint, f64)> + use<> {
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
