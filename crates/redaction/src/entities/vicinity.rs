//! Where people live and are cared for, as chats, dictation and notes name it: "comunidad Peguche", "barrio Las Acacias",
//! "the whole of wattle st", "orange base hospital", "the limes surgery", "Hosp Regional", a letterhead in capitals.

use std::sync::LazyLock;

use regex::Regex;

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::post_filter::stop_words;
use super::{informal, lexicon, places, towns};
use crate::deadline;
use crate::pattern::compiled;
use anamnesis_text::{Language, Span};

const SCORE: f64 = 0.75;

/// A kind of quarter or village and its name in capital letters.
static QUARTER: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:[Cc]omunidad|[Cc]aserio|[Aa]nexo|[Cc]entro [Pp]oblado|[Cc]\.? ?[Pp]\.|[Vv]ereda|[Pp]arroquia|[Bb]arrio|[Bb]arriada|[Cc]olonia|[Vv]illa|[Pp]oblacion|[Pp]obl\.|[Ss]ector|[Zz]ona|[Uu]rbanizacion|[Uu]rb\.|[Ee]jido|[Rr]ancheria|[Aa]ldea|[Cc]orregimiento|[Cc]anton|[Ff]raccionamiento|[Ff]racc\.|[Aa]sentamiento|[Aa]\.? ?[Hh]\.|[Rr]esguardo|[Cc]abildo|[Pp]araje|[Pp]edania|[Tt]ownland|[Ee]state) (?:de |del |de la |de los )?((?:(?:La|El|Los|Las|Lo|San|Santa|Santo|Villa|Nuevo|Nueva|Alto|Alta) )?[A-Z][a-z]{2,20}(?: (?:de |del |la |las |los )?[A-Z][a-z]{2,20}){0,2})",
    )
});
/// The same in lower case, before what follows a quarter in an address.
static SMALL_QUARTER: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)((?:zona|barrio|villa|colonia|urbanizacion|sector|poblacion|comunidad|vereda|ciudadela) (?:la |el |los |las |de la |del )?([a-z]{4,20})(?: [a-z]{4,20})?)(?: ?,)? (?:calle|avenida|av|manzana|mz|pasaje|casa|lote|numero|carrera|bloque|torre)(?-u:\b)",
    )
});
/// "wattle st", "banksia rd", after what leads to a street.
static SHORT_STREET: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:on|at|near|off|down|up|of|in|along|from|over on|round|into) ((?:(?:north|south|east|west|old|new|upper|lower) )?([a-z]{3,16})(?: [a-z]{3,16})? (?:st|rd|ave|cres|tce|pde|hwy|blvd|ln|crt|esp|gdns))(?-u:\b)",
    )
});
/// "orange base hospital", "st mary's infirmary": in lower case.
static SMALL_HOUSE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)((?:st\.? )?([a-z']{3,16})(?: ([a-z']{3,16}))? (?:base|general|district|regional|county|memorial|royal|community|childrens|children's|university|womens|women's|private|public) (?:hospital|infirmary|medical center|medical centre))(?-u:\b)",
    )
});
/// "the limes surgery", "the willows practice": where a doctor is written to.
static SURGERY: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(the [a-z]{4,16}(?: [a-z]{4,16})? (?:surgery|practice|medical practice|medical centre|health centre))(?-u:\b)(?: ([a-z]{5,16})(?-u:\b))?",
    )
});
/// "Hosp Regional", "Hospital Gral. de Zona".
static KIND_OF_HOUSE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)[Hh]osp(?:ital)?\.? (?:Regional|Gral\.?|Provincial|Base|Civil|Militar|Comarcal|Departamental|Cantonal)(?-u:\b)(?: (?:No\.?|N°|#) ?[0-9]{1,3}| [A-Z][a-z]{3,16})?",
    )
});
/// "was in st helier 2 nights".
static SAINT: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(?-u:\b)(?:in|at|to|from|into|up) (st\.? ([a-z']{4,14}))(?-u:\b)"));
/// The first line of a letter in capitals: "HIGH DESERT RECOVERY — SUD ASSESSMENT".
static LETTERHEAD: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^\s*([A-Z][A-Z'&.]{1,16}(?: [A-Z'&.]{1,16}){1,4} (?:RECOVERY|CLINIC|HOSPITAL|PRACTICE|SURGERY|CENTER|CENTRE|HOSPICE|TRUST|INFIRMARY|ASSOCIATES|WELLNESS|COUNSELING|COUNSELLING|HEALTH|MANOR|LODGE))(?-u:\b)[ ]*(?:[—–|,-]|\n|$)",
    )
});
/// Words of a letterhead that name a service alone.
const SERVICES: &str = "mental behavioral behavioural community primary care emergency department home palliative intensive coronary \
    addiction pain public occupational child adolescent adult older family women womens children childrens memory outpatient \
    inpatient day urgent general acute crisis early intervention sexual reproductive maternal perinatal substance use alcohol drug \
    physical therapy rehabilitation medical surgical dental eye sleep asthma diabetes heart stroke anticoagulation infusion wound \
    preoperative the of and for & service services unit team clinic health recovery";
/// Words before a house or a street in lower case that are no part of its name.
const PLAIN: &str = "the a an in at to from of up our my his her their your local nearest big old same new this that main busy and or \
    was were with for by near into out down on off went go going took taken get got back another any some every other cardiac hip knee \
    emergency spinal plastic eye heart brain general day bariatric keyhole elective dental thyroid back breast bowel private public \
    whole other best good clinical nursing usual current previous private local standard common gp doctor doctors depression segment \
    elevation changes john johns waiting iv med med meds per";

/// Finds places and houses by their kind.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let (plain, lower) = (&context.view.plain, &context.view.lower);
    deadline::check();
    if context.language != Language::English {
        quarters(context, found);
        for hit in KIND_OF_HOUSE.find_iter(plain) {
            push(found, Span::new(hit.start(), hit.end()), label::ORGANIZATION);
        }
    }
    if context.language != Language::Spanish {
        small(context, lower, found);
    }
    if let Some(organization) = LETTERHEAD.captures(plain).and_then(|hit| hit.get(1)) {
        let own =
            |word: &str| !SERVICES.split_whitespace().any(|service| service == word) && !stop_words::is_clinical(word);
        let words = organization.as_str().to_ascii_lowercase();
        if words.rsplit_once(' ').is_some_and(|(name, _)| name.split(' ').any(own)) {
            push(found, Span::new(organization.start(), organization.end()), label::ORGANIZATION);
        }
    }
}

fn quarters(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    for name in QUARTER.captures_iter(&context.view.plain).filter_map(|hit| hit.get(1)) {
        let words = name.as_str().to_ascii_lowercase();
        let own = |word: &str| word.len() > 3 && !lexicon::is_ordinary(word) && !stop_words::is_clinical(word);
        if words.split(' ').any(own) || places::is_place(&words) || towns::is_town(&words) {
            push(found, Span::new(name.start(), name.end()), label::LOCATION);
        }
    }
    for hit in SMALL_QUARTER.captures_iter(&context.view.lower) {
        let (Some(whole), Some(name)) = (hit.get(1), hit.get(2)) else { continue };
        if context.is_lowercase_at(token_at(context, whole.start())) && !is_plain(name.as_str()) {
            push(found, Span::new(whole.start(), whole.end()), label::ADDRESS);
        }
    }
}

/// Names in the lower case of messages and dictation.
fn small(context: &DocumentContext<'_>, lower: &str, found: &mut Vec<PiiFinding>) {
    let is_small = |start: usize| context.is_lowercase_at(token_at(context, start));
    for hit in SHORT_STREET.captures_iter(lower) {
        let (Some(street), Some(name)) = (hit.get(1), hit.get(2)) else { continue };
        if !is_plain(name.as_str()) && !stop_words::is_clinical(name.as_str()) && is_small(street.start()) {
            push(found, Span::new(street.start(), street.end()), label::ADDRESS);
        }
    }
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let organizations = has(&["hospital", "infirmary", "medical cent"]).then(|| SMALL_HOUSE.captures_iter(lower));
    for hit in organizations.into_iter().flatten() {
        let (Some(whole), Some(first)) = (hit.get(1), hit.get(2)) else { continue };
        let second = hit.get(3).filter(|word| !is_plain(word.as_str()));
        let start = match (is_plain(first.as_str()), second) {
            (false, _) if hit.get(3).is_none() || second.is_some() => whole.start(),
            (true, Some(second)) => second.start(),
            _ => continue,
        };
        if is_small(start) {
            push(found, Span::new(start, whole.end()), label::ORGANIZATION);
        }
    }
    let surgeries = has(&["surgery", "practice", "centre"]).then(|| SURGERY.captures_iter(lower));
    for hit in surgeries.into_iter().flatten() {
        let Some(organization) = hit.get(1) else { continue };
        let name = organization.as_str().split(' ').nth(1).unwrap_or_default();
        let before = &lower[..organization.start()];
        let written = ["doctor ", "dr ", "gp "]
            .iter()
            .any(|title| before.get(before.len().saturating_sub(30)..).is_some_and(|near| near.contains(title)));
        if !written || is_plain(name) || stop_words::is_clinical(name) || !is_small(organization.start()) {
            continue;
        }
        let town = hit.get(2).filter(|town| informal::is_unknown(town.as_str()) || towns::is_town(town.as_str()));
        push(
            found,
            Span::new(organization.start(), town.map_or(organization.end(), |town| town.end())),
            label::ORGANIZATION,
        );
    }
    for hit in SAINT.captures_iter(lower) {
        let (Some(organization), Some(name)) = (hit.get(1), hit.get(2)) else { continue };
        if !is_plain(name.as_str()) && !stop_words::is_clinical(name.as_str()) && is_small(organization.start()) {
            push(found, Span::new(organization.start(), organization.end()), label::ORGANIZATION);
        }
    }
}

fn token_at(context: &DocumentContext<'_>, place: usize) -> usize {
    context.token_at(place).min(context.tokens.len().saturating_sub(1))
}

fn is_plain(word: &str) -> bool {
    PLAIN.split_whitespace().any(|plain| plain == word)
}

fn push(found: &mut Vec<PiiFinding>, span: Span, label: &'static str) {
    let recognizer = if label == label::ADDRESS { "street" } else { "place" };
    let recognizer = if label == label::ORGANIZATION { "organisation" } else { recognizer };
    found.push(PiiFinding::new(span, label, recognizer, SCORE, DetectionLayer::Entity));
}
