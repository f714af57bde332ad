//! United States and United Kingdom: SSN, ITIN, MBI, NPI, DEA, ABA; NHS number, National Insurance.

use super::checks::{digits, luhn, varied, weighted};
use super::rule::{IdentifierRule, StandaloneMatch};

pub(crate) const RULES: &[IdentifierRule] = &[
    IdentifierRule {
        label: "US_SSN",
        shapes: &["ddd-dd-dddd"],
        keywords: &["ssn", "social security", "social", "s.s.n", "ss#"],
        check: ssn,
        standalone: StandaloneMatch::Separated,
    },
    IdentifierRule {
        label: "US_ITIN",
        shapes: &["ddd-dd-dddd"],
        keywords: &["itin", "taxpayer", "tax id", "tax"],
        check: itin,
        standalone: StandaloneMatch::Separated,
    },
    IdentifierRule {
        label: "US_MBI",
        shapes: &["dawd-awd-aadd"],
        keywords: &["mbi", "medicare", "beneficiary"],
        check: mbi,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "US_NPI",
        shapes: &["dddd-ddd-ddd", "dddddddddd"],
        keywords: &["npi", "provider identifier", "provider number"],
        check: npi,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "US_DEA",
        shapes: &["aa-ddddddd"],
        keywords: &["dea"],
        check: dea,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "US_ABA",
        shapes: &["dddd-dddd-d"],
        keywords: &["aba", "routing", "bank", "rtn"],
        check: aba,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "UK_NHS",
        shapes: &["ddd-ddd-dddd"],
        keywords: &["nhs", "health service"],
        check: nhs,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "UK_NINO",
        shapes: &["aa-dd-dd-dd-a"],
        keywords: &["nino", "national insurance", "ni number", "insurance number"],
        check: nino,
        standalone: StandaloneMatch::Valid,
    },
];

/// Never issued: area 000, 666, 9xx; group 00; serial 0000 (SSA, "SSN randomization").
fn ssn(value: &str) -> bool {
    let area = &value[..3];
    area != "000"
        && area != "666"
        && !area.starts_with('9')
        && &value[3..5] != "00"
        && &value[5..] != "0000"
        && varied(value)
}

fn itin(value: &str) -> bool {
    let group: u32 = value[3..5].parse().unwrap_or(0);
    value.starts_with('9') && matches!(group, 50..=65 | 70..=88 | 90..=92 | 94..=99)
}

/// Eleven places with fixed kinds; S, L, O, I, B and Z never occur (CMS, "MBI format").
fn mbi(value: &str) -> bool {
    value.as_bytes()[0] != b'0' && !value.contains(['s', 'l', 'o', 'i', 'b', 'z'])
}

fn npi(value: &str) -> bool {
    // The sum includes the prefix 80840, which is never written.
    value.starts_with(['1', '2']) && luhn(&format!("80840{value}"))
}

fn dea(value: &str) -> bool {
    let all = digits(value);
    let sum = all[0] + all[2] + all[4] + 2 * (all[1] + all[3] + all[5]);
    b"abcdefghjklmnprstux".contains(&value.as_bytes()[0]) && sum % 10 == all[6]
}

fn aba(value: &str) -> bool {
    let all = digits(value);
    let range: u32 = value[..2].parse().unwrap_or(99);
    matches!(range, 0..=12 | 21..=32 | 61..=72 | 80)
        && weighted(&all, &[3, 7, 1, 3, 7, 1, 3, 7, 1]).is_multiple_of(10)
        && varied(value)
}

fn nhs(value: &str) -> bool {
    let all = digits(value);
    let control = 11 - weighted(&all[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    // Numbers with a remainder of ten are not issued.
    control % 11 == all[9] && control != 10 && varied(value)
}

fn nino(value: &str) -> bool {
    let prefix = &value[..2];
    let barred = ["bg", "gb", "kn", "nk", "nt", "tn", "zz"].contains(&prefix);
    let letters = !prefix.contains(['d', 'f', 'i', 'q', 'u', 'v']) && !prefix.ends_with('o');
    !barred && letters && value.ends_with(['a', 'b', 'c', 'd'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn american_and_british_check_digits_are_right() {
        assert!(ssn("536323065") && !ssn("000123456") && !ssn("900123456"));
        assert!(itin("911701234") && !itin("911691234"));
        assert!(mbi("1eg4te5mk73") && !mbi("1sg4te5mk73"));
        assert!(npi("1234567893") && !npi("1234567890"));
        assert!(dea("ab1234563") && !dea("ab1234564"));
        assert!(aba("121042882") && !aba("121042883"));
        assert!(nhs("2213951837") && !nhs("2213951838"));
        assert!(nino("pr123612c") && !nino("gb123612c"));
    }

    #[test]
    fn what_was_never_issued_is_no_number_of_social_security() {
        for value in ["536323065", "001010001", "899999998"] {
            assert!(ssn(value), "{value}");
        }
        for value in ["000123456", "666123456", "900123456", "999123456", "536003065", "536320000", "555555555"] {
            assert!(!ssn(value), "{value}");
        }
        for (group, issued) in [
            (49, false),
            (50, true),
            (65, true),
            (66, false),
            (70, true),
            (88, true),
            (89, false),
            (92, true),
            (93, false),
            (94, true),
            (99, true),
        ] {
            assert_eq!(itin(&format!("911{group}1234")), issued, "{group}");
        }
        assert!(!itin("811701234"));
    }

    #[test]
    fn american_numbers_of_providers_and_banks_follow_their_sums() {
        assert!(npi("1684372901") && npi("2944183757") && !npi("1684372902") && !npi("3684372901"));
        assert!(dea("bk7231943") && dea("fr0482137") && !dea("bk7231944") && !dea("ik7231943") && !dea("vk7231943"));
        assert!(aba("072009123") && aba("122043385"));
        assert!(!aba("072009124") && !aba("502043387") && !aba("000000000"));
        assert!(!mbi("0eg4te5mk73") && !mbi("1eg4te5mz73") && !mbi("1eg4te5mo73"));
    }

    #[test]
    fn british_numbers_follow_their_sum_and_their_letters() {
        for value in ["4857773457", "9434765919", "4857700050"] {
            assert!(nhs(value), "{value}");
        }
        for value in ["4857773458", "4857773450", "0000000000"] {
            assert!(!nhs(value), "{value}");
        }
        for value in ["pr123612a", "ab123612d"] {
            assert!(nino(value), "{value}");
        }
        for value in ["pr123612e", "po123612a", "dr123612a", "pv123612a", "zz123612a", "tn123612a"] {
            assert!(!nino(value), "{value}");
        }
    }
}
