//! Faults of a store on a server.

use sqlx::{AssertSqlSafe, Executor as _};

use super::{DoctorCase, finds, finds_nothing, run};
use crate::store::pooler::{self, Pooler};
use crate::support::{Program, TestEngine, bodies, counts, document, free_port};

const NOW: [(&str, &str); 1] = [("ANAMNESIS__PIPELINE__NOW", "")];

async fn healthy() -> Program {
    let program = Program::on(TestEngine::Postgres).await;
    let tally =
        program.ingest(&bodies(&[document(1, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día.")]), &NOW);
    assert_eq!(counts(&tally)["stored"], 1);
    program
}

fn doctor(program: &Program, change: &[(&str, &str)]) -> std::process::Output {
    let usual = [("PIPELINE__NOW", ""), ("WORKER__SPOOL", "")];
    run(program.folder.path(), &program.environment(), &DoctorCase::with(&[&usual[..], change].concat()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_server_has_no_finding_and_each_address_that_is_wrong_has_its_code() {
    let program = healthy().await;
    finds_nothing(&doctor(&program, &[]));
    let server = program.server.as_ref().unwrap();
    let url = server.url(Some("test_app"));
    let database = url.rsplit('/').next().unwrap();
    let away = format!("postgres://test_app:{}@127.0.0.1:{}/{database}", super::SECRET, free_port());
    finds(&doctor(&program, &[("STORE__URL", &away)]), "store_unreachable");
    let nobody = url.replacen("test_app", &format!("test_nobody:{}", super::SECRET), 1);
    finds(&doctor(&program, &[("STORE__URL", &nobody)]), "store_login");
    finds(&doctor(&program, &[("STORE__URL", &server.url(None))]), "store_role");
    finds(&doctor(&program, &[("STORE__URL", super::SECRET)]), "store_url");
    finds(&doctor(&program, &[("STORE__POSTGRES__TLS", "verify_full")]), "store_tls");
    finds(&doctor(&program, &[("STORE__POSTGRES__ALLOW_NOT_DURABLE", "false")]), "store_not_durable");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_that_breaks_what_the_program_asks_for_has_its_code() {
    let program = healthy().await;
    let pooler = Pooler::before(program.server.as_ref().unwrap(), "statement", pooler::folder(), "").await;
    finds(&doctor(&program, &[("STORE__URL", &pooler.url("127.0.0.1"))]), "store_pooler");
    let pooler = Pooler::before(program.server.as_ref().unwrap(), "session", pooler::folder(), "").await;
    finds_nothing(&doctor(&program, &[("STORE__URL", &pooler.url("127.0.0.1"))]));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_of_the_schema_and_the_rights_on_a_server_has_its_code() {
    let program = healthy().await;
    let server = program.server.as_ref().unwrap();
    let mut administrator = server.administrator().await;
    let last = "WHERE version = (SELECT max(version) FROM anamnesis._sqlx_migrations)";
    let numbered = format!("UPDATE anamnesis._sqlx_migrations SET version = version + 100000 {last}");
    let back = format!("UPDATE anamnesis._sqlx_migrations SET version = version - 100000 {last}");
    let kept = "CREATE TABLE public.kept AS SELECT * FROM anamnesis._sqlx_migrations".to_owned();
    let removed = format!("DELETE FROM anamnesis._sqlx_migrations {last}");
    let restored = "INSERT INTO anamnesis._sqlx_migrations SELECT * FROM public.kept ON CONFLICT DO NOTHING".to_owned();
    let half = format!("UPDATE anamnesis._sqlx_migrations SET success = false {last}");
    let whole = format!("UPDATE anamnesis._sqlx_migrations SET success = true {last}");
    let revoke = "REVOKE INSERT ON anamnesis.documents FROM anamnesis_app".to_owned();
    let grant = "GRANT INSERT ON anamnesis.documents TO anamnesis_app".to_owned();
    for (code, broken, mended) in [
        ("schema_newer", vec![numbered], back),
        ("schema_behind", vec![kept, removed], restored),
        ("schema_changed", vec![half], whole),
        ("store_rights", vec![revoke], grant),
    ] {
        for statement in broken {
            administrator.execute(AssertSqlSafe(statement)).await.unwrap();
        }
        finds(&doctor(&program, &[]), code);
        administrator.execute(AssertSqlSafe(mended)).await.unwrap();
        finds_nothing(&doctor(&program, &[]));
    }
    // A patient whom the key store does not know.
    for statement in [
        "CREATE TABLE public.one AS SELECT * FROM anamnesis.patient_profile LIMIT 1",
        "UPDATE public.one SET patient_id = gen_random_uuid()",
        "INSERT INTO anamnesis.patient_profile SELECT * FROM public.one",
    ] {
        administrator.execute(statement).await.unwrap();
    }
    finds(&doctor(&program, &[]), "keys_lost");
    let gone = "DELETE FROM anamnesis.patient_profile WHERE patient_id IN (SELECT patient_id FROM public.one)";
    administrator.execute(gone).await.unwrap();
    finds_nothing(&doctor(&program, &[]));
    drop(administrator);
    server.alter("SET default_transaction_read_only = on").await;
    finds(&doctor(&program, &[]), "store_read_only");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_on_a_server_without_keys_is_named_and_none_are_made() {
    let program = Program::without_keys(TestEngine::Postgres, Program::provider_options()).await;
    finds(&doctor(&program, &[]), "keys_missing");
    assert_eq!(std::fs::read_dir(program.folder.path()).unwrap().count(), 0, "no keys were made");
    std::fs::write(program.folder.path().join("keys"), "").unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(program.folder.path().join("keys"), private).unwrap();
    finds(&doctor(&program, &[]), "keys_uninitialised");
    std::fs::remove_file(program.folder.path().join("keys")).unwrap();
    // Keys that were never bound to this store.
    let other = Program::on(TestEngine::File).await;
    let tally = other.ingest(&bodies(&[document(1, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día.")]), &NOW);
    assert_eq!(counts(&tally)["stored"], 1);
    for name in ["keys", "keys.master"] {
        std::fs::copy(other.folder.path().join(name), program.folder.path().join(name)).unwrap();
    }
    finds(&doctor(&program, &[]), "keys_unbound");
}
