//! Lines of risk, and of words that only sound like it, through the whole extractor.

use super::*;
use crate::{ExtractionInput, Extractor, Temporality};
use anamnesis_core::document::DocumentType;
use anamnesis_text::{Document, Language};

fn class(text: &str) -> Option<RiskClass> {
    class_in(text, None)
}

fn class_in(text: &str, document_type: Option<DocumentType>) -> Option<RiskClass> {
    static EXTRACTOR: std::sync::LazyLock<Extractor> = std::sync::LazyLock::new(Extractor::builtin);
    let document = Document::plain(text, Language::Unknown);
    let found = EXTRACTOR.extract(&ExtractionInput { document_type, ..ExtractionInput::new(&document) }).risk;
    found.into_iter().find(|risk| !risk.denied && risk.experiencer == Experiencer::Patient).map(|risk| risk.class)
}

#[test]
fn every_class_is_found_in_both_languages() {
    use RiskClass::*;
    for (text, expected) in [
        ("A veces pienso que ojalá no despertara.", PassiveIdeation),
        ("I just don't want to be here anymore.", PassiveIdeation),
        ("Me quiero matar.", ActiveIdeation),
        ("I keep thinking about killing myself.", ActiveIdeation),
        ("Presenta ideación autolítica estructurada.", ActiveIdeation),
        ("He guardado pastillas para tomármelas todas.", PlanOrMeans),
        ("I have a plan to end my life.", PlanOrMeans),
        ("Escribí una carta de despedida.", PlanOrMeans),
        ("Hace dos años intenté suicidarme.", AttemptHistory),
        ("I tried to kill myself in college.", AttemptHistory),
        ("Anoche me corté en los brazos.", SelfHarm),
        ("I've been cutting myself again.", SelfHarm),
        ("Tengo ganas de matar a mi jefe.", HarmToOthers),
        ("I want to hurt my brother.", HarmToOthers),
        ("Mi marido me pega.", Abuse),
        ("My boyfriend hits me when he drinks.", Abuse),
    ] {
        assert_eq!(class(text), Some(expected), "{text}");
    }
}

#[test]
fn denials_idioms_and_other_people_are_not_risk() {
    for text in [
        "Niega ideación suicida.",
        "No he pensado en hacerme daño.",
        "Nunca intentaría matarme.",
        "Denies suicidal ideation.",
        "I would never hurt myself.",
        "No suicidal thoughts or plans.",
        "Me muero de risa.",
        "Me quiero morir de la vergüenza.",
        "My manager won't let me leave early.",
        "Being a dad is beautiful.",
        "Estoy matando el tiempo.",
        "This job is killing me.",
        "I'm dying to see the movie.",
        "Mi tío se suicidó: hubo un intento de suicidio de mi tío.",
        "Her brother had a suicide attempt.",
        "Me corté el pelo ayer.",
        "Sin ideas de muerte ni ideación autolítica.",
        "I don't want to go on a trip with them.",
        "She does not want to go on insulin.",
    ] {
        assert_eq!(class(text), None, "{text}");
    }
}

#[test]
fn a_plan_that_is_denied_next_to_thoughts_of_death_is_no_plan() {
    for text in [
        "Thinks about death, denies plan.",
        "Keeps thinking about dying but has no plan.",
        "Piensa en la muerte; no tiene un plan concreto.",
        "Piensa a menudo en la muerte, sin plan ni intención.",
    ] {
        assert_ne!(class(text), Some(RiskClass::PlanOrMeans), "{text}");
    }
    for text in [
        "Thinks about death and has picked a date.",
        "Wants to die, no plan yet but has pills saved up.",
        "Quiere morir, niega plan pero tiene pastillas guardadas.",
    ] {
        assert_eq!(class(text), Some(RiskClass::PlanOrMeans), "{text}");
    }
    assert_eq!(class("Thoughts of suicide: none. Plan: review in one week."), None);
    // The denial of the plan is none of the thoughts.
    assert_eq!(class("Le da vueltas a quitarse de en medio, plan no tiene."), Some(RiskClass::ActiveIdeation));
    assert_eq!(class("Ha pensado en suicidarse, intención no refiere."), Some(RiskClass::ActiveIdeation));
}

#[test]
fn who_died_has_no_thoughts_of_today() {
    for text in [
        "Desde que murió su hermano en septiembre piensa que no quiere seguir viviendo.",
        "Cuando falleció su madre empezó a decir que no quiere seguir viviendo.",
        "Since my brother died I don't want to go on living.",
        "I do not want to go on.",
    ] {
        assert_eq!(class(text), Some(RiskClass::PassiveIdeation), "{text}");
    }
    for text in [
        "Mi hermano dice que no quiere seguir viviendo.",
        "Desde que mi padre murió mi madre no quiere seguir viviendo.",
        "Since his father died his mother wants to die.",
        "I don't want to go on antidepressants.",
    ] {
        assert_eq!(class(text), None, "{text}");
    }
}

#[test]
fn what_a_relative_says_of_themselves_is_theirs() {
    for text in [
        "My son told me he wants to kill himself and I'm lost.",
        "My sister was abused by her ex.",
        "My cousin keeps saying he's going to kill his boss.",
        "One of my students says he wants to die.",
        "Mi hijo me ha dicho que se quiere matar.",
        "Mi suegra dice que está cansada de vivir.",
    ] {
        assert_eq!(class(text), None, "{text}");
    }
    assert_eq!(class("My son left and now I want to die."), Some(RiskClass::ActiveIdeation));
    assert_eq!(class("My boss is vile, gonna kill him."), Some(RiskClass::HarmToOthers));
    assert_eq!(class("Mi marido me dejó y ya estoy harta de vivir."), Some(RiskClass::PassiveIdeation));
}

#[test]
fn an_act_that_was_never_reported_was_done() {
    assert_eq!(class("The rape has never been reported."), class("The rape has been reported."));
    assert_eq!(class("El maltrato nunca ha sido denunciado: mi marido me pega."), Some(RiskClass::Abuse));
    assert_eq!(class("Mi intento de suicidio no fue una llamada de atención."), Some(RiskClass::AttemptHistory));
    assert_eq!(class("Rang the helpline after I took an overdose."), Some(RiskClass::AttemptHistory));
}

#[test]
fn a_patients_relative_who_informs_speaks_of_the_patient() {
    assert_eq!(class("Pt's husband says she took an overdose last night."), Some(RiskClass::AttemptHistory));
    assert_eq!(class("Patient's mother says she wants to kill herself."), Some(RiskClass::ActiveIdeation));
    for text in [
        "The patient's mother reports she tried to hang herself.",
        "Mother reports that he tried to hang himself.",
        "Father states patient tried to hang herself.",
        "La madre refiere que intentó ahorcarse.",
    ] {
        assert_eq!(class(text), Some(RiskClass::AttemptHistory), "{text}");
    }
    for text in [
        "My mother says she tried to hang herself.",
        "Mother tried to hang herself.",
        "Mi madre dice que intentó ahorcarse.",
    ] {
        assert_eq!(class(text), None, "{text}");
    }
    // In a chat it is the patient who writes.
    let message = "Mum says she tried to hang herself.";
    assert_eq!(class(message), Some(RiskClass::AttemptHistory));
    assert_eq!(class_in(message, Some(DocumentType::ChatMessage)), None);
}

#[test]
fn words_after_a_sign_answer_the_question() {
    assert_eq!(class("Asked about mood: wants to die."), Some(RiskClass::PassiveIdeation));
    assert_eq!(class("Preguntado por el ánimo: refiere que se quiere matar."), Some(RiskClass::ActiveIdeation));
    assert_eq!(class("Asked about self-harm: she says no, never."), None);
}

#[test]
fn what_is_stated_or_done_is_known_from_what_is_asked_or_others() {
    use RiskClass::*;
    for (text, expected) in [
        ("Asked about sleep: wants to kill herself.", Some(ActiveIdeation)),
        ("My sister told me she wants to die.", None),
        ("A mi hermana la maltrataba su novio.", None),
        ("Me pegué un golpe con la puerta.", None),
        ("Mi novio me pegó anoche.", Some(Abuse)),
        ("Me tomé las pastillas del médico y me acosté.", None),
        ("Me tomé todas las pastillas.", Some(AttemptHistory)),
        ("Cuando tenía veinte me tomé un frasco de pastillas y acabé en urgencias.", Some(AttemptHistory)),
        ("Attempted suicide two years ago.", Some(AttemptHistory)),
    ] {
        assert_eq!(class(text), expected, "{text}");
    }
}

#[test]
fn a_person_who_brings_the_patient_speaks_of_the_patient() {
    for text in
        ["Su madre lo trae porque intentó ahorcarse.", "Her father brought her in because she tried to hang herself."]
    {
        assert_eq!(class(text), Some(RiskClass::AttemptHistory), "{text}");
    }
    assert_eq!(class("Su madre intentó ahorcarse."), None);
}

#[test]
fn a_wish_to_disappear_is_no_symptom_that_is_over() {
    for text in ["Quiero desaparecer.", "Me dan ganas de desaparecer.", "quiero desaparecer porque nadie me escucha"] {
        assert_eq!(class(text), Some(RiskClass::PassiveIdeation), "{text}");
    }
    assert_eq!(class("No quiero desaparecer."), None);
    assert_eq!(class("Las ganas de morirme han desaparecido."), None);
}

#[test]
fn a_wish_denied_right_before_it_is_none() {
    for text in [
        "I don't want to die.",
        "I don't even want to kill myself.",
        "It never crossed my mind to kill myself.",
        "No quiero morirme, quiero curarme.",
    ] {
        assert_eq!(class(text), None, "{text}");
    }
    // Far after, "go away" says nothing of the deed; and no one's looking denies nothing.
    assert_eq!(class("I don't want to live."), Some(RiskClass::PassiveIdeation));
    assert_eq!(class("I cut my arms when nobody's looking."), Some(RiskClass::SelfHarm));
}

#[test]
fn a_denial_that_runs_into_the_words_of_risk_denies_them() {
    for text in [
        "No thoughts of self-harm, no plan.",
        "There is no history of overdose.",
        "I have never been abused.",
        "Suicide's never been in my head.",
        "Nadie me pega en casa.",
    ] {
        assert_eq!(class(text), None, "{text}");
    }
    assert_eq!(class("There's no point in me being here any longer."), Some(RiskClass::PassiveIdeation));
    assert_eq!(class("Nadie sabe que mi marido me pega."), Some(RiskClass::Abuse));
}

#[test]
fn a_screening_is_denied_by_its_answer_unless_more_was_said() {
    assert_eq!(class("Asked directly about domestic abuse while alone: says none."), None);
    assert_eq!(class("Cribado de violencia de pareja: negativo."), None);
    for text in [
        "Screened for self-harm: says no, but cuts her thighs.",
        "Asked about self-harm: says no, but cuts her thighs.",
        "Se le pregunta por autolesiones: dice que no, pero se corta los muslos.",
    ] {
        assert_eq!(class(text), Some(RiskClass::SelfHarm), "{text}");
    }
}

#[test]
fn a_leaflet_says_nothing_of_the_patient_and_a_patient_who_read_it_does() {
    assert_eq!(class("If you are thinking about suicide, call this number at any hour."), None);
    assert_eq!(class("El folleto explica qué hacer ante las ideas de suicidio."), None);
    assert_eq!(class("She read the leaflet and wants to kill herself."), Some(RiskClass::ActiveIdeation));
}

#[test]
fn a_slip_of_the_knife_is_no_self_harm() {
    assert_eq!(class("Cut myself peeling potatoes for dinner."), None);
    assert_eq!(class("Me corté el flequillo yo sola."), None);
    assert_eq!(class("Lo voy a destrozar al ajedrez."), None);
    assert_eq!(class("I burn my arm on the oven on purpose."), Some(RiskClass::SelfHarm));
}

#[test]
fn a_thing_that_hits_is_no_violence_and_a_person_who_drinks_and_hits_is() {
    for line in [
        "Grief hits me at night.",
        "Vodka hits me harder than beer.",
        "The tiredness hits me around four.",
        "El vino me pega más que la cerveza.",
        "La tristeza me pega por la noche.",
    ] {
        assert_eq!(class(line), None, "{line}");
    }
    for line in [
        "He hits me harder when he drinks.",
        "He drinks wine and hits me.",
        "Me pega cuando toma vino.",
        "El vino lo pone loco y me pega.",
        "When the coffee is cold he hits me.",
    ] {
        assert_eq!(class(line), Some(RiskClass::Abuse), "{line}");
    }
}

/// Current risks of the patient, not denied and not over, in the order of their codes.
fn current(text: &str) -> Vec<&'static str> {
    let document = Document::plain(text, Language::Unknown);
    let found = Extractor::shared().extract(&ExtractionInput::new(&document)).risk;
    let own = found.iter().filter(|risk| risk.is_own() && risk.temporality != Temporality::Historical);
    let mut out: Vec<&str> = own.map(|risk| risk.class.code()).collect();
    out.sort_unstable();
    out
}

fn attempts(text: &str) -> usize {
    let document = Document::plain(text, Language::Unknown);
    let found = Extractor::shared().extract(&ExtractionInput::new(&document)).risk;
    found.iter().filter(|risk| risk.class == RiskClass::AttemptHistory && !risk.denied).count()
}

#[test]
fn a_wish_to_die_and_the_means_for_it_are_two_findings_of_now_and_no_attempt() {
    for text in [
        "Deseo suicidarme y ya tengo los comprimidos escondidos",
        "Me voy a ahorcar y ya preparé la cuerda",
        "quiero matarme y ya he conseguido el veneno",
        "Pienso en quitarme la vida y he juntado insulina",
        "Tengo la soga en el coche y voy a ahorcarme",
        "Quiere suicidarse, ya tiene guardadas las pastillas.",
        "Paciente que quiere ahorcarse y ha comprado una cuerda.",
        "I want to die and I've already got the razor blades",
        "I'm going to kill myself and I have the tablets right here",
        "I've been thinking about ending my life and I bought a rope yesterday",
        "I have my grandad's rifle and I'm going to shoot myself",
        "He wants to hang himself and has already bought the rope.",
        "She wants to end her life and she has hidden the insulin.",
    ] {
        assert_eq!(current(text), ["active_ideation", "plan_or_means"], "{text}");
        assert_eq!(attempts(text), 0, "{text}");
    }
}

#[test]
fn who_no_longer_wants_to_live_is_at_risk_now() {
    for text in [
        "Ya no quiero vivir y tengo la escopeta de mi abuelo",
        "I no longer want to be here and I've got my dad's gun",
        "I no longer want to live and I have the pills ready",
    ] {
        assert_eq!(current(text), ["passive_ideation", "plan_or_means"], "{text}");
    }
    assert_eq!(current("ya no aguanto más y he comprado matarratas"), ["plan_or_means"]);
    for over in ["Ya no pienso en morir.", "I no longer think about killing myself.", "Ya no me corto."] {
        assert_eq!(current(over), Vec::<&str>::new(), "{over}");
    }
}

#[test]
fn what_is_wished_or_denied_was_not_attempted_and_what_was_done_was() {
    for text in [
        "Me quiero suicidar",
        "Se va a suicidar si lo dejan solo.",
        "Quiero cortarme las venas",
        "I want to cut my wrists",
        "I'm planning to cut my wrists tonight",
        "No quiero suicidarme.",
        "Amenaza con ahorcarse.",
        "Tengo miedo de suicidarme.",
    ] {
        assert_eq!(attempts(text), 0, "{text}");
    }
    for text in [
        "Me he ahorcado una vez y me bajaron.",
        "Se envenenó el año pasado y lo ingresaron.",
        "Intentó suicidarse en enero.",
        "I cut my wrists last year.",
        "I wanted to and took all my pills last night",
        "Tried to hang himself in March.",
    ] {
        assert_eq!(attempts(text), 1, "{text}");
    }
}

#[test]
fn means_without_a_wish_and_the_wish_of_another_are_no_plan_of_the_patients() {
    for text in [
        "No quiero morir y tengo las pastillas para el dolor en la cocina",
        "I don't want to die, I have pills for my blood pressure",
        "My brother wants to die and has bought a rope",
        "Mi madre quiere morirse y tiene pastillas",
        "Tengo las pastillas de la tensión en la mesilla",
    ] {
        assert_eq!(current(text), Vec::<&str>::new(), "{text}");
    }
}
