//! Random work of fifty organisations through one small pool, with cancelled requests and panics in between: no
//! organisation ever sees, changes or makes a row of another.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Access, Arg, Database, DbError, Location, PostgresOptions, Sql};
use aws_lc_rs::digest::{SHA256, digest};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::amount;
use crate::server::TestDatabase;

const ORGS: u64 = 50;
const WORKERS: usize = 8;
const PANIC: &str = "in the middle of a transaction";
const TABLES: [&str; 5] = ["patient_profile", "inbox", "consent", "action_audit", "outbox"];

fn org(n: u64) -> Uuid {
    Uuid::from_u128(0x5000_0000_0000_4000_8000_0000_0000_0000 + u128::from(n))
}

/// Rows of every organisation, so that there is something to see.
async fn seed(server: &TestDatabase) {
    let sql = "
        INSERT INTO organization (org_id, created_at, updated_at) SELECT ($1::uuid[])[n], 0, 0 FROM generate_series(1, 50) AS n;
        INSERT INTO patient_profile (org_id, patient_id, created_at, updated_at)
          SELECT ($1::uuid[])[n], md5(n || ' ' || k)::uuid, 0, 0 FROM generate_series(1, 50) AS n, generate_series(1, 4) AS k;
        INSERT INTO inbox (org_id, message_hash, body_hash, message_type, disposition, created_at, updated_at)
          SELECT ($1::uuid[])[n], sha256((n || ' ' || k)::bytea), sha256('x'), 't', 'stored', 0, 0
          FROM generate_series(1, 50) AS n, generate_series(1, 4) AS k;
        INSERT INTO consent (org_id, patient_id, id, scope_hash, provision, from_at, recorded_by, created_at, updated_at)
          SELECT org_id, patient_id, gen_random_uuid(), sha256('x'), 'permit', 0, patient_id, 0, 0 FROM patient_profile;
        INSERT INTO action_audit (org_id, patient_id, id, at, actor, action, outcome, created_at, updated_at)
          SELECT org_id, patient_id, gen_random_uuid(), 0, 'a', 'b', 'c', 0, 0 FROM patient_profile;
        INSERT INTO outbox (org_id, id, patient_id, event_type, body_sealed, created_at, updated_at)
          SELECT org_id, gen_random_uuid(), patient_id, 'e', 'x', 0, 0 FROM patient_profile";
    let list: Vec<String> = (0..ORGS).map(|n| format!("'{}'", org(n))).collect();
    let sql = sql.replace("$1::uuid[]", &format!("ARRAY[{}]::uuid[]", list.join(",")));
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut server.administrator().await).await.unwrap();
}

/// The same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        let hash = digest(&SHA256, &self.0.to_be_bytes());
        self.0 = u64::from_be_bytes(hash.as_ref()[..8].try_into().unwrap());
        self.0 % limit
    }
}

fn leaked(text: String) -> Sql {
    Sql::new(Box::leak(text.into_boxed_str()))
}

/// Statements that a program without a defect would not run: none of them names its organisation.
struct ForeignStatements {
    all: Vec<Sql>,
    foreign: Vec<Sql>,
    change: Sql,
    remove: Sql,
    insert: Sql,
    slow: Sql,
}

impl ForeignStatements {
    fn new() -> Self {
        Self {
            all: TABLES.iter().map(|t| leaked(format!("SELECT org_id FROM {t}"))).collect(),
            foreign: TABLES.iter().map(|t| leaked(format!("SELECT org_id FROM {t} WHERE org_id = $1"))).collect(),
            change: Sql::new("UPDATE patient_profile SET updated_at = updated_at + 1 WHERE org_id = $1"),
            remove: Sql::new("DELETE FROM outbox WHERE org_id = $1"),
            insert: Sql::new(
                "INSERT INTO patient_profile (org_id, patient_id, created_at, updated_at) VALUES ($1, $2, 0, 0) \
                 ON CONFLICT (org_id, patient_id) DO UPDATE SET updated_at = patient_profile.updated_at",
            ),
            slow: Sql::new("SELECT pg_sleep(0.05)"),
        }
    }
}

/// How much was done, also by those who panicked.
static DONE: AtomicUsize = AtomicUsize::new(0);

/// Statements of random organisations until so many were run in all; the number of foreign rows seen or touched.
async fn storm(db: &Database, statements: &ForeignStatements, operations: usize, seed: u64) -> u64 {
    let (mut dice, mut foreign) = (Dice(seed), 0);
    while DONE.load(Ordering::Relaxed) < operations {
        let own = org(dice.below(ORGS));
        let other = org(dice.below(ORGS));
        let strange = own != other;
        let Ok(mut tx) = db.begin(Access::Organization(OrgId(own))).await else { continue };
        for _ in 0..=dice.below(9) {
            DONE.fetch_add(1, Ordering::Relaxed);
            let table = usize::try_from(dice.below(TABLES.len() as u64)).unwrap();
            match dice.below(400) {
                0..=1 if strange => {
                    let patient = Uuid::from_u128(dice.below(4).into());
                    let made = tx.execute(&statements.insert, vec![Arg::Uuid(other), Arg::Uuid(patient)]).await;
                    foreign += u64::from(made != Err(DbError::Denied));
                    break;
                }
                390..=398 => {
                    let asleep = tx.fetch_all(&statements.slow, Vec::new());
                    let _ = tokio::time::timeout(Duration::from_millis(2), asleep).await;
                    break;
                }
                2..=50 if strange => foreign += tx.execute(&statements.change, vec![Arg::Uuid(other)]).await.unwrap(),
                51..=80 if strange => foreign += tx.execute(&statements.remove, vec![Arg::Uuid(other)]).await.unwrap(),
                81..=140 if strange => {
                    foreign +=
                        tx.fetch_all(&statements.foreign[table], vec![Arg::Uuid(other)]).await.unwrap().len() as u64;
                }
                399 => panic!("{PANIC}"),
                _ => {
                    let rows = tx.fetch_all(&statements.all[table], Vec::new()).await.unwrap();
                    assert!(!rows.is_empty(), "one's own rows are there");
                    foreign += rows.iter().filter(|row| row.uuid(0).unwrap() != own).count() as u64;
                }
            }
        }
        if dice.below(2) == 0 {
            let _ = tx.commit().await;
        }
    }
    foreign
}

/// Whether a task ended with its planned panic; any other panic is a failure of the test.
fn panicked(ended: tokio::task::JoinError) -> bool {
    let reported = ended.into_panic();
    if reported.downcast_ref::<String>().is_none_or(|text| text != PANIC) {
        std::panic::resume_unwind(reported);
    }
    true
}

/// 10⁵ statements with every change, 10⁶ by `make proofs`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_organisation_sees_or_touches_a_row_of_another() {
    let server = TestDatabase::new().await;
    seed(&server).await;
    let mut config = crate::server::trial();
    config.max_connections = 4;
    let url = server.url(Some("test_app"));
    let location = Location::Postgres(Box::new(PostgresOptions::new(&url, &config).unwrap()));
    let db = Database::open(&location).await.unwrap();
    let statements: &'static ForeignStatements = Box::leak(Box::new(ForeignStatements::new()));
    let operations = amount(100_000, 1_000_000);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload().downcast_ref::<String>().is_none_or(|text| text != PANIC) {
            hook(info);
        }
    }));
    let workers = (0..WORKERS).map(|worker| {
        let db = db.clone();
        async move {
            let (mut foreign, mut panics) = (0, 0u64);
            // A task that panics is replaced, as a worker's would be.
            while DONE.load(Ordering::Relaxed) < operations {
                let (db, seed) = (db.clone(), 1_000_000 * worker as u64 + panics);
                match tokio::spawn(async move { storm(&db, statements, operations, seed).await }).await {
                    Ok(seen) => foreign += seen,
                    Err(ended) => panics += u64::from(panicked(ended)),
                }
            }
            assert!(panics > 0);
            foreign
        }
    });
    let foreign: u64 = futures::future::join_all(workers).await.into_iter().sum();
    assert_eq!(foreign, 0, "foreign rows");
}
