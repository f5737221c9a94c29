//! Keeps values out of core files.

/// Lets this process be neither dumped nor looked into by a debugger, as it holds values from now on (prctl(2),
/// `PR_SET_DUMPABLE`). A program that takes its place is as it ever was, which a limit on core files would not leave it.
#[cfg(target_os = "linux")]
pub fn guard() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // Where the system refuses, values are in memory as those of any program.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Lets this process and its successor leave no core file, as it holds values from now on.
#[cfg(not(target_os = "linux"))]
pub fn guard() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Core).maximum;
    // Where the system refuses, values are in memory as those of any program.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
}
