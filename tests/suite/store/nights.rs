//! Nights on each engine: the same memory afterwards, and on a server as the role that is made for them.

use std::sync::Arc;

use anamnesis::clock::{ManualClock, SeededEntropy};
use anamnesis::jobs::night::Night;
use anamnesis::jobs::policy::Policies;
use anamnesis::store::Store;
use anamnesis::store::digest::Digest;
use anamnesis::store::engine::Database;
use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;

use crate::support::{Clinic, Engine, NOW, Place, feed, samples};

/// Ten nights over the samples; what is left, and how many memories were changed.
async fn ten_nights(clinic: &Clinic, engine: Engine) -> (Digest, u64) {
    let place = Place::on(engine).await;
    let pipeline = clinic.pipeline_at(&place.location()).await;
    feed(&pipeline, &samples(), 16).await;
    let database = match &place {
        Place::Postgres(server) => Database::open(&server.location("test_jobs")).await.unwrap(),
        _ => pipeline.store().db().clone(),
    };
    let clock = Arc::new(ManualClock::at(NOW.parse().unwrap()));
    let store = Store::new(database, Arc::clone(&clinic.keys), clock.clone(), Arc::new(SeededEntropy::new(5)));
    let night = Night::over(&store, Policies::embedded().unwrap(), Arc::new(()), CancellationToken::new());
    let mut changed = 0;
    for _ in 0..10 {
        clock.advance(TimeDelta::days(1));
        changed += night.round().await.unwrap().iter().map(|report| report.changed).sum::<u64>();
    }
    (pipeline.store().digest(None).await.unwrap(), changed)
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_nights_leave_the_same_memory_on_every_engine() {
    let clinic = Clinic::new().await;
    let (expected, changed) = ten_nights(&clinic, Engine::Memory).await;
    assert!(changed > 0, "the nights have something to do");
    for engine in [Engine::File, Engine::Postgres] {
        assert_eq!(ten_nights(&clinic, engine).await, (expected.clone(), changed), "{engine:?}");
    }
}
