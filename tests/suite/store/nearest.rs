//! The nearest passages of one patient, with and without an approximate index: never fewer than there are.

use std::sync::Arc;

use anamnesis_bench::recall::{RecallMeasurement, RecallSize, measure};
use anamnesis_core::clock::{Clock, ManualClock, SeededEntropy};
use anamnesis_crypto::Keyring;
use anamnesis_observability::metrics::{Identity, Metrics};
use anamnesis_sql::{Database, DbError, Location, PostgresOptions, approximate};
use anamnesis_store::Store;

use super::amount;
use crate::server::TestDatabase;
use crate::support::NOW;

async fn measured(size: RecallSize, with_index: bool) -> RecallMeasurement {
    let server = TestDatabase::new().await;
    let mut config = crate::server::trial();
    config.ann_min_passages = u32::from(with_index);
    let at = PostgresOptions::new(&server.url(Some("test_app")), &config).unwrap();
    let owner = server.location("test_owner");
    at_location(Location::Postgres(Box::new(at)), size, with_index.then_some(&owner)).await
}

async fn at_location(location: Location, size: RecallSize, approximate: Option<&Location>) -> RecallMeasurement {
    let db = Database::open(&location).await.unwrap();
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(NOW.parse().unwrap()));
    let entropy = Arc::new(SeededEntropy::new(1));
    let keys = Keyring::in_memory(Arc::clone(&clock), entropy.clone()).await.unwrap();
    let store = Store::new(db, Arc::new(keys), clock, entropy);
    let metrics = Arc::new(Metrics::new(&Identity::default()).unwrap());
    measure(&store, &metrics, size, approximate, &|_| {}).await.unwrap()
}

/// Three of 100,000 by `make proofs`.
#[tokio::test(flavor = "multi_thread")]
async fn three_passages_of_a_patient_are_found_among_those_of_all_others() {
    let size = RecallSize { own: 200, foreign: amount(5_000, 100_000) as u64, dimension: 64, queries: 5 };
    let found = measured(size, false).await;
    assert_eq!((found.narrow_recall, found.exact), (1.0, 1.0));
}

/// Of more documents than are read over one connection, strangers' between a patient's own.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_finds_exactly_the_nearest_over_two_connections() {
    let folder = tempfile::tempdir().unwrap();
    let size = RecallSize { own: 900, foreign: 2_000, dimension: 100, queries: 5 };
    let found = at_location(Location::File(folder.path().join("store.db")), size, None).await;
    assert_eq!((found.narrow_recall, found.exact, found.with_others_recall), (1.0, 1.0, 1.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approximate_index_never_hides_the_rows_of_a_patient_with_few() {
    let size = RecallSize { own: 400, foreign: 2_000, dimension: 256, queries: 5 };
    let found = measured(size, true).await;
    assert_eq!(found.narrow_recall, 1.0);
    assert!(found.with_others_recall >= 0.95, "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approximate_index_is_made_and_dropped_by_the_owner_for_dimensions_that_have_one() {
    let server = TestDatabase::new().await;
    let owner = server.location("test_owner");
    let count = async || {
        let sql = "SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'embedding_near_%'";
        sqlx::query_scalar::<_, i64>(sql).fetch_one(&mut server.administrator().await).await.unwrap()
    };
    assert_eq!(count().await, 0, "there is none unless somebody makes it");
    for made in [1, 1, 0] {
        approximate(&owner, 768, made == 1).await.unwrap();
        assert_eq!(count().await, made);
    }
    assert_eq!(approximate(&owner, 77, true).await.unwrap_err(), DbError::Approximate);
    assert_eq!(approximate(&Location::Memory, 768, true).await.unwrap_err(), DbError::Approximate);
}
