//! The integration tests, one binary: a file a feature, and the builder that they all use.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may write its files and fails by a panic"
)]
#![expect(clippy::similar_names, reason = "a test has its text")]

mod support;

mod agents_files;
mod agents_own_config;
mod agents_rules;
mod approving_agents_files;
mod bad_input;
mod calling;
mod check_codes;
mod checking;
mod cursor_file;
mod differential;
mod doctoring;
mod editing;
mod exit_status;
mod explaining;
mod exporting;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod fields_of_servers;
mod gateway;
mod generated;
mod golden;
#[cfg(target_os = "linux")]
mod hostile_files;
mod importing;
mod inspecting;
mod journal;
mod json_page;
mod launch_options;
mod launching;
mod layers;
mod listing;
mod live_sources;
mod logging;
mod looking_up_programs;
mod own_agents;
mod placement;
mod policy;
mod private_files;
mod probing;
mod project_layer;
mod readme;
mod relaying;
mod repository_servers;
mod same_every_time;
mod second_user;
mod secrets;
mod showing;
mod status;
mod summary;
mod too_large;
mod trust;
