//! A TCP relay with weather: it delays, stalls, cuts and truncates what passes between a client and a server. Proofs of
//! reliability stand it between the program and its broker or database.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// What happens to bytes on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FaultProfile {
    #[default]
    Clear,
    /// Every chunk comes so much later.
    Delayed(Duration),
    /// Connections stay open and nothing passes: half-open, as after a lost cable.
    Stalled,
    /// New connections are closed at once.
    Refusing,
    /// Half of the next chunk passes, then the connection is reset.
    Truncating,
}

/// The sky over all connections: the weather, how often they were cut, and where the server is.
type SharedFault = (FaultProfile, u64, SocketAddr);

/// A running relay; stops when dropped.
pub struct FaultProxy {
    address: SocketAddr,
    sky: watch::Sender<SharedFault>,
    task: AbortHandle,
}

impl FaultProxy {
    /// Listens on a free port of loopback and relays to `target`.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(target: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (sky, seen) = watch::channel((FaultProfile::Clear, 0, target));
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(relay(client, seen.clone()));
            }
        });
        Ok(Self { address, sky, task: task.abort_handle() })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on.
    pub fn set(&self, weather: FaultProfile) {
        self.sky.send_modify(|sky| sky.0 = weather);
    }

    /// New connections go there: the server came back at another place.
    pub fn retarget(&self, target: SocketAddr) {
        self.sky.send_modify(|sky| sky.2 = target);
    }

    /// Ends every open connection.
    pub fn cut(&self) {
        self.sky.send_modify(|sky| sky.1 += 1);
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.task.abort();
        self.cut();
    }
}

async fn relay(client: TcpStream, mut sky: watch::Receiver<SharedFault>) {
    let (weather, cuts, target) = *sky.borrow();
    if weather == FaultProfile::Refusing {
        return;
    }
    let Ok(server) = TcpStream::connect(target).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let seen = sky.clone();
    let cut = async {
        // A relay that was dropped cuts too.
        let _ = sky.wait_for(|sky| sky.1 != cuts).await;
    };
    tokio::select! {
        () = cut => {}
        () = pump(from_client, to_server, seen.clone()) => {}
        () = pump(from_server, to_client, seen) => {}
    }
}

async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut sky: watch::Receiver<SharedFault>) {
    let mut buffer = vec![0u8; 64 << 10];
    loop {
        let Ok(read @ 1..) = from.read(&mut buffer).await else { return };
        let weather = sky.borrow_and_update().0;
        let passes = match weather {
            FaultProfile::Clear | FaultProfile::Refusing => read,
            FaultProfile::Delayed(delay) => {
                tokio::time::sleep(delay).await;
                read
            }
            FaultProfile::Stalled => {
                if sky.wait_for(|sky| sky.0 != FaultProfile::Stalled).await.is_err() {
                    return;
                }
                read
            }
            FaultProfile::Truncating => read / 2,
        };
        if to.write_all(&buffer[..passes]).await.is_err() || weather == FaultProfile::Truncating {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn echo() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        address
    }

    async fn said(stream: &mut TcpStream, text: &[u8]) -> Option<Vec<u8>> {
        stream.write_all(text).await.ok()?;
        let mut heard = vec![0u8; text.len()];
        let hearing = tokio::time::timeout(Duration::from_millis(500), stream.read_exact(&mut heard));
        hearing.await.ok()?.ok()?;
        Some(heard)
    }

    #[tokio::test]
    async fn bytes_pass_in_clear_weather_and_in_no_other() {
        let relay = FaultProxy::start(echo().await).await.unwrap();
        let mut stream = TcpStream::connect(relay.address()).await.unwrap();
        assert_eq!(said(&mut stream, b"hello").await.as_deref(), Some(&b"hello"[..]));
        relay.set(FaultProfile::Stalled);
        assert_eq!(said(&mut stream, b"x").await, None);
        relay.set(FaultProfile::Clear);
        let mut late = [0u8; 1];
        stream.read_exact(&mut late).await.unwrap();
        relay.cut();
        assert_eq!(stream.read(&mut late).await.unwrap_or(0), 0);
        relay.set(FaultProfile::Truncating);
        let mut stream = TcpStream::connect(relay.address()).await.unwrap();
        assert_eq!(said(&mut stream, b"hello").await, None);
        relay.set(FaultProfile::Refusing);
        let mut stream = TcpStream::connect(relay.address()).await.unwrap();
        assert_eq!(said(&mut stream, b"hello").await, None);
    }
}
