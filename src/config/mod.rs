//! The layers of declarations: where they lie, what they hold, what is wrong with them.

pub mod assign;
mod consistency;
mod directories;
pub mod edit;
mod fields;
pub mod import;
mod json_schema;
mod layers;
mod live;
mod problem;
mod read;
mod read_filter;
mod read_server;
mod read_settings;
mod schema;
mod table;

pub use directories::{Directories, Project};
pub use json_schema::json_schema;
#[cfg(test)]
pub(crate) use json_schema::tests::table_as_json;
pub(crate) use json_schema::{STRING, VARIABLE_NAME};
pub use layers::{Layers, MANAGED_POLICY, Sources, Unusable, load, load_with, local_file, not_used_for};
pub use live::unusable_server;
pub(crate) use problem::Lines;
pub use problem::{Place, Problem, Problems, nearest};
pub(crate) use read::{decode, read_with};
pub use read::{read, read_drop_in};
pub use read_server::is_address;
pub use schema::{
    AgentSettings, Auth, Choice, Declaration, Declarations, Filter, Grants, Kind, LayerKind, Located, Origin,
    Policy, Profile, Rewrite, Trust, working_directory,
};
pub(crate) use table::{Entry, Reader};
