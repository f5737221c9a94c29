//! SIGKILL of a launch at any time.

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::counts::{Counts, parallel};
use super::random::Random;
use super::shapes::SHAPES;

/// What is killed a little after the end was not killed, and shows that the end was reached.
const BEYOND: u32 = 5;

pub(super) fn run(count: usize) -> Counts {
    let usual = usual_time();
    parallel(count, |piece, counts| {
        let shape = SHAPES[piece % SHAPES.len()];
        let mut random = Random::new();
        let place = shape.place();
        let mut launch = place.launch(Duration::ZERO).stdout(Stdio::piped()).spawn().unwrap();
        let time = random.time(usual + usual / BEYOND);
        std::thread::sleep(time);
        let ended = launch.try_wait().unwrap().is_some();
        launch.kill().unwrap();
        launch.wait().unwrap();
        let when = if ended {
            "launches that had ended"
        } else if shape.has_its_file(&place) && place.strays().is_empty() {
            "launches killed before or after the project was another"
        } else {
            "launches killed while the project was another"
        };
        counts.count(when, 1);
        // Its agent has ended, too, once nobody holds its stdout any more.
        launch.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        if let Err(reason) = place.settle().and_then(|()| shape.check_restored(&place)) {
            counts.count(shape.wrong_kind(&place), 1);
            counts.wrong(format!("after {time:?}: {reason}"));
        }
        counts.count("launches", 1);
    })
}

/// How long a launch takes here and now, as many at once as will be.
fn usual_time() -> Duration {
    let times = std::sync::Mutex::new(Vec::new());
    parallel(20, |_, _| {
        let place = SHAPES[0].place();
        let start = Instant::now();
        place.launch(Duration::ZERO).status().unwrap();
        times.lock().unwrap().push(start.elapsed());
    });
    let mut times = times.into_inner().unwrap();
    times.sort_unstable();
    times[times.len() / 2]
}
