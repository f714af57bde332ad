//! The time limit of redaction ends the work itself, not only its result.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may

use std::time::Duration;

use anamnesis_redaction::{KnownPeople, RedactionError, RedactionPolicy, Redactor, SurrogateKey, deadline};
use anamnesis_text::{Document, Language};
use rustix::time::{ClockId, clock_gettime};

/// Processor time that this thread has used.
fn used() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

#[test]
fn a_text_that_takes_longer_than_the_limit_ends_at_the_limit_and_frees_its_thread() {
    let redactor = Redactor::builtin(RedactionPolicy::default());
    let key = SurrogateKey::new([9; 32]);
    let people = KnownPeople::default();
    let read = |text: &str| redactor.redact(&Document::plain(text, Language::Spanish), &people, &key);
    // Rules and model are compiled by the first text.
    read("Vino Ana Ruiz el 3 de mayo.").unwrap();
    let names = "Vino Ana Ruiz Soler con José Pérez. ".repeat(36_000);
    let numbers = "600 123 456 12345678Z 4111 1111 1111 1111 ".repeat(30_000);
    let limit = Duration::from_millis(50);
    for text in [names, numbers] {
        let before = used();
        let ended = deadline::within(limit, || read(&text));
        let took = used() - before;
        assert_eq!(ended.err(), Some(RedactionError::Timeout));
        assert!(took < Duration::from_secs(3), "{took:?} of processor time");
        let before = used();
        read(&text[..text.len() / 8]).unwrap();
        assert!((used() - before) * 8 > took * 4, "the text is no burden: the limit shows nothing");
    }
}

#[test]
fn a_thread_that_waits_or_is_kept_from_working_uses_up_no_limit() {
    let redactor = Redactor::builtin(RedactionPolicy::default());
    let (key, people) = (SurrogateKey::new([9; 32]), KnownPeople::default());
    let text = "Vino Ana Ruiz el 3 de mayo. Toma litio.";
    let read = || redactor.redact(&Document::plain(text, Language::Spanish), &people, &key);
    read().unwrap();
    let waited = deadline::within(Duration::from_millis(200), || {
        std::thread::sleep(Duration::from_millis(400));
        read()
    });
    assert!(waited.is_ok(), "a machine that is busy with others is no fault of a text");
}
