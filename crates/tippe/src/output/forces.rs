//! Forces of a step: the records of its substeps, summed up by contact and by joint.
//!
//! Reads: Records, Model (ids).  Writes: contact forces and joint forces that users read.
//! Called by: the methods, at the end of a step.
//! Source: docs/methods/contract.md, "The certificate".

use super::record::{ContactRecord, JointRecord, Records};
use crate::model::Model;
use crate::report::{ContactForce, JointForce};

/// Sums the records of a step of length `dt`; of a contact the last record says where it is.
pub(crate) fn sum(
    model: &Model,
    dt: f64,
    records: &mut Records,
    contacts: &mut Vec<ContactForce>,
    joints: &mut Vec<JointForce>,
) {
    contacts.clear();
    records.sort();
    for record in records.contacts.iter().filter(|r| r.pressed()) {
        let next = contact_force(model, record, dt);
        match contacts.last_mut() {
            Some(last) if last.key() == next.key() => {
                *last = ContactForce {
                    normal_impulse: last.normal_impulse + next.normal_impulse,
                    tangential_impulse: last.tangential_impulse + next.tangential_impulse,
                    ..next
                };
            }
            _ => contacts.push(next),
        }
    }
    joints.clear();
    for record in &records.joints {
        let next = joint_force(model, record, dt);
        match joints.last_mut() {
            Some(last) if last.joint == next.joint => {
                *last = JointForce {
                    force: last.force + next.force,
                    torque: last.torque + next.torque,
                    ..next
                };
            }
            _ => joints.push(next),
        }
    }
}

/// One record as users read it, split by its normal.
fn contact_force(model: &Model, r: &ContactRecord, dt: f64) -> ContactForce {
    let normal_impulse = r.impulse.dot(r.normal);
    let pair = &r.key.pair;
    ContactForce {
        body_a: model.id(pair.body_a as usize),
        body_b: model.id(pair.body_b as usize),
        shape_a: pair.shape_a,
        shape_b: pair.shape_b,
        feature_id: r.key.feature,
        point: r.point,
        normal: r.normal,
        gap: r.gap,
        normal_impulse,
        tangential_impulse: r.impulse - r.normal * normal_impulse,
        sliding: r.sliding,
        dt,
    }
}

fn joint_force(model: &Model, r: &JointRecord, dt: f64) -> JointForce {
    JointForce {
        joint: model.joint_id(r.joint as usize),
        force: r.impulse / dt,
        torque: r.angular_impulse / dt,
        angle: r.angle,
        displacement: r.displacement,
    }
}
