//! Mexico and Central America and the Caribbean: CURP, RFC, NSS; Guatemala, El Salvador, Costa Rica, Dominican Republic.

use super::checks::{date_yymmdd, digits, luhn, mod11, varied, weighted};
use super::rule::{IdentifierRule, StandaloneMatch, unchecked};

pub(crate) const RULES: &[IdentifierRule] = &[
    IdentifierRule {
        label: "MX_CURP",
        shapes: &["aaaa-dddddd-aaaaaa-wd", "aaaaddddddaaaaaawd"],
        keywords: &["curp", "clave unica"],
        check: curp,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "MX_RFC",
        shapes: &["aaaa-dddddd-www", "aaa-dddddd-www", "aaaa-dddddd"],
        keywords: &["rfc", "r.f.c", "r.f.c.", "registro federal"],
        check: rfc,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "MX_NSS",
        shapes: &["dd-dd-dd-dddd-d", "ddddddddddd", "ddddddddddw"],
        keywords: &["nss", "imss", "seguro social", "seguridad social", "issste", "afiliacion"],
        check: luhn,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "GT_DPI",
        shapes: &["dddd-ddddd-dddd"],
        keywords: &["dpi", "cui", "documento", "identificacion"],
        check: guatemalan_dpi,
        standalone: StandaloneMatch::Separated,
    },
    IdentifierRule {
        label: "GT_NIT",
        shapes: &["ddddddd-w", "dddddd-w", "dddddddd-w"],
        keywords: &["nit"],
        check: guatemalan_nit,
        standalone: StandaloneMatch::Never,
    },
    IdentifierRule {
        label: "SV_DUI",
        shapes: &["dddddddd-d"],
        keywords: &["dui", "documento unico"],
        check: dui,
        standalone: StandaloneMatch::Separated,
    },
    IdentifierRule {
        label: "CR_CEDULA",
        shapes: &["d-dddd-dddd", "dd-dddd-dddd"],
        keywords: &["cedula", "ced", "identificacion", "dimex"],
        check: costa_rican,
        standalone: StandaloneMatch::Separated,
    },
    IdentifierRule {
        label: "DO_CEDULA",
        shapes: &["ddd-ddddddd-d"],
        keywords: &["cedula", "ced", "identidad"],
        check: luhn,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "DO_RNC",
        shapes: &["d-dd-ddddd-d", "ddd-ddddd-d"],
        keywords: &["rnc"],
        check: rnc,
        standalone: StandaloneMatch::Separated,
    },
    IdentifierRule {
        label: "MX_CURP",
        shapes: &["aaaaaa-dddddddd-a-ddd"],
        keywords: &["clave de elector", "ine", "elector"],
        check: unchecked,
        standalone: StandaloneMatch::Valid,
    },
];

/// Shape and date; the last digit is checked where the letters allow it (RENAPO, "Instructivo normativo").
fn curp(value: &str) -> bool {
    const ORDER: &str = "0123456789abcdefghijklmnñopqrstuvwxyz";
    let bytes = value.as_bytes();
    if !date_yymmdd(&value[4..10]) || !b"hmx".contains(&bytes[10]) {
        return false;
    }
    let place = |c: char| ORDER.chars().position(|known| known == c).unwrap_or(0) as u32;
    let sum: u32 = value.chars().take(17).zip((2..=18u32).rev()).map(|(c, weight)| place(c) * weight).sum();
    (10 - sum % 10) % 10 == u32::from(bytes[17] - b'0')
}

/// The date inside decides: many taxpayers' last characters do not follow the published sum.
fn rfc(value: &str) -> bool {
    let letters = value.bytes().take_while(u8::is_ascii_alphabetic).count();
    let length = value.len();
    (3..=4).contains(&letters) && length >= 12 && date_yymmdd(&value[letters..letters + 6])
}

fn guatemalan_dpi(value: &str) -> bool {
    let all = digits(value);
    let sum = weighted(&all[..8], &[2, 3, 4, 5, 6, 7, 8, 9]);
    let department = all[9] * 10 + all[10];
    sum % 11 == all[8] && (1..=22).contains(&department) && varied(value)
}

fn guatemalan_nit(value: &str) -> bool {
    let (body, last) = value.split_at(value.len() - 1);
    let control = (11 - mod11(&digits(body), 99)) % 11;
    // A remainder of ten is written as K: "1000002-K".
    if control == 10 { last == "k" } else { last == control.to_string() }
}

fn dui(value: &str) -> bool {
    let all = digits(value);
    let sum = weighted(&all[..8], &[9, 8, 7, 6, 5, 4, 3, 2]);
    (10 - sum % 10) % 10 == all[8] && varied(value)
}

fn costa_rican(value: &str) -> bool {
    // Ten digits are the province after a zero: "01 0234 0567". Without it, Mexican telephones are grouped alike.
    let zeros = value.bytes().take_while(|digit| *digit == b'0').count();
    zeros == usize::from(value.len() == 10)
}

fn rnc(value: &str) -> bool {
    let all = digits(value);
    let rest = weighted(&all[..8], &[7, 9, 8, 6, 5, 4, 3, 2]) % 11;
    let control = match rest {
        0 => 2,
        1 => 1,
        rest => 11 - rest,
    };
    control == all[8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mexican_and_central_american_check_digits_are_right() {
        assert!(curp("hegg560427mvzrrl04") && !curp("hegg560427mvzrrl05"));
        assert!(rfc("gode561231gr8") && !rfc("gode569931gr8"));
        assert!(dui("000162975") && !dui("000162974"));
        assert!(luhn("00113918205"));
        assert!(rnc("131246796"));
    }

    #[test]
    fn a_curp_has_a_date_a_sex_and_a_digit_of_control() {
        for value in ["lozr880917mjcpml01", "ruca010203hdfznna7"] {
            assert!(curp(value), "{value}");
        }
        for value in ["lozr881317mjcpml01", "lozr880932mjcpml01", "lozr880917ajcpml01", "ruca010203hdfznna8"] {
            assert!(!curp(value), "{value}");
        }
    }

    #[test]
    fn a_taxpayer_of_mexico_has_three_or_four_letters_and_a_date() {
        for value in ["gode561231gr8", "abc9801014x1"] {
            assert!(rfc(value), "{value}");
        }
        for value in ["gode561331gr8", "gode561232gr8", "gode561231", "ab9801014x12"] {
            assert!(!rfc(value), "{value}");
        }
    }

    #[test]
    fn numbers_of_guatemala_follow_their_sums_and_name_a_department() {
        for value in ["1609874230101", "2581473690101", "3045712880101", "1609874232201"] {
            assert!(guatemalan_dpi(value), "{value}");
        }
        for value in ["1609874240101", "1609874230001", "1609874232301"] {
            assert!(!guatemalan_dpi(value), "{value}");
        }
        for value in ["57643210", "12345679", "1000002k", "1000016k"] {
            assert!(guatemalan_nit(value), "{value}");
        }
        for value in ["57643211", "5764321k", "10000020"] {
            assert!(!guatemalan_nit(value), "{value}");
        }
    }

    #[test]
    fn numbers_of_the_other_countries_follow_their_sums_or_their_zeros() {
        assert!(dui("038291457") && !dui("038291458") && !dui("000000000"));
        assert!(rnc("101947357") && rnc("101000031") && rnc("101000041") && rnc("101000082") && !rnc("101947358"));
        assert!(costa_rican("102340567") && costa_rican("0102340567"));
        assert!(!costa_rican("0023405678") && !costa_rican("012345678") && !costa_rican("5512345678"));
    }
}
