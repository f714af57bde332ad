//! Answers, denials and indirect words of risk, through the whole extractor.

use super::*;
use crate::{ExtractionInput, Extractor};
use anamnesis_text::{Document, Language};

static EXTRACTOR: std::sync::LazyLock<Extractor> = std::sync::LazyLock::new(Extractor::builtin);

/// The affirmed and the denied risks of the patient, each class once.
fn risks_in(document: &Document) -> (Vec<RiskClass>, Vec<RiskClass>) {
    let found = EXTRACTOR.extract(&ExtractionInput::new(document)).risk;
    let of = |denied: bool| {
        let own = found.iter().filter(|risk| risk.denied == denied && risk.experiencer == Experiencer::Patient);
        let mut classes: Vec<RiskClass> = own.map(|risk| risk.class).collect();
        classes.dedup();
        classes
    };
    (of(false), of(true))
}

fn asked(question: &str, answer: &str) -> (Vec<RiskClass>, Vec<RiskClass>) {
    let turns = [(Speaker::Clinician, question, None), (Speaker::Patient, answer, None)];
    risks_in(&Document::dialogue(turns, Language::Unknown))
}

fn noted(text: &str) -> (Vec<RiskClass>, Vec<RiskClass>) {
    risks_in(&Document::plain(text, Language::Unknown))
}

#[test]
fn a_question_about_harm_to_a_named_person_is_denied_by_its_answer() {
    for (question, answer) in [
        ("¿Y alguna vez has querido hacerle algo a tu hermana?", "No, cómo cree. A ella jamás."),
        ("¿Quieres lastimar a [PERSON_12AB]?", "No, qué va. Solo quiero que me deje en paz."),
        ("Any thoughts of hurting [PERSON_12AB] or the kids?", "God no. Never laid a finger on them."),
        ("Would you hurt him?", "No. I just want him gone."),
    ] {
        assert_eq!(asked(question, answer).1, [RiskClass::HarmToOthers], "{question}");
    }
}

#[test]
fn a_yes_may_close_an_answer_and_a_frequency_is_one() {
    for (question, answer) in [
        ("Any thoughts of killing yourself?", "On Tuesday, yeah."),
        ("¿Piensa en matarse?", "El otro día he pensado sí."),
        ("Ever think about suicide?", "All the time."),
        ("¿Ha pensado en suicidarse?", "Pues mire, más de una vez."),
    ] {
        assert_eq!(asked(question, answer).0, [RiskClass::ActiveIdeation], "{question}");
    }
}

#[test]
fn who_feels_safe_only_at_times_does_not_deny() {
    assert_eq!(asked("Do you feel safe at home?", "Not really. He breaks things.").0, [RiskClass::Abuse]);
    assert_eq!(asked("¿La tratan bien en su casa?", "Sí, mis hijas son muy buenas conmigo.").1, [RiskClass::Abuse]);
}

#[test]
fn a_label_with_its_denial_is_one_statement() {
    assert_eq!(noted("VIF: niega.").1, [RiskClass::Abuse]);
    assert_eq!(noted("IPV: denied, asked alone.").1, [RiskClass::Abuse]);
    assert_eq!(noted("NSSI    yes__ no_X_").1, [RiskClass::SelfHarm]);
    assert_eq!(noted("Thoughts of ending life – \"no love, who'd feed the cats\".").1, [RiskClass::ActiveIdeation]);
}

#[test]
fn harm_by_oneself_and_to_others_are_denied_together() {
    for text in ["No auto ni heteroagresividad.", "Sin auto ni heteroagresividad en planta."] {
        let denied = noted(text).1;
        assert!(denied.contains(&RiskClass::SelfHarm) && denied.contains(&RiskClass::HarmToOthers), "{text}");
    }
    let ideas = noted("Niega ideación auto/heteroagresiva.").1;
    assert!(ideas.contains(&RiskClass::ActiveIdeation) && ideas.contains(&RiskClass::HarmToOthers));
}

#[test]
fn what_is_only_thought_of_is_no_attempt() {
    for text in ["Sometimes I think about taking all my pills.", "I'd take all my insulin, that's how I would do it."] {
        assert!(!noted(text).0.contains(&RiskClass::AttemptHistory), "{text}");
    }
    assert_eq!(noted("The time I slit my wrists my roommate found me.").0, [RiskClass::AttemptHistory]);
}

#[test]
fn indirect_wishes_to_die_are_passive() {
    for text in [
        "Says she would not mind if she went in her sleep.",
        "\"Dios, lléveme ya\", repite.",
        "Si mañana me atropella un camión no me quejo.",
    ] {
        assert_eq!(noted(text).0, [RiskClass::PassiveIdeation], "{text}");
    }
}

#[test]
fn who_strikes_and_who_threatens_is_decided_by_the_verb() {
    assert_eq!(noted("Su marido le empujó y le dio con un palo.").0, [RiskClass::Abuse]);
    assert_eq!(noted("Le dijo que si avisa la mata.").0, [RiskClass::Abuse]);
    assert_eq!(noted("Padre de mano larga hasta los 14.").0, [RiskClass::Abuse]);
    assert_eq!(noted("He chased his landlord down the stairs with a machete.").0, [RiskClass::HarmToOthers]);
}

#[test]
fn advice_for_a_case_is_no_risk_of_a_person() {
    assert_eq!(noted("Si idea suicida o autolesión, acudir a urgencias.").0, []);
}

#[test]
fn a_no_to_a_question_whether_it_is_over_affirms_the_risk() {
    for (question, answer, class) in [
        ("Have the suicidal thoughts gone?", "No.", RiskClass::ActiveIdeation),
        ("Did the thoughts of ending your life go away after the summer?", "Not really.", RiskClass::ActiveIdeation),
        ("Have you managed to stop cutting yourself?", "No, last night again.", RiskClass::SelfHarm),
        ("¿Se le han ido las ganas de morir?", "No.", RiskClass::PassiveIdeation),
        ("¿Las ideas de suicidio han desaparecido?", "Todavía no.", RiskClass::ActiveIdeation),
        ("¿Ha dejado de cortarse?", "No, la verdad.", RiskClass::SelfHarm),
        ("Are the suicidal thoughts any better?", "No.", RiskClass::ActiveIdeation),
    ] {
        let (affirmed, denied) = asked(question, answer);
        assert_eq!((affirmed, denied), (vec![class], vec![]), "{question} {answer}");
        let (affirmed, denied) = noted(&format!("{question} {answer}"));
        assert_eq!((affirmed, denied), (vec![class], vec![]), "noted: {question} {answer}");
    }
}

#[test]
fn a_yes_to_a_question_whether_it_is_over_denies_it() {
    for (question, answer, class) in [
        ("Have the suicidal thoughts gone?", "Yes, completely.", RiskClass::ActiveIdeation),
        ("¿Se le han quitado las ideas de suicidio?", "Sí, gracias a Dios.", RiskClass::ActiveIdeation),
        ("Have you stopped cutting yourself?", "Yes.", RiskClass::SelfHarm),
    ] {
        assert_eq!(asked(question, answer), (vec![], vec![class]), "{question} {answer}");
    }
    // Less is not gone.
    assert_eq!(asked("Are the suicidal thoughts less frequent?", "Yes, a bit.").1, []);
}

#[test]
fn a_question_in_which_something_else_is_over_is_answered_as_it_is() {
    for (question, answer) in [
        ("Did you think about suicide when he had gone?", "No."),
        ("Any past suicidal thoughts?", "No."),
        ("Have thoughts of suicide gone through your mind?", "No, never."),
        ("¿Ha pensado en matarse desde que se fue su hija?", "No."),
    ] {
        assert_eq!(asked(question, answer), (vec![], vec![RiskClass::ActiveIdeation]), "{question} {answer}");
    }
    assert_eq!(asked("¿Piensa que sería mejor morir?", "Sí.").0, [RiskClass::PassiveIdeation]);
}
