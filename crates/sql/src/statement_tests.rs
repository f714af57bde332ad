//! The texts for the engines: placeholders, look-ups by keys and statements over many rows.

use super::*;

#[test]
fn a_statement_without_braces_is_the_same_for_both_engines() {
    let sql = Sql::new("SELECT 1 FROM memory WHERE id = $1");
    assert_eq!(sql.sqlite(), "SELECT 1 FROM memory WHERE id = $1");
    assert_eq!(sql.postgres(), sql.sqlite());
}

#[test]
fn each_placeholder_is_what_each_engine_says_for_it() {
    let first = "encode(substr(pair, 1, 16), 'hex')::uuid";
    let rest = "encode(substr(pair, 17), 'hex')::uuid";
    let pairs = format!("(SELECT {first}, {rest} FROM unnest($2::bytea[]) AS pair)");
    let keyed = format!("(SELECT {first}, substr(pair, 17) FROM unnest($2::bytea[]) AS pair)");
    let two = "(SELECT unhex(value->>0), unhex(value->>1) FROM json_each($2))";
    let plain = "(SELECT value FROM json_each($2))";
    let bytes = "(SELECT unhex(value) FROM json_each($2))";
    for (inside, sqlite, postgres) in [
        ("uuids $2", bytes, "(SELECT unnest($2::uuid[]))"),
        ("blobs $2", bytes, "(SELECT unnest($2::bytea[]))"),
        ("ints $2", plain, "(SELECT unnest($2::bigint[]))"),
        ("texts $2", plain, "(SELECT unnest($2::text[]))"),
        ("pairs $2", two, &pairs),
        ("keyed $2", two, &keyed),
        ("through by_org", "INDEXED BY by_org", ""),
        ("for_update", "", "FOR NO KEY UPDATE"),
        ("for_share", "", "FOR SHARE"),
        ("skip_locked", "", "FOR UPDATE SKIP LOCKED"),
        ("all texts kind", "group_concat(kind)", "string_agg(kind, ',')"),
        ("all ints length", "packed(length)", "array_agg(length::bigint)"),
        ("all uuids id", "packed(id)", "array_agg(id)"),
    ] {
        assert_eq!(sqlite_placeholder(inside), sqlite, "SQLite's {inside}");
        assert_eq!(postgres_placeholder(inside), postgres, "PostgreSQL's {inside}");
    }
}

#[test]
fn a_similarity_is_the_vector_itself_in_sqlite_and_a_product_of_equal_dimensions_in_postgres() {
    let sql = Sql::new("SELECT {similarity vector $3} FROM embedding");
    assert_eq!(sql.sqlite(), "SELECT CASE WHEN $3 IS NOT NULL THEN vector END FROM embedding");
    let compared = "CASE WHEN vector_dims(vector) = vector_dims($3::halfvec) THEN -(vector <#> $3::halfvec) END";
    assert_eq!(sql.postgres(), format!("SELECT {compared} FROM embedding"));
    let all = Sql::new("SELECT {all similarities vector $3}, {all held terms $4} FROM embedding");
    assert_eq!(all.sqlite(), "SELECT packed(similarity(vector, $3)), held(terms, $4) FROM embedding");
    assert!(all.postgres().contains("array_agg(-(vector <#> $3::halfvec))"), "{}", all.postgres());
    assert!(all.postgres().contains("int8send(octet_length(terms) / 8) || terms"), "{}", all.postgres());
}

#[test]
fn text_before_between_and_after_placeholders_stays() {
    let sql = Sql::new("SELECT id FROM job {through by_due} WHERE id IN {ints $1} AND org IN {uuids $2} ORDER BY id");
    assert_eq!(
        sql.sqlite(),
        "SELECT id FROM job INDEXED BY by_due WHERE id IN (SELECT value FROM json_each($1)) \
         AND org IN (SELECT unhex(value) FROM json_each($2)) ORDER BY id"
    );
    assert_eq!(
        sql.postgres(),
        "SELECT id FROM job  WHERE id IN (SELECT unnest($1::bigint[])) \
         AND org IN (SELECT unnest($2::uuid[])) ORDER BY id"
    );
    let at_the_end = Sql::new("SELECT id FROM job {skip_locked}");
    assert_eq!((at_the_end.sqlite(), at_the_end.postgres().ends_with("SKIP LOCKED")), ("SELECT id FROM job ", true));
}

#[test]
#[should_panic(expected = "unknown placeholder")]
fn a_mistyped_placeholder_is_no_statement_of_sqlite() {
    sqlite_placeholder("uuid $1");
}

#[test]
#[should_panic(expected = "unknown placeholder")]
fn a_placeholder_with_a_word_too_many_is_no_statement_of_postgres() {
    postgres_placeholder("uuids $1 $2");
}

#[test]
#[should_panic(expected = "closes its braces")]
fn a_brace_that_is_not_closed_is_no_statement() {
    let _ = Sql::new("SELECT 1 WHERE id IN {uuids $1");
}

#[test]
fn a_look_up_goes_key_by_key_through_the_index_of_postgres() {
    let sql = Sql::per_key_lookup("SELECT * FROM memory WHERE org_id = $1", &["patient_id", "id"], "{pairs $2}");
    assert_eq!(
        sql.sqlite(),
        "SELECT * FROM memory WHERE org_id = $1 AND (patient_id, id) IN \
         (SELECT unhex(value->>0), unhex(value->>1) FROM json_each($2))"
    );
    let postgres = sql.postgres();
    assert!(postgres.starts_with("SELECT found.* FROM (SELECT encode("), "{postgres}");
    let lateral = "AS wanted(key_1, key_2) CROSS JOIN LATERAL (SELECT * FROM memory WHERE org_id = $1 \
         AND patient_id = wanted.key_1 AND id = wanted.key_2 OFFSET 0) AS found";
    assert!(postgres.ends_with(lateral), "{postgres}");
}

const COLUMNS: [Column; 4] =
    [("id", ColumnType::Uuid), ("at", ColumnType::Int), ("terms", ColumnType::Ints), ("words", ColumnType::Text)];

#[test]
fn a_bulk_statement_unfolds_one_argument_in_sqlite_and_an_array_for_each_column_in_postgres() {
    let bulk = Bulk::new("memory", &COLUMNS, "ON CONFLICT DO NOTHING");
    assert_eq!(
        bulk.sql().sqlite(),
        "INSERT INTO memory (id, at, terms, words) SELECT unhex(value->>0) AS id, value->>1 AS at, \
         unhex(value->>2) AS terms, value->>3 AS words FROM json_each($1) WHERE true ON CONFLICT DO NOTHING"
    );
    assert_eq!(
        bulk.sql().postgres(),
        "INSERT INTO memory (id, at, terms, words) SELECT u.id, u.at, u.terms, u.words FROM unnest($1::uuid[], \
         $2::bigint[], $3::bytea[], $4::text[]) AS u(id, at, terms, words) WHERE true ON CONFLICT DO NOTHING"
    );
    assert_eq!(bulk.kinds(), [ColumnType::Uuid, ColumnType::Int, ColumnType::Ints, ColumnType::Text]);
}

#[test]
fn a_single_row_takes_its_columns_as_arguments_which_postgres_is_given_the_types_of() {
    let kinds: [Column; 8] = [
        ("a", ColumnType::Uuid),
        ("b", ColumnType::Int),
        ("c", ColumnType::Float),
        ("d", ColumnType::Bool),
        ("e", ColumnType::Text),
        ("f", ColumnType::Bytes),
        ("g", ColumnType::Ints),
        ("h", ColumnType::Vector),
    ];
    let sql = Bulk::single("t", &kinds, "RETURNING a");
    let names = "INSERT INTO t (a, b, c, d, e, f, g, h) VALUES";
    assert_eq!(sql.sqlite(), format!("{names} ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING a"));
    let typed =
        "($1::uuid, $2::bigint, $3::double precision, $4::smallint, $5::text, $6::bytea, $7::bytea, $8::halfvec)";
    assert_eq!(sql.postgres(), format!("{names} {typed} RETURNING a"));
    for (_, kind) in kinds {
        assert_eq!(kind.postgres_array(), format!("{}[]", kind.postgres_value()), "{kind:?}");
    }
}

#[test]
fn shared_values_come_first_in_postgres_and_after_the_rows_in_sqlite() {
    let shared: [Column; 2] = [("org", ColumnType::Uuid), ("at", ColumnType::Int)];
    let own: [Column; 2] = [("id", ColumnType::Uuid), ("words", ColumnType::Text)];
    let bulk = Bulk::sharing("memory", &shared, &own, "");
    assert_eq!(
        bulk.sql().sqlite().trim_end(),
        "INSERT INTO memory (org, at, id, words) SELECT $2, $3, r.id, r.words FROM (SELECT unhex(value->>0) AS id, \
         value->>1 AS words FROM json_each($1)) AS r WHERE true"
    );
    assert_eq!(
        bulk.sql().postgres().trim_end(),
        "INSERT INTO memory (org, at, id, words) SELECT $1::uuid, $2::bigint, r.id, r.words FROM \
         (SELECT u.id, u.words FROM unnest($3::uuid[], $4::text[]) AS u(id, words)) AS r WHERE true"
    );
    assert_eq!(bulk.kinds(), [ColumnType::Uuid, ColumnType::Text], "the shared ones are no columns of rows");
}

#[test]
fn rows_are_a_derived_table_in_any_other_statement() {
    let columns: [Column; 1] = [("id", ColumnType::Bytes)];
    let bulk = Bulk::over("UPDATE t SET x = 1 FROM {rows} AS r WHERE t.id = r.id", &columns);
    let sqlite = "UPDATE t SET x = 1 FROM (SELECT unhex(value->>0) AS id FROM json_each($1)) AS r WHERE t.id = r.id";
    assert_eq!(bulk.sql().sqlite(), sqlite);
    let postgres = "UPDATE t SET x = 1 FROM (SELECT u.id FROM unnest($1::bytea[]) AS u(id)) AS r WHERE t.id = r.id";
    assert_eq!(bulk.sql().postgres(), postgres);
}
