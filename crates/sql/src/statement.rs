//! Statements. Text between braces is the part that differs between the engines:
//!
//! | placeholder | SQLite | PostgreSQL |
//! |---|---|---|
//! | `{uuids $n}` `{blobs $n}` | `(SELECT unhex(value) FROM json_each($n))` | `(SELECT unnest($n::…[]))` |
//! | `{ints $n}` `{texts $n}` | `(SELECT value FROM json_each($n))` | `(SELECT unnest($n::…[]))` |
//! | `{pairs $n}`: two ids | `(SELECT unhex(value->>0), unhex(value->>1) FROM json_each($n))` | `(SELECT …::uuid, …::uuid FROM unnest($n::bytea[]))` |
//! | `{keyed $n}`: an id and bytes | as `{pairs $n}` | `(SELECT …::uuid, … FROM unnest($n::bytea[]))` |
//! | `{similarity column $n}` | the vector itself, compared when it is read | the dot product |
//! | `{all texts column}` | one text, separated by commas | the same |
//! | `{all ints column}` | eight bytes of each row, concatenated | an array |
//! | `{all uuids column}` | the bytes of all rows, concatenated | an array |
//! | `{all held terms $n}` | of each row the number of its terms in `$n` and then the terms; all without `$n` | all of them |
//! | `{all similarities column $n}` | the dot products, concatenated | an array of them |
//! | `{through index}` | `INDEXED BY index`: rows in their stored order | nothing: it does so without a hint |
//! | `{for_update}` | nothing: one writer at a time | `FOR NO KEY UPDATE` |
//! | `{for_share}` | nothing: one writer at a time | `FOR SHARE` |
//! | `{skip_locked}` | nothing | `FOR UPDATE SKIP LOCKED` |
//! | `{rows}` (bulk statements) | `(SELECT … FROM json_each($1))` | `(SELECT … FROM unnest($1, …))` |
//!
//! `{all …}` gathers a column of all rows into one, in the same order for every column of a statement: a patient's
//! thousand passages travel as one row ([`super::PackedRows`]), where a row each costs more than all that is done with
//! them.

/// A statement as each engine reads it. Made once, from literals only: never from input.
#[derive(Debug, Clone, Copy)]
pub struct Sql {
    sqlite: &'static str,
    postgres: &'static str,
}

impl Sql {
    /// Statements live as long as the program: they are written in `static` items, once each.
    pub fn new(template: &'static str) -> Self {
        if !template.contains('{') {
            return Self { sqlite: template, postgres: template };
        }
        Self {
            sqlite: leak(filled(template, sqlite_placeholder)),
            postgres: leak(filled(template, postgres_placeholder)),
        }
    }

    /// A look-up of rows by keys: `select` (which ends in its other conditions) for each key of `list`, a placeholder
    /// such as `{pairs $2}`, in these columns of an index. The form makes PostgreSQL use the index key by key. Without
    /// statistics, as after an installation, it would read all rows of the organisation.
    pub fn per_key_lookup(select: &'static str, columns: &[&str], list: &'static str) -> Self {
        let keys: Vec<String> = (1..=columns.len()).map(|n| format!("key_{n}")).collect();
        let same = columns.iter().zip(&keys).map(|(column, key)| format!("{column} = wanted.{key}"));
        let same = same.collect::<Vec<_>>().join(" AND ");
        let (columns, keys) = (columns.join(", "), keys.join(", "));
        let of = |placeholder| filled(list, placeholder);
        Self {
            sqlite: leak(format!("{select} AND ({columns}) IN {}", of(sqlite_placeholder))),
            postgres: leak(format!(
                "SELECT found.* FROM {} AS wanted({keys}) CROSS JOIN LATERAL ({select} AND {same} OFFSET 0) AS found",
                of(postgres_placeholder)
            )),
        }
    }

    pub fn sqlite(&self) -> &'static str {
        self.sqlite
    }

    /// As PostgreSQL is asked.
    pub fn postgres(&self) -> &'static str {
        self.postgres
    }
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn filled(template: &str, placeholder: fn(&str) -> String) -> String {
    let mut out = String::with_capacity(template.len() + 64);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}').map(|at| open + at).expect("a statement closes its braces");
        out.push_str(&rest[..open]);
        out.push_str(&placeholder(&rest[open + 1..close]));
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
        ["pairs" | "keyed", list] => format!("(SELECT unhex(value->>0), unhex(value->>1) FROM json_each({list}))"),
        ["similarity", column, query] => format!("CASE WHEN {query} IS NOT NULL THEN {column} END"),
        ["all", "texts", column] => format!("group_concat({column})"),
        ["all", "ints" | "uuids", column] => format!("packed({column})"),
        ["all", "held", column, wanted] => format!("held({column}, {wanted})"),
        ["all", "similarities", column, query] => format!("packed(similarity({column}, {query}))"),
        ["through", index] => format!("INDEXED BY {index}"),
        ["skip_locked" | "for_update" | "for_share"] => String::new(),
        _ => unreachable!("unknown placeholder in a statement: {inside}"),
    }
}

/// A pair is sent as one byte string that begins with the sixteen bytes of the id: one argument for any number of
/// pairs.
fn postgres_placeholder(inside: &str) -> String {
    let first = "encode(substr(pair, 1, 16), 'hex')::uuid";
    let words: Vec<&str> = inside.split_whitespace().collect();
    match words.as_slice() {
        ["uuids", list] => format!("(SELECT unnest({list}::uuid[]))"),
        ["blobs", list] => format!("(SELECT unnest({list}::bytea[]))"),
        ["ints", list] => format!("(SELECT unnest({list}::bigint[]))"),
        ["texts", list] => format!("(SELECT unnest({list}::text[]))"),
        ["pairs", list] => {
            format!("(SELECT {first}, encode(substr(pair, 17), 'hex')::uuid FROM unnest({list}::bytea[]) AS pair)")
        }
        ["keyed", list] => format!("(SELECT {first}, substr(pair, 17) FROM unnest({list}::bytea[]) AS pair)"),
        ["similarity", column, query] => {
            let (own, asked) = (format!("vector_dims({column})"), format!("vector_dims({query}::halfvec)"));
            format!("CASE WHEN {own} = {asked} THEN -({column} <#> {query}::halfvec) END")
        }
        ["all", "ints", column] => format!("array_agg({column}::bigint)"),
        ["all", "texts", column] => format!("string_agg({column}, ',')"),
        ["all", "uuids", column] => format!("array_agg({column})"),
        ["all", "held", column, wanted] => format!(
            "string_agg(int8send(octet_length({column}) / 8) || {column}, ''::bytea) \
             FILTER (WHERE {wanted}::bytea IS NULL OR true)"
        ),
        ["all", "similarities", column, query] => {
            format!("array_agg(-({column} <#> {query}::halfvec))")
        }
        ["through", _] => String::new(),
        ["skip_locked"] => "FOR UPDATE SKIP LOCKED".to_owned(),
        ["for_update"] => "FOR NO KEY UPDATE".to_owned(),
        ["for_share"] => "FOR SHARE".to_owned(),
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
    /// A list of integers, eight bytes each (`terms`).
    Ints,
    /// A vector of 16-bit floats, little endian (`embedding.vector`).
    Vector,
}

impl ColumnType {
    /// PostgreSQL's type of a value that all rows of a statement share.
    fn postgres_value(self) -> &'static str {
        match self {
            Self::Uuid => "uuid",
            Self::Int => "bigint",
            Self::Float => "double precision",
            Self::Bool => "smallint",
            Self::Text => "text",
            Self::Bytes | Self::Ints => "bytea",
            Self::Vector => "halfvec",
        }
    }

    /// The array that carries a column of rows to PostgreSQL.
    fn postgres_array(self) -> &'static str {
        match self {
            Self::Uuid => "uuid[]",
            Self::Int => "bigint[]",
            Self::Float => "double precision[]",
            Self::Bool => "smallint[]",
            Self::Text => "text[]",
            Self::Bytes | Self::Ints => "bytea[]",
            Self::Vector => "halfvec[]",
        }
    }
}

/// One statement over many rows.
#[derive(Debug, Clone)]
pub struct Bulk {
    sql: Sql,
    kinds: Vec<ColumnType>,
}

/// A column of a bulk statement: its name and type.
pub type Column = (&'static str, ColumnType);

impl Bulk {
    /// `ending` is what follows the rows: `ON CONFLICT …`, or nothing.
    pub fn new(table: &'static str, columns: &[Column], ending: &'static str) -> Self {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let insert = format!("INSERT INTO {table} ({})", names.join(", "));
        let (sqlite, postgres) = (sqlite_rows(columns), postgres_rows(columns));
        // `WHERE true` keeps SQLite's parser from taking `ON` of an upsert for the `ON` of a join.
        Self {
            sql: Sql {
                sqlite: leak(format!("{insert} {sqlite} WHERE true {ending}")),
                postgres: leak(format!("{insert} {postgres} WHERE true {ending}")),
            },
            kinds: columns.iter().map(|(_, kind)| *kind).collect(),
        }
    }

    /// The statement of [`Bulk::new`] for one row, whose columns are its arguments.
    pub fn single(table: &'static str, columns: &[Column], ending: &'static str) -> Sql {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let of = |place: &dyn Fn(usize, &Column) -> String| {
            let places: Vec<String> = columns.iter().enumerate().map(|(n, column)| place(n + 1, column)).collect();
            leak(format!("INSERT INTO {table} ({}) VALUES ({}) {ending}", names.join(", "), places.join(", ")))
        };
        Sql {
            sqlite: of(&|n, _| format!("${n}")),
            postgres: of(&|n, (_, kind)| format!("${n}::{}", kind.postgres_value())),
        }
    }

    /// As [`Bulk::new`], with columns that have the same value in all rows of a statement. Each is sent once
    /// ([`super::Transaction::bulk_sharing`]), because a column of rows costs the server another list to unfold.
    pub fn sharing(table: &'static str, shared: &[Column], columns: &[Column], ending: &'static str) -> Self {
        let own: Vec<String> = columns.iter().map(|(name, _)| format!("r.{name}")).collect();
        let names: Vec<&str> = shared.iter().chain(columns).map(|(name, _)| *name).collect();
        let insert = |values: Vec<String>, rows: String| {
            let values = [values, own.clone()].concat().join(", ");
            leak(format!(
                "INSERT INTO {table} ({}) SELECT {values} FROM ({rows}) AS r WHERE true {ending}",
                names.join(", ")
            ))
        };
        let (first, places) = (shared.len() + 1, 1..=shared.len());
        let scalars = shared.iter().zip(places.clone());
        let scalars = scalars.map(|((_, kind), place)| format!("${place}::{}", kind.postgres_value())).collect();
        Self {
            sql: Sql {
                // The rows are SQLite's first argument, whatever follows.
                sqlite: insert(places.map(|place| format!("${}", place + 1)).collect(), sqlite_rows(columns)),
                postgres: insert(scalars, postgres_rows_from(first, columns)),
            },
            kinds: columns.iter().map(|(_, kind)| *kind).collect(),
        }
    }

    /// Any other statement over many rows, such as `UPDATE … FROM {rows} AS r WHERE …`: `{rows}` is a derived table
    /// with these columns.
    pub fn over(template: &'static str, columns: &[Column]) -> Self {
        let filled = |rows: String| leak(template.replace("{rows}", &format!("({rows})")));
        Self {
            sql: Sql { sqlite: filled(sqlite_rows(columns)), postgres: filled(postgres_rows(columns)) },
            kinds: columns.iter().map(|(_, kind)| *kind).collect(),
        }
    }

    pub fn sql(&self) -> &Sql {
        &self.sql
    }

    pub(crate) fn kinds(&self) -> &[ColumnType] {
        &self.kinds
    }
}

fn sqlite_rows(columns: &[Column]) -> String {
    let read = |(n, (name, kind)): (usize, &Column)| match kind {
        ColumnType::Uuid | ColumnType::Bytes | ColumnType::Vector | ColumnType::Ints => {
            format!("unhex(value->>{n}) AS {name}")
        }
        _ => format!("value->>{n} AS {name}"),
    };
    let reads: Vec<String> = columns.iter().enumerate().map(read).collect();
    format!("SELECT {} FROM json_each($1)", reads.join(", "))
}

fn postgres_rows(columns: &[Column]) -> String {
    postgres_rows_from(1, columns)
}

/// `first` is the number of the first column's argument.
fn postgres_rows_from(first: usize, columns: &[Column]) -> String {
    let reads: Vec<String> = columns.iter().map(|(name, _)| format!("u.{name}")).collect();
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let array = |(n, (_, kind)): (usize, &Column)| format!("${}::{}", first + n, kind.postgres_array());
    let arrays: Vec<String> = columns.iter().enumerate().map(array).collect();
    format!("SELECT {} FROM unnest({}) AS u({})", reads.join(", "), arrays.join(", "), names.join(", "))
}

#[cfg(test)]
#[path = "statement_tests.rs"]
mod tests;
