//! Physics against truth.
