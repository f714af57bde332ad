//! Statements. Text between braces is what the engines say differently:
//!
//! | placeholder | SQLite | PostgreSQL |
//! |---|---|---|
//! | `{uuids $n}` `{blobs $n}` | `(SELECT unhex(value) FROM json_each($n))` | `(SELECT unnest($n))` |
//! | `{ints $n}` `{texts $n}` | `(SELECT value FROM json_each($n))` | `(SELECT unnest($n))` |
//! | `{pairs $n}` | `(SELECT unhex(value->>0), unhex(value->>1) FROM json_each($n))` | `(SELECT * FROM unnest(…))` |
//! | `{overlaps column $n}` | `EXISTS (… json_each(column) …)` | `column && $n` |
//! | `{skip_locked}` | nothing: one writer at a time | `FOR UPDATE SKIP LOCKED` |
//! | `{rows}` (bulk statements) | `(SELECT … FROM json_each($1))` | `(SELECT … FROM unnest($1, …))` |

/// A statement as each engine reads it. Made once, from literals only: never from input.
#[derive(Debug)]
pub struct Sql {
    sqlite: &'static str,
}

impl Sql {
    /// Statements live as long as the program: they are written in `static` items, once each.
    pub fn new(template: &'static str) -> Self {
        let text = if template.contains('{') { &*Box::leak(sqlite_text(template).into_boxed_str()) } else { template };
        Self { sqlite: text }
    }

    pub(in crate::store) fn sqlite(&self) -> &'static str {
        self.sqlite
    }
}

fn sqlite_text(template: &str) -> String {
    let mut out = String::with_capacity(template.len() + 64);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}').map(|at| open + at).expect("a statement closes its braces");
        out.push_str(&rest[..open]);
        out.push_str(&sqlite_placeholder(&rest[open + 1..close]));
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    out
}

fn sqlite_placeholder(inside: &str) -> String {
    let words: Vec<&str> = inside.split_whitespace().collect();
    match words.as_slice() {
        ["uuids" | "blobs", list] => format!("(SELECT unhex(value) FROM json_each({list}))"),
        ["ints" | "texts", list] => format!("(SELECT value FROM json_each({list}))"),
        ["pairs", list] => format!("(SELECT unhex(value->>0), unhex(value->>1) FROM json_each({list}))"),
        ["overlaps", column, list] => {
            format!(
                "EXISTS (SELECT 1 FROM json_each({column}) AS own WHERE own.value IN (SELECT value FROM json_each({list})))"
            )
        }
        ["skip_locked"] => String::new(),
        _ => unreachable!("unknown placeholder in a statement: {inside}"),
    }
}

/// The type of a column of a bulk statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    Uuid,
    Int,
    Float,
    Bool,
    Text,
    Bytes,
    /// A list of integers (`terms`).
    Ints,
}

/// One statement over many rows.
#[derive(Debug)]
pub struct Bulk {
    sql: Sql,
}

impl Bulk {
    /// `ending` is what follows the rows: `ON CONFLICT …`, or nothing.
    pub fn new(table: &'static str, columns: &[(&'static str, ColumnType)], ending: &'static str) -> Self {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let reads: Vec<String> = columns.iter().enumerate().map(|(n, (_, kind))| read(n, *kind)).collect();
        // `WHERE true` keeps SQLite's parser from taking `ON` of an upsert for the `ON` of a join.
        let text = format!(
            "INSERT INTO {table} ({}) SELECT {} FROM json_each($1) WHERE true {ending}",
            names.join(", "),
            reads.join(", ")
        );
        Self { sql: Sql { sqlite: Box::leak(text.into_boxed_str()) } }
    }

    /// Any other statement over many rows, such as `UPDATE … FROM {rows} AS r WHERE …`: `{rows}` is a derived table
    /// with these columns.
    pub fn over(template: &'static str, columns: &[(&'static str, ColumnType)]) -> Self {
        let reads: Vec<String> =
            columns.iter().enumerate().map(|(n, (name, kind))| format!("{} AS {name}", read(n, *kind))).collect();
        let rows = format!("(SELECT {} FROM json_each($1))", reads.join(", "));
        Self { sql: Sql { sqlite: Box::leak(template.replace("{rows}", &rows).into_boxed_str()) } }
    }

    pub fn sql(&self) -> &Sql {
        &self.sql
    }
}

fn read(n: usize, kind: ColumnType) -> String {
    match kind {
        ColumnType::Uuid | ColumnType::Bytes => format!("unhex(value->>{n})"),
        _ => format!("value->>{n}"),
    }
}
