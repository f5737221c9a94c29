//! Runs a command under ptrace: every system call is seen, and can be failed or be the last one.
//!
//! The seam lies at the kernel's boundary, so that the product has none and no call can be forgotten in it. It is for
//! Linux on x86-64: elsewhere a call can't be suppressed through what the `nix` crate offers without `unsafe`.

mod calls;
pub(crate) mod executions;

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc::{self, user_regs_struct};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

/// Far more than any run takes; one that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A system call of the traced process.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) arguments: [u64; 6],
    /// The paths among the arguments.
    pub(crate) paths: Vec<String>,
    /// What it returned; an errno is negative. `None` where the process did not come back from it.
    pub(crate) result: Option<i64>,
}

/// What becomes of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    GoOn,
    /// It does nothing and returns this error.
    Fail(Errno),
    /// The same, and no further call is looked at: the rest takes half the time.
    FailAndLetGo(Errno),
    /// The process is killed right before it.
    KillBefore,
    /// The process is killed right after it.
    KillAfter,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Code(i32),
    Signal(Signal),
    /// It was killed as it did not end.
    Hung,
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Trace {
    /// The calls of squire itself, in their order.
    pub(crate) calls: Vec<Call>,
    pub(crate) ending: Ending,
    pub(crate) stderr: String,
}

/// Runs a command, which starts with the program `traced`, and asks about each of squire's own system calls.
///
/// They begin with the first one that asks for the working directory or names a path below `root`: the dynamic loader
/// and the start of the runtime do neither, as all that they read lies in the system's directories and in /proc, and
/// squire looks at its surroundings before anything else.
///
/// Forked children run free.
#[expect(clippy::zombie_processes, reason = "the tracee waits for it by its number")]
pub(crate) fn trace(command: &mut Command, root: &Path, decide: impl FnMut(&Call) -> Order) -> Trace {
    let [stdout, stderr] = [(); 2].map(|()| tempfile::tempfile().unwrap());
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr.try_clone().unwrap());
    let child = command.spawn().unwrap();
    let process = Pid::from_raw(i32::try_from(child.id()).unwrap());
    let watchdog = Watchdog::set(process);
    assert_eq!(waitpid(process, None), Ok(WaitStatus::Stopped(process, Signal::SIGTRAP)), "not traced");
    let options = Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_EXITKILL;
    ptrace::setoptions(process, options).unwrap();
    let mut tracee = Tracee { process, root, decide, calls: Vec::new(), open: None, free: false };
    let mut ending = tracee.run();
    if watchdog.stop() {
        ending = Ending::Hung;
    }
    Trace { calls: tracee.calls, ending, stderr: read(stderr) }
}

fn read(mut file: File) -> String {
    file.rewind().unwrap();
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

struct Tracee<'a, Decide> {
    process: Pid,
    root: &'a Path,
    decide: Decide,
    calls: Vec<Call>,
    /// The call that the process is in.
    open: Option<Open>,
    /// Whether it is no longer traced.
    free: bool,
}

struct Open {
    call: Call,
    is_squires: bool,
    order: Order,
}

impl<Decide: FnMut(&Call) -> Order> Tracee<'_, Decide> {
    fn run(&mut self) -> Ending {
        let mut signal = None;
        loop {
            // One that was killed meanwhile can't be told to go on, which its end tells.
            if !self.free
                && let Err(error) = ptrace::syscall(self.process, signal.take())
            {
                assert_eq!(error, Errno::ESRCH);
            }
            match waitpid(self.process, None).unwrap() {
                WaitStatus::PtraceSyscall(_) => match self.open.take() {
                    None => self.enter(),
                    Some(open) => self.leave(open),
                },
                // It became another program, whose calls are its own business.
                WaitStatus::PtraceEvent(..) => {
                    self.calls.extend(self.open.take().map(|open| open.call));
                    self.let_go();
                }
                WaitStatus::Stopped(_, arrived) => signal = Some(arrived),
                WaitStatus::Exited(_, code) => return self.ended(Ending::Code(code)),
                WaitStatus::Signaled(_, signal, _) => return self.ended(Ending::Signal(signal)),
                other => panic!("{other:?}"),
            }
        }
    }

    fn ended(&mut self, ending: Ending) -> Ending {
        self.calls.extend(self.open.take().map(|open| open.call));
        ending
    }

    fn let_go(&mut self) {
        ptrace::detach(self.process, None).unwrap();
        self.free = true;
    }

    fn enter(&mut self) {
        let Ok(registers) = ptrace::getregs(self.process) else { return };
        let call = self.call(&registers);
        let is_squires = !self.calls.is_empty() || self.is_first(&call);
        let order = if is_squires { (self.decide)(&call) } else { Order::GoOn };
        if !matches!(order, Order::GoOn | Order::KillAfter) {
            // No call has this number.
            ptrace::setregs(self.process, user_regs_struct { orig_rax: u64::MAX, ..registers }).unwrap();
        }
        if order == Order::KillBefore {
            kill(self.process, Signal::SIGKILL).unwrap();
        }
        self.open = Some(Open { call, is_squires, order });
    }

    fn leave(&mut self, mut open: Open) {
        let Ok(registers) = ptrace::getregs(self.process) else { return };
        let mut result = registers.rax.cast_signed();
        if let Order::Fail(errno) | Order::FailAndLetGo(errno) = open.order {
            result = -i64::from(errno as i32);
            let registers = user_regs_struct { rax: result.cast_unsigned(), ..registers };
            ptrace::setregs(self.process, registers).unwrap();
        }
        if open.order == Order::KillAfter {
            kill(self.process, Signal::SIGKILL).unwrap();
        }
        if open.is_squires {
            open.call.result = Some(result);
            self.calls.push(open.call);
        }
        if matches!(open.order, Order::FailAndLetGo(_)) {
            self.let_go();
        }
    }

    fn is_first(&self, call: &Call) -> bool {
        call.name == "getcwd" || call.paths.iter().any(|path| Path::new(path).starts_with(self.root))
    }

    fn call(&self, registers: &user_regs_struct) -> Call {
        let &user_regs_struct { orig_rax, rdi, rsi, rdx, r10, r8, r9, .. } = registers;
        let arguments = [rdi, rsi, rdx, r10, r8, r9];
        let (name, paths) = calls::find(orig_rax);
        // A thread's calls would not be seen. The flags are the first field of clone3's structure.
        let thread = u64::try_from(libc::CLONE_THREAD).unwrap();
        let flags = if name == "clone3" { self.word(rdi) } else { rdi };
        assert!(
            !name.starts_with("clone") || flags & thread == 0,
            "squire has a thread, which is not traced"
        );
        let paths = paths.iter().map(|position| self.text(arguments[*position])).collect();
        Call { name, arguments, paths, result: None }
    }

    fn word(&self, address: u64) -> u64 {
        let address = std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap());
        ptrace::read(self.process, address).map_or(0, i64::cast_unsigned)
    }

    /// The text at an address, up to its NUL.
    fn text(&self, address: u64) -> String {
        let words = (address..).step_by(8).take(libc::PATH_MAX.unsigned_abs() as usize / 8);
        let mut bytes = Vec::new();
        for word in words.map(|address| self.word(address).to_ne_bytes()) {
            let end = word.iter().position(|byte| *byte == 0);
            bytes.extend(&word[..end.unwrap_or(word.len())]);
            if end.is_some() {
                break;
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Kills what does not end.
struct Watchdog {
    over: mpsc::Sender<()>,
    killed: JoinHandle<bool>,
}

impl Watchdog {
    fn set(process: Pid) -> Self {
        let (over, wait) = mpsc::channel();
        let killed = std::thread::spawn(move || {
            let hangs = wait.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout);
            hangs && kill(process, Signal::SIGKILL).is_ok()
        });
        Self { over, killed }
    }

    /// Whether it had to kill.
    fn stop(self) -> bool {
        drop(self.over);
        self.killed.join().unwrap()
    }
}
