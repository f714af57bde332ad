//! The profile of a patient: the result of profile events and commands. Each is stored as it arrived, and the row is
//! computed from them. Order of arrival and repetition do not matter (model.md, "Change of mind"): entries are compared
//! by (instant, id).

use chrono::{DateTime, Utc};
use uuid::Uuid;

/// When something was stated, and by which message: messages of one instant have an order too.
pub type StatementStamp = (DateTime<Utc>, Uuid);

/// The statement of one profile event; `None` leaves a field unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileStatement {
    pub stamp: StatementStamp,
    /// 0–100 (seed 004).
    pub cognitive_state: Option<f64>,
    pub disclaimer_accepted_at: Option<DateTime<Utc>>,
    pub region: Option<String>,
    pub privacy_tier: Option<String>,
    pub emergency_contacts: Option<Vec<String>>,
}

/// The result of all profile events of a patient.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatedProfile {
    pub cognitive_state: Option<f64>,
    pub cognitive_state_at: Option<DateTime<Utc>>,
    pub disclaimer_accepted_at: Option<DateTime<Utc>>,
    pub region: Option<String>,
    pub privacy_tier: Option<String>,
    pub emergency_contacts: Option<Vec<String>>,
    /// Of the latest event.
    pub profile_at: Option<DateTime<Utc>>,
}

/// Field by field, the latest event that speaks of it.
pub fn project(mut statements: Vec<ProfileStatement>) -> StatedProfile {
    // Messages may arrive late or twice: only (instant, id) decides.
    statements.sort_by_key(|s| s.stamp);
    statements.into_iter().fold(StatedProfile::default(), |known, said| StatedProfile {
        cognitive_state: said.cognitive_state.or(known.cognitive_state),
        cognitive_state_at: said.cognitive_state.map(|_| said.stamp.0).or(known.cognitive_state_at),
        disclaimer_accepted_at: said.disclaimer_accepted_at.or(known.disclaimer_accepted_at),
        region: said.region.or(known.region),
        privacy_tier: said.privacy_tier.or(known.privacy_tier),
        emergency_contacts: said.emergency_contacts.or(known.emergency_contacts),
        profile_at: Some(said.stamp.0),
    })
}

/// Values that hold from their instant until the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueHistory<T>(Vec<(StatementStamp, T)>);

impl<T> Default for ValueHistory<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// The patient's cognitive state (0–100) as profile events stated it over time.
pub type CognitiveHistory = ValueHistory<f64>;

/// Whether the patient was in ephemeral mode, over time (seed 000, `/efimero`): nothing was stored then.
pub type EphemeralHistory = ValueHistory<bool>;

impl<T: Copy> ValueHistory<T> {
    pub fn add(&mut self, stamp: StatementStamp, value: T) {
        // By its stamp: a late message takes its place in time, not the end.
        let place = self.0.partition_point(|(known, _)| *known <= stamp);
        self.0.insert(place, (stamp, value));
    }

    /// The value in force at an instant; a statement at that very instant counts.
    pub fn at(&self, instant: DateTime<Utc>) -> Option<T> {
        let later = self.0.partition_point(|((at, _), _)| *at <= instant);
        later.checked_sub(1).map(|last| self.0[last].1)
    }

    /// Whether this value held at any time.
    pub fn ever(&self, value: T) -> bool
    where
        T: PartialEq,
    {
        self.0.iter().any(|(_, held)| *held == value)
    }

    pub fn latest(&self) -> Option<T> {
        self.0.last().map(|(_, value)| *value)
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

    fn stamp(minutes: i64, id: u128) -> StatementStamp {
        (at(minutes), Uuid::from_u128(id))
    }

    fn said(stamp: StatementStamp, state: Option<f64>, region: Option<&str>) -> ProfileStatement {
        ProfileStatement {
            stamp,
            cognitive_state: state,
            disclaimer_accepted_at: None,
            region: region.map(str::to_owned),
            privacy_tier: None,
            emergency_contacts: None,
        }
    }

    #[test]
    fn each_field_is_what_the_latest_event_that_speaks_of_it_says() {
        let profile = project(vec![
            said(stamp(5, 1), None, Some("PE")),
            said(stamp(1, 2), Some(80.0), Some("ES")),
            said(stamp(3, 3), Some(25.0), None),
        ]);
        assert_eq!(profile.cognitive_state, Some(25.0));
        assert_eq!(profile.cognitive_state_at, Some(at(3)));
        assert_eq!(profile.region.as_deref(), Some("PE"));
        assert_eq!(profile.profile_at, Some(at(5)));
    }

    #[test]
    fn a_course_holds_from_its_instant_until_the_next() {
        let mut course = CognitiveHistory::default();
        course.add(stamp(10, 1), 80.0);
        course.add(stamp(20, 1), 25.0);
        let of = |minutes| course.at(at(minutes));
        assert_eq!([of(9), of(10), of(19), of(20)], [None, Some(80.0), Some(80.0), Some(25.0)]);
    }

    proptest! {
        #[test]
        fn events_in_any_order_amount_to_the_same_profile_and_course(
            mut events in prop::collection::vec((0i64..5, 0u128..4, 0u32..100), 0..8),
            rotation in 0usize..8,
        ) {
            events.sort_by_key(|(minutes, id, _)| (*minutes, *id));
            events.dedup_by_key(|(minutes, id, _)| (*minutes, *id));
            let all: Vec<_> = events.iter().map(|(m, id, v)| said(stamp(*m, *id), Some(f64::from(*v)), None)).collect();
            let mut turned = all.clone();
            turned.rotate_left(rotation.min(all.len()));
            prop_assert_eq!(project(all.clone()), project(turned.clone()));
            let course = |list: &[ProfileStatement]| {
                let mut course = CognitiveHistory::default();
                list.iter().for_each(|s| course.add(s.stamp, s.cognitive_state.unwrap()));
                course
            };
            prop_assert_eq!(course(&all), course(&turned));
        }
    }
}
