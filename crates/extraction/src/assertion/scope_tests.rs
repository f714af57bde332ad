//! What must hold of the scope of a cue whatever surrounds it, in both languages.

use crate::structure::{DocumentStructure, SectionTitles};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;
use crate::phrase_trie::{PhraseTrie, TrieBuilder};
use anamnesis_text::{Document, Language};

static RULES: std::sync::LazyLock<((Cues, SectionTitles), PhraseTrie)> = std::sync::LazyLock::new(|| {
    let mut trie = TrieBuilder::default();
    ((Cues::builtin(&mut trie), SectionTitles::builtin(&mut trie)), trie.build())
});

/// The context of each of these words at their first place in the text.
fn around(text: &str, words: &[&str]) -> Vec<MentionContext> {
    let document = Document::plain(text, Language::Unknown);
    let ((cues, titles), trie) = &*RULES;
    let reading = TokenizedText::new(&document, trie);
    let scopes = AssertionScopes::new(&reading, cues, &DocumentStructure::new(&reading, titles), &|_| None);
    let place = |word: &&str| {
        let at = document.text.find(*word).expect("the word stands in the text");
        scopes.mention_context(&reading, &reading.words_at(anamnesis_text::Span::new(at, at + word.len())))
    };
    words.iter().map(place).collect()
}

const SPANISH: [&str; 8] = ["fiebre", "tos", "insomnio", "ansiedad", "diarrea", "temblor", "vértigo", "cefalea"];
const ENGLISH: [&str; 8] = ["fever", "cough", "insomnia", "anxiety", "diarrhea", "tremor", "vertigo", "headache"];

/// Denials that open a list, by language.
fn denial() -> impl Strategy<Value = (&'static str, bool)> {
    select(vec![
        ("Niega ", true),
        ("No refiere ", true),
        ("Sin ", true),
        ("No presenta ", true),
        ("Denies ", false),
        ("No ", false),
        ("Without ", false),
        ("She denies ", false),
    ])
}

fn symptoms(spanish: bool) -> Vec<&'static str> {
    if spanish { SPANISH.to_vec() } else { ENGLISH.to_vec() }
}

fn listed(words: &[&str], spanish: bool) -> String {
    let (last, before) = words.split_last().expect("a list is not empty");
    let joint = if spanish { " ni " } else { " or " };
    if before.is_empty() { (*last).to_owned() } else { format!("{}{joint}{last}", before.join(", ")) }
}

fn a_list() -> impl Strategy<Value = (&'static str, bool, Vec<&'static str>)> {
    denial().prop_flat_map(|(cue, spanish)| {
        (Just(cue), Just(spanish), subsequence(symptoms(spanish), 1..=4).prop_shuffle())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_denial_reaches_every_member_of_its_list((cue, spanish, words) in a_list()) {
        let text = format!("{cue}{}.", listed(&words, spanish));
        prop_assert!(around(&text, &words).iter().all(|context| context.negated), "{text}");
    }

    #[test]
    fn a_denial_ends_where_the_speaker_turns(
        (cue, spanish, words) in a_list(), other in 0usize..8,
    ) {
        let kept = symptoms(spanish)[other];
        prop_assume!(!words.contains(&kept));
        let turn = if spanish { ", pero presenta " } else { ", but reports " };
        let text = format!("{cue}{}{turn}{kept}.", listed(&words, spanish));
        prop_assert!(around(&text, &words).iter().all(|context| context.negated), "{text}");
        prop_assert_eq!(around(&text, &[kept])[0], MentionContext::default(), "{}", text);
    }

    #[test]
    fn no_denial_crosses_the_end_of_its_sentence((cue, spanish, words) in a_list(), other in 0usize..8) {
        let kept = symptoms(spanish)[other];
        prop_assume!(!words.contains(&kept));
        let says = if spanish { "Presenta" } else { "Reports" };
        for text in [
            format!("{cue}{}. {says} {kept}.", listed(&words, spanish)),
            format!("{says} {kept}. {cue}{}.", listed(&words, spanish)),
        ] {
            prop_assert_eq!(around(&text, &[kept])[0], MentionContext::default(), "{}", text);
        }
    }

    #[test]
    fn case_and_missing_accents_change_nothing((cue, spanish, words) in a_list()) {
        let text = format!("{cue}{}.", listed(&words, spanish));
        let plain = anamnesis_text::fold(&text);
        let folded: Vec<String> = words.iter().map(|word| anamnesis_text::fold(word)).collect();
        let folded: Vec<&str> = folded.iter().map(String::as_str).collect();
        let shouted: Vec<String> = words.iter().map(|word| word.to_uppercase()).collect();
        let shouted: Vec<&str> = shouted.iter().map(String::as_str).collect();
        prop_assert_eq!(around(&text, &words), around(&plain, &folded), "{}", plain);
        prop_assert_eq!(around(&text, &words), around(&text.to_uppercase(), &shouted), "{}", text);
    }

    #[test]
    fn what_is_said_of_a_relative_stays_with_the_relative(
        relative in select(vec![("Su madre tiene ", true), ("Mi hermano tiene ", true), ("My father has ", false), ("Her sister has ", false)]),
        word in 0usize..8, own in 0usize..8,
    ) {
        prop_assume!(word != own);
        let (opening, spanish) = relative;
        let (theirs, own) = (symptoms(spanish)[word], symptoms(spanish)[own]);
        let i_have = if spanish { "Yo tengo" } else { "I have" };
        let text = format!("{opening}{theirs}. {i_have} {own}.");
        let read = around(&text, &[theirs, own]);
        prop_assert_eq!(read[0].experiencer, Experiencer::Family, "{}", text);
        prop_assert_eq!(read[1], MentionContext::default(), "{}", text);
    }

    /// Whatever cues surround it, in whatever order: a context is found, the same one each time.
    #[test]
    fn no_order_of_cues_makes_a_scope_fail(
        parts in proptest::collection::vec(select(vec![
            "no", "sin", "niega", "pero", "ni", "posible", "antecedentes de", "si", "su madre", "no se descarta", ",", ".", "?", "ya no",
            "denies", "but", "or", "without", "history of", "if", "her mother", "cannot rule out", "not only", ":", "\n", "tos", "cough",
        ]), 0..40),
    ) {
        let text = format!("{} fiebre {}", parts.join(" "), parts.join(" "));
        prop_assert_eq!(around(&text, &["fiebre"]), around(&text, &["fiebre"]));
    }
}
