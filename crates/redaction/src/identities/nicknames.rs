//! Nicknames and diminutives, Spanish and English. Each line is one group of interchangeable forms. Common knowledge,
//! written for this project.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

const GROUPS: &str = include_str!("../data/nicknames.txt");

static BY_FORM: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut forms: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in GROUPS.lines().filter(|line| !line.starts_with('#')) {
        for form in line.split_whitespace() {
            forms.entry(form).or_default().push(line);
        }
    }
    forms
});

/// Every form a given name (folded, lower case) may take: its groups, and Spanish and English diminutives.
pub(crate) fn forms(name: &str) -> HashSet<String> {
    let mut all: HashSet<String> = HashSet::from([name.to_owned()]);
    for line in BY_FORM.get(name).into_iter().flatten() {
        all.extend(line.split_whitespace().map(str::to_owned));
    }
    let bases: Vec<String> = all.iter().cloned().collect();
    for base in bases.iter().filter(|base| base.len() >= 3 && base.is_ascii()) {
        all.extend(diminutives(base));
    }
    all
}

/// "Pedro" → "pedrito", "pedrin"; "Carmen" → "carmencita"; "Luis" → "luisito"; "John" → "johnny".
fn diminutives(name: &str) -> Vec<String> {
    let (stem, last) = name.split_at(name.len() - 1);
    let soft = |ending: &str| match stem.as_bytes().last() {
        Some(b'c') if last != "e" => format!("{}qu{ending}", &stem[..stem.len() - 1]),
        Some(b'g') if last != "e" => format!("{stem}u{ending}"),
        _ => format!("{stem}{ending}"),
    };
    let mut made = match last {
        "o" => vec![soft("ito"), soft("in"), soft("illo"), soft("ete")],
        "a" => vec![soft("ita"), soft("illa"), soft("uca"), soft("ina")],
        "s" => vec![format!("{name}ito"), format!("{stem}itos"), format!("{name}in")],
        "e" => vec![format!("{name}cito"), format!("{name}cita"), soft("ito"), soft("ita")],
        "n" | "r" | "l" => {
            ["cito", "cita", "ito", "ita", "in"].iter().map(|ending| format!("{name}{ending}")).collect()
        }
        _ => Vec::new(),
    };
    // English endings follow a consonant: "johnny", but no "rosay".
    if !matches!(last, "a" | "o" | "e" | "i" | "y") {
        made.extend([format!("{name}y"), format!("{name}{last}y"), format!("{name}ie")]);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::forms;

    #[test]
    fn a_name_knows_its_nicknames_and_diminutives_both_ways() {
        for (name, form) in [
            ("francisco", "paco"),
            ("paco", "francisco"),
            ("pedro", "pedrito"),
            ("carmen", "carmencita"),
            ("william", "bill"),
            ("katherine", "kate"),
            ("luis", "luisito"),
            ("paco", "paquito"),
            ("dolores", "lola"),
        ] {
            assert!(forms(name).contains(form), "{name} → {form}");
        }
    }

    #[test]
    fn diminutives_follow_the_ending_of_the_name() {
        for (name, form) in [
            ("marco", "marquito"),
            ("diego", "dieguito"),
            ("rosa", "rosita"),
            ("carlos", "carlosito"),
            ("jorge", "jorgecito"),
            ("carmen", "carmencita"),
            ("raul", "raulito"),
            ("john", "johnny"),
            ("will", "willie"),
        ] {
            assert!(forms(name).contains(form), "{name} → {form}");
        }
        assert!(!forms("rosa").contains("rosay"), "no English ending behind a vowel");
        assert_eq!(forms("xu").len(), 1, "too short for a diminutive");
        assert!(forms("zzyzx").contains("zzyzx"));
    }
}
