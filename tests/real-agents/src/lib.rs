//! Test programs.
