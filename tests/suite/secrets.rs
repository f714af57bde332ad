//! Secrets are closed to others: files that the program creates, its memory, the environment of its children.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::support::{self, Program, TestEngine, bodies, document};

const MASTER: &str = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";

fn file(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// Everything in a folder, with its mode.
fn modes(folder: &Path) -> BTreeMap<PathBuf, u32> {
    let mut found = BTreeMap::new();
    for entry in folder.read_dir().unwrap() {
        let entry = entry.unwrap();
        let about = entry.metadata().unwrap();
        if about.is_dir() {
            found.extend(modes(&entry.path()));
        }
        found.insert(entry.path(), about.mode() & 0o777);
    }
    found
}

/// Until this gives something; the process is ended when it never does.
fn awaited<T>(what: &str, child: &mut Child, mut look: impl FnMut(&mut Child) -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look(child) {
            return found;
        }
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{what}");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_file_that_the_program_makes_is_its_owners_alone_whatever_the_shell_said() {
    let program = Program::on(TestEngine::File).await;
    let made = program.folder.path().join("made");
    let port = support::free_port().to_string();
    let environment = [
        ("ANAMNESIS__STORE__PATH", made.join("deep/store.db").display().to_string()),
        ("ANAMNESIS__STORE__KEYS", made.join("keys/store.keys").display().to_string()),
        ("ANAMNESIS__WORKER__SPOOL", made.join("spool").display().to_string()),
        ("ANAMNESIS__HTTP__BIND", format!("127.0.0.1:{port}")),
    ];
    std::fs::create_dir_all(made.join("spool")).unwrap();
    let environment: Vec<(&str, &str)> = environment.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let mut open = program.command(&environment);
    open.arg("worker").stdout(Stdio::null()).stderr(Stdio::null());
    // As in a shell whose files all users may read and write.
    #[allow(unsafe_code)] // between fork and exec, one system call
    // SAFETY: `umask` is async-signal-safe and touches no memory.
    unsafe {
        open.pre_exec(|| {
            rustix::process::umask(rustix::fs::Mode::empty());
            Ok(())
        });
    }
    let mut child = open.spawn().unwrap();
    let journal = made.join("deep/store.db-wal");
    awaited("the store is made", &mut child, |_| journal.exists().then_some(()));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    // Memory and environment of a process that cannot be dumped belong to root.
    assert_eq!(std::fs::metadata(format!("/proc/{}/environ", child.id())).unwrap().uid(), 0);
    let ready = format!("http://127.0.0.1:{port}/readyz");
    while !support::get(&ready).await.is_some_and(|(status, _)| status == 200) {
        assert!(child.try_wait().unwrap().is_none(), "the worker ended");
    }
    let found = modes(&made);
    child.kill().unwrap();
    child.wait().unwrap();
    for name in ["deep", "deep/store.db", "deep/store.db-wal", "deep/store.db-shm", "keys", "keys/store.keys"] {
        assert!(found.contains_key(&made.join(name)), "{name}: {found:?}");
    }
    for (path, mode) in found.iter().filter(|(path, _)| **path != made.join("spool")) {
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_opens_with_secrets_from_files_and_not_with_a_file_that_others_may_read() {
    let program = Program::on(TestEngine::Postgres).await;
    let url = program.server.as_ref().map(|server| server.url(Some("test_app"))).unwrap();
    let path = file(program.folder.path(), "u", &url, 0o600);
    let given = [("ANAMNESIS__STORE__URL_FILE", path.to_str().unwrap()), ("ANAMNESIS__STORE__URL", "")];
    let lines = bodies(&[document(1, 1, "2026-05-04T10:00:00Z", "Toma litio 400 mg al día.")]);
    assert_eq!(support::counts(&program.ingest(&lines, &given))["stored"], json!(1));
    let both = program.ingest(&lines, &given[..1]);
    assert_eq!(both.status.code(), Some(2), "the value and its file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = program.ingest(&lines, &given);
    let reported = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{reported}");
    assert!(reported.contains(path.to_str().unwrap()) && reported.contains("0600"), "{reported}");
    assert!(!reported.contains("postgres:"), "{reported}");
}

/// Ids of the children of a process.
fn children(parent: u32) -> Vec<u32> {
    let listed = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let reported = listed.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    reported.flat_map(|ids| ids.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_gets_its_secrets_by_a_pipe_and_none_by_its_environment() {
    let program = Program::on(TestEngine::File).await;
    let text = "Palabra mortífera: XYZZY. Toma litio 400 mg al día.";
    let lines = bodies(&[document(1, 1, "2026-05-04T10:00:00Z", text)]);
    let given = [("ANAMNESIS__STORE__MASTER_KEY", MASTER), ("ANAMNESIS__EMBEDDING__API_KEY", "c0ffee-token")];
    for _ in 0..2 {
        let died = program.ingest(&lines, &[given[0], given[1], ("ANAMNESIS_DIE_OF", "XYZZY")]);
        assert_eq!(died.status.code(), None, "killed by the text");
    }
    let input = program.folder.path().join("messages.ndjson");
    let mut command = program.command(&given);
    command.args(["ingest", "--output", "json"]).arg(&input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let seen = awaited("a child works the message", &mut running, |running| {
        let one = *children(running.id()).first()?;
        let environment = std::fs::read(format!("/proc/{one}/environ")).ok()?;
        let arguments = std::fs::read(format!("/proc/{one}/cmdline")).ok()?;
        // Until it executes a program, a child shows its parent's arguments.
        arguments.windows(5).any(|word| word == b"alone").then_some([environment, arguments].concat())
    });
    let seen = String::from_utf8_lossy(&seen).into_owned();
    assert!(seen.contains("ANAMNESIS__STORE__PATH"), "its environment was read: {seen}");
    assert!(!seen.contains("c0ffee"), "{seen}");
    let done = running.wait_with_output().unwrap();
    assert_eq!(support::counts(&done)["stored"], json!(1), "the child has the key all the same");
}
