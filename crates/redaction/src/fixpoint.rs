//! Redaction runs to a fixpoint. Replacing one span changes the context of its neighbours, so that a second pass may find
//! more. The redactor repeats until a pass finds nothing: it is idempotent.

use super::redacted::{Redacted, Redaction, moved};
use anamnesis_core::side_value::PlacedValue;
use anamnesis_text::Span;

/// Most passes over one text. Almost every text needs the first and one that finds nothing.
pub(crate) const MAX_PASSES: usize = 6;

/// Two passes as one: `next` is of the text that `first` made.
pub(crate) fn compose(first: Redacted, next: Redacted) -> Redacted {
    let back = |place: usize| moved(place, &first.redactions, |one| (one.redacted, one.source));
    let on = |span: Span| {
        let at = |place| moved(place, &next.redactions, |one| (one.source, one.redacted));
        Span::new(at(span.start), at(span.end))
    };
    let earlier = first.redactions.iter().map(|one| Redaction { redacted: on(one.redacted), ..one.clone() });
    let later = next.redactions.iter().map(|one| {
        let source = Span::new(back(one.source.start), back(one.source.end));
        Redaction { source, ..one.clone() }
    });
    let mut redactions: Vec<Redaction> = earlier.chain(later).collect();
    redactions.sort_by_key(|one| (one.source.start, one.source.end));
    let mut values: Vec<PlacedValue> =
        first.values.iter().map(|value| PlacedValue { at: on(value.at), ..*value }).chain(next.values).collect();
    values.sort_by_key(|value| value.at);
    Redacted { document: next.document, redactions, values, policy: next.policy }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KnownPeople, RedactionPolicy, Redactor, SurrogateKey};
    use anamnesis_text::{Document, Language};

    fn redaction(source: (usize, usize), redacted: (usize, usize), replacement: &str) -> Redaction {
        Redaction {
            source: Span::new(source.0, source.1),
            redacted: Span::new(redacted.0, redacted.1),
            label: "PERSON",
            recognizer: "test",
            score: 1.0,
            replacement: replacement.into(),
            fingerprint: 0,
        }
    }

    #[test]
    fn places_of_two_passes_are_places_of_the_source_and_of_the_last_text() {
        let made = |text: &str, redactions| Redacted {
            document: Document::plain(text, Language::Unknown),
            redactions,
            values: Vec::new(),
            policy: String::new(),
        };
        // "ab Eva N cd Leo" → "ab [P] N cd [P]" → "ab [P] [Q] cd [P]"
        let first =
            made("ab [P] N cd [P]", vec![redaction((3, 6), (3, 6), "[P]"), redaction((12, 15), (12, 15), "[P]")]);
        let next = made("ab [P] [Q] cd [P]", vec![redaction((7, 8), (7, 10), "[Q]")]);
        let whole = compose(first, next);
        let places: Vec<_> = whole.redactions.iter().map(|one| (one.source, one.redacted)).collect();
        let span = Span::new;
        assert_eq!(places, [(span(3, 6), span(3, 6)), (span(7, 8), span(7, 10)), (span(12, 15), span(14, 17))]);
        for one in &whole.redactions {
            assert_eq!(one.redacted.slice(&whole.document.text), one.replacement);
        }
    }

    #[test]
    fn a_text_that_was_redacted_goes_through_unchanged() {
        let redactor = Redactor::builtin(RedactionPolicy::default());
        let key = SurrogateKey::new([9; 32]);
        for text in [
            "Remitido por: Dr. Joan Puig Coll. C/ Mayor 3, 08001 Barcelona. España. Email: jpuig@correo.es IVML",
            "Médico: Ana Ruiz Soler  NºCol: 28 28 12345. Fecha: 03/04/2019 Venezuela",
            "LASTNAME, Imogen | 04/05/2019 | MRN 600095 | St. Luke's Hospital, Austin TX 78701",
        ] {
            let once =
                redactor.redact(&Document::plain(text, Language::Unknown), &KnownPeople::default(), &key).unwrap();
            let twice = redactor.redact(once.document(), &KnownPeople::default(), &key).unwrap();
            assert_eq!(once.document().text, twice.document().text);
        }
    }
}
