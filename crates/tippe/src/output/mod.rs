//! Telling: what users read after a step. Ledger, forces, events and memory, from what any method did.
//!
//! Reads: solved rows, contacts, State before and after.  Writes: StepReport, Work (events, forces), State (memory).
//! Called by: the methods.
//! Source: docs/methods/contract.md, "The certificate".

pub(crate) mod finish;
pub(crate) mod ledger;
pub(crate) mod step_sum;
