//! Changes of state that the model allows, as one label set: only these combinations of from, to and rule are series.

use super::label::LabelSet;

macro_rules! transitions {
    ($($(#[$doc:meta])* $name:ident = $from:literal, $to:literal, $rule:literal;)+) => {
        /// One row of the table of states (model.md, "States").
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Transition { $($(#[$doc])* $name),+ }

        impl Transition {
            pub const ALL: &'static [Self] = &[$(Transition::$name),+];
            const LABELS: &'static [[&'static str; 3]] = &[$([$from, $to, $rule]),+];
        }
    };
}

transitions! {
    /// A symptom was not confirmed for too long: history only.
    ResolvedUnconfirmed = "active", "resolved_unconfirmed", "unconfirmed";
    /// Confirmed after all: a new interval next to the old one.
    Reactivated = "resolved_unconfirmed", "active", "confirmed";
    /// Stated as ended.
    Ended = "active", "resolved", "ended";
    /// An inference outlived its day.
    Expired = "active", "expired", "inference_ttl";
    /// A device's value is old.
    Stale = "active", "stale", "sync_age";
    /// The device spoke again.
    Refreshed = "stale", "active", "refreshed";
    /// A newer fact took its place.
    Superseded = "active", "superseded", "superseded";
    /// Forgotten on request.
    Forgotten = "active", "inactive", "forget";
    /// Taken back within the period of grace.
    Recovered = "inactive", "active", "recover";
    /// Held for review.
    Quarantined = "active", "quarantined", "review";
    /// Content gone after its retention.
    PurgedInactive = "inactive", "purged", "retention";
    PurgedExpired = "expired", "purged", "retention";
}

impl LabelSet for Transition {
    const NAMES: &'static [&'static str] = &["from", "to", "rule"];
    const COUNT: usize = Transition::ALL.len();

    fn index(self) -> usize {
        self as usize
    }

    fn values(index: usize) -> Vec<&'static str> {
        Transition::LABELS[index].to_vec()
    }
}
