//! The command as a user types it.

#[path = "../common/mod.rs"]
mod common;

mod bench;
mod cli;
mod cli_control;
mod cli_files;
mod impact;
mod lcp;
mod query;
mod referee;
mod results;
