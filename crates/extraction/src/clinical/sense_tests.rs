//! Words of more than one sense: their meaning in one context, and the other meaning elsewhere.

use std::sync::LazyLock;

use crate::{ExtractionInput, Extractor};
use anamnesis_text::{Document, Language};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

fn names(text: &str, language: Language) -> Vec<String> {
    let document = Document::plain(text, language);
    EXTRACTOR.extract(&ExtractionInput::new(&document)).entities.into_iter().map(|entity| entity.value).collect()
}

#[test]
fn a_word_in_another_sense_names_no_illness() {
    for (text, wrong) in [
        ("Afiliado a la EPS Norte desde 2020.", "extrapyramidal symptoms"),
        ("Se arrojó de un balcón y se rompió el tobillo.", "vomiting"),
        ("A la niña la veo mal, doctora.", "blurred vision"),
        ("Come plátano como un mono.", "mononucleosis"),
        ("Hay problemas graves en el barrio.", "graves' disease"),
        ("Infusión de cola de caballo por la mañana.", "cauda equina syndrome"),
        ("No como pescado por costumbre.", "loss of appetite"),
        ("El blíster está sin abrir.", "blisters"),
        ("La casa se me cae encima.", "fall"),
        ("Pide que saque la basura.", "cocaine use"),
        ("Digoxinemia en rango.", "digoxinemia"),
    ] {
        let found = names(text, Language::Spanish);
        assert!(!found.iter().any(|name| name == wrong), "{text}: {found:?}");
    }
    for (text, wrong) in [
        ("Fill the MDS tray on Mondays.", "myelodysplastic syndrome"),
        ("Riverside Care LLC, new client form.", "chronic lymphocytic leukemia"),
        ("Her mate rang the ward.", "caffeine use"),
        ("Processing speed 92.", "amphetamine use"),
        ("Webster pack, weekly.", "tobacco use"),
        ("He has been hoarding lorazepam in a sock.", "hoarding disorder"),
        ("Fluvoxamine XR 100 mg mane.", "X-ray"),
        ("He asked about his blood thinner.", "inhalant use"),
        ("The gas is low, you can't smell it.", "loss of smell"),
    ] {
        let found = names(text, Language::English);
        assert!(!found.iter().any(|name| name == wrong), "{text}: {found:?}");
    }
}

#[test]
fn the_word_in_its_own_sense_still_names_it() {
    for (text, right) in [
        ("Vomitó dos veces ayer.", "vomiting"),
        ("Veo mal de lejos.", "blurred vision"),
        ("Síndrome de cola de caballo en 2019.", "cauda equina syndrome"),
        ("Enfermedad de Graves.", "graves' disease"),
    ] {
        let found = names(text, Language::Spanish);
        assert!(found.iter().any(|name| name == right), "{text}: {found:?}");
    }
    for (text, right) in [
        ("She had mono at school.", "mononucleosis"),
        ("Graves' disease, treated.", "graves' disease"),
        ("Known hoarding disorder.", "hoarding disorder"),
        ("PMH: CLL, gout.", "chronic lymphocytic leukemia"),
        ("Chest XR clear.", "X-ray"),
    ] {
        let found = names(text, Language::English);
        assert!(found.iter().any(|name| name == right), "{text}: {found:?}");
    }
}
