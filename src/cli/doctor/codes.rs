//! The findings of `doctor`: one row of `codes.tsv` for each code, with its severity, its meaning and its remedy.
//! docs/doctor.md is generated from it.

use std::sync::LazyLock;

use super::FindingState;

/// One kind of finding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FindingCode {
    pub(crate) check: &'static str,
    pub(crate) code: &'static str,
    pub(crate) state: FindingState,
    pub(crate) meaning: &'static str,
    pub(crate) remedy: &'static str,
}

/// Every code, by check.
pub(crate) static CODES: LazyLock<Vec<FindingCode>> = LazyLock::new(|| {
    let lines = include_str!("codes.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(read).collect()
});

fn read(line: &'static str) -> Option<FindingCode> {
    let mut cells = line.split('\t');
    let mut next = || cells.next();
    let (check, code, state, meaning, remedy) = (next()?, next()?, next()?, next()?, next()?);
    let state = if state == FindingState::Warning.name() { FindingState::Warning } else { FindingState::Fault };
    Some(FindingCode { check, code, state, meaning, remedy })
}

/// The row of a code.
pub(crate) fn find(code: &str) -> Option<&'static FindingCode> {
    CODES.iter().find(|row| row.code == code)
}

/// docs/doctor.md.
pub fn page() -> String {
    let mut page = String::from(
        "# What doctor finds\n\nMade from `src/cli/doctor/codes.tsv` by `make docs`.\n\n`anamnesis doctor` looks at configuration, \
         keys, store, broker, embedding provider, files and jobs, and changes nothing. It ends with exit code 1 when it finds a \
         fault. Warnings do not change the exit code. `--output json` prints the findings for a program.\n",
    );
    let mut check = "";
    for row in CODES.iter() {
        if row.check != check {
            check = row.check;
            page += &format!("\n## {check}\n\n| code | state | meaning | remedy |\n|---|---|---|---|\n");
        }
        page += &format!(
            "| `{}` | {} | {} | {} |\n",
            row.code,
            row.state.name(),
            row.meaning,
            row.remedy.replace('|', "\\|")
        );
    }
    page
}
