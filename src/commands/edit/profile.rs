//! `squire profile`: named selections of servers.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use squire_strategies::Transport;
use toml_edit::{Array, Item, Table};

use super::change::{Told, change_told};
use super::{begin, place::Stand};
use crate::cli::{self, Layer, ProfileAction};
use crate::commands::Surroundings;
use crate::commands::list::state;
use crate::config::Profile;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::printable::printable;
use crate::resolve::{Selection, UnknownSelection, resolve, unknown_name};

/// Runs the command.
pub fn run(options: &cli::Profile, environment: &Environment) -> Result<Exit> {
    match &options.action {
        ProfileAction::Add(options) => add(options, environment),
        ProfileAction::Remove(options) => remove(options, environment),
        ProfileAction::List(options) => list(options, environment),
        ProfileAction::Show(options) => show(options, environment),
    }
}

fn add(options: &cli::ProfileAdd, environment: &Environment) -> Result<Exit> {
    let (stand, output) = begin(options.editing, environment)?;
    let name = options.name.as_str();
    let target = stand.target(options.editing.layer.unwrap_or(Layer::User))?;
    let (dry_run, json) = (options.editing.dry_run, options.json);
    let told = Told { dry_run, json, action: "profile add", what: "profile", name };
    let is_changed = change_told(&stand, &target, told, |document| {
        let lists =
            [("extends", &options.extends), ("servers", &options.servers), ("require", &options.require)];
        if document.has(&["profiles", name]) {
            for (key, words) in lists {
                for word in words {
                    document.push(&["profiles", name, key], word)?;
                }
            }
            return Ok(());
        }
        let mut table = Table::new();
        for (key, words) in lists.into_iter().filter(|(key, words)| *key == "servers" || !words.is_empty()) {
            let mut array = Array::new();
            for word in words {
                if !array.iter().any(|there| there.as_str() == Some(word)) {
                    array.push(word);
                }
            }
            table.insert(key, Item::Value(array.into()));
        }
        Ok(document.insert(["profiles", name], &table)?)
    })?;
    if !options.editing.dry_run {
        let told = if is_changed { "is in" } else { "was so already in" };
        output.notice(&format!("the profile {name} {told} {}", target.path.display()));
    }
    Ok(Exit::DONE)
}

fn remove(options: &cli::ProfileRemove, environment: &Environment) -> Result<Exit> {
    let (stand, output) = begin(options.editing, environment)?;
    let name = options.name.as_str();
    let target = match options.editing.layer {
        Some(layer) => stand.target(layer)?,
        None => home(&stand, name)?,
    };
    let there = target.read()?;
    if !there.has(&["profiles", name]) {
        let known = there.keys(&["profiles"]);
        return Err(
            UnknownSelection(vec![unknown_name("profile", name, known.iter().map(String::as_str))]).into()
        );
    }
    let mut missing = Vec::new();
    let (dry_run, json) = (options.editing.dry_run, options.json);
    let told = Told { dry_run, json, action: "profile remove", what: "profile", name };
    change_told(&stand, &target, told, |document| {
        if options.servers.is_empty() {
            document.remove(&["profiles", name])?;
        }
        for server in &options.servers {
            let mut is_named = document.remove(&["profiles", name, "tools", server])?;
            for list in ["servers", "require"] {
                is_named |= document.pull(&["profiles", name, list], server)?;
            }
            if !is_named {
                missing.push(server.clone());
            }
        }
        if !missing.is_empty() {
            bail!("the profile {name} does not name {}", missing.join(", "));
        }
        Ok(())
    })?;
    if !options.editing.dry_run {
        let file = target.path.display();
        output.notice(&match options.servers.as_slice() {
            [] => format!("the profile {name} is out of {file}"),
            servers => format!("the profile {name} no longer names {} ({file})", servers.join(", ")),
        });
    }
    Ok(Exit::DONE)
}

fn home(stand: &Stand, name: &str) -> Result<super::place::Target> {
    let homes = stand.homes("profiles", "profile", name)?;
    match homes.first() {
        Some((target, _)) if !target.layer.is_project() => Ok(target.clone()),
        _ => bail!("the profile {name} is the project's own: --layer project changes the project's file"),
    }
}

fn profiles(surroundings: &Surroundings) -> Vec<&Profile> {
    let of_project = surroundings.layers.project.iter().flat_map(|project| &project.profiles);
    surroundings.layers.user.profiles.iter().chain(of_project).collect()
}

fn words(located: &[crate::config::Located<String>]) -> Vec<&str> {
    located.iter().map(|located| located.value.as_str()).collect()
}

fn as_json(profile: &Profile) -> Value {
    json!({
        "name": profile.name,
        "layer": profile.origin.layer.as_str(),
        "origin": profile.origin.to_string(),
        "extends": words(&profile.extends),
        "servers": words(&profile.servers),
        "require": words(&profile.require),
        "strict": profile.strict.as_ref().is_some_and(|strict| strict.value),
    })
}

fn list(options: &cli::ProfileList, environment: &Environment) -> Result<Exit> {
    let surroundings = Surroundings::find(environment)?;
    surroundings.refuse_foreign()?;
    let profiles = profiles(&surroundings);
    let text = if options.json {
        let all: Vec<Value> = profiles.iter().map(|profile| as_json(profile)).collect();
        format!("{:#}\n", json!({ "profiles": all }))
    } else if profiles.is_empty() {
        Output::default().notice("no profile is declared; `squire profile add NAME SERVER` makes one");
        String::new()
    } else {
        let width =
            profiles.iter().map(|profile| profile.name.chars().count()).max().unwrap_or_default().max(4);
        profiles.iter().fold(format!("{:width$}  LAYER    SERVERS\n", "NAME"), |mut text, profile| {
            let mut named = words(&profile.servers).join(", ");
            if !profile.extends.is_empty() {
                named = format!("those of {}; {named}", words(&profile.extends).join(", "));
            }
            // Writing to a string can't fail.
            let _ = writeln!(
                text,
                "{:width$}  {:7}  {}",
                printable(&profile.name),
                profile.origin.layer.as_str(),
                printable(&named)
            );
            text
        })
    };
    Output::default().data(&text)?;
    Ok(Exit::DONE)
}

fn show(options: &cli::ProfileShow, environment: &Environment) -> Result<Exit> {
    let surroundings = Surroundings::find(environment)?;
    surroundings.refuse_foreign()?;
    let all = profiles(&surroundings);
    let Some(profile) = all.iter().find(|profile| profile.name == options.name) else {
        let known = all.iter().map(|profile| profile.name.as_str());
        return Err(UnknownSelection(vec![unknown_name("profile", &options.name, known)]).into());
    };
    let selection = Selection { profiles: vec![options.name.clone()], ..Selection::default() };
    let resolution =
        resolve(&surroundings.layers, &surroundings.standings, &selection, &|transport: &Transport| {
            transport.remote().is_some()
        })?;
    let text = if options.json {
        let mut shown = as_json(profile);
        let entries = resolution.entries.iter();
        let launched =
            entries.map(|entry| json!({ "name": entry.server.name.as_str(), "state": state(entry) }));
        shown["launched"] = launched.collect();
        format!("{shown:#}\n")
    } else {
        let mut text = format!("{}\n", printable(&profile.name));
        let rows = [
            ("extends", words(&profile.extends)),
            ("servers", words(&profile.servers)),
            ("require", words(&profile.require)),
        ];
        for (title, words) in rows.into_iter().filter(|(_, words)| !words.is_empty()) {
            let _ = writeln!(text, "  {title:8}  {}", printable(&words.join(", ")));
        }
        if profile.strict.as_ref().is_some_and(|strict| strict.value) {
            text.push_str("  strict    the agent's own servers are off\n");
        }
        let _ = writeln!(
            text,
            "  declared  {} ({})",
            printable(&profile.origin.to_string()),
            profile.origin.layer.as_str()
        );
        for entry in &resolution.entries {
            let _ = writeln!(text, "  launched  {}: {}", entry.server.name, state(entry));
        }
        text
    };
    Output::default().data(&text)?;
    Ok(Exit::DONE)
}
