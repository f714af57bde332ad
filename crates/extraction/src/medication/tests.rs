//! Statements about medicines in lines of lists, letters, dictations and talk.

use std::sync::LazyLock;

use crate::{Entity, EntityType, Experiencer, ExtractionInput, Extractor};
use anamnesis_text::{Document, Language, Speaker};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

fn found(document: &Document) -> Vec<Entity> {
    EXTRACTOR.extract(&ExtractionInput::new(document)).entities
}

fn in_note(text: &str) -> Vec<Entity> {
    found(&Document::plain(text, Language::Unknown))
}

fn in_talk(turns: &[(Speaker, &str)]) -> Vec<Entity> {
    found(&Document::dialogue(turns.iter().map(|(who, words)| (*who, *words, None)), Language::Unknown))
}

fn medicine<'a>(all: &'a [Entity], name: &str) -> &'a Entity {
    let is = |entity: &&Entity| entity.kind == EntityType::Medication && entity.value == name;
    all.iter().find(is).unwrap_or_else(|| panic!("{name}: {all:?}"))
}

fn dose(text: &str, name: &str) -> String {
    medicine(&in_note(text), name).dose.clone().unwrap_or_default()
}

fn status(text: &str, name: &str) -> String {
    medicine(&in_note(text), name).status.clone().unwrap_or_default()
}

#[test]
fn of_several_doses_the_newest_one_holds() {
    assert_eq!(dose("Felodipine ten was cut to five for swollen feet.", "felodipine"), "5 mg");
    assert_eq!(dose("Se cambia nebivolol 5 por 2,5 mg.", "nebivolol"), "2.5 mg");
    assert_eq!(dose("Hipotiroidismo, levo 125 → 88.", "levothyroxine"), "88 mcg");
    assert_eq!(dose("Citalopram 20mg, increased to 40mg in June.", "citalopram"), "40 mg");
    assert_eq!(dose("Venlafaxina: subida de 75 a 150 mg.", "venlafaxine"), "150 mg");
    assert_eq!(dose("Eltroxin 100, was 75 until Easter.", "levothyroxine"), "100 mcg");
    assert_eq!(status("Se cambia nebivolol 5 por 2,5 mg.", "nebivolol"), "changed");
}

#[test]
fn of_a_change_from_one_dose_to_another_the_second_holds() {
    for (text, name, expected) in [
        ("Fluoxetine was increased from 20 to 40 mg. Remains on fluoxetine 40 mg daily.", "fluoxetine", "40 mg"),
        ("Fluoxetina se aumentó de 20 a 40 mg.", "fluoxetine", "40 mg"),
        ("Sertralina: bajamos de 100 a 50.", "sertraline", "50 mg"),
        ("Bajamos de 100 a 50 la sertralina.", "sertraline", "50 mg"),
        ("Bajamos la sertralina de 100 a 50.", "sertraline", "50 mg"),
        ("Subimos 50 mg de sertralina a 100.", "sertraline", "100 mg"),
        ("Sertralina, estaba en 50 y subimos a 100.", "sertraline", "100 mg"),
        ("Ramipril was on 5, now 10.", "ramipril", "10 mg"),
        ("She was on 5 mg of ramipril, now 10 mg.", "ramipril", "10 mg"),
        ("Paroxetina tomaba 20, ahora toma 40.", "paroxetine", "40 mg"),
        ("Used to take 20 mg of citalopram, now takes 40.", "citalopram", "40 mg"),
        ("Levothyroxine went from 100 mcg to 125.", "levothyroxine", "125 mcg"),
        ("Lantus from 10 units to 14.", "insulin glargine", "14 IU"),
        ("Bisoprolol 10 mg, reduced from 20 mg.", "bisoprolol", "10 mg"),
        ("Quetiapine up from 25 to 50.", "quetiapine", "50 mg"),
    ] {
        assert_eq!(dose(text, name), expected, "{text}");
    }
    assert_ne!(status("Oxycodone 5 to 10 mg every 4 hours prn.", "oxycodone"), "changed", "a range");
}

#[test]
fn a_bare_denial_of_a_medicine_is_read_doubtfully_and_a_stated_one_plainly() {
    let sure = |text: &str, name: &str| medicine(&in_note(text), name).confidence;
    assert!(sure("NO metoclopramide please.", "metoclopramide") <= 0.5);
    assert!(sure("Le habían formulado pregabalina, nunca la compró.", "pregabalin") > 0.6);
    assert!(sure("Mother takes lithium.", "lithium") > 0.6);
}

#[test]
fn amounts_at_several_times_of_the_day_stay_together() {
    let all = in_note("Torasemide 10 mg in the morning and 5 at noon.");
    let torasemide = medicine(&all, "torasemide");
    assert_eq!(torasemide.dose.as_deref(), Some("10 mg in the morning, 5 mg at noon"));
    assert_eq!(torasemide.frequency.as_deref(), Some("2/day"));
    assert_eq!(dose("Pregabalina 75 mg mañana y 150 mg noche", "pregabalin"), "75 mg in the morning, 150 mg at night");
}

#[test]
fn a_strength_may_be_apart_from_its_name() {
    assert_eq!(dose("He is still on the carvedilol, 6.25 twice, since May.", "carvedilol"), "6.25 mg");
    assert_eq!(dose("She is on the pravastatin now, forty.", "pravastatin"), "40 mg");
    assert_eq!(dose("Usa la budesonida de 200, dos puff cada doce horas.", "budesonide"), "200, 2 puff");
    assert_eq!(dose("plan erythromycin two fifty three times a week", "erythromycin"), "250 mg");
    assert_eq!(dose("Cambiado a moxifloxacino 9/2.", "moxifloxacin"), "", "a day of the month");
    let all = in_talk(&[
        (Speaker::Clinician, "¿El losartán, se lo está tomando?"),
        (Speaker::Patient, "Sí, el de 50, todas las mañanas antes de irme a la huerta con el perro."),
    ]);
    assert_eq!(medicine(&all, "losartan").dose.as_deref(), Some("50 mg"));
}

#[test]
fn the_remark_of_a_line_sets_the_status_of_its_medicine() {
    assert_eq!(status("Torasemida 10 mg: 1-0-0  (AUMENTA)", "torasemide"), "changed");
    assert_eq!(status("Nebivolol (NUEVO) 5 mg c/24h", "nebivolol"), "started");
    assert_eq!(status("Naproxen 250 mg - stop", "naproxen"), "stopped");
    assert_eq!(status("Tresiba  20 units at 10pm          continued", "insulin degludec"), "active");
}

#[test]
fn one_medicine_taken_for_another_ends_the_first() {
    let all = in_note("Le cambiaron la paroxetina por la venlafaxina hace un mes.");
    assert_eq!(medicine(&all, "paroxetine").status.as_deref(), Some("stopped"));
    assert_eq!(medicine(&all, "venlafaxine").status.as_deref(), Some("started"));
    assert_eq!(status("Tresiba 18 units (was Levemir 10 bd)", "insulin detemir"), "stopped");
}

#[test]
fn what_was_never_taken_or_only_planned_is_not_taken_now() {
    assert_eq!(status("Clozapina sugerida en consulta, nunca administrada.", "clozapine"), "not_taken");
    assert_eq!(status("Domperidone avoided (QTc).", "domperidone"), "not_taken");
    assert_eq!(status("Te van a dar diazepam para los temblores.", "diazepam"), "suggested");
    assert_eq!(status("Zolpidem: on the list, hasn't taken since June.", "zolpidem"), "stopped");
    assert_eq!(status("Se ofrece agomelatina y no la quiere.", "agomelatine"), "declined");
    let all = in_talk(&[(Speaker::Clinician, "And the memantine?"), (Speaker::Family, "She won't take it.")]);
    assert_eq!(medicine(&all, "memantine").status.as_deref(), Some("not_taken"));
    let all = in_talk(&[(Speaker::Clinician, "What about the Ozempic"), (Speaker::Patient, "Never did pick it up")]);
    assert_eq!(medicine(&all, "semaglutide").status.as_deref(), Some("not_taken"));
}

#[test]
fn a_person_who_gives_a_medicine_or_marks_the_time_does_not_take_it() {
    let whose = |text: &str, name: &str| medicine(&in_note(text), name).context.experiencer;
    assert_eq!(whose("Toujeo 22 units at 10pm GIVEN BY MUM", "insulin glargine"), Experiencer::Patient);
    assert_eq!(whose("Humalog 1:12 with meals, dad watching", "insulin lispro"), Experiencer::Patient);
    assert_eq!(whose("Paroxetine ten back in 2014 when mama passed.", "paroxetine"), Experiencer::Patient);
    assert_eq!(whose("Mother takes warfarin.", "warfarin"), Experiencer::Family);
    let form = "3. Family: mum asthma.\n4. Medication (incl. over the counter): Ventolin when I need it.";
    assert_eq!(whose(form, "albuterol"), Experiencer::Patient);
}

#[test]
fn denied_drugs_and_groups_are_no_medicines() {
    let medicines = |text: &str| in_note(text).into_iter().filter(|e| e.kind == EntityType::Medication).count();
    assert_eq!(medicines("Denies opioids, meth, cocaine."), 0);
    assert_eq!(medicines("Smokes nicotine vape."), 0);
    assert_eq!(medicines("Nicotine patch 21 mg daily."), 1);
    let all = in_note("Laxantes no, diuréticos no.");
    assert!(all.iter().any(|e| e.value == "laxative use" && e.context.negated), "{all:?}");
    assert!(all.iter().all(|e| e.kind != EntityType::Medication), "{all:?}");
}

#[test]
fn short_names_and_brands_of_many_countries_are_known() {
    for (text, name) in [
        ("clona 0,5 a la noche", "clonazepam"),
        ("Toma quetia 100 de noche", "quetiapine"),
        ("Somac 40 mg mane", "pantoprazole"),
        ("Potassium powder 20 milliequivalents daily", "potassium"),
        ("Usa oxígeno domiciliario", "oxygen"),
        ("Betaloc 50 bd", "metoprolol"),
    ] {
        medicine(&in_note(text), name);
    }
}

#[test]
fn what_went_away_with_a_medicine_is_not_the_medicine() {
    let all = in_talk(&[(Speaker::Family, "Con dos puff de salbutamol le pasó.")]);
    assert!(!medicine(&all, "albuterol").context.negated);
}

/// The names of the medicines of a text, in their order.
fn names(text: &str) -> Vec<String> {
    let found = in_note(text).into_iter().filter(|entity| entity.kind == EntityType::Medication);
    found.map(|entity| entity.value).collect()
}

#[test]
fn a_brand_that_is_an_everyday_word_is_no_medicine_by_itself() {
    for text in [
        "She practised the sonata for two hours.",
        "Ensayó la sonata con su profesora.",
        "Hoy celebra su cumpleaños con la familia.",
        "Le motivan los actos del colegio.",
        "Evita los rayos del sol.",
        "Avanza bien en la terapia.",
        "My friend Yasmin drove me here.",
        "Vive con su hermana Melisa y su gata Olena.",
        "She is well versed in breathing techniques.",
        "Cuando emergen los recuerdos, respira.",
        "Pagó el impuesto predial en enero.",
        "Allegra came with her to the session.",
        "The intermezzo calmed him down.",
        "Took part in the concert and played a sonata.",
    ] {
        assert_eq!(names(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_brand_that_is_an_everyday_word_is_a_medicine_where_it_is_treated_as_one() {
    for (text, expected) in [
        ("Takes Sonata 10 mg at night.", "zaleplon"),
        ("Tomo sonata para dormir.", "zaleplon"),
        ("Started on Actos last month.", "pioglitazone"),
        ("Actos 30 mg al día.", "pioglitazone"),
        ("Le recetaron Motivan en marzo.", "paroxetine"),
        ("She has been on Yasmin since May.", "combined oral contraceptive"),
        ("Allegra tablets for hay fever.", "fexofenadine"),
        ("Dejó el Emergen por náuseas.", "sertraline"),
    ] {
        assert_eq!(names(text), [expected], "{text}");
    }
    assert_eq!(names("Metformin, Actos and ramipril."), ["metformin", "pioglitazone", "ramipril"]);
    assert_eq!(names("Medicación: Celebra, omeprazol."), ["celecoxib", "omeprazole"]);
}

#[test]
fn the_number_of_a_day_is_no_level_of_a_medicine() {
    assert_eq!(names("Seguir con enoxaparina hasta el 15/4/2026."), ["enoxaparin"]);
    assert_eq!(names("Toma hierro desde el 3 de mayo."), ["iron"]);
    for measured in ["Vitamina D 24.", "Litio en sangre 0,8.", "Vitamin D was 24."] {
        assert_eq!(names(measured), Vec::<String>::new(), "{measured}");
    }
}

#[test]
fn a_stop_that_is_denied_wished_supposed_or_put_off_is_none() {
    for (text, name) in [
        ("No suspenda el carbamazepina aunque se encuentre mejor.", "carbamazepine"),
        ("Don't stop the lamotrigine before we meet again.", "lamotrigine"),
        ("Never stopped the metformin, whatever the chart says.", "metformin"),
        ("Quisiera dejar la venlafaxina algún día, todavía no.", "venlafaxine"),
        ("She is hoping to come off mirtazapine next year.", "mirtazapine"),
        ("Le da miedo dejar el clonazepam.", "clonazepam"),
        ("What happens if I quit the lithium?", "lithium"),
        ("We could stop the haloperidol next time.", "haloperidol"),
        ("Bajar 5 mg por semana hasta suspender la prednisona.", "prednisone"),
        ("He asked to stop risperidone.", "risperidone"),
        ("I advised her against stopping the warfarin.", "warfarin"),
        ("Breastfeeding was stopped in May, before olanzapine.", "olanzapine"),
        ("Quit smoking with varenicline.", "varenicline"),
        ("Tramadol: no la deje sin hablar conmigo.", "tramadol"),
        ("Por ahora dejamos la pregabalina en 75.", "pregabalin"),
        ("Dejamos el aripiprazol en diez y nos vemos en un mes.", "aripiprazole"),
    ] {
        let status = in_note(text).iter().find(|e| e.value == name).and_then(|e| e.status.clone());
        assert!(!matches!(status.as_deref(), Some("stopped" | "not_taken")), "{text}: {status:?}");
    }
}

#[test]
fn a_stop_that_took_place_or_is_ordered_is_one() {
    for (text, name) in [
        ("Dejó la venlafaxina en enero.", "venlafaxine"),
        ("I want you to stop the ibuprofen today.", "ibuprofen"),
        ("Quiero que suspenda el diclofenaco.", "diclofenac"),
        ("She decided to come off mirtazapine and did.", "mirtazapine"),
        ("No le sentaba bien y dejó el bupropión.", "bupropion"),
        ("Not sleeping, stopped zopiclone last week.", "zopiclone"),
        ("Cuando dejó la trazodona volvió a dormir mal.", "trazodone"),
        ("Sí dejé la trazodona en mayo.", "trazodone"),
        ("When he stopped the valproate the tremor went.", "valproate"),
        ("Could not eat and stopped topiramate.", "topiramate"),
        ("Fine until she stopped the quetiapine in March.", "quetiapine"),
        ("Antes suspendió la fluoxetina por náuseas.", "fluoxetine"),
        ("She could not bear it and quit venlafaxine.", "venlafaxine"),
        ("No quería seguir así y dejó el litio.", "lithium"),
        ("He finished with flucloxacillin last week.", "flucloxacillin"),
    ] {
        assert_eq!(status(text, name), "stopped", "{text}");
    }
}

#[test]
fn until_something_happens_ends_what_was_taken_and_not_what_is() {
    for (text, name) in [
        ("Mantener rivaroxabán hasta que lo indique digestivo.", "rivaroxaban"),
        ("Toma enoxaparina hasta que empiece el anticoagulante oral.", "enoxaparin"),
        ("Continue bisoprolol until she is seen.", "bisoprolol"),
    ] {
        assert_ne!(status(text, name), "stopped", "{text}");
    }
    for (text, name) in [
        ("Tomó rivaroxabán hasta que sangró.", "rivaroxaban"),
        ("She took bisoprolol until she moved house.", "bisoprolol"),
    ] {
        assert_eq!(status(text, name), "stopped", "{text}");
    }
}

#[test]
fn what_takes_the_place_of_another_is_started() {
    for (text, name) in [
        ("Me lo cambiaron en junio por duloxetina, de 60.", "duloxetine"),
        ("They replaced it with escitalopram 10 mg.", "escitalopram"),
        ("Lo sustituyeron por enalapril 5 mg.", "enalapril"),
    ] {
        assert_eq!(status(text, name), "started", "{text}");
    }
}
