use proptest::prelude::*;

use super::*;
use crate::{CurrentValues, Entity, ExtractionInput, Extractor};
use anamnesis_text::{Document, Language};

fn file(text: &str) -> Result<CustomLexicon, LexiconError> {
    CustomLexicon::read("own.tsv".to_owned(), text.as_bytes())
}

fn wrong(text: &str) -> String {
    file(text).unwrap_err().to_string()
}

fn extension(texts: &[&str]) -> LexiconExtension {
    LexiconExtension { files: texts.iter().map(|text| file(text).unwrap()).collect() }
}

const DRUGS: &str = "# list: drugs\n# version: clinic-1\nssri\tzumbatrol\t-\tzumbatrol | zumba{,s}\n";

fn found(extractor: &Extractor, text: &str) -> Vec<Entity> {
    extractor.extract(&ExtractionInput::new(&Document::plain(text, Language::Unknown))).entities
}

#[test]
fn a_medicine_that_a_clinic_added_is_read_with_its_dose_and_context() {
    let own = Extractor::extended(&extension(&[DRUGS]));
    let text = "Toma Zumbatrol 50 mg al día. Ya no toma sertralina.";
    let entities = found(&own, text);
    assert_eq!((entities[0].value.as_str(), entities[0].dose.as_deref()), ("zumbatrol", Some("50 mg")));
    assert_eq!(CurrentValues::from_entities(text, &entities).medications, ["zumbatrol"]);
    let built_in = found(&Extractor::builtin(), text);
    assert!(built_in.iter().all(|entity| entity.value != "zumbatrol") && built_in.len() + 1 == entities.len());
}

#[test]
fn every_list_can_be_taught() {
    let own = extension(&[
        "# list: clinical\n# version: 1\ncondition\tgrey sky sickness\tF43.8\tgrey sky {sickness,blues}\n",
        "# list: allergens\n# version: 1\nsubstance\tzumba nut\t-\tzumba nut{,s}\n",
        "# list: facts\n# version: 1\nrelationship\tguide\t-\tmy zumba guide\n",
        "# list: themes\n# version: 1\nwork\tzumba shift{,s}\n",
        "# list: sentiment\n# version: 1\nnegative\tzumbed out\n",
        "# list: patterns\n# version: 1\nblaming\tthe zumba did it\n",
        "# list: cues\n# version: 1\nneg\tfwd\t6\tlist\tzumbaless of\n",
        "# list: reactions\n# version: 1\nallergic\tzumba spots\t-\tzumba spots\n",
    ]);
    let text = "Grey sky blues. Allergic to zumba nuts. My zumba guide says the zumba did it. I am zumbed out by zumba shifts. \
                Zumbaless of fever and cough.";
    let document = Document::plain(text, Language::English);
    let read = Extractor::extended(&own).extract(&ExtractionInput::new(&document));
    let has = |value: &str| read.entities.iter().find(|entity| entity.value == value);
    assert_eq!(has("grey sky sickness").unwrap().code, Some("F43.8"));
    assert!(has("zumba nut").is_some() && has("guide").is_some());
    assert!(has("fever").unwrap().context.negated && has("cough").unwrap().context.negated);
    assert!(read.themes.contains(&"work") && read.hypotheses.iter().any(|h| h.text == "possible blaming"));
    assert_eq!(read.sentiment.code(), "negative");
    let before = Extractor::builtin().extract(&ExtractionInput::new(&document));
    assert!(before.entities.len() < read.entities.len() && before.hypotheses.is_empty());
}

#[test]
fn a_phrase_that_a_clinic_added_precedes_the_programs_and_a_longer_one_precedes_both() {
    let own = extension(&["# list: drugs\n# version: 2\nsnri\thouse mixture\t-\tsertraline | tylenol house blend\n"]);
    let read = Extractor::extended(&own);
    let values = |text: &str| found(&read, text).into_iter().map(|e| e.value).collect::<Vec<_>>();
    assert_eq!(values("Takes sertraline 50 mg."), ["house mixture"]);
    assert_eq!(values("Takes tylenol house blend."), ["house mixture"]);
    assert_eq!(values("Takes zoloft 50 mg."), ["sertraline"]);
}

#[test]
fn written_out_or_next_to_the_serialized_trie_the_same_is_found() {
    let own = extension(&[DRUGS, "# list: cues\n# version: 1\nneg\tfwd\t6\tlist\tnada de\n"]);
    let (printed, written) = (Extractor::from_serialized_trie(&own).unwrap(), Extractor::written_out(&own));
    for text in ["Toma zumbas 5 mg, nada de fiebre.", "Sin zumbatrol ni litio.", "No sé. Zumba."] {
        let document = Document::plain(text, Language::Spanish);
        let input = ExtractionInput::new(&document);
        assert_eq!(printed.extract(&input), written.extract(&input), "{text}");
    }
    assert_eq!(printed.version(), written.version());
}

#[test]
fn the_version_covers_each_file_and_every_byte_of_it() {
    let version = |texts: &[&str]| Extractor::extended(&extension(texts)).version().to_owned();
    let one = version(&[DRUGS]);
    let built_in = Extractor::builtin();
    let own = one.strip_prefix(built_in.version()).unwrap();
    assert!(own.starts_with("+clinic-1.") && own.len() == "+clinic-1.".len() + 8, "{own}");
    let changed = DRUGS.replace("zumba{,s}", "zumba");
    assert_ne!(one, version(&[&changed]));
    assert_eq!(version(&[DRUGS]), one);
}

#[test]
fn what_is_wrong_is_named_by_file_line_and_column() {
    let head = |list: &str, rows: &str| format!("# list: {list}\n# version: 1\n{rows}\n");
    for (text, expected) in [
        (head("poems", ""), "own.tsv:1:9: there is no such list (anamnesis extract lexicon shows them)"),
        ("ssri\ta\t-\ta".to_owned(), "own.tsv:1:1: a line `# list: NAME` must stand before the rows"),
        ("# list: drugs\nssri\ta\t-\ta".to_owned(), "own.tsv:2:1: a line `# version: …` must stand before the rows"),
        (String::new(), "own.tsv:1:1: a line `# list: NAME` is missing"),
        ("# list: drugs\n# version: a b\n".to_owned(), "own.tsv:2:1: a version has 1 to 32 letters"),
        (head("drugs", "ssri\tañil\t-"), "own.tsv:3:12: the row has too few columns"),
        (head("drugs", "ssri\tañil\t-\ta\tb"), "own.tsv:3:15: the row has too many columns"),
        (head("drugs", "poem\ta\t-\ta"), "own.tsv:3:1: the list has no such group"),
        (head("drugs", "class\ta\t-\ta"), "own.tsv:3:1: the list has no such group"),
        (head("drugs", "ssri\tA\t-\ta"), "own.tsv:3:6: a name has 1 to 100 characters in lower case"),
        (head("drugs", "ssri\t a\t-\ta"), "own.tsv:3:6: the column begins or ends with a space"),
        (head("drugs", "ssri\ta\tF32\ta"), "own.tsv:3:8: this list has no codes: write -"),
        (head("clinical", "symptom\ta\tR5\ta"), "own.tsv:3:11: is neither an ICD-10-CM code nor -"),
        (head("clinical", "symptom\ta\t-\tb |  | c"), "own.tsv:3:16: a phrase is missing"),
        (head("clinical", "symptom\ta\t-\tbé | {c,d"), "own.tsv:3:18: a brace is not closed"),
        (head("themes", "work\tx}"), "own.tsv:3:6: a brace is closed that was not opened"),
        (head("themes", "work\t<xx:matar>"), "own.tsv:3:6: the verb in angle brackets has no forms"),
        (head("themes", "work\t<me:tirar"), "own.tsv:3:6: an angle bracket is not closed"),
        (head("themes", &format!("work\t{}", "{a,b}".repeat(40))), "own.tsv:3:6: the phrase stands for more than 2000"),
        (head("themes", &format!("work\t{}", "a ".repeat(25))), "own.tsv:3:6: a choice of the phrase has more than 24"),
        (head("themes", "work\t{,x}"), "own.tsv:3:6: a choice of the phrase holds no word"),
        (head("themes", "poems\tx"), "own.tsv:3:1: the list has no such group"),
        (head("cues", "neg\tup\t6\t\tx"), "own.tsv:3:5: a direction is fwd, back or both"),
        (head("cues", "neg\tfwd\tfar\t\tx"), "own.tsv:3:9: a reach is a number of words up to 99"),
        (head("cues", "neg\tfwd\t6\tloud\tx"), "own.tsv:3:11: there is no such flag"),
        (head("cues", "loud\tfwd\t6\t\tx"), "own.tsv:3:1: there is no such category of cues"),
    ] {
        assert!(wrong(&text).starts_with(expected), "{}\n{expected}", wrong(&text));
    }
    let latin_1 = CustomLexicon::read("own.tsv".to_owned(), b"# list: drugs\n# a\xf1o\n").unwrap_err();
    assert_eq!(latin_1.to_string(), "own.tsv:2:4: is not UTF-8");
    assert_eq!(
        LexiconExtension::load(&["/no/such.tsv"]).unwrap_err().to_string(),
        "/no/such.tsv: the file cannot be read"
    );
}

#[test]
fn a_phrase_with_two_meanings_is_refused_across_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let one = path("one.tsv", DRUGS);
    let other = path("other.tsv", "# list: drugs\n# version: 1\n\nssri\tother\t-\tx | Zumbas\n");
    let size = LexiconExtension::load(&[&one]).unwrap().files()[0].size();
    assert_eq!((size.rows, size.names, size.phrases), (1, 1, 3));
    let told = LexiconExtension::load(&[&one, &other]).unwrap_err().to_string();
    assert!(told.ends_with("other.tsv:4:14: a phrase of this row has another meaning elsewhere"), "{told}");
    assert!(LexiconExtension::load(&[&one, &one]).is_ok(), "the same twice is the same");
}

proptest! {
    #[test]
    fn what_is_wrong_is_never_quoted(secret in "[a-z]{12}", row in "[a-z\\t|{},<>:#\\- ]{0,40}") {
        for list in ["drugs", "cues", "themes"] {
            let text = format!("# list: {list}\n# version: 1\n{row}{secret}\n");
            if let Err(error) = file(&text) {
                prop_assert!(!error.to_string().contains(&secret));
            }
        }
    }
}
