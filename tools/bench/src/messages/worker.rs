//! The production worker as a process of its own: started, watched from outside, ended.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::MessagesError;
use crate::process;
use anamnesis_transport::{ApiToken, Client, Endpoint, HttpResponse, Options, SendError};

/// Longest wait for anything of the worker.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at its metrics: seldom enough to cost it nothing.
const LOOK: Duration = Duration::from_millis(50);

/// Most bytes of its metrics.
const LARGEST_PAGE: usize = 16 << 20;

/// A worker that runs; killed when dropped.
pub(crate) struct WorkerProcess {
    child: Child,
    client: Client,
    began: Instant,
    /// From the start of the process to the first time it said that it consumes.
    pub(crate) until_ready: Duration,
}

/// What happened between two looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WorkerUsage {
    pub(crate) messages: u64,
    pub(crate) took: Duration,
    pub(crate) cpu: Option<Duration>,
}

impl WorkerUsage {
    pub(crate) fn per_second(&self) -> f64 {
        self.messages as f64 / self.took.as_secs_f64().max(1e-9)
    }
}

impl WorkerProcess {
    /// Starts it and waits until it consumes; its log goes to `log`.
    ///
    /// # Errors
    /// When it cannot be started, ends, or is not ready within a minute.
    pub(crate) async fn start(
        program: &Path,
        environment: &[(String, String)],
        log: &Path,
    ) -> Result<Self, MessagesError> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = File::create(log)?;
        let mut command = Command::new(program);
        command
            .arg("worker")
            .envs(environment.iter().cloned())
            .env("ANAMNESIS__HTTP__BIND", format!("127.0.0.1:{port}"))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let began = Instant::now();
        let child = command.spawn()?;
        let unusable = |_| MessagesError::Worker("cannot be asked");
        let endpoint = Endpoint::parse(&format!("http://127.0.0.1:{port}")).map_err(|_| unusable(()))?;
        let client = Client::new(endpoint, &Options::within(PATIENCE)).map_err(|_| unusable(()))?;
        let mut worker = Self { child, client, began, until_ready: Duration::ZERO };
        while !worker.ready().await {
            if worker.child.try_wait()?.is_some() || began.elapsed() > PATIENCE {
                return Err(MessagesError::Worker("does not become ready"));
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        worker.until_ready = began.elapsed();
        Ok(worker)
    }

    async fn ready(&self) -> bool {
        self.asked("readyz").await.is_ok_and(|answer| answer.status.is_success())
    }

    async fn page(&self) -> Result<String, MessagesError> {
        let gone = || MessagesError::Worker("does not answer at /metrics");
        String::from_utf8(self.asked("metrics").await.map_err(|_| gone())?.body).map_err(|_| gone())
    }

    async fn asked(&self, path: &str) -> Result<HttpResponse, SendError> {
        self.client.send(self.client.get(&self.client.endpoint().join(&[path])), &ApiToken::None, LARGEST_PAGE).await
    }

    /// Messages worked since its start: all of them, or those of one outcome.
    ///
    /// # Errors
    /// When it does not answer.
    pub(crate) async fn processed(&self, outcome: Option<&str>) -> Result<u64, MessagesError> {
        let wanted = outcome.map_or_else(String::new, |outcome| format!("outcome=\"{outcome}\""));
        let page = self.page().await?;
        Ok(sum(&page, "anamnesis_messages_processed_total", &wanted) as u64)
    }

    /// Seconds of each stage since its start.
    ///
    /// # Errors
    /// When it does not answer.
    pub(crate) async fn stages(&self) -> Result<BTreeMap<&'static str, f64>, MessagesError> {
        use anamnesis_observability::metrics::Label as _;
        use anamnesis_observability::metrics::labels::Stage;
        let page = self.page().await?;
        let name = "anamnesis_stage_duration_seconds_sum";
        let of = |stage: &Stage| (stage.code(), sum(&page, name, &format!("stage=\"{}\"", stage.code())));
        Ok(Stage::ALL.iter().map(of).collect())
    }

    /// Waits until so many messages in all were worked, from now on. Where all of them were before the first look, the
    /// time counts from the start of the process.
    ///
    /// # Errors
    /// When it does not answer, or nothing happens for a minute.
    pub(crate) async fn until_processed(&self, messages: u64) -> Result<WorkerUsage, MessagesError> {
        let before = self.processed(None).await?;
        if before >= messages {
            return Ok(self.since(0, before, self.began, Some(Duration::ZERO)));
        }
        let (began, cpu) = (Instant::now(), process::cpu_of(self.child.id()));
        let (mut last, mut moved) = (before, Instant::now());
        while last < messages {
            tokio::time::sleep(LOOK).await;
            let now = self.processed(None).await?;
            if now > last {
                (last, moved) = (now, Instant::now());
            } else if moved.elapsed() > PATIENCE {
                return Err(MessagesError::Worker("works no more"));
            }
        }
        Ok(self.since(before, last, began, cpu))
    }

    /// Lets it work for a while.
    ///
    /// # Errors
    /// When it does not answer.
    pub(crate) async fn during(&self, time: Duration) -> Result<WorkerUsage, MessagesError> {
        let before = self.processed(None).await?;
        let (began, cpu) = (Instant::now(), process::cpu_of(self.child.id()));
        tokio::time::sleep(time).await;
        let last = self.processed(None).await?;
        Ok(self.since(before, last, began, cpu))
    }

    fn since(&self, before: u64, last: u64, began: Instant, cpu: Option<Duration>) -> WorkerUsage {
        let used = process::cpu_of(self.child.id()).zip(cpu).map(|(now, then)| now.saturating_sub(then));
        WorkerUsage { messages: last - before, took: began.elapsed(), cpu: used }
    }

    /// Memory resident now, and the most that was, in bytes.
    pub(crate) fn memory(&self) -> (Option<u64>, Option<u64>) {
        (process::resident_bytes_of(self.child.id()), process::peak_bytes_of(self.child.id()))
    }

    /// SIGTERM, and its end.
    ///
    /// # Errors
    /// When it cannot be told.
    pub(crate) async fn end(mut self) -> Result<(), MessagesError> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        let began = Instant::now();
        while self.child.try_wait()?.is_none() {
            if began.elapsed() > PATIENCE {
                return Err(MessagesError::Worker("does not end"));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All series of a metric that carry a label, added up.
fn sum(page: &str, metric: &str, label: &str) -> f64 {
    let series = page.lines().filter_map(|line| line.strip_prefix(metric)).filter(|rest| rest.starts_with('{'));
    series.filter(|rest| rest.contains(label)).filter_map(|rest| rest.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_of_one_metric_are_added_and_those_of_others_are_not() {
        let page = "# HELP a_total x\na_total{outcome=\"stored\",queue=\"bulk\"} 3\na_total{outcome=\"stored\",queue=\"file\"} 4\n\
                    a_total{outcome=\"retried\",queue=\"bulk\"} 8\na_total_created{outcome=\"stored\"} 16\n";
        assert_eq!(sum(page, "a_total", "outcome=\"stored\""), 7.0);
        assert_eq!(sum(page, "a_total", ""), 15.0);
    }
}
