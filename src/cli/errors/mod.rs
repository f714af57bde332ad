//! Every code that an error can carry, with what to do: docs/error-codes.md is made from `codes.tsv`. A test compares the
//! table with the sources that declare the codes.

/// One code.
#[derive(Debug, Clone, Copy)]
struct ErrorCodeRow {
    section: &'static str,
    code: &'static str,
    retry: &'static str,
    meaning: &'static str,
    remedy: &'static str,
}

/// Name, heading and where a person meets the codes.
const SECTIONS: [(&str, &str, &str); 8] = [
    (
        "reason",
        "Reasons of quarantine",
        "In `anamnesis quarantine list`, in `anamnesis.message.quarantined.v1`, in metrics.",
    ),
    ("problem", "Problems of a message", "Next to the field in `anamnesis quarantine show`, `ingest` and the log."),
    ("config", "Problems of the configuration", "`kind` in `anamnesis config check --output json`."),
    ("answer", "Answers about a patient", "`answer` in the JSON of readers, such as `context` and `memory list`."),
    ("broker", "Broker", "In the log, in `/readyz` and in `anamnesis doctor`."),
    ("keys", "Keys", "In the log and in `anamnesis doctor`."),
    ("job", "Job runs", "`error` of a failed run in `anamnesis job show`."),
    ("ready", "Readiness", "`code` of a failed check of `/readyz`."),
];

fn rows() -> impl Iterator<Item = ErrorCodeRow> {
    include_str!("codes.tsv").lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut cells = line.split('\t');
        let mut next = || cells.next();
        Some(ErrorCodeRow { section: next()?, code: next()?, retry: next()?, meaning: next()?, remedy: next()? })
    })
}

/// docs/error-codes.md.
pub fn page() -> String {
    let mut page = String::from(
        "# Error codes\n\nMade from `src/cli/errors/codes.tsv` by `make docs`; a test compares the codes with the sources. Codes are \
         stable: a new meaning gets a new code.\n\n\"Retry\" says whether the same message or command can succeed without a change: \
         `yes`, `no`, or `later`, once something named has happened.\n\n\
         Other pages: exit codes in [command-line.md](command-line.md), findings of `doctor` in [doctor.md](doctor.md), codes of \
         the log in [log.md](log.md).\n\nThe HTTP endpoints have no error bodies of their own: `/healthz` and `/readyz` answer 503 \
         with a code of \"Readiness\" or \"Broker\", a body over one kilobyte gets 413.\n",
    );
    for (section, heading, place) in SECTIONS {
        page += &format!("\n## {heading}\n\n{place}\n\n| code | retry | meaning | what to do |\n|---|---|---|---|\n");
        for row in rows().filter(|row| row.section == section) {
            let remedy = row.remedy.replace('|', "\\|");
            page += &format!("| `{}` | {} | {} | {remedy} |\n", row.code, row.retry, row.meaning);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use regex::Regex;

    use super::*;
    use anamnesis_core::reason::Reason;
    use anamnesis_messages::Problem;

    fn listed(section: &str) -> BTreeSet<String> {
        rows().filter(|row| row.section == section).map(|row| row.code.to_owned()).collect()
    }

    fn set<'a>(codes: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
        codes.map(str::to_owned).collect()
    }

    /// The words that a pattern finds in a source, from `begin` to the next line that closes a block of that depth.
    fn declared(source: &str, begin: &str, pattern: &str) -> BTreeSet<String> {
        let start = source.find(begin).unwrap_or_else(|| panic!("{begin} is not there"));
        let body = &source[start..];
        let end = body.find("\n    }\n").unwrap_or(body.len());
        let pattern = Regex::new(pattern).unwrap();
        pattern.captures_iter(&body[..end]).map(|found| found[1].to_owned()).collect()
    }

    /// The text of every source below a folder.
    fn sources(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries
            .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![std::fs::read_to_string(path).unwrap()] })
            .collect()
    }

    #[test]
    fn every_reason_and_every_problem_is_listed_and_no_other() {
        assert_eq!(listed("reason"), set(Reason::ALL.iter().map(|reason| reason.code())));
        assert_eq!(listed("problem"), set(Problem::ALL.iter().map(|problem| problem.code())));
    }

    #[test]
    fn every_code_of_an_error_type_is_listed_and_no_other() {
        let arm = "=> \"([a-z_]+)\"";
        for (section, source) in [
            ("keys", include_str!("../../../crates/crypto/src/error.rs")),
            ("job", include_str!("../../../crates/jobs/src/error.rs")),
        ] {
            assert_eq!(listed(section), declared(source, "fn code(&self)", arm), "{section}");
        }
        let broker = include_str!("../../../crates/rabbitmq/src/error.rs");
        let mut codes = declared(broker, "fn code(&self)", arm);
        let lost = Regex::new(r#"lost\("([a-z_]{2,})"\)"#).unwrap();
        for source in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/rabbitmq/src")) {
            codes.extend(lost.captures_iter(&source).map(|found| found[1].to_owned()));
        }
        assert_eq!(listed("broker"), codes);
        let answers = declared(include_str!("../exit.rs"), "fn answer_code(&self)", arm);
        assert_eq!(listed("answer"), answers);
    }

    #[test]
    fn every_kind_of_configuration_problem_is_listed_and_no_other() {
        let source = include_str!("../../../crates/config/src/check.rs");
        let start = source.find("pub enum ProblemKind {").unwrap();
        let end = source[start..].find("\n}\n").unwrap();
        let variants = Regex::new(r"(?m)^    ([A-Z][a-z]+),$").unwrap();
        let kinds = variants.captures_iter(&source[start..start + end]).map(|found| found[1].to_lowercase()).collect();
        assert_eq!(listed("config"), kinds);
    }

    #[test]
    fn every_code_of_a_readiness_check_is_listed_and_no_other() {
        let code = Regex::new(r#"Check::failed\("[a-z]+", "([a-z_]+)"\)"#).unwrap();
        let http = include_str!("../../http.rs").split("#[cfg(test)]").next().unwrap();
        let sources = [include_str!("../worker/probes.rs"), include_str!("../worker/spool.rs"), http];
        let found = sources.iter().flat_map(|source| code.captures_iter(source).map(|found| found[1].to_owned()));
        assert_eq!(listed("ready"), found.collect());
    }

    #[test]
    fn each_row_has_a_section_a_word_on_retrying_and_a_remedy() {
        for row in rows() {
            assert!(SECTIONS.iter().any(|(name, ..)| *name == row.section), "{row:?}");
            assert!(["yes", "no", "later"].contains(&row.retry), "{row:?}");
            assert!(row.meaning.ends_with('.') && !row.remedy.is_empty(), "{row:?}");
        }
        let lines = include_str!("codes.tsv").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(rows().count(), lines, "a line lacks a cell");
    }
}
