//! The names of the environment variables that a server has without asking, and those that are pinned.
//!
//! Agents filter: Codex 0.171.0 hands a server ten names, Cursor few; and a repository can set an agent's
//! environment (`.claude/settings.json` of Claude Code 2.1.197 replaced HOME, PATH and LD_PRELOAD of servers in an
//! untrusted folder). So a gateway's entry lists every name that matters, and a gateway builds the server's
//! environment from these lists alone.

/// What every server that is a program gets: the names are fixed, so that they can be pinned one by one. Sorted.
pub const BASE_ENVIRONMENT: &[&str] = &[
    "ALL_PROXY",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    // The XDG Base Directory Specification 0.8, and the runtime directory of the login session.
    "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// The base variables that hold a proxy's address: one that holds credentials is left out.
pub const PROXY_VARIABLES: &[&str] =
    &["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// What the dynamic loader obeys: pinned for the gateway itself, so that a repository can't slip code into it.
pub const LOADER_ENVIRONMENT: &[&str] = &["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"];

/// Names the launch that a gateway belongs to.
pub const LAUNCH_VARIABLE: &str = "SQUIRE_LAUNCH";

#[cfg(test)]
mod tests {
    #[test]
    fn the_base_environment_is_sorted_and_names_nothing_twice() {
        assert!(super::BASE_ENVIRONMENT.is_sorted_by(|one, next| one < next));
    }
}
