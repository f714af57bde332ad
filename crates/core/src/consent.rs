//! What a patient permits and denies: one rule for admission, readers and jobs.
//!
//! A consent covers one scope and is in force from `from` (inclusive) to `until` (exclusive). A denial in force decides,
//! unless a permit took it back: the permit is in force, begins after the denial and was not stated before it. A permit for next month does not undo a
//! denial that is stated today, and neither does an old permit that arrives late. Among permits, and among denials, the
//! one with the latest `from` decides.

use chrono::{DateTime, Utc};

use super::coded_enum::codes;
use super::failpoints;

codes!(
    Provision { Permit = "permit", Deny = "deny" }
);

codes!(
    /// The scope of a consent. Another scope is recorded; it opens and closes nothing.
    ConsentScope {
        /// Whether anything is remembered of the patient. Its denial closes the other scopes as well.
        Memory = "memory",
        /// Whether what is remembered is returned to readers: context, search, profile.
        Recall = "recall",
        /// Whether the patient is counted in reports over all patients of the organisation.
        Research = "research",
    }
);

codes!(
    Withdrawal {
        /// After the withdrawal, data stay stored and no reader gets them.
        Keep = "keep",
        /// Data are forgotten, and can be recovered as long as anything else that was forgotten.
        Forget = "forget",
    }
);

#[allow(clippy::derivable_impls)] // the macro derives what all codes share
impl Default for Withdrawal {
    fn default() -> Self {
        Self::Keep
    }
}

impl ConsentScope {
    /// As a producer writes it.
    pub fn read(text: &str) -> Option<Self> {
        Self::from_code(text.trim().to_lowercase().as_str())
    }
}

/// One consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consent {
    pub scope: ConsentScope,
    pub provision: Provision,
    pub from: DateTime<Utc>,
    pub until: Option<DateTime<Utc>>,
    /// When the person stated it ([`stated_at`]).
    pub stated_at: DateTime<Utc>,
}

/// When a consent was stated: as its message says, but not later than it was `recorded`. Where the message does not say, what
/// protects the patient: a denial when it was recorded, a permit when it begins.
pub fn stated_at(
    said: Option<DateTime<Utc>>,
    provision: Provision,
    from: DateTime<Utc>,
    recorded: DateTime<Utc>,
) -> DateTime<Utc> {
    let undated = match provision {
        Provision::Permit => from,
        Provision::Deny => recorded,
    };
    said.unwrap_or(undated).min(recorded)
}

impl Consent {
    /// Whether it is in force at an instant.
    pub(crate) fn holds_at(&self, at: DateTime<Utc>) -> bool {
        self.from <= at && self.until.is_none_or(|until| at < until)
    }
}

/// All consents of one patient, in any order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Consents(Vec<Consent>);

impl FromIterator<Consent> for Consents {
    fn from_iter<T: IntoIterator<Item = Consent>>(consents: T) -> Self {
        Self(consents.into_iter().collect())
    }
}

impl Consents {
    pub fn add(&mut self, consent: Consent) {
        self.0.push(consent);
    }

    /// The consent in force for a scope at an instant; `None` where none is in force then.
    pub fn in_force(&self, scope: ConsentScope, at: DateTime<Utc>) -> Option<Provision> {
        self.deciding(scope, at).map(|consent| consent.provision)
    }

    /// Whether this consent is the one in force for its scope at an instant.
    pub fn decides(&self, consent: &Consent, at: DateTime<Utc>) -> bool {
        self.deciding(consent.scope, at) == Some(consent)
    }

    /// Since when a scope is denied without a break up to an instant; `None` where it is not denied then.
    pub fn denied_since(&self, scope: ConsentScope, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let mut bounds: Vec<DateTime<Utc>> =
            self.0.iter().flat_map(|one| [Some(one.from), one.until]).flatten().filter(|bound| *bound <= at).collect();
        bounds.sort_unstable();
        let denied = |instant: &DateTime<Utc>| self.in_force(scope, *instant) == Some(Provision::Deny);
        // The consent in force changes at these instants alone.
        bounds.into_iter().rev().take_while(denied).last()
    }

    /// The denial that no permit in force takes back, else the permit that begins last.
    fn deciding(&self, scope: ConsentScope, at: DateTime<Utc>) -> Option<&Consent> {
        let counts = |consent: &&Consent| consent.scope == scope || failpoints::is("any_scope_consents");
        let in_force = self.0.iter().filter(counts).filter(|consent| consent.holds_at(at));
        let (mut permits, denials): (Vec<&Consent>, Vec<&Consent>) =
            in_force.partition(|consent| consent.provision == Provision::Permit);
        permits.sort_unstable_by_key(|permit| permit.from);
        // For each permit, when the last of it and of those that begin later was stated.
        let mut last_stated: Vec<DateTime<Utc>> = permits.iter().map(|permit| permit.stated_at).collect();
        for n in (1..last_stated.len()).rev() {
            last_stated[n - 1] = last_stated[n - 1].max(last_stated[n]);
        }
        let is_taken_back = |denial: &&&Consent| {
            let first_later = permits.partition_point(|permit| permit.from <= denial.from);
            last_stated.get(first_later).is_some_and(|stated| *stated >= denial.stated_at)
        };
        let key = |one: &&Consent| (one.from, one.stated_at, one.until);
        let denial = denials.iter().filter(|denial| !is_taken_back(denial)).copied().max_by_key(key);
        denial.or_else(|| permits.into_iter().max_by_key(key))
    }

    /// Whether a statement of `said_at` may be stored at `now`. A denial in force at either instant refuses it; where
    /// the organisation requires consent, a permit must be in force at both.
    pub fn may_remember(&self, required: bool, said_at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
        [said_at, now].into_iter().all(|at| match self.in_force(ConsentScope::Memory, at) {
            Some(Provision::Permit) => true,
            Some(Provision::Deny) => false,
            None => !required,
        })
    }

    /// Whether what is remembered may be returned to readers. Where the organisation requires consent, a permit of
    /// `memory` must be in force: one that ended permits nothing any more.
    pub fn may_recall(&self, required: bool, now: DateTime<Utc>) -> bool {
        let permitted = self.in_force(ConsentScope::Memory, now) == Some(Provision::Permit);
        (permitted || !required) && !self.denies_recall(now)
    }

    /// Whether the patient forbids that what is remembered is returned to readers.
    pub fn denies_recall(&self, now: DateTime<Utc>) -> bool {
        let denied = |scope| self.in_force(scope, now) == Some(Provision::Deny);
        denied(ConsentScope::Memory) || denied(ConsentScope::Recall)
    }

    /// Whether the patient may be counted among others. Where the organisation requires consent, this needs a separate
    /// permit.
    pub fn may_research(&self, required: bool, now: DateTime<Utc>) -> bool {
        let closed = self.in_force(ConsentScope::Memory, now) == Some(Provision::Deny);
        !closed
            && match self.in_force(ConsentScope::Research, now) {
                Some(Provision::Permit) => true,
                Some(Provision::Deny) => false,
                None => !required,
            }
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;
    use proptest::prelude::*;

    use super::*;

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + Duration::minutes(minutes)
    }

    fn consent(scope: ConsentScope, provision: Provision, from: i64, until: Option<i64>) -> Consent {
        Consent { scope, provision, from: at(from), until: until.map(at), stated_at: at(from) }
    }

    /// Of memory, without an end.
    fn stated(provision: Provision, from: i64, stated: i64) -> Consent {
        Consent { stated_at: at(stated), ..memory(provision, from, None) }
    }

    fn memory(provision: Provision, from: i64, until: Option<i64>) -> Consent {
        consent(ConsentScope::Memory, provision, from, until)
    }

    fn stated_permit(from: i64, stated: i64) -> Consent {
        self::stated(Provision::Permit, from, stated)
    }

    fn any_consent() -> impl Strategy<Value = Consent> {
        let scope = prop::sample::select(ConsentScope::ALL);
        let provision = prop::sample::select(Provision::ALL);
        let until = prop::option::of(1i64..12);
        (scope, provision, 0i64..12, until, 0i64..12).prop_map(|(scope, provision, from, length, stated)| Consent {
            stated_at: at(stated),
            ..consent(scope, provision, from, length.map(|length| from + length))
        })
    }

    #[test]
    fn a_person_may_change_their_mind_and_a_denial_wins_where_both_begin_at_once() {
        use Provision::{Deny, Permit};
        let of = |list: &[Consent]| list.iter().copied().collect::<Consents>();
        let changed = of(&[memory(Permit, 1, None), memory(Deny, 5, None), memory(Permit, 9, None)]);
        let said = |minute| changed.in_force(ConsentScope::Memory, at(minute));
        assert_eq!([said(0), said(1), said(5), said(9)], [None, Some(Permit), Some(Deny), Some(Permit)]);
        let both = of(&[memory(Deny, 1, None), memory(Permit, 1, None)]);
        assert_eq!(both.in_force(ConsentScope::Memory, at(1)), Some(Deny));
        let ended = of(&[memory(Deny, 1, None), memory(Permit, 3, Some(6))]);
        assert_eq!(ended.in_force(ConsentScope::Memory, at(6)), Some(Deny), "the permit is over, the denial is not");
    }

    #[test]
    fn a_denial_overrides_a_permit_that_was_stated_before_it_whenever_that_begins() {
        use Provision::{Deny, Permit};
        let at_minute = |list: [Consent; 2], minute| {
            list.into_iter().collect::<Consents>().in_force(ConsentScope::Memory, at(minute))
        };
        let planned = [stated(Permit, 60, 10), stated(Deny, 20, 20)];
        assert_eq!(
            [at_minute(planned, 30), at_minute(planned, 60)],
            [Some(Deny), Some(Deny)],
            "planned before the denial"
        );
        let backdated = [stated(Permit, 25, 25), stated(Deny, 24, 40)];
        assert_eq!(at_minute(backdated, 41), Some(Deny), "it was stated last");
        let resent = [stated(Deny, 20, 20), stated(Permit, 10, 50)];
        assert_eq!(at_minute(resent, 51), Some(Deny), "an old permit that arrives late");
        let changed = [stated(Deny, 20, 20), stated(Permit, 60, 30)];
        assert_eq!([at_minute(changed, 59), at_minute(changed, 60)], [Some(Deny), Some(Permit)]);
    }

    #[test]
    fn a_denial_without_a_time_is_stated_when_it_is_recorded_and_a_permit_when_it_begins() {
        use Provision::{Deny, Permit};
        let undated = |provision, from| stated_at(None, provision, at(from), at(9));
        assert_eq!([undated(Deny, 1), undated(Permit, 1), undated(Permit, 50)], [at(9), at(1), at(9)]);
        assert_eq!(stated_at(Some(at(7)), Deny, at(1), at(9)), at(7));
        assert_eq!(
            stated_at(Some(at(70)), Deny, at(1), at(9)),
            at(9),
            "a clock that is ahead makes nothing irrevocable"
        );
    }

    #[test]
    fn who_decides_is_what_the_rule_says_pair_by_pair() {
        let (from, stated) = ([1, 3, 5], [2, 4, 6]);
        let each = || from.into_iter().flat_map(|from| stated.map(|stated| (from, stated)));
        for (denied_from, denied) in each() {
            for (first, first_stated) in each() {
                for (second, second_stated) in each() {
                    let permits = [stated_permit(first, first_stated), stated_permit(second, second_stated)];
                    let all: Consents =
                        permits.into_iter().chain([self::stated(Provision::Deny, denied_from, denied)]).collect();
                    let back =
                        permits.iter().any(|permit| permit.from > at(denied_from) && permit.stated_at >= at(denied));
                    let expected = if back { Provision::Permit } else { Provision::Deny };
                    assert_eq!(all.in_force(ConsentScope::Memory, at(9)), Some(expected), "{all:?}");
                }
            }
        }
    }

    #[test]
    fn a_denial_that_comes_back_when_a_permit_ends_is_denied_since_then() {
        use Provision::{Deny, Permit};
        let since = |list: &[Consent], minute| {
            list.iter().copied().collect::<Consents>().denied_since(ConsentScope::Memory, at(minute))
        };
        let paused = [memory(Deny, 1, None), memory(Permit, 3, Some(6))];
        assert_eq!([since(&paused, 0), since(&paused, 2), since(&paused, 4)], [None, Some(at(1)), None]);
        assert_eq!(since(&paused, 9), Some(at(6)));
        let renewed = [memory(Deny, 1, Some(4)), memory(Deny, 3, None)];
        assert_eq!(since(&renewed, 9), Some(at(1)), "one goes on where the other ends");
    }

    #[test]
    fn what_was_said_before_a_withdrawal_and_arrives_after_it_is_not_stored() {
        let withdrawn: Consents =
            [memory(Provision::Permit, 0, None), memory(Provision::Deny, 10, None)].into_iter().collect();
        assert!(withdrawn.may_remember(true, at(5), at(6)));
        assert!(!withdrawn.may_remember(true, at(5), at(11)));
        assert!(!withdrawn.may_remember(false, at(5), at(11)));
        let again: Consents =
            [memory(Provision::Deny, 0, Some(10)), memory(Provision::Permit, 20, None)].into_iter().collect();
        assert!(!again.may_remember(false, at(5), at(30)), "said while it was denied");
        assert!(again.may_remember(false, at(15), at(30)));
        assert!(!again.may_remember(true, at(15), at(30)), "nobody permitted it when it was said");
    }

    proptest! {
        #[test]
        fn order_does_not_matter_and_only_the_scope_itself_counts(
            mut list in prop::collection::vec(any_consent(), 0..8),
            rotation in 0usize..8,
            minute in 0i64..24,
        ) {
            let all: Consents = list.iter().copied().collect();
            let turn = rotation.min(list.len());
            list.rotate_left(turn);
            let turned: Consents = list.iter().copied().collect();
            for scope in ConsentScope::ALL {
                prop_assert_eq!(all.in_force(*scope, at(minute)), turned.in_force(*scope, at(minute)));
                let own: Consents = list.iter().copied().filter(|consent| consent.scope == *scope).collect();
                prop_assert_eq!(all.in_force(*scope, at(minute)), own.in_force(*scope, at(minute)));
            }
        }

        #[test]
        fn a_denial_that_begins_latest_refuses_whether_or_not_consent_is_required(
            list in prop::collection::vec(any_consent(), 0..8),
            required in any::<bool>(),
            said in 0i64..30,
        ) {
            let mut all: Consents = list.into_iter().collect();
            all.add(memory(Provision::Deny, 12, None));
            prop_assert_eq!(all.denied_since(ConsentScope::Memory, at(12)).is_some(), true);
            prop_assert!(!all.may_remember(required, at(said), at(12)));
            prop_assert!(!all.may_recall(false, at(12)) && all.denies_recall(at(12)));
            prop_assert!(!all.may_research(required, at(12)));
        }

        #[test]
        fn a_denial_without_an_end_holds_until_a_permit_that_was_stated_since(
            list in prop::collection::vec(any_consent(), 0..8),
            from in 0i64..12,
            later in 0i64..30,
        ) {
            let mut all: Consents = list.into_iter().collect();
            all.add(stated(Provision::Deny, from, 12));
            let minute = from + later;
            prop_assert_eq!(all.in_force(ConsentScope::Memory, at(minute)), Some(Provision::Deny));
        }

        #[test]
        fn requiring_consent_never_allows_more(
            list in prop::collection::vec(any_consent(), 0..8),
            said in 0i64..24,
            now in 0i64..24,
        ) {
            let all: Consents = list.into_iter().collect();
            prop_assert!(!all.may_remember(true, at(said), at(now)) || all.may_remember(false, at(said), at(now)));
            prop_assert!(!all.may_research(true, at(now)) || all.may_research(false, at(now)));
        }
    }
}
