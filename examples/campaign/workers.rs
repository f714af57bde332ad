//! The workers: processes that are killed and come back.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::servers::Servers;

/// What a worker says of itself, part by part.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Checks {
    pub(crate) store: bool,
    pub(crate) broker: bool,
    pub(crate) keys: bool,
    /// The schema is the one that it knows.
    pub(crate) schema: bool,
}

impl Checks {
    pub(crate) fn all(self) -> bool {
        self.store && self.broker && self.keys
    }
}

pub(crate) struct Workers {
    living: Vec<(Child, String)>,
    /// What is started.
    program: PathBuf,
    /// Environment beside the servers' own.
    more: Vec<(String, String)>,
    asking: reqwest::Client,
    /// Those that ended by themselves: of the deadly message, or of a defect.
    pub(crate) self_ended: u32,
    started: u32,
}

/// The program, beside this one.
pub(crate) fn program() -> Outcome<PathBuf> {
    let own = std::env::current_exe()?;
    let built = own.parent().and_then(|folder| folder.parent()).ok_or("no folder of programs")?.join("anamnesis");
    if built.exists() { Ok(built) } else { Err("build the program first: cargo build --bin anamnesis".into()) }
}

impl Workers {
    #[expect(clippy::disallowed_methods, reason = "the campaign is the other side of the program")]
    pub(crate) fn start(servers: &Servers, count: usize, more: &[(&str, &str)]) -> Outcome<Self> {
        let more = more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let asking = reqwest::Client::builder().timeout(Duration::from_secs(2)).no_proxy().build()?;
        let mut workers = Self { living: Vec::new(), program: program()?, more, asking, self_ended: 0, started: 0 };
        for _ in 0..count {
            workers.one(servers)?;
        }
        Ok(workers)
    }

    /// One more, of another program: those after it are of that program too.
    pub(crate) fn add(&mut self, program: &Path, servers: &Servers) -> Outcome<u32> {
        program.clone_into(&mut self.program);
        self.one(servers)?;
        self.living.last().map(|(child, _)| child.id()).ok_or_else(|| "no worker was started".into())
    }

    /// SIGTERM for one, without waiting for its end.
    pub(crate) fn ask_to_end(&mut self, process: u32) {
        let _ = Command::new("kill").args(["-TERM", &process.to_string()]).status();
    }

    /// Whether one has ended, which is then forgotten.
    pub(crate) fn has_ended(&mut self, process: u32) -> bool {
        let before = self.living.len();
        self.living.retain_mut(|(child, _)| child.id() != process || matches!(child.try_wait(), Ok(None)));
        before != self.living.len()
    }

    fn one(&mut self, servers: &Servers) -> Outcome<()> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = std::fs::File::create(servers.path().join(format!("worker-{port}-{}.log", self.started)))?;
        self.started += 1;
        let mut command = Command::new(&self.program);
        command.arg("worker").envs(servers.environment()).envs(self.more.iter().cloned());
        command.env("ANAMNESIS__HTTP__BIND", format!("127.0.0.1:{port}"));
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).current_dir(servers.path());
        self.living.push((command.spawn()?, format!("http://127.0.0.1:{port}/readyz")));
        Ok(())
    }

    /// SIGKILL for one, and another in its place.
    pub(crate) fn kill(&mut self, which: usize, servers: &Servers) -> Outcome<()> {
        let which = which % self.living.len();
        let (mut child, _) = self.living.swap_remove(which);
        child.kill()?;
        child.wait()?;
        self.one(servers)
    }

    /// Starts others for those that ended by themselves, as Kubernetes would.
    pub(crate) fn revive(&mut self, servers: &Servers) -> Outcome<()> {
        let mut dead = 0;
        self.living.retain_mut(|(child, _)| {
            let lives = matches!(child.try_wait(), Ok(None));
            dead += u32::from(!lives);
            lives
        });
        self.self_ended += dead;
        for _ in 0..dead {
            self.one(servers)?;
        }
        Ok(())
    }

    /// The processes that live now.
    pub(crate) fn processes(&self) -> Vec<u32> {
        self.living.iter().map(|(child, _)| child.id()).collect()
    }

    /// What each of them says of itself; one that does not answer says nothing good.
    pub(crate) async fn all_checks(&self) -> BTreeMap<u32, Checks> {
        let asked = self.living.iter().map(async |(child, address)| (child.id(), self.checks(address).await));
        futures::future::join_all(asked).await.into_iter().collect()
    }

    async fn checks(&self, address: &str) -> Checks {
        let Ok(answer) = self.asking.get(address).send().await else { return Checks::default() };
        let Ok(said) = answer.json::<serde_json::Value>().await else { return Checks::default() };
        let good = |name: &str| {
            let checks = said["checks"].as_array();
            checks.is_some_and(|all| all.iter().any(|one| one["name"] == name && one["ready"] == true))
        };
        Checks { store: good("store"), broker: good("broker"), keys: good("keys"), schema: good("schema") }
    }

    /// SIGTERM for all; how long each took.
    pub(crate) fn terminate(&mut self) -> Vec<Duration> {
        let mut times = Vec::new();
        for (mut child, _) in self.living.drain(..) {
            let began = Instant::now();
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            let _ = child.wait();
            times.push(began.elapsed());
        }
        times
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for (child, _) in &mut self.living {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
