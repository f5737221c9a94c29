//! `squire warden`: the parent of one server, which leaves nothing of it behind.
//!
//! It is a process of its own because a gateway that is killed can't clean up: the kernel tells the warden of the
//! gateway's death. What the server started and lost comes to the warden too, as the nearest subreaper, whatever process
//! group or session it has moved to. What runs, and with which values, comes through stdin before the server's own input
//! begins: nothing of it is in an argument or in the environment of this process.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process,
    kill_process_group, set_child_subreaper, set_dumpable_behavior, set_parent_process_death_signal, wait,
};
use signal_hook::consts::signal::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use zeroize::Zeroizing;

use crate::exit::Exit;
use crate::files;
use crate::signals;

/// How long a server may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long what ignores even that is looked for.
pub(super) const LAST: Duration = Duration::from_secs(2);
/// How often, while something is ending.
pub(super) const GLANCE: Duration = Duration::from_millis(10);
/// What the one line of a warden without a server begins with.
pub(super) const MARK: u8 = 0;
/// More than the system takes for a program's words and variables.
const LARGEST: u32 = 16 * 1024 * 1024;

/// What is to run, as the words of it that the warden is given.
pub(super) fn orders(command: &Command) -> Result<Zeroizing<Vec<u8>>> {
    let directory = command.get_current_dir().map(Path::as_os_str).unwrap_or_default();
    let arguments: Vec<&OsStr> = command.get_args().collect();
    let mut fields = vec![directory.as_bytes().to_vec(), command.get_program().as_bytes().to_vec()];
    fields.push(arguments.len().to_string().into_bytes());
    fields.extend(arguments.iter().map(|argument| argument.as_bytes().to_vec()));
    for (name, value) in command.get_envs() {
        fields.push([name.as_bytes(), b"=", value.unwrap_or_default().as_bytes()].concat());
    }
    ensure!(!fields.iter().flatten().any(|byte| *byte == 0), "a NUL stands in its words or variables");
    let fields = Zeroizing::new(fields);
    let length = u32::try_from(fields.iter().map(|field| field.len() + 1).sum::<usize>())?;
    let mut orders = Zeroizing::new(Vec::with_capacity(length as usize + 4));
    orders.extend_from_slice(&length.to_be_bytes());
    for field in fields.iter() {
        orders.extend_from_slice(field);
        orders.push(0);
    }
    Ok(orders)
}

/// The working directory and the command of orders.
fn command(orders: &[u8]) -> Option<(OsString, Command)> {
    let mut fields = orders.strip_suffix(b"\0")?.split(|byte| *byte == 0);
    let mut next = || Some(OsString::from_vec(fields.next()?.to_vec()));
    let (directory, program) = (next()?, next()?);
    let count: usize = next()?.to_str()?.parse().ok()?;
    let mut command = Command::new(program);
    command.env_clear().process_group(0);
    for _ in 0..count {
        command.arg(next()?);
    }
    while let Some(variable) = next() {
        let split = variable.as_bytes().iter().position(|byte| *byte == b'=')?;
        let (name, value) = variable.as_bytes().split_at(split);
        command.env(OsStr::from_bytes(name), OsStr::from_bytes(value.get(1..)?));
    }
    Some((directory, command))
}

/// Runs the command: starts the server of the orders and stays until nothing of it is left. Its end is the server's.
pub fn run() -> Result<Exit> {
    let gateway = getppid();
    set_parent_process_death_signal(Some(Signal::TERM)).context("the gateway's end can't be watched")?;
    set_child_subreaper(Some(getpid())).context("the server's own children can't be watched")?;
    // The orders hold the values of secrets. An error leaves what the server itself has anyway.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let signals = Signals::watch().context("signals can't be watched")?;
    let mut server = match start() {
        Ok(server) => server,
        Err(failure) => {
            tell(&failure);
            return Ok(Exit::NOT_FOUND);
        }
    };
    let server_id = Pid::from_child(&server);
    // Its input and output are the server's alone, so that their ends are seen.
    let nothing = File::options().read(true).write(true).open("/dev/null").context("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    // The gateway may have gone before its death was watched.
    let mut is_over = getppid() != gateway;
    let mut status = None;
    while status.is_none() && !is_over {
        signals.wait(None);
        is_over = signals.ask_to_end();
        status = reap(server_id);
    }
    end_all(server_id, &mut status, &signals);
    let _ = server.try_wait();
    Ok(status.map_or(Exit::Signal(Signal::KILL.as_raw()), exit))
}

fn start() -> Result<std::process::Child> {
    let input = rustix::stdio::stdin();
    let mut length = [0; 4];
    read_exactly(input, &mut length)?;
    let length = u32::from_be_bytes(length);
    if length > LARGEST {
        bail!("its words and variables are too long");
    }
    let mut orders = Zeroizing::new(vec![0; length as usize]);
    read_exactly(input, &mut orders)?;
    let (directory, mut command) =
        command(&orders).context("a warden is started by a gateway, and not by hand")?;
    // Not left to the start: a static program would copy itself for it.
    if !directory.is_empty() {
        env::set_current_dir(directory).context("its working directory is gone")?;
    }
    let program = command.get_program().to_owned();
    command.spawn().map_err(|error| refusal(&program, &error))
}

/// Why a program could not be executed.
fn refusal(program: &OsStr, error: &io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::NotFound && files::exists(Path::new(program)) {
        return anyhow::anyhow!("the interpreter that its first line names was not found");
    }
    anyhow::anyhow!("{error}")
}

/// Reads from a pipe without taking a byte of what is the server's.
fn read_exactly(input: BorrowedFd<'_>, mut buffer: &mut [u8]) -> Result<()> {
    while !buffer.is_empty() {
        match rustix::io::read(input, &mut *buffer) {
            Ok(0) => bail!("a warden is started by a gateway, and not by hand"),
            Ok(count) => buffer = buffer.get_mut(count..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).context("the orders can't be read"),
        }
    }
    Ok(())
}

/// Tells the gateway why there is no server, in a line that no message of a server's begins like. The program is not
/// named: a reference to a secret may be in its path.
fn tell(failure: &anyhow::Error) {
    let line = [&[MARK], format!("{failure:#}\n").as_bytes()].concat();
    // Where nobody reads, the status says as much.
    let _ = rustix::io::write(rustix::stdio::stdout(), &line);
}

/// Signals, as bytes of two streams.
struct Signals {
    /// Somebody asks the warden to end, or the gateway died.
    ends: UnixStream,
    /// A child ended.
    children: UnixStream,
}

impl Signals {
    fn watch() -> io::Result<Self> {
        Ok(Self {
            ends: signals::stream(&[SIGTERM, SIGINT, SIGHUP])?,
            children: signals::stream(&[SIGCHLD])?,
        })
    }

    /// Waits for any, or for the time.
    fn wait(&self, limit: Option<Duration>) {
        let limit = limit.map(|limit| Timespec::try_from(limit).unwrap_or_default());
        let watched = |stream| PollFd::new(stream, PollFlags::IN);
        // Whatever came, or an interruption, is looked at next.
        let _ = poll(&mut [watched(&self.ends), watched(&self.children)], limit.as_ref());
        let _ = (&self.children).read(&mut [0; 64]);
    }

    /// Whether the warden is to end.
    fn ask_to_end(&self) -> bool {
        (&self.ends).read(&mut [0; 64]).is_ok_and(|count| count > 0)
    }
}

/// Takes in every process that has ended; gives the server's status if it is among them.
fn reap(server: Pid) -> Option<WaitStatus> {
    let mut status = None;
    while let Ok(Some((pid, ended))) = wait(WaitOptions::NOHANG) {
        if pid == server {
            status = Some(ended);
        }
    }
    status
}

/// Ends the server and everything that came from it: asked first, then not asked.
fn end_all(server: Pid, status: &mut Option<WaitStatus>, signals: &Signals) {
    // Errors of signals say that there is nobody left.
    let _ = kill_process_group(server, Signal::TERM);
    let (until, mut asked) = (Instant::now() + GRACE, BTreeSet::from([server.as_raw_pid()]));
    loop {
        *status = status.or(reap(server));
        if !has_children() {
            return;
        }
        // What outlives the server has no other claim to the time. What had left its group was not asked with it, and
        // comes here once its own parent has ended.
        if Instant::now() >= until {
            break;
        }
        for child in children().into_iter().filter(|child| asked.insert(child.as_raw_pid())) {
            // An error says that it has ended.
            let _ = kill_process(child, Signal::TERM);
        }
        signals.wait(Some(GLANCE));
        signals.ask_to_end();
    }
    let until = Instant::now() + LAST;
    while has_children() && Instant::now() < until {
        if status.is_none() {
            let _ = kill_process_group(server, Signal::KILL);
        }
        kill_children();
        *status = status.or(reap(server));
        signals.wait(Some(GLANCE));
        signals.ask_to_end();
    }
}

/// Ends, in a gateway, what a warden has left that was killed itself; says whether something is left still.
pub(super) fn end_strays() -> bool {
    if has_children() {
        kill_children();
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }
    has_children()
}

fn kill_children() {
    for child in children() {
        // An error says that it has ended.
        let _ = kill_process(child, Signal::KILL);
    }
}

fn has_children() -> bool {
    // NOWAIT leaves what has ended for `reap`.
    let options = rustix::process::WaitIdOptions::EXITED
        | rustix::process::WaitIdOptions::NOHANG
        | rustix::process::WaitIdOptions::NOWAIT;
    rustix::process::waitid(rustix::process::WaitId::All, options).is_ok()
}

/// The processes whose parent this is, from proc(5).
fn children() -> Vec<Pid> {
    let own = getpid().as_raw_nonzero().get();
    let names = files::names_in("/proc".as_ref()).unwrap_or_default();
    let pids = names.iter().filter_map(|name| name.to_str()?.parse::<i32>().ok());
    let is_child = |pid: &i32| {
        let stat = files::read_of_user(format!("/proc/{pid}/stat").as_ref()).ok().flatten();
        let stat = stat.map(|stat| String::from_utf8_lossy(&stat).into_owned()).unwrap_or_default();
        // Field 4, behind the name in parentheses and the state.
        let parent = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(1));
        parent.and_then(|parent| parent.parse::<i32>().ok()) == Some(own)
    };
    pids.filter(is_child).filter_map(Pid::from_raw).collect()
}

fn exit(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, signal) => Exit::Signal(signal.unwrap_or(Signal::KILL.as_raw())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_come_out_as_they_were_given() {
        let mut given = Command::new("/bin/a b");
        given.args(["", "x=y", "ü"]).env_clear().env("A", "1=2").env("B", "").current_dir("/d");
        let orders = orders(&given).unwrap();
        assert_eq!(orders[..4], u32::try_from(orders.len() - 4).unwrap().to_be_bytes());
        let (directory, read) = command(&orders[4..]).unwrap();
        assert_eq!(read.get_program(), given.get_program());
        assert!(read.get_args().eq(given.get_args()));
        assert!(read.get_envs().eq(given.get_envs()));
        assert_eq!(Some(Path::new(&directory)), given.get_current_dir());
        for broken in [&b""[..], b"\0", b"d\0p\x002\0a\0", b"d\0p\0x\0", b"d\0p\x000\0novalue\0"] {
            assert!(command(broken).is_none(), "{broken:?}");
        }
    }
}
