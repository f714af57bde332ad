//! The time limit of redaction. Loops over a text call [`check`] now and then. When the limit is over, it unwinds to
//! the redactor's own catch, so the thread is free again and no partial result leaves. A limit belongs to the thread
//! that reads the text: redaction of one text never changes threads. It counts the processor time of that thread, so a
//! busy machine or a wait for rules to compile does not count against a text.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

thread_local! {
    static END: Cell<Option<Deadline>> = const { Cell::new(None) };
}

/// The wall clock is read first: it needs no system call and is over before processor time is.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    clock: Instant,
    worked: Duration,
}

fn worked() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), u32::try_from(used.tv_nsec).unwrap_or_default())
}

/// Items of a loop between two checks.
const EVERY: usize = 64;

struct DeadlineExceeded;

/// Runs `work` under a limit, and restores the limit of an outer call afterwards.
pub fn within<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
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

/// Whether the limit of the current work is over.
pub fn is_over() -> bool {
    END.get().is_some_and(|end| Instant::now() >= end.clock && worked() >= end.worked)
}

/// Ends the current work if its limit is over.
pub(super) fn check() {
    if is_over() {
        // The panic hook is not called, because this is no defect.
        resume_unwind(Box::new(DeadlineExceeded));
    }
}

/// [`check`] for a loop: reads the clock only at every 64th item.
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
    fn work_over_its_limit_unwinds_at_the_next_check_and_leaves_no_limit() {
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
