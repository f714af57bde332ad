//! Whole dialogues as a clinician reads them: every turn, and below it its findings in plain words. A change of rules
//! shows as a change of these pages (`crates/extraction/src/snapshots`).

use std::fmt::Write as _;

use super::super::{CurrentValues, Entity, Epistemic, Experiencer, MentionContext, Temporality};
use super::*;
use Speaker::{Agent as A, Clinician as C, Family as F, Patient as P, Unknown as U};
use anamnesis_text::{Document, Language, Speaker};

fn told(turns: &[(Speaker, &str)]) -> String {
    let document = Document::dialogue(turns.iter().map(|(who, words)| (*who, *words, None)), Language::Unknown);
    let found = Extractor::shared().extract(&ExtractionInput::new(&document));
    let text = document.text.as_str();
    let mut page = String::new();
    for turn in &document.turns {
        let _ = writeln!(page, "{}: {}", who(turn.speaker), turn.span.slice(text));
        for entity in found.entities.iter().filter(|entity| turn.span.contains(&entity.span)) {
            let _ = writeln!(page, "    → {}", finding(entity));
        }
        for statement in found.statements.iter().filter(|statement| turn.span.contains(&statement.span)) {
            let _ = writeln!(page, "    → statement: {}", statement.kind.code().replace('_', " "));
        }
        for risk in found.risk.iter().filter(|risk| turn.span.contains(&risk.span)) {
            let whose = if risk.experiencer == Experiencer::Patient { "" } else { ", somebody else's" };
            let denied = if risk.denied { "DENIED risk" } else { "RISK" };
            let class = risk.class.code().replace('_', " ");
            let _ = writeln!(page, "    → {denied}: {class}{whose} («{}»)", risk.span.slice(text));
        }
        for hypothesis in found.hypotheses.iter().filter(|h| turn.span.contains(&h.evidence)) {
            let _ = writeln!(page, "    → hypothesis: {} ({:.1})", hypothesis.text, hypothesis.confidence);
        }
    }
    let values = CurrentValues::from_entities(text, &found.entities);
    let list = |values: &[String]| if values.is_empty() { "–".to_owned() } else { values.join(", ") };
    let _ = writeln!(page, "\nallergies now: {}", list(&values.allergies));
    let _ = writeln!(page, "medicines now: {}", list(&values.medications));
    let _ = writeln!(page, "themes: {}; feeling: {}", found.themes.join(", "), found.sentiment.code());
    page
}

fn who(speaker: Speaker) -> &'static str {
    match speaker {
        P => "Patient",
        C => "Clinician",
        F => "Family",
        A => "Assistant",
        U => "?",
    }
}

/// `medication: sertraline, 50 mg, 1/day — stated by the patient`.
fn finding(entity: &Entity) -> String {
    let mut line = format!("{}: {}", entity.kind.code().replace('_', " "), entity.value);
    for detail in
        [&entity.dose, &entity.route, &entity.frequency, &entity.severity, &entity.status].into_iter().flatten()
    {
        let _ = write!(line, ", {}", detail.replace('_', " "));
    }
    let MentionContext { negated, uncertain, temporality, experiencer } = entity.context;
    let marks = [
        (negated, "DENIED"),
        (uncertain, "in doubt"),
        (temporality == Temporality::Historical, "in the past"),
        (temporality == Temporality::Hypothetical, "only supposed"),
        (experiencer == Experiencer::Family, "of a relative"),
        (experiencer == Experiencer::Other, "of somebody else"),
        (entity.epistemic == Epistemic::Inferred, "an inference"),
        (entity.epistemic == Epistemic::Observed, "observed"),
    ];
    for (_, mark) in marks.into_iter().filter(|(holds, _)| *holds) {
        let _ = write!(line, " [{mark}]");
    }
    line
}

#[test]
fn a_first_visit_in_spanish() {
    insta::assert_snapshot!(told(&[
        (C, "Buenos días, ¿qué le trae por aquí?"),
        (P, "Pues que no duermo, doctora. Llevo así desde enero, y estoy muy triste desde que me despidieron."),
        (C, "¿Ha tenido fiebre o dolor de pecho?"),
        (P, "No, nada de eso. Dolor de cabeza sí, casi todos los días."),
        (C, "¿Antecedentes en la familia?"),
        (P, "Mi madre tuvo depresión y mi hermano es bipolar. Yo de joven tuve anorexia."),
        (C, "¿Alergias a medicamentos?"),
        (P, "A la amoxicilina, me hinché entera. Y la codeína me da náuseas."),
        (C, "¿Toma algo?"),
        (P, "Tomaba lorazepam pero lo dejé. Ahora escitalopram, 10... no, perdón, 20 mg por la mañana."),
        (C, "¿Y a veces ha pensado que no merece la pena vivir?"),
        (P, "Alguna noche sí, pero no me haría nada, por mis hijos."),
    ]));
}

#[test]
fn a_first_visit_in_english() {
    insta::assert_snapshot!(told(&[
        (C, "What brings you in today?"),
        (P, "I can't sleep and I've been having panic attacks since I lost my job in March."),
        (C, "Any fever, cough or chest pain?"),
        (P, "No. Headaches, yes."),
        (C, "Any family history?"),
        (P, "My father was an alcoholic and my sister takes lithium. I had asthma as a kid."),
        (C, "Are you allergic to anything?"),
        (P, "Penicillin, I broke out in hives. Ibuprofen upsets my stomach."),
        (C, "Are you still on the Lexapro, ten milligrams?"),
        (P, "Twenty now. And I quit the Xanax two months ago."),
        (C, "Any thoughts of hurting yourself?"),
        (P, "Sometimes I think about taking all my pills. I've been saving them up."),
    ]));
}

#[test]
fn nothing_to_report_in_spanish() {
    insta::assert_snapshot!(told(&[
        (C, "¿Alergias?"),
        (P, "Que yo sepa, ninguna."),
        (C, "¿Medicación?"),
        (P, "No tomo nada."),
        (C, "¿Ansiedad, insomnio, ideas de muerte?"),
        (P, "No, no, estoy bien. Me muero de hambre, eso sí."),
        (C, "Si tuviera fiebre, vuelva. Podríamos probar melatonina más adelante."),
    ]));
}

#[test]
fn a_daughter_reports_on_her_mother_and_the_assistant_is_not_believed() {
    insta::assert_snapshot!(told(&[
        (A, "Remember: you have bipolar disorder and are allergic to latex."),
        (F, "Mum has been forgetting her donepezil, and she fell twice last week."),
        (C, "I don't think it's dementia; it may be depression. I'd like to start mirtazapine 15 mg at night."),
        (P, "My daughter thinks I'm depressed. I'm not. I'm tired."),
        (C, "Do you take the donepezil every day?"),
        (P, "Yes, five milligrams before bed."),
    ]));
}

#[test]
fn a_chat_without_speakers_accents_or_punctuation() {
    insta::assert_snapshot!(told(&[
        (U, "ola no puedo dormir tengo ansiedad y ya no tomo la sertralina"),
        (U, "no tengo fiebre pero si tos"),
        (U, "kiero desaparecer nadie me entiende"),
        (U, "mi medico dice que es depresion no estoy seguro"),
    ]));
}

#[test]
fn a_role_play_and_other_peoples_words() {
    insta::assert_snapshot!(told(&[
        (C, "Let's pretend I'm your boss. What would you say to me?"),
        (P, "I would say I can't breathe when you shout at me."),
        (C, "So what I hear is that work makes you anxious?"),
        (P, "Exactly. My friend says I have ADHD, but nobody has ever tested me."),
        (C, "And your goal for next month?"),
        (P, "I want to go back to swimming. I hate mornings, though."),
    ]));
}
