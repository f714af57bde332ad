//! Words that count doses, next to those that name a habit, and denials that belong to another substance.

use std::sync::LazyLock;

use crate::{EntityType, ExtractionInput, Extractor};
use anamnesis_text::{Document, Language};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

/// The conditions of a text, each with "no" where it is denied and "ex" where it is over.
fn conditions(text: &str) -> Vec<String> {
    let document = Document::plain(text, Language::Unknown);
    let all = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
    let said = |entity: crate::Entity| match (entity.context.negated, entity.status.as_deref()) {
        (true, _) => format!("no {}", entity.value),
        (_, Some("resolved")) => format!("ex {}", entity.value),
        _ => entity.value,
    };
    all.into_iter().filter(|entity| entity.kind == EntityType::Condition).map(said).collect()
}

#[test]
fn tablets_units_packs_and_glasses_are_no_substances() {
    for text in [
        "Atorvastatin 20 mg 1 tab at night.",
        "Take 2 tab PO BID of metoprolol 25 mg.",
        "Novorapid 10 units with lunch and 12 units with supper.",
        "Insulina 10 unidades con el desayuno y 8 unidades con la cena.",
        "Reduced Lantus from 30 units to 24 units.",
        "Fentanyl patch 25 mcg/h every 72 hours.",
        "Drinks water and takes 10 units of lispro.",
    ] {
        assert!(conditions(text).is_empty(), "{text}: {:?}", conditions(text));
    }
    for (text, expected) in [
        ("Smokes 2 ppd x 20 years.", vec!["tobacco use"]),
        ("Smoker 1 ppd, ETOH 2 beers/day.", vec!["tobacco use", "alcohol use"]),
        ("Drinks a glass of wine with dinner.", vec!["alcohol use"]),
        ("Drinks 20 units per week.", vec!["alcohol use"]),
        ("Uses glass every weekend.", vec!["methamphetamine use"]),
        ("Uses fentanyl IV, 1 g per day.", vec!["fentanyl use"]),
        ("PPD diagnosed at 6 weeks postpartum.", vec!["postpartum depression"]),
        ("Tab: 1 paq/día.", vec!["tobacco use"]),
    ] {
        assert_eq!(conditions(text), expected, "{text}");
    }
}

#[test]
fn a_denial_and_an_end_belong_to_the_substance_of_which_they_are_said() {
    for (text, expected) in [
        ("Tóxicos: no fumador, bebedor social.", vec!["no tobacco use", "alcohol use"]),
        ("Mate 1 litro/día, tabaco no, alcohol los findes.", vec!["caffeine use", "no tobacco use", "alcohol use"]),
        ("No tabaco, alcohol ni drogas.", vec!["no tobacco use", "no alcohol use", "no drug use"]),
        ("Fumador de 20 cig/día hasta 2018.", vec!["ex tobacco use"]),
        ("Tobacco: quit 2010.", vec!["ex tobacco use"]),
        ("No ha dejado de fumar.", vec!["tobacco use"]),
        ("Sigue sin dejar de fumar.", vec!["tobacco use"]),
    ] {
        assert_eq!(conditions(text), expected, "{text}");
    }
}

#[test]
fn what_was_given_up_is_the_substance_named_before_a_use_that_goes_on() {
    for (text, expected) in [
        ("Ex-smoker, drinks a bottle of wine at weekends.", vec!["ex tobacco use", "alcohol use"]),
        ("Gave up cigarettes, drinks two beers a night.", vec!["ex tobacco use", "alcohol use"]),
        ("Dejó el tabaco en 2019, bebe tres cervezas los fines de semana.", vec!["ex tobacco use", "alcohol use"]),
        ("Gave up cigarettes and drinking.", vec!["ex tobacco use", "ex alcohol use"]),
        ("Quit cigarettes and alcohol in 2015.", vec!["ex tobacco use", "ex alcohol use"]),
        ("Dejó el tabaco y el alcohol hace 5 años.", vec!["ex tobacco use", "ex alcohol use"]),
        ("Stopped cigarettes and alcohol 3 years ago.", vec!["ex tobacco use", "ex alcohol use"]),
    ] {
        assert_eq!(conditions(text), expected, "{text}");
    }
}
