//! The measure that the pipeline is held against: the rows it wrote, inserted once more and by nothing but their bulk
//! statements into an empty store of the same schema, indexes and durability. Rows are read and grouped before the
//! clock runs; packing them as the statement wants them is part of writing, here as in the pipeline.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::domain::ids::OrgId;
use crate::store::engine::{Access, Arg, Bulk, Column, ColumnType, Database, DbError, Row, Sql};

/// The tables compared, parents first. `follows` names the column by which a row goes into the batch of its parent.
const TABLES: [Table; 6] = [
    Table {
        name: "documents",
        all: "SELECT * FROM documents WHERE org_id = $1 ORDER BY created_at",
        key: Some("document_id"),
        follows: None,
    },
    Table {
        name: "passage",
        all: "SELECT * FROM passage WHERE org_id = $1 ORDER BY created_at",
        key: Some("id"),
        follows: Some("document_id"),
    },
    Table {
        name: "embedding",
        all: "SELECT * FROM embedding WHERE org_id = $1 ORDER BY created_at",
        key: None,
        follows: Some("passage_id"),
    },
    Table {
        name: "extracted_findings",
        all: "SELECT * FROM extracted_findings WHERE org_id = $1 ORDER BY created_at",
        key: None,
        follows: None,
    },
    Table {
        name: "memory",
        all: "SELECT * FROM memory WHERE org_id = $1 ORDER BY created_at",
        key: None,
        follows: None,
    },
    Table {
        name: "memory_link",
        all: "SELECT * FROM memory_link WHERE org_id = $1 ORDER BY created_at",
        key: None,
        follows: None,
    },
];

/// What those rows refer to; copied before the clock runs.
const PARENTS: [Table; 2] = [
    Table {
        name: "organization",
        all: "SELECT * FROM organization WHERE org_id = $1 ORDER BY created_at",
        key: None,
        follows: None,
    },
    Table {
        name: "patient_profile",
        all: "SELECT * FROM patient_profile WHERE org_id = $1 ORDER BY created_at",
        key: None,
        follows: None,
    },
];

struct Table {
    name: &'static str,
    all: &'static str,
    key: Option<&'static str>,
    follows: Option<&'static str>,
}

/// A bulk statement for all columns of a table, as the schema has them.
struct Columns {
    names: Vec<&'static str>,
    kinds: Vec<ColumnType>,
    bulk: Bulk,
}

/// What was written, and how long that took.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bare {
    pub took: Duration,
    /// Table and number of rows, in the order of writing.
    pub rows: Vec<(&'static str, u64)>,
}

/// Inserts the rows of one store into another, empty one: one transaction per `batch` documents, one statement per
/// table in it.
///
/// # Errors
/// What either store says.
pub async fn upserts(from: &Database, to: &Database, batch: usize) -> Result<Bare, DbError> {
    let mut done = Bare { took: Duration::ZERO, rows: TABLES.iter().map(|table| (table.name, 0)).collect() };
    let mut columns = Vec::new();
    for table in TABLES.iter().chain(&PARENTS) {
        columns.push(columns_of(from, table.name).await?);
    }
    let (columns, parents) = columns.split_at(TABLES.len());
    for org in organizations(from).await? {
        let mut tx = to.begin(Access::Organization(org)).await?;
        for (table, columns) in PARENTS.iter().zip(parents) {
            tx.bulk(&columns.bulk, rows_of(from, org, table, columns).await?).await?;
        }
        tx.commit().await?;
        for rows in batches(from, org, columns, batch.max(1)).await? {
            let started = Instant::now();
            let mut tx = to.begin(Access::Organization(org)).await?;
            for ((columns, rows), (_, count)) in columns.iter().zip(rows).zip(&mut done.rows) {
                *count += tx.bulk(&columns.bulk, rows).await?;
            }
            tx.commit().await?;
            done.took += started.elapsed();
        }
    }
    Ok(done)
}

async fn organizations(from: &Database) -> Result<Vec<OrgId>, DbError> {
    let mut tx = from.read(Access::Platform).await?;
    let rows = tx.fetch_all(&Sql::new("SELECT org_id FROM organization ORDER BY org_id"), Vec::new()).await?;
    rows.iter().map(|row| row.uuid(0).map(OrgId)).collect()
}

/// Reads the schema. The names live as long as the program, as every statement does; a run has eight tables.
async fn columns_of(db: &Database, table: &'static str) -> Result<Columns, DbError> {
    let columns: Vec<Column> =
        db.columns(table).await?.into_iter().map(|(name, kind)| (&*Box::leak(name.into_boxed_str()), kind)).collect();
    let bulk = Bulk::new(table, &columns, "ON CONFLICT DO NOTHING");
    let (names, kinds) = columns.into_iter().unzip();
    Ok(Columns { names, kinds, bulk })
}

async fn rows_of(from: &Database, org: OrgId, table: &Table, columns: &Columns) -> Result<Vec<Vec<Arg>>, DbError> {
    let mut tx = from.read(Access::Organization(org)).await?;
    let rows = tx.fetch_all(&Sql::new(table.all), vec![org.0.into()]).await?;
    rows.iter().map(|row| args(row, &columns.kinds)).collect()
}

fn args(row: &Row, kinds: &[ColumnType]) -> Result<Vec<Arg>, DbError> {
    let one = |(at, kind): (usize, &ColumnType)| {
        Ok(match kind {
            ColumnType::Bytes | ColumnType::Vector | ColumnType::Ints | ColumnType::Uuid => row.opt_blob(at)?.into(),
            ColumnType::Int | ColumnType::Bool => row.opt_i64(at)?.into(),
            ColumnType::Float => row.opt_f64(at)?.into(),
            ColumnType::Text => row.opt_text(at)?.into(),
        })
    };
    kinds.iter().enumerate().map(one).collect()
}

/// Rows of one table in one batch.
type Rows = Vec<Vec<Arg>>;

/// Rows by batch and table. Documents are cut into batches as they came; passages and vectors follow their document;
/// the rest is spread evenly, in the order of its creation.
async fn batches(from: &Database, org: OrgId, columns: &[Columns], size: usize) -> Result<Vec<Vec<Rows>>, DbError> {
    let mut out: Vec<Vec<Rows>> = Vec::new();
    let mut places: HashMap<Uuid, usize> = HashMap::new();
    for (at, (table, columns)) in TABLES.iter().zip(columns).enumerate() {
        let rows = rows_of(from, org, table, columns).await?;
        if at == 0 {
            out.resize_with(rows.len().div_ceil(size).max(1), || TABLES.iter().map(|_| Vec::new()).collect());
        }
        let (total, count) = (rows.len().max(1), out.len());
        let column = |name: Option<&str>| name.and_then(|name| columns.names.iter().position(|own| *own == name));
        let (key, follows) = (column(table.key), column(table.follows));
        let mut here = HashMap::new();
        for (n, row) in rows.into_iter().enumerate() {
            let parent = follows.and_then(|column| places.get(&id(&row[column])?).copied());
            let place = parent.unwrap_or(if at == 0 { n / size } else { n * count / total });
            if let Some(id) = key.and_then(|column| id(&row[column])) {
                // A later revision of a document goes no earlier than the first.
                here.entry(id).and_modify(|old: &mut usize| *old = (*old).max(place)).or_insert(place);
            }
            out[place][at].push(row);
        }
        places = here;
    }
    Ok(out)
}

fn id(arg: &Arg) -> Option<Uuid> {
    match arg {
        Arg::Blob(bytes) => Uuid::from_slice(bytes).ok(),
        _ => None,
    }
}
