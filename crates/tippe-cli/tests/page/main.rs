//! The page in a browser, and its server.

#[path = "../common/mod.rs"]
mod common;

mod numbers;
mod using;
mod view_server;
mod watch;
