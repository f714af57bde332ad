//! The value that words give to a name: after it, across the words that join the two, or before it.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::number_words;
use super::units;
use crate::dates::DateMention;
use anamnesis_core::measured::Measured;
use anamnesis_text::{Language, Span};

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MeasuredAmount {
    pub(crate) measured: Measured,
    pub(crate) span: Span,
    /// Only a space or a colon comes between the name and the value.
    pub(crate) is_close: bool,
    pub(crate) number: Option<f64>,
    /// The other number of a pair: "130/80", "15 out of 30".
    pub(crate) second: Option<f64>,
    /// The words after the value, which distinguish a dose or a time from it.
    pub(crate) dose: bool,
}

/// Reads values in one text.
pub(super) struct AmountParser<'a> {
    pub(crate) text: &'a str,
    pub(crate) language: Language,
    pub(crate) dates: &'a [DateMention],
}

/// Thousands come after a point, a comma, a narrow space, or a space where it cannot divide two values: "3 420", "250 000".
const NUM: &str = r"\d{1,3}(?:[.,\u{a0}\u{2009}\u{202f}]\d{3})+(?:[.,]\d+)?|\d{1,3}(?:\x20000)+\b|\d\x20\d{3}(?:\x20000)*(?:[.,]\d{1,2})?\b|\d+(?:[.,]\d+)?";
/// Spaces between thousands.
const GAPS: [char; 4] = [' ', '\u{a0}', '\u{2009}', '\u{202f}'];
/// Steps from a name to its value.
const STEPS: usize = 8;

fn regex(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

/// What may come between a name and its value.
static JOIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r#"(?ix)^(?: ['’]s\b | [\s:=→~≈–—\-|*"'“”«»\u{2022}]+ | \d{1,2}/\d{1,2}(?:/\d{2,4})?\s | [(\[] (?:\d{1,2}:\d{2}|[^()\[\]\n\d]{0,24}|\[?[A-Z]+(?:_[0-9A-F]+)?\]?) [)\]]
        | \d{1,2}\s?-?\s?(?:h|hr|hrs|hour|hours|horas)\s | (?: is|was|were|are|of|at|came|come|back|returned|result(?:s|ed|ado)?|today|now|currently|this|morning|hoy|ahora|actual(?:es)?|es|era|fue|eran|est[aá](?:ba|n)?|en|de|del|a|al|con
            |sali[oó]|sale|ha|salido|me|le|te|nos|les|da|dio|daba|por|around|about|approx(?:imately)?|approx\.|unos?|unas|alrededor|aprox(?:imadamente)?\.?|levels?|nivel(?:es)?
            |scores?|scored|puntaje|puntuaci[oó]n|puntos|total|readings?|values?|valor(?:es)?|discharge|alta|ayunas|fasting|random|capilar|cap\.?|s[eé]ric[oa]|serum|arterial|basal|baseline|the|el|la|un|una|has|have|had|been|gone|went|goes|up|down
            |to|ya|tengo|tiene|ten[ií]a|anda|andaba|sigue|running|reads?|showed|shows|showing|measured|estimated|repeat|repetid[oa]|control|latest|most|recent|[uú]ltim[oa]|pasad[oa]|mes|semana|month|week|last|admission|ingreso|from|desde
            |left|right|arm|sitting|standing|sentad[oa]|de\ pie|apical|radial|reg(?:ular)?|room\ air|RA|AA|FiO2|axilar|oral|tympanic|and|y|mean|media|test|test:|dropped|fell|rose|risen|subi[oó]|baj[oó]|subido|bajado|just|only|solo|s[oó]lo|still|todav[ií]a )
          \b )"#,
    )
});

/// A few words with a verb that ends in a value: "le tomaron el MoCA abajo, sacó 15".
static FAR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"(?ix)^ [^.;:?!\n\d]{0,32}? \b (?: sac[oó] | obtuvo | obtiene | puntu[oó] | punt[uú]a | scored | scores? | came\ (?:back|out)(?:\ at)? | (?:hoy\ )?est(?:[aá]|aba)\ (?:hoy\ )?en
        | marc[oó] | sali[oó]\ (?:en)? | ha\ salido\ en | arroj[oó] | was | is | read | result[oó] | con ) \s+",
    )
});

/// A pair of numbers is a pressure, whatever a few words before it say.
static PRESSURE: LazyLock<Option<Regex>> =
    LazyLock::new(|| regex(r"^[^.;:?!\n\d]{0,30}?\s(?P<pair>\d{2,3}\s?/\s?\d{2,3})\b"));

static VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(&format!(
        r"(?ix)^ (?P<cmp>[<>≤≥]=?|less\ than\ |over\ |under\ |above\ |below\ |m[aá]s\ de\ |menos\ de\ |mayor\ (?:de|a)\ |menor\ (?:de|a)\ )? \s* (?P<sign>[-−])? (?P<n>{NUM})
        (?: \s* (?P<sep>/|-|–|\ con\ |\ over\ |\ sobre\ |\ de\ |\ out\ of\ |\ of\ |\ points?\ out\ of\ |\ puntos\ (?:de|sobre)\ ) \s* (?P<m>{NUM}) \b )?"
    ))
});

static ARROW: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(&format!(
        r"(?ix)^ \s*(?: -+> | → | => | – > | ⟶ | to\b | a\b | hasta\b | ,?\ ?now\b | ,?\ ?ahora\b | ,?\ ?hoy\b ) \s* (?:en\s|at\s|a\s|down\ to\s|up\ to\s)?\s* (?P<n>{NUM})"
    ))
});

static PREVIOUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(&format!(
        r"(?ix)^ \s*[,;]?\s*[(\[]?\s* (?: prev(?:ious(?:ly)?|ia|io|iamente)?\.? | antes | before | was | (?:down|up)\ from | desde | from | bajando\ de | subiendo\ de | [uú]ltim[oa] | last(?:\ time|\ visit)? | anterior(?:mente)? | ant\. | baseline | basal | era | baj[oó]\ de | subi[oó]\ de )
        \s*(?: era | was | de | en | of )? \s*:?\s* (?P<n>{NUM})"
    ))
});

static RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(&format!(
        r"(?ix)^ \s*(?:\|\s*|\[|\(|,\s*)?\s* (?: (?:ref(?:erenc(?:e|ia))?|v\.?\s?r\.?|v\.?n\.?|normal(?:es)?|nl|rango(?:\ normal)?|(?:normal\ |reference\ )?range|valores?\ (?:de\ ref\w*|normales)|n)\.?\s*:?\s* )?
        (?P<low>{NUM})\s*(?:-|–|\sa\s|\sto\s)\s*(?P<high>{NUM}) [^)\]\d]{{0,12}} [)\]|\n]?"
    ))
});

static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"(?ix)^ (?: (?P<pos>\+{1,4}|\(\+{1,4}\)|positiv[eoa]s?\b|pos\b|reactiv[eoa]s?\b)
        | (?P<neg>\(-\)|negativ[eoa]s?\b|neg\b|non-?reactive\b|no\ reactiv[oa]s?\b|undetectable\b|indetectable\b|not\ detected\b)
        | (?P<normal>normal(?:es)?\b|fine\b|ok(?:ay)?\b|all\ (?:clear|good|normal|fine)\b|good\b|bien\b|perfect[oa]s?\b|s/p\b|nl\b|wnl\b|unremarkable\b|within\ normal\ limits|(?:sin|no)\ alteraciones|dentro\ de\ (?:lo\ normal|l[ií]mites\ normales|par[aá]metros)|in\ range|en\ rango(?:\ normal)?)
        | (?P<high>elevad[oa]s?\b|elevated\b|raised\b|alt[oa]s?\b|high\b|hi\b)
        | (?P<low>baj[oa]s?\b|low\b|lo\b)
        | (?P<odd>abnormal\b|alterad[oa]s?\b|deranged\b|trace\b|trazas\b|borderline\b|therapeutic\b|subtherapeutic\b|pending\b) )",
    )
});

/// A value right before its name: "scored 14 on the", "15 de 30 en el", "98%".
static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(&format!(
        r"(?ix)(?:^|[\s(:,=]) (?P<n>{NUM}) (?:\s*(?:/|\ de\ |\ out\ of\ |\ sobre\ )\s*(?P<m>{NUM}))? \s* (?P<unit>%|points?|puntos|pts)? \s*
        (?: (?:on|in|en|of|de|for|with)\s+ (?:(?:the|his|her|my|your|their|el|la|los|un|una|a|su|mi|tu|test|escala|cuestionario|score|total|last|[uú]ltim[oa]|latest|repeat|de)\s+)* ) $"
    ))
});

impl AmountParser<'_> {
    /// The value in a place after a name.
    pub(crate) fn after(&self, place: Span, group: &str, name: &str) -> Option<MeasuredAmount> {
        let text = place.slice(self.text);
        let (text, map) = match number_words::written(text, self.language, name) {
            Some((written, map)) => (written, Some(map)),
            None => (text.to_owned(), None),
        };
        let line = text.find('\n').map_or(text.len(), |at| at);
        let text = &text[..line];
        let back = |at: usize| map.as_ref().map_or(at, |map| map.source(at)).min(place.len());
        let mut at = 0;
        let mut close = true;
        for _ in 0..STEPS {
            let rest = &text[at..];
            if let Some(mut amount) = self.value(rest, group, name) {
                let from = Span::new(place.start + back(at), place.start + back(at + amount.span.end));
                if self.is_date(Span::new(from.start, from.start + 1)) {
                    return None;
                }
                amount.span = from;
                amount.is_close = close;
                return Some(amount);
            }
            let step = self.dated(place.start + back(at)).filter(|_| map.is_none()).map(|end| end - place.start);
            let step =
                step.or_else(|| JOIN.as_ref()?.find(rest).filter(|hit| !hit.is_empty()).map(|hit| at + hit.end()));
            let Some(next) = step.filter(|next| *next > at && *next <= text.len() && text.is_char_boundary(*next))
            else {
                break;
            };
            close &= text[at..next].chars().all(|c| c.is_whitespace() || matches!(c, ':' | '=' | '|'));
            at = next;
        }
        self.far(text, place, &back, group, name)
    }

    /// A value across a few other words, with the verb that gives it.
    fn far(
        &self,
        text: &str,
        place: Span,
        back: &dyn Fn(usize) -> usize,
        group: &str,
        name: &str,
    ) -> Option<MeasuredAmount> {
        let pressure = || Some(PRESSURE.as_ref()?.captures(text)?.name("pair")?.start());
        let from = match name {
            "blood pressure" => pressure().or_else(|| Some(FAR.as_ref()?.find(text)?.end())),
            _ => FAR.as_ref()?.find(text).map(|hit| hit.end()),
        }?;
        let mut amount = self.value(&text[from..], group, name).filter(|amount| amount.number.is_some())?;
        let (start, end) = (from, from + amount.span.end);
        amount.span = Span::new(place.start + back(start), place.start + back(end));
        amount.is_close = false;
        Some(amount)
    }

    /// The value right before a name.
    pub(crate) fn before(&self, place: Span, group: &str, name: &str) -> Option<MeasuredAmount> {
        if !matches!(group, "score" | "vital") {
            return None;
        }
        let text = place.slice(self.text);
        let (text, map) = match number_words::written(text, self.language, name) {
            Some((written, map)) => (written, Some(map)),
            None => (text.to_owned(), None),
        };
        let hit = BEFORE.as_ref()?.captures(&text)?;
        let (n, whole) = (hit.name("n")?, hit.get(0)?);
        let mut amount = self.value(&text[n.start()..whole.end()], group, name)?;
        let back = |at: usize| map.as_ref().map_or(at, |map| map.source(at)).min(place.len());
        amount.span = Span::new(place.start + back(n.start()), place.start + back(n.start() + amount.span.end));
        (!self.is_date(amount.span)).then_some(amount)
    }

    fn is_date(&self, span: Span) -> bool {
        self.dates.iter().any(|date| date.span.overlaps(&span))
    }

    /// The end of the date that begins at a place, with its bracket.
    fn dated(&self, at: usize) -> Option<usize> {
        let here = self.text[at..].chars().next().filter(|c| matches!(c, '(' | '[')).map_or(at, |c| at + c.len_utf8());
        let date = self.dates.iter().find(|date| date.span.start == here || date.span.start == at)?;
        let closed = self.text[date.span.end..].chars().next().filter(|c| matches!(c, ')' | ']') && here != at);
        Some(date.span.end + closed.map_or(0, char::len_utf8))
    }

    /// A value at the beginning of a text, with its unit, an earlier value and the range next to it.
    fn value(&self, text: &str, group: &str, name: &str) -> Option<MeasuredAmount> {
        if let Some(word) = quality(text, group, name) {
            return Some(word);
        }
        let hit = VALUE.as_ref()?.captures(text)?;
        let n = hit.name("n")?;
        // "7 120/80": a value and a pressure after it.
        if n.as_str().contains(GAPS)
            && text[n.end()..].trim_start().starts_with('/')
            && units::unit(&text[n.end()..]).is_none()
        {
            let first = n.as_str().split(GAPS).next().unwrap_or_default();
            return self.value(&text[..n.start() + first.len()], group, name);
        }
        // "5/3 0.62": a day before the value.
        let parted = hit.name("m").is_some() && hit.name("sep").is_some_and(|sep| sep.as_str() == "/");
        let pair = hit.name("m").filter(|m| is_pair(&hit, n.as_str(), m.as_str(), group, name));
        if parted && pair.is_none() {
            return None;
        }
        let mut end = pair.map_or(n.end(), |m| m.end());
        let mut following = text[end..].chars();
        if matches!(following.next(), Some('-' | '/'))
            && following.next().is_some_and(char::is_alphabetic)
            && units::unit(&text[end..]).is_none()
        {
            return None;
        }
        if text[end..].starts_with(|c: char| c.is_alphanumeric() && !units::begins_unit(&text[end..])) {
            return None;
        }
        let mut unit = units::unit(&text[end..]);
        let signed = matches!(name, "T-score" | "base excess");
        let mut measured =
            Measured { value: written_value(&hit, pair.map(|m| m.as_str()), signed), ..Measured::default() };
        let mut number = decimal(n.as_str(), group);
        end += unit.as_ref().map_or(0, |unit| unit.length);
        if let Some(later) = ARROW.as_ref().and_then(|arrow| arrow.captures(&text[end..])).filter(|_| pair.is_none()) {
            let n = later.name("n")?;
            let follows = units::unit(&text[end + n.end()..]);
            if follows.as_ref().is_none_or(|unit| !unit.time) {
                measured.previous = Some(std::mem::replace(&mut measured.value, plain(n.as_str(), group)));
                number = decimal(n.as_str(), group);
                end += n.end() + follows.as_ref().map_or(0, |unit| unit.length);
                unit = follows.or(unit);
            }
        }
        if unit.as_ref().is_some_and(|unit| unit.time) || units::counts_time(&text[end..]) {
            return None;
        }
        if let Some(before) = PREVIOUS.as_ref().and_then(|previous| previous.captures(&text[end..])) {
            let n = before.name("n")?;
            measured.previous = measured.previous.or_else(|| Some(plain(n.as_str(), group)));
        }
        if let Some(range) = RANGE.as_ref().and_then(|range| range.captures(&text[end..])).filter(|_| group != "vital")
        {
            let bound = |side: &str| range.name(side).map(|n| plain(n.as_str(), group));
            let number = |side: &str| range.name(side).and_then(|n| decimal(n.as_str(), group));
            if number("low") < number("high") {
                (measured.low, measured.high) = (bound("low"), bound("high"));
            }
        }
        let dose = unit.as_ref().is_some_and(|unit| unit.dose);
        measured.unit = unit.map(|unit| unit.name).filter(|name| !name.is_empty());
        let second = pair.and_then(|m| decimal(m.as_str(), group));
        Some(MeasuredAmount { measured, span: Span::new(0, end), is_close: false, number, second, dose })
    }
}

/// "12/30" of a score, "130/80" of a pressure: the second number belongs to the value. "10-12" of anything is a range.
fn is_pair(hit: &Captures<'_>, n: &str, m: &str, group: &str, name: &str) -> bool {
    let sep = hit.name("sep").map_or("", |sep| sep.as_str().trim());
    let whole = !n.contains(['.', ',']) || name != "blood pressure";
    let of = matches!(sep, "de" | "out of" | "of" | "sobre")
        || sep.ends_with(" of")
        || sep.ends_with(" de")
        || sep.ends_with(" sobre");
    match (name, sep) {
        ("blood pressure", "/" | "-" | "–" | "con" | "over" | "sobre") => whole,
        (_, "/") => matches!(group, "score") || name == "pain score" || name == "Glasgow coma scale",
        _ if of => matches!(group, "score") || name == "pain score",
        (_, "-" | "–") => !m.is_empty() && group != "score",
        _ => false,
    }
}

fn written_value(hit: &Captures<'_>, pair: Option<&str>, signed: bool) -> String {
    let part = |name: &str| hit.name(name).map_or("", |part| part.as_str());
    let cmp = match part("cmp").trim().to_lowercase().as_str() {
        "" => "",
        "<" | "≤" | "<=" | "less than" | "under" | "below" => "<",
        word if word.starts_with("menos") || word.starts_with("menor") => "<",
        _ => ">",
    };
    let sign = if signed && !part("sign").is_empty() { "-" } else { "" };
    let mut value = format!("{cmp}{sign}{}", plain(part("n"), ""));
    if let Some(second) = pair {
        let sep = if matches!(part("sep").trim(), "-" | "–") { "-" } else { "/" };
        value.push_str(sep);
        value.push_str(&plain(second, ""));
    }
    value
}

/// A number with a decimal point and without signs between its thousands.
fn plain(number: &str, _group: &str) -> String {
    let thousands = {
        let parts: Vec<&str> = number.split(['.', ',']).collect();
        parts.len() > 1 && parts[1..].iter().all(|part| part.len() == 3) && !number.starts_with('0')
    };
    let number = number.replace(GAPS, "");
    if thousands { number.replace(['.', ','], "") } else { number.replace(',', ".") }
}

fn decimal(number: &str, group: &str) -> Option<f64> {
    plain(number, group).parse().ok()
}

/// "normal", "negative", "++": values without a number, which laboratories and screens have.
fn quality(text: &str, group: &str, name: &str) -> Option<MeasuredAmount> {
    if !group.starts_with("lab") {
        return None;
    }
    let hit = WORD.as_ref()?.captures(text)?;
    let end = hit.get(0)?.end();
    let plus = hit.name("pos").map(|word| word.as_str()).filter(|word| word.contains('+'));
    // "+ 5.4": the sign belongs to the name of an ion.
    if plus.is_some() && text[end..].trim_start().starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let graded = !matches!(name, "glucose" | "total cholesterol" | "LDL cholesterol" | "HDL cholesterol");
    let value = match (plus, &hit) {
        (Some(plus), _) => plus.trim_matches(['(', ')']).to_owned(),
        (_, hit) if hit.name("pos").is_some() => "positive".to_owned(),
        (_, hit) if hit.name("neg").is_some() => "negative".to_owned(),
        (_, hit) if hit.name("normal").is_some() => "normal".to_owned(),
        (_, hit) if hit.name("high").is_some() && (graded || &hit[0] == "HI") => "high".to_owned(),
        (_, hit) if hit.name("low").is_some() && (graded || &hit[0] == "LO") => "low".to_owned(),
        (_, hit) if hit.name("odd").is_some() && !hit[0].eq_ignore_ascii_case("pending") => hit[0].to_lowercase(),
        _ => return None,
    };
    let measured = Measured { value, ..Measured::default() };
    Some(MeasuredAmount { measured, span: Span::new(0, end), is_close: false, number: None, second: None, dose: false })
}
