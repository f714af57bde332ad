//! What redaction leaves still says what it said: the property over the repository's sets and clean sentences, and lines of
//! the kinds that once broke it.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may

use std::path::{Path, PathBuf};

use anamnesis_extraction::Extractor;
use anamnesis_redaction::{KnownPeople, RedactionPolicy, Redactor, SurrogateKey};
use anamnesis_text::{Document, Language};
use anamnesis_train::meaning::{Frames, Line, Report, compare, read};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Text lines and JSON lines under a folder, in order; frames and word lists are no sets.
fn sets(folder: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut open = vec![root(folder)];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true if !entry.ends_with("meaning") && !entry.ends_with("unannotated") => open.push(entry),
                true => {}
                false => found.push(entry),
            }
        }
    }
    found.retain(|path| {
        path.extension().is_some_and(|kind| kind == "txt" || kind == "jsonl") && !path.ends_with("identities.jsonl")
    });
    found.sort();
    found
}

fn lines_of(path: &Path) -> Vec<Line> {
    let name = path.strip_prefix(root("")).unwrap().to_string_lossy().into_owned();
    read(&name, &std::fs::read_to_string(path).unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

/// What holds today. The goal is none turned round and .3 % lost: lines of whole documents and frames whose findings were
/// not read before (living in the street, spoken pressures) are not there yet.
const TURNED: usize = 7;
const LOST_SHARE: f64 = 0.0065;

fn held(report: &Report) {
    println!(
        "{} lines, {} touched, {} findings, {} lost, {} turned round, {} read otherwise by what is marked",
        report.lines, report.touched, report.findings, report.lost, report.turned, report.by_marked
    );
    let shown: Vec<String> =
        report.examples.iter().map(|one| format!("{:?} {} | {}", one.harm, one.mention, one.after)).collect();
    assert!(report.turned <= TURNED, "{} turned\n{}", report.turned, shown.join("\n"));
    assert!(report.lost_share() <= LOST_SHARE, "{} of {}\n{}", report.lost, report.findings, shown.join("\n"));
}

#[test]
fn redaction_of_every_set_and_of_ten_thousand_clean_sentences_turns_no_finding_round_and_loses_few() {
    let (redactor, extractor) = (Redactor::builtin(RedactionPolicy::default()), Extractor::shared());
    let mut paths = sets("tests/data/redaction");
    paths.extend(sets("models/redaction/training/marked"));
    let marked: Vec<Line> = paths.iter().flat_map(|path| lines_of(path)).collect();
    let mut all = compare(&redactor, &extractor, &marked).unwrap();
    for path in sets("tests/data/extraction").iter().chain(&sets("tests/data/facts")) {
        all.join(compare(&redactor, &extractor, &lines_of(path)).unwrap());
    }
    for code in ["en", "es"] {
        let text = |name: &str| std::fs::read_to_string(root("tests/data/redaction/meaning").join(name)).unwrap();
        let frames = Frames::new(code, &text(&format!("{code}.frames.txt")), &text("words.txt"), &marked);
        all.join(compare(&redactor, &extractor, &frames.sentences(5_000, 5).unwrap()).unwrap());
    }
    assert!(all.findings > 15_000, "the sets hold findings to compare");
    held(&all);
}

fn redacted(language: Language, text: &str) -> String {
    let document = Document::plain(text, language);
    let redactor = Redactor::builtin(RedactionPolicy::default());
    redactor.redact(&document, &KnownPeople::default(), &SurrogateKey::new([3; 32])).unwrap().document().text.clone()
}

#[test]
fn words_of_the_clinic_and_of_speech_stay_whatever_stands_next_to_them() {
    for text in [
        "Seen by the midwife. Denies vomiting. Stopped codeine.",
        "Assessed with the registrar. Never had asthma.",
        "Righto. No palpitations this week.",
        "Ever had a stroke? Never.",
        "PMH: GERD, PCOS, HFrEF, s/p R TKA 2019.",
        "Meds: Z-Pak 6, Movicol 2, Adderall XR 20.",
        "FHx: Nan - COPD. Bro - T2DM.",
        "HR 84 BP 132/78 RR 16 sats 97 RA temp 36.9 GCS 15.",
        "Uses Fitbit every day, anxiety better with sertraline.",
        "I'll stop the lithium. They've doubled it.",
        "Obs BP 112/71 RR 15 SpO2 95 RA GCS 14->15 @0340, COWS 9 @1625.",
        "BP 118/76 @0615, HR 88 @1400. NEWS 2 @0205. Sats 93 @2210 RA.",
        "PMHx: GERD / T2DM / eczema.",
        "Pregnant? [ ] Y  [X] N  UPT neg.",
        "She thinks her Edinburgh was 12 in the spring.",
        "Physiotherapist aware, C/o loose stools 4 episodes.",
    ] {
        assert_eq!(redacted(Language::English, text), text);
    }
    for text in [
        "Vista por la matrona. Niega vómitos. Suspende codeína.",
        "Ándale, el omeprazol lo dejé.",
        "Guardo las pastillas en el cajón.",
        "Atiendo llamadas de noche y no duermo.",
        "AP: ERGE, SAHS, PTC izq 2019, ITU.",
        "AHF: papá – TLP; hna – TEP; tío – sano.",
        "TA 130/80, FC 72, SatO2 98 %. Sin fiebre.",
        "Sospecha clínica de neumonía; diagnóstico clínico de asma.",
        "Usa Holter a diario. Ella no fuma.",
        "Tratada c/ paroxetina 20 x 2 años. Sin fiebre.",
        "AF: Padre HTA. Tía DM2.",
        "Edimburgo hoy 17, dolor leve.",
        "Mi meta es caminar sin bastón.",
    ] {
        assert_eq!(redacted(Language::Spanish, text), text);
    }
}

#[test]
fn what_people_write_and_say_of_each_other_leaves_no_name_town_street_or_house() {
    for (language, text, gone) in [
        (
            Language::English,
            "hey. its lachie\nmy uncle reggies drove me\nok ta tegs",
            &["lachie", "reggies", "tegs"][..],
        ),
        (Language::English, "just me n pop in dubbo\nwas six wks at grady for it", &["dubbo", "grady"]),
        (Language::English, "she lives on west gilbert avenue now", &["gilbert"]),
        (Language::English, "the last name is vandermeer so mother vandermeer has anxiety", &["vandermeer"]),
        (Language::Spanish, "mi parcero brayan no sobrevivio\nmi hna cande me trajo", &["brayan"]),
        (Language::Spanish, "Su hijo mayor Wilson es alérgico. Volvió a su casa de Turégano.", &["Wilson", "Turégano"]),
        (Language::Spanish, "La internaron en el Moyano dos meses. Vive en cra 31 con 14.", &["Moyano", "cra 31"]),
        (Language::Spanish, "paciente Yeferson, CC 1.113.555.870", &["1.113.555.870"]),
        (
            Language::English,
            "was kept in manning base hospital\nlives on the corner of acacia rd",
            &["manning", "acacia"],
        ),
        (Language::English, "letter to doctor abernethy the willows surgery", &["abernethy", "willows"]),
        (Language::English, "please send it to the elms medical centre", &["elms"]),
        (Language::English, "Signed off by K. Oduya LCSW. RN Pellworth gave it.", &["Oduya", "Pellworth"]),
        (Language::English, "cards: 4111111111111111 5500000000000004", &["4111111111111111", "5500000000000004"]),
        (Language::Spanish, "mi cel 98761234\nnro 91238765", &["98761234", "91238765"]),
        (Language::Spanish, "Ay, Chayo. Lo siento mucho.", &["Chayo"]),
        (Language::Spanish, "Vive con la nuera (Beba) en comunidad Chinchaypujio.", &["Beba", "Chinchaypujio"]),
        (Language::Spanish, "me separe d flor hace un año", &["flor"]),
        (
            Language::Spanish,
            "El accidente del bus a Vilcashuamán fue grave. Vive en Lo Barnechea.",
            &["Vilcashuamán", "Barnechea"],
        ),
        (Language::Spanish, "Lo vio el dr Pacheco.\nigual el jueves tengo turno con pacheco", &["Pacheco", "pacheco"]),
        (Language::Spanish, "El teléfono de mi hermana es ese, 705 55 013. Al mío no llame.", &["705 55 013"]),
    ] {
        let left = redacted(language, text);
        assert!(gone.iter().all(|value| !left.contains(value)), "{left}");
    }
}
