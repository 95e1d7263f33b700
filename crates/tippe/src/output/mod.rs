//! Telling: what users read after a step. Records that any method fills become forces, events and the energy account.
//!
//! Reads: Records, State before and after.  Writes: StepReport, forces, events, touching pairs of the State.
//! Called by: the methods.
//! Source: docs/methods/contract.md, "The certificate".

pub(crate) mod balance;
pub(crate) mod crossings;
pub(crate) mod events;
pub(crate) mod forces;
pub(crate) mod ledger;
pub(crate) mod record;
