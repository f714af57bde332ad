//! What the process does before anything else, so that nothing it makes or holds is open to others: files for their
//! owner only, no core dump, no debugger of the same user.

use std::io;

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, setrlimit, umask};

/// Files are made 0600 and folders 0700 from now on, whoever makes them (SQLite and other libraries too); children
/// inherit it. The memory of the process holds keys and what patients said: it is never written to a core dump and, on
/// Linux, neither it nor the environment (`/proc/PID/environ`) can be read by another process of the same user.
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
