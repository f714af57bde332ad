//! Payment cards and international bank accounts.

use super::super::label;
use super::checks::{iban, luhn};
use super::rule::{Alone, Rule};

const CARD: &[&str] = &["tarjeta", "card", "visa", "mastercard", "amex", "credito", "debito", "credit", "debit"];
const ACCOUNT: &[&str] = &["iban", "cuenta", "account", "banco", "bank"];

pub(crate) const RULES: &[Rule] = &[
    Rule {
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
        alone: Alone::Valid,
    },
    Rule {
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
        alone: Alone::Valid,
    },
];

/// Luhn under the prefixes that networks issue.
fn card(value: &str) -> bool {
    matches!(value.as_bytes()[0], b'2'..=b'6') && luhn(value)
}
