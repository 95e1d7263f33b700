//! Contact detection.
pub mod contact;
