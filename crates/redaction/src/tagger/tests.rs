use super::vetoes::is_vetoed;
use super::*;
use crate::document::DocumentContext;
use crate::form_fields::OpenFormField;
use crate::test_support::read;
use anamnesis_text::Language::{self, English, Spanish};

/// A finding of the model: the tokens of a part of the text.
fn learned(context: &DocumentContext<'_>, part: &str, kind: &'static str, score: f64) -> TaggedSpan {
    let start = context.view.plain.find(part).unwrap_or_else(|| panic!("{part} stands in the text"));
    let span = Span::new(start, start + part.len());
    let (first, end) = (context.token_at(span.start), context.token_at(span.end));
    TaggedSpan { finding: PiiFinding::new(span, kind, "learned", score, DetectionLayer::Entity), first, end }
}

fn rule(
    context: &DocumentContext<'_>,
    part: &str,
    kind: &'static str,
    score: f64,
    layer: DetectionLayer,
) -> PiiFinding {
    PiiFinding { score, layer, recognizer: "rule", ..learned(context, part, kind, score).finding }
}

fn kind(name: &str) -> usize {
    KINDS.iter().position(|known| *known == name).expect("a kind of the model")
}

#[test]
fn what_leads_to_a_value_or_follows_it_is_cut_off() {
    for (name, text, kept) in [
        (label::PERSON, "Soy Zuriel", "Zuriel"),
        (label::PERSON, "Dr. Zuriel", "Zuriel"),
        (label::PERSON, "el doctor Zuriel", "Zuriel"),
        (label::PERSON, "doctor", "doctor"),
        (label::PERSON, "Dr.", "Dr."),
        (label::PERSON, "Oiga Zuriel", "Zuriel"),
        (label::PERSON, "Zuriel Brazt", "Zuriel Brazt"),
        (label::PERSON, "Chelsea's inhaler technique", "Chelsea's"),
        (label::PERSON, "Chelsea's Brazt", "Chelsea's Brazt"),
        (label::NUMBER, "folio 4471 ab", "4471 ab"),
        (label::NUMBER, "4471 hojas", "4471"),
        (label::NUMBER, "uno dos tres casas", "uno dos tres"),
        (label::NUMBER, "uno casas", "uno casas"),
        (label::EMAIL, "es ana@correo.es hoy", "ana@correo.es"),
        (label::EMAIL, "ana arroba gmail punto com digame", "ana arroba gmail punto com"),
        (label::EMAIL, "ana arroba gmail", "ana arroba gmail"),
        (label::LOCATION, "el doctor Zuriel", "el doctor Zuriel"),
    ] {
        read(text, Language::Unknown, |context| {
            let (first, end) = boundaries::trimmed(context, kind(name), 0, context.tokens.len());
            let span = Span::new(context.tokens[first].span.start, context.tokens[end - 1].span.end);
            assert_eq!(span.slice(&context.view.plain), kept, "{name}: {text}");
        });
    }
}

#[test]
fn some_findings_are_always_rejected_and_a_rule_saves_some_of_them() {
    let barred = |text: &str, part: &str, kind, ruled| {
        read(text, English, |context| is_vetoed(context, &learned(context, part, kind, 0.99), ruled))
    };
    for (text, part, kind, with_rule) in [
        ("Call 717 003 717 when low.", "717 003", label::PHONE, true),
        ("Call 741741 when low.", "741741", label::NUMBER, true),
        ("The eye OS is fine.", "OS", label::POSTAL_CODE, true),
        ("The drug 16 mg is fine.", "16", label::DATE, true),
        ("See NCT 04280705 for it.", "04280705", label::NUMBER, true),
        ("See code: 99213 of icd code 99215.", "99215", label::NUMBER, true),
        ("Open 24/7 for you.", "24/7", label::DATE, false),
        ("Fasting 16/8 again.", "16/8", label::DATE, false),
        ("History of GERD, HLD and more.", "GERD, HLD", label::ORGANIZATION, false),
        ("Continue pain and more.", "Continue", label::PERSON, false),
        ("Call the Samaritans when low.", "Samaritans", label::ORGANIZATION, false),
    ] {
        assert!(barred(text, part, kind, false), "{text}");
        assert_eq!(barred(text, part, kind, true), with_rule, "{text}");
    }
    for (text, part, kind) in [
        ("Call 612 345 678 when low.", "612 345 678", label::PHONE),
        ("The code SW1A 1AA is fine.", "SW1A 1AA", label::POSTAL_CODE),
        ("Seen on 16/8 again.", "16/8", label::DATE),
        ("Seen by Zuriel and more.", "Zuriel", label::PERSON),
        ("Moved to Zarramonte and more.", "Zarramonte", label::LOCATION),
    ] {
        assert!(!barred(text, part, kind, false), "{text}");
    }
}

#[test]
fn next_to_a_replacement_only_findings_without_context_count() {
    let barred = |part: &str, kind| {
        let text = format!("then [PERSON_7F3A] {part} again and again");
        read(&text, English, |context| is_vetoed(context, &learned(context, part, kind, 0.99), false))
    };
    for (part, kind, stands) in [
        ("Zuriel", label::PERSON, false),
        ("Jimenez", label::PERSON, true),
        ("Chicago", label::LOCATION, true),
        ("sister", label::FAMILY, false),
        ("yesterday", label::DATE, false),
        ("3/2019", label::DATE, true),
        ("May", label::DATE, true),
        ("44718", label::NUMBER, true),
        ("ana@b", label::EMAIL, true),
        ("ana", label::EMAIL, false),
    ] {
        assert_eq!(!barred(part, kind), stands, "{part}");
    }
}

#[test]
fn rules_of_sure_layers_are_not_questioned_and_unsure_ones_go_where_the_model_sees_nothing() {
    let text = "uno Zuriel Brazt dos";
    for (layer, score, odds, stays) in [
        (DetectionLayer::Identity, 0.1, -9.0, true),
        (DetectionLayer::Identifier, 0.9, -9.0, true),
        (DetectionLayer::Identifier, 0.6, -9.0, false),
        (DetectionLayer::Entity, 0.7, -9.0, true),
        (DetectionLayer::Entity, 0.65, -9.0, false),
        (DetectionLayer::Entity, 0.6, -2.9, true),
        (DetectionLayer::Residual, 0.5, -9.0, false),
    ] {
        read(text, Spanish, |context| {
            let found = vec![rule(context, "Zuriel", label::PERSON, score, layer)];
            let settled = merge::merge_with_rules(context, found, Vec::new(), &[odds; 4]);
            assert_eq!(settled.len(), usize::from(stays), "{layer:?} {score} {odds}");
        });
    }
}

#[test]
fn a_common_finding_has_the_span_of_the_model_and_the_value_of_the_rule() {
    read("uno Zuriel 4471 dos", Spanish, |context| {
        let number = vec![rule(context, "4471", "ES_DNI", 0.8, DetectionLayer::Identifier)];
        let settled =
            merge::merge_with_rules(context, number, vec![learned(context, "4471", label::NUMBER, 0.6)], &[0.0; 4]);
        assert_eq!((settled.len(), settled[0].label, settled[0].score), (1, "ES_DNI", 0.8));
        let mut dated = rule(context, "4471", label::DATE, 0.85, DetectionLayer::Entity);
        dated.value = Some(anamnesis_core::side_value::SideValue::Age(4));
        let settled =
            merge::merge_with_rules(context, vec![dated], vec![learned(context, "4471", label::DATE, 0.9)], &[0.0; 4]);
        assert!(settled.len() == 1 && settled[0].value.is_some() && settled[0].score == 0.9);
        let wide = |odds: [f32; 4]| {
            let found = vec![rule(context, "Zuriel 4471", label::PERSON, 0.8, DetectionLayer::Entity)];
            let settled =
                merge::merge_with_rules(context, found, vec![learned(context, "Zuriel", label::PERSON, 0.9)], &odds);
            settled.iter().map(|one| one.span.slice(&context.view.plain).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(wide([0.0; 4]), ["4471", "Zuriel"], "the rest that may be something");
        assert_eq!(wide([0.0, 5.0, -1.5, 0.0]), ["Zuriel"], "the rest that is nothing");
    });
}

#[test]
fn what_the_policy_keeps_does_not_keep_what_a_rule_took() {
    read("uno mama Zuriel dos", Spanish, |context| {
        let settled = |score| {
            let found = vec![rule(context, "Zuriel", label::PERSON, score, DetectionLayer::Entity)];
            let mut labels: Vec<_> = merge::merge_with_rules(
                context,
                found,
                vec![learned(context, "mama Zuriel", label::FAMILY, 0.9)],
                &[5.0; 4],
            )
            .iter()
            .map(|one| one.label)
            .collect();
            labels.sort_unstable();
            labels
        };
        assert_eq!(settled(0.8), [label::FAMILY, label::PERSON]);
        assert_eq!(settled(0.6), [label::FAMILY], "a rule that is unsure gives way");
    });
}

#[test]
fn rules_support_a_finding_where_they_overlap_except_generic_ones() {
    read("uno Zuriel Brazt dos", Spanish, |context| {
        let of = |kind, layer| evidence::RuleSpans::from_findings(&[rule(context, "Zuriel", kind, 0.8, layer)]);
        let at = |part: &str| learned(context, part, label::PERSON, 0.8).finding.span;
        let ruled = of(label::PERSON, DetectionLayer::Entity);
        assert!(ruled.meets(at("Zuriel")) && ruled.meets(at("Zuriel Brazt")) && !ruled.meets(at("Brazt")));
        assert!(!ruled.meets(at("uno")));
        assert!(!of(label::FAMILY, DetectionLayer::Entity).meets(at("Zuriel")));
        assert!(!of(label::PERSON, DetectionLayer::Residual).meets(at("Zuriel")));
    });
}

#[test]
fn a_day_and_a_month_count_after_a_word_of_time() {
    let day = |text: &str, part: &str| {
        read(text, English, |context| evidence::is_day(context, &learned(context, part, label::DATE, 0.9)))
    };
    for (text, part, is) in [
        ("seen on 3/18 here", "3/18", true),
        ("seen on 12/31 here", "12/31", true),
        ("seen on 31/12 here", "31/12", true),
        ("seen on 13/32 here", "13/32", false),
        ("seen on 13/31 here", "13/31", false),
        ("scored 3/18 here", "3/18", false),
        ("the 3/18 visit here", "3/18", true),
        ("seen on 3/18/2019 here", "3/18/2019", false),
        ("seen on 3.18 here", "3.18", false),
    ] {
        assert_eq!(day(text, part), is, "{text}");
    }
}

#[test]
fn lists_and_context_support_names_and_oppose_things() {
    let speaks = |text: &str, part: &str, kind| {
        read(text, English, |context| evidence::has_evidence(context, &learned(context, part, kind, 0.8)))
    };
    for (text, part, kind, for_it) in [
        ("Today Mr. Zuriel came to the ward.", "Zuriel", label::PERSON, true),
        ("Today Pedro Jimenez came to the ward.", "Pedro Jimenez", label::PERSON, true),
        ("Today the ward came in remission.", "remission", label::LOCATION, false),
        ("Today she moved to Zarramonte with him.", "Zarramonte", label::LOCATION, true),
        ("Today a Penrose drain was placed here.", "Penrose drain", label::PERSON, false),
        ("Today at 5 Zarra street she fell.", "5 Zarra street", label::ADDRESS, true),
        ("Handoff at 1900 by the team here.", "1900", label::DATE, false),
        ("Handoff at 02:15 by the team here.", "02:15", label::DATE, false),
        ("Scored 27/30 by the team here.", "27/30", label::DATE, false),
        ("Seen in march by the team here.", "march", label::DATE, true),
        ("Call 612 345 by the team here.", "612 345", label::PHONE, true),
    ] {
        assert_eq!(speaks(text, part, kind), for_it, "{text}");
    }
    assert!(read("uno dos tres 5", Spanish, evidence_is_short) && !read("a b c d e", Spanish, evidence_is_short));
}

fn evidence_is_short(context: &DocumentContext<'_>) -> bool {
    evidence::is_short(context)
}

#[test]
#[allow(clippy::too_many_lines)] // a table of lines
fn context_distinguishes_a_person_an_organisation_and_a_thing() {
    type Look = fn(&DocumentContext<'_>, &TaggedSpan) -> bool;
    let table: &[(&str, Look, &str, &str, &str, f64, bool)] = &[
        ("subject", person_evidence::has_person_context, "Pedro denies pain.", "Pedro", label::PERSON, 0.8, true),
        ("unsure", person_evidence::has_person_context, "Pedro denies pain.", "Pedro", label::PERSON, 0.7, false),
        ("field", person_evidence::has_person_context, "Surgeon: Oh", "Oh", label::PERSON, 0.8, true),
        ("no field", person_evidence::has_person_context, "Colour: Oh", "Oh", label::PERSON, 0.8, false),
        ("bracket", person_evidence::has_person_context, "the Kit (PT) came", "Kit", label::PERSON, 0.8, true),
        ("parting", person_evidence::has_person_context, "see you. Thx, Jo", "Jo", label::PERSON, 0.8, true),
        (
            "aged",
            person_evidence::has_person_context,
            "a Temperance Ogilvie, 34F here",
            "Temperance Ogilvie",
            label::PERSON,
            0.8,
            true,
        ),
        (
            "not aged",
            person_evidence::has_person_context,
            "a Temperance Ogilvie, 34 tablets",
            "Temperance Ogilvie",
            label::PERSON,
            0.8,
            false,
        ),
        ("initials", person_evidence::has_person_context, "then R.K. denies pain", "R.K", label::PERSON, 0.8, true),
        ("agent", person_evidence::has_person_context, "Seen by Okonkwo in it", "Okonkwo", label::PERSON, 0.9, true),
        (
            "house",
            person_evidence::is_organization_field,
            "Pharmacy: Corner Drug",
            "Corner Drug",
            label::ORGANIZATION,
            0.8,
            true,
        ),
        (
            "no house",
            person_evidence::is_organization_field,
            "Colour: Corner Drug",
            "Corner Drug",
            label::ORGANIZATION,
            0.8,
            false,
        ),
        (
            "title",
            organization_evidence::is_title,
            "works for Weather Decision daily",
            "Weather Decision",
            label::ORGANIZATION,
            0.7,
            true,
        ),
        (
            "no title",
            organization_evidence::is_title,
            "works for Weather Decision daily",
            "Weather Decision",
            label::ORGANIZATION,
            0.6,
            false,
        ),
        (
            "at",
            organization_evidence::is_organization,
            "labs at Quest. Then Ana and Bo came",
            "Quest",
            label::ORGANIZATION,
            0.9,
            true,
        ),
        (
            "not at",
            organization_evidence::is_organization,
            "labs of Quest. Then Ana and Bo came",
            "Quest",
            label::ORGANIZATION,
            0.9,
            false,
        ),
        (
            "language",
            organization_evidence::is_organization,
            "speaks in Tagalog. Then Ana and Bo came",
            "Tagalog",
            label::LOCATION,
            0.9,
            false,
        ),
        (
            "lower",
            organization_evidence::is_lowercase_organization,
            "known to north county outreach",
            "north county outreach",
            label::ORGANIZATION,
            0.8,
            true,
        ),
        (
            "corner",
            organization_evidence::is_corner,
            "hit at Canal and Lafayette today",
            "Canal and Lafayette",
            label::ADDRESS,
            0.8,
            true,
        ),
        (
            "no corner",
            organization_evidence::is_corner,
            "hit at canal and Lafayette today",
            "canal and Lafayette",
            label::ADDRESS,
            0.8,
            false,
        ),
        ("abbreviated", false_positives::is_abbreviated, "exam AOX, MAE, fine here", "MAE", label::PERSON, 0.8, true),
        ("alone", false_positives::is_abbreviated, "exam aox, MAE, fine here", "MAE", label::PERSON, 0.8, false),
        ("small", false_positives::is_abbreviated, "exam AOX, Mae, fine here", "Mae", label::PERSON, 0.8, false),
        ("quality", false_positives::is_quality, "Eve of surgery with Ana here", "Eve", label::PERSON, 0.8, true),
        ("thing", false_positives::is_thing, "the Penrose drain is here", "Penrose drain", label::PERSON, 0.8, true),
        ("people", false_positives::is_thing, "the Irish folk is here", "Irish", label::PERSON, 0.8, true),
        ("person", false_positives::is_thing, "the Okonkwo folk is here", "Okonkwo", label::PERSON, 0.8, false),
        ("scale", false_positives::is_scale, "then Rome IV was met", "Rome IV", label::ADDRESS, 0.8, true),
        ("no scale", false_positives::is_scale, "then Zarra 4 was met", "Zarra 4", label::ADDRESS, 0.8, false),
    ];
    for (name, look, text, part, kind, score, holds) in table {
        read(text, English, |context| {
            assert_eq!(look(context, &learned(context, part, kind, *score)), *holds, "{name}: {text}");
        });
    }
}

#[test]
fn rules_that_took_a_scale_for_a_name_are_doubted() {
    let doubted = |text: &str, part: &str, recognizer: &'static str| {
        read(text, English, |context| {
            let found = PiiFinding { recognizer, ..rule(context, part, label::PERSON, 0.65, DetectionLayer::Entity) };
            false_positives::is_doubtful(context, &found)
        })
    };
    assert!(doubted("Seen for Ann Arbor IIIB today", "Ann Arbor", "name"));
    assert!(doubted("Fontaine IIb, Rutherford 3", "Rutherford", "name"));
    assert!(!doubted("Seen for Okonkwo IIIB today", "Okonkwo", "field") && !doubted("Okonkwo came", "Okonkwo", "name"));
}

#[test]
fn a_form_gives_the_tokens_after_its_colon_the_name_of_their_field() {
    let fields = |text: &str| {
        read(text, Spanish, |context| {
            token_features(context, &[]).iter().map(|token| token.field != 0).collect::<Vec<_>>()
        })
    };
    assert_eq!(fields("nombre: Ana Gil\nAna"), [false, false, true, true, false, false]);
    assert_eq!(fields("a b c d e: Ana"), [false; 7], "too many words for the name of a field");
    assert_eq!(fields("x. nombre: Ana"), [false, false, false, false, true]);
    read("nombre: Ana Gil", Spanish, |context| {
        let mut open_field = OpenFormField::default();
        open_field.pass(&context.view, &context.tokens[..3]);
        let part = context.part(Span::new(8, 15), open_field);
        let (whole, after) = (token_features(context, &[]), token_features(&part, &[]));
        assert_eq!(after, whole[2..], "a part of a text reads as the whole does");
    });
}

#[test]
fn what_rules_found_marks_its_tokens_and_a_wider_finding_wins() {
    read("uno Zuriel Brazt dos", Spanish, |context| {
        let (wide, narrow) = (
            rule(context, "Zuriel Brazt", label::PERSON, 0.8, DetectionLayer::Entity),
            rule(context, "Brazt", label::LOCATION, 0.8, DetectionLayer::Entity),
        );
        let marks: Vec<u8> = token_features(context, &[wide, narrow]).iter().map(|token| token.rule).collect();
        assert_eq!(marks, [0, 1, 2, 0], "begins and goes on");
    });
    for (name, known) in [
        (label::GREAT_AGE, label::AGE),
        (label::HANDLE, label::EMAIL),
        (label::URL, label::EMAIL),
        ("ES_DNI", label::NUMBER),
        (label::PERSON, label::PERSON),
    ] {
        assert_eq!(kind_for(name).map(usize::from), Some(kind(known)), "{name}");
    }
}

#[test]
fn the_form_of_a_token_distinguishes_words_numbers_and_everyday_speech() {
    read("La tos de Ana, 44 y 4471 NASA", Spanish, |context| {
        let list = token_features(context, &[]);
        let words: Vec<bool> = list.iter().map(TokenFeatures::is_word).collect();
        assert_eq!(words, [true, true, true, true, false, false, true, false, true]);
        let large: Vec<bool> = list.iter().map(TokenFeatures::is_capitalized).collect();
        assert_eq!(large, [true, false, false, true, false, false, false, false, true]);
        let plain: Vec<bool> = list.iter().map(TokenFeatures::is_plain).collect();
        assert_eq!(plain, [false, true, true, false, true, true, true, false, false]);
    });
}

#[test]
fn a_score_grows_with_the_odds_within_its_bounds_and_an_age_is_judged_by_its_years() {
    assert_eq!((certainty(&[0.0]), certainty(&[-9.0]), certainty(&[90.0])), (0.5, 0.5, 0.99));
    assert!(certainty(&[1.0]) < certainty(&[2.0]) && certainty(&[1.0, 3.0]) == certainty(&[2.0]));
    read("47 y 94", Spanish, |context| {
        assert_eq!(label_of(context, kind(label::AGE), Span::new(0, 2)), label::AGE);
        assert_eq!(label_of(context, kind(label::AGE), Span::new(5, 7)), label::GREAT_AGE);
        assert_eq!(label_of(context, kind(label::DATE), Span::new(5, 7)), label::DATE);
    });
}

#[test]
fn the_models_of_the_program_read_names_that_no_list_has() {
    let tagger = Tagger::builtin().unwrap();
    let found = |text: &str| {
        read(text, English, |context| {
            let found = tagger.find(context, Vec::new(), &mut ScoreCache::default());
            found.into_iter().map(|one| one.span.slice(&context.view.plain).to_owned()).collect::<Vec<_>>()
        })
    };
    assert!(found("I spoke with Mr. Zuriel Okampo about his cough today.").concat().contains("Okampo"));
    assert!(found("4471 882").is_empty(), "no prose");
    assert!(found("The cough is dry and the chest is clear on both sides.").is_empty());
}
