//! Payment cards and international bank accounts.

use super::super::label;
use super::checks::{iban, luhn};
use super::rule::{IdentifierRule, StandaloneMatch};

const CARD: &[&str] = &["tarjeta", "card", "visa", "mastercard", "amex", "credito", "debito", "credit", "debit"];
const ACCOUNT: &[&str] = &["iban", "cuenta", "account", "banco", "bank"];

pub(crate) const RULES: &[IdentifierRule] = &[
    IdentifierRule {
        label: label::CARD,
        shapes: &[
            "dddd-dddd-dddd-dddd",
            "dddd-dddddd-ddddd",
            "dddd-dddddd-dddd",
            "dddd-dddd-dddd-dddd-ddd",
            "dddddddddddddd",
            "ddddddddddddd",
        ],
        keywords: CARD,
        check: card,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: label::BANK_ACCOUNT,
        // One shape for each length that a country has; groups of four.
        shapes: &[
            "aadd-wwww-wwww-www",
            "aadd-wwww-wwww-wwww",
            "aadd-wwww-wwww-wwww-ww",
            "aadd-wwww-wwww-wwww-www",
            "aadd-wwww-wwww-wwww-wwww",
            "aadd-wwww-wwww-wwww-wwww-w",
            "aadd-wwww-wwww-wwww-wwww-ww",
            "aadd-wwww-wwww-wwww-wwww-www",
            "aadd-wwww-wwww-wwww-wwww-wwww",
            "aadd-wwww-wwww-wwww-wwww-wwww-w",
            "aadd-wwww-wwww-wwww-wwww-wwww-ww",
            "aadd-wwww-wwww-wwww-wwww-wwww-www",
            "aadd-wwww-wwww-wwww-wwww-wwww-wwww",
            "aadd-wwww-wwww-wwww-wwww-wwww-wwww-w",
            "aadd-wwww-wwww-wwww-wwww-wwww-wwww-ww",
            "aadd-wwww-wwww-wwww-wwww-wwww-wwww-www",
            "aadd-wwww-wwww-wwww-wwww-wwww-wwww-wwww",
        ],
        keywords: ACCOUNT,
        check: iban,
        standalone: StandaloneMatch::Valid,
    },
];

/// Luhn under the prefixes that networks issue.
fn card(value: &str) -> bool {
    matches!(value.as_bytes()[0], b'2'..=b'6') && luhn(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_begins_as_networks_issue_them_and_follows_its_sum() {
        for value in ["4111122233334440", "371449635398431", "5500000000000012", "30569309025904"] {
            assert!(card(value), "{value}");
        }
        for value in ["9111122233334449", "4111122233334441", "1111122233334447", "0000000000000000"] {
            assert!(!card(value), "{value}");
        }
    }

    #[test]
    fn there_is_one_shape_of_an_account_for_every_length_that_a_country_has() {
        let account = RULES.iter().find(|rule| rule.label == label::BANK_ACCOUNT).unwrap();
        let lengths: Vec<usize> = account.shapes.iter().map(|shape| shape.replace('-', "").len()).collect();
        assert_eq!(lengths, [15, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32]);
    }
}
