//! The bounds of every number in every policy: the last value that is taken, and the first that is not.

use super::*;

/// A job, the line of its embedded file, values that are taken, and values that are refused.
type Bound = (JobName, &'static str, &'static [&'static str], &'static [&'static str]);

/// The embedded file with another value after the key of `line`.
fn changed(job: JobName, line: &str, value: &str) -> String {
    let text = embedded(job);
    assert!(text.contains(&format!("{line}\n")), "the test is out of date: {line} of {job}");
    let (key, _) = line.split_once('=').unwrap();
    text.replacen(&format!("{line}\n"), &format!("{key}= {value}\n"), 1)
}

fn hold(bounds: &[Bound]) {
    for (job, line, taken, refused) in bounds {
        let key = line.split_once(' ').unwrap().0;
        for value in *taken {
            let refusal = refusal(*job, &changed(*job, line, value));
            assert!(refusal.is_none(), "{job}: {key} = {value}: {refusal:?}");
        }
        for value in *refused {
            let message = refusal(*job, &changed(*job, line, value)).map(|error| error.to_string());
            let message = message.unwrap_or_else(|| panic!("{job} takes {key} = {value}"));
            assert!(message.starts_with(&format!("jobs/{job}.toml: ")) && message.contains(key), "{value}: {message}");
        }
    }
}

#[test]
fn what_all_jobs_share_has_bounds() {
    hold(&[
        (JobName::Expiry, "batch_size = 500", &["1", "2000"], &["0", "2001", "-1", "\"500\""]),
        (JobName::Expiry, "batch_delay_ms = 20", &["0", "60000"], &["60001", "-1"]),
        (JobName::Expiry, "lease_seconds = 120", &["10", "86400"], &["9", "86401"]),
        (JobName::Expiry, "max_attempts = 6", &["1", "100"], &["0", "101"]),
        (JobName::Expiry, "retry_seconds = 60", &["1", "86400"], &["0", "86401"]),
        (JobName::Expiry, "catch_up_days = 14", &["0", "366"], &["367", "-1", "70000"]),
    ]);
}

#[test]
fn what_ages_memories_has_bounds() {
    hold(&[
        (JobName::Expiry, "unconfirmed_days = 7", &["1", "3650"], &["0", "3651"]),
        (JobName::Expiry, "stale_days = 7", &["1", "3650"], &["0", "3651"]),
        (JobName::Expiry, "inference_hours = 24", &["1", "23"], &["0", "25"]),
        (JobName::Expiry, "min_extraction_confidence = 0.6", &["0.0", "1.0"], &["-0.1", "1.1", "nan"]),
        (JobName::Reconfirmation, "reconfirm_hours = 48", &["1", "1000"], &["0"]),
        (JobName::Purge, "recoverable_days = 30", &["1", "36500"], &["0", "36501"]),
        (JobName::Purge, "expired_kept_days = 90", &["1", "36500"], &["0", "36501"]),
        (JobName::Decay, "uncertain_below = 0.5", &["0.0", "1.0"], &["-0.1", "1.1", "nan"]),
        (JobName::Decay, "rate = 0.005", &["0.0", "1.0"], &["-0.1", "1.1"]),
        (JobName::Decay, "floor = 0.7", &["0.0", "1.0"], &["-0.1", "1.1"]),
        (JobName::Decay, "period_days = 60.0", &["1.0", "36500.0"], &["0.9", "36501.0", "inf"]),
    ]);
}

#[test]
fn what_tidies_up_has_bounds() {
    hold(&[
        (JobName::Upkeep, "attempt_days = 7", &["1", "36500"], &[]),
        (JobName::CohortPatterns, "settled_days = 7", &["1", "366"], &["0", "367"]),
    ]);
    for line in ["message_days = 90", "event_days = 90", "attempt_days = 7"] {
        for value in ["0", "36501"] {
            let message = refusal(JobName::Upkeep, &changed(JobName::Upkeep, line, value)).unwrap().to_string();
            assert!(message.ends_with("days are 1 to 36500"), "{line}: {message}");
        }
    }
}

#[test]
fn what_forms_memories_has_bounds() {
    hold(&[
        (JobName::Consolidation, "episodes = 3", &["2", "50"], &["1", "0"]),
        (JobName::Consolidation, "days = 2", &["1", "3"], &["0", "4"]),
        (JobName::Consolidation, "trait_min_sources = 5", &["4"], &["3"]),
        (JobName::Consolidation, "trait_min_days = 180", &["1", "3650"], &["0", "3651"]),
        (JobName::Consolidation, "mean_confidence = 0.6", &["0.0", "1.0"], &["-0.1", "1.1", "nan"]),
        (JobName::Summaries, "facts = 2", &["1"], &["0"]),
        (JobName::Summaries, "period_documents = 2", &["1"], &["0"]),
        (JobName::Summaries, "session_closed_hours = 6", &["1", "720"], &["0", "721"]),
    ]);
}

#[test]
fn what_compares_and_embeds_has_bounds() {
    let unit = (["0.0", "1.0"], ["-0.1", "1.1", "nan"]);
    hold(&[
        (JobName::EmbedBatch, "max_text_bytes = 32768", &["256", "1048576"], &["255", "1048577"]),
        (JobName::Reembedding, "max_text_bytes = 32768", &["256", "1048576"], &["255", "1048577"]),
        (JobName::Reembedding, "max_per_run = 100000", &["1"], &["0"]),
        (JobName::Reembedding, "sample_size = 500", &["1", "100000"], &["0", "100001"]),
        (JobName::Reembedding, "k = 5", &["1", "100"], &["0", "101"]),
        (JobName::Reembedding, "recheck_days = 30", &["0", "366"], &["367"]),
        (JobName::Reembedding, "keep_days = 7", &["0", "366"], &["367"]),
        (JobName::ConfidenceAnalytics, "recent_days = 7", &["1", "3650"], &["0", "3651"]),
        (JobName::ConfidenceAnalytics, "baseline_days = 90", &["1", "3650"], &["0", "3651"]),
        (JobName::ConfidenceAnalytics, "min_baseline_days = 5", &["2"], &["1"]),
        (JobName::ConfidenceAnalytics, "min_recent = 3", &["1"], &["0"]),
        (JobName::ConfidenceAnalytics, "min_mads = 2.0", &["0.0", "100.0"], &["-0.1", "100.1", "nan"]),
    ]);
    for (job, line) in [
        (JobName::Reembedding, "min_overlap = 0.9"),
        (JobName::Reembedding, "recheck_growth = 0.1"),
        (JobName::ConfidenceAnalytics, "min_drop = 0.15"),
        (JobName::ConfidenceAnalytics, "threshold = 0.4"),
    ] {
        for (values, taken) in [(&unit.0[..], true), (&unit.1[..], false)] {
            for value in values {
                assert_eq!(refusal(job, &changed(job, line, value)).is_none(), taken, "{line} as {value}");
            }
        }
    }
}

#[test]
fn a_retention_of_more_than_a_century_or_for_a_country_that_is_none_is_refused() {
    let text = embedded(JobName::Retention);
    for (from, to, says) in [
        ("after_days = 365", "after_days = 36500", None),
        ("after_days = 365", "after_days = 36501", Some("after_days is 0 to 36500")),
        ("after_days = 1,", "after_days = 0,", None),
        ("[thresholds.countries]", "[thresholds.countries]\nES = \"drop_source\"", None),
        ("[thresholds.countries]", "[thresholds.countries]\nes = \"drop_source\"", Some("two capital letters")),
        ("[thresholds.countries]", "[thresholds.countries]\nESP = \"drop_source\"", Some("two capital letters")),
        ("[thresholds.countries]", "[thresholds.countries]\nE1 = \"drop_source\"", Some("two capital letters")),
        ("[thresholds.countries]", "[thresholds.countries]\nES = \"for_ever\"", Some("for_ever")),
        ("tier = \"standard\"", "tier = \"none\"", Some("none")),
    ] {
        assert!(text.contains(from), "the test is out of date: {from}");
        let found = refusal(JobName::Retention, &text.replacen(from, to, 1)).map(|error| error.to_string());
        assert_eq!(found.is_some(), says.is_some(), "{to}: {found:?}");
        assert!(found.is_none_or(|message| says.is_some_and(|says| message.contains(says))), "{to}");
    }
}

#[test]
fn every_policy_needs_every_number_and_takes_no_other() {
    for job in JobName::ALL.iter().copied() {
        let text = embedded(job);
        assert!(refusal(job, text).is_none(), "{job}");
        for line in text.lines().take_while(|line| !line.starts_with("[thresholds")).filter(|line| line.contains(" = "))
        {
            let without = text.replacen(line, "", 1);
            assert!(refusal(job, &without).is_some(), "{job} without {line}");
        }
        let more = text.replacen("max_attempts", "most_attempts = 3\nmax_attempts", 1);
        assert!(refusal(job, &more).unwrap().to_string().contains("most_attempts"), "{job}");
        let more = format!("{text}\n[thresholds.more]\nx = 1\n");
        assert!(refusal(job, &more).is_some(), "{job} takes a threshold that is none");
        assert!(refusal(job, "").is_some() && refusal(job, "batch_size = ").is_some(), "{job}");
    }
}

#[test]
fn asking_comes_before_the_state_has_gone_by_the_hour() {
    let directory = tempfile::tempdir().unwrap();
    for (hours, taken) in [("167", true), ("168", false), ("169", false)] {
        let text = changed(JobName::Reconfirmation, "reconfirm_hours = 48", hours);
        std::fs::write(directory.path().join("reconfirmation.toml"), text).unwrap();
        assert_eq!(Policies::load(Some(directory.path())).is_ok(), taken, "{hours}");
    }
}

#[test]
fn a_directory_that_cannot_be_read_is_an_error_and_files_of_another_kind_are_looked_past() {
    let directory = tempfile::tempdir().unwrap();
    let absent = Policies::load(Some(&directory.path().join("absent")));
    assert!(matches!(absent, Err(PolicyError::Unreadable { kind: std::io::ErrorKind::NotFound, .. })));
    for name in ["README.md", "expirey.toml.bak", "expiry"] {
        std::fs::write(directory.path().join(name), "").unwrap();
    }
    assert_eq!(Policies::load(Some(directory.path())).unwrap(), Policies::load(None).unwrap());
    std::fs::create_dir(directory.path().join("purge.toml")).unwrap();
    let unreadable = Policies::load(Some(directory.path()));
    assert!(matches!(unreadable, Err(PolicyError::Unreadable { job: JobName::Purge, .. })), "{unreadable:?}");
}

#[test]
fn a_schedule_follows_the_organisations_clock_or_a_fixed_one() {
    for (text, rule, zone) in [
        ("organization", ZoneRule::Organization, Tz::Europe__Madrid),
        ("America/Lima", ZoneRule::Fixed(Tz::America__Lima), Tz::America__Lima),
        ("UTC", ZoneRule::Fixed(Tz::UTC), Tz::UTC),
    ] {
        let file = changed(JobName::Expiry, "time_zone = \"organization\"", &format!("\"{text}\""));
        let policy = parse::<ExpiryThresholds>(JobName::Expiry, &file).unwrap();
        assert_eq!(policy.run.time_zone, rule);
        assert_eq!(rule.zone(Tz::Europe__Madrid), zone);
        assert_eq!(rule.to_string(), text);
    }
}

#[test]
fn a_rest_doubles_from_the_first_failure_on_and_no_number_of_failures_overflows() {
    let file = changed(JobName::Expiry, "retry_seconds = 60", "86400");
    let longest = parse::<ExpiryThresholds>(JobName::Expiry, &file).unwrap().run;
    let file = changed(JobName::Expiry, "retry_seconds = 60", "1");
    let shortest = parse::<ExpiryThresholds>(JobName::Expiry, &file).unwrap().run;
    for (attempts, seconds) in [(0, 1), (1, 1), (2, 2), (14, 8_192), (15, 16_384), (16, 21_600), (u32::MAX, 21_600)] {
        assert_eq!(shortest.rest_after(attempts).num_seconds(), seconds, "{attempts}");
        assert_eq!(longest.rest_after(attempts).num_seconds(), 21_600, "{attempts}");
    }
}
