//! Brazil: CPF and CNPJ.

use super::checks::{digits, mod11, varied};
use super::rule::{IdentifierRule, StandaloneMatch};

pub(crate) const RULES: &[IdentifierRule] = &[
    IdentifierRule {
        label: "BR_CPF",
        shapes: &["ddd-ddd-ddd-dd"],
        keywords: &["cpf"],
        check: cpf,
        standalone: StandaloneMatch::Valid,
    },
    IdentifierRule {
        label: "BR_CNPJ",
        shapes: &["dd-ddd-ddd-dddd-dd"],
        keywords: &["cnpj"],
        check: cnpj,
        standalone: StandaloneMatch::Valid,
    },
];

fn control(rest: u32) -> u32 {
    if rest < 2 { 0 } else { 11 - rest }
}

fn cpf(value: &str) -> bool {
    let all = digits(value);
    varied(value) && control(mod11(&all[..9], 11)) == all[9] && control(mod11(&all[..10], 12)) == all[10]
}

fn cnpj(value: &str) -> bool {
    let all = digits(value);
    varied(value) && control(mod11(&all[..12], 9)) == all[12] && control(mod11(&all[..13], 9)) == all[13]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brazilian_check_digits_are_right() {
        assert!(cpf("52998224725") && !cpf("52998224724"));
        assert!(cnpj("11222333000181") && !cnpj("11222333000182"));
    }

    #[test]
    fn both_digits_of_control_count() {
        for value in ["34875192088", "10736284508"] {
            assert!(cpf(value), "{value}");
        }
        for value in ["34875192188", "34875192089", "10736284518", "11111111111", "00000000000"] {
            assert!(!cpf(value), "{value}");
        }
        assert!(cnpj("27418356000104"));
        for value in ["27418356000114", "27418356000105", "00000000000000"] {
            assert!(!cnpj(value), "{value}");
        }
        assert_eq!([0, 1, 2, 10].map(control), [0, 0, 9, 1]);
    }
}
