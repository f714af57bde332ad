//! The workers: processes that are killed and come back.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::servers::Servers;

pub struct Workers {
    living: Vec<(Child, String)>,
    /// Those that ended by themselves: of the deadly message, or of a defect.
    pub self_ended: u32,
    started: u32,
}

/// The program, beside this one.
pub fn program() -> Outcome<PathBuf> {
    let own = std::env::current_exe()?;
    let built = own.parent().and_then(|folder| folder.parent()).ok_or("no folder of programs")?.join("anamnesis");
    if built.exists() { Ok(built) } else { Err("build the program first: cargo build --bin anamnesis".into()) }
}

impl Workers {
    pub fn start(servers: &Servers, count: usize) -> Outcome<Self> {
        let mut workers = Self { living: Vec::new(), self_ended: 0, started: 0 };
        for _ in 0..count {
            workers.one(servers)?;
        }
        Ok(workers)
    }

    fn one(&mut self, servers: &Servers) -> Outcome<()> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = std::fs::File::create(servers.path().join(format!("worker-{}.log", self.started)))?;
        self.started += 1;
        let mut command = Command::new(program()?);
        command.arg("worker").envs(servers.environment()).env("ANAMNESIS__HTTP__BIND", format!("127.0.0.1:{port}"));
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).current_dir(servers.path());
        self.living.push((command.spawn()?, format!("http://127.0.0.1:{port}/readyz")));
        Ok(())
    }

    /// SIGKILL for one, and another in its place.
    pub fn kill(&mut self, which: usize, servers: &Servers) -> Outcome<()> {
        let which = which % self.living.len();
        let (mut child, _) = self.living.swap_remove(which);
        child.kill()?;
        child.wait()?;
        self.one(servers)
    }

    /// Starts others for those that ended by themselves, as Kubernetes would.
    pub fn revive(&mut self, servers: &Servers) -> Outcome<()> {
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

    /// Whether every one of them is ready.
    pub async fn ready(&self) -> bool {
        for (_, address) in &self.living {
            match reqwest::get(address).await {
                Ok(answer) if answer.status().is_success() => {}
                _ => return false,
            }
        }
        true
    }

    /// SIGTERM for all; how long each took.
    pub fn terminate(&mut self) -> Vec<Duration> {
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
