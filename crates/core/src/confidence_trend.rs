//! How sure a patient's statements were over time: baseline, trend, variation and alerts (seed 004, "Cognitive Decline
//! Analytics"). Computed from how reliable the speaker was at the time of the statement, which never changes
//! afterwards, and only where that is known: `given` and `cognitive_state`. A low figure describes the state of the
//! speaker and does not make the statement wrong; a correlation is no cause. Pure.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Timelike, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One statement.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendStatement {
    pub at: DateTime<Utc>,
    /// 0.0–1.0, at its making.
    pub confidence: f64,
    pub kind: String,
    /// Its subject.
    pub topic: String,
    /// Type of the document that carries it.
    pub situation: String,
}

/// How it is computed (`jobs/confidence_analytics.toml`).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrendPolicy {
    /// Days up to the run that count as recent.
    pub recent_days: u32,
    /// Days before those that are the patient's own usual.
    pub baseline_days: u32,
    /// Fewer days with statements make no baseline.
    pub min_baseline_days: u32,
    /// Fewer statements make no recent figure.
    pub min_recent: u32,
    /// How far below the own baseline raises an alert, 0–1 …
    pub min_drop: f64,
    /// … and how many times the usual spread it must be.
    pub min_mads: f64,
    /// Below it an alert is raised whatever the baseline is.
    pub threshold: f64,
}

/// A figure with how many statements, or pairs of days, it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GroupMean {
    pub n: u32,
    pub mean: f64,
}

/// A correlation of days: how often and how sure; never as a cause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    pub n: u32,
    /// Pearson's r, −1–1.
    pub r: f64,
    /// 95 % interval of r (Fisher's z).
    pub low: f64,
    pub high: f64,
}

/// Why an alert is raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Alert {
    BelowBaseline,
    BelowThreshold,
}

impl Alert {
    pub fn code(self) -> &'static str {
        match self {
            Self::BelowBaseline => "below_baseline",
            Self::BelowThreshold => "below_threshold",
        }
    }
}

/// All figures of one patient as of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceTrend {
    pub statements: u32,
    pub recent: Option<GroupMean>,
    /// Median of the daily means of the baseline's days.
    pub baseline: Option<GroupMean>,
    /// Median distance of those days from it.
    pub(crate) spread: Option<f64>,
    /// Change per thirty days, by least squares over daily means.
    pub trend: Option<f64>,
    /// night, morning, afternoon, evening.
    pub by_time: BTreeMap<String, GroupMean>,
    pub by_situation: BTreeMap<String, GroupMean>,
    pub by_topic: BTreeMap<String, GroupMean>,
    pub by_kind: BTreeMap<String, GroupMean>,
    pub alert: Option<Alert>,
    /// With daily readings and intakes, by their names.
    pub correlations: BTreeMap<String, Correlation>,
}

/// Computes the course of a patient's statements up to `now`. `offset` is how far the patient's clock is from UTC;
/// `readings` are numbers of days, by name.
pub fn course(
    said: &[TrendStatement],
    readings: &BTreeMap<String, BTreeMap<NaiveDate, f64>>,
    now: DateTime<Utc>,
    offset: TimeDelta,
    policy: &TrendPolicy,
) -> ConfidenceTrend {
    // A statement dated after the run, or with a confidence out of range, would shift every mean.
    let rated: Vec<&TrendStatement> =
        said.iter().filter(|one| one.at <= now && (0.0..=1.0).contains(&one.confidence)).collect();
    let recent_from = now - TimeDelta::days(i64::from(policy.recent_days));
    let baseline_from = recent_from - TimeDelta::days(i64::from(policy.baseline_days));
    let recent: Vec<f64> = rated.iter().filter(|one| one.at > recent_from).map(|one| one.confidence).collect();
    let daily = daily_means(rated.iter().copied().filter(|one| one.at > baseline_from), offset);
    let usual: Vec<f64> = {
        let before = rated.iter().copied().filter(|one| one.at > baseline_from && one.at <= recent_from);
        daily_means(before, offset).into_values().collect()
    };
    let recent = figure(&recent).filter(|figure| figure.n >= policy.min_recent);
    let baseline = (usual.len() >= policy.min_baseline_days as usize)
        .then(|| GroupMean { n: usual.len() as u32, mean: median(&usual) });
    // Median distances: one bad day must not widen the usual spread, which would hide the next fall.
    let spread = baseline.map(|base| median(&usual.iter().map(|day| (day - base.mean).abs()).collect::<Vec<_>>()));
    let by = |of: &dyn Fn(&TrendStatement) -> String| grouped(&rated, of);
    let correlations = readings.iter().filter_map(|(name, days)| Some((name.clone(), correlation(&daily, days)?)));
    ConfidenceTrend {
        statements: rated.len() as u32,
        recent,
        baseline,
        spread,
        trend: slope(&daily),
        by_time: by(&|one| part_of_day(one.at + offset).to_owned()),
        by_situation: by(&|one| one.situation.clone()),
        by_topic: by(&|one| one.topic.clone()),
        by_kind: by(&|one| one.kind.clone()),
        alert: alert(recent, baseline, spread, policy),
        correlations: correlations.collect(),
    }
}

/// The patient's own baseline comes first: a patient who was never sure must not raise an alert at every run.
fn alert(
    recent: Option<GroupMean>,
    baseline: Option<GroupMean>,
    spread: Option<f64>,
    policy: &TrendPolicy,
) -> Option<Alert> {
    let recent = recent?;
    if let (Some(baseline), Some(spread)) = (baseline, spread) {
        let fell = baseline.mean - recent.mean;
        return (fell >= policy.min_drop && fell >= policy.min_mads * spread).then_some(Alert::BelowBaseline);
    }
    (recent.mean < policy.threshold).then_some(Alert::BelowThreshold)
}

fn daily_means<'s>(said: impl Iterator<Item = &'s TrendStatement>, offset: TimeDelta) -> BTreeMap<NaiveDate, f64> {
    let mut days: BTreeMap<NaiveDate, Vec<f64>> = BTreeMap::new();
    for one in said {
        days.entry((one.at + offset).date_naive()).or_default().push(one.confidence);
    }
    days.into_iter().map(|(day, all)| (day, all.iter().sum::<f64>() / all.len() as f64)).collect()
}

fn figure(all: &[f64]) -> Option<GroupMean> {
    (!all.is_empty()).then(|| GroupMean { n: all.len() as u32, mean: all.iter().sum::<f64>() / all.len() as f64 })
}

fn grouped(said: &[&TrendStatement], of: &dyn Fn(&TrendStatement) -> String) -> BTreeMap<String, GroupMean> {
    let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for one in said {
        groups.entry(of(one)).or_default().push(one.confidence);
    }
    groups.into_iter().filter_map(|(name, all)| Some((name, figure(&all)?))).collect()
}

fn median(all: &[f64]) -> f64 {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

fn slope(daily: &BTreeMap<NaiveDate, f64>) -> Option<f64> {
    let first = *daily.keys().next()?;
    let points: Vec<(f64, f64)> = daily.iter().map(|(day, mean)| ((*day - first).num_days() as f64, *mean)).collect();
    let n = points.len() as f64;
    let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let spread: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    // Two days always lie on a line, which is no trend.
    (points.len() >= 3 && spread > 0.0)
        .then(|| points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread * 30.0)
}

/// Of days that have both. Fewer than four pairs have no interval.
fn correlation(daily: &BTreeMap<NaiveDate, f64>, readings: &BTreeMap<NaiveDate, f64>) -> Option<Correlation> {
    let pairs: Vec<(f64, f64)> = daily.iter().filter_map(|(day, mean)| Some((*mean, *readings.get(day)?))).collect();
    let n = pairs.len() as f64;
    if pairs.len() < 4 {
        return None;
    }
    let (x, y) = (pairs.iter().map(|p| p.0).sum::<f64>() / n, pairs.iter().map(|p| p.1).sum::<f64>() / n);
    let both: f64 = pairs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let (of_x, of_y): (f64, f64) =
        (pairs.iter().map(|p| (p.0 - x).powi(2)).sum(), pairs.iter().map(|p| (p.1 - y).powi(2)).sum());
    if of_x <= 0.0 || of_y <= 0.0 {
        return None;
    }
    // Rounding may exceed 1, and Fisher's z is infinite at 1.
    let r = (both / (of_x * of_y).sqrt()).clamp(-1.0, 1.0);
    let (z, margin) = (r.clamp(-0.999_999, 0.999_999).atanh(), 1.959_964 / (n - 3.0).sqrt());
    Some(Correlation { n: pairs.len() as u32, r, low: (z - margin).tanh(), high: (z + margin).tanh() })
}

fn part_of_day(local: DateTime<Utc>) -> &'static str {
    match local.hour() {
        0..=5 => "night",
        6..=11 => "morning",
        12..=17 => "afternoon",
        _ => "evening",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const POLICY: TrendPolicy = TrendPolicy {
        recent_days: 7,
        baseline_days: 90,
        min_baseline_days: 5,
        min_recent: 3,
        min_drop: 0.15,
        min_mads: 2.0,
        threshold: 0.4,
    };

    fn now() -> DateTime<Utc> {
        "2026-07-01T12:00:00Z".parse().unwrap()
    }

    fn said(days_ago: i64, hour: i64, confidence: f64) -> TrendStatement {
        let at = now() - TimeDelta::days(days_ago) + TimeDelta::hours(hour - 12);
        TrendStatement {
            at,
            confidence,
            kind: "note".into(),
            topic: "symptom".into(),
            situation: "chat_message".into(),
        }
    }

    fn computed(all: &[TrendStatement]) -> ConfidenceTrend {
        course(all, &BTreeMap::new(), now(), TimeDelta::zero(), &POLICY)
    }

    fn usual(confidence: f64) -> Vec<TrendStatement> {
        (10..20).map(|day| said(day, 10, confidence + if day % 2 == 0 { 0.02 } else { -0.02 })).collect()
    }

    #[test]
    fn a_fall_below_the_own_baseline_raises_an_alert_and_a_low_but_usual_state_does_not() {
        let after = |base: f64, now: f64| {
            let mut all = usual(base);
            all.extend((1..5).map(|day| said(day, 10, now)));
            computed(&all).alert
        };
        assert_eq!(after(0.8, 0.6), Some(Alert::BelowBaseline));
        assert_eq!(after(0.8, 0.7), None, "within 0.15");
        assert_eq!(after(0.3, 0.3), None, "this patient's usual");
        assert_eq!(after(0.3, 0.9), None, "better");
        let new: Vec<TrendStatement> = (1..5).map(|day| said(day, 10, 0.3)).collect();
        assert_eq!(computed(&new).alert, Some(Alert::BelowThreshold), "without a baseline the threshold speaks");
        assert_eq!(computed(&new[..2]).alert, None, "two statements are no figure");
    }

    #[test]
    fn the_trend_is_per_thirty_days_and_the_day_has_parts() {
        let all: Vec<TrendStatement> = (0..60).map(|day| said(day, 10, 0.9 - 0.01 * (60 - day) as f64)).collect();
        let course = computed(&all);
        assert!((course.trend.unwrap() + 0.3).abs() < 1e-9, "{:?}", course.trend);
        let day = computed(&[said(1, 8, 0.9), said(1, 20, 0.5), said(2, 21, 0.7)]);
        assert_eq!(day.by_time["evening"], GroupMean { n: 2, mean: 0.6 });
        assert_eq!(day.by_time["morning"].n, 1);
    }

    #[test]
    fn a_correlation_has_its_number_of_days_and_its_interval() {
        let all: Vec<TrendStatement> = (0..30).map(|day| said(day, 10, 0.5 + 0.01 * day as f64)).collect();
        let date = |day: i64| (now() - TimeDelta::days(day)).date_naive();
        let sleep: BTreeMap<NaiveDate, f64> =
            (0..30).map(|day| (date(day), 5.0 + 0.1 * day as f64 + if day % 3 == 0 { 0.4 } else { 0.0 })).collect();
        let readings = BTreeMap::from([("sleep_hours".to_owned(), sleep), ("steps".to_owned(), BTreeMap::new())]);
        let course = course(&all, &readings, now(), TimeDelta::zero(), &POLICY);
        let along = course.correlations["sleep_hours"];
        assert!(along.n == 30 && along.r > 0.9 && along.low < along.r && along.r < along.high, "{along:?}");
        assert!(!course.correlations.contains_key("steps"));
    }

    proptest! {
        #[test]
        fn figures_are_within_bounds_whatever_is_said_in_whatever_order(
            mut all in prop::collection::vec((0i64..120, 0i64..24, 0.0f64..=1.0), 0..80), seed in any::<u64>()
        ) {
            let of = |all: &[(i64, i64, f64)]| computed(&all.iter().map(|(d, h, c)| said(*d, *h, *c)).collect::<Vec<_>>());
            let first = of(&all);
            let at = if all.is_empty() { 0 } else { (seed as usize) % all.len() };
            all.rotate_left(at);
            let second = of(&all);
            prop_assert_eq!(first.alert, second.alert);
            for figure in first.recent.iter().chain(&first.baseline).chain(first.by_time.values()) {
                prop_assert!((0.0..=1.0).contains(&figure.mean) && figure.n > 0);
            }
        }
    }
}
