use proptest::prelude::*;

use super::*;
use anamnesis_sql::{Access, Database, Location, Sql};

/// The place of the words in a row of `EXPLAIN QUERY PLAN`.
const DETAIL: usize = 3;

async fn plan(statement: &Sql, args: Vec<Arg>) -> Vec<String> {
    let db = Database::open(&Location::Memory).await.unwrap();
    let mut tx = db.begin(Access::Platform).await.unwrap();
    let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", statement.sqlite()).into_boxed_str()));
    tx.fetch_all(&explain, args).await.unwrap().iter().map(|row| row.text(DETAIL).unwrap()).collect()
}

#[tokio::test]
async fn what_fell_is_found_by_index_in_order_without_sorting() {
    let nil = || Arg::from(Uuid::nil());
    let zero = || Arg::from(0i64);
    let args = vec![nil(), "note".into(), zero(), zero(), zero(), nil(), nil(), 1i64.into()];
    let plan = plan(&sql::OLDEST, args).await;
    assert_eq!(plan.len(), 1, "{plan:?}");
    assert!(
        plan[0].starts_with("SEARCH memory USING INDEX memory_decay (org_id=? AND kind=? AND decay_bucket=?"),
        "{plan:?}"
    );
}

#[tokio::test]
async fn levels_and_open_questions_are_walked_by_index_and_every_kind_that_fades_is_among_them() {
    let levels = plan(&sql::LEVELS, vec![Uuid::nil().into()]).await;
    let walks = |columns: &str| levels.iter().filter(|line| line.contains(columns)).count();
    let of_kind = "SEARCH m USING INDEX memory_decay (org_id=? AND kind=? AND decay_bucket";
    let steps = [walks(&format!("{of_kind}>?)")), walks(&format!("{of_kind}=?)")), walks("SEARCH m"), walks("SCAN m")];
    assert_eq!(steps, [2, 1, 3, 0], "{levels:?}");
    let kinds = Kind::ALL.iter().filter(|kind| level(**kind, 1.0, false).is_some());
    assert!(
        kinds.clone().count() > 5
            && kinds.clone().all(|kind| sql::LEVELS.sqlite().contains(&format!("'{}'", kind.code())))
    );
    let asked = plan(&sql::PATIENTS_WITH_QUESTIONS, vec![Uuid::nil().into(), Uuid::nil().into(), 1i64.into()]).await;
    assert!(asked.iter().any(|line| line.contains("INDEX memory_review (org_id=?")), "{asked:?}");
}

proptest! {
    #[test]
    fn no_memory_falls_before_its_level_is_looked_at(
        thousandths in 0.0f64..=1_000.0,
        threshold in 0.0f64..=1.0,
        rate in 0.0001f64..=1.0,
        floor in 0.0f64..=1.0,
        period in 1.0f64..=400.0,
    ) {
        let confidence = thousandths / 1_000.0;
        let mut policy = DecayPolicy { uncertain_below: threshold, ..DecayPolicy::default() };
        policy.belief = confidence::DecayRate { rate, period_days: period, floor };
        if let Some(days) = confidence::days_until_uncertain(&policy, Kind::Belief, confidence, false) {
            let level = level(Kind::Belief, confidence, false).unwrap();
            let first = first_days(&policy, Kind::Belief, level);
            prop_assert!(first.is_some_and(|first| first <= days), "{first:?} {days}");
        }
    }
}
