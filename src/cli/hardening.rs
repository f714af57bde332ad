//! Hardening of the process, before anything else, so that its files and memory are closed to others: files for their
//! owner only, no core dump, no debugger of the same user.

use std::io;

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, setrlimit, umask};

/// Files are created 0600 and folders 0700 from now on, also by libraries such as SQLite; children inherit it. The
/// memory of the process contains keys and patients' words. It is never written to a core dump and, on Linux, neither
/// it nor the environment (`/proc/PID/environ`) can be read by another process of the same user.
///
/// # Errors
/// When the machine refuses to switch core dumps off.
pub(crate) fn begin() -> io::Result<()> {
    umask(Mode::RWXG | Mode::RWXO);
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}
