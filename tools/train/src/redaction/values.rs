//! Invented values of slots: names from the lists and of no list, places, streets, organisations, numbers in digits and in
//! words. Everything is folded, as the tagger reads it; case and punctuation are those of real texts.

use super::spoken_values as said;
use anamnesis_linear_model::random::Random;
use anamnesis_redaction::internals::gazetteer;
use anamnesis_redaction::label;
use anamnesis_text::Language;

/// What fills a slot.
pub(crate) enum SlotValue {
    Plain(String),
    Personal(String, &'static str),
}

/// Lists that values are made from.
pub(crate) struct NamePool {
    given: Vec<&'static str>,
    everyday: Vec<&'static str>,
    surnames: Vec<&'static str>,
    places: Vec<&'static str>,
    countries: Vec<&'static str>,
}

impl NamePool {
    pub(crate) fn builtin() -> Self {
        let sorted = |mut list: Vec<&'static str>| {
            list.sort_unstable();
            list
        };
        Self {
            given: sorted(gazetteer::given_names()),
            everyday: sorted(gazetteer::everyday_names()),
            surnames: sorted(gazetteer::surnames()),
            places: sorted(gazetteer::places()),
            countries: sorted(gazetteer::countries()),
        }
    }
}

/// A value for a slot; `None` for a slot that is not made here.
pub(crate) fn make(slot: &str, language: Language, names: &NamePool, random: &mut Random) -> Option<SlotValue> {
    let spanish = language == Language::Spanish;
    let personal = |value: String, label| Some(SlotValue::Personal(value, label));
    match slot {
        "full" => personal(full(spanish, names, random), label::PERSON),
        "name" if random.chance(0.45) => personal(given(names, random), label::PERSON),
        "name" => personal(full(spanish, names, random), label::PERSON),
        "given" => personal(given(names, random), label::PERSON),
        "surname" if random.chance(0.3) && spanish => {
            personal(format!("{} {}", surname(names, random), surname(names, random)), label::PERSON)
        }
        "surname" => personal(surname(names, random), label::PERSON),
        "reversed" => personal(reversed(spanish, names, random), label::PERSON),
        "shouted" => personal(full(spanish, names, random).to_uppercase(), label::PERSON),
        "place" => personal(place(names, random), label::LOCATION),
        "country" => personal(title(names.countries[random.below(names.countries.len())]), label::COUNTRY),
        "street" => personal(street(spanish, names, random), label::ADDRESS),
        "street_words" => {
            personal(said::street(spanish, &surname(names, random).to_lowercase(), random), label::ADDRESS)
        }
        "postal" => personal(postal(spanish, random), label::POSTAL_CODE),
        "hospital" => personal(hospital(spanish, names, random), label::ORGANIZATION),
        "company" => personal(company(spanish, names, random), label::ORGANIZATION),
        "school" => personal(school(spanish, names, random), label::ORGANIZATION),
        "date" => personal(date(spanish, random), label::DATE),
        "date_words" => personal(said::date(spanish, random), label::DATE),
        "phone" => personal(phone(spanish, random), label::PHONE),
        "phone_words" => personal(said::number(spanish, 7 + random.below(4), random), label::PHONE),
        "email" => personal(email(names, random), label::EMAIL),
        "email_words" => personal(said::email(spanish, &full(spanish, names, random), random), label::EMAIL),
        "spelled" => personal(said::spelled(&surname(names, random), random), label::PERSON),
        "id" => personal(id(random), label::NUMBER),
        "id_words" => personal(said::number(spanish, 5 + random.below(6), random), label::NUMBER),
        "n" => Some(SlotValue::Plain((2 + random.below(88)).to_string())),
        "small" => Some(SlotValue::Plain((1 + random.below(9)).to_string())),
        "dose" => Some(SlotValue::Plain(dose(random))),
        "year" => personal((1950 + random.below(76)).to_string(), label::DATE),
        "n_words" => Some(SlotValue::Plain(said::small(spanish, random))),
        _ => None,
    }
}

fn title(lower: &str) -> String {
    lower
        .split(' ')
        .map(|word| match word {
            "de" | "del" | "la" | "las" | "los" | "el" | "y" | "of" | "the" | "and" => word.to_owned(),
            _ => {
                let mut letters = word.chars();
                letters
                    .next()
                    .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
                    .unwrap_or_default()
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

pub(crate) fn given(names: &NamePool, random: &mut Random) -> String {
    let list = if random.chance(0.4) { &names.everyday } else { &names.given };
    title(list[random.below(list.len())])
}

/// A surname of the lists, or of none: two halves of known ones.
pub(crate) fn surname(names: &NamePool, random: &mut Random) -> String {
    let one = names.surnames[random.below(names.surnames.len())];
    if random.chance(0.7) {
        return title(one);
    }
    let other = names.surnames[random.below(names.surnames.len())];
    title(&format!("{}{}", &one[..one.len().div_ceil(2)], &other[other.len() / 2..]))
}

fn full(spanish: bool, names: &NamePool, random: &mut Random) -> String {
    let first = given(names, random);
    let (one, two) = (surname(names, random), surname(names, random));
    match (spanish, random.below(8)) {
        (true, 0..=2) => format!("{first} {one}"),
        (true, 3..=5) => format!("{first} {one} {two}"),
        (true, 6) => format!("{first} {} {one} {two}", given(names, random)),
        (true, _) => format!("{first} de la {one}"),
        (false, 0..=5) => format!("{first} {one}"),
        (false, 6) => format!("{first} {}. {one}", &two[..1]),
        (false, _) => format!("{first} {} {one}", given(names, random)),
    }
}

fn reversed(spanish: bool, names: &NamePool, random: &mut Random) -> String {
    let (one, two, first) = (surname(names, random), surname(names, random), given(names, random));
    let name = if spanish { format!("{one} {two}, {first}") } else { format!("{one}, {first}") };
    if random.chance(0.5) { name.to_uppercase() } else { name }
}

pub(crate) fn place(names: &NamePool, random: &mut Random) -> String {
    let one = names.places[random.below(names.places.len())];
    if random.chance(0.85) || one.len() < 4 || !one.is_ascii() {
        return title(one);
    }
    let other = names.places[random.below(names.places.len())];
    let tail = other.get(other.len() / 2..).unwrap_or("ton");
    title(&format!("{}{tail}", &one[..one.len() / 2]))
}

fn street(spanish: bool, names: &NamePool, random: &mut Random) -> String {
    let number = 1 + random.below(300);
    let name = if random.chance(0.5) { surname(names, random) } else { full(spanish, names, random) };
    if spanish {
        let kind = random.pick(&[
            "Calle", "C/", "Avda.", "Avenida", "Plaza", "Paseo", "Camino", "Ctra.", "Ronda", "Carrera", "Jr.",
            "Pasaje", "Av.",
        ]);
        let tail = match random.below(6) {
            0 => format!(", {}o {}", 1 + random.below(9), random.pick(&["A", "B", "C", "D", "izq", "dcha"])),
            1 => format!(", piso {}", 1 + random.below(12)),
            2 => format!(" depto {}", 100 + random.below(900)),
            _ => String::new(),
        };
        let comma = random.pick(&[" ", ", ", " n. ", " #", ", numero "]);
        return format!("{kind} {name}{comma}{number}{tail}");
    }
    let kind = random.pick(&[
        "Street",
        "St",
        "St.",
        "Avenue",
        "Ave",
        "Road",
        "Rd",
        "Lane",
        "Drive",
        "Dr",
        "Boulevard",
        "Court",
        "Place",
        "Way",
        "Terrace",
        "Circle",
    ]);
    let tail = match random.below(6) {
        0 => format!(", Apt {}", 1 + random.below(90)),
        1 => format!(" Suite {}", 100 + random.below(900)),
        2 => format!(" Apt. {}", 100 + random.below(900)),
        _ => String::new(),
    };
    match random.below(8) {
        0 => format!("{} {number} {}{tail}", random.pick(&["Rue", "Via", "Rua", "Calle", "ul."]), title(&name)),
        1 => format!("{number} {name} {}{tail}", 1 + random.below(200)),
        2 => format!("{number} {}strasse {}{tail}", name, 1 + random.below(99)),
        3 => format!("P.O. Box {}", 10 + random.below(9000)),
        _ => format!("{number} {name} {kind}{tail}"),
    }
}

fn postal(spanish: bool, random: &mut Random) -> String {
    match (spanish, random.below(6)) {
        (true, _) => format!("{:05}", 1000 + random.below(52000)),
        (false, 0) => format!(
            "{}{} {}{}{}",
            random.pick(&["SW", "NW", "E", "M", "LS", "B"]),
            1 + random.below(20),
            random.below(10),
            random.pick(&["A", "B", "D"]),
            random.pick(&["E", "F", "G"])
        ),
        _ => format!("{:05}", 1000 + random.below(98000)),
    }
}

fn hospital(spanish: bool, names: &NamePool, random: &mut Random) -> String {
    let of = match random.below(3) {
        0 => place(names, random),
        1 => format!(
            "{} {}",
            if spanish { random.pick(&["San", "Santa", "Virgen de"]) } else { random.pick(&["St.", "Saint", "Mount"]) },
            given(names, random)
        ),
        _ => surname(names, random),
    };
    if spanish {
        let kind = random.pick(&[
            "Hospital",
            "Hospital General",
            "Hospital Universitario",
            "Hospital Clinico",
            "Clinica",
            "Centro de Salud",
            "Hospital Regional de",
            "Sanatorio",
            "CAP",
            "Instituto",
            "Policlinica",
            "Centro Medico",
            "Hospital Comarcal de",
            "Complejo Hospitalario de",
        ]);
        return format!("{kind} {of}");
    }
    let kind = random.pick(&[
        "Hospital",
        "Medical Center",
        "Clinic",
        "General Hospital",
        "Memorial Hospital",
        "Health Center",
        "Regional Medical Center",
        "Family Practice",
        "Healthcare",
        "Infirmary",
        "Children's Hospital",
        "Behavioral Health",
    ]);
    format!("{of} {kind}")
}

fn company(spanish: bool, names: &NamePool, random: &mut Random) -> String {
    let (one, two) = (surname(names, random), surname(names, random));
    let bright = random
        .pick(&["Solar", "Data", "Blue", "Nova", "Green", "Open", "Smart", "Next", "Red", "Metro", "Omni", "Terra"]);
    match (spanish, random.below(7)) {
        (true, 0) => format!("{one} {}", random.pick(&["S.A.", "S.L.", "SA de CV", "y Asociados", "Hermanos"])),
        (true, 1) => format!(
            "{} {one}",
            random.pick(&[
                "Grupo",
                "Transportes",
                "Talleres",
                "Supermercados",
                "Construcciones",
                "Laboratorios",
                "Seguros",
                "Banco"
            ])
        ),
        (true, 2) => {
            format!("{} {}", random.pick(&["Fundacion", "Asociacion", "Farmacia", "Panaderia", "Ferreteria"]), one)
        }
        (false, 0) => format!(
            "{one} {}",
            random.pick(&["Inc", "Inc.", "LLC", "Ltd.", "Group", "PLC", "Corp", "Partners", "Holdings", "& Co"])
        ),
        (false, 1) => format!("{one}, {two} and {}", surname(names, random)),
        (false, 2) => format!("{one}-{two}"),
        (_, 3) => {
            format!("{bright}{}", random.pick(&["lytics", "soft", "works", "list", "guard", "hub", "media", "wave"]))
        }
        (_, 4) => format!(
            "{bright} {}",
            random.pick(&["Networks", "Systems", "Energy", "Robotics", "Insurance", "Logistics", "Telecom"])
        ),
        (_, 5) => format!(
            "{one} {}",
            random.pick(&["Motors", "Foods", "Airlines", "Bank", "Pharma", "Consulting", "Maintenance"])
        ),
        _ => format!("{one} & {two}"),
    }
}

fn school(spanish: bool, names: &NamePool, random: &mut Random) -> String {
    if spanish {
        let kind = random.pick(&[
            "Colegio",
            "IES",
            "CEIP",
            "Instituto",
            "Universidad de",
            "Escuela",
            "Liceo",
            "Facultad de Medicina de",
        ]);
        return format!("{kind} {}", if random.chance(0.5) { place(names, random) } else { full(true, names, random) });
    }
    let kind = random.pick(&[
        "High School",
        "University",
        "College",
        "Elementary",
        "Middle School",
        "Academy",
        "Primary School",
    ]);
    format!("{} {kind}", if random.chance(0.5) { place(names, random) } else { surname(names, random) })
}

fn date(spanish: bool, random: &mut Random) -> String {
    const ES: &[&str] = &[
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
    const EN: &[&str] = &[
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let (day, month, year) = (1 + random.below(28), 1 + random.below(12), 1940 + random.below(87));
    match (spanish, random.below(8)) {
        (_, 0) => format!("{year}-{month:02}-{day:02}"),
        (true, 1 | 2) => format!("{day} de {} de {year}", ES[month - 1]),
        (true, 3) => format!("{day} de {}", ES[month - 1]),
        (true, 4) => format!("{} de {year}", ES[month - 1]),
        (false, 1) => format!("{} {day}, {year}", EN[month - 1]),
        (false, 2) => format!("{day} {} {year}", EN[month - 1]),
        (false, 3) => format!("{} {day}", EN[month - 1]),
        (false, 4) => format!("{} {year}", EN[month - 1]),
        (true, 5) => format!("{day:02}-{month:02}-{year}"),
        (true, _) => format!("{day}/{month}/{year}"),
        (false, 5) => format!("{month}/{day}/{:02}", year % 100),
        (false, _) => format!("{month}/{day}/{year}"),
    }
}

fn digits(count: usize, random: &mut Random) -> String {
    (0..count).map(|_| char::from(b'0' + random.below(10) as u8)).collect()
}

fn phone(spanish: bool, random: &mut Random) -> String {
    let mut d = |count| digits(count, random);
    let (a, b, c, e) = (d(3), d(3), d(3), d(4));
    match (spanish, random.below(7)) {
        (true, 0) => format!("6{} {b} {c}", &a[1..]),
        (true, 1) => format!("9{} {} {} {}", &a[1..], &b[1..], &c[1..], &e[2..]),
        (true, 2) => format!("+34 6{} {b} {c}", &a[1..]),
        (true, 3) => format!("6{}{b}{c}", &a[1..]),
        (true, 4) => format!("+52 55 {e} {a}{}", &b[..1]),
        (true, 5) => format!("({}) {e}-{a}{}", &b[1..], &c[..1]),
        (true, _) => format!("3{} {b} {e}", &a[1..]),
        (false, 0) => format!("({a}) {b}-{e}"),
        (false, 1) => format!("{a}-{b}-{e}"),
        (false, 2) => format!("{a}.{b}.{e}"),
        (false, 3) => format!("{b}-{e}"),
        (false, 4) => format!("+1 {a} {b} {e}"),
        (false, 5) => format!("0{a} {e} {b}"),
        (false, _) => format!("{} {} {}", &a[1..], b, c),
    }
}

fn email(names: &NamePool, random: &mut Random) -> String {
    let (one, two) = (given(names, random).to_lowercase(), surname(names, random).to_lowercase());
    let at =
        random.pick(&["gmail.com", "hotmail.com", "yahoo.es", "outlook.com", "correo.es", "mail.org", "live.com.mx"]);
    let join = random.pick(&[".", "_", "", "-"]);
    format!("{one}{join}{two}@{at}").replace([' ', '\''], "")
}

fn id(random: &mut Random) -> String {
    match random.below(7) {
        0 => format!("{}{}", digits(8, random), random.pick(&["A", "B", "H", "Z", "T"])),
        1 => format!("{}-{}", digits(3, random), digits(4, random)),
        2 => format!("{}{}", random.pick(&["A", "HC", "P-", "MR", "X"]), digits(6, random)),
        3 => digits(7, random),
        4 => format!("{} {} {}", digits(2, random), digits(2, random), digits(5, random)),
        5 => digits(6, random),
        _ => digits(10, random),
    }
}

fn dose(random: &mut Random) -> String {
    let amount =
        random.pick(&["5", "10", "20", "25", "50", "75", "100", "150", "200", "0.5", "2,5", "500", "850", "1"]);
    format!("{amount} {}", random.pick(&["mg", "mg", "mg", "g", "ml", "mcg", "UI"]))
}
