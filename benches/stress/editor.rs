//! A concurrent editor: it saves the project's file about every millisecond, by rename or in place, while launches
//! begin, end and are killed. No save is lost, and no entry of a launch stays.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::counts::{Counts, parallel};
use super::place::Place;
use super::random::Random;

const LAUNCHES: usize = 3;
/// Of a hundred.
const KILLED: u64 = 40;
/// Longer than an exchange takes on a busy machine.
const EXCHANGE: Duration = Duration::from_millis(200);
const START: &str = "{\n  \"save\": 0,\n  \"mcpServers\": {\n    \"own\": {\"command\": \"x\"}\n  }\n}\n";

pub(super) fn run(rounds: usize) -> Counts {
    parallel(rounds, |round, counts| {
        let by_rename = round % 2 == 0;
        let place = Place::new();
        fs::create_dir(place.project().join(".cursor")).unwrap();
        fs::write(place.file(), START).unwrap();
        let launches_end = AtomicBool::new(false);
        let last = std::thread::scope(|scope| {
            let editor = scope.spawn(|| edit(&place, by_rename, &launches_end));
            let launches: Vec<_> = (0..LAUNCHES).map(|_| scope.spawn(|| launch(&place))).collect();
            for launch in launches {
                counts.count(&format!("launches {}", launch.join().unwrap()), 1);
            }
            launches_end.store(true, Ordering::Relaxed);
            editor.join().unwrap()
        });
        counts.count("rounds", 1);
        counts.count(if by_rename { "saves by rename" } else { "saves in place" }, last.saves);
        counts.count("reads amid an exchange, put right at once", last.late);
        counts.count("reads put right by the next command", last.settled);
        let how = if by_rename { "by rename" } else { "in place" };
        for wrong in last.wrong {
            counts.wrong(format!("round {round}, {how}: {wrong}"));
        }
        let settled = place.settle().and_then(|()| place.settle());
        if let Err(wrong) = settled.and_then(|()| check(&place, last.saves)) {
            counts.wrong(format!("round {round}, {how}, at the end: {wrong}"));
        }
    })
}

/// One launch, and what became of it.
fn launch(place: &Place) -> &'static str {
    let mut random = Random::new();
    random.pause(Duration::from_millis(10));
    let agent = random.time(Duration::from_millis(10));
    let mut launch = place.launch(agent).stdout(Stdio::piped()).spawn().unwrap();
    let is_killed = random.below(100) < KILLED;
    if is_killed {
        random.pause(Duration::from_millis(30));
        launch.kill().unwrap();
    }
    let status = launch.wait().unwrap();
    // Its agent has ended, too, once nobody holds its stdout any more.
    launch.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
    match status.code() {
        Some(0) => "that ran their agent to its end",
        Some(_) => "that refused",
        None => "that were killed",
    }
}

#[derive(Default)]
struct Edited {
    saves: usize,
    /// How often an exchange was under way that was taken back.
    late: usize,
    /// How often the next command had to bring the last save back, as a launch was killed amid an exchange.
    settled: usize,
    wrong: Vec<String>,
}

/// Saves what it read with another number, until the launches have ended.
fn edit(place: &Place, by_rename: bool, end: &AtomicBool) -> Edited {
    let file = place.file();
    let mut edited = Edited::default();
    while !end.load(Ordering::Relaxed) {
        let new = edited.read(place).unwrap_or_else(|wrong| {
            edited.wrong.push(wrong);
            START.replace("\"save\": 0", &number(edited.saves + 1))
        });
        if by_rename {
            let beside = file.with_extension("json.tmp");
            fs::write(&beside, new).unwrap();
            fs::rename(beside, &file).unwrap();
        } else {
            fs::File::create(&file).unwrap().write_all(new.as_bytes()).unwrap();
        }
        edited.saves += 1;
        std::thread::sleep(Duration::from_millis(1));
    }
    edited
}

impl Edited {
    /// The text with the next number. A launch that meets a save exchanges it and puts it back at once; one that is
    /// killed in between leaves that to the next command.
    fn read(&mut self, place: &Place) -> Result<String, String> {
        let read = || changed(&fs::read_to_string(place.file()).unwrap_or_default(), self.saves);
        let first = read();
        if first.is_ok() {
            return first;
        }
        let start = Instant::now();
        while start.elapsed() < EXCHANGE {
            if let Ok(new) = read() {
                self.late += 1;
                return Ok(new);
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        place.settle()?;
        let settled = read();
        self.settled += usize::from(settled.is_ok());
        settled
    }
}

fn number(save: usize) -> String {
    format!("\"save\": {save}")
}

/// The text with the next number. It must be whole, and hold the last save.
fn changed(text: &str, saves: usize) -> Result<String, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("no JSON: {error}: {text:?}"))?;
    if value["save"] != saves {
        return Err(format!("save {saves} is lost, there is {}", value["save"]));
    }
    Ok(text.replacen(&number(saves), &number(saves + 1), 1))
}

/// The last save is there, and nothing of ours.
fn check(place: &Place, saves: usize) -> Result<(), String> {
    let text = fs::read_to_string(place.file()).map_err(|error| error.to_string())?;
    changed(&text, saves)?;
    let value: Value = serde_json::from_str(&text).unwrap();
    let servers = value["mcpServers"].as_object().ok_or("no servers")?;
    let stale: Vec<&String> = servers.keys().filter(|name| *name != "own").collect();
    let strays = place.strays();
    if stale.is_empty() && strays.is_empty() && servers.len() == 1 {
        Ok(())
    } else {
        Err(format!("stale: {stale:?}, left: {strays:?}, {} servers", servers.len()))
    }
}
