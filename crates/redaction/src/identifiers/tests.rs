use std::sync::LazyLock;

use super::*;
use crate::finding::DetectionLayer;
use crate::label;
use crate::test_support::{findings, labelled, read};
use anamnesis_text::{Language, Span};

static ALL: LazyLock<Identifiers> = LazyLock::new(Identifiers::builtin);

/// The findings of the layer, the best one of each position, as a merge would choose.
fn best(text: &str) -> Vec<(&'static str, String, f64)> {
    let mut found = findings(text, Language::Unknown, |context, found| ALL.find(context, found));
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.span.len().cmp(&a.span.len())));
    let mut kept: Vec<PiiFinding> = Vec::new();
    for one in found {
        if !kept.iter().any(|known| known.span.overlaps(&one.span)) {
            kept.push(one);
        }
    }
    kept.sort_by_key(|one| one.span.start);
    kept.into_iter().map(|one| (one.label, one.span.slice(text).to_owned(), one.score)).collect()
}

fn labels(text: &str) -> Vec<&'static str> {
    best(text).into_iter().map(|(label, _, _)| label).collect()
}

/// The findings of the tables alone.
fn candidates_of(text: &str) -> Vec<(&'static str, String)> {
    labelled(text, Language::Spanish, |context, found| {
        let announced = ALL.announcing_keywords.lookup(&context.view.lower);
        candidates::find(context, &ALL.by_length, &announced, found);
    })
}

#[test]
fn every_number_with_a_right_check_digit_is_found_next_to_its_keyword() {
    for (text, label, value) in [
        ("Paciente con DNI 45871203A en sala", "ES_DNI", "45871203A"),
        ("Paciente con NIE X4820917W en sala", "ES_NIE", "X4820917W"),
        ("La empresa con CIF B73019424 paga", "ES_CIF", "B73019424"),
        ("Con NSS 28/34567812/56 en vigor", "ES_NSS", "28/34567812/56"),
        ("Su CURP es LOZR880917MJCPML01 desde ayer", "MX_CURP", "LOZR880917MJCPML01"),
        ("Con RFC GODE561231GR8 para factura", "MX_RFC", "GODE561231GR8"),
        ("Registro IMSS 42987512367 vigente", "MX_NSS", "42987512367"),
        ("Lleva DPI 1609 87423 0101 vigente", "GT_DPI", "1609 87423 0101"),
        ("Tiene NIT 1000002-K de comercio", "GT_NIT", "1000002-K"),
        ("Porta DUI 03829145-7 vigente", "SV_DUI", "03829145-7"),
        ("Con cedula 402-2873169-7 vigente", "DO_CEDULA", "402-2873169-7"),
        ("Tiene RNC 1-01-94735-7 de comercio", "DO_RNC", "1-01-94735-7"),
        ("Tiene CUIT 27-30945718-3 activo", "AR_CUIT", "27-30945718-3"),
        ("Su RUT 14.839.207-2 vigente", "CL_RUT", "14.839.207-2"),
        ("Con NIT 830.114.921-1 de comercio", "CO_NIT", "830.114.921-1"),
        ("Con RUC 20512345671 de comercio", "PE_RUC", "20512345671"),
        ("Con cedula 171003406-5 vigente", "EC_CEDULA", "171003406-5"),
        ("Con cedula 4.731.928-6 vigente", "UY_CI", "4.731.928-6"),
        ("Con RIF J-30718264-4 de comercio", "VE_RIF", "J-30718264-4"),
        ("Con CPF 348.751.920-88 vigente", "BR_CPF", "348.751.920-88"),
        ("Con CNPJ 27.418.356/0001-04 vigente", "BR_CNPJ", "27.418.356/0001-04"),
        ("The patient has SSN 536-32-3065 on file", "US_SSN", "536-32-3065"),
        ("The taxpayer has ITIN 911-70-1234 on file", "US_ITIN", "911-70-1234"),
        ("The Medicare card MBI 1EG4-TE5-MK73 is valid", "US_MBI", "1EG4-TE5-MK73"),
        ("The doctor with NPI 1684372901 signed it", "US_NPI", "1684372901"),
        ("The doctor with DEA BK7231943 signed it", "US_DEA", "BK7231943"),
        ("The bank has routing 072009123 on file", "US_ABA", "072009123"),
        ("The patient has NHS 485 777 3457 on file", "UK_NHS", "485 777 3457"),
        ("Her national insurance PR 12 36 12 C is valid", "UK_NINO", "PR 12 36 12 C"),
        ("The card 4111 1222 3333 4440 was charged", label::CARD, "4111 1222 3333 4440"),
        ("Su IBAN ES49 2085 0193 4645 0192 8374, activo", label::BANK_ACCOUNT, "ES49 2085 0193 4645 0192 8374"),
        ("Su cuenta 2085 0193 46 4501928374 activa", label::BANK_ACCOUNT, "2085 0193 46 4501928374"),
        ("Su VIN 1HGCM82690A004352 de fabrica", label::VEHICLE_ID, "1HGCM82690A004352"),
        ("The IMEI 35-693803-564380-9 was read", label::DEVICE_ID, "35-693803-564380-9"),
    ] {
        let found = best(text);
        assert!(
            found.iter().any(|(known, it, score)| *known == label && it == value && *score >= 0.75),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn a_right_check_digit_is_sufficient_without_a_keyword() {
    for (value, label) in [
        ("45871203A", "ES_DNI"),
        ("Y7712046E", "ES_NIE"),
        ("Q2810055J", "ES_CIF"),
        ("LOZR880917MJCPML01", "MX_CURP"),
        ("27-30945718-3", "AR_CUIT"),
        ("10456789124", "PE_RUC"),
        ("348.751.920-88", "BR_CPF"),
        ("BK7231943", "US_DEA"),
        ("14.839.207-2", "CL_RUT"),
        ("536-32-3065", "US_SSN"),
        ("4111 1222 3333 4440", label::CARD),
        ("FR14 2004 1010 0505 0001 3M02 606", label::BANK_ACCOUNT),
    ] {
        let text = format!("visto hoy, {value}, sin cambios");
        let found = best(&text);
        assert!(found.iter().any(|(known, it, _)| *known == label && it == value), "{text}: {found:?}");
    }
}

#[test]
fn a_wrong_check_digit_is_found_next_to_the_keyword_only() {
    for (keyword, value, label) in [
        ("DNI", "45871203B", "ES_DNI"),
        ("NIE", "X4820917Z", "ES_NIE"),
        ("CPF", "348.751.920-89", "BR_CPF"),
        ("CUIT", "27-30945718-4", "AR_CUIT"),
        ("RUT", "14.839.207-3", "CL_RUT"),
        ("RFC", "GODE569931GR8", "MX_RFC"),
    ] {
        let beside = best(&format!("figura {keyword} {value} en la ficha"));
        assert!(beside.iter().any(|(known, _, score)| *known == label && *score == 0.8), "{keyword}: {beside:?}");
        let alone = labels(&format!("figura luego {value} en la ficha"));
        assert!(!alone.contains(&label), "{value}: {alone:?}");
    }
}

#[test]
fn a_keyword_counts_on_its_own_line_within_reach_and_as_a_whole_word() {
    let dni = |text: &str| !candidates_of(text).is_empty();
    assert!(dni("dni 45871203 vigente"));
    assert!(dni("vigente 45871203 dni"), "shortly behind the value");
    assert!(!dni("dni\n45871203 vigente"), "on another line");
    assert!(!dni("sadnia 45871203 vigente"), "inside of a word");
    assert!(!dni("[DNI_7F3A] 45871203 vigente"), "inside of a replacement");
    let far = format!("dni {} 45871203 vigente", "que consta en la hoja ".repeat(3));
    assert!(!dni(&far), "out of reach: {far}");
}

#[test]
fn clinical_figures_are_no_identifiers() {
    for text in [
        "TA 120/80, FC 72, glucosa 110 mg/dl",
        "Leucocitos 12.300, plaquetas 250.000, Hb 13.4",
        "Paracetamol 1000 mg cada 8 horas, 3 dias",
        "Sodium 140, potassium 4.2, creatinine 0.9",
        "ICD-10 F33.1, CPT 90837",
        "Saturacion 96%, FiO2 0.21, pH 7.38",
        "Lesion de 12 x 8 x 5 mm en D11-D12",
        "Fumador de 20 paquetes/ano desde 1998",
        "NYHA II, Child-Pugh A5, ASA 3",
    ] {
        assert!(best(text).is_empty(), "{text}: {:?}", best(text));
    }
}

#[test]
fn the_longest_identifier_wins_and_nothing_begins_within_it() {
    let text = "abono ES49 2085 0193 4645 0192 8374 hoy";
    let found = candidates_of(text);
    assert_eq!(found, [(label::BANK_ACCOUNT, "ES49 2085 0193 4645 0192 8374".to_owned())]);
}

#[test]
fn a_part_of_a_longer_number_is_no_identifier() {
    for text in ["ref 1/45871203A/7", "ref 3.45871203A", "ref 45871203A-4", "ref xñ45871203A"] {
        assert!(!labels(text).contains(&"ES_DNI"), "{text}: {:?}", best(text));
    }
    assert!(labels("ref 45871203A.").contains(&"ES_DNI"), "a full stop ends it");
}

#[test]
fn a_run_of_letters_and_digits_that_is_too_long_is_passed_over() {
    let long = "4".repeat(candidates::LONGEST + 3);
    assert!(best(&format!("{long} fin")).iter().all(|(known, _, _)| *known != label::CARD));
    let text = format!("{long} DNI 45871203A");
    assert!(labels(&text).contains(&"ES_DNI"));
}

#[test]
fn the_keywords_before_a_value_count_on_its_line_only() {
    let asked = |text: &str, value: &str, words: &[&str]| {
        let start = text.find(value).unwrap();
        has_keyword_before(text, Span::new(start, start + value.len()), words)
    };
    assert!(asked("carnet interno: 778", "778", &["carnet"]));
    assert!(!asked("carnet\n778", "778", &["carnet"]));
    assert!(!asked("778 carnet", "778", &["carnet"]), "behind it");
    assert!(!asked("carnets 778", "778", &["carnet"]), "a part of a word");
    assert!(!asked("[carnet] 778", "778", &["carnet"]), "a replacement");
    let far = format!("carnet {} 778", "ñ".repeat(40));
    assert!(!asked(&far, "778", &["carnet"]), "out of reach, at no border of a letter");
}

#[test]
fn values_after_keywords_are_found_in_any_shape() {
    for (text, label, value) in [
        ("NHC: 77-40-182 ingresa hoy", label::MEDICAL_RECORD, "77-40-182"),
        ("historia clinica n. 4471/b, planta 3", label::MEDICAL_RECORD, "4471"),
        ("MRN# AB-12345 was opened", label::MEDICAL_RECORD, "AB-12345"),
        ("poliza 88172635 activa", label::INSURANCE_ID, "88172635"),
        ("pasaporte XDA443221 en regla", label::PASSPORT, "XDA443221"),
        ("colegiado 28/28/12345 firma", label::LICENSE, "28/28/12345"),
        ("codigo postal 28035 de la ciudad", label::POSTAL_CODE, "28035"),
        ("numero de serie 55A-90123 del equipo", label::DEVICE_ID, "55A-90123"),
        ("employee id 778812 works nights", label::NUMBER, "778812"),
    ] {
        let lower_value = value.to_lowercase();
        let found = labelled(text, Language::Unknown, |context, found| ALL.keywords.find(context, found));
        assert!(
            found.iter().any(|(known, it)| *known == label && it.to_lowercase().starts_with(&lower_value)),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn a_keyword_without_a_value_of_its_kind_finds_nothing() {
    for text in [
        "historia clinica sin datos de interes",
        "historia clinica 12 meses de tos",
        "NHC: 12/03/2019 primera visita",
        "medical record 500 mg daily",
        "expediente\n\n\n77401823",
        "record 12",
        "mrnx 7740182",
        "[MRN_7F3A] 7740182",
        "policy 20 mg",
    ] {
        let found = labelled(text, Language::Unknown, |context, found| ALL.keywords.find(context, found));
        assert!(found.is_empty(), "{text}: {found:?}");
    }
}

#[test]
fn a_value_has_no_more_digits_than_its_kind() {
    let found = labelled("codigo postal 28035 91 555 12 34", Language::Spanish, |context, found| {
        ALL.keywords.find(context, found);
    });
    let digits = found[0].1.bytes().filter(u8::is_ascii_digit).count();
    assert!((5..=9).contains(&digits), "{found:?}");
}

#[test]
fn phones_are_found_by_country_code_grouping_or_keyword() {
    for text in [
        "+34 612 345 678",
        "0034612345678",
        "+1 (555) 123-4567",
        "+52 55 1234 5678",
        "612 345 678",
        "91 555 12 34",
        "301 455 20 18",
        "555-123-4567",
        "(555) 123-4567",
        "555-1234",
        "07700900123",
        "612345678",
        "02 9876 5432",
    ] {
        let sentence = format!("lo dejo apuntado {text} para luego");
        let found = labelled(&sentence, Language::Unknown, |context, found| {
            let announced = ALL.announcing_keywords.lookup(&context.view.lower);
            phones::find(context, &announced, found);
        });
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!(found[0].0, label::PHONE);
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        assert_eq!(digits(&found[0].1), digits(text), "the whole number");
    }
}

#[test]
fn a_word_for_phones_makes_one_of_a_number_that_would_stay() {
    for value in ["7788990", "22 33 44 5", "111 1111"] {
        let alone = format!("anotado {value} en la hoja");
        let told = format!("telefono {value} en la hoja");
        let phones = |text: &str| {
            findings(text, Language::Spanish, |context, found| {
                let announced = ALL.announcing_keywords.lookup(&context.view.lower);
                phones::find(context, &announced, found);
            })
        };
        assert!(phones(&alone).is_empty(), "{value}");
        let found = phones(&told);
        assert!(found.len() == 1 && found[0].score == 0.9, "{value}: {found:?}");
    }
}

#[test]
fn dates_amounts_years_and_lines_of_help_are_no_phones() {
    for text in [
        "desde 12/03/2019 hasta hoy",
        "del 2001-2004 en seguimiento",
        "unas 1.234.567 copias",
        "entre 150.000-400.000 plaquetas",
        "call 717003717 any time",
        "call 1-800-273-8255 any time",
        "llamar 112 o 911",
        "visto 20190312 en consulta",
        "tel 12345",
        "anotado 999999999 en la hoja",
        "codigo 1234567890123456",
    ] {
        let found = labelled(text, Language::Unknown, |context, found| {
            let announced = ALL.announcing_keywords.lookup(&context.view.lower);
            phones::find(context, &announced, found);
        });
        assert!(found.is_empty(), "{text}: {found:?}");
    }
    assert!(is_crisis_line("717003717") && !is_crisis_line("717003718"));
}

#[test]
fn a_grouping_that_measures_share_is_a_phone_in_the_context_of_a_call() {
    let phones = |text: &str| {
        findings(text, Language::Spanish, |context, found| {
            let announced = ALL.announcing_keywords.lookup(&context.view.lower);
            phones::find(context, &announced, found);
        })
        .len()
    };
    assert_eq!(phones("el de mi hermana, 705 55 013. Al mio no llame"), 1);
    assert_eq!(phones("medidas 705 55 013. Al alta bien"), 0);
}

#[test]
fn addresses_of_the_network_are_found_and_clinical_signs_are_not() {
    let found = |text: &str| labelled(text, Language::Unknown, |context, found| ALL.network.find(context, found));
    for (text, label, value) in [
        ("escriba a ana.ruiz+cita@correo.example.es hoy", label::EMAIL, "ana.ruiz+cita@correo.example.es"),
        ("see https://clinic.example/a?b=1.", label::URL, "https://clinic.example/a?b=1"),
        ("see www.clinic.example/help, please", label::URL, "www.clinic.example/help"),
        ("mire clinica-norte.es/cita hoy", label::URL, "clinica-norte.es/cita"),
        ("soy @ana_ruiz en redes", label::HANDLE, "@ana_ruiz"),
        ("desde 192.168.10.254 entra", label::IP_ADDRESS, "192.168.10.254"),
        ("desde 2001:db8::ff00:42:8329 entra", label::IP_ADDRESS, "2001:db8::ff00:42:8329"),
        ("equipo 00:1B:44:11:3A:B7 en red", label::DEVICE_ID, "00:1B:44:11:3A:B7"),
        ("equipo 001b.4411.3ab7 en red", label::DEVICE_ID, "001b.4411.3ab7"),
        ("en 40.416775, -3.703790, vive", label::GEO, "40.416775, -3.703790"),
        ("coche 1234-BCD en la puerta", label::VEHICLE_ID, "1234-BCD"),
        ("coche 1234 BCD en la puerta", label::VEHICLE_ID, "1234 BCD"),
        ("car BD62 XYZ outside", label::VEHICLE_ID, "BD62 XYZ"),
    ] {
        let found = found(text);
        assert!(found.contains(&(label, value.to_owned())), "{text}: {found:?}");
        assert!(found.iter().all(|(_, part)| value.contains(part.as_str())), "{text}: {found:?}");
    }
    for text in [
        "revisar @0215 y @14:10",
        "dosis 1.2.3 mg",
        "desde 300.168.10.254 entra",
        "a las 12:30:15 sale",
        "tension 12.5, 7.5 y Hb 13.42, 9.11",
        "car BD99 XYZ outside",
        "EVA 4/10.Sin fiebre",
        "ratio 1:2:4 final",
        "1234-AEI en la hoja",
        "pH 7.3801, pCO2 40.1234",
    ] {
        assert!(found(text).is_empty(), "{text}: {:?}", found(text));
    }
}

#[test]
fn findings_of_this_layer_are_of_it_and_every_label_is_one_of_the_contract() {
    let text = "DNI 45871203A, tel 612345678, ana@correo.es, NHC 778812, x4471";
    let found = findings(text, Language::Spanish, |context, found| ALL.find(context, found));
    assert!(found.len() >= 5);
    for one in &found {
        assert!(
            one.layer == DetectionLayer::Identifier && label::ALL.contains(&one.label) || one.label == label::NUMBER
        );
        assert!((0.0..=1.0).contains(&one.score));
    }
}

#[test]
fn every_rule_has_shapes_that_fit_a_place_a_label_and_folded_keywords() {
    let families =
        [spain::RULES, mexico::RULES, south_america::RULES, brazil::RULES, us_uk::RULES, money::RULES, vehicles::RULES];
    for rule in families.into_iter().flatten() {
        assert!(label::ALL.contains(&rule.label), "{}", rule.label);
        assert!(!rule.keywords.is_empty() && !rule.shapes.is_empty(), "{}", rule.label);
        for word in rule.keywords {
            read(word, Language::Unknown, |context| {
                assert!(context.view.lower == *word || word.contains('º'), "{word} is folded");
            });
        }
        for shape in rule.shapes {
            let length = rule::IdentifierShape::compile(shape).length();
            assert!((6..=candidates::LONGEST).contains(&length), "{}: {shape}", rule.label);
        }
    }
}
