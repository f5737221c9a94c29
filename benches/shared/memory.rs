//! What a process takes, as the kernel says it.

use std::fs;

/// In MiB. What may not be read is not a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// `VmRSS`: all of its pages, the shared ones too.
    pub(crate) resident: f64,
    /// `Pss`: a shared page counts for each that has it in equal parts.
    pub(crate) proportional: f64,
    /// The pages that it alone has.
    pub(crate) private: f64,
    /// `RssAnon`: the pages behind which there is no file, which a leak would add to.
    pub(crate) anonymous: f64,
}

impl Memory {
    /// Of this process, now.
    pub(crate) fn of(process: u32) -> Self {
        let rollup = figures(process, "smaps_rollup");
        let private = rollup("Private_Clean:") + rollup("Private_Dirty:");
        let status = figures(process, "status");
        let (resident, anonymous) = (status("VmRSS:"), status("RssAnon:"));
        Self { resident, proportional: rollup("Pss:"), private, anonymous }
    }
}

/// What a file of a process says behind each key, in MiB.
fn figures(process: u32, file: &str) -> impl Fn(&str) -> f64 + use<> {
    let text = fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
    move |key| {
        let line = text.lines().find(|line| line.starts_with(key));
        let kilobytes: Option<f64> = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        kilobytes.unwrap_or(f64::NAN) / 1024.0
    }
}
