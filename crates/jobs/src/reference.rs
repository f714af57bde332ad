//! docs/jobs.md: every job with its hour, its description and its parameters. Defaults and descriptions are those of
//! the embedded policies; ranges are found by trying the checks of the policies.

use toml::{Table, Value};

use super::JobName;
use super::policy::{Policies, accepts, embedded};

/// A bound that is the type's own and no check's.
const OF_THE_TYPE: f64 = 65_535.0;

/// docs/jobs.md.
///
/// # Panics
/// When an embedded policy is refused, which a test excludes.
pub fn page() -> String {
    let policies = Policies::embedded().expect("the embedded policies are read by a test");
    let mut page = String::from(
        "# Jobs\n\nMade from `jobs/*.toml` and the registry of jobs by `make docs`. `anamnesis job list` prints the schedules, \
         `anamnesis job run NAME` runs one job, `anamnesis job simulate` says what it would do.\n\n\
         A job runs once for each organisation and local date. A missed run is made up. A run holds a lease, so that several \
         workers never run one job twice. A folder in `jobs.directory` of the configuration replaces the files that it has; the \
         others stay as they are here. Unknown keys and numbers outside the range stop the start.\n\n\
         | job | at (local time) | what it does |\n|---|---|---|\n",
    );
    for job in JobName::ALL {
        let at = hour(policies.get(*job).schedule.as_str());
        page += &format!("| [{job}](#{job}) | {at} | {} |\n", job.about());
    }
    page += "\n## Keys of every job\n\n| key | default | range | meaning |\n|---|---|---|---|\n";
    let shared = PolicyPage::parse(JobName::Expiry);
    for line in shared.lines.iter().filter(|line| line.section.is_empty()) {
        page += &row(JobName::Expiry, line);
    }
    for job in JobName::ALL {
        page += &section(*job);
    }
    page
}

/// `10 3 * * *` → `03:10`; another schedule as it is.
fn hour(schedule: &str) -> String {
    let fields: Vec<&str> = schedule.split(' ').collect();
    match (fields.as_slice(), fields.first().map(|m| m.parse::<u8>()), fields.get(1).map(|h| h.parse::<u8>())) {
        ([_, _, "*", "*", "*"], Some(Ok(minute)), Some(Ok(hour))) => format!("{hour:02}:{minute:02}"),
        _ => format!("`{schedule}`"),
    }
}

fn section(job: JobName) -> String {
    let written = PolicyPage::parse(job);
    let mut text = format!("\n## {job}\n\n{}\n", written.about);
    let shared =
        |line: &&PolicyLine| line.section.is_empty() && ["schedule", "batch_size"].contains(&line.key.as_str());
    let run: Vec<String> =
        written.lines.iter().filter(shared).map(|line| format!("`{} = {}`", line.key, line.value)).collect();
    text += &format!("\n{}.\n", run.join(", "));
    let mut last: Option<&str> = None;
    for line in written.lines.iter().filter(|line| !line.section.is_empty()) {
        if last != Some(line.section.as_str()) {
            last = Some(&line.section);
            if !line.before.is_empty() {
                text += &format!("\n{}\n", line.before);
            }
            text += &format!("\n| key of `[{}]` | default | range | meaning |\n|---|---|---|---|\n", line.section);
        }
        text += &row(job, line);
    }
    if last.is_none() {
        text += "\nIt has no parameters.\n";
    }
    text
}

fn row(job: JobName, line: &PolicyLine) -> String {
    let meaning = if line.about.is_empty() { "" } else { &line.about };
    format!("| `{}` | `{}` | {} | {meaning} |\n", line.key, line.value, range(job, line))
}

/// A key as it is written.
struct PolicyLine {
    /// The table that it is in; empty at the top.
    section: String,
    key: String,
    value: String,
    about: String,
    /// The text before the table.
    before: String,
}

/// A file as a person reads it.
struct PolicyPage {
    about: String,
    lines: Vec<PolicyLine>,
}

impl PolicyPage {
    fn parse(job: JobName) -> Self {
        let (mut section, mut before, mut comment) = (String::new(), String::new(), Vec::<String>::new());
        let (mut about, mut lines) = (None, Vec::new());
        for line in embedded(job).lines() {
            if let Some(words) = line.strip_prefix('#') {
                comment.push(words.trim().to_owned());
            } else if line.is_empty() {
                let read = comment.join(" ");
                if about.is_none() {
                    about = Some(read);
                    comment.clear();
                }
            } else if let Some(name) = line.strip_prefix('[') {
                name.trim_end_matches(']').clone_into(&mut section);
                before = paragraph(&std::mem::take(&mut comment));
            } else if let Some((key, value)) = line.split_once(" = ") {
                let about = std::mem::take(&mut comment).join(" ");
                let (key, value) = (key.to_owned(), value.to_owned());
                lines.push(PolicyLine { section: section.clone(), key, value, about, before: before.clone() });
            }
        }
        Self { about: plain(&about.unwrap_or_default()), lines }
    }
}

/// One paragraph; what names a word and explains it begins a line.
fn paragraph(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines {
        let explained = line.contains(":  ") || line.starts_with("archived:");
        text += if text.is_empty() {
            ""
        } else if explained {
            "<br>"
        } else {
            " "
        };
        text += line;
    }
    text
}

/// Without the remarks about the files themselves.
fn plain(about: &str) -> String {
    let about = about.split_once("The keys of a run").map_or(about, |(about, _)| about);
    let about = about.split_once("The keys are explained").map_or(about, |(about, _)| about);
    let about = about.split_once("Policy of one job").map_or(about, |(about, _)| about);
    let about = about.split_once(": ").map_or(about, |(_, about)| about).trim();
    let mut letters = about.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The range of a number, found by asking: the least and the greatest value that the policy takes while the others stay.
fn range(job: JobName, line: &PolicyLine) -> String {
    let policy: Table = toml::from_str(embedded(job)).expect("the embedded policies are read by a test");
    let Ok(value) = toml::from_str::<Table>(&format!("value = {}", line.value)).map(|mut table| table.remove("value"))
    else {
        return String::new();
    };
    let with = |value: Value| {
        let mut policy = policy.clone();
        let mut place = &mut policy;
        for name in line.section.split('.').filter(|name| !name.is_empty()) {
            match place.get_mut(name) {
                Some(Value::Table(table)) => place = table,
                _ => return false,
            }
        }
        place.insert(line.key.clone(), value);
        accepts(job, &policy.to_string())
    };
    match value {
        Some(Value::Integer(default)) => {
            let takes = |number: f64| with(Value::Integer(number as i64));
            let (least, most) = bounds(default as f64, 1.0, &takes);
            words(least.map(|least| format!("{least:.0}")), most.map(|most| format!("{most:.0}")))
        }
        Some(Value::Float(default)) => {
            let (least, most) = bounds(default, 0.000_01, &|number| with(Value::Float(number)));
            words(least.map(|least| format!("{least:.1}")), most.map(|most| format!("{most:.1}")))
        }
        Some(Value::Boolean(_)) => "true, false".to_owned(),
        _ => String::new(),
    }
}

fn words(least: Option<String>, most: Option<String>) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("{least} or more"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => String::new(),
    }
}

/// The outermost numbers that are taken, at this precision; `None` where there is no bound.
fn bounds(default: f64, step: f64, takes: &dyn Fn(f64) -> bool) -> (Option<f64>, Option<f64>) {
    let edge = |beyond: f64| {
        if takes(beyond) {
            return None;
        }
        let (mut taken, mut refused) = (default, beyond);
        while (taken - refused).abs() > step {
            let middle = f64::midpoint(taken, refused);
            let middle = if step >= 1.0 { middle.round() } else { middle };
            if middle == taken || middle == refused {
                break;
            }
            if takes(middle) { taken = middle } else { refused = middle }
        }
        Some(taken)
    };
    (edge(-1_000_000.0), edge(1_000_000_000.0).filter(|most| *most != OF_THE_TYPE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_the_one_that_the_policy_checks() {
        let of = |job, key: &str| {
            let written = PolicyPage::parse(job);
            range(job, written.lines.iter().find(|line| line.key == key).expect("the policy has the key"))
        };
        assert_eq!(of(JobName::Expiry, "batch_size"), "1 to 2000");
        assert_eq!(of(JobName::Expiry, "lease_seconds"), "10 to 86400");
        assert_eq!(of(JobName::Reembedding, "max_per_run"), "1 or more");
        assert_eq!(of(JobName::Expiry, "inference_hours"), "1 to 24");
        assert_eq!(of(JobName::Expiry, "min_extraction_confidence"), "0.0 to 1.0");
        assert_eq!(of(JobName::Decay, "period_days"), "1.0 to 36500.0");
        assert_eq!(of(JobName::Redaction, "again"), "true, false");
    }

    #[test]
    fn an_hour_is_written_as_on_a_clock() {
        assert_eq!(hour("10 3 * * *"), "03:10");
        assert_eq!(hour("10 3 1 * *"), "`10 3 1 * *`");
    }
}
