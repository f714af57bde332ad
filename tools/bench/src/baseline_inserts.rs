//! The measure that the pipeline is held against: the rows it left, every one of them, inserted once more by nothing but
//! bulk statements into an empty store of the same schema, indexes and durability, over as many connections. Rows are
//! read and grouped before the clock runs; packing them as the statement wants them is part of writing, here as in the
//! pipeline.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use uuid::Uuid;

use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Access, Arg, Bulk, Column, ColumnType, Database, DbError, Row, Sql};

/// A table, with the statement that reads an organisation's rows of it.
type SelectedTable = (&'static str, &'static str);

macro_rules! tables {
    ($($name:literal),+ $(,)?) => {
        [$(($name, concat!("SELECT * FROM ", $name, " WHERE org_id = $1 ORDER BY created_at"))),+]
    };
}

/// All that documents leave, parents first.
const TABLES: [SelectedTable; 17] = tables!(
    "inbox",
    "documents",
    "passage",
    "embedding",
    "risk_flag",
    "extracted_findings",
    "memory",
    "memory_link",
    "memory_event",
    "contradiction",
    "conditions",
    "allergies",
    "medications",
    "symptom_states",
    "appointments",
    "health_signals",
    "outbox",
);
/// Among them, the table that batches are counted by.
const DOCUMENTS: &str = "documents";

/// What those rows refer to; copied before the clock runs.
const PARENTS: [SelectedTable; 2] = tables!("organization", "patient_profile");

/// A bulk statement for all columns of a table, as the schema has them.
struct TableColumns {
    names: Vec<&'static str>,
    kinds: Vec<ColumnType>,
    bulk: Bulk,
}

/// What was written, and how long that took.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Baseline {
    pub(crate) took: Duration,
    /// Table and number of rows, in the order of writing.
    pub(crate) rows: Vec<(&'static str, u64)>,
}

/// Rows of one table in one batch.
type BatchRows = Vec<Vec<Arg>>;
/// Rows of one batch, by table.
type Batch = Vec<BatchRows>;

/// Inserts the rows of one store into another, empty one: one transaction per `batch` documents, one statement per
/// table in it, over `connections` at once. Patients are dealt out to the connections; what is not a document goes with
/// the last document of its patient.
///
/// # Errors
/// What either store says.
pub(crate) async fn upserts(
    from: &Database,
    to: &Database,
    batch: usize,
    connections: usize,
) -> Result<Baseline, DbError> {
    let mut done = Baseline { took: Duration::ZERO, rows: TABLES.iter().map(|(name, _)| (*name, 0)).collect() };
    let mut columns = Vec::new();
    for table in TABLES.iter().chain(&PARENTS) {
        columns.push(columns_of(from, table.0).await?);
    }
    let (columns, parents) = columns.split_at(TABLES.len());
    for org in organizations(from).await? {
        let mut tx = to.begin(Access::Organization(org)).await?;
        for (table, columns) in PARENTS.iter().zip(parents) {
            tx.bulk(&columns.bulk, rows_of(from, org, table, columns).await?).await?;
        }
        tx.commit().await?;
        let mut all = Vec::new();
        for (table, columns) in TABLES.iter().zip(columns) {
            all.push(rows_of(from, org, table, columns).await?);
        }
        let lanes = dealt(all, columns, batch.max(1), connections.max(1));
        // As in the pipeline's pass, a process that was just started makes its connections and learns its statements meanwhile.
        let started = Instant::now();
        let written =
            try_join_all(lanes.into_iter().map(|lane| tokio::spawn(written(to.clone(), org, lane, bulks(columns)))));
        let written = written.await.map_err(|_| DbError::Transient("task"))?;
        done.took += started.elapsed();
        for counts in written {
            for ((_, sum), count) in done.rows.iter_mut().zip(counts?) {
                *sum += count;
            }
        }
    }
    Ok(done)
}

fn bulks(columns: &[TableColumns]) -> Vec<Bulk> {
    columns.iter().map(|columns| columns.bulk.clone()).collect()
}

/// One connection's batches, one after another; rows by table.
async fn written(to: Database, org: OrgId, lane: Vec<Batch>, bulks: Vec<Bulk>) -> Result<Vec<u64>, DbError> {
    let mut counts = vec![0; bulks.len()];
    for batch in lane {
        let mut tx = to.begin(Access::Organization(org)).await?;
        for ((bulk, rows), count) in bulks.iter().zip(batch).zip(&mut counts) {
            *count += tx.bulk(bulk, rows).await?;
        }
        tx.commit().await?;
    }
    Ok(counts)
}

async fn organizations(from: &Database) -> Result<Vec<OrgId>, DbError> {
    let mut tx = from.read(Access::Platform).await?;
    let rows = tx.fetch_all(&Sql::new("SELECT org_id FROM organization ORDER BY org_id"), Vec::new()).await?;
    rows.iter().map(|row| row.uuid(0).map(OrgId)).collect()
}

/// Reads the schema. The names live as long as the program, as every statement does; a run has twenty tables.
async fn columns_of(db: &Database, table: &'static str) -> Result<TableColumns, DbError> {
    let columns: Vec<Column> =
        db.columns(table).await?.into_iter().map(|(name, kind)| (&*Box::leak(name.into_boxed_str()), kind)).collect();
    let bulk = Bulk::new(table, &columns, "ON CONFLICT DO NOTHING");
    let (names, kinds) = columns.into_iter().unzip();
    Ok(TableColumns { names, kinds, bulk })
}

async fn rows_of(
    from: &Database,
    org: OrgId,
    table: &SelectedTable,
    columns: &TableColumns,
) -> Result<BatchRows, DbError> {
    let mut tx = from.read(Access::Organization(org)).await?;
    let rows = tx.fetch_all(&Sql::new(table.1), vec![org.0.into()]).await?;
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

/// Rows by connection, batch and table. Documents are cut into batches as they came.
fn dealt(all: Vec<BatchRows>, columns: &[TableColumns], size: usize, connections: usize) -> Vec<Vec<Batch>> {
    let mut lanes: Vec<Vec<Batch>> = (0..connections).map(|_| Vec::new()).collect();
    let mut documents = vec![0; connections];
    let mut lane_of: HashMap<Uuid, usize> = HashMap::new();
    let mut last: HashMap<Uuid, usize> = HashMap::new();
    let (mut own, mut rest): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    for (at, rows) in all.into_iter().enumerate() {
        if TABLES[at].0 == DOCUMENTS { own.push((at, rows)) } else { rest.push((at, rows)) }
    }
    for (at, rows) in own.into_iter().chain(rest) {
        let patient = columns[at].names.iter().position(|name| *name == "patient_id");
        for row in rows {
            let whose = patient.and_then(|column| id(&row[column])).unwrap_or_default();
            let next = lane_of.len() % connections;
            let lane = *lane_of.entry(whose).or_insert(next);
            let place = if TABLES[at].0 == DOCUMENTS {
                documents[lane] += 1;
                (documents[lane] - 1) / size
            } else {
                last.get(&whose).copied().unwrap_or_default()
            };
            last.entry(whose).and_modify(|seen| *seen = (*seen).max(place)).or_insert(place);
            if lanes[lane].len() <= place {
                lanes[lane].resize_with(place + 1, || TABLES.iter().map(|_| Vec::new()).collect());
            }
            lanes[lane][place][at].push(row);
        }
    }
    lanes
}

fn id(arg: &Arg) -> Option<Uuid> {
    match arg {
        Arg::Blob(bytes) => Uuid::from_slice(bytes).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &[&'static str]) -> TableColumns {
        let kinds: Vec<ColumnType> = names.iter().map(|_| ColumnType::Uuid).collect();
        let columns: Vec<Column> = names.iter().copied().zip(kinds.iter().copied()).collect();
        TableColumns { names: names.to_vec(), kinds, bulk: Bulk::new("t", &columns, "") }
    }

    #[test]
    fn patients_are_dealt_out_and_their_rows_come_with_their_last_document() {
        let who = |n: u128| Arg::Blob(Uuid::from_u128(n).as_bytes().to_vec());
        let columns: Vec<TableColumns> = TABLES.iter().map(|_| columns(&["patient_id"])).collect();
        let of = |patients: &[u128]| patients.iter().map(|n| vec![who(*n)]).collect::<BatchRows>();
        let mut all: Vec<BatchRows> = TABLES.iter().map(|_| Vec::new()).collect();
        let at = |name: &str| TABLES.iter().position(|(table, _)| *table == name).unwrap();
        all[at("documents")] = of(&[1, 1, 2, 2, 2, 3]);
        all[at("inbox")] = of(&[1, 2, 3]);
        let lanes = dealt(all, &columns, 2, 2);
        let rows = |lane: usize, batch: usize, table: &str| lanes[lane][batch][at(table)].clone();
        assert_eq!((lanes[0].len(), lanes[1].len()), (2, 2));
        assert_eq!((rows(0, 0, "documents"), rows(0, 1, "documents")), (of(&[1, 1]), of(&[3])));
        assert_eq!((rows(1, 0, "documents"), rows(1, 1, "documents")), (of(&[2, 2]), of(&[2])));
        assert_eq!((rows(0, 0, "inbox"), rows(0, 1, "inbox")), (of(&[1]), of(&[3])));
        assert_eq!((rows(1, 0, "inbox"), rows(1, 1, "inbox")), (of(&[]), of(&[2])));
    }
}
