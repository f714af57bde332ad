//! A statement about one relative does not change those about another: through documents, in both languages.

use anamnesis_core::finding::{EntityType, Experiencer};
use anamnesis_core::memory::State;
use anamnesis_store::read::{MemoryFilter, ReadInstant};

use crate::support::{Clinic, TestEngine, bodies, document, feed, on_every_engine, scope};

on_every_engine!(what_is_said_of_one_relative_supersedes_nothing_of_another);

/// The first statement, the next one, and the number of statements about relatives that are active then.
const CASES: [(&str, &str, usize); 8] = [
    ("Her mother has diabetes.", "Her sister does not have diabetes.", 2),
    ("Su madre tiene diabetes.", "Su hermana no tiene diabetes.", 2),
    ("Her father has asthma.", "Her brother has no asthma.", 2),
    ("Su abuela tiene epilepsia.", "Su tía no tiene epilepsia.", 2),
    ("Her mum has hypertension.", "Her father denies hypertension.", 2),
    ("Antecedentes familiares: madre con asma.", "Antecedentes familiares: padre sin asma.", 2),
    // The same relative under another word is the same relative.
    ("Her mother has epilepsy.", "Her mum does not have epilepsy.", 1),
    ("Su madre tiene migraña.", "Su mamá no tiene migraña.", 1),
];

async fn what_is_said_of_one_relative_supersedes_nothing_of_another(engine: TestEngine) {
    for (first, next, in_force) in CASES {
        let clinic = Clinic::on(engine).await;
        let pipeline = clinic.pipeline().await;
        let reported = [document(1, 1, "2026-05-02T10:00:00Z", first), document(2, 1, "2026-05-09T10:00:00Z", next)];
        feed(&pipeline, &bodies(&reported), 1).await;
        let filter = MemoryFilter {
            entities: vec![EntityType::Condition, EntityType::Symptom],
            states: State::ALL.to_vec(),
            ..MemoryFilter::default()
        };
        let all = pipeline.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap();
        let of_family: Vec<_> = all.iter().filter(|m| m.experiencer == Experiencer::Family).collect();
        let active = of_family.iter().filter(|m| m.status.state == State::Active).count();
        assert_eq!(active, in_force, "{first} {next}: {of_family:#?}");
    }
}
