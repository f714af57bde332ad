//! The status of a medicine until something happens, once, and when another replaces it.

use std::sync::LazyLock;

use crate::{Entity, EntityType, ExtractionInput, Extractor, Temporality};
use anamnesis_text::{Document, Language};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

fn medicine(text: &str, name: &str) -> Entity {
    let all = EXTRACTOR.extract(&ExtractionInput::new(&Document::plain(text, Language::Unknown))).entities;
    let is = |entity: &&Entity| entity.kind == EntityType::Medication && entity.value == name;
    all.iter().find(is).unwrap_or_else(|| panic!("{name}: {text}: {all:?}")).clone()
}

fn status(text: &str, name: &str) -> String {
    medicine(text, name).status.unwrap_or_default()
}

#[test]
fn a_medicine_that_goes_on_until_someone_says_otherwise_is_taken() {
    for (text, name) in [
        ("Continue nebivolol until the clinic says otherwise.", "nebivolol"),
        ("Keep taking ramipril until we tell you to stop.", "ramipril"),
        ("Stay on levothyroxine until your next blood test.", "levothyroxine"),
        ("Seguir con nebivolol hasta que diga lo contrario la clínica.", "nebivolol"),
        ("Siga con la warfarina hasta que le avisemos.", "warfarin"),
        ("Continúe amlodipino hasta que cardiología indique otra cosa.", "amlodipine"),
        ("Continuar enoxaparina hasta nueva orden.", "enoxaparin"),
    ] {
        assert_eq!(status(text, name), "active", "{text}");
    }
    assert_ne!(status("Tome naproxeno hasta que ceda el dolor.", "naproxen"), "stopped");
}

#[test]
fn a_medicine_that_was_taken_until_it_did_harm_was_stopped() {
    for (text, name) in [
        ("Took nebivolol until the clinic said otherwise.", "nebivolol"),
        ("She used tramadol until it made her sick.", "tramadol"),
        ("Took ibuprofen until my stomach bled.", "ibuprofen"),
        ("Was on ramipril until the cough started.", "ramipril"),
        ("Usó amiodarona hasta que se le alteró el tiroides.", "amiodarone"),
        ("Tomó diclofenaco hasta que le sangró la úlcera.", "diclofenac"),
        ("Tomaba tramadol hasta que le dio vómitos.", "tramadol"),
    ] {
        assert_eq!(status(text, name), "stopped", "{text}");
    }
    assert_eq!(status("Takes paracetamol until the pain goes.", "acetaminophen"), "active");
}

#[test]
fn a_dose_that_was_left_out_once_neither_begins_nor_ends_a_medicine() {
    for (text, name, expected) in [
        ("We did not give morphine overnight.", "morphine", "on_hold"),
        ("Did not give him ibuprofen this time.", "ibuprofen", "on_hold"),
        ("Esta mañana no le di el salbutamol.", "albuterol", "on_hold"),
        ("No se ha puesto la heparina hoy.", "heparin", "on_hold"),
        ("No se administró anoche la enoxaparina.", "enoxaparin", "on_hold"),
        ("Did not take amlodipine this morning.", "amlodipine", "not_adherent"),
        ("Hoy no tomó la metformina.", "metformin", "not_adherent"),
        ("Omitida la dosis de furosemida de hoy.", "furosemide", "not_adherent"),
    ] {
        let found = medicine(text, name);
        assert_eq!(found.status.as_deref(), Some(expected), "{text}");
        assert!(!found.context.negated, "{text}");
    }
    assert_eq!(status("Did not give prednisolone.", "prednisolone"), "not_taken");
    assert_eq!(status("No toma enalapril.", "enalapril"), "not_taken");
    assert_eq!(status("Hoy ya no toma enalapril.", "enalapril"), "stopped");
}

#[test]
fn of_two_medicines_that_are_exchanged_the_second_takes_the_place_of_the_first() {
    for (text, old, new) in [
        ("Could you please change ramipril to candesartan?", "ramipril", "candesartan"),
        ("Please swap citalopram 20 mg for sertraline 50 mg.", "citalopram", "sertraline"),
        ("Exchange warfarin for apixaban 5 mg bd.", "warfarin", "apixaban"),
        ("Substitute lansoprazole for omeprazole.", "omeprazole", "lansoprazole"),
        ("Replace codeine with paracetamol.", "codeine", "acetaminophen"),
        ("Cambie enalapril por losartán.", "enalapril", "losartan"),
        ("Pasar de fluoxetina a sertralina.", "fluoxetine", "sertraline"),
        ("Hay que sustituir el omeprazol 20 mg por pantoprazol 40 mg.", "omeprazole", "pantoprazole"),
        ("Rotar morfina a oxicodona.", "morphine", "oxycodone"),
    ] {
        assert_eq!((status(text, old).as_str(), status(text, new).as_str()), ("stopped", "started"), "{text}");
    }
}

#[test]
fn an_exchange_that_is_denied_or_only_considered_changes_nothing_yet() {
    for (text, old, new) in [
        ("Would like to change ramipril to candesartan.", "ramipril", "candesartan"),
        ("If no better, switch citalopram to sertraline.", "citalopram", "sertraline"),
        ("Si no mejora, cambiar sertralina por venlafaxina.", "sertraline", "venlafaxine"),
        ("Valorar sustituir omeprazol por pantoprazol.", "omeprazole", "pantoprazole"),
    ] {
        assert_eq!((status(text, old).as_str(), status(text, new).as_str()), ("active", "suggested"), "{text}");
    }
    assert_eq!(status("Do not change warfarin to apixaban.", "warfarin"), "active");
    assert!(medicine("Do not change warfarin to apixaban.", "apixaban").context.negated);
    assert_eq!(status("Cambiar sertralina a 100 mg.", "sertraline"), "changed");
    assert_eq!(status("Change ramipril to 10 mg.", "ramipril"), "changed");
}

#[test]
fn a_medicine_that_takes_the_place_of_another_is_no_harm_of_it() {
    let text = "Cambie enalapril por losartán.";
    let all = EXTRACTOR.extract(&ExtractionInput::new(&Document::plain(text, Language::Spanish))).entities;
    assert!(all.iter().all(|entity| entity.kind == EntityType::Medication), "{all:?}");
}

#[test]
fn a_medicine_dispensed_for_later_is_not_stopped() {
    for text in [
        "Nyxoid – two given at discharge; finished training.",
        "Nyxoid, two handed out, course done.",
        "Naloxona nasal: dos entregados por dos meses.",
        "Naloxona: entregadas dos, terminó el taller.",
    ] {
        assert_ne!(status(text, "naloxone"), "stopped", "{text}");
        assert_ne!(medicine(text, "naloxone").context.temporality, Temporality::Historical, "{text}");
    }
    assert_eq!(status("Amoxicillin given, course finished.", "amoxicillin"), "stopped");
}

#[test]
fn a_bare_figure_after_a_medicine_for_the_blood_is_its_dose() {
    assert_eq!(status("Toma clopidogrel 75.", "clopidogrel"), "active");
    assert_eq!(status("Takes rivaroxaban 20.", "rivaroxaban"), "active");
}

#[test]
fn a_verb_with_another_medicine_after_it_says_nothing_of_the_one_before() {
    for (text, kept, ended) in [
        ("Takes sertraline, stopped mirtazapine.", "sertraline", "mirtazapine"),
        ("On bisoprolol now that she has finished the furosemide.", "bisoprolol", "furosemide"),
        ("Toma enalapril, dejó el losartán.", "enalapril", "losartan"),
        ("Quetiapine 50 (stopped olanzapine in May).", "quetiapine", "olanzapine"),
        ("Usa insulina glargina y suspendió la metformina.", "insulin glargine", "metformin"),
    ] {
        assert!(matches!(status(text, kept).as_str(), "" | "active"), "{text}: {}", status(text, kept));
        assert_eq!(status(text, ended), "stopped", "{text}");
    }
    for (text, ended) in [
        ("Sertraline stopped, mirtazapine started.", "sertraline"),
        ("Litio suspendido, lamotrigina iniciada.", "lithium"),
        ("Ramipril 5 mg was stopped and amlodipine started.", "ramipril"),
    ] {
        assert_eq!(status(text, ended), "stopped", "{text}");
    }
}

/// The status of each medicine of a sentence: its English name and its status, empty where it is simply taken.
fn fates(text: &str, expected: &[(&str, &str)]) {
    for (name, status) in expected {
        let found = medicine(text, name);
        assert_eq!((found.status.as_deref().unwrap_or_default(), text), (*status, text), "{name}");
        assert_eq!(found.context.negated, *status == "not_taken", "{name}: {text}");
    }
}

#[test]
fn each_participle_is_of_the_medicine_before_it() {
    fates("Rivaroxaban started and clopidogrel stopped.", &[("rivaroxaban", "started"), ("clopidogrel", "stopped")]);
    fates("Candesartan 8 mg stopped and sacubitril/valsartan started.", &[("candesartan", "stopped")]);
    fates(
        "Espironolactona iniciada y furosemida suspendida.",
        &[("spironolactone", "started"), ("furosemide", "stopped")],
    );
    fates(
        "Bisoprolol, ramipril, simvastatina (suspendida).",
        &[("bisoprolol", ""), ("ramipril", ""), ("simvastatin", "stopped")],
    );
    fates(
        "Litio, olanzapina y diazepam suspendidos.",
        &[("lithium", "stopped"), ("olanzapine", "stopped"), ("diazepam", "stopped")],
    );
    fates("Continues atenolol, digoxin stopped.", &[("atenolol", "active"), ("digoxin", "stopped")]);
    fates("D/c'd gabapentin; pregabalin 75 mg added.", &[("gabapentin", "stopped"), ("pregabalin", "started")]);
    fates("Meds: atenolol, stopped naproxen, calcium carbonate.", &[("atenolol", "active"), ("naproxen", "stopped")]);
    fates(
        "RETIRAR: glipizida. AÑADIR: dapagliflozina 10 mg.",
        &[("glipizide", "stopped"), ("dapagliflozin", "started")],
    );
    fates(
        "Previous treatments: fluoxetine. Currently venlafaxine 75 mg.",
        &[("fluoxetine", "stopped"), ("venlafaxine", "")],
    );
}

#[test]
fn advice_against_a_medicine_is_no_proposal_and_what_it_must_not_be_taken_with_is_taken() {
    for (text, name) in [
        ("She should not take naproxen.", "naproxen"),
        ("I would not recommend starting zolpidem.", "zolpidem"),
        ("We advised against using codeine.", "codeine"),
        ("No debe tomar diclofenaco.", "diclofenac"),
        ("Se decide no reiniciar apixabán.", "apixaban"),
        ("Not currently on rivaroxaban.", "rivaroxaban"),
        ("On ramipril, not on digoxin.", "digoxin"),
    ] {
        fates(text, &[(name, "not_taken")]);
    }
    fates("Avoid naproxen with lithium.", &[("naproxen", "not_taken"), ("lithium", "")]);
    fates("No tome diclofenaco mientras toma warfarina.", &[("diclofenac", "not_taken")]);
    assert!(!medicine("No tome diclofenaco mientras toma warfarina.", "warfarin").context.negated);
    fates("Sin tratamiento con quetiapina.", &[("quetiapine", "not_taken")]);
}

#[test]
fn an_order_for_a_case_or_a_time_has_not_been_carried_out_and_what_was_taken_up_again_is_taken() {
    fates("Stop empagliflozin if vomiting.", &[("empagliflozin", "active")]);
    fates("Si diarrea, suspender enalapril.", &[("enalapril", "active")]);
    fates("Suspender rivaroxabán 48 horas antes de la cirugía.", &[("rivaroxaban", "on_hold")]);
    fates("Dejó la olanzapina en enero y la retomó en abril.", &[("olanzapine", "active")]);
    fates("Stopped taking digoxin and is still on bisoprolol.", &[("digoxin", "stopped"), ("bisoprolol", "active")]);
    fates("Completó 10 días de doxiciclina.", &[("doxycycline", "stopped")]);
    fates("Iniciará rivaroxabán tras la retirada del drenaje.", &[("rivaroxaban", "")]);
}

#[test]
fn doses_that_are_never_missed_are_taken_and_those_that_often_are_not_are_taken_badly() {
    for text in [
        "Never misses a dose of lithium.",
        "Has not missed any doses of lithium.",
        "No se salta ninguna toma de litio.",
    ] {
        fates(text, &[("lithium", "active")]);
    }
    for text in ["Not taking lithium as prescribed.", "No toma el litio todos los días.", "No siempre toma el litio."]
    {
        fates(text, &[("lithium", "not_adherent")]);
    }
}

#[test]
fn a_limit_is_no_dose() {
    for (text, name, dose) in [
        ("Labetalol 20 mg IV if SBP >170.", "labetalol", "20 mg"),
        ("Metamizol 2 g si temperatura >38,5.", "metamizole", "2 g"),
        ("Increase ramipril to 10 mg if BP > 150/90.", "ramipril", "10 mg"),
        ("Carvedilol 3.125 > 6.25 mg.", "carvedilol", "6.25 mg"),
    ] {
        assert_eq!(medicine(text, name).dose.as_deref(), Some(dose), "{text}");
    }
}
