use std::sync::LazyLock;

use super::*;
use crate::phrase_trie::{PhraseTrie, TrieBuilder};
use crate::{EntityType, ExtractionInput, Extractor, Temporality};
use anamnesis_text::{Document, Language, Span};

static RULES: LazyLock<(SectionTitles, PhraseTrie)> = LazyLock::new(|| {
    let mut trie = TrieBuilder::default();
    (SectionTitles::builtin(&mut trie), trie.build())
});

/// The section of each of these words at their first place.
fn sections(text: &str, words: &[&str]) -> Vec<Option<Section>> {
    let document = Document::plain(text, Language::Unknown);
    let reading = TokenizedText::new(&document, &RULES.1);
    let structure = DocumentStructure::new(&reading, &RULES.0);
    let place = |word: &&str| {
        let at = text.find(*word).unwrap_or_else(|| panic!("{word} stands in the text"));
        structure.section_of(&reading, reading.words_at(Span::new(at, at + word.len())).start)
    };
    words.iter().map(place).collect()
}

/// The answers of boxes, label by label.
fn marks(text: &str) -> Vec<(BoxMark, String)> {
    let document = Document::plain(text, Language::Unknown);
    let reading = TokenizedText::new(&document, &RULES.1);
    let structure = DocumentStructure::new(&reading, &RULES.0);
    let of = |found: &CheckboxAnswer| (found.mark, reading.source(&found.label).slice(text).to_owned());
    (0..reading.sentences.len()).flat_map(|index| structure.boxes(index).iter().map(of).collect::<Vec<_>>()).collect()
}

#[test]
fn a_title_is_known_with_a_colon_a_bullet_a_number_in_capitals_or_on_a_line_alone() {
    for text in [
        "Family history: asthma",
        "- Family history: asthma",
        "3. Family history - asthma",
        "**Family History**\nasthma",
        "FAMILY HISTORY\nasthma",
        "FH asthma",
        "Antecedentes familiares: asma",
        "• Antecedentes familiares:\n- asma",
        "ANTECEDENTES FAMILIARES\nasma",
    ] {
        assert_eq!(sections(text, &["as"])[0], Some(Section::Family), "{text}");
    }
    for text in ["Her family history of asthma is long.", "All in all, asthma is stable.", "Plan de vida con asma"] {
        assert_eq!(sections(text, &["as"])[0], None, "{text}");
    }
}

#[test]
fn a_title_with_content_on_its_line_holds_the_items_below_and_nothing_after_them() {
    let family = Some(Section::Family);
    let note = "FH: asthma\n- father gout\n- uncle stroke\nSleeps badly and takes zopiclone.\n- works nights";
    let places = sections(note, &["asthma", "gout", "stroke", "zopiclone", "nights"]);
    assert_eq!(places, [family, family, family, None, None]);
    let ruled = "Alergias\n- penicilina\n=====\n- manzana\n";
    assert_eq!(sections(ruled, &["penicilina", "manzana"]), [Some(Section::Allergies), None]);
}

#[test]
fn a_title_reaches_to_the_next_title_or_the_blank_line_after_its_content() {
    let note = "Allergies\n- penicillin\n- latex\n\nTakes lithium.";
    let all = Some(Section::Allergies);
    assert_eq!(sections(note, &["penicillin", "latex", "lithium"]), [all, all, None]);
    let note = "Alergias: penicilina\nToma litio.\nPMH asthma\nDH: lithium";
    let places = sections(note, &["penicilina", "litio", "asthma", "lithium"]);
    assert_eq!(places, [all, None, Some(Section::History), Some(Section::Medications)]);
    let note = "Medicines on discharge\n  STARTED apixaban 5 mg\n  STOPPED ibuprofen\n  UNCHANGED allopurinol\nSocial: lives alone";
    let places = sections(note, &["apixaban", "ibuprofen", "allopurinol", "lives"]);
    assert_eq!(
        places,
        [Some(Section::Started), Some(Section::Stopped), Some(Section::Unchanged), Some(Section::Social)]
    );
}

#[test]
fn a_box_belongs_to_the_side_on_which_its_line_puts_boxes() {
    let said = |pairs: &[(BoxMark, &str)]| pairs.iter().map(|(m, l)| (*m, (*l).to_owned())).collect::<Vec<_>>();
    assert_eq!(marks("Diabetes [ ]  Asthma [x]"), said(&[(BoxMark::Empty, "Diabetes"), (BoxMark::Yes, "Asthma")]));
    assert_eq!(marks("[x] Asma  [ ] Diabetes"), said(&[(BoxMark::Yes, "Asma"), (BoxMark::Empty, "Diabetes")]));
    assert_eq!(marks("☒ Insomnia ☐ Nightmares"), said(&[(BoxMark::Yes, "Insomnia"), (BoxMark::Empty, "Nightmares")]));
}

#[test]
fn each_field_of_a_line_has_separate_boxes() {
    let line = "Mood: [ ] never [x] sometimes [ ] often     Asthma: [ ] Yes [x] No     Gout: [x] Yes [ ] No";
    let said: Vec<(BoxMark, String)> = marks(line);
    let of = |name: &str| said.iter().find(|(_, label)| label.starts_with(name)).map(|(mark, _)| *mark);
    assert_eq!((of("Asthma"), of("Gout")), (Some(BoxMark::No), Some(BoxMark::Yes)), "{said:?}");
    let said = marks("Medical: ☐ asthma ☑ gout ☐ epilepsy");
    let of = |name: &str| said.iter().find(|(_, label)| label.trim() == name).map(|(mark, _)| *mark);
    assert_eq!(
        (of("asthma"), of("gout"), of("epilepsy")),
        (Some(BoxMark::Empty), Some(BoxMark::Yes), Some(BoxMark::Empty))
    );
    assert_eq!(marks("3) [ ] Atracones"), [(BoxMark::Empty, "Atracones".to_owned())]);
}

#[test]
fn a_pair_of_boxes_for_yes_and_no_answers_the_words_before_it() {
    for (text, mark) in [
        ("Past attempt? [x] Yes [ ] No", BoxMark::Yes),
        ("Past attempt? [ ] Yes [x] No", BoxMark::No),
        ("Past attempt? [ ] Yes [ ] No", BoxMark::Empty),
        ("Past attempt: Yes __ No _x_", BoxMark::No),
        ("Past attempt: Sí [x] No [ ]", BoxMark::Yes),
        ("Past attempt ( ) Sí (x) No", BoxMark::No),
    ] {
        let said = marks(text);
        assert_eq!((said.len(), said[0].0), (1, mark), "{text}: {said:?}");
        assert!(said[0].1.starts_with("Past attempt"), "{text}: {said:?}");
    }
}

#[test]
fn a_line_to_write_on_is_no_box_and_never_is_a_no() {
    let said = marks("Illnesses: [ ] asthma  [ ] epilepsy  [x] gout (since 2020)  [ ] other: ____________");
    let of = |name: &str| said.iter().find(|(_, label)| label.starts_with(name)).map(|(mark, _)| *mark);
    assert_eq!(
        (of("asthma"), of("epilepsy"), of("gout")),
        (Some(BoxMark::Empty), Some(BoxMark::Empty), Some(BoxMark::Yes)),
        "{said:?}"
    );
    assert_eq!(marks("Cocaína: [x] nunca").first().map(|(mark, _)| *mark), Some(BoxMark::No));
}

#[test]
fn a_printed_choice_has_the_answer_after_it() {
    let conditions =
        |text: &str| read(text, EntityType::Condition).into_iter().map(|(v, no, _)| (v, no)).collect::<Vec<_>>();
    let (gout, asthma) = ("gout".to_owned(), "asthma".to_owned());
    assert_eq!(conditions("Asthma Y/N: N   Gout Y / N: Y"), [(asthma.clone(), true), (gout.clone(), false)]);
    assert_eq!(conditions("Asma S/N N   Gota Sí/No: Sí"), [(asthma, true), (gout, false)]);
}

/// Values with whether they are denied and past, in the order of the text.
fn read(text: &str, kind: EntityType) -> Vec<(String, bool, bool)> {
    let document = Document::plain(text, Language::Unknown);
    let found = Extractor::shared().extract(&ExtractionInput::new(&document)).entities;
    let of = found.into_iter().filter(|e| e.kind == kind);
    of.map(|e| (e.value, e.context.negated, e.context.temporality == Temporality::Historical)).collect()
}

#[test]
fn the_scope_of_allergies_ends_where_something_is_taken() {
    let allergies = |text: &str| read(text, EntityType::Allergy).into_iter().map(|(v, ..)| v).collect::<Vec<_>>();
    assert_eq!(allergies("Allergic to latex. Takes citalopram 20 mg at night."), ["latex"]);
    assert_eq!(allergies("Alergias: cefalexina. Toma losartán y metformina."), ["cephalexin"]);
    assert_eq!(allergies("ALLERGIES\n- codeine\n- latex\n\nMEDICATIONS\n- lithium"), ["codeine", "latex"]);
    assert_eq!(allergies("Allergies: amoxicillin. Her father takes warfarin."), ["amoxicillin"]);
    assert_eq!(allergies("Urocultivo: E. coli sensible a amoxicilina, resistente a ciprofloxacino"), [""; 0]);
}

#[test]
fn boxes_and_titles_decide_about_conditions() {
    let conditions = |text: &str| read(text, EntityType::Condition);
    let asthma = conditions("Diabetes [ ]  Asthma [x]");
    assert_eq!(asthma, [("asthma".to_owned(), false, false)]);
    let titled = conditions("- Antecedentes personales: neumonía, fractura de cadera");
    assert!(!titled.is_empty() && titled.iter().all(|(_, negated, past)| !negated && *past), "{titled:?}");
}

#[test]
fn a_medicine_has_the_status_of_its_title() {
    let document = Document::plain(
        "STARTED bisoprolol 1.25 mg od\nSTOPPED ibuprofen\nWITHHELD metformin 1 g bd",
        Language::English,
    );
    let found = Extractor::shared().extract(&ExtractionInput::new(&document)).entities;
    let status = |value: &str| found.iter().find(|e| e.value == value).and_then(|e| e.status.clone());
    assert_eq!(status("bisoprolol").as_deref(), Some("started"));
    assert_eq!(status("ibuprofen").as_deref(), Some("stopped"));
    assert_eq!(status("metformin").as_deref(), Some("on_hold"));
}
