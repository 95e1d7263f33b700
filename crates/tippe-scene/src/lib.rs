//! Scene files and recordings.
