use super::*;
use crate::label;
use crate::test_support::{labelled, read};
use anamnesis_text::Language::{self, English, Spanish};

type Find = fn(&DocumentContext<'_>, &mut Vec<PiiFinding>);

/// Holds a recogniser against texts and the parts that it must find, all of them and nothing else.
fn holds(find: Find, kind: &str, table: &[(Language, &str, &[&str])]) {
    for (language, text, parts) in table {
        let mut found: Vec<String> =
            labelled(text, *language, find).into_iter().filter(|(label, _)| *label == kind).map(|(_, it)| it).collect();
        found.dedup();
        assert_eq!(found, *parts, "{text}");
    }
}

fn listed_places(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    places::PlaceRecogniser::builtin().find(context, found);
}

#[test]
fn names_are_found_in_full_after_titles_cues_and_relations() {
    holds(
        persons::find,
        label::PERSON,
        &[
            (Spanish, "Vino con Pedro Jimenez a la consulta de ayer.", &["Pedro Jimenez"]),
            (Spanish, "Acude la Sra. Okampo con dolor.", &["Okampo"]),
            (Spanish, "El Dr. Zubirrain pauta litio.", &["Zubirrain"]),
            (Spanish, "Me llamo Zuriel Brazt y tengo tos.", &["Zuriel Brazt"]),
            (Spanish, "Su hermana Maite la acompana.", &["Maite"]),
            (Spanish, "El hijo, Yeray, refiere tos.", &["Yeray"]),
            (Spanish, "Firmado: J. Okampo Brazt", &["J. Okampo Brazt"]),
            (Spanish, "Hablo con Lourdes sobre el alta.", &["Lourdes"]),
            (Spanish, "Garcia Lopez, Maria Jose ingresa hoy.", &["Garcia Lopez", "Maria Jose"]),
            (Spanish, "Se llama Kepa, es mi hijo.", &["Kepa"]),
            (Spanish, "Su perro Tobi duerme con el.", &["Tobi"]),
            (Spanish, "hola soy maria y me duele", &["maria"]),
            (Spanish, "mi marido antonio no viene", &["antonio"]),
            (English, "Mr. Okonkwo denies pain.", &["Okonkwo"]),
            (English, "Seen by Dr. Halloway in clinic.", &["Halloway"]),
            (English, "My name is Tamsin Brightwater and I cough.", &["Tamsin Brightwater"]),
            (English, "Her sister Bronagh came along.", &["Bronagh"]),
            (English, "Spoke with Ifeoma about discharge.", &["Ifeoma"]),
            (English, "Signed: K. Vandermeer, RN", &["K. Vandermeer"]),
            (English, "Dr. M said ok.", &["M"]),
            (English, "hi im jessica and it hurts", &["jessica"]),
            (English, "my husband greg is not coming", &["greg"]),
        ],
    );
}

#[test]
fn eponyms_medicines_verbs_and_ordinary_words_are_no_names() {
    let none: &[&str] = &[];
    for text in [
        "Enfermedad de Parkinson avanzada.",
        "Signo de Romberg positivo y maniobra de Barlow negativa.",
        "No pierde la esperanza y toma dolores con calma.",
        "Valorada por la enfermera. Niega dolor.",
        "Padre HTA. Madre DM2.",
        "Toma Sertralina y Lorazepam por la noche.",
        "PCR negativa, Hb 13, LDL 90.",
        "Escala de Glasgow 15, indice de Barthel 90.",
        "Diagnostico: Alzheimer leve. Plan: Memantina.",
        "Ingresa en el hospital por tos y va al centro de salud.",
    ] {
        for find in [persons::find, informal::find, vocatives::find, towns::find, organisations::find, vicinity::find] {
            let found = labelled(text, Spanish, find);
            assert_eq!(found.iter().map(|one| one.1.as_str()).collect::<Vec<_>>(), none, "{text}");
        }
    }
    for text in [
        "Parkinson disease and Romberg sign.",
        "Patient of Dr. Denies pain today.",
        "Takes Zoloft and Ativan at night.",
        "Hx: MS. Meds: Baclofen.",
        "Will will come on May 3.",
        "Hope is gone and joy is rare.",
        "CBC normal, BMP pending, EKG NSR.",
        "Glasgow Coma Scale 15, Berg balance 50.",
        "Admitted to the hospital from the clinic.",
    ] {
        for find in [persons::find, informal::find, vocatives::find, towns::find, organisations::find, vicinity::find] {
            let found = labelled(text, English, find);
            assert_eq!(found.iter().map(|one| one.1.as_str()).collect::<Vec<_>>(), none, "{text}");
        }
    }
}

#[test]
fn informal_names_are_found_after_relatives_even_in_lower_case() {
    holds(
        informal::find,
        label::PERSON,
        &[
            (Spanish, "Su hermana zaraida la acompana.", &["zaraida"]),
            (Spanish, "Su hermana Maite la acompana.", &["Maite"]),
            (Spanish, "mi marido antonio no viene", &["antonio"]),
            (Spanish, "Se llama Kepa, es mi hijo.", &["Kepa"]),
            (English, "my husband greg is not coming", &["greg"]),
            (English, "Spoke with Ifeoma about discharge.", &["Ifeoma"]),
            (Spanish, "Su hermana tiene tos.", &[]),
            (English, "her husband is not coming", &[]),
        ],
    );
}

#[test]
fn names_are_found_by_address_and_signature() {
    holds(
        vocatives::find,
        label::PERSON,
        &[
            (Spanish, "Ay, Chayo. Lo siento mucho.", &["Chayo"]),
            (Spanish, "La abuela (Nene) cuida de el.", &["Nene"]),
            (Spanish, "me separe de flor en 2019", &["flor"]),
            (Spanish, "RN Villanueva da la dosis.", &["Villanueva"]),
            (English, "R. Montoya LADAC signed it.", &["Montoya"]),
            (English, "Signed: K. Vandermeer, RN", &["Vandermeer"]),
            (Spanish, "La abuela (viva) cuida de el.", &[]),
            (Spanish, "Ay, dolor. Lo siento mucho.", &[]),
            (Spanish, "me separe de dolores en 2019", &[]),
            (Spanish, "rn villanueva da la dosis.", &[]),
            (English, "Meds given by RPN Okafor at 22.00.", &["Okafor"]),
            (English, "Her dog (Rex) sleeps.", &[]),
            (English, "R. Montoya ladac signed it.", &[]),
        ],
    );
}

#[test]
fn places_are_found_without_their_prepositions_and_countries_are_a_separate_kind() {
    holds(
        listed_places,
        label::LOCATION,
        &[
            (Spanish, "Vive en Zaragoza desde joven.", &["Zaragoza"]),
            (Spanish, "Residente en Villanueva de la Jara con su madre.", &["Villanueva de la Jara"]),
            (Spanish, "Estuvo en Cuenca (Ecuador) y Quito.", &["Cuenca", "Quito"]),
            (English, "She moved to Chicago from Nigeria.", &["Chicago"]),
            (English, "Flew from London to New York.", &["London", "New York"]),
            (Spanish, "Trasladado a planta por fiebre.", &[]),
        ],
    );
    holds(
        listed_places,
        label::COUNTRY,
        &[
            (Spanish, "Natural de Venezuela, viene de Bilbao.", &["Venezuela"]),
            (Spanish, "Estuvo en Cuenca (Ecuador) y Quito.", &["Ecuador"]),
            (English, "She moved to Chicago from Nigeria.", &["Nigeria"]),
            (English, "She moved to Chicago.", &[]),
        ],
    );
    assert!(is_country("España") && is_country("FRANCIA") && !is_country("Zaragoza"));
}

#[test]
fn towns_and_quarters_are_found_by_the_words_before_them() {
    holds(
        towns::find,
        label::LOCATION,
        &[
            (English, "She moved to Chicago from Nigeria.", &["Chicago"]),
            (Spanish, "Vive en el barrio de Carabanchel.", &["Carabanchel"]),
            (English, "She moved to tears quickly.", &[]),
        ],
    );
    holds(vicinity::find, label::LOCATION, &[(Spanish, "Vive en el barrio de Carabanchel.", &["Carabanchel"])]);
}

#[test]
fn houses_leave_by_their_name_and_stay_without_one() {
    holds(
        organisations::find,
        label::ORGANIZATION,
        &[
            (Spanish, "Ingresa en el Hospital Universitario La Paz por tos.", &["Hospital Universitario La Paz"]),
            (Spanish, "Derivado al Centro de Salud Los Tilos para seguimiento.", &["Centro de Salud Los Tilos"]),
            (Spanish, "Vive en la residencia Los Alamos desde ayer.", &["residencia Los Alamos"]),
            (Spanish, "Trabaja en Mercadona y estudia.", &["Mercadona"]),
            (English, "Admitted to St. Mary's Hospital for cough.", &["St. Mary's Hospital"]),
            (English, "He goes to Jefferson High School.", &["Jefferson High School"]),
            (English, "Works at Walmart and rests.", &["Walmart"]),
            (Spanish, "Ingresa en el hospital por tos.", &[]),
            (English, "Admitted to the hospital for cough.", &[]),
        ],
    );
    holds(
        named_organisations::find,
        label::ORGANIZATION,
        &[
            (Spanish, "estudia en el Colegio San Jose.", &["Colegio San Jose"]),
            (Spanish, "estudia en el colegio por la tarde.", &[]),
        ],
    );
}

#[test]
fn every_recogniser_of_the_layer_runs() {
    let text = "Nombre: Zuriel Brazt. Varon de 47 anos, albanil, visto el 12/03/2019 en el Hospital La Paz. Vive en \
                Calle Mayor 5, 28035 Madrid, con su hermana Maite.";
    let found = labelled(text, Spanish, |context, found| Entities::builtin().find(context, found));
    for kind in [
        label::PERSON,
        label::SEX,
        label::AGE,
        label::PROFESSION,
        label::DATE,
        label::ORGANIZATION,
        label::ADDRESS,
        label::POSTAL_CODE,
        label::LOCATION,
        label::FAMILY,
    ] {
        assert!(found.iter().any(|(label, _)| *label == kind), "{kind}");
    }
    assert!(found.contains(&(label::PERSON, "Maite".to_owned())));
}

#[test]
fn the_words_before_a_word_decide_the_score_of_a_name() {
    use cues::NameTrigger;
    let before = |text: &str| {
        read(text, Language::Unknown, |context| {
            let at = context.tokens.iter().position(|token| context.plain(token) == "Xavi");
            cues::trigger(context, at.expect("the word is there"))
        })
    };
    for text in ["Dr. Xavi", "la Sra. Xavi", "me llamo Xavi", "my name is Xavi", "Fdo. Xavi", "Firmado: Xavi"] {
        assert!(before(text) == NameTrigger::Strong, "{text}");
    }
    for text in ["mi hermana Xavi", "hermana (Xavi)", "spoke with Xavi", "Attending: Xavi", "el hijo, Xavi, tose"] {
        assert!(before(text) == NameTrigger::Relation, "{text}");
    }
    for text in ["hola Xavi", "gracias, Xavi", "soy Xavi", "hermana: Xavi"] {
        assert!(before(text) == NameTrigger::Weak, "{text}");
    }
    for text in ["Xavi", "tose Xavi", "la enfermera. Xavi", "d Xavi", "attending Xavi", "spoke to. Xavi", "MS. Xavi"] {
        assert!(before(text) == NameTrigger::None, "{text}");
    }
}

#[test]
fn names_of_things_are_recognised_by_the_nouns_around_them() {
    let thing = |text: &str, first: usize, end: usize| {
        read(text, Language::Unknown, |context| eponyms::names_a_thing(context, first, end))
    };
    assert!(thing("Corea de Huntington", 0, 3) && thing("Penrose drain", 0, 2) && thing("Rutherford IIb", 0, 2));
    assert!(!thing("Pedro Jimenez", 0, 2) && !thing("Huntington", 0, 1));
    let owned = |text: &str| read(text, English, |context| eponyms::is_owned(context, 0));
    assert!(owned("Sithole's ferritin rose") && !owned("Sithole's disease rose") && !owned("Sithole ferritin"));
    let joined = |text: &str| read(text, English, |context| eponyms::is_hyphenated(context, 0, 3));
    assert!(joined("Dix-Hallpike maneuver") && !joined("Okampo-Brazt grade") && !joined("Dix Hallpike maneuver"));
    let dosed = |text: &str| read(text, English, |context| eponyms::is_dosed(context, 0));
    assert!(dosed("0.35 mg") && dosed("5 tablets") && !dosed("5 people") && !dosed("mg 5"));
    for (grade, sub) in [("iib", true), ("iva", true), ("ii", false), ("ib", true), ("via", false), ("xb", false)] {
        assert_eq!(eponyms::is_subgrade(grade), sub, "{grade}");
    }
}

#[test]
fn verbs_of_people_are_evidence_of_a_person() {
    let acts = |text: &str| read(text, English, |context| person_verbs::acts(context, 0));
    for text in ["Mark says no", "Grace, her sister, sat", "Hope is tearful", "Faith, 34 F", "Joy, aged 5"] {
        assert!(acts(text), "{text}");
    }
    for text in ["Mark the site", "Grace, the room", "Hope is gone", "Faith, 34 tablets", "Mark"] {
        assert!(!acts(text), "{text}");
    }
    assert!(
        person_verbs::is_person_verb("denies")
            && person_verbs::is_person_verb("fell")
            && !person_verbs::is_person_verb("hope")
    );
    let begins = |text: &str, at: usize| read(text, English, |context| person_verbs::begins_sentence(context, at));
    assert!(begins("Ana", 0) && begins("x. Ana", 2) && begins("x\nAna", 2) && !begins("x, Ana", 2));
    let noun = |text: &str| read(text, English, |context| person_verbs::leads_a_noun(context, 0, 0));
    assert!(noun("Berg balance low") && noun("Morse 55 today") && !noun("Berg walks home"));
    assert!(!noun("Sithole's ferritin") && !noun("Kowalski 55 today"));
    let word = |text: &str| read(text, English, |context| person_verbs::is_word_and_noun(context, 0, 2));
    assert!(word("Scarlet fever rose") && !word("scarlet fever rose") && !word("Scarlet Fever rose"));
}

#[test]
fn words_that_are_names_too_are_judged_by_their_neighbours() {
    let common = |text: &str, at: usize| read(text, Language::Unknown, |context| words::reads_as_common(context, at));
    for text in ["Dolores de cabeza", "Esperanza de vida", "May be late", "May 3", "Will you come", "Mark the site"] {
        assert!(common(text, 0), "{text}");
    }
    for text in ["Dolores vino", "Esperanza vino", "May came", "Will came", "Ana de cabeza"] {
        assert!(!common(text, 0), "{text}");
    }
    let cue = |text: &str, at: usize| read(text, Language::Unknown, |context| words::cue_of_a_name(context, at));
    assert!(cue("su hermana esperanza", 2) && cue("la sra. esperanza", 3) && !cue("la esperanza", 1));
    assert!(cue("hoy esperanza dice que no", 1), "a verb behind it, in a text without capitals");
    assert!(!cue("Hoy, Ana y Pedro: la esperanza dice que no. Ana, Pedro", 7));
}

#[test]
fn single_words_are_known_for_what_they_are() {
    use word_classes::{WordClasses, word_classes};
    assert!(word_classes("pedro").has(WordClasses::GIVEN) && word_classes("jimenez's").has(WordClasses::SURNAME));
    assert!(word_classes("parkinson").has(WordClasses::EPONYM) && word_classes("madrid").has(WordClasses::PLACE));
    assert!(word_classes("francia").has(WordClasses::COUNTRY) && word_classes("dra").has(WordClasses::TITLE));
    assert!(word_classes("hermana").has(WordClasses::RELATION) && word_classes("mayo").has(WordClasses::MONTH));
    assert!(word_classes("veinte").has(WordClasses::NUMBER) && word_classes("del").has(WordClasses::PARTICLE));
    assert!(word_classes("paco").has(WordClasses::EVERYDAY_NAME) && !word_classes("paco").is_everyday());
    assert!(word_classes("zzyzx").is_everyday() && word_classes("zzyzx") == WordClasses::default());
    assert!(lexicon::ends_as_surname("kowalski") && !lexicon::ends_as_surname("whisky"));
    assert!(lexicon::is_noun("balance") && !lexicon::is_noun("walked") && !lexicon::is_noun("quickly"));
    assert!(!lexicon::is_noun("with") && lexicon::is_noun("family"));
    assert!(words::is_abbreviation("rx") && !words::is_abbreviation("zz"));
    assert!(cues::is_function("i'll") && cues::is_function("un") && !cues::is_function("pedro"));
    assert!(cues::is_field("telefono") && !cues::is_field("pedro"));
    assert_eq!(words::folded_words("  Íñigo-Pérez, 3º "), ["inigo", "perez", "3º"]);
}

#[test]
fn a_word_is_whole_where_nothing_continues_it() {
    use anamnesis_text::Span;
    for (text, alone) in
        [("a ana b", true), ("xana", false), ("anax", false), ("ana", true), ("(ana)", true), ("ñana", false)]
    {
        let start = text.find("ana").expect("it is there");
        assert_eq!(words::is_whole_word(text, Span::new(start, start + 3)), alone, "{text}");
    }
}

#[test]
fn the_prefilters_detect_what_a_text_contains() {
    let looks = |text: &str| {
        read(text, Language::Unknown, |context| {
            [
                prefilter::has_joined_numbers(context, b"/"),
                prefilter::has_year(context),
                prefilter::has_five_digits(context),
                prefilter::has_digit_and_two_large(context),
                prefilter::has_years_of_age(context),
                prefilter::has_spelled_letters(context),
            ]
        })
    };
    for (text, seen) in [("3/4", 0), ("2019", 1), ("28035", 2), ("1BB", 3), ("47 years", 4), ("a, b", 5)] {
        let held = looks(text);
        assert!(held[seen], "{text}: {held:?}");
        assert_eq!(held.iter().filter(|held| **held).count(), 1, "{text}: {held:?}");
    }
    assert_eq!(looks("3 4, 9019, 280355, 1bb, 4747 years, ab cd"), [false; 6]);
    assert!(prefilter::has_before_digit("the 5", &["the "]) && !prefilter::has_before_digit("the x 5", &["the "]));
    assert!(prefilter::has_any("un dot", &["dot"]) && !prefilter::has_any("un", &["dot"]));
}

#[test]
fn clinical_words_and_words_of_speech_are_no_names() {
    use post_filter::stop_words;
    for word in ["sertralina", "gerd", "urticaria"] {
        assert!(
            stop_words::is_clinical(word) || stop_words::is_medicine(word) || stop_words::is_abbreviation(word),
            "{word}"
        );
    }
    for word in ["zaraida", "okonkwo", "jimenez"] {
        assert!(!stop_words::is_clinical(word) && !stop_words::is_thing(word) && !stop_words::is_role(word), "{word}");
    }
    assert!(stop_words::is_kin("nana") && stop_words::is_no_person_word("nobody") && stop_words::is_role("paramedic"));
}

#[test]
fn a_name_that_was_found_is_found_again_without_context() {
    let again = |text: &str, name: &str, kind: &'static str| {
        let start = text.find(name).expect("it is there");
        let first = PiiFinding::new(
            anamnesis_text::Span::new(start, start + name.len()),
            kind,
            "name",
            0.9,
            crate::finding::DetectionLayer::Entity,
        );
        labelled(text, English, |context, found| {
            found.push(first);
            propagate::find(context, found);
        })
        .len()
    };
    let text = "Mr. Tamsin Brightwater came. Later Brightwater left the room.";
    assert!(again(text, "Tamsin Brightwater", label::PERSON) >= 2);
    assert_eq!(again("On 12/03/2019 she came. Later on 12/04/2019 she left.", "12/03/2019", label::DATE), 1);
}
