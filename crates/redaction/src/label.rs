//! Labels of contract.md (`redact`). National identifiers are COUNTRY_NAME and are listed with their rules.

pub const PERSON: &str = "PERSON";
pub const LOCATION: &str = "LOCATION";
/// A country, which policies may keep where they take smaller places. Printed as LOCATION.
pub const COUNTRY: &str = "COUNTRY";
pub const ADDRESS: &str = "ADDRESS";
pub const POSTAL_CODE: &str = "POSTAL_CODE";
pub const ORGANIZATION: &str = "ORGANIZATION";
pub const DATE: &str = "DATE";
pub const AGE: &str = "AGE";
/// An age over the limit of the policy (89 under Safe Harbor). Printed as AGE.
pub const GREAT_AGE: &str = "GREAT_AGE";
pub const SEX: &str = "SEX";
pub const FAMILY: &str = "FAMILY";
pub const PROFESSION: &str = "PROFESSION";
pub const PHONE: &str = "PHONE";
pub const EMAIL: &str = "EMAIL";
pub(crate) const URL: &str = "URL";
pub(crate) const HANDLE: &str = "HANDLE";
pub(crate) const IP_ADDRESS: &str = "IP_ADDRESS";
pub(crate) const DEVICE_ID: &str = "DEVICE_ID";
pub(crate) const VEHICLE_ID: &str = "VEHICLE_ID";
pub(crate) const GEO: &str = "GEO";
pub(crate) const CARD: &str = "CARD";
pub(crate) const BANK_ACCOUNT: &str = "BANK_ACCOUNT";
pub(crate) const MEDICAL_RECORD: &str = "MEDICAL_RECORD";
pub(crate) const INSURANCE_ID: &str = "INSURANCE_ID";
pub(crate) const LICENSE: &str = "LICENSE";
pub(crate) const PASSPORT: &str = "PASSPORT";
/// An identifier of unknown kind: printed as MEDICAL_RECORD, the widest kind in a clinical text.
pub const NUMBER: &str = "NUMBER";

/// The label as the contract prints it.
pub(crate) fn public(label: &'static str) -> &'static str {
    match label {
        // Policies distinguish these three, but the contract prints one label each.
        COUNTRY => LOCATION,
        GREAT_AGE => AGE,
        NUMBER => MEDICAL_RECORD,
        other => other,
    }
}

/// Every label a replacement may carry.
pub const ALL: &[&str] = &[
    PERSON,
    LOCATION,
    ADDRESS,
    POSTAL_CODE,
    ORGANIZATION,
    DATE,
    AGE,
    // Kept by `safe_harbor`; `strict` replaces them.
    SEX,
    FAMILY,
    PROFESSION,
    PHONE,
    EMAIL,
    // From here on found only by rules: the model has no such kinds (`tagger/tags.rs`).
    URL,
    HANDLE,
    IP_ADDRESS,
    DEVICE_ID,
    VEHICLE_ID,
    GEO,
    CARD,
    BANK_ACCOUNT,
    MEDICAL_RECORD,
    INSURANCE_ID,
    LICENSE,
    PASSPORT,
    // National identifiers: the first letters are the country of the rule, not that of the patient.
    "ES_DNI",
    "ES_NIE",
    "ES_CIF",
    "ES_NSS",
    "ES_CIP",
    "MX_CURP",
    "MX_RFC",
    "MX_NSS",
    "AR_DNI",
    "AR_CUIT",
    "AR_CBU",
    "CL_RUT",
    "CO_CEDULA",
    "CO_NIT",
    "PE_DNI",
    "PE_RUC",
    "EC_CEDULA",
    "EC_RUC",
    "UY_CI",
    "VE_CEDULA",
    "VE_RIF",
    "BO_CI",
    "PY_CI",
    "PY_RUC",
    "CR_CEDULA",
    "GT_DPI",
    "GT_NIT",
    "SV_DUI",
    "DO_CEDULA",
    "DO_RNC",
    "BR_CPF",
    "BR_CNPJ",
    "US_SSN",
    "US_ITIN",
    "US_MBI",
    "US_NPI",
    "US_DEA",
    "US_ABA",
    "UK_NHS",
    "UK_NINO",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_is_listed_once_and_prints_as_one_of_the_list() {
        for (at, label) in ALL.iter().enumerate() {
            assert!(!ALL[..at].contains(label), "{label}");
            assert_eq!(public(label), *label);
        }
        assert_eq!([COUNTRY, GREAT_AGE, NUMBER].map(public), [LOCATION, AGE, MEDICAL_RECORD]);
    }
}
