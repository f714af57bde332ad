//! Check digits. Every function takes letters and digits in lower case without separators; the calling rule guarantees
//! the length.

/// Values of the digits of a text; letters are left out.
pub(crate) fn digits(value: &str) -> Vec<u32> {
    value.chars().filter_map(|c| c.to_digit(10)).collect()
}

/// Luhn (ISO/IEC 7812-1).
pub(crate) fn luhn(value: &str) -> bool {
    let sum: u32 = digits(value)
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match at % 2 {
            0 => *digit,
            _ => digit * 2 / 10 + digit * 2 % 10,
        })
        .sum();
    // A number of zeros passes the sum, but identifies nothing.
    sum.is_multiple_of(10) && value.bytes().any(|byte| byte != b'0')
}

/// The weighted sum of the first digits.
pub(crate) fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// Remainder of a long decimal number.
pub(crate) fn modulo(digits: impl IntoIterator<Item = u32>, by: u32) -> u32 {
    digits.into_iter().fold(0, |rest, digit| (rest * 10 + digit) % by)
}

/// Weights 2, 3 … `top`, 2 … from the right, modulo 11: the family of RUT, RUC and NIT.
pub(crate) fn mod11(digits: &[u32], top: u32) -> u32 {
    let span = top - 1;
    let sum: u32 = digits.iter().rev().zip(0u32..).map(|(digit, at)| digit * (2 + at % span)).sum();
    sum % 11
}

/// IBAN (ISO 13616): length of the country and the remainder 1 of 97.
pub(crate) fn iban(value: &str) -> bool {
    if !is_iban_length(&value[..2], value.len()) {
        return false;
    }
    let moved = value[4..].chars().chain(value[..4].chars());
    let numbers = moved.flat_map(|c| match c.to_digit(36) {
        Some(n) if n > 9 => vec![n / 10, n % 10],
        Some(n) => vec![n],
        None => Vec::new(),
    });
    modulo(numbers, 97) == 1
}

/// Called for every value that begins like an IBAN; most do not have the length of their country.
fn is_iban_length(country: &str, length: usize) -> bool {
    const LENGTHS: &[(usize, &str)] = &[
        (15, "no"),
        (16, "be"),
        (18, "dk fi fo gl nl"),
        (19, "mk si"),
        (20, "at ba ee kz lt lu xk"),
        (21, "ch hr li lv"),
        (22, "bg bh cr de gb ge ie me rs va"),
        (23, "ae gi il iq tl"),
        (24, "ad cz es md pk ro sa se sk tn vg"),
        (25, "ly pt st"),
        (26, "is tr"),
        (27, "fr gr it mc mr sm"),
        (28, "al az by cy do gt hu lb pl sv"),
        (29, "br eg ps qa ua"),
        (30, "jo kw mu"),
        (31, "mt sc"),
        (32, "lc"),
    ];
    let of_length = LENGTHS.iter().find(|(known, _)| *known == length);
    of_length.is_some_and(|(_, countries)| countries.split(' ').any(|known| known == country))
}

/// Day and month of a six-digit date `yymmdd`.
pub(crate) fn date_yymmdd(value: &str) -> bool {
    let read = |at: usize| value.get(at..at + 2).and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
    // The year is not checked: two digits allow any.
    (1..=12).contains(&read(2)) && (1..=31).contains(&read(4))
}

/// Not one digit repeated: "00000000000" passes many sums.
pub(crate) fn varied(value: &str) -> bool {
    value.bytes().any(|byte| byte != value.as_bytes()[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_agree_with_published_examples() {
        assert!(luhn("4111111111111111") && !luhn("4111111111111112"));
        assert!(iban("es9121000418450200051332") && !iban("es9121000418450200051333"));
        assert!(iban("gb82west12345698765432"));
        assert_eq!(mod11(&digits("12345678"), 7), 138 % 11);
    }

    #[test]
    fn a_sum_that_fits_by_chance_alone_is_refused_where_all_digits_are_zero() {
        assert!(!luhn("0000000000000000") && luhn("18") && !luhn("81"));
        assert!(varied("0010") && !varied("0000") && !varied("7777"));
    }

    #[test]
    fn remainders_and_weighted_sums_are_those_of_arithmetic() {
        assert_eq!(digits("a1-2b3"), [1, 2, 3]);
        assert_eq!(modulo(digits("98765432109876543210"), 97), (98_765_432_109_876_543_210u128 % 97) as u32);
        assert_eq!(weighted(&[1, 2, 3], &[5, 7]), 19);
        // From the right: 3·2 + 2·3 + 1·2, once the weights begin anew after 3.
        assert_eq!(mod11(&[1, 2, 3], 3), 14 % 11);
    }

    #[test]
    fn an_account_has_the_length_of_its_country() {
        for value in ["es4920850193464501928374", "fr1420041010050500013m02606", "de44500105175407324931"] {
            assert!(iban(value), "{value}");
        }
        for value in ["pt44500105175407324931", "es492085019346450192837", "zz4920850193464501928374"] {
            assert!(!iban(value), "{value}");
        }
        assert!(is_iban_length("no", 15) && !is_iban_length("no", 16) && !is_iban_length("n", 15));
    }

    #[test]
    fn a_date_of_six_digits_has_a_month_and_a_day() {
        for (value, fits) in [
            ("880917", true),
            ("881231", true),
            ("881301", false),
            ("880001", false),
            ("880900", false),
            ("880932", false),
            ("88", false),
        ] {
            assert_eq!(date_yymmdd(value), fits, "{value}");
        }
    }
}
