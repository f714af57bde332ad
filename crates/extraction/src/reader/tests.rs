//! The reader against a plain computation of the same (scripts/reader_reference.py), and its promises for any text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use proptest::prelude::*;

use super::windows::windows;
use super::*;
use anamnesis_neural::file::TensorError;

#[derive(serde::Deserialize)]
struct ReaderReference {
    lines: Vec<ReferenceLine>,
    tokens: Vec<Vec<(u32, usize, usize)>>,
    windows: Vec<ReferenceWindow>,
    tagged: Vec<ReferenceSpan>,
}

#[derive(serde::Deserialize)]
struct ReferenceLine {
    speaker: Option<Speaker>,
    text: String,
}

#[derive(serde::Deserialize)]
struct ReferenceWindow {
    ids: Vec<u32>,
    first: usize,
    last: usize,
    logits: Vec<Vec<f32>>,
}

#[derive(serde::Deserialize)]
struct ReferenceSpan {
    line: usize,
    start: usize,
    end: usize,
    layer: String,
    kind: String,
    probability: f32,
    #[serde(default)]
    attributes: Option<BTreeMap<String, Vec<f32>>>,
}

fn data(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/reader").join(file)
}

fn tiny() -> &'static ClinicalReader {
    static SHARED: OnceLock<ClinicalReader> = OnceLock::new();
    SHARED.get_or_init(|| ClinicalReader::open(&data("tiny.safetensors")).unwrap())
}

fn tiny_bytes() -> Vec<u8> {
    std::fs::read(data("tiny.safetensors")).unwrap()
}

/// A number in the middle between two steps of its row may be rounded either way (`anamnesis_neural::codes`).
const NEAR: f32 = 0.1;
/// So far on the average, by the root of the mean square.
const NEAR_ON_AVERAGE: f32 = 0.01;

/// The reader and its expected results: the random one of the repository, or the one that the environment names.
fn expected() -> (ClinicalReader, ReaderReference) {
    let named = |key| std::env::var_os(key).map(PathBuf::from);
    let (model, reference) = match (named("READER_MODEL"), named("READER_REFERENCE")) {
        (Some(model), Some(reference)) => (model, reference),
        _ => (data("tiny.safetensors"), data("tiny.json")),
    };
    let reference = serde_json::from_slice(&std::fs::read(reference).unwrap()).unwrap();
    (ClinicalReader::open(&model).unwrap(), reference)
}

fn lines(reference: &ReaderReference) -> Vec<ReaderLine<'_>> {
    reference.lines.iter().map(|line| ReaderLine { speaker: line.speaker, text: &line.text }).collect()
}

#[test]
fn lines_are_cut_into_the_pieces_and_bytes_of_the_reference() {
    let (reader, reference) = expected();
    let (tokens, places) = reader.inner.tokenizer.tokens(&lines(&reference));
    assert_eq!(places.len(), reference.tokens.len());
    for ((place, expected), line) in places.into_iter().zip(&reference.tokens).zip(&reference.lines) {
        let got: Vec<_> = tokens[place].iter().map(|token| (token.id, token.start, token.end)).collect();
        assert_eq!(&got, expected, "{:?}", line.text);
    }
}

#[test]
fn windows_and_logits_are_those_of_the_reference() {
    let (reader, reference) = expected();
    let LoadedReader { form, tokenizer, network, .. } = &*reader.inner;
    let (tokens, places) = tokenizer.tokens(&lines(&reference));
    let windows = windows(&places, form.window, form.context);
    assert_eq!(windows.len(), reference.windows.len());
    let mut room = NetworkBuffers::default();
    for (window, expected) in windows.into_iter().zip(&reference.windows) {
        let inside = tokens[window.seen.clone()].iter().map(|token| token.id);
        let ids: Vec<u32> = [form.begin].into_iter().chain(inside).chain([form.end]).collect();
        let first = 1 + window.labelled.start - window.seen.start;
        let labelled = first..first + window.labelled.len();
        assert_eq!((&ids, &labelled), (&expected.ids, &(expected.first..expected.last)));
        let logits = network.logits(&ids, labelled, &mut room);
        assert_eq!(logits.len(), expected.logits.len() * network.columns.width);
        let far: Vec<f32> = logits.iter().zip(expected.logits.iter().flatten()).map(|(a, b)| (a - b).abs()).collect();
        assert!(far.iter().all(|far| *far < NEAR), "{:?}", far.iter().copied().fold(0.0, f32::max));
        let square: f32 = far.iter().map(|far| far * far).sum();
        assert!((square / far.len() as f32).sqrt() < NEAR_ON_AVERAGE, "{}", (square / far.len() as f32).sqrt());
    }
}

#[test]
fn spans_and_their_attributes_are_those_of_the_reference() {
    let (reader, reference) = expected();
    let tagged = reader.read(&lines(&reference)).spans().to_vec();
    assert_eq!(tagged.len(), reference.tagged.len());
    for (got, expected) in tagged.iter().zip(&reference.tagged) {
        assert_eq!(
            (got.line, got.start, got.end, got.layer.key(), &*got.kind),
            (expected.line, expected.start, expected.end, expected.layer.as_str(), expected.kind.as_str())
        );
        assert!((got.probability - expected.probability).abs() < NEAR_ON_AVERAGE);
        assert_eq!(got.attributes.is_some(), expected.attributes.is_some());
        for (group, expected) in expected.attributes.iter().flatten() {
            let shares = got.attributes.as_ref().unwrap().get(group).unwrap();
            assert!(
                shares.len() == expected.len()
                    && shares.iter().zip(expected).all(|(a, b)| (a - b).abs() < NEAR_ON_AVERAGE)
            );
        }
    }
}

#[test]
fn the_same_lines_give_the_same_spans_to_the_last_bit() {
    let (reader, reference) = expected();
    let lines = lines(&reference);
    assert_eq!(reader.read(&lines).spans().to_vec(), reader.clone().read(&lines).spans().to_vec());
}

#[test]
fn the_digits_of_a_surrogate_change_nothing_and_whose_they_are_is_kept() {
    let ids = |text: &str| -> Vec<u32> {
        let (tokens, _) = tiny().inner.tokenizer.tokens(&[ReaderLine { speaker: None, text }]);
        tokens.iter().map(|token| token.id).collect()
    };
    let note = |first: &str, second: &str| format!("[PERSON_{first}] y ([PERSON_{second}]); [DOCTOR_NAME_{first}]: ok");
    assert_eq!(ids(&note("7F3A", "00B1")), ids(&note("1234", "FFFF")));
    assert_ne!(ids(&note("7F3A", "00B1")), ids(&note("7F3A", "7F3A")));
    // Not the form of a surrogate.
    for (one, other) in [("[PERSON_ABC]", "[PERSON_EBC]"), ("[_ABCD]", "[_EBCD]"), ("PERSON_ABCD]", "PERSON_EBCD]")] {
        assert_ne!(ids(one), ids(other), "{one}");
    }
}

#[test]
fn labels_are_called_what_the_file_calls_them() {
    let labels = tiny().labels();
    let kinds = |layer| labels.kinds(layer).iter().map(|kind| &**kind).collect::<Vec<_>>();
    assert_eq!(
        LabelLayer::ALL.map(kinds),
        [vec!["illness", "drug"], vec!["wish"], vec!["dose", "date"], vec!["name", "other"]]
    );
    let tagged = tiny()
        .read(&[ReaderLine { speaker: None, text: "Dolor de cabeza desde ayer; quiere dejar de fumar" }])
        .spans()
        .to_vec();
    let attributes = tagged.iter().find_map(|tag| tag.attributes.as_ref()).unwrap();
    let (value, probability) = attributes.best("when").unwrap();
    assert_eq!(attributes.probability("when", value), Some(probability));
    assert!(attributes.get("when").unwrap().iter().all(|other| *other <= probability));
    assert!(attributes.best("where").is_none() && attributes.probability("said", "perhaps").is_none());
    assert!(tagged.iter().all(|tag| tag.attributes.is_some() == tag.layer.has_attributes()));
}

#[test]
fn no_line_an_empty_line_and_a_line_of_blanks_have_no_span() {
    assert_eq!(tiny().read(&[]).spans().to_vec(), []);
    let blank = |text| ReaderLine { speaker: Some(Speaker::Patient), text };
    assert_eq!(tiny().read(&[blank(""), blank(" \t\u{a0}\u{2028}\u{1f}"), blank("")]).spans().to_vec(), []);
    let tagged =
        tiny().read(&[blank(""), blank("dolor de cabeza desde ayer por la noche"), blank("")]).spans().to_vec();
    assert!(!tagged.is_empty() && tagged.iter().all(|tag| tag.line == 1));
}

/// Properties of spans that hold for any text.
fn hold(lines: &[ReaderLine<'_>], tagged: &[ReaderMention]) {
    for tag in tagged {
        let text = lines[tag.line].text.get(tag.start..tag.end).expect("a span lies on borders of characters");
        assert!(!text.is_empty());
        assert!(tag.probability > 0.0 && tag.probability <= 1.0 + 1e-5);
        for (_, shares) in tag.attributes.iter().flat_map(AttributeScores::iter) {
            assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        }
    }
    assert!(tagged.is_sorted_by_key(|tag| (tag.line, tag.start, tag.end, tag.layer)));
}

#[test]
fn a_line_of_ten_thousand_words_is_read_to_its_end() {
    let long = "dolor de cabeza ñ 😕 ".repeat(2_000);
    let word = "ﬁx".repeat(3_000);
    let lines =
        [ReaderLine { speaker: Some(Speaker::Clinician), text: &long }, ReaderLine { speaker: None, text: &word }];
    let tagged = tiny().read(&lines).spans().to_vec();
    hold(&lines, &tagged);
    let last = |line| tagged.iter().filter(|tag| tag.line == line).map(|tag| tag.end).max().unwrap();
    assert!(last(0) > long.len() - 200 && last(1) > word.len() - 200);
}

#[test]
fn every_token_is_labelled_once_and_no_window_is_too_long() {
    for lengths in [vec![], vec![3], vec![200], vec![34, 34, 1], vec![5, 0, 40, 2, 2, 2, 70, 1, 12, 12, 12]] {
        let mut at = 0;
        let lines: Vec<_> = lengths.iter().map(|&length| (at, at += length, at)).map(|(a, (), z)| a..z).collect();
        let mut next = 0;
        for window in windows(&lines, 48, 12) {
            assert_eq!(window.labelled.start, next);
            assert!(window.labelled.end > next && window.seen.len() <= 46);
            assert!(window.seen.start <= next && window.labelled.end <= window.seen.end);
            assert!(next - window.seen.start <= 12);
            next = window.labelled.end;
        }
        assert_eq!(next, at);
    }
}

#[test]
fn a_file_that_is_no_reader_is_rejected_with_its_defect() {
    let open = |bytes: Vec<u8>| ClinicalReader::from_bytes(Cow::Owned(bytes)).err();
    let missing = ClinicalReader::open(&data("none.safetensors")).err();
    assert_eq!(missing, Some(ReaderError::Unreadable(std::io::ErrorKind::NotFound)));
    assert_eq!(open(b"no model".to_vec()), Some(TensorError::Container.into()));
    assert_eq!(open(b"\x02\0\0\0\0\0\0\0{}".to_vec()), Some(ReaderError::Metadata("layers")));
    // Each change preserves the header's length.
    let changed = |from: &str, to: &str| {
        let mut bytes = tiny_bytes();
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
        open(bytes)
    };
    assert_eq!(changed(r#""heads":"2""#, r#""heads":"0""#), Some(ReaderError::Metadata("heads")));
    assert_eq!(changed(r#""heads":"2""#, r#""heads":"5""#), Some(ReaderError::Metadata("heads")));
    assert_eq!(changed(r#""layers":"2""#, r#""layers":"3""#), Some(TensorError::Missing("layer.2.up".into()).into()));
    assert_eq!(changed(r#""window":"48""#, r#""window":"47""#), Some(ReaderError::Metadata("window")));
    assert_eq!(changed(r#""window":"48""#, r#""window":"14""#), Some(ReaderError::Metadata("context")));
    assert_eq!(changed(r#""bos":"0""#, r#""bos":"x""#), Some(ReaderError::Metadata("bos")));
    assert_eq!(changed("illness drug", "illness,drug"), Some(ReaderError::Metadata("names")));
    assert_eq!(changed("illness drug", "same    same"), Some(ReaderError::Metadata("names")));
    assert_eq!(changed("illness drug", "illnessxdrug"), Some(TensorError::Shape("head.A".into()).into()));
    assert_eq!(changed("said=yes,no", "said=yes;no"), Some(ReaderError::Metadata("attributes")));
    assert_eq!(changed("said=yes,no", "when=yes,no"), Some(ReaderError::Metadata("attributes")));
    assert_eq!(changed(r#""unknown_score":"-"#, r#""unknown_score":"1"#), Some(ReaderError::Vocabulary));
    let mut short = tiny_bytes();
    short.truncate(short.len() - 1);
    assert!(matches!(open(short), Some(ReaderError::Tensors(_))));
    let mut infinite = tiny_bytes();
    let end = infinite.len();
    infinite[end - 4..].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert_eq!(open(infinite), Some(TensorError::Content("head.aB.bias".into()).into()));
}

/// Says how long a reader that the environment names takes for 2 kB; built without optimisation that says little.
#[test]
fn the_time_that_a_named_reader_takes_is_printed() {
    let Some(model) = std::env::var_os("READER_MODEL") else { return };
    let reader = ClinicalReader::open(model.as_ref()).unwrap();
    let text = "Paciente que refiere dolor de cabeza desde hace tres días; toma ibuprofeno 600 mg cada 8 horas.";
    let lines = vec![ReaderLine { speaker: None, text }; 2048 / text.len()];
    for _ in 0..3 {
        let start = std::time::Instant::now();
        let spans = reader.read(&lines).spans().len();
        println!("{} bytes, {spans} spans: {:.1?}", lines.len() * text.len(), start.elapsed());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn spans_of_any_text_lie_on_borders_of_characters_within_their_line(
        texts in proptest::collection::vec(prop_oneof![any::<String>(), "[ a-zñ☐ﬁ½\u{0}-\u{20}😕|.,0-9]{0,80}"], 0..6)
    ) {
        let speakers = [None, Some(Speaker::Patient), Some(Speaker::Unknown)];
        let lines: Vec<ReaderLine<'_>> =
            texts.iter().zip(speakers.iter().cycle()).map(|(text, speaker)| ReaderLine { speaker: *speaker, text }).collect();
        hold(&lines, tiny().read(&lines).spans());
    }

    #[test]
    fn a_file_with_changed_bytes_is_refused_or_read_without_a_panic(at in 0usize..49_000, byte in any::<u8>()) {
        let mut bytes = tiny_bytes();
        bytes[at] = byte;
        if let Ok(reader) = ClinicalReader::from_bytes(Cow::Owned(bytes)) {
            let lines = [ReaderLine { speaker: None, text: "Dolor de cabeza desde ayer" }];
            for tag in reader.read(&lines).spans() {
                prop_assert!(lines[0].text.get(tag.start..tag.end).is_some());
            }
        }
    }
}
