//! Redaction held against fixed sets of the repository's own (`tests/data/redaction`), in genres that no rule was
//! copied from: transcripts, notes, look-alikes, people named in the message. Prints the figures it holds.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may

use anamnesis_redaction::{KnownIdentity, KnownPeople, RedactionPolicy, Redactor, SurrogateKey};
use anamnesis_text::{Document, Language, Span};
use proptest::prelude::*;

/// A text with the places of its gold spans, in bytes.
struct Marked {
    text: String,
    gold: Vec<Span>,
}

/// Reads "… [[LABEL|value]] …".
fn unmarked(line: &str) -> Marked {
    let (mut text, mut gold, mut rest) = (String::new(), Vec::new(), line);
    while let Some((before, marked)) = rest.split_once("[[") {
        let (inside, behind) = marked.split_once("]]").expect("a closed mark");
        let (_, value) = inside.split_once('|').expect("a label and a value");
        text.push_str(before);
        gold.push(Span::new(text.len(), text.len() + value.len()));
        text.push_str(value);
        rest = behind;
    }
    text.push_str(rest);
    Marked { text, gold }
}

fn set(name: &str) -> Vec<Marked> {
    let path = format!("{}/../../tests/data/redaction/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(unmarked).collect()
}

#[derive(Default)]
struct Figures {
    gold: usize,
    leaked: usize,
    clean: usize,
    taken: usize,
    touched: usize,
    lines: usize,
    spans: usize,
    missed: usize,
    /// Lines without personal data, and those of them in which something was taken.
    clean_lines: usize,
    clean_touched: usize,
}

impl Figures {
    fn leak(&self) -> f64 {
        100.0 * self.leaked as f64 / self.gold.max(1) as f64
    }

    fn over(&self) -> f64 {
        100.0 * self.taken as f64 / self.clean.max(1) as f64
    }

    /// Share of spans of which nothing was taken.
    fn missed(&self) -> f64 {
        100.0 * self.missed as f64 / self.spans.max(1) as f64
    }

    fn clean_touched(&self) -> f64 {
        100.0 * self.clean_touched as f64 / self.clean_lines.max(1) as f64
    }

    fn touched(&self) -> f64 {
        100.0 * self.touched as f64 / self.lines.max(1) as f64
    }

    /// Adds one text: characters without white space, leaked and taken too much.
    fn add(&mut self, marked: &Marked, found: &[Span]) {
        self.lines += 1;
        self.touched += usize::from(!found.is_empty());
        self.clean_lines += usize::from(marked.gold.is_empty());
        self.clean_touched += usize::from(marked.gold.is_empty() && !found.is_empty());
        self.spans += marked.gold.len();
        self.missed += marked.gold.iter().filter(|gold| !found.iter().any(|span| span.overlaps(gold))).count();
        for (at, c) in marked.text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
            let inside = |spans: &[Span]| spans.iter().any(|span| span.start <= at && at + c.len_utf8() <= span.end);
            match (inside(&marked.gold), inside(found)) {
                (true, covered) => {
                    self.gold += 1;
                    self.leaked += usize::from(!covered);
                }
                (false, covered) => {
                    self.clean += 1;
                    self.taken += usize::from(covered);
                }
            }
        }
    }
}

fn measure(name: &str, language: Language) -> Figures {
    let redactor = Redactor::builtin(RedactionPolicy::default());
    let mut figures = Figures::default();
    for mut marked in set(name) {
        let document = Document::plain(marked.text.clone(), language);
        let redacted = redactor.redact(&document, &KnownPeople::default(), &SurrogateKey::new([9; 32])).unwrap();
        // The policy lets years stay: what it keeps is no leak.
        let of_year = |text: &str| {
            ["late ", "early ", "mid ", "mid-"].iter().fold(text.to_owned(), |text, word| text.replace(word, ""))
        };
        marked.gold.retain(|gold| !RedactionPolicy::default().keeps_years(&of_year(gold.slice(&marked.text))));
        let found: Vec<Span> = redacted.redactions().iter().map(|redaction| redaction.source).collect();
        figures.add(&marked, &found);
    }
    println!(
        "{name}: leak {:.2} %, spans missed {:.2} %, over-redaction {:.2} %, lines touched {:.1} % of {}, clean ones {:.1} %",
        figures.leak(),
        figures.missed(),
        figures.over(),
        figures.touched(),
        figures.lines,
        figures.clean_touched()
    );
    figures
}

#[test]
fn transcripts_leak_little_in_both_languages() {
    let spanish = measure("speech.es.txt", Language::Spanish);
    let english = measure("speech.en.txt", Language::English);
    assert!(spanish.leak() <= 5.0 && spanish.over() <= 5.0);
    assert!(english.leak() <= 5.0 && english.over() <= 5.0);
}

#[test]
fn clinical_text_that_looks_like_personal_data_stays() {
    assert!(measure("lookalikes.es.txt", Language::Spanish).touched() <= 2.0);
    assert!(measure("lookalikes.en.txt", Language::English).touched() <= 2.0);
}

/// Sets that were fixed before anything was tuned on them.
#[test]
fn texts_that_no_rule_was_made_for_are_held_to_the_same_limits() {
    let clinical = measure("fresh/clinical.en.txt", Language::English);
    assert!(clinical.missed() <= 4.0 && clinical.clean_touched() <= 15.0 && clinical.over() <= 2.0);
    for (language, name) in [(Language::Spanish, "es"), (Language::English, "en")] {
        assert!(measure(&format!("fresh/lookalikes.{name}.txt"), language).touched() <= 10.0);
        let speech = measure(&format!("fresh/speech.{name}.txt"), language);
        assert!(speech.leak() <= 15.0 && speech.clean_touched() <= 15.0);
    }
}

/// Sets that were read once they had been measured: breadth, and no way back.
#[test]
fn clinical_text_of_many_hands_is_held_to_the_limits_of_breadth() {
    for set in ["wide", "blind", "blind_b", "blind_c", "blind_d", "blind_e", "blind_f", "blind_g"] {
        let clinical = measure(&format!("{set}/clinical.en.txt"), Language::English);
        // Of the fewest clean lines, 24, that is two.
        assert!(clinical.missed() <= 6.0 && clinical.clean_touched() <= 9.0, "{set}");
        for (language, name) in [(Language::Spanish, "es"), (Language::English, "en")] {
            assert!(measure(&format!("{set}/lookalikes.{name}.txt"), language).touched() <= 13.0, "{set} {name}");
        }
    }
}

/// What was taken out of a text, in order.
fn taken(text: &str, language: Language) -> Vec<String> {
    let redactor = Redactor::builtin(RedactionPolicy::default());
    let redacted = redactor
        .redact(&Document::plain(text.to_owned(), language), &KnownPeople::default(), &SurrogateKey::new([9; 32]))
        .unwrap();
    redacted.redactions().iter().map(|one| one.source.slice(text).to_owned()).collect()
}

#[test]
fn a_greeting_an_age_a_post_and_an_article_of_speech_tell_a_name() {
    use Language::{English, Spanish};
    for (language, text, names) in [
        (Spanish, "Hola, Violeta. Pase.", &["Violeta"][..]),
        (Spanish, "Vive con sus nietos (Iker, 9; Nieves, 12).", &["Iker", "Nieves"]),
        (Spanish, "Sale a las 22 h. Téc. Barrionuevo", &["Barrionuevo"]),
        (English, "0715 handover from night RN (Tansy). Pt asleep.", &["Tansy"]),
        (Spanish, "Nacida el 7 del 11 del 79 en un pueblo.", &["7 del 11 del 79"]),
        (English, "Born the ninth of the third, sixty-two.", &["ninth of the third, sixty-two"]),
        (Spanish, "Vivo en la calle 30 con la 12, por el parque.", &["calle 30", "12"]),
        (English, "im at 9 elmscroft lane now. The Agent said so.", &["9 elmscroft lane"]),
        (English, "My birthday is june second nineteen ninety one", &["june second nineteen ninety one"]),
    ] {
        let taken = taken(text, language);
        for name in names {
            assert!(taken.iter().any(|one| one.contains(name)), "{text}: {taken:?}");
        }
    }
    for (language, text) in [
        (Spanish, "Hola, Doctora. Buenos días, Doctor. Buenas tardes, Todos."),
        (English, "Good morning, Everyone. Hi, Doctor."),
        (Spanish, "El Rivotril me sienta mal y el Lexatin no me hace nada."),
        (Spanish, "La Quetiapina me da sueño."),
        (English, "The dose is due Monday. Bloods due Tuesday."),
        (Spanish, "Escala (Leve, 5; Grave, 20). Hola, Bien. Hola, Perfecto."),
        (Spanish, "TEC Moderado en 2011. TEC. Hematoma. Tratamiento: TEC. Sedación. DUE (Triaje)."),
        (Spanish, "Ciclo 3 de 6 de 21 días del esquema. Lesión del 3 del 1 del 20 por ciento."),
        (Spanish, "Dra. Marisa Okampo. Intestino Delgado sin lesiones. El Enterococcus no se trata."),
        (English, "Good morning, Fine. Good evening, Better."),
        (English, "Did the 10 metre timed walk. 22 gauge venflon in place. Removed 2 lymphnodes close to the hilum."),
        (English, "The tenth of the twelfth, forty beats a minute."),
        (English, "He did 3 timed walks and 2 laps of the ward close by. Good."),
        (Spanish, "Sube del 2 del eje al 4 del eje."),
    ] {
        let taken = taken(text, language);
        let expected = ["Monday", "Tuesday", "Marisa Okampo", "2011"];
        let people: Vec<&String> = taken.iter().filter(|one| !expected.contains(&one.as_str())).collect();
        assert!(people.is_empty(), "{text}: {people:?}");
    }
}

#[test]
fn a_name_that_is_a_word_too_is_taken_wherever_it_has_its_large_letter() {
    let text = "Viene con su hija, Alba Okampo. Irá a la boda de Alba en otoño. Se levanta al alba y pasea.";
    let taken = taken(text, Language::Spanish);
    assert_eq!(taken.iter().filter(|one| one.as_str() == "Alba").count(), 1, "{taken:?}");
    assert!(!taken.iter().any(|one| one == "alba"), "{taken:?}");
    let birthmark = self::taken("Mark Lane came. A Strawberry Mark on the arm.", Language::English);
    assert_eq!(birthmark, ["Mark Lane"]);
    assert_eq!(self::taken("Con la tutora (Prof.ª Tornasolada), baja.", Language::Spanish), ["Tornasolada"]);
}

#[test]
fn what_only_people_do_makes_a_name_of_a_word() {
    for (text, name) in [
        ("Mark says the brace hurts.", "Mark"),
        ("The room was quiet. Grace, her sister, sat with her.", "Grace"),
        ("Per Dr. M, ok to advance diet.", "M"),
    ] {
        assert_eq!(taken(text, Language::English), [name], "{text}");
    }
    assert!(taken("Hope was discussed. Mark the site.", Language::English).is_empty());
}

/// What the limits of the table ask of English clinical text, on sets that training never saw; nobody has read `blind_h`.
#[test]
fn the_last_sets_that_were_new_meet_the_limits_of_the_table() {
    for set in ["blind_f", "blind_g", "blind_h"] {
        let clinical = measure(&format!("{set}/clinical.en.txt"), Language::English);
        assert!(clinical.missed() <= 3.0 && clinical.over() <= 2.0 && clinical.clean_touched() <= 3.0, "{set}");
        for (language, name) in [(Language::Spanish, "es"), (Language::English, "en")] {
            assert!(measure(&format!("{set}/lookalikes.{name}.txt"), language).touched() <= 10.0, "{set} {name}");
        }
    }
}

#[test]
fn set_phrases_lines_of_help_trials_and_figures_that_hold_no_person_stay() {
    for text in [
        "Ann Arbor IIIB",
        "Lou Gehrig's disease is what his uncle feared most.",
        "Dr. Google had convinced her it was a tumor.",
        "Text HOME to 741741 for the Crisis Text Line.",
        "Poison Control can be reached at 1-800-222-1222.",
        "The drug trial NCT04280705 is closed to recruitment.",
        "On call 24/7, BiPAP 14/6 overnight, fasting 16/8.",
    ] {
        assert_eq!(taken(text, Language::English), [""; 0], "{text}");
    }
    for (text, name) in [
        ("Mr Jackson Pratt attended with his wife.", "Jackson Pratt"),
        ("Her brother Hawkins Kennedy will collect her.", "Hawkins Kennedy"),
        ("I live with Roland Morris.", "Roland Morris"),
        ("Discharged by Dr Jones. Criteria met.", "Jones"),
        ("I saw Dr Bush. Francis was not there.", "Bush"),
    ] {
        assert!(taken(text, Language::English).iter().any(|taken| taken.contains(name)), "{text}");
    }
    assert!(taken("Los lunes va a Alcohólicos Anónimos.", Language::Spanish).is_empty());
}

#[test]
fn a_day_behind_the_twelfth_is_a_date_without_a_word_of_time() {
    assert_eq!(taken("DNA 13/4, DNA 17/4, phoned her, back to GP.", Language::English), ["13/4", "17/4"]);
    assert_eq!(taken("Operated 20/12 and 21/12, recovered well.", Language::English), ["20/12", "21/12"]);
    assert_eq!(taken("Planned: pre-op 17/3, scan 21/3, all on time.", Language::English), ["17/3", "21/3"]);
}

#[test]
fn a_said_value_ends_with_its_last_word() {
    let mail = "mi correo es rocio guion bajo nunez arroba yahoo punto es mándeme ahí la receta";
    let taken_of = |text| taken(text, Language::Spanish).join("|");
    assert_eq!(taken_of(mail), "rocio guion bajo nunez arroba yahoo punto es");
    let english = taken("you can write to john dot smith underscore kowalczyk at gmail dot com", Language::English);
    assert!(english.join(" ").contains("kowalczyk"), "{english:?}");
    assert_eq!(taken_of("me mandó el doctor iván hernández del centro de salud"), "iván hernández");
}

#[test]
fn a_possessive_a_family_a_pair_or_a_preposition_makes_a_name_of_an_ordinary_word() {
    for (text, name) in [
        ("Okpara's knee bent to ninety today.", "Okpara's"),
        ("Rounded with Castro and the registrar, no change overnight.", "Castro"),
        ("The Delgados came to the family meeting.", "Delgados"),
        ("Adeyemi slept poorly.", "Adeyemi"),
        ("Kowalski 55, chest pain since this morning", "Kowalski"),
        ("Ask the ward clerk at x5182 after four.", "x5182"),
        ("Referred to Cedar Family Practice, seen Friday.", "Cedar Family Practice"),
    ] {
        assert_eq!(taken(text, Language::English), [name], "{text}");
    }
    for text in ["Kellgren-Lawrence 3", "Hunt and Hess 3", "The leaflet was printed in Welsh for her."] {
        assert!(taken(text, Language::English).is_empty(), "{text}");
    }
}

#[test]
fn a_mexican_telephone_is_no_card_of_costa_rica() {
    let redactor = Redactor::builtin(RedactionPolicy::default());
    for (text, label) in [
        ("Su celular es el 33 1845 2290 y no contesta.", "PHONE"),
        ("33 1845 2290", "PHONE"),
        ("01 0234 0567", "CR_CEDULA"),
    ] {
        let document = Document::plain(text.to_owned(), Language::Spanish);
        let redacted = redactor.redact(&document, &KnownPeople::default(), &SurrogateKey::new([9; 32])).unwrap();
        assert_eq!(redacted.redactions().iter().map(|one| one.label).collect::<Vec<_>>(), [label], "{text}");
    }
}

#[test]
fn a_verb_a_field_a_role_or_an_age_makes_a_name_of_an_ordinary_word() {
    for (text, name) in [
        ("Max uses the max dose of ibuprofen and still limps.", "Max"),
        ("Charity scored 19 on the PHQ-9, up from 11.", "Charity"),
        ("Preferred name: Kosi", "Kosi"),
        ("Seen with Bashir Noorzai via interpreter.", "Bashir Noorzai"),
        ("Pharmacy: Corner Drug", "Corner Drug"),
        ("Sent to Quest for testing", "Quest"),
    ] {
        assert_eq!(taken(text, Language::English), [name], "{text}");
    }
    assert_eq!(taken("Team: Kit (PT), Abena (OT)", Language::English), ["Kit", "Abena"]);
    assert!(taken("spoke w/ dr okereke, ok to restart apixaban", Language::English).concat().contains("okereke"));
    assert!(taken("Mrs. Pain denies pain at rest.", Language::English).concat().ends_with("Pain"));
    for text in ["Heller myotomy", "Sulcus of Rolando", "Patience and reassurance were offered during the change."] {
        assert!(taken(text, Language::English).is_empty(), "{text}");
    }
}

#[test]
fn days_of_the_week_with_a_number_and_spans_of_days_are_dates() {
    for (text, dates) in [
        ("Next INR Fri 10th.", vec!["Fri 10th"]),
        ("noticed the rash on sunday the ninth and gave benadryl", vec!["sunday the ninth"]),
        ("Surgery moved from 3/18 to 4/1 because of a cold.", vec!["3/18", "4/1"]),
        ("Booked for 22 May.", vec!["22 May"]),
    ] {
        assert_eq!(taken(text, Language::English), dates, "{text}");
    }
    for text in ["Strength improved from 3/5 to 4/5.", "Handoff at 1900, no issues."] {
        assert!(taken(text, Language::English).is_empty(), "{text}");
    }
}

#[test]
fn a_grade_a_dose_or_a_noun_makes_a_thing_of_a_name() {
    for text in ["Rome IV criteria met", "Bristol type 4", "Hoyer lift for transfers", "Salter-Harris II fracture"] {
        assert!(taken(text, Language::English).is_empty(), "{text}");
    }
    for text in ["Arnés de Pavlik", "10-20-30 gotas", "Pelo rubio, ojos castaños"] {
        assert!(taken(text, Language::Spanish).is_empty(), "{text}");
    }
}

#[test]
fn what_the_policy_keeps_hides_nothing_that_a_rule_took() {
    let text = "Mom (Lakshmi) says he has been off his food since the weekend.";
    assert_eq!(taken(text, Language::English), ["Lakshmi"]);
    assert_eq!(taken("Mother Nasrin Akhtar, MRN 77-40-182.", Language::English), ["Nasrin Akhtar", "77-40-182"]);
}

#[test]
fn a_word_alone_is_no_place_because_it_stands_alone() {
    let redactor = Redactor::builtin(RedactionPolicy::default());
    for text in
        ["Oral", "oral", "Vía oral", "Solución oral", "By mouth", "Sublingual", "Remission", "Rehab", "Mediodía"]
    {
        let document = Document::plain(text.to_owned(), Language::Unknown);
        let redacted = redactor.redact(&document, &KnownPeople::default(), &SurrogateKey::new([9; 32])).unwrap();
        assert_eq!(redacted.document().text, text);
    }
    for text in ["Zaragoza", "Guadalupe Hernández", "María"] {
        let document = Document::plain(text.to_owned(), Language::Spanish);
        let redacted = redactor.redact(&document, &KnownPeople::default(), &SurrogateKey::new([9; 32])).unwrap();
        assert_eq!(redacted.redactions().len(), 1, "{text}");
    }
}

#[test]
fn notes_and_messages_leak_little_in_both_languages() {
    let spanish = measure("notes.es.txt", Language::Spanish);
    let english = measure("notes.en.txt", Language::English);
    assert!(spanish.leak() <= 1.0 && spanish.over() <= 2.0);
    assert!(english.leak() <= 1.0 && english.over() <= 3.0);
}

#[test]
fn identifiers_of_all_countries_leave_and_mistyped_ones_beside_their_keyword_too() {
    for (name, most) in [("identifiers", 2.0), ("mistyped", 10.0)] {
        let spanish = measure(&format!("{name}.es.txt"), Language::Spanish);
        let english = measure(&format!("{name}.en.txt"), Language::English);
        assert!(spanish.leak() <= most && english.leak() <= most);
    }
}

#[test]
fn people_named_in_the_message_never_leak() {
    let path = format!("{}/../../tests/data/redaction/identities.jsonl", env!("CARGO_MANIFEST_DIR"));
    let redactor = Redactor::builtin(RedactionPolicy::default());
    let mut figures = Figures::default();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let marked = unmarked(row["marked"].as_str().unwrap());
        let document = Document::plain(marked.text.clone(), Language::Unknown);
        let known =
            KnownPeople::from_identities(row["known_identities"].as_array().unwrap().iter().map(identity).collect());
        let redacted = redactor.redact(&document, &known, &SurrogateKey::new([9; 32])).unwrap();
        figures.add(&marked, &redacted.redactions().iter().map(|r| r.source).collect::<Vec<_>>());
    }
    println!("identities.jsonl: leak {:.2} %, over-redaction {:.2} %", figures.leak(), figures.over());
    assert_eq!(figures.leaked, 0);
}

fn identity(row: &serde_json::Value) -> KnownIdentity {
    let list = |name: &str| row[name].as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect();
    KnownIdentity {
        names: list("names"),
        phones: list("phones"),
        emails: list("emails"),
        ids: list("ids"),
        addresses: list("addresses"),
        birth_date: row["birth_date"].as_str().map(|date| date.parse().unwrap()),
    }
}

#[test]
fn a_second_pass_over_the_sets_changes_nothing() {
    let redactor = Redactor::builtin(RedactionPolicy::named("strict").unwrap());
    let key = SurrogateKey::new([9; 32]);
    for name in ["speech.es.txt", "speech.en.txt", "notes.es.txt", "notes.en.txt"] {
        for marked in set(name) {
            let once = redactor
                .redact(&Document::plain(marked.text, Language::Unknown), &KnownPeople::default(), &key)
                .unwrap();
            let twice = redactor.redact(once.document(), &KnownPeople::default(), &key).unwrap();
            assert_eq!(once.document().text, twice.document().text);
        }
    }
}

#[test]
fn hostile_input_is_answered() {
    let redactor = Redactor::builtin(RedactionPolicy::default());
    for seed in ["7", "a@", "(((", "a.", "Ana ", "c/ ", "1-", "uno ", "@", "[PERSON_7F3A]", "dni ", "á\u{301}", "2001-"]
    {
        let document = Document::plain(seed.repeat(40_000 / seed.len()), Language::Unknown);
        let redacted = redactor.redact(&document, &KnownPeople::default(), &SurrogateKey::new([9; 32])).unwrap();
        assert!(!redacted.document().text.is_empty(), "{seed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_redacted_with_true_offsets(text in "(?s)[ -~áéñüß€ªº\u{200B}\u{301}Ａ１\n]{0,160}") {
        let redactor = Redactor::builtin(RedactionPolicy::default());
        let document = Document::plain(text.clone(), Language::Unknown);
        let redacted = redactor.redact(&document, &KnownPeople::default(), &SurrogateKey::new([9; 32])).unwrap();
        let after = &redacted.document().text;
        let mut read = 0;
        for redaction in redacted.redactions() {
            prop_assert!(redaction.source.start >= read && text.get(redaction.source.start..redaction.source.end).is_some());
            prop_assert_eq!(redaction.redacted.slice(after), redaction.replacement.as_str());
            read = redaction.source.end;
        }
    }
}
