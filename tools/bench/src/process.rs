//! What the operating system says of a process: this one, or another by its id. `None` where there is no `/proc`.

use std::time::Duration;

/// Length of a tick of `/proc/self/stat`: fixed at 1/100 s in Linux's user interface.
const TICK: Duration = Duration::from_millis(10);

/// Processor time of all threads since the start, user and system.
pub(crate) fn cpu() -> Option<Duration> {
    cpu_in(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// The same of another process.
pub(crate) fn cpu_of(process: u32) -> Option<Duration> {
    cpu_in(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// Most memory that was resident at once, in bytes.
pub(crate) fn peak_bytes() -> Option<u64> {
    status("self", "VmHWM:")
}

/// Begins to count the most memory anew from what is resident now (`proc(5)`, `clear_refs`). Where that cannot be done the peak
/// stays that of the whole process.
pub(crate) fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The same of another process.
pub(crate) fn peak_bytes_of(process: u32) -> Option<u64> {
    status(&process.to_string(), "VmHWM:")
}

/// Memory that is resident now, in bytes.
pub(crate) fn resident_bytes() -> Option<u64> {
    status("self", "VmRSS:")
}

/// The same of another process.
pub(crate) fn resident_bytes_of(process: u32) -> Option<u64> {
    status(&process.to_string(), "VmRSS:")
}

fn status(process: &str, field: &str) -> Option<u64> {
    bytes_of(&std::fs::read_to_string(format!("/proc/{process}/status")).ok()?, field)
}

/// Fields 14 and 15 (`proc(5)`); the second field is the program's name and may hold anything, in parentheses.
fn cpu_in(stat: &str) -> Option<Duration> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u32>().ok();
    Some(TICK * ticks(11)?.checked_add(ticks(12)?)?)
}

fn bytes_of(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The program that is measured: `anamnesis` of the same build, next to this one.
///
/// # Errors
/// When there is none: build the package `anamnesis` with the same profile first.
pub(crate) fn program() -> std::io::Result<std::path::PathBuf> {
    let here = std::env::current_exe()?;
    // A test runs from `deps`, one folder below the programs.
    let folders = here.ancestors().skip(1).take(2);
    let found = folders.map(|folder| folder.join("anamnesis")).find(|program| program.is_file());
    found.ok_or_else(|| std::io::Error::new(std::io::ErrorKind::NotFound, "build the program `anamnesis` first"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_found_behind_a_name_with_parentheses() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 100 0 0 0 25 17 0 0 20 0 4 0 1 2 3";
        assert_eq!(cpu_in(stat), Some(Duration::from_millis(420)));
        assert_eq!(cpu_in("nonsense"), None);
    }

    #[test]
    fn memory_is_told_in_bytes() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n";
        assert_eq!(bytes_of(status, "VmHWM:"), Some(2_097_152));
        assert_eq!(bytes_of(status, "VmRSS:"), Some(1_024));
        assert_eq!(bytes_of("Name:\tx\n", "VmHWM:"), None);
    }
}
