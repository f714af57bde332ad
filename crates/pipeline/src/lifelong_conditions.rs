//! Illnesses of a history that are still present.

/// Illnesses that a history names and that do not end, by the letters and digits with which their ICD-10-CM codes begin:
/// chronic infections (HIV, hepatitis B and C), disorders of blood and immunity from birth, of thyroid, adrenal and
/// pituitary, diabetes, raised lipids, obesity; dementia, schizophrenia, bipolar and personality disorders, obsessions,
/// post-traumatic stress, autism, attention deficit, tics, dyslexia; Huntington's, Parkinson's, Alzheimer's, multiple
/// sclerosis, epilepsy, migraine, neuropathies, cerebral palsy; glaucoma, diseases of the retina, deafness, tinnitus;
/// hypertension, chronic disease of heart, valves and vessels; asthma and other chronic lung disease; chronic disease of
/// bowel, liver and pancreas; psoriasis, vitiligo, eczema, rosacea; arthritis, gout, lupus and its kin, scoliosis, brittle
/// bones, fibromyalgia; chronic kidney disease, enlarged prostate, endometriosis, polycystic ovaries; what one is born with.
pub(super) fn is_lifelong(code: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "B18", "B19.1", "B19.2", "B20", "D56", "D57", "D66", "D67", "D68.0", "D80", "D83", "D86", "E03", "E05",
        "E06.3", "E10", "E11", "E13", "E20", "E22", "E23", "E24", "E27.1", "E28.2", "E66", "E70", "E78", "E83.1",
        "E84", "F01", "F02", "F03", "F20", "F22", "F25", "F31", "F42", "F43.1", "F60", "F7", "F81", "F84", "F90",
        "F95", "G10", "G11", "G12", "G20", "G24", "G25.0", "G25.81", "G30", "G35", "G40", "G43", "G47.3", "G47.4",
        "G60", "G62", "G63", "G70", "G71", "G80", "G93.32", "H35", "H40", "H54", "H90", "H91", "H93.1", "I05", "I06",
        "I10", "I25", "I27", "I34", "I35", "I42", "I48", "I50", "I73", "I89.0", "J30", "J44", "J45", "J47", "J84",
        "K21", "K50", "K51", "K57", "K58", "K70.3", "K74", "K76.0", "K86.1", "K90", "L20", "L40", "L63", "L71",
        "L73.2", "L80", "M05", "M06", "M10", "M15", "M16", "M17", "M19", "M32", "M33", "M34", "M35", "M41", "M45",
        "M79.7", "M81", "N18", "N40", "N80", "Q",
    ];
    BEGINNINGS.iter().any(|beginning| code.starts_with(beginning))
}

#[cfg(test)]
#[path = "lifelong_conditions_tests.rs"]
mod tests;
