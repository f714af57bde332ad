//! Risk of whole documents, from message to memory: questions with their answers, check boxes, denials by class,
//! histories with their dates, relatives, and words that only look like risk.

use anamnesis_core::finding::Experiencer;
use anamnesis_store::read::{ReadInstant, RiskFlag};
use serde_json::{Value, json};

use crate::support::{Clinic, TestEngine, bodies, document, feed, on_every_engine, rows, scope};

on_every_engine!(
    a_note_is_judged_clause_by_clause,
    questions_and_their_answers_are_judged_together,
    boxes_and_letters_of_a_form_are_read,
    what_only_sounds_like_risk_is_none,
    only_urgent_risks_raise_an_alarm,
);

const SAID: &str = "2026-05-10T10:00:00Z";

async fn flags(engine: TestEngine, note: Value) -> (Clinic, Vec<RiskFlag>) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &bodies(&[note]), 1).await;
    let flags = pipeline.store().read().risks(scope(), ReadInstant::Now).await.unwrap();
    (clinic, flags)
}

fn text(language: &str, text: &str) -> Value {
    let mut note = document(1, 1, SAID, text);
    note["language"] = json!(language);
    note
}

fn dialogue(language: &str, turns: &[(&str, &str)]) -> Value {
    let mut note = text(language, "");
    note.as_object_mut().unwrap().remove("text");
    note["document_type"] = json!("session_transcript");
    note["turns"] = turns.iter().map(|(speaker, text)| json!({"speaker": speaker, "text": text})).collect();
    note
}

/// Classes, with a minus before a denial, sorted.
fn classes(flags: &[RiskFlag]) -> Vec<String> {
    let mut classes: Vec<String> =
        flags.iter().map(|flag| format!("{}{}", if flag.denied { "-" } else { "" }, flag.class)).collect();
    classes.sort();
    classes
}

fn find_flag<'a>(flags: &'a [RiskFlag], class: &str, denied: bool) -> &'a RiskFlag {
    flags
        .iter()
        .find(|flag| flag.class == class && flag.denied == denied)
        .unwrap_or_else(|| panic!("{class}: {flags:?}"))
}

async fn a_note_is_judged_clause_by_clause(engine: TestEngine) {
    let note = "reviewed at home with the district nurse leg ulcer smaller no pain at night\n\
        asked alone about mood he says he will hang himself one of these days denies any thoughts of harming others \
        no previous attempts wife says he has been hoarding tablets in the shed\n\
        father died by suicide in 1994";
    let (_, flags) = flags(engine, text("en", note)).await;
    assert!(find_flag(&flags, "harm_to_others", true).quote.contains("harming others"), "{flags:?}");
    assert!(find_flag(&flags, "attempt_history", true).quote.contains("no previous attempts"), "{flags:?}");
    assert!(find_flag(&flags, "plan_or_means", false).quote.contains("hoarding tablets"), "{flags:?}");
    let history = find_flag(&flags, "attempt_history", false);
    assert_eq!(
        (history.experiencer, history.relation.as_deref()),
        (Experiencer::Family, Some("father")),
        "{history:?}"
    );
    assert_eq!(history.level.as_deref(), Some("low"));
}

async fn questions_and_their_answers_are_judged_together(engine: TestEngine) {
    let turns = [
        ("clinician", "¿Qué tal la semana?"),
        ("patient", "Con mucho trabajo en la panadería."),
        ("clinician", "¿Ha llegado a pensar en quitarse la vida?"),
        ("patient", "No, doctora, eso no."),
        ("clinician", "¿Y en lastimarse?"),
        ("patient", "Prefiero no contestar."),
        ("clinician", "¿Y ganas de hacerle daño a alguien?"),
        ("patient", "Para nada."),
        ("clinician", "¿Alguien la golpea en casa?"),
        ("patient", "Sí, mi pareja, el viernes."),
        ("clinician", "¿Tiene armas en casa?"),
        ("patient", "No tenemos."),
    ];
    let (_, flags) = flags(engine, dialogue("es", &turns)).await;
    assert_eq!(classes(&flags), ["-active_ideation", "-harm_to_others", "-plan_or_means", "abuse"]);
    let denial = find_flag(&flags, "active_ideation", true);
    assert!(denial.quote.contains("quitarse la vida") && denial.quote.contains("No"), "{denial:?}");
    assert_eq!(denial.level.as_deref(), Some("none"));
}

async fn boxes_and_letters_of_a_form_are_read(engine: TestEngine) {
    let form = "INTAKE\nReason: back pain, poor sleep\n\
        Thoughts of ending your life       Yes [ ]  No [x]\n\
        Ever attempted suicide             Yes [x]  No [ ]   when? 2011, tablets\n\
        [N] Hurting yourself on purpose\n[Y] Weapons in the home\nDomestic violence: none\nPHQ-9 item 9: 0\n";
    let (_, flags) = flags(engine, text("en", form)).await;
    let expected =
        ["-abuse", "-active_ideation", "-passive_ideation", "-self_harm", "attempt_history", "plan_or_means"];
    assert_eq!(classes(&flags), expected);
    assert!(find_flag(&flags, "attempt_history", false).quote.contains("2011"), "{flags:?}");
}

async fn what_only_sounds_like_risk_is_none(engine: TestEngine) {
    for (language, note) in [
        (
            "en",
            "Leaflet with the crisis line given. If thoughts of suicide occur, call the crisis team. GI bleed excluded.",
        ),
        ("en", "He could murder a curry, he joked. Dog bite to the hand, cleaned. No plan to change the dose."),
        (
            "es",
            "Se corta las uñas él solo. Está muerto de cansancio. Si aparecen ideas de suicidio, acudir a urgencias.",
        ),
        (
            "es",
            "Refiere que su jefe lo va a matar si llega tarde. Cribado pendiente. Dolor torácico: creyó que se moría.",
        ),
    ] {
        let visit = match language {
            "es" => {
                "Acude a revisión. Mejora la rodilla. Pasea a diario. Come bien. Duerme siete horas. Tensión normal. Se revisan los análisis."
            }
            _ => {
                "Seen for review. Knee better. Walks daily. Eats well. Sleeps seven hours. Blood pressure normal. Results reviewed."
            }
        };
        let (_, flags) = flags(engine, text(language, &format!("{visit}\n{note}"))).await;
        assert_eq!(classes(&flags), Vec::<String>::new(), "{note}");
    }
}

async fn only_urgent_risks_raise_an_alarm(engine: TestEngine) {
    let note = "Wants to kill himself and has a pistol in the wardrobe. As a teenager he used to cut his forearms. \
        Her cousin hanged himself.";
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &bodies(&[text("en", note)]), 1).await;
    let flags = pipeline.store().read().risks(scope(), ReadInstant::Now).await.unwrap();
    assert_eq!(find_flag(&flags, "active_ideation", false).level.as_deref(), Some("high"), "{flags:?}");
    let past = find_flag(&flags, "self_harm", false);
    assert_eq!((past.level.as_deref(), past.temporality.as_deref()), (Some("low"), Some("historical")));
    let called = rows(pipeline.store(), "SELECT id FROM outbox WHERE event_type = 'anamnesis.risk.flagged.v1'").await;
    assert_eq!(
        called.len(),
        flags.iter().filter(|flag| matches!(flag.level.as_deref(), Some("medium" | "high"))).count()
    );
}
