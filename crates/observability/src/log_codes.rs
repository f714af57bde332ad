//! Every code of a log line, with its meaning: docs/log.md is made from it.

/// Code, meaning, what to do.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let rows = include_str!("log_codes.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|row| {
        let (code, rest) = row.split_once('\t')?;
        let (meaning, remedy) = rest.split_once('\t')?;
        Some((code, meaning, remedy))
    })
}

/// docs/log.md.
pub fn page() -> String {
    let mut page = String::from(
        "# Log codes\n\nMade from `crates/observability/src/log_codes.tsv` by `make docs`.\n\nEach line of \
         the program from level info up has a `code`. With `log.format = \"json\"` it is a field at the top. No line holds text of a document, a name, or an id of a \
         patient. An organisation is a keyed hash of eight digits, which is the same in every line under one key store.\n\n\
         | code | meaning | what to do |\n|---|---|---|\n",
    );
    for (code, meaning, remedy) in codes() {
        page += &format!("| `{code}` | {meaning} | {} |\n", remedy.replace('|', "\\|"));
    }
    page
}
