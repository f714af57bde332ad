use super::*;

fn scope() -> Scope {
    Scope::new(OrgId(Uuid::from_u128(1)), PatientId(Uuid::from_u128(0xab))).unwrap()
}

fn body(patient: u128, document: u128) -> Vec<u8> {
    let (org, patient, document) = (Uuid::from_u128(1), Uuid::from_u128(patient), Uuid::from_u128(document));
    format!("{{\"organization_id\": \"{org}\", \"patient_id\": \"{patient}\", \"document_id\": \"{document}\", \"text\": 5}}")
        .into_bytes()
}

#[test]
fn a_stored_message_is_about_the_patients_that_it_names_and_no_others() {
    assert!(speaks_of(&body(0xab, 3), None, scope(), None));
    assert!(!speaks_of(&body(0xac, 3), None, scope(), None));
    assert!(speaks_of(&body(0xab, 3), None, scope(), Some(Uuid::from_u128(3))));
    assert!(
        !speaks_of(&body(0xab, 3), None, scope(), Some(Uuid::from_u128(4))),
        "another document of the patient stays"
    );
}

#[test]
fn a_broken_message_that_names_the_patient_anywhere_goes() {
    let broken = format!("not JSON at all {}", scope().patient().0.to_string().to_uppercase());
    assert!(speaks_of(broken.as_bytes(), None, scope(), None));
    assert!(!speaks_of(b"not JSON at all", None, scope(), None));
}

#[test]
fn a_command_without_ids_means_the_patient_and_one_with_ids_means_them_alone() {
    let of = |more: serde_json::Value| -> Vec<ErasureSubject> {
        let mut command = serde_json::json!({"organization_id": Uuid::from_u128(1), "patient_id": Uuid::from_u128(0xab),
            "actor": {"id": Uuid::from_u128(7), "role": "clinician"}, "command": "erase"});
        command.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let command: MemoryCommand = serde_json::from_value(command).unwrap();
        let all = requests(&command, scope(), &[9; 32], DateTime::UNIX_EPOCH);
        assert!(all.iter().all(|one| one.requested_by == Uuid::from_u128(7)));
        all.into_iter().map(|one| one.subject).collect()
    };
    let id = Uuid::from_u128(5);
    assert_eq!(of(serde_json::json!({})), [ErasureSubject::Patient]);
    assert_eq!(
        of(serde_json::json!({"document_ids": [id]})),
        [ErasureSubject::Document(anamnesis_core::ids::DocumentId(id))]
    );
    assert_eq!(
        of(serde_json::json!({"memory_ids": [id]})),
        [ErasureSubject::Memory(anamnesis_core::ids::MemoryId(id))]
    );
}
