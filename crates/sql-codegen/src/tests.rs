use std::path::Path;

use super::*;

const TABLES: &str =
    "# table\tcolumn\ttype\nconsent\torg_id\tuuid\nconsent\tid\tuuid\nconsent\tuse\ttext\nconsent\tmac\tbytes\n";

fn generated(sql: &str) -> Result<String, Error> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tables.tsv"), TABLES).unwrap();
    std::fs::create_dir(folder.path().join("write")).unwrap();
    std::fs::write(folder.path().join("write/consents.sql"), sql).unwrap();
    generate(folder.path(), &folder.path().join("tables.tsv"))
}

fn refused(sql: &str) -> String {
    generated(sql).unwrap_err().to_string()
}

#[test]
fn two_columns_that_change_places_take_their_names_with_them() {
    let of = |list: &str| generated(&format!("-- name: found\nSELECT {list} FROM consent;\n")).unwrap();
    let (one, other) = (of("reason, provision"), of("provision, reason"));
    assert!(one.contains("const REASON: usize = 0") && one.contains("const PROVISION: usize = 1"), "{one}");
    assert!(other.contains("const PROVISION: usize = 0") && other.contains("const REASON: usize = 1"), "{other}");
}

#[test]
fn a_row_that_is_written_has_a_field_for_each_column() {
    let code = generated(
        "-- name: insert\n-- Adds them.\n-- rows: consent (org_id, id, use,\n--   other text)\nINSERT INTO consent {rows}\n  ON CONFLICT (id) DO NOTHING;\n",
    )
    .unwrap();
    assert!(code.contains("/// Adds them."), "{code}");
    assert!(code.contains("pub(crate) static INSERT: LazyLock<Bulk>"), "{code}");
    assert!(code.contains("Bulk::new(\"consent\", &insert::COLUMNS, \"ON CONFLICT (id) DO NOTHING\")"), "{code}");
    assert!(code.contains("(\"other\", ColumnType::Text)") && code.contains("pub(crate) r#use: Arg"), "{code}");
    assert!(code.contains("columns: &[] }"), "{code}");
}

#[test]
fn an_upsert_updates_every_column_but_its_key_and_the_first_instant() {
    let code = generated(
        "-- name: upsert\n-- rows: consent (org_id, id, use, created_at int)\nINSERT INTO consent {rows} ON CONFLICT (org_id, id) DO UPDATE SET {updated} WHERE true;\n",
    )
    .unwrap();
    assert!(code.contains("\"ON CONFLICT (org_id, id) DO UPDATE SET use = excluded.use WHERE true\""), "{code}");
    let keyless =
        "-- name: upsert\n-- rows: consent (org_id, id)\nINSERT INTO consent {rows} DO UPDATE SET {updated};\n";
    assert!(refused(keyless).contains("needs `ON CONFLICT (key)`"));
    let swapped = "-- name: upsert\n-- rows: consent (org_id, id, use, mac)\nINSERT INTO consent {rows} ON CONFLICT (org_id, id) DO UPDATE SET use = excluded.mac, mac = excluded.use;\n";
    assert!(refused(swapped).contains("`use = excluded.mac`"), "{}", refused(swapped));
}

#[test]
fn columns_are_named_by_as_or_by_themselves() {
    let columns = |sql| outputs::column_names(sql).unwrap();
    assert_eq!(columns("SELECT m.id, coalesce(a, ', b') AS at FROM memory AS m"), ["id", "at"]);
    assert_eq!(columns("WITH a AS (SELECT x FROM y) SELECT DISTINCT z FROM a UNION SELECT w FROM b"), ["z"]);
    assert_eq!(
        columns("SELECT (SELECT min(e.at) FROM e) AS first, {all ints t.n} AS numbers FROM t"),
        ["first", "numbers"]
    );
    assert_eq!(columns("DELETE FROM t WHERE id IN (SELECT id FROM u) RETURNING id, n + 1 AS n"), ["id", "n"]);
    assert_eq!(columns("INSERT INTO t (a) SELECT b FROM u"), Vec::<String>::new());
    for wrong in ["SELECT count(*) FROM t", "SELECT * FROM t", "SELECT a, b.a FROM b", "SELECT a b FROM t"] {
        assert!(outputs::column_names(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn fragments_are_taken_in_wherever_they_are_named() {
    let code = generated(
        "-- fragment: own\norg_id = $1\n\n-- name: one\nSELECT id FROM consent WHERE {fragment write/consents/own};\n\n-- name: keyed\n-- keys: id in {uuids $2}\nSELECT id FROM consent WHERE {fragment write/consents/own}",
    )
    .unwrap();
    assert!(code.contains("Sql::new(\"SELECT id FROM consent WHERE org_id = $1\")"), "{code}");
    assert!(
        code.contains("Sql::per_key_lookup(\"SELECT id FROM consent WHERE org_id = $1\", &[\"id\"], \"{uuids $2}\")"),
        "{code}"
    );
    assert!(refused("-- name: one\nSELECT id FROM consent WHERE {fragment other}").contains("no fragment `other`"));
}

#[test]
fn a_folder_that_is_wrong_ends_the_build_with_file_and_line() {
    let twice = "-- name: one\nSELECT id FROM consent;\n\n-- name: one\nSELECT id FROM consent;\n";
    assert!(refused(twice).ends_with("consents.sql, line 4: `one` is there twice"), "{}", refused(twice));
    for (sql, what) in [
        ("-- name: One\nSELECT id FROM consent", "no name in snake_case"),
        ("-- name: one\n", "no text"),
        ("SELECT id FROM consent", "before the first"),
        ("-- name: one\nSELECT count(*) FROM consent", "needs a name"),
        ("-- name: one\n-- rows: consent (id, bad)\nINSERT INTO consent {rows}", "no column of `consent`"),
        ("-- name: one\n-- rows: consent (id)\nINSERT INTO other {row}", "must begin with"),
        ("-- name: one\n-- shared: id\nSELECT id FROM consent", "belongs to"),
        ("-- name: one\n-- keys: id\nSELECT id FROM consent", "needs ` in {…}`"),
    ] {
        assert!(refused(sql).contains(what), "{sql}: {}", refused(sql));
    }
}

#[test]
fn a_table_is_defined_once() {
    let tables =
        |text| tables::Tables::parse(Path::new("tables.tsv"), text).map(drop).map_err(|error| error.to_string());
    assert_eq!(tables(TABLES), Ok(()));
    assert!(tables("a\tb\tuuid\na\tb\ttext\n").unwrap_err().contains("line 2: the column is defined twice"));
    assert!(tables("a\tb\tserial\n").unwrap_err().contains("unknown type"));
    assert!(tables("a\tb\n").unwrap_err().contains("needs table, column and type"));
}
