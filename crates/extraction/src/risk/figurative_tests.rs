//! Kinds of basic sentences in which the plain words of risk mean another thing than they name, through the whole extractor.

use super::*;
use crate::{ExtractionInput, Extractor, RiskLevel, Temporality};
use RiskClass::{Abuse, ActiveIdeation, AttemptHistory, HarmToOthers, PlanOrMeans, SelfHarm};
use anamnesis_text::{Document, Language};

static EXTRACTOR: std::sync::LazyLock<Extractor> = std::sync::LazyLock::new(Extractor::builtin);

/// All findings of a note, or of a question and its answer where a line separates them.
fn found(text: &str) -> Vec<Risk> {
    let document = match text.split_once(" / ") {
        Some((question, answer)) => Document::dialogue(
            [(Speaker::Clinician, question, None), (Speaker::Patient, answer, None)],
            Language::Unknown,
        ),
        None => Document::plain(text, Language::Unknown),
    };
    EXTRACTOR.extract(&ExtractionInput::new(&document)).risk
}

/// Holds that each text affirms and denies these classes of the patient, and no others.
fn holds(rows: &[(&str, &[RiskClass], &[RiskClass])]) {
    for (text, affirmed, denied) in rows {
        let found = found(text);
        let of = |denied: bool| {
            let own = found
                .iter()
                .filter(|r| r.denied == denied && r.experiencer == Experiencer::Patient && r.learned.is_none());
            let mut classes: Vec<RiskClass> = own.map(|risk| risk.class).collect();
            classes.sort_by_key(|class| class.code());
            classes.dedup();
            classes
        };
        assert_eq!((of(false).as_slice(), of(true).as_slice()), (*affirmed, *denied), "{text}");
    }
}

#[test]
fn a_denial_that_is_taken_back_affirms() {
    holds(&[
        ("Niega ideación suicida. Al final de la entrevista confiesa que sí.", &[ActiveIdeation], &[]),
        ("No thoughts of suicide this week, last week yes.", &[ActiveIdeation], &[ActiveIdeation]),
        ("She had never cut herself until her boyfriend broke up with her.", &[SelfHarm], &[]),
        ("Initially denied SI, later admitted to having a plan.", &[ActiveIdeation, PlanOrMeans], &[]),
        ("Have you ever tried to kill yourself? / No. Actually, yes, once.", &[AttemptHistory], &[]),
        ("Does your partner hit you? / No, never. Well, he pushed me at Easter.", &[Abuse], &[]),
        ("Niega ideación suicida hasta el momento.", &[], &[ActiveIdeation]),
        ("Denies SI. Later admitted to drinking daily.", &[], &[ActiveIdeation]),
        ("Any suicidal thoughts? / No. Well, I don't sleep much.", &[], &[ActiveIdeation]),
    ]);
}

#[test]
fn a_short_name_is_read_with_the_sign_or_word_after_it() {
    holds(&[
        ("SI: yes, HI: no.", &[ActiveIdeation], &[HarmToOthers]),
        ("SI (+) HI (-)", &[ActiveIdeation], &[HarmToOthers]),
        ("SI worse this week.", &[ActiveIdeation], &[]),
        ("Suicidal thoughts (Y/N): N", &[], &[ActiveIdeation]),
        ("Autolesiones ........ SI", &[SelfHarm], &[]),
        ("Fuma: SI. Bebe: NO.", &[], &[]),
        ("SI no mejora, acudir a urgencias.", &[], &[]),
    ]);
}

#[test]
fn what_is_only_named_is_neither_affirmed_nor_denied() {
    holds(&[
        ("Riesgo suicida no evaluado por bajo nivel de conciencia.", &[], &[]),
        ("Could not assess for suicidal thoughts as patient was intubated.", &[], &[]),
        ("Reassess suicidality in one week.", &[], &[]),
        ("Seek help if thoughts of self-harm, rash or fever.", &[], &[]),
        ("Suicide risk: minimal.", &[], &[]),
        ("Objetivos: reducir las autolesiones.", &[SelfHarm], &[]),
        ("Ideación suicida: niega.", &[], &[ActiveIdeation]),
        ("Remitido para valorar ideas de suicidio desde hace un mes.", &[ActiveIdeation], &[]),
        ("No se explora tórax. Ideación suicida presente.", &[ActiveIdeation], &[]),
    ]);
}

#[test]
fn a_question_put_in_the_negative_or_for_something_else_is_answered_as_it_is_meant() {
    holds(&[
        ("You haven't hurt yourself, have you? / I have.", &[SelfHarm], &[]),
        ("¿No has pensado en suicidarte? / Sí.", &[ActiveIdeation], &[]),
        ("¿No has pensado en suicidarte? / No.", &[], &[ActiveIdeation]),
        ("Can you promise not to hurt yourself? / No.", &[SelfHarm], &[]),
        ("Would you mind talking about the suicide attempt? / No.", &[], &[]),
        ("¿Me avisarías si tuvieras ideas de suicidio? / Sí.", &[], &[]),
        ("¿Tienes ideas de suicidio o de hacer daño a otros? / Lo primero sí.", &[ActiveIdeation], &[]),
    ]);
}

#[test]
fn a_denial_of_everything_else_affirms() {
    holds(&[
        ("She sees no option but suicide.", &[ActiveIdeation], &[]),
        ("No pasa un día sin que piense en suicidarse.", &[ActiveIdeation], &[]),
        ("Dice que no se mata por su madre.", &[ActiveIdeation], &[]),
        ("No puede prometer no autolesionarse.", &[SelfHarm], &[]),
        ("Never tried to kill herself, but has often thought about it.", &[ActiveIdeation], &[AttemptHistory]),
        ("I'm not going to kill myself because I have kids.", &[], &[ActiveIdeation]),
    ]);
}

#[test]
fn what_is_over_is_history_and_what_goes_on_is_not() {
    for (text, past) in [
        ("Hospitalised in 2015 for suicidal thoughts.", true),
        ("Se cortaba de adolescente.", true),
        ("Hace tres años que no se autolesiona.", true),
        ("Cuando vivía con su exmarido él le pegaba.", true),
        ("Took an overdose two days ago.", false),
        ("Se corta desde hace años.", false),
        ("Tiene ideas de suicidio desde la adolescencia.", false),
        ("Su médico la remite por ideación suicida.", false),
    ] {
        let found = found(text);
        let own: Vec<bool> =
            found.iter().filter(|r| r.is_own()).map(|r| r.temporality == Temporality::Historical).collect();
        assert_eq!(own, [past], "{text}");
    }
}

#[test]
fn who_would_do_what_to_whom_is_distinguished() {
    holds(&[
        ("Mi vecino me amenazó con matarme.", &[Abuse], &[]),
        ("She believes her neighbours want to kill her.", &[], &[]),
        ("Pegó a su hija con una correa.", &[HarmToOthers], &[]),
        ("Arrested for domestic violence.", &[HarmToOthers], &[]),
        ("Su padre pegaba a su madre.", &[], &[]),
        ("Found hanging by his mother, cut down and resuscitated.", &[AttemptHistory], &[]),
        ("Padre de una chica de 16 años que se cortó las venas.", &[], &[]),
        ("Dice que quiere matar a su padre.", &[HarmToOthers], &[]),
    ]);
}

#[test]
fn wishes_hoards_and_broken_promises_are_found() {
    holds(&[
        ("Refiere querer morirse.", &[ActiveIdeation], &[]),
        ("Will not contract for safety.", &[ActiveIdeation], &[]),
        ("She is saving up her pills.", &[PlanOrMeans], &[]),
        ("Swallowed 30 paracetamol tablets an hour ago.", &[AttemptHistory], &[]),
        ("¿Te pega? / Solo cuando bebe.", &[Abuse], &[]),
        ("Quiere morirse de la risa.", &[], &[]),
        ("Contracts for safety.", &[], &[]),
    ]);
}

#[test]
fn a_laugh_makes_a_threat_a_joke_and_never_the_wish_to_end_ones_own_life() {
    holds(&[
        ("Voy a matar a mi hermano si vuelve a tocar mis cosas, jaja.", &[], &[]),
        ("I was so embarrassed I wanted to die.", &[], &[]),
        ("Jaja me quiero suicidar, no es broma.", &[ActiveIdeation], &[]),
    ]);
    let armed = found("I am going to kill him, I have a gun, lol.");
    assert!(armed.iter().any(|risk| risk.class == HarmToOthers && risk.level == RiskLevel::High));
}
