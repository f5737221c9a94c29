//! One server in the strings of one agent: references in its syntax, or the reason why it can't be said.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use super::Exported;
use crate::credentials::looks_like_a_token;
use crate::environment::LAUNCH_VARIABLE;
use crate::gateway::Gateway;
use crate::server::{Remote, ResolvedServer, Stdio, Transport};
use crate::text::{Reference, Source, Text};

/// How an agent writes what is not plain text, and what it has a place for.
pub(super) struct Syntax {
    /// A reference to a variable, with what stands in where it is unset; none where it has no such thing.
    pub(super) variable: fn(&str, Option<&str>) -> Option<String>,
    /// A reference to a secret that the agent asks its user for.
    pub(super) secret: fn(&str) -> Option<String>,
    /// A text as it stands in the file; none where the agent would replace a part of it.
    pub(super) literal: fn(&str) -> Option<String>,
    /// What a server has of the agent's own environment.
    pub(super) inherits: Inherits,
    pub(super) has_cwd: bool,
    pub(super) timeouts: Timeouts,
    /// Whether an entry has lists of exact names: those that are there alone, and those that are not there.
    pub(super) has_tools: (bool, bool),
}

impl Syntax {
    /// Whether variables have places of their own, and no reference.
    fn hands_on_by_name(&self) -> bool {
        self.inherits == Inherits::Named && (self.variable)("X", None).is_none()
    }
}

/// The places that an entry has for the timeout of a call and for that of the start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Timeouts {
    Neither,
    ForCalls,
    Each,
    /// One for both: the longer one stands there.
    Shared,
}

/// What a server has of the agent's own environment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inherits {
    /// All of it.
    Everything,
    /// Only what its entry names by reference; a gateway then names all that it looks at.
    Named,
    /// All but what looks like a secret: what is declared is named.
    Most,
    /// What the agent decides, and there are no references.
    Unknown,
}

/// Which tools there are.
#[derive(Clone, Copy, Debug)]
pub enum Tools<'a> {
    /// All.
    All,
    /// Under one filter: those alone, where they are named, and never these.
    Filtered(Option<&'a [String]>, &'a [String]),
    /// Under several.
    Several,
}

/// A server in the agent's strings.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) allow: Option<Vec<String>>,
    pub(super) deny: Vec<String>,
    pub(super) description: Option<String>,
    pub(super) timeout: Option<Duration>,
    pub(super) startup_timeout: Option<Duration>,
    /// The secrets that the agent asks for.
    pub(super) asked: Vec<String>,
    /// Whether it is squire's gateway in the server's place.
    pub(super) is_gateway: bool,
    /// Variables that the server needs and the entry can't name.
    pub(super) unpinned: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Program {
        command: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
        /// Variables that are handed on under their own names.
        variables: Vec<String>,
        cwd: Option<String>,
    },
    Remote {
        is_sse: bool,
        url: String,
        headers: Vec<(String, String)>,
        /// A header's value that is one variable, which may stand behind `Bearer `.
        of_variables: Vec<(String, bool, String)>,
    },
}

/// A server as it is declared.
pub(super) fn of_server(
    syntax: &Syntax,
    exported: &Exported<'_>,
    variable_of: &dyn Fn(&str) -> Option<String>,
) -> Result<Said, String> {
    let server = exported.server;
    if let Some(field) = exported.of_gateway {
        return Err(format!("`{field}` is what squire's gateway does"));
    }
    let has_token = |remote: &Remote| remote.url.literal().is_some_and(looks_like_a_token);
    let is_clear = server.transport.texts().any(|(field, text)| field.holds_credential(text));
    if is_clear || server.transport.remote().is_some_and(has_token) {
        return Err("it holds what looks like a credential in clear, which goes into no other file".into());
    }
    let (allow, deny) = tools(syntax, exported.tools)?;
    let mut saying = Saying { syntax, variable_of, asked: Vec::new() };
    let kind = match &server.transport {
        Transport::Stdio(stdio) => saying.program(stdio)?,
        Transport::Http(remote) => saying.remote(remote, false, exported)?,
        Transport::Sse(remote) => saying.remote(remote, true, exported)?,
        Transport::Builtin => return Err("it is squire itself, which is reached through its gateway".into()),
        Transport::Dynamic(_) => return Err("its transport is chosen when it starts".into()),
    };
    Ok(Said {
        name: server.name.to_string(),
        kind,
        allow,
        deny,
        description: server.description.clone(),
        timeout: server.timeout,
        startup_timeout: server.startup_timeout,
        asked: saying.asked,
        is_gateway: false,
        unpinned: Vec::new(),
    })
}

/// squire's gateway in a server's place.
pub(super) fn of_gateway(
    syntax: &Syntax,
    agent: &str,
    gateway: &Gateway,
    server: &ResolvedServer,
) -> Result<Said, String> {
    let literal = |text: &str| {
        (syntax.literal)(text).ok_or_else(|| format!("the agent would replace a part of {text:?}"))
    };
    let args = gateway.arguments(agent, server).into_iter().map(literal).collect::<Result<_, _>>()?;
    // What it belongs to is for a launch to say.
    let all = Gateway::variables(server).into_iter().filter(|name| *name != LAUNCH_VARIABLE);
    let all: Vec<String> = all.map(ToString::to_string).collect();
    let mut declared: Vec<String> =
        server.declared_variables().into_iter().map(ToString::to_string).collect();
    declared.sort_unstable();
    declared.dedup();
    let (pinned, unpinned) = match syntax.inherits {
        Inherits::Everything => (Vec::new(), Vec::new()),
        Inherits::Named => (all, Vec::new()),
        Inherits::Most => (declared, Vec::new()),
        Inherits::Unknown => (Vec::new(), declared),
    };
    let reference = |name: &String| {
        let reference = (syntax.variable)(name, Some("")).or_else(|| (syntax.variable)(name, None));
        Some((name.clone(), reference?))
    };
    Ok(Said {
        name: server.name.to_string(),
        kind: Kind::Program {
            command: literal(&gateway.program)?,
            args,
            env: pinned.iter().filter_map(reference).collect(),
            variables: pinned,
            cwd: None,
        },
        allow: None,
        deny: Vec::new(),
        description: server.description.clone(),
        // The gateway answers first.
        timeout: Some(server.agent_timeout()),
        startup_timeout: Some(server.agent_startup_timeout()),
        asked: Vec::new(),
        is_gateway: true,
        unpinned,
    })
}

type Lists = (Option<Vec<String>>, Vec<String>);

fn tools(syntax: &Syntax, tools: Tools<'_>) -> Result<Lists, String> {
    let (allow, deny) = match tools {
        Tools::All => return Ok((None, Vec::new())),
        Tools::Several => return Err("several filters narrow its tools".into()),
        Tools::Filtered(allow, deny) => (allow, deny),
    };
    let is_exact = |name: &String| !name.contains(['*', '?', '[']);
    let is_sayable = allow.is_none_or(|allow| syntax.has_tools.0 && allow.iter().all(is_exact))
        && (deny.is_empty() || syntax.has_tools.1 && deny.iter().all(is_exact));
    if is_sayable {
        Ok((allow.map(<[String]>::to_vec), deny.to_vec()))
    } else {
        Err("a filter narrows its tools, which the file can't say".into())
    }
}

struct Saying<'a> {
    syntax: &'a Syntax,
    variable_of: &'a dyn Fn(&str) -> Option<String>,
    asked: Vec<String>,
}

impl Saying<'_> {
    fn program(&mut self, stdio: &Stdio) -> Result<Kind, String> {
        let Stdio { command, args, env, inherit_env, cwd } = stdio;
        let (mut variables, mut said) = (Vec::new(), Vec::new());
        for (name, text) in env {
            match self.own_variable(text) {
                // Under its own name it needs no syntax.
                Some(variable) if variable == *name && self.syntax.hands_on_by_name() => {
                    variables.push(variable);
                }
                _ => said.push((name.clone(), self.text(&format!("env.{name}"), text)?)),
            }
        }
        for name in inherit_env {
            match self.syntax.inherits {
                Inherits::Everything => {}
                Inherits::Unknown => {
                    return Err(format!("inherit_env: the file can't hand on {name} of the environment"));
                }
                Inherits::Named | Inherits::Most => {
                    let reference = (self.syntax.variable)(name, Some(""));
                    match reference.or_else(|| (self.syntax.variable)(name, None)) {
                        Some(reference) => said.push((name.clone(), reference)),
                        None => variables.push(name.clone()),
                    }
                }
            }
        }
        Ok(Kind::Program {
            command: self.path("command", command)?,
            args: args.iter().map(|text| self.text("args", text)).collect::<Result<_, _>>()?,
            env: said,
            variables,
            cwd: cwd.as_ref().map(|cwd| self.directory(cwd)).transpose()?,
        })
    }

    fn remote(&mut self, remote: &Remote, is_sse: bool, exported: &Exported<'_>) -> Result<Kind, String> {
        let (mut headers, mut of_variables) = (Vec::new(), Vec::new());
        let auth = exported.auth.map(|auth| {
            let scheme = if auth.bearer { "Bearer " } else { "" };
            (auth.header.to_string(), Text::parse(&format!("{scheme}${{secret:{}}}", auth.secret)))
        });
        let auth = auth.and_then(|(name, text)| Some((name, text.ok()?)));
        for (name, text) in remote.headers.iter().chain(&auth) {
            if self.syntax.hands_on_by_name()
                && let Some((bearer, variable)) = self.header_variable(text)
                && (!bearer || name.eq_ignore_ascii_case("authorization"))
            {
                of_variables.push((name.clone(), bearer, variable));
            } else {
                headers.push((name.clone(), self.text(&format!("headers.{name}"), text)?));
            }
        }
        Ok(Kind::Remote { is_sse, url: self.text("url", &remote.url)?, headers, of_variables })
    }

    /// The variable that a text is, and nothing else.
    fn own_variable(&self, text: &Text) -> Option<String> {
        let mut references = text.references();
        let reference = references.next().filter(|reference| reference.default.is_none())?;
        (text.to_string() == reference.to_string()).then(|| self.variable(reference))?
    }

    fn header_variable(&self, text: &Text) -> Option<(bool, String)> {
        if let Some(variable) = self.own_variable(text) {
            return Some((false, variable));
        }
        let written = text.to_string();
        let behind = Text::parse(written.strip_prefix("Bearer ")?).ok()?;
        self.own_variable(&behind).map(|variable| (true, variable))
    }

    fn variable(&self, reference: &Reference) -> Option<String> {
        match &reference.source {
            Source::Environment(name) => Some(name.clone()),
            Source::Secret(name) => (self.variable_of)(name),
        }
    }

    fn text(&mut self, field: &str, text: &Text) -> Result<String, String> {
        let mut out = String::new();
        for part in text.parts() {
            match part {
                Ok(literal) => {
                    let said = (self.syntax.literal)(literal);
                    out.push_str(
                        &said.ok_or_else(|| format!("{field}: the agent would replace a part of it"))?,
                    );
                }
                Err(reference) => out.push_str(&self.reference(field, reference)?),
            }
        }
        Ok(out)
    }

    fn reference(&mut self, field: &str, reference: &Reference) -> Result<String, String> {
        let default = reference.default.as_deref();
        if let Source::Secret(name) = &reference.source
            && let Some(asked) = (self.syntax.secret)(name).filter(|_| default.is_none())
        {
            if !self.asked.contains(name) {
                self.asked.push(name.clone());
            }
            return Ok(asked);
        }
        let no_words = || format!("{field}: the file has no words for {reference}");
        let variable = self.variable(reference).ok_or_else(no_words)?;
        (self.syntax.variable)(&variable, default).ok_or_else(no_words)
    }

    /// A path, of which squire alone knows what `~/` is.
    fn path(&mut self, field: &str, text: &Text) -> Result<String, String> {
        if text.leading_literal().starts_with('~') {
            return Err(format!("{field}: `~` means the home directory to squire alone"));
        }
        self.text(field, text)
    }

    fn directory(&mut self, cwd: &Text) -> Result<String, String> {
        if !self.syntax.has_cwd {
            return Err("cwd: the file can't say where it runs".into());
        }
        if !cwd.leading_literal().starts_with(['/', '~']) {
            return Err("cwd: it is below the home directory, which squire alone knows".into());
        }
        self.path("cwd", cwd)
    }
}
