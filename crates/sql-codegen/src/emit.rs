//! The code that is generated.

use std::fmt::Write as _;

use crate::parse::{Columns, File, Form, ParsedColumn, SqlStatement};
use crate::tables::{Tables, variant};
use crate::{Error, outputs};

/// Names that cannot be fields as they are.
const KEYWORDS: [&str; 7] = ["use", "type", "in", "ref", "match", "where", "move"];

/// A module for each file, and the list of all statements.
pub(crate) fn module(files: &[File], tables: &Tables) -> Result<String, Error> {
    let mut out = String::from("// Generated from the folder of statements: change that.\n");
    let mut all = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for file in files {
        let path: Vec<&str> = file.module.iter().map(String::as_str).collect();
        let common = open.iter().zip(&path).take_while(|(a, b)| a == b).count();
        out.push_str(&"}\n".repeat(open.len() - common));
        for part in &path[common..] {
            let _ = writeln!(
                out,
                "pub(crate) mod {part} {{\n#![allow(clippy::module_inception, dead_code, unused_imports)]"
            );
            let _ =
                writeln!(out, "use std::sync::LazyLock;\nuse anamnesis_sql::{{Arg, Bulk, Column, ColumnType, Sql}};");
        }
        for statement in &file.statements {
            let code = item(statement, tables).map_err(|what| file.wrong(statement.line, what))?;
            out.push_str(&code);
            all.push((path.join("/"), path.join("::"), statement));
        }
        open = path;
    }
    out.push_str(&"}\n".repeat(open.len()));
    list(&mut out, &all);
    Ok(out)
}

/// What the check of the folder goes through: each statement with its name and the columns of its answer.
fn list(out: &mut String, all: &[(String, String, &SqlStatement)]) {
    out.push_str("/// Every statement of the folder.\n#[allow(clippy::too_many_lines)]\npub(crate) fn all() -> Vec<NamedStatement> {\n    vec![\n");
    for (file, module, statement) in all {
        let constant = statement.name.to_uppercase();
        let access = if matches!(statement.form, Form::Rows(..)) { ".sql()" } else { "" };
        let columns = outputs::column_names(&statement.text).unwrap_or_default();
        let _ = writeln!(
            out,
            "        NamedStatement {{ name: {:?}, sql: {}{module}::{constant}{access}, columns: &{columns:?} }},",
            format!("{file}/{}", statement.name),
            if access.is_empty() { "&" } else { "" },
        );
    }
    out.push_str("    ]\n}\n");
}

fn item(statement: &SqlStatement, tables: &Tables) -> Result<String, String> {
    let mut out = String::new();
    for line in &statement.comment {
        let _ = writeln!(out, "/// {line}");
    }
    let constant = statement.name.to_uppercase();
    let text = &statement.text;
    let (kind, made) = match &statement.form {
        Form::Plain | Form::Fragment => ("Sql", format!("Sql::new({text:?})")),
        Form::Keys(keys, list) => ("Sql", format!("Sql::per_key_lookup({text:?}, &{keys:?}, {list:?})")),
        Form::Row(columns) => {
            let (table, ending) = insert(text, "{row}", columns)?;
            ("Sql", format!("Bulk::single({table:?}, &{}::COLUMNS, {ending:?})", statement.name))
        }
        // `INSERT INTO table {rows} …` is made of the columns; any other text takes the rows in as a table.
        Form::Rows(columns, shared) if shared.is_empty() => {
            let name = &statement.name;
            let inserted = text.strip_prefix("INSERT INTO ").and_then(|rest| rest.split_once(' '));
            if inserted.is_some_and(|(_, rest)| rest.starts_with("{rows}")) || !text.contains("{rows}") {
                let (table, ending) = insert(text, "{rows}", columns)?;
                ("Bulk", format!("Bulk::new({table:?}, &{name}::COLUMNS, {ending:?})"))
            } else {
                ("Bulk", format!("Bulk::over({text:?}, &{name}::COLUMNS)"))
            }
        }
        Form::Rows(columns, _) => {
            let (table, ending) = insert(text, "{rows}", columns)?;
            let name = &statement.name;
            ("Bulk", format!("Bulk::sharing({table:?}, &{name}::SHARED, &{name}::COLUMNS, {ending:?})"))
        }
    };
    let _ = writeln!(out, "pub(crate) static {constant}: LazyLock<{kind}> = LazyLock::new(|| {made});");
    places(statement, tables, &mut out)?;
    Ok(out)
}

/// The table and the ending of `INSERT INTO table {rows} ending`.
fn insert<'a>(text: &'a str, rows: &str, columns: &Columns) -> Result<(&'a str, String), String> {
    let wrong = || format!("the text must begin with `INSERT INTO {} {rows}`", columns.table);
    let rest = text.strip_prefix("INSERT INTO ").ok_or_else(wrong)?;
    let (table, ending) = rest.split_once(rows).ok_or_else(wrong)?;
    let table = table.trim();
    if table != columns.table {
        return Err(wrong());
    }
    let ending = ending.trim();
    if let Some((name, other)) = swapped(ending) {
        return Err(format!("`{name} = excluded.{other}`: an upsert gives each column its own value"));
    }
    if !ending.contains("{updated}") {
        return Ok((table, ending.to_owned()));
    }
    let key = ending.strip_prefix("ON CONFLICT (").and_then(|rest| rest.split_once(')'));
    let key: Vec<&str> = key.ok_or("`{updated}` needs `ON CONFLICT (key)`")?.0.split(',').map(str::trim).collect();
    let kept = |name: &str| key.contains(&name) || name == "created_at";
    let names = columns.columns.iter().map(|column| column.name.as_str()).filter(|name| !kept(name));
    let updated: Vec<String> = names.map(|name| format!("{name} = excluded.{name}")).collect();
    Ok((table, ending.replace("{updated}", &updated.join(", "))))
}

/// A column that an upsert would give the value of another one.
fn swapped(ending: &str) -> Option<(&str, &str)> {
    let items = outputs::split(ending.split_once("DO UPDATE SET")?.1);
    let pair = |item: &&str| -> Option<(usize, usize)> { Some((item.find(" = ")?, item.find("excluded.")?)) };
    items.into_iter().find_map(|item| {
        let (end, at) = pair(&item)?;
        let (name, value) = (&item[..end], &item[at + "excluded.".len()..]);
        let other = &value[..value.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(value.len())];
        (at == end + " = ".len() && name != other).then_some((name, other))
    })
}

/// The module of a statement: places of columns that are read, and the row that is written.
fn places(statement: &SqlStatement, tables: &Tables, out: &mut String) -> Result<(), String> {
    let outputs = outputs::column_names(&statement.text)?;
    let (columns, shared) = match &statement.form {
        Form::Row(columns) => (Some(columns), [].as_slice()),
        Form::Rows(columns, shared) => (Some(columns), shared.as_slice()),
        _ => (None, [].as_slice()),
    };
    if outputs.is_empty() && columns.is_none() {
        return Ok(());
    }
    let _ = writeln!(out, "pub(crate) mod {} {{\n#![allow(dead_code)]\nuse super::*;", statement.name);
    for (place, name) in outputs.iter().enumerate() {
        let _ = writeln!(out, "pub(crate) const {}: usize = {place};", name.to_uppercase());
    }
    if let Some(columns) = columns {
        row("Row", "COLUMNS", &columns.table, &columns.columns, tables, out)?;
        if !shared.is_empty() {
            row("Shared", "SHARED", &columns.table, shared, tables, out)?;
        }
    }
    out.push_str("}\n");
    Ok(())
}

fn row(
    name: &str,
    constant: &str,
    table: &str,
    columns: &[ParsedColumn],
    tables: &Tables,
    out: &mut String,
) -> Result<(), String> {
    let _ = writeln!(out, "pub(crate) const {constant}: [Column; {}] = [", columns.len());
    for column in columns {
        let known = match &column.kind {
            Some(kind) => variant(kind),
            None => tables.variant(table, &column.name),
        };
        let kind = known.ok_or_else(|| format!("`{}` is no column of `{table}` in tables.tsv", column.name))?;
        let _ = writeln!(out, "    ({:?}, ColumnType::{kind}),", column.name);
    }
    out.push_str("];\n");
    let fields: Vec<String> = columns.iter().map(|column| field(&column.name)).collect();
    let _ =
        writeln!(out, "/// A row by the names of its columns.\n#[derive(Debug, Clone)]\npub(crate) struct {name} {{");
    for field in &fields {
        let _ = writeln!(out, "    pub(crate) {field}: Arg,");
    }
    out.push_str("}\n");
    let _ = writeln!(out, "impl From<{name}> for Vec<Arg> {{\n    fn from(row: {name}) -> Self {{\n        vec![");
    for field in &fields {
        let _ = writeln!(out, "            row.{field},");
    }
    out.push_str("        ]\n    }\n}\n");
    Ok(())
}

fn field(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}
