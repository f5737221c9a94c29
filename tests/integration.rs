//! The integration tests, one binary: a file a feature, and the builder that they all use.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may write its files and fails by a panic"
)]

mod support;

mod agents_rules;
mod bad_input;
mod gateway;
mod golden;
mod inspecting;
mod launching;
mod listing;
mod project_layer;
mod readme;
