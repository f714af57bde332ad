//! The time limit of redaction, seen from inside. Loops over a text ask [`check`] now and then; when the limit is over it
//! unwinds to the redactor's own catch, so that the thread is free again and nothing half-done leaves. A limit belongs to
//! the thread that reads the text: redaction of one text never changes threads. It counts the time for which that thread
//! works: a machine that others keep busy, or a thread that waits for rules to be compiled, is no fault of a text.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

thread_local! {
    static END: Cell<Option<Deadline>> = const { Cell::new(None) };
}

/// When a limit is over: by both clocks. The first is looked at alone until it says so, since it costs no call of the system.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    clock: Instant,
    worked: Duration,
}

/// Processor time that this thread has used.
fn worked() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), u32::try_from(used.tv_nsec).unwrap_or_default())
}

/// Items of a loop between two looks at the clock.
const EVERY: usize = 64;

/// Thrown when the limit is over; never seen outside of this module's crate.
struct DeadlineExceeded;

/// Does work under a limit; the limit of an outer call is there again afterwards.
pub fn within<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    /// Puts the outer limit back, whatever the end of the work.
    struct RestoreOuter(Option<Deadline>);
    impl Drop for RestoreOuter {
        fn drop(&mut self) {
            END.set(self.0);
        }
    }
    let end = |clock| Deadline { clock, worked: worked().saturating_add(limit) };
    let _outer = RestoreOuter(END.replace(Instant::now().checked_add(limit).map(end)));
    work()
}

/// Whether the limit of the work in progress is over.
pub fn is_over() -> bool {
    END.get().is_some_and(|end| Instant::now() >= end.clock && worked() >= end.worked)
}

/// Ends the work in progress when its limit is over.
pub(super) fn check() {
    if is_over() {
        // Without the panic hook: this is no defect.
        resume_unwind(Box::new(DeadlineExceeded));
    }
}

/// [`check`] for a loop: at its item number `at`, looks at the clock once in a while.
pub(super) fn check_at(at: usize) {
    if at.is_multiple_of(EVERY) {
        check();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_within_its_limit_ends_and_an_outer_limit_is_there_again() {
        assert!(!is_over());
        within(Duration::from_secs(60), || {
            assert_eq!(within(Duration::ZERO, || 7), 7);
            assert!(!is_over(), "the outer limit holds again");
            check();
        });
    }

    #[test]
    fn work_over_its_limit_unwinds_at_the_next_look_and_leaves_no_limit_behind() {
        let ended = std::panic::catch_unwind(|| {
            within(Duration::ZERO, || {
                while !is_over() {}
                check_at(1);
                check_at(EVERY);
            });
        });
        assert!(ended.is_err_and(|thrown| thrown.is::<DeadlineExceeded>()));
        assert!(!is_over());
    }
}
