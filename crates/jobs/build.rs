//! Rust for the statements in `sql`.

fn main() {
    anamnesis_sql_codegen::build("sql", "../store/sql/tables.tsv");
}
