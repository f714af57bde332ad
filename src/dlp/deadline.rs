//! The time limit of redaction, seen from inside. Loops over a text ask [`check`] now and then; when the limit is over it
//! unwinds to the redactor's own catch, so that the thread is free again and nothing half-done leaves. A limit belongs to
//! the thread that reads the text: redaction of one text never changes threads.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

thread_local! {
    static END: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Items of a loop between two looks at the clock.
const EVERY: usize = 64;

/// Thrown when the limit is over; never seen outside of this module's crate.
struct Over;

/// Does work under a limit; the limit of an outer call is there again afterwards.
pub fn within<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    /// Puts the outer limit back, whatever the end of the work.
    struct Outer(Option<Instant>);
    impl Drop for Outer {
        fn drop(&mut self) {
            END.set(self.0);
        }
    }
    let _outer = Outer(END.replace(Instant::now().checked_add(limit)));
    work()
}

/// Whether the limit of the work in progress is over.
pub fn is_over() -> bool {
    END.get().is_some_and(|end| Instant::now() >= end)
}

/// Ends the work in progress when its limit is over.
pub(super) fn check() {
    if is_over() {
        // Without the panic hook: this is no defect.
        resume_unwind(Box::new(Over));
    }
}

/// [`check`] for a loop: at its item number `at`, looks at the clock once in a while.
pub(super) fn check_at(at: usize) {
    if at.is_multiple_of(EVERY) {
        check();
    }
}
