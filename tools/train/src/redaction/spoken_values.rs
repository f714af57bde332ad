//! Values as they are said: digits in words, dates, mail addresses, spelled names.

use anamnesis_linear_model::random::Random;

const ES: [&str; 10] = ["cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve"];
const EN: [&str; 10] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const ES_TENS: [&str; 7] = ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"];
const EN_TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ES_TEENS: [&str; 8] = ["once", "doce", "trece", "catorce", "quince", "dieciseis", "veintidos", "veintisiete"];
const EN_TEENS: [&str; 8] = ["eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "nineteen"];
const ES_MONTHS: [&str; 12] = [
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
];
const EN_MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const EN_DAYS: [&str; 10] =
    ["first", "second", "third", "fourth", "fifth", "tenth", "twelfth", "fifteenth", "twentieth", "twenty third"];

fn pair(spanish: bool, random: &mut Random) -> String {
    let one = 1 + random.below(9);
    match (spanish, random.below(3)) {
        (true, 0) => ES_TEENS[random.below(8)].to_owned(),
        (false, 0) => EN_TEENS[random.below(8)].to_owned(),
        (true, _) => format!("{} y {}", ES_TENS[random.below(7)], ES[one]),
        (false, _) => format!("{} {}", EN_TENS[random.below(8)], EN[one]),
    }
}

/// A count or a dose: no personal number.
pub(crate) fn small(spanish: bool, random: &mut Random) -> String {
    match random.below(3) {
        0 => pair(spanish, random),
        _ if spanish => ES[1 + random.below(9)].to_owned(),
        _ => EN[1 + random.below(9)].to_owned(),
    }
}

/// A number of so many digits, said one by one or in pairs, with the hesitations of speech.
pub(crate) fn number(spanish: bool, count: usize, random: &mut Random) -> String {
    let words = if spanish { &ES } else { &EN };
    let pauses: &[&str] =
        if spanish { &["eh", "y", "este", "guion", "a ver"] } else { &["um", "uh", "and", "dash", "then"] };
    let in_pairs = random.chance(0.3);
    let (mut said, mut left) = (Vec::new(), count);
    while left > 0 {
        if left >= 2 && in_pairs && random.chance(0.8) {
            said.push(pair(spanish, random));
            left -= 2;
        } else if left >= 2 && random.chance(0.06) {
            said.push(format!("{} {}", if spanish { "doble" } else { "double" }, words[random.below(10)]));
            left -= 2;
        } else if !spanish && random.chance(0.1) {
            said.push("oh".to_owned());
            left -= 1;
        } else {
            said.push(words[random.below(10)].to_owned());
            left -= 1;
        }
        if left > 0 && random.chance(0.06) {
            said.push(random.pick(pauses).to_owned());
        }
    }
    said.join(" ")
}

/// A date in words.
pub(crate) fn date(spanish: bool, random: &mut Random) -> String {
    let month = random.below(12);
    if spanish {
        let year = match random.below(3) {
            0 => format!(" de mil novecientos {}", pair(true, random)),
            1 => format!(" de dos mil {}", ES[1 + random.below(9)]),
            _ => String::new(),
        };
        let day = if random.chance(0.5) { pair(true, random) } else { ES[1 + random.below(9)].to_owned() };
        return format!("{day} de {}{year}", ES_MONTHS[month]);
    }
    let year = match random.below(3) {
        0 => format!(" nineteen {}", pair(false, random)),
        1 => format!(" two thousand {}", EN[1 + random.below(9)]),
        _ => String::new(),
    };
    format!("{} {}{year}", EN_MONTHS[month], EN_DAYS[random.below(10)])
}

/// A street with its number.
pub(crate) fn street(spanish: bool, name: &str, random: &mut Random) -> String {
    let number = if random.chance(0.5) { pair(spanish, random) } else { small(spanish, random) };
    if spanish {
        let kind = random.pick(&["calle", "avenida", "plaza", "paseo", "carrera", "camino"]);
        let link = random.pick(&[" numero ", " ", " el "]);
        return format!("{kind} {name}{link}{number}");
    }
    format!("{number} {name} {}", random.pick(&["street", "avenue", "road", "lane", "drive", "court"]))
}

/// A mail address.
pub(crate) fn email(spanish: bool, name: &str, random: &mut Random) -> String {
    let words: Vec<String> = name.to_lowercase().split(' ').take(2).map(|word| word.replace('.', "")).collect();
    let (at, dot) = if spanish { ("arroba", "punto") } else { ("at", "dot") };
    let join = if spanish {
        random.pick(&[" punto ", " guion bajo ", " ", " guion "])
    } else {
        random.pick(&[" dot ", " underscore ", " ", " dash "])
    };
    let host = random.pick(&["gmail", "hotmail", "yahoo", "outlook", "icloud"]);
    let number = if random.chance(0.3) { format!(" {}", pair(spanish, random)) } else { String::new() };
    format!("{}{number} {at} {host} {dot} {}", words.join(join), random.pick(&["com", "com", "es", "net", "org"]))
}

/// A name spelled letter by letter.
pub(crate) fn spelled(name: &str, random: &mut Random) -> String {
    let join = random.pick(&[" ", ", ", "-"]);
    name.to_lowercase().chars().filter(|c| c.is_ascii_alphabetic()).map(String::from).collect::<Vec<_>>().join(join)
}
