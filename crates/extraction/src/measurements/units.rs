//! Units after a value, and the words that make a number something else than a measurement.

use std::sync::LazyLock;

use regex::Regex;

use super::amount::MeasuredAmount;
use crate::lexicon::Concept;

/// A unit after a number.
pub(super) struct ValueUnit {
    pub(crate) name: String,
    /// Bytes from the end of the number to the end of the unit.
    pub(crate) length: usize,
    /// Of an amount that is taken.
    pub(crate) dose: bool,
    /// Of time: the number counts days or years.
    pub(crate) time: bool,
}

static UNIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)^\s?(?: (?P<conc>% | ‰ | (?:[µμ]|mc|[munpk])?(?:g|mol|eq|ui|iu|u|osm|kat)\s?/\s?(?:d?l|m?l|mol|mmol|g|kg|mg|24\s?h|day|d[ií]a|mm3|min(?:/1[.,]73\s?m\S*)?)\b
            | m?l/min(?:/1[.,]73\s?m\S*)? | /\s?(?:mm3|[µμ]l|mcl|ul|min|campo) | x\s?10\S{0,4}(?:\s?/\s?l)? | cells(?:/\S+)? | c[ée]lulas(?:/\S+)? | copias(?:/ml)? | copies(?:/ml)? | ppm | mill(?:ones|ion)?\b )
        | (?P<body>mm\s?hg | bpm | lpm | ppm | rpm | x' | °\ ?[cf]\b | º\ ?[cf]\b | grados(?:\ (?:c|f|cent[ií]grados|celsius))? | degrees(?:\ (?:c|f|celsius|fahrenheit))? | °|º
            | kgs?\b | kilos?\b | kilogra\w+ | k\b | lbs?\b | pounds?\b | libras?\b | stones?\b | st\b | cms?\b | cent[ií]met\w+ | m(?:etros?|ts?)?\b | ms(?:eg|ec)?\b
            | mm(?:/h(?:r|ora)?)?\b | points?\b | puntos\b | pts\b | f\b | c\b | por\ ciento | percent | per\ cent )
        | (?P<dose>mgs?\b | mcg\b | [µμ]g\b | ug\b | grams?\b | gr?\b | miligram\w+ | milligram\w+ | ml\b | cc\b | ui\b | iu\b | units?\b | unidades\b | u\b | meq\b | tab\w*\b | comp\w*\b | pills?\b | puffs?\b | gotas\b | drops\b | caps?\w*\b | amp\w*\b )
        | (?P<time>years?\b | yrs?\b | y\.?/?o\b | años?\b | days?\b | d[ií]as?\b | hours?\b | hrs?\b | h\b | horas?\b | weeks?\b | wks?\b | semanas?\b | sem\b | months?\b | mes(?:es)?\b | mos?\b | times?\b | veces\b | vez\b | min(?:s|utes?|utos?)?\b | am\b | pm\b | :\d\d | x\ (?:d[ií]a|day) ) )",
    )
    .ok()
});

/// The unit at the beginning of a text.
pub(super) fn unit(text: &str) -> Option<ValueUnit> {
    let hit = UNIT.as_ref()?.captures(text)?;
    let whole = hit.get(0)?;
    let raw = whole.as_str().trim();
    Some(ValueUnit {
        name: normal(raw),
        length: whole.end(),
        dose: hit.name("dose").is_some(),
        time: hit.name("time").is_some(),
    })
}

/// Whether letters glued to a number are its unit: "71kg".
pub(super) fn begins_unit(text: &str) -> bool {
    unit(text).is_some_and(|unit| !text[unit.length..].starts_with(char::is_alphanumeric))
}

/// "28 years", "3 veces": the number counts a time.
pub(super) fn counts_time(text: &str) -> bool {
    unit(text).is_some_and(|unit| unit.time)
}

/// One spelling for the units that have several.
fn normal(raw: &str) -> String {
    let lower = raw.to_lowercase();
    let squeezed: String = lower.split_whitespace().collect();
    let word = match squeezed.as_str() {
        "kilo" | "kilos" | "kgs" | "kg" | "k" => "kg",
        word if word.starts_with("kilogra") => "kg",
        "lb" | "lbs" | "pound" | "pounds" | "libra" | "libras" => "lb",
        "stone" | "stones" | "st" => "st",
        "mmhg" => "mmHg",
        "bpm" | "lpm" | "ppm" | "rpm" | "x'" | "/min" => "/min",
        "porciento" | "percent" | "%" => "%",
        "point" | "points" | "puntos" | "pts" => "",
        "metro" | "metros" | "mt" | "mts" | "m" => "m",
        "cms" | "cm" => "cm",
        "ms" | "mseg" | "msec" => "ms",
        "°" | "º" | "c" | "f" | "grados" | "degrees" => "°",
        word if word.starts_with("cent") => "cm",
        word if word.starts_with("°f")
            || word.starts_with("ºf")
            || word == "degreesf"
            || word.ends_with("fahrenheit") =>
        {
            "°F"
        }
        word if word.starts_with(['°', 'º']) || word.starts_with("grados") || word.starts_with("degrees") => "°C",
        _ => return raw.to_owned(),
    };
    word.to_owned()
}

/// A unit of an amount in a volume: no dose has it.
pub(super) fn is_concentration(amount: &MeasuredAmount) -> bool {
    amount.measured.unit.as_deref().is_some_and(|unit| unit.contains('/') || unit == "%")
}

/// Whether a value is possible for the name: its range, its unit.
pub(super) fn fits(concept: &Concept, amount: &MeasuredAmount) -> bool {
    let unit = amount.measured.unit.as_deref();
    let Some(number) = amount.number else { return true };
    // Millilitres and grams are doses elsewhere; urine output and weight are measured in them.
    if amount.dose && !(concept.name == "urine output" || concept.name == "weight") {
        return false;
    }
    let number =
        if amount.measured.value.contains('-') && amount.measured.value.starts_with('-') { -number } else { number };
    let within = |n: f64| within(concept, n);
    match concept.name {
        "blood pressure" => is_pressure(number, amount.second),
        "height" => match unit {
            Some("cm") => (40.0..=230.0).contains(&number),
            Some("m") => (0.3..=2.4).contains(&number),
            None => (1.3..=2.2).contains(&number) || (100.0..=220.0).contains(&number),
            Some(_) => false,
        },
        "weight" => match unit {
            Some("kg") => (0.4..=350.0).contains(&number),
            Some("lb") => (1.0..=800.0).contains(&number),
            Some("st") => (3.0..=60.0).contains(&number),
            Some("g" | "gr" | "grams" | "gramos") => (400.0..=6000.0).contains(&number),
            None => concept.group == "body" && (25.0..=400.0).contains(&number),
            Some(_) => false,
        },
        "pain score" => within(number) && (amount.second == Some(10.0) || amount.is_close),
        "temperature" => (34.0..=43.0).contains(&number) || (94.0..=108.0).contains(&number),
        // Of a substance that is also swallowed, a bare number is a level only while it is smaller than any dose.
        "iron level" | "vitamin D" if concept.group == "level" => {
            within(number) && (is_concentration(amount) || unit.is_none() && number <= 150.0)
        }
        _ if concept.group == "score" => within(number) && amount.second.is_none_or(|most| most >= number),
        "oxygen saturation" => within(number) && unit.is_none_or(|unit| unit == "%"),
        _ => {
            within(number) && !(unit.is_some_and(|unit| matches!(unit, "kg" | "lb" | "st")) && concept.group != "body")
        }
    }
}

/// The range is in the third column of the list.
fn within(concept: &Concept, number: f64) -> bool {
    let Some((least, greatest)) = concept.code.and_then(|range| range.split_once("..")) else { return true };
    match (least.parse::<f64>(), greatest.parse::<f64>()) {
        (Ok(least), Ok(greatest)) => (least..=greatest).contains(&number),
        _ => true,
    }
}

/// Millimetres of mercury, or centimetres as patients of Spain and Latin America say them: "trece ocho".
fn is_pressure(upper: f64, lower: Option<f64>) -> bool {
    match lower {
        Some(lower) => {
            let millimetres = (60.0..=280.0).contains(&upper) && (25.0..=170.0).contains(&lower);
            let centimetres = (7.0..=25.0).contains(&upper) && (3.0..=15.0).contains(&lower);
            upper > lower && (millimetres || centimetres)
        }
        None => (70.0..=260.0).contains(&upper),
    }
}

static WISHED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)\b(?: goals?|targets?|target\ of|aim(?:ing)?(?:\ for)?|objetivos?|metas?|keep(?:ing)?|mantener|maintain|if|si|unless|until|when(?:ever)?|cuando|should|would|en\ caso\ de|in\ case|hasta|hypothetically|as\ long\ as|once|para\ que)\b [^.;\n,]{0,26}$",
    )
    .ok()
});

/// Whether the words before a name make its value a target or a condition: "goal HbA1c 7", "if BP over 160".
pub(super) fn is_wished_for(text: &str, start: usize) -> bool {
    let from = text.ceil_char_boundary(start.saturating_sub(60));
    WISHED.as_ref().is_some_and(|wished| wished.is_match(&text[from..start]))
}
