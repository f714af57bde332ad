//! Each local date exactly once: every zone, every minute, gaps, outages, restarts.

use std::collections::BTreeMap;

use chrono::{DurationRound, NaiveDate, NaiveTime, Offset, TimeZone};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::ledger::{JobRun, RunClaim, RunEnding, RunOffer, Trigger, claim};

const ZONES: [Tz; 8] = [
    Tz::America__Santiago,
    Tz::Australia__Lord_Howe,
    Tz::America__Bogota,
    Tz::Europe__Madrid,
    Tz::America__New_York,
    Tz::Asia__Kathmandu,
    Tz::UTC,
    Tz::Pacific__Auckland,
];

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn organizations(since: DateTime<Utc>) -> Vec<PlannedOrganization> {
    let org = |n: usize| OrgId(Uuid::from_u128(n as u128 + 1));
    ZONES.iter().enumerate().map(|(n, zone)| PlannedOrganization { org: org(n), zone: *zone, since }).collect()
}

fn policies(schedule: &str) -> Policies {
    let mut policies = Policies::embedded().unwrap();
    let at = |schedule| crate::schedule::Schedule::parse(schedule).unwrap();
    policies.expiry.run.schedule = at(schedule);
    // At quarters of an hour, as `owed` walks.
    policies.decay.run.schedule = at("45 3 * * *");
    policies.purge.run.schedule = at("15 4 * * *");
    policies
}

/// The ledger, the runs in the order in which they were granted, and how many were granted for the same key.
#[derive(Default)]
struct TestLedger {
    rows: BTreeMap<RunKey, JobRun>,
    granted: BTreeMap<RunKey, u32>,
    order: Vec<RunKey>,
}

impl TestLedger {
    fn is_settled(&self, key: &RunKey, now: DateTime<Utc>) -> bool {
        self.rows.get(key).is_some_and(|run| run.is_settled(3, now))
    }

    /// One tick of one worker; `survives` says whether the worker lives through the run.
    fn tick(&mut self, policies: &Policies, organizations: &[PlannedOrganization], now: DateTime<Utc>, survives: bool) {
        for due in plan(policies, organizations, now, &|key| self.is_settled(key, now)) {
            assert!(due.cutoff <= now, "offered before its time");
            let lease = TimeDelta::seconds(120);
            let offer = RunOffer { due, asked: Trigger::Scheduled, owner: "w", now, lease, max_attempts: 3 };
            let RunClaim::Granted(run) = claim(self.rows.get(&due.key), &offer) else { continue };
            let run = if survives { run.finish(run.fence, RunEnding::Done, now).unwrap() } else { *run };
            if survives {
                *self.granted.entry(due.key).or_default() += 1;
                self.order.push(due.key);
            }
            self.rows.insert(due.key, run);
        }
    }

    fn dates(&self, job: JobName, org: OrgId) -> Vec<NaiveDate> {
        self.granted.keys().filter(|key| key.job == job && key.org == org).map(|key| key.as_of).collect()
    }
}

/// The dates that are owed between two instants, found without the planner's arithmetic: walks the wall clock of the
/// zone and notes, for each local date, the first quarter of an hour that shows the scheduled time or later. (Clocks
/// change, and the schedules of these tests fire, at quarters of an hour.)
fn owed(time: NaiveTime, zone: Tz, from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<NaiveDate> {
    let mut first_seen: BTreeMap<NaiveDate, DateTime<Utc>> = BTreeMap::new();
    let mut at = (from - TimeDelta::days(2)).duration_trunc(TimeDelta::minutes(15)).unwrap();
    while at <= until {
        let wall = at.with_timezone(&zone).naive_local();
        if wall.time() >= time {
            first_seen.entry(wall.date()).or_insert(at);
        }
        at += TimeDelta::minutes(15);
    }
    first_seen.into_iter().filter(|(_, at)| *at >= from).map(|(date, _)| date).collect()
}

fn assert_each_date_once(book: &TestLedger, policies: &Policies, from: DateTime<Utc>, until: DateTime<Utc>) {
    for organization in organizations(from) {
        for job in JobName::ALL.iter().copied() {
            let time = NaiveTime::parse_from_str(
                &policies.get(job).schedule.as_str().split(' ').take(2).collect::<Vec<_>>().join(" "),
                "%M %H",
            );
            let expected = owed(time.unwrap(), organization.zone, from, until);
            assert_eq!(book.dates(job, organization.org), expected, "{job} in {}", organization.zone);
        }
    }
    assert!(book.granted.values().all(|times| *times == 1), "a run was granted twice");
}

/// The hours around which a clock of one of the zones changes.
fn changes(from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<DateTime<Utc>> {
    let offset = |zone: &Tz, at: DateTime<Utc>| zone.offset_from_utc_datetime(&at.naive_utc()).fix();
    let hours = (0..).map(|n| from + TimeDelta::hours(n)).take_while(|at| *at < until);
    let changes =
        |at: &DateTime<Utc>| ZONES.iter().any(|zone| offset(zone, *at) != offset(zone, *at + TimeDelta::hours(1)));
    hours.filter(changes).collect()
}

#[test]
fn in_366_days_of_ticks_each_local_date_of_eight_zones_runs_exactly_once() {
    let from = utc("2026-01-01T00:00:30Z");
    let until = from + TimeDelta::days(366);
    let changes = changes(from, until);
    assert_eq!(changes.len(), 10, "five of the zones change their clocks twice a year");
    // Schedules inside the hours that clocks skip and repeat.
    for schedule in ["30 2 * * *", "15 0 * * *"] {
        let mut policies = policies(schedule);
        for run in [&mut policies.expiry.run, &mut policies.reconfirmation.run] {
            run.catch_up_days = 2;
        }
        let organizations = organizations(from);
        let mut book = TestLedger::default();
        let (mut now, mut last) = (from, from);
        while now < until {
            book.tick(&policies, &organizations, now, true);
            last = now;
            // Every minute where a clock somewhere changes, every 23rd elsewhere.
            let is_near = changes.iter().any(|change| (now - change).num_minutes().abs() < 240);
            now += TimeDelta::minutes(if is_near { 1 } else { 23 });
        }
        assert_each_date_once(&book, &policies, from, last);
        assert!(book.granted.len() >= ZONES.len() * JobName::ALL.len() * 365);
    }
}

#[test]
fn after_an_outage_the_missed_runs_come_in_the_order_of_their_instants() {
    let policies = policies("30 2 * * *");
    let from = utc("2026-03-20T00:00:00Z");
    let mut book = TestLedger::default();
    let organizations = organizations(from);
    book.tick(&policies, &organizations, from + TimeDelta::hours(20), true);
    let before = book.order.len();
    let back = utc("2026-04-01T12:00:00Z");
    let missed = plan(&policies, &organizations, back, &|key| book.is_settled(key, back));
    assert!(missed.is_sorted_by_key(|due| due.cutoff));
    book.tick(&policies, &organizations, back, true);
    assert_eq!(book.order.len() - before, missed.len());
    assert_each_date_once(&book, &policies, from, back);
}

#[test]
fn runs_before_the_organisation_existed_or_beyond_the_limit_are_not_due() {
    let policies = policies("30 2 * * *");
    let now = utc("2026-06-30T12:00:00Z");
    let young =
        PlannedOrganization { org: OrgId(Uuid::from_u128(1)), zone: Tz::UTC, since: utc("2026-06-28T10:00:00Z") };
    let dates = |organization: &PlannedOrganization| -> Vec<String> {
        let policy = policies.get(JobName::Expiry);
        due_runs(JobName::Expiry, policy, organization, now, &|_| false)
            .iter()
            .map(|due| due.key.as_of.to_string())
            .collect()
    };
    assert_eq!(dates(&young), ["2026-06-29", "2026-06-30"]);
    let old = PlannedOrganization { since: utc("2020-01-01T00:00:00Z"), ..young };
    assert_eq!(dates(&old).len(), usize::from(policies.expiry.run.catch_up_days) + 1);
    assert!(dates(&old)[0].parse::<NaiveDate>().unwrap() >= horizon(&policies, now));
}

#[test]
fn a_fixed_zone_gives_every_organisation_the_same_instant() {
    let mut policies = policies("30 2 * * *");
    policies.expiry.run.time_zone = crate::policy::ZoneRule::Fixed(Tz::UTC);
    let organizations = organizations(utc("2026-01-01T00:00:00Z"));
    let now = utc("2026-05-05T02:30:00Z");
    let policy = policies.get(JobName::Expiry);
    for organization in &organizations {
        assert_eq!(latest(JobName::Expiry, policy, organization, now).unwrap().cutoff, now);
    }
}

#[test]
fn the_latest_run_is_the_last_whose_time_has_come() {
    let policies = policies("30 2 * * MON");
    let policy = policies.get(JobName::Expiry);
    let organization =
        PlannedOrganization { org: OrgId(Uuid::from_u128(1)), zone: Tz::UTC, since: utc("2026-01-01T00:00:00Z") };
    let date = |now: &str| latest(JobName::Expiry, policy, &organization, utc(now)).unwrap().key.as_of.to_string();
    assert_eq!(date("2026-03-09T02:29:59Z"), "2026-03-02");
    assert_eq!(date("2026-03-09T02:30:00Z"), "2026-03-09");
    let ahead = |now: &str| next(JobName::Expiry, policy, &organization, utc(now)).unwrap().key.as_of.to_string();
    assert_eq!(ahead("2026-03-09T02:29:59Z"), "2026-03-09");
    assert_eq!(ahead("2026-03-09T02:30:00Z"), "2026-03-16");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Ticks come at random distances (minutes, hours, outages of days within the limit) and one worker in ten dies in
    /// the middle of its runs; in the end each date was run to its end exactly once.
    #[test]
    fn with_gaps_outages_and_deaths_each_date_is_run_to_its_end_exactly_once(
        hour in 0u32..24,
        quarter in 0u32..4,
        start in 0i64..366,
        ticks in prop::collection::vec((prop_oneof![
            8 => 1i64..180,
            2 => 180i64..2_880,
            1 => 2_880i64..(12 * 1_440),
        ], 0u8..10), 20..60),
    ) {
        let policies = policies(&format!("{} {hour} * * *", quarter * 15));
        let from = utc("2026-01-01T00:00:00Z") + TimeDelta::days(start);
        let organizations = organizations(from);
        let mut book = TestLedger::default();
        let mut now = from;
        for (gap, fate) in ticks {
            now += TimeDelta::minutes(gap);
            book.tick(&policies, &organizations, now, fate != 0);
            // A restarted worker returns after the lease of the dead one.
            if fate == 0 {
                now += TimeDelta::minutes(3);
                book.tick(&policies, &organizations, now, true);
            }
        }
        assert_each_date_once(&book, &policies, from, now);
    }
}
