//! Which lines are taken for another language, and which are not.

use super::*;

#[test]
fn spanish_and_english_of_every_manner_are_read() {
    for text in [
        "Pte. M 45a, HTA, DM2, DLP. TA 130/80, FC 72. Sin AMC. Tto: enalapril 10 mg c/12h, MTF 850 1-0-1.",
        "no me e sentido vien, tomo la pastiya cada noxe y nada",
        "45F c/o SOB x3d, PMH: COPD, T2DM; NKDA. Meds: albuterol PRN, HCTZ 25 mg QD. A/P: admit, ABx.",
        "ok so like i stopped taking em last week lol, my mom dont know",
        "Σ de puntajes: 12. β-bloqueante, Δ peso +3 kg, α-sinucleína.",
        "Dr. Le Roux, Hôpital Saint-Louis; suivi with her psychiatrist in Lyon since May.",
        "Se comenta con el Dr. Da Silva dos Santos. Vive con su pareja, Élodie.",
        "Meds nil, allergies nil, smokes nil, drinks nil, falls nil. Home.",
        "¿Te pegan? ¿Te gritan? Te quitan cosas, te dicen gordo.",
        "Te escucho, te creo, te apoyo.",
        "ECG nad, CXR nad, bloods nad, UA nad. Gen surg r/v, gen med r/v, med reg aware. PO abx, PO fluids.",
        "Come, duerme y camina. Dolor 3 de 10. Dos hijos. Al alta: pan, sal y al día.",
    ] {
        assert_eq!(unread(text), None, "{text}");
    }
}

#[test]
fn other_languages_are_noticed_also_within_a_document() {
    for text in [
        "Je ne veux plus vivre, je pense à mourir tous les jours.",
        "A paciente refere que não dorme há três semanas e nega alergias.",
        "Il paziente non dorme da una settimana e nega allergie ai farmaci.",
        "Ich habe seit drei Wochen nicht geschlafen und nehme keine Medikamente.",
        "La pacient no dorm des de fa dues setmanes i pren sertralina amb el dinar.",
        "Pacjentka nie śpi od trzech tygodni, ale nie ma myśli samobójczych.",
        "Patient seen with interpreter. He said: mwen pa ka dòmi, li te fè m mal ak yo. Plan: review.",
    ] {
        assert!(matches!(unread(text), Some(Unread::Language(_))), "{text}");
    }
}

#[test]
fn every_line_of_the_written_set_is_told_apart() {
    let lines = include_str!("../../../../tests/data/language/lines.tsv").lines().filter(|line| !line.starts_with('#'));
    let mut wrong = Vec::new();
    for line in lines {
        let (language, text) = line.split_once('\t').unwrap();
        if unread(text).is_some() == matches!(language, "es" | "en") {
            wrong.push(line);
        }
    }
    // Three short lines have too few function words of their own; a document has more.
    assert!(wrong.iter().all(|line| !line.starts_with("es") && !line.starts_with("en")), "{wrong:#?}");
    assert!(wrong.len() <= 3, "{wrong:#?}");
}

#[test]
fn other_scripts_are_noticed_by_a_word() {
    for text in
        ["Se llama 李, vino sola.", "Her mother, Наталья, came along.", "قالت إنها لا تنام", "Paciente Παπαδόπουλος"]
    {
        assert!(matches!(unread(text), Some(Unread::Script(_))), "{text}");
    }
}
