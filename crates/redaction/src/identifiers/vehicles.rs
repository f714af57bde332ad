//! Vehicles and devices: VIN, IMEI, and number plates with a specific shape. Other plates are found by their keyword.

use super::super::label;
use super::checks::luhn;
use super::rule::{IdentifierRule, StandaloneMatch};

pub(crate) const RULES: &[IdentifierRule] = &[
    IdentifierRule {
        label: label::VEHICLE_ID,
        shapes: &["wwwwwwwwwwwwwwwww"],
        keywords: &["vin", "bastidor", "chasis", "chassis"],
        check: vin,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: label::VEHICLE_ID,
        shapes: &["dddd-aaa"],
        keywords: &["matricula", "coche", "placa", "vehiculo", "moto"],
        check: spanish_plate,
        standalone: StandaloneMatch::Never,
    },
    IdentifierRule {
        label: label::VEHICLE_ID,
        shapes: &["aadd-aaa"],
        keywords: &["plate", "registration", "reg", "car", "vehicle", "matricula"],
        check: british_plate,
        standalone: StandaloneMatch::Never,
    },
    IdentifierRule {
        label: label::DEVICE_ID,
        shapes: &["ddddddddddddddd", "dd-dddddd-dddddd-d"],
        keywords: &["imei"],
        check: luhn,
        standalone: StandaloneMatch::Valid,
    },
];

/// North American check digit in the ninth place (49 CFR 565.15).
fn vin(value: &str) -> bool {
    const WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
    let worth = |c: char| match c {
        '0'..='9' => c.to_digit(10),
        'a'..='h' => Some(c as u32 - 'a' as u32 + 1),
        'j'..='n' => Some(c as u32 - 'j' as u32 + 1),
        'p' => Some(7),
        'r' => Some(9),
        's'..='z' => Some(c as u32 - 's' as u32 + 2),
        _ => None,
    };
    let mut sum = 0;
    for (c, weight) in value.chars().zip(WEIGHTS) {
        let Some(worth) = worth(c) else { return false };
        sum += worth * weight;
    }
    let control = if sum % 11 == 10 { 'x' } else { char::from_digit(sum % 11, 10).unwrap_or('x') };
    value.bytes().any(|byte| byte.is_ascii_alphabetic()) && value.chars().nth(8) == Some(control)
}

/// Three consonants: Spanish plates have no vowels, so that they spell no word. In capitals they are found without a
/// keyword (`network`).
fn spanish_plate(value: &str) -> bool {
    !value[4..].contains(['a', 'e', 'i', 'o', 'u', 'q'])
}

fn british_plate(value: &str) -> bool {
    let age: u32 = value[2..4].parse().unwrap_or(0);
    (matches!(age, 1..=30 | 51..=80)) && !value.contains(['i', 'q'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vehicles_are_recognised_by_their_shape() {
        assert!(vin("1m8gdm9axkp042788") && !vin("1m8gdm9a1kp042788"));
        assert!(spanish_plate("1234bcd") && !spanish_plate("1234abc"));
        assert!(british_plate("bd62xyz") && !british_plate("bd99xyz"));
    }

    #[test]
    fn a_vehicle_has_letters_of_its_alphabet_and_its_sum_in_the_ninth_place() {
        for value in ["1hgcm82690a004352", "5yjsa1e210f112233"] {
            assert!(vin(value), "{value}");
        }
        for value in ["1hgcm82600a004352", "1hgcm826i0a004352", "11111111111111111", "1hgcm8269oa004352"] {
            assert!(!vin(value), "{value}");
        }
    }

    #[test]
    fn plates_have_no_vowels_and_a_half_year_that_was_issued() {
        for (value, fits) in [
            ("bd01xyz", true),
            ("bd30xyz", true),
            ("bd31xyz", false),
            ("bd50xyz", false),
            ("bd51xyz", true),
            ("bd80xyz", true),
            ("bd81xyz", false),
            ("bq62xyz", false),
            ("bd62xyi", false),
        ] {
            assert_eq!(british_plate(value), fits, "{value}");
        }
        for value in ["1234aei", "1234bco", "1234bqd"] {
            assert!(!spanish_plate(value), "{value}");
        }
    }
}
