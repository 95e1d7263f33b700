//! What users read after a step that was divided: events and forces of all its parts.
//!
//! Reads: Work (events and forces of one part after the other).  Writes: Work (those of the whole step).
//! Called by: the methods that step in two halves.
//! Source: docs/methods.md, "The certificate".

use crate::report::{ContactForce, Event, JointForce};
use crate::work::Work;

/// Events and forces of a step, gathered over its parts, each with its place in the order of their coming: sorting by key and place
/// keeps that order without the scratch that a stable sort allocates.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadOut {
    events: Vec<(u32, Event)>,
    contacts: Vec<(u32, ContactForce)>,
    joints: Vec<(u32, JointForce)>,
    divided: bool,
}

impl ReadOut {
    /// Forgets what it has, but keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.contacts.clear();
        self.joints.clear();
        self.divided = false;
    }

    /// Takes in what one part left in `work`; `share` is how much of the step it is [1].
    pub(crate) fn append(&mut self, work: &mut Work, share: f64) {
        let count = |n: usize| (n as u32)..;
        self.events
            .extend(count(self.events.len()).zip(work.events.drain(..)));
        if share >= 1.0 {
            return;
        }
        self.divided = true;
        self.contacts
            .extend(count(self.contacts.len()).zip(work.contact_forces.drain(..)));
        let shared = work.joint_forces.drain(..).map(|j| JointForce {
            force: j.force * share,
            torque: j.torque * share,
            ..j
        });
        self.joints.extend(count(self.joints.len()).zip(shared));
    }

    /// Leaves the events of the whole step and, of a divided one, the sums of its impulses and the means of its joint forces.
    pub(crate) fn finish(&mut self, h: f64, work: &mut Work) {
        self.events.sort_unstable_by(|(i, x), (j, y)| {
            let key = |e: &Event| (e.kind, e.body_a, e.body_b, e.shape_a, e.shape_b);
            let time = x.time.total_cmp(&y.time);
            key(x).cmp(&key(y)).then(time).then(i.cmp(j))
        });
        work.events.extend(self.events.drain(..).map(|(_, e)| e));
        if !self.divided {
            return;
        }
        // Of one contact the last part comes last, and its place is the place of the whole.
        self.contacts.sort_unstable_by_key(|(i, c)| (c.key(), *i));
        for (_, next) in self.contacts.drain(..) {
            match work.contact_forces.last_mut() {
                Some(last) if last.key() == next.key() => {
                    *last = ContactForce {
                        normal_impulse: last.normal_impulse + next.normal_impulse,
                        tangential_impulse: last.tangential_impulse + next.tangential_impulse,
                        ..next
                    };
                }
                _ => work.contact_forces.push(next),
            }
        }
        work.contact_forces.iter_mut().for_each(|c| c.dt = h);
        self.joints.sort_unstable_by_key(|(i, j)| (j.joint, *i));
        for (_, next) in self.joints.drain(..) {
            match work.joint_forces.last_mut() {
                Some(last) if last.joint == next.joint => {
                    *last = JointForce {
                        force: last.force + next.force,
                        torque: last.torque + next.torque,
                        ..next
                    };
                }
                _ => work.joint_forces.push(next),
            }
        }
    }
}
