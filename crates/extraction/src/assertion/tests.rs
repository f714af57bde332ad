//! Sentences of our own for every kind of context, in both languages.

use super::*;
use crate::phrase_trie::{PhraseTrie, TrieBuilder};
use crate::structure::{DocumentStructure, SectionTitles};
use anamnesis_text::{Document, Language};

/// Context of the words marked with «…».
fn around(marked: &str) -> MentionContext {
    read(marked, AssertionScopes::mention_context)
}

/// Whether the words marked with «…» are only asked about.
fn asked(marked: &str) -> bool {
    read(marked, AssertionScopes::only_asked)
}

fn read<T>(marked: &str, look: impl Fn(&AssertionScopes, &TokenizedText<'_>, &Range<usize>) -> T) -> T {
    let start = marked.find('«').expect("a mark");
    let text = marked.replace(['«', '»'], "");
    let length = marked[start + '«'.len_utf8()..].find('»').expect("an end");
    let document = Document::plain(text, Language::Unknown);
    static RULES: std::sync::LazyLock<((Cues, SectionTitles), PhraseTrie)> = std::sync::LazyLock::new(|| {
        let mut trie = TrieBuilder::default();
        ((Cues::builtin(&mut trie), SectionTitles::builtin(&mut trie)), trie.build())
    });
    let ((cues, titles), trie) = &*RULES;
    let reading = TokenizedText::new(&document, trie);
    let scopes = AssertionScopes::new(&reading, cues, &DocumentStructure::new(&reading, titles), &|_| None);
    look(&scopes, &reading, &reading.words_at(anamnesis_text::Span::new(start, start + length)))
}

#[test]
fn denials_of_both_languages_negate() {
    for text in [
        "Niega «ideación suicida».",
        "No refiere «alucinaciones» ni «delirios».",
        "Sin «fiebre», tos ni disnea.",
        "Alergias: «penicilina»: no",
        "Ya no tiene «insomnio».",
        "Se descarta «demencia».",
        "El «dolor» ha cedido.",
        "No ha tenido fiebre, «tos» ni mareos.",
        "She denies «anxiety» or panic attacks.",
        "No «fever», chills, or cough.",
        "No fever, chills, or «cough».",
        "Patient without «hallucinations».",
        "Never had «seizures».",
        "I don't have any «headaches».",
        "«Nausea» has resolved.",
        "Suicidal thoughts: «ideation» - none",
    ] {
        assert!(around(text).negated, "{text}");
    }
}

#[test]
fn an_illness_that_is_not_suspected_and_a_clear_result_are_denied() {
    for text in [
        "I do not think this is «schizophrenia».",
        "We don't believe it's an «eating disorder».",
        "Thyroid «cancer» screening was negative.",
        "No creo que esto sea un «infarto».",
        "No impresiona que se trate de una «demencia».",
        "Pensaron en «embolia», pero salió que no.",
    ] {
        assert!(around(text).negated, "{text}");
    }
    for text in [
        "I do think this is «schizophrenia».",
        "Creo que sea lo que sea hay «demencia».",
        "Screening for «cancer» was offered.",
    ] {
        assert!(!around(text).negated, "{text}");
    }
}

#[test]
fn what_only_looks_like_a_denial_does_not_negate() {
    for text in [
        "No solo tiene «ansiedad», también insomnio.",
        "No mejora la «ansiedad».",
        "No fiebre, pero sí «tos».",
        "Niega fiebre aunque refiere «tos».",
        "Sin mejoría de la «depresión».",
        "No hay duda de que tiene «depresión».",
        "Not only «anxiety» but insomnia.",
        "No fever but has a «cough».",
        "Her «depression» is not getting better.",
        "Not sure why the «anxiety» started.",
        "Abdomen blando, sin masas, presenta «dolor».",
    ] {
        assert!(!around(text).negated, "{text}");
    }
}

#[test]
fn doubt_is_not_denial() {
    for text in [
        "No se descarta «demencia».",
        "Posible «depresión».",
        "Sugestivo de «trastorno bipolar».",
        "Sin clara «focalidad».",
        "Probable «depression».",
        "Cannot rule out «bipolar disorder».",
        "«Psicosis»?",
        "It may be «anxiety».",
        "Estamos pensando en un «linfoma».",
        "Dudo entre duelo y «depresión».",
        "Posible «autismo», pendiente de valoración.",
        "Un «lupus» pendiente de confirmación.",
    ] {
        let context = around(text);
        assert!(context.uncertain && !context.negated, "{text}: {context:?}");
    }
}

#[test]
fn past_and_condition_are_distinguished_from_now() {
    for text in ["Antecedentes de «depresión».", "History of «seizures».", "Tuvo «anorexia» en la adolescencia."]
    {
        assert_eq!(around(text).temporality, Temporality::Historical, "{text}");
    }
    for text in [
        "Acudir si presenta «fiebre».",
        "Return if you develop «chest pain».",
        "En caso de «crisis de pánico», llamar.",
    ] {
        assert_eq!(around(text).temporality, Temporality::Hypothetical, "{text}");
    }
    for text in [
        "She had «depression» in the past.",
        "In childhood, «asthma».",
        "I had «panic attacks» years ago, and insomnia now.",
        "«Alcohol use disorder» in sustained remission.",
        "«Asma» en la infancia.",
        "De niño tuvo «asma».",
        "«Trastorno por consumo de alcohol» en remisión.",
    ] {
        assert_eq!(around(text).temporality, Temporality::Historical, "{text}");
    }
    for text in [
        "Tiene «fiebre» desde ayer.",
        "Tengo «asma» desde hace dos años.",
        "Hace dos años que tengo «asma».",
        "Asthma in childhood, now «hypertension».",
        "«Episodio depresivo» en remisión parcial.",
        "«MDD», in partial remission.",
    ] {
        assert_eq!(around(text).temporality, Temporality::Recent, "{text}");
    }
}

#[test]
fn another_persons_illness_is_not_the_patients() {
    for text in ["Su madre tiene «depresión».", "Family history of «schizophrenia».", "My father was «alcoholic»."]
    {
        assert_eq!(around(text).experiencer, Experiencer::Family, "{text}");
    }
    for text in [
        "Mi madre dice que tengo «ansiedad».",
        "Vive con su madre, presenta «ansiedad».",
        "Since the death of her mother she has «insomnia».",
    ] {
        assert_eq!(around(text).experiencer, Experiencer::Patient, "{text}");
    }
}

#[test]
fn a_title_on_a_separate_line_governs_the_lines_below() {
    let text = "Antecedentes familiares:\n- «depresión»\n- diabetes\n\nEnfermedad actual: ansiedad";
    assert_eq!(around(text).experiencer, Experiencer::Family);
    assert_eq!(
        around(&text.replace(['«', '»'], "").replace("actual: ansiedad", "actual: «ansiedad»")).experiencer,
        Experiencer::Patient
    );
}

#[test]
fn who_asks_says_nothing_and_who_does_not_know_doubts() {
    for text in ["Me preguntan si tengo «diabetes».", "They asked me whether I have «asthma».", "[ ] «Asma» [x] Tos"]
    {
        assert!(asked(text), "{text}");
    }
    for text in ["No sé si tengo «diabetes».", "I can't remember if I had «asthma».", "Me pregunto si es «ansiedad»."]
    {
        assert!(!asked(text) && around(text).uncertain, "{text}");
    }
    for text in ["Si tuviera «diabetes» lo sabría.", "Even if she was «diabetic», I would stay."] {
        assert_eq!(around(text).temporality, Temporality::Hypothetical, "{text}");
    }
    for text in
        ["[x] «Asma»", "Sí, tengo «asma».", "Me preguntan si duermo. Tengo «insomnio».", "Dice que tiene «asma»."]
    {
        assert!(!asked(text) && around(text) == MentionContext::default(), "{text}");
    }
}

#[test]
fn the_answer_to_a_reported_question_makes_it_a_statement() {
    let denied = "Me preguntó si tenía «fiebre» y le dije que no.";
    assert!(!asked(denied) && around(denied).negated);
    let stated = "They asked if I had «asthma», and I said yes.";
    assert!(!asked(stated) && !around(stated).negated);
}

#[test]
fn what_has_not_come_back_is_denied() {
    for text in [
        "«Vertigo» has not troubled him since the autumn.",
        "The «hot flushes» have let go of me at last, they have packed their bags.",
        "«Akathisia» not elicited today.",
        "He disputes the suggestion that he is «jealous».",
        "«Migrañas» como las de antes ya no he vuelto a tener.",
        "«Vértigo» no tengo, gracias a Dios.",
        "Hace meses que no me da la «ciática».",
        "La «tristeza» se evaporó con el verano.",
        "Nadie del turno ha observado «convulsiones».",
    ] {
        assert!(around(text).negated, "{text}");
    }
}

#[test]
fn a_denial_of_something_else_leaves_the_complaint() {
    for text in [
        "He cannot work on account of his «vertigo».",
        "No treatment so far for her «endometriosis».",
        "I never said the «itching» was better.",
        "It is no secret that I have «gout».",
        "No hay manera de que se calme este «picor».",
        "No duermo una noche sin «picor».",
        "No subo ni las escaleras con esta «bronquitis».",
        "No tengo fuerzas y la «tos» sigue.",
    ] {
        assert!(!around(text).negated, "{text}");
    }
}

#[test]
fn a_time_of_life_or_an_end_puts_a_complaint_into_the_past() {
    for text in [
        "When I was twelve I had «mumps».",
        "She wet the bed, had «night terrors» too, until she was nine.",
        "«Hepatitis» in the eighties while abroad.",
        "He had «whooping cough» the winter we moved.",
        "A los siete años tuve «paperas».",
        "En los noventa cursó con «hepatitis».",
        "La «tosferina» la pasé en segundo de primaria.",
    ] {
        assert_eq!(around(text).temporality, Temporality::Historical, "{text}");
    }
    for text in [
        "Since I was twelve I have had «migraine».",
        "«Asthma», diagnosed at seven, on two inhalers.",
        "Desde los siete años tengo «asma».",
    ] {
        assert_eq!(around(text).temporality, Temporality::Recent, "{text}");
    }
}
