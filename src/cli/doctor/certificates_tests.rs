use super::*;

/// Self-signed, of January 2020.
const PEM: &str = include_str!("../../../tests/data/certificates/short.pem");

#[test]
fn the_dates_of_a_certificate_are_read_and_other_bytes_are_none() {
    let found = validity(PEM).unwrap();
    let shown: Vec<String> =
        found.iter().map(|(from, until)| format!("{} {}", from.date_naive(), until.date_naive())).collect();
    assert_eq!(shown, ["2020-01-01 2020-02-01"]);
    assert_eq!(validity("no certificate"), None);
    assert_eq!(validity("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"), None);
}
