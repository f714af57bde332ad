//! Migrations are pairs: both engines end with the same tables, columns, nullability, keys, closed sets and indexes.

use std::collections::{BTreeMap, BTreeSet};

use anamnesis_sql::{Access, Database, Location, Sql};
use regex::Regex;
use sqlx::Row as _;

use crate::server::TestDatabase;

/// A schema, independent of the engine's notation.
#[derive(Debug, Default, PartialEq, Eq)]
struct SchemaShape {
    /// Kind, whether it may be empty, place in the primary key, by table and column.
    columns: BTreeMap<(String, String), (&'static str, bool, i64)>,
    /// The closed sets of words.
    words: BTreeMap<(String, String), BTreeSet<String>>,
    /// Whether it is unique, by table and name.
    indexes: BTreeMap<(String, String), bool>,
    /// Table, columns, table.
    foreign: BTreeSet<(String, String, String)>,
}

/// Indexes that give rows in the order in which they lie: a server sorts them so before it fetches them.
const OF_THE_FILE_ALONE: [(&str, &str); 1] = [("embedding", "embedding_order")];

/// What a server has under an old name for one version, of a kind: (table, old name).
fn old_names(kind: &str) -> BTreeSet<(String, String)> {
    let lines = include_str!("../../../crates/store/sql/old_names.tsv").lines().filter(|line| !line.starts_with('#'));
    let fields = lines.map(|line| line.split('\t').collect::<Vec<_>>());
    fields.filter(|one| one[0] == kind).map(|one| (one[1].to_owned(), one[2].to_owned())).collect()
}

fn ours(table: &str) -> bool {
    table != "_sqlx_migrations" && !table.starts_with("sqlite_")
}

async fn embedded() -> SchemaShape {
    let db = Database::open(&Location::Memory).await.unwrap();
    let mut tx = db.read(Access::Platform).await.unwrap();
    let mut shape = SchemaShape::default();
    let sql = Sql::new(
        "SELECT t.name, c.name, c.type, c.\"notnull\", c.pk FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c \
         WHERE t.type = 'table'",
    );
    for row in tx.fetch_all(&sql, Vec::new()).await.unwrap() {
        let text = |at| row.text(at).unwrap();
        if ours(&text(0)) {
            let kind = match text(2).as_str() {
                "BLOB" => "bytes",
                "INTEGER" => "integer",
                "REAL" => "float",
                "TEXT" => "text",
                other => panic!("{other}"),
            };
            shape.columns.insert((text(0), text(1)), (kind, row.i64(3).unwrap() == 0, row.i64(4).unwrap()));
        }
    }
    let words = Regex::new(r"(\w+)\s+IN\s*\(\s*('[^)]*')\)").unwrap();
    let tables = Sql::new("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL");
    for row in tx.fetch_all(&tables, Vec::new()).await.unwrap() {
        for found in words.captures_iter(&row.text(1).unwrap()) {
            shape.words.insert((row.text(0).unwrap(), found[1].to_owned()), quoted(&found[2]));
        }
    }
    let sql = Sql::new(
        "SELECT t.name, i.name, i.\"unique\" FROM sqlite_schema AS t JOIN pragma_index_list(t.name) AS i \
         WHERE t.type = 'table' AND i.origin = 'c'",
    );
    for row in tx.fetch_all(&sql, Vec::new()).await.unwrap() {
        shape.indexes.insert((row.text(0).unwrap(), row.text(1).unwrap()), row.i64(2).unwrap() == 1);
    }
    let sql = Sql::new(
        "SELECT t.name, group_concat(f.\"from\"), f.\"table\" FROM sqlite_schema AS t \
         JOIN pragma_foreign_key_list(t.name) AS f WHERE t.type = 'table' GROUP BY t.name, f.id, f.\"table\"",
    );
    for row in tx.fetch_all(&sql, Vec::new()).await.unwrap() {
        shape.foreign.insert((row.text(0).unwrap(), row.text(1).unwrap(), row.text(2).unwrap()));
    }
    shape
}

async fn server() -> SchemaShape {
    let server = TestDatabase::new().await;
    let mut connection = server.administrator().await;
    let mut shape = SchemaShape::default();
    let sql = "SELECT c.table_name::text, c.column_name::text, c.udt_name::text, c.is_nullable = 'YES', \
               coalesce(array_position(i.indkey::int2[], a.attnum), -1)::bigint + 1 \
               FROM information_schema.columns AS c \
               JOIN pg_attribute AS a ON a.attrelid = c.table_name::regclass AND a.attname = c.column_name \
               LEFT JOIN pg_index AS i ON i.indrelid = a.attrelid AND i.indisprimary WHERE c.table_schema = 'anamnesis'";
    for row in sqlx::query(sql).fetch_all(&mut connection).await.unwrap() {
        let (table, column): (String, String) = (row.get(0), row.get(1));
        if ours(&table) {
            let kind = match row.get::<String, _>(2).as_str() {
                "uuid" | "bytea" | "halfvec" => "bytes",
                "int8" | "int2" => "integer",
                "float8" => "float",
                "text" => "text",
                other => panic!("{other}"),
            };
            shape.columns.insert((table, column), (kind, row.get(3), row.get(4)));
        }
    }
    let views = old_names("view");
    shape.columns.retain(|(table, _), _| !views.iter().any(|(_, view)| view == table));
    for place in old_names("column") {
        assert!(shape.columns.remove(&place).is_some(), "{place:?}");
    }
    let words = Regex::new(r"\(\((\w+) = ANY \(ARRAY\[([^\]]*)\]").unwrap();
    let sql = "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c' \
               AND connamespace = 'anamnesis'::regnamespace";
    for row in sqlx::query(sql).fetch_all(&mut connection).await.unwrap() {
        for found in words.captures_iter(&row.get::<String, _>(1)).filter(|found| found[2].contains('\'')) {
            shape.words.insert((row.get(0), found[1].to_owned()), quoted(&found[2]));
        }
    }
    shape.words.retain(|place, _| !old_names("column").contains(place));
    let sql = "SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text, i.indisunique FROM pg_index AS i \
               JOIN pg_class AS c ON c.oid = i.indexrelid WHERE c.relnamespace = 'anamnesis'::regnamespace \
               AND NOT EXISTS (SELECT 1 FROM pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u'))";
    for row in sqlx::query(sql).fetch_all(&mut connection).await.unwrap() {
        shape.indexes.insert((row.get(0), row.get(1)), row.get(2));
    }
    for place in old_names("index") {
        assert!(shape.indexes.remove(&place).is_some(), "{place:?}");
    }
    let sql = "SELECT k.conrelid::regclass::text, string_agg(a.attname, ',' ORDER BY p.place), k.confrelid::regclass::text \
               FROM pg_constraint AS k CROSS JOIN unnest(k.conkey) WITH ORDINALITY AS p(number, place) \
               JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = p.number \
               WHERE k.contype = 'f' AND k.connamespace = 'anamnesis'::regnamespace GROUP BY k.oid";
    for row in sqlx::query(sql).fetch_all(&mut connection).await.unwrap() {
        shape.foreign.insert((row.get(0), row.get(1), row.get(2)));
    }
    shape
}

fn quoted(list: &str) -> BTreeSet<String> {
    list.split('\'').skip(1).step_by(2).map(str::to_owned).collect()
}

#[tokio::test]
async fn both_engines_end_with_the_same_schema() {
    let (one, other) = (embedded().await, server().await);
    assert!(one.columns.len() > 250 && one.words.len() > 15 && one.indexes.len() > 10 && one.foreign.len() > 10);
    for (place, column) in one.columns.iter().chain(&other.columns) {
        assert_eq!((one.columns.get(place), other.columns.get(place)), (Some(column), Some(column)), "{place:?}");
    }
    assert_eq!(one.words, other.words);
    let mut indexes = one.indexes.clone();
    for (table, index) in OF_THE_FILE_ALONE {
        assert_eq!(indexes.remove(&(table.to_owned(), index.to_owned())), Some(false), "{index}");
    }
    assert_eq!(indexes, other.indexes);
    assert_eq!(one.foreign, other.foreign);
}

#[test]
fn migrations_come_in_pairs() {
    let names = |engine: &str| -> BTreeSet<String> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(engine);
        let files = folder.read_dir().unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        files.filter(|name| name.starts_with(|c: char| c.is_ascii_digit())).collect()
    };
    let numbers: Vec<String> = names("sqlite").iter().map(|name| name.split('_').next().unwrap().to_owned()).collect();
    let wanted: Vec<String> = (1..=numbers.len()).map(|n| format!("{n:04}")).collect();
    assert_eq!(numbers, wanted, "one number, one migration");
    assert_eq!(names("sqlite"), names("postgres"));
}
