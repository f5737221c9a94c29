//! An attacker who flips `.cursor` between a directory and a symbolic link to a directory elsewhere, while launches
//! run: nothing elsewhere is touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags};

use super::counts::Counts;
use super::place::Place;
use super::random::Random;

const THEIRS: &str = "{\"mcpServers\": {\"theirs\": {\"command\": \"x\"}}}";
const OWN: &str = "{\"mcpServers\": {\"own\": {\"command\": \"x\"}}}";

pub(super) fn run(count: usize) -> Counts {
    let place = Place::new();
    let [directory, link] = [".cursor", "link"].map(|name| place.project().join(name));
    let victim = place.root.join("victim");
    fs::create_dir(&directory).unwrap();
    fs::create_dir(&victim).unwrap();
    fs::write(directory.join("mcp.json"), OWN).unwrap();
    fs::write(victim.join("mcp.json"), THEIRS).unwrap();
    fs::write(victim.join("other"), "other").unwrap();
    symlink(&victim, &link).unwrap();
    let before = state(&victim);
    let flips = AtomicUsize::new(0);
    let mut counts = Counts::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random::new();
            // An even number, so that the directory is the directory in the end.
            for _ in 0..count.next_multiple_of(2) {
                random.pause(Duration::from_millis(4));
                rustix::fs::renameat_with(CWD, &directory, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                flips.fetch_add(1, Ordering::Relaxed);
            }
        });
        while flips.load(Ordering::Relaxed) < count {
            let status = place.launch(Duration::from_millis(1)).status().unwrap();
            counts.count(&format!("launches that ended with {:?}", status.code()), 1);
            if state(&victim) != before {
                counts.wrong(format!("elsewhere: {:?} instead of {before:?}", state(&victim)));
            }
        }
    });
    counts.count("flips", flips.into_inner());
    let settled = place.settle().and_then(|()| place.settle());
    let file = fs::read_to_string(place.file()).unwrap_or_default();
    if state(&victim) != before {
        counts.wrong("elsewhere, at the end".into());
    }
    if settled.is_err() || file != OWN || !place.strays().is_empty() {
        counts.wrong(format!("in the project: {settled:?}, {file}, left: {:?}", place.strays()));
    }
    counts
}

/// Names, inodes, times and bytes of what lies in a directory, and the directory's own.
fn state(directory: &Path) -> BTreeMap<String, (u64, u32, i64, i64, Vec<u8>)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let paths = entries.chain([directory.to_path_buf()]);
    let told = |path: &Path| {
        let metadata = fs::symlink_metadata(path).unwrap();
        let bytes = fs::read(path).unwrap_or_default();
        (metadata.ino(), metadata.mode(), metadata.mtime(), metadata.mtime_nsec(), bytes)
    };
    paths.map(|path| (path.display().to_string(), told(&path))).collect()
}
