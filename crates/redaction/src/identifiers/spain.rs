//! Spain: DNI, NIE, CIF, Social Security, health card (CIP), bank account (CCC).

use super::super::label;
use super::checks::{digits, modulo, varied, weighted};
use super::rule::{IdentifierRule, StandaloneMatch, unchecked};

const IDENTITY: &[&str] = &[
    "dni",
    "d.n.i",
    "d.n.i.",
    "nif",
    "n.i.f",
    "n.i.f.",
    "nie",
    "n.i.e",
    "n.i.e.",
    "documento",
    "identidad",
    "carnet",
    "identificacion",
    "tarjeta de residencia",
];

pub(crate) const RULES: &[IdentifierRule] = &[
    IdentifierRule {
        label: "ES_DNI",
        shapes: &["dd-ddd-ddd-a", "d-ddd-ddd-a", "dddddddd-a"],
        keywords: IDENTITY,
        check: dni,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "ES_NIE",
        shapes: &["a-d-ddd-ddd-a", "a-ddddddd-a", "a-dddddddd-a"],
        keywords: IDENTITY,
        check: nie,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "ES_CIF",
        shapes: &["a-dd-ddd-dd-w", "a-ddddddd-w", "a-dddddddw"],
        keywords: &["cif", "c.i.f", "c.i.f.", "nif", "empresa"],
        check: cif,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "ES_NSS",
        shapes: &["dd-dddddddd-dd", "dd-ddddddd-dd", "dd-dddddddddd"],
        keywords: &[
            "nss",
            "nass",
            "naf",
            "n.s.s",
            "n.s.s.",
            "seguridad social",
            "seg. social",
            "seg social",
            "afiliacion",
            "s.s.",
        ],
        check: social_security,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "ES_CIP",
        shapes: &["aaaa-d-dddddd-dd-d", "aaaa-dddddddddd", "aaaa-dddddddddddd", "aa-dddddddddd"],
        keywords: &["cip", "cipa", "tarjeta sanitaria", "tsi", "tarjeta"],
        check: unchecked,
        standalone: StandaloneMatch::Never,
    },
    IdentifierRule {
        label: label::BANK_ACCOUNT,
        shapes: &["dddd-dddd-dd-dddddddddd", "dddd-dddd-dddd-dddd-dddd"],
        keywords: &["ccc", "cuenta", "account", "banco", "bancaria"],
        check: bank_account,
        standalone: StandaloneMatch::Valid,
    },
    // Medical college: province, province, serial.
    IdentifierRule {
        label: label::LICENSE,
        shapes: &["dd-dd-ddddd"],
        keywords: &["colegiado", "colegiada", "ncol", "col", "nºcol"],
        check: unchecked,
        standalone: StandaloneMatch::Separated,
    },
];

const LETTERS: &[u8; 23] = b"trwagmyfpdxbnjzsqvhlcke";

fn dni(value: &str) -> bool {
    let (number, letter) = value.split_at(value.len() - 1);
    letter.as_bytes()[0] == LETTERS[modulo(digits(number), 23) as usize]
}

fn nie(value: &str) -> bool {
    let first = match value.as_bytes()[0] {
        b'x' => 0,
        b'y' => 1,
        b'z' => 2,
        // K, L and M begin the NIF of people without a DNI; their sum is that of the digits.
        b'k' | b'l' | b'm' => 0,
        _ => return false,
    };
    let number = std::iter::once(first).chain(digits(&value[1..value.len() - 1]));
    value.as_bytes()[value.len() - 1] == LETTERS[modulo(number, 23) as usize]
}

fn cif(value: &str) -> bool {
    if !b"abcdefghjnpqrsuvw".contains(&value.as_bytes()[0]) {
        return false;
    }
    let body = digits(&value[1..8]);
    let sum: u32 = body
        .iter()
        .enumerate()
        .map(|(at, digit)| if at % 2 == 0 { digit * 2 / 10 + digit * 2 % 10 } else { *digit })
        .sum();
    let control = (10 - sum % 10) % 10;
    match value.as_bytes()[8] {
        last @ b'0'..=b'9' => u32::from(last - b'0') == control,
        last => b"jabcdefghi"[control as usize] == last,
    }
}

/// Number modulo 97 (Order of the Spanish Social Security): the first zero of the serial is left out below 10 million.
fn social_security(value: &str) -> bool {
    let all = digits(value);
    let (body, control) = all.split_at(all.len() - 2);
    let control = control[0] * 10 + control[1];
    // Both readings are accepted, because the zero is sometimes written.
    let short = body.len() > 3 && body[2] == 0;
    let number: Vec<u32> = if short { body[..2].iter().chain(&body[3..]).copied().collect() } else { body.to_vec() };
    (modulo(number, 97) == control || modulo(body.to_vec(), 97) == control) && varied(value)
}

fn bank_account(value: &str) -> bool {
    let all = digits(value);
    let weights = [1, 2, 4, 8, 5, 10, 9, 7, 3, 6];
    let control = |part: &[u32], weights: &[u32]| match 11 - weighted(part, weights) % 11 {
        11 => 0,
        10 => 1,
        digit => digit,
    };
    control(&all[..8], &weights[2..]) == all[8] && control(&all[10..], &weights) == all[9] && varied(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spanish_check_digits_are_right() {
        assert!(dni("12345678z") && !dni("12345678a"));
        assert!(nie("x1234567l") && nie("z8078221m") && !nie("z8078221n"));
        assert!(cif("a58818501") && !cif("a58818502"));
        assert!(social_security("281234567840") && !social_security("281234567841"));
        assert!(bank_account("21000418450200051332") && !bank_account("21000418450200051333"));
    }

    #[test]
    fn letters_and_digits_of_control_are_those_of_the_published_sums() {
        for value in ["45871203a", "7345128d", "60294817h", "00000000t", "99999999r"] {
            assert!(dni(value), "{value}");
        }
        for value in ["45871203b", "7345128t", "60294817z"] {
            assert!(!dni(value), "{value}");
        }
        for value in ["x4820917w", "y7712046e", "z3305918h", "k1234567l", "x01234567l"] {
            assert!(nie(value), "{value}");
        }
        for value in ["x7712046e", "y3305918h", "z4820917w", "w4820917w", "x4820917z"] {
            assert!(!nie(value), "{value}");
        }
    }

    #[test]
    fn a_company_has_a_digit_or_a_letter_of_control_and_a_letter_of_its_kind() {
        for value in ["b73019424", "q2810055j", "g44901635", "b7301942d", "a58818501"] {
            assert!(cif(value), "{value}");
        }
        for value in ["b73019425", "q2810055i", "i73019424", "z73019424", "b7301942e"] {
            assert!(!cif(value), "{value}");
        }
    }

    #[test]
    fn the_number_of_social_security_leaves_out_the_first_zero_of_its_serial() {
        for value in ["283456781256", "080345678118", "410034567879"] {
            assert!(social_security(value), "{value}");
        }
        for value in ["283456781257", "080345678119", "410034567878", "000000000000"] {
            assert!(!social_security(value), "{value}");
        }
    }

    #[test]
    fn a_bank_account_has_one_digit_of_control_for_the_bank_and_one_for_itself() {
        for value in ["20850193461234567890", "20850193440005131277", "20850193464501928374", "20850193447700112233"] {
            assert!(bank_account(value), "{value}");
        }
        for value in ["20850193361234567890", "20850193471234567890", "20850194461234567890", "00000000000000000000"] {
            assert!(!bank_account(value), "{value}");
        }
    }
}
