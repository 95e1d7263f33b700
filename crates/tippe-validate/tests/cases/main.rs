//! The fidelity cases, judged.

#[path = "../common/mod.rs"]
mod common;

mod acceptance;
mod beyond;
mod doc;
mod forces;
mod iterative;
mod ledger;
mod quick;
mod stacks;
mod trees;
