//! Brazil: CPF and CNPJ.

use super::checks::{digits, mod11, varied};
use super::rule::{Alone, Rule};

pub(crate) const RULES: &[Rule] = &[
    Rule { label: "BR_CPF", shapes: &["ddd-ddd-ddd-dd"], keywords: &["cpf"], check: cpf, alone: Alone::Valid },
    Rule { label: "BR_CNPJ", shapes: &["dd-ddd-ddd-dddd-dd"], keywords: &["cnpj"], check: cnpj, alone: Alone::Valid },
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
}
