//! Migrations that come from here on hold no long lock.

use std::path::Path;

/// Already applied at many sites, or written before this rule; they stay as they are. `docs/operations.md` lists those
/// that lock tables.
const LAST_OLD: u32 = 24;

/// The statements of a migration without comments and bodies of functions, in lower case with single spaces.
fn statements(sql: &str) -> Vec<String> {
    let plain: String = sql.lines().map(|line| line.split("--").next().unwrap_or("")).collect::<Vec<_>>().join(" ");
    let mut outside = String::new();
    for (n, part) in plain.split("$$").enumerate() {
        if n % 2 == 0 {
            outside.push_str(part);
        }
    }
    let one = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    outside.split(';').map(one).filter(|text| !text.is_empty()).collect()
}

/// Faults of a new migration of the server: each is a reason to split it into steps.
fn faults(sql: &str) -> Vec<String> {
    let own = sql.trim_start().starts_with("-- no-transaction");
    let batched = own && sql.lines().nth(1).is_some_and(|line| line.trim() == "-- batched");
    let all = statements(sql);
    let table_after = |text: &str, word: &str| {
        let rest = text.split_once(word).map(|(_, rest)| rest).unwrap_or_default();
        let rest = rest.trim_start_matches("if not exists ").trim_start_matches("only ");
        rest.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default().to_owned()
    };
    let made: Vec<String> = all
        .iter()
        .filter(|text| text.starts_with("create table"))
        .map(|text| table_after(text, "create table "))
        .collect();
    let mut faults = Vec::new();
    for text in &all {
        let index = text.starts_with("create index") || text.starts_with("create unique index");
        let concurrent = text.contains("index concurrently");
        if index && !concurrent && !made.contains(&table_after(text, " on ")) {
            faults.push(format!("an index on a table with rows without CONCURRENTLY: {text}"));
        }
        if concurrent && (!own || all.len() > 1) {
            faults.push(format!("CONCURRENTLY needs a file of its own that begins with `-- no-transaction`: {text}"));
        }
        let altered = text.starts_with("alter table") && !made.contains(&table_after(text, "alter table "));
        let rewrites = [
            " type ",
            " set not null",
            " set logged",
            " set unlogged",
            " set tablespace",
            " add primary key",
            " add unique",
        ];
        if altered && rewrites.iter().any(|word| text.contains(word)) {
            faults.push(format!("rewrites or reads a whole table under its lock: {text}"));
        }
        if altered
            && text.contains(" add ")
            && (text.contains(" check") || text.contains(" references") || text.contains(" foreign key"))
            && !text.contains("not valid")
        {
            faults.push(format!("a constraint without NOT VALID reads a whole table under its lock: {text}"));
        }
        let volatile = text.contains(" default ") && text.split(" default ").skip(1).any(|value| value.contains("()"));
        if altered && text.contains("add column") && (volatile || text.contains("generated always")) {
            faults.push(format!("a column whose value differs by row rewrites the table: {text}"));
        }
        let changes = text.starts_with("update ") || text.starts_with("delete from ");
        if changes && !made.iter().any(|table| text.contains(table.as_str())) {
            if !batched || all.len() > 1 || !text.contains(" limit ") {
                faults.push(format!("changes rows, but not as a file of its own in batches, with a LIMIT: {text}"));
            }
            if text.contains("skip locked") {
                faults.push(format!("passes over rows in use, which nothing comes back for: {text}"));
            }
        }
        if text.starts_with("cluster") || text.starts_with("vacuum full") || text.starts_with("lock table") {
            faults.push(format!("locks a whole table: {text}"));
        }
    }
    faults
}

#[test]
fn new_migrations_hold_no_long_lock() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/postgres");
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(version) = name.split('_').next().and_then(|number| number.parse::<u32>().ok()) else { continue };
        if version > LAST_OLD {
            assert_eq!(faults(&std::fs::read_to_string(&path).unwrap()), Vec::<String>::new(), "{name}");
        }
    }
}

#[test]
fn what_holds_a_long_lock_is_refused_and_its_steps_are_not() {
    let bad = [
        "CREATE INDEX memory_x ON memory (org_id);",
        "create unique index memory_x\n on memory (org_id);",
        "CREATE INDEX CONCURRENTLY memory_x ON memory (org_id);",
        "-- no-transaction\nCREATE INDEX CONCURRENTLY a ON memory (id); CREATE INDEX CONCURRENTLY b ON memory (id);",
        "ALTER TABLE memory ALTER COLUMN state TYPE varchar(9);",
        "ALTER TABLE memory ALTER COLUMN state SET NOT NULL;",
        "ALTER TABLE memory ADD CONSTRAINT c CHECK (state <> '');",
        "ALTER TABLE memory ADD COLUMN made timestamptz DEFAULT clock_timestamp();",
        "UPDATE memory SET state = 'active';",
        "DELETE FROM outbox WHERE published_at IS NOT NULL;",
        "LOCK TABLE memory;",
        "UPDATE memory SET note = NULL WHERE id IN (SELECT id FROM memory WHERE note IS NOT NULL LIMIT 2000);",
        "-- no-transaction\n-- batched\nUPDATE memory SET note = NULL WHERE note IS NOT NULL;",
        "-- no-transaction\n-- batched\nDELETE FROM outbox WHERE id IN (SELECT id FROM outbox LIMIT 9 FOR UPDATE SKIP LOCKED);",
    ];
    for sql in bad {
        assert!(!faults(sql).is_empty(), "{sql}");
    }
    let good = [
        "CREATE TABLE new_one (id uuid PRIMARY KEY); CREATE INDEX new_one_id ON new_one (id);",
        "-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS memory_x ON memory (org_id);",
        "ALTER TABLE memory ADD COLUMN note bytea;",
        "ALTER TABLE memory ADD COLUMN flag smallint NOT NULL DEFAULT 0;",
        "ALTER TABLE memory ADD CONSTRAINT c CHECK (state <> '') NOT VALID;",
        "-- UPDATE memory SET x = 1;\nALTER TABLE memory DROP COLUMN note;",
        "-- no-transaction\n-- batched\nUPDATE memory SET note = NULL WHERE id IN \
         (SELECT id FROM memory WHERE note IS NOT NULL LIMIT 2000);",
    ];
    for sql in good {
        assert_eq!(faults(sql), Vec::<String>::new(), "{sql}");
    }
}
