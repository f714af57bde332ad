//! Which illnesses of a history are there still.

/// Illnesses that a history names and that do not end, by the letters and digits with which their ICD-10-CM codes begin:
/// HIV, disorders of thyroid function, diabetes, dementia, schizophrenia, bipolar and personality disorders, intellectual
/// disability, autism, attention deficit, Parkinson's, Alzheimer's, multiple sclerosis, epilepsy, hypertension, chronic
/// heart disease, asthma and other chronic lung disease, inflammatory bowel and coeliac disease, rheumatoid arthritis,
/// lupus, chronic kidney disease; gout, migraine, sleep apnoea, glaucoma, reflux, irritable bowel, cirrhosis, psoriasis,
/// osteoarthritis, osteoporosis, fibromyalgia, enlarged prostate, endometriosis, obesity, raised lipids, obsessions.
pub(super) fn is_lifelong(code: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "B20", "E03", "E10", "E11", "E13", "E66", "E78", "F01", "F02", "F03", "F20", "F25", "F31", "F42", "F60", "F7",
        "F84", "F90", "G20", "G30", "G35", "G40", "G43", "G47.3", "H40", "I10", "I25", "I48", "I50", "J30", "J44",
        "J45", "K21", "K50", "K51", "K58", "K74", "K90", "L40", "M05", "M06", "M10", "M15", "M16", "M17", "M19", "M32",
        "M79.7", "M81", "N18", "N40", "N80",
    ];
    BEGINNINGS.iter().any(|beginning| code.starts_with(beginning))
}
