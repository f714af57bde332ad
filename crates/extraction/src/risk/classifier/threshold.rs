//! The probability that the classifier must reach. A message of a line or two is judged by itself; in a long document
//! each sentence is one of many chances to be wrong, so that each must reach more.

/// Sentences up to which a text is short, and from which it is long.
const SHORT: f32 = 4.0;
const LONG: f32 = 24.0;
/// Log odds of risk demanded in a short text (probability .35) and in a long one (.73): a missed risk costs more than a false
/// alarm, and precision has room (docs/risk-model.md).
const IN_SHORT: f32 = -0.6;
const IN_LONG: f32 = 1.0;

/// Log odds demanded more where the rules find a denial (.35 becomes .69), and where they find another person's risk (.92).
const DENIED: f32 = 1.4;
const OTHERS: f32 = 3.0;

/// Log odds demanded more in a document.
const IN_DOCUMENT: f32 = 1.2;

/// Findings of the rules about a risk that is not the patient's.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counterevidence {
    pub(crate) denied: bool,
    pub(crate) others: bool,
}

/// Log odds demanded in a text of so many sentences, a document or not, by the findings of the rules there.
pub(crate) fn demanded(sentences: usize, document: bool, against: Counterevidence) -> f32 {
    let more = match against {
        Counterevidence { others: true, .. } => OTHERS,
        Counterevidence { denied: true, .. } => DENIED,
        Counterevidence { .. } => 0.0,
    };
    let length = (sentences.min(1 << 16) as f32).clamp(SHORT, LONG);
    let document = if document { IN_DOCUMENT } else { 0.0 };
    more + document + IN_SHORT + (IN_LONG - IN_SHORT) * (length / SHORT).ln() / (LONG / SHORT).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_a_denial_and_another_persons_risk_demand_more() {
        let plain = |sentences| demanded(sentences, false, Counterevidence::default());
        assert_eq!((plain(0), plain(4)), (IN_SHORT, IN_SHORT));
        assert!(plain(4) < plain(10) && plain(10) < plain(24));
        assert_eq!(plain(24), plain(4000));
        let denied = demanded(4, false, Counterevidence { denied: true, others: false });
        assert!(demanded(30, true, Counterevidence::default()) > plain(30) + 1.0);
        assert!(denied > plain(4) + 1.0 && demanded(4, false, Counterevidence { denied: true, others: true }) > denied);
    }
}
