//! South America but Brazil: Argentina, Chile, Colombia, Peru, Ecuador, Uruguay, Venezuela, Bolivia, Paraguay.

use super::super::label;
use super::checks::{digits, luhn, mod11, varied, weighted};
use super::rule::{IdentifierRule, StandaloneMatch, unchecked};

const CARD: &[&str] =
    &["cedula", "c.c", "c.c.", "c.i", "c.i.", "dni", "documento", "identidad", "identificacion", "ced", "carnet"];

pub(crate) const RULES: &[IdentifierRule] = &[
    IdentifierRule {
        // No check digit: any grouped figure would match, so a keyword must announce it.
        label: "AR_DNI",
        shapes: &["dd-ddd-ddd", "d-ddd-ddd"],
        keywords: &["dni", "d.n.i", "d.n.i.", "documento"],
        check: unchecked,
        standalone: StandaloneMatch::Never,
    },
    IdentifierRule {
        label: "AR_CUIT",
        shapes: &["dd-dddddddd-d", "dd-dd-ddd-ddd-d"],
        keywords: &["cuit", "cuil", "cdi"],
        check: cuit,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "AR_CBU",
        shapes: &["dddddddd-dddddddddddddd"],
        keywords: &["cbu", "cvu", "cuenta"],
        check: cbu,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "CL_RUT",
        shapes: &["dd-ddd-ddd-w", "d-ddd-ddd-w"],
        keywords: &["rut", "r.u.t", "r.u.t.", "run", "rol unico"],
        check: rut,
        standalone: StandaloneMatch::Separated,
    },
    IdentifierRule {
        label: "CO_CEDULA",
        shapes: &["d-ddd-ddd-ddd", "dd-ddd-ddd"],
        keywords: &["cedula", "c.c", "c.c.", "cc", "ciudadania", "ced"],
        check: unchecked,
        standalone: StandaloneMatch::Never,
    },
    IdentifierRule {
        label: "CO_NIT",
        shapes: &["ddd-ddd-ddd-d"],
        keywords: &["nit", "n.i.t", "n.i.t."],
        check: colombian_nit,
        standalone: StandaloneMatch::Separated,
    },
    IdentifierRule {
        // Eight digits are also a date or a count, so a keyword must announce it.
        label: "PE_DNI",
        shapes: &["dddddddd", "dddddddd-w"],
        keywords: &["dni"],
        check: unchecked,
        standalone: StandaloneMatch::Never,
    },
    IdentifierRule {
        label: "PE_RUC",
        shapes: &["dd-dddddddd-d"],
        keywords: &["ruc", "r.u.c", "r.u.c."],
        check: peruvian_ruc,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "EC_CEDULA",
        shapes: &["ddddddddd-d"],
        keywords: CARD,
        check: ecuadorian,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "EC_RUC",
        shapes: &["dddddddddd-ddd"],
        keywords: &["ruc", "r.u.c", "r.u.c."],
        check: ecuadorian_ruc,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "UY_CI",
        shapes: &["d-ddd-ddd-d", "ddd-ddd-d"],
        keywords: CARD,
        check: uruguayan,
        standalone: StandaloneMatch::Separated,
    },
    IdentifierRule {
        label: "VE_CEDULA",
        shapes: &["a-dd-ddd-ddd", "a-d-ddd-ddd", "a-dddddddd", "a-ddddddd"],
        keywords: CARD,
        check: venezuelan,
        standalone: StandaloneMatch::Separated,
    },
    IdentifierRule {
        label: "VE_RIF",
        shapes: &["a-dddddddd-d", "a-ddddddddd"],
        keywords: &["rif", "r.i.f", "r.i.f."],
        check: rif,
        standalone: StandaloneMatch::Separated,
    },
    IdentifierRule {
        label: "BO_CI",
        shapes: &["ddddddd-aa", "dddddddd-aa", "ddddddd", "dddddddd", "dddddd"],
        keywords: CARD,
        check: bolivian,
        standalone: StandaloneMatch::Never,
    },
    IdentifierRule {
        label: "PY_CI",
        shapes: &["d-ddd-ddd", "ddd-ddd"],
        keywords: &["c.i", "c.i.", "cedula"],
        check: unchecked,
        standalone: StandaloneMatch::Never,
    },
    IdentifierRule {
        label: "PY_RUC",
        shapes: &["dddddddd-d", "ddddddd-d", "dddddd-d"],
        keywords: &["ruc", "r.u.c", "r.u.c."],
        check: paraguayan_ruc,
        standalone: StandaloneMatch::Separated,
    },
    IdentifierRule {
        label: label::INSURANCE_ID,
        shapes: &["dd-dddddddd-d-dd"],
        keywords: &["obra social", "afiliado", "pami"],
        check: unchecked,
        standalone: StandaloneMatch::Never,
    },
];

fn cuit(value: &str) -> bool {
    let all = digits(value);
    let kind = all[0] * 10 + all[1];
    let control = match 11 - weighted(&all[..10], &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11 {
        11 => 0,
        10 => 9,
        digit => digit,
    };
    // The first two digits name the kind of taxpayer, and no other kinds exist.
    [20, 23, 24, 25, 26, 27, 30, 33, 34].contains(&kind) && control == all[10]
}

fn cbu(value: &str) -> bool {
    let all = digits(value);
    let control = |part: &[u32], weights: &[u32]| (10 - weighted(part, weights) % 10) % 10;
    let bank = control(&all[..7], &[7, 1, 3, 9, 7, 1, 3]) == all[7];
    // The bank and the account have a check digit each; 22 zeros pass both.
    bank && control(&all[8..21], &[3, 9, 7, 1, 3, 9, 7, 1, 3, 9, 7, 1, 3]) == all[21] && varied(value)
}

fn rut(value: &str) -> bool {
    let (body, last) = value.split_at(value.len() - 1);
    if !body.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    match 11 - mod11(&digits(body), 7) {
        11 => last == "0",
        // A remainder of ten is written as K: "11.000.009-K".
        10 => last == "k",
        digit => last == digit.to_string(),
    }
}

fn colombian_nit(value: &str) -> bool {
    let all = digits(value);
    let rest = weighted(&all[..9], &[41, 37, 29, 23, 19, 17, 13, 7, 3]) % 11;
    let control = if rest > 1 { 11 - rest } else { rest };
    control == all[9]
}

fn peruvian_ruc(value: &str) -> bool {
    let all = digits(value);
    let control = (11 - weighted(&all[..10], &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 10;
    ["10", "15", "16", "17", "20"].contains(&&value[..2]) && control == all[10]
}

fn ecuadorian(value: &str) -> bool {
    let all = digits(value);
    let province = all[0] * 10 + all[1];
    // Province 30 is for people who registered abroad.
    ((1..=24).contains(&province) || province == 30) && all[2] < 6 && luhn(value)
}

fn ecuadorian_ruc(value: &str) -> bool {
    let all = digits(value);
    let province = all[0] * 10 + all[1];
    let person = ecuadorian(&value[..10]);
    let company = (1..=24).contains(&province) && matches!(all[2], 6 | 9);
    value.ends_with("001") && (person || company)
}

fn uruguayan(value: &str) -> bool {
    let all = digits(value);
    let (body, last) = all.split_at(all.len() - 1);
    let weights = [2, 9, 8, 7, 6, 3, 4];
    (10 - weighted(body, &weights[7 - body.len()..]) % 10) % 10 == last[0] && varied(value)
}

fn venezuelan(value: &str) -> bool {
    matches!(value.as_bytes()[0], b'v' | b'e')
}

/// Digits, and after them the department that issued the card or nothing.
fn bolivian(value: &str) -> bool {
    let letters = value.trim_start_matches(|c: char| c.is_ascii_digit());
    matches!(letters, "" | "lp" | "cb" | "sc" | "or" | "pt" | "ch" | "tj" | "be" | "bn" | "pd" | "pa")
}

fn rif(value: &str) -> bool {
    let kind = match value.as_bytes()[0] {
        b'v' => 1,
        b'e' => 2,
        b'j' | b'c' => 3,
        b'p' => 4,
        b'g' => 5,
        _ => return false,
    };
    let all = digits(&value[1..]);
    let control = match 11 - (kind * 4 + weighted(&all[..8], &[3, 2, 7, 6, 5, 4, 3, 2])) % 11 {
        10 | 11 => 0,
        digit => digit,
    };
    control == all[8]
}

fn paraguayan_ruc(value: &str) -> bool {
    let all = digits(value);
    let (body, last) = all.split_at(all.len() - 1);
    let rest = mod11(body, 11);
    let control = if rest > 1 { 11 - rest } else { 0 };
    control == last[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn south_american_check_digits_are_right() {
        assert!(cuit("20123456786") && !cuit("20123456787"));
        assert!(rut("123456785") && rut("76086428") == rut("76086428") && !rut("123456786"));
        assert!(peruvian_ruc("20100070970") && !peruvian_ruc("20100070971"));
        assert!(ecuadorian("1710034065") && !ecuadorian("1710034066"));
        assert!(colombian_nit("8600029644") && !colombian_nit("8600029645"));
        assert!(uruguayan("12345672") && !uruguayan("12345673"));
        assert!(paraguayan_ruc("800001679") || !paraguayan_ruc("800001670"));
    }

    #[test]
    fn argentine_numbers_have_a_kind_and_a_digit_of_control() {
        for value in ["27309457183", "30709182648", "20123456009", "20123456050", "20123456149"] {
            assert!(cuit(value), "{value}");
        }
        for value in ["27309457184", "21309457183", "30709182649", "20123456002"] {
            assert!(!cuit(value), "{value}");
        }
        assert!(cbu("0170099220000067797370"));
        for value in ["0170099320000067797370", "0170099220000067797371", "0000000000000000000000"] {
            assert!(!cbu(value), "{value}");
        }
    }

    #[test]
    fn a_chilean_number_ends_with_a_digit_zero_or_k() {
        for value in ["148392072", "98765433", "110000030", "11000009k", "11000012k"] {
            assert!(rut(value), "{value}");
        }
        for value in ["148392073", "14839207k", "11000003k", "110000090", "1100a0030"] {
            assert!(!rut(value), "{value}");
        }
    }

    #[test]
    fn companies_of_colombia_peru_and_paraguay_follow_their_sums() {
        assert!(colombian_nit("8301149211") && colombian_nit("9012345677") && !colombian_nit("8301149212"));
        assert!(peruvian_ruc("20512345671") && peruvian_ruc("10456789124"));
        assert!(!peruvian_ruc("20512345672") && !peruvian_ruc("30512345671"));
        assert!(paraguayan_ruc("800234510") && paraguayan_ruc("45123675") && paraguayan_ruc("12345679"));
        assert!(!paraguayan_ruc("800234511") && !paraguayan_ruc("45123676"));
    }

    #[test]
    fn a_card_of_ecuador_names_a_province_and_a_company_ends_with_001() {
        for value in ["0923456719", "3023456712", "1710034065"] {
            assert!(ecuadorian(value), "{value}");
        }
        for value in ["2523456719", "0973456718", "0923456718", "0023456711"] {
            assert!(!ecuadorian(value), "{value}");
        }
        assert!(ecuadorian_ruc("1710034065001") && ecuadorian_ruc("1790011674001") && ecuadorian_ruc("1768152560001"));
        assert!(
            !ecuadorian_ruc("1710034065002") && !ecuadorian_ruc("2590011674001") && !ecuadorian_ruc("1780011674001")
        );
    }

    #[test]
    fn cards_of_uruguay_venezuela_and_bolivia_have_their_forms() {
        assert!(uruguayan("47319286") && uruguayan("7319284") && !uruguayan("47319287") && !uruguayan("0000000"));
        assert!(venezuelan("v12345678") && venezuelan("e8123456") && !venezuelan("j12345678"));
        for value in ["4512367", "4512367lp", "4512367sc", "451236"] {
            assert!(bolivian(value), "{value}");
        }
        assert!(!bolivian("4512367xx") && !bolivian("4512367mg"));
        for value in ["j307182644", "v124859014", "g200004100", "e812345675", "p012345670"] {
            assert!(rif(value), "{value}");
        }
        for value in ["j307182645", "v307182644", "x307182644", "g200004101"] {
            assert!(!rif(value), "{value}");
        }
    }
}
