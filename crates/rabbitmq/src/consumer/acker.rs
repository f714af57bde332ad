//! The only place that acknowledges. It tracks the open messages of a channel and acknowledges many at once where
//! nothing open lies between, one by one otherwise: a slow message never delays the acknowledgement of others.

use std::collections::BTreeSet;

use async_trait::async_trait;
use tokio::sync::Mutex;

use anamnesis_core::failpoints;

/// The channel that the messages came by.
#[async_trait]
pub trait AckChannel: Send + Sync {
    /// Acknowledges a message, or it and all before it. `Ok(false)` is the library's way to say that nothing was sent.
    ///
    /// # Errors
    /// When the channel is over.
    async fn ack(&self, tag: u64, multiple: bool) -> Result<bool, ChannelClosed>;
}

/// The channel is over: what was not acknowledged comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the channel is closed; unacknowledged messages will be redelivered")]
pub struct ChannelClosed;

/// The open messages of one channel.
pub struct Acker<A> {
    channel: A,
    open: Mutex<BTreeSet<u64>>,
}

impl<A: AckChannel> Acker<A> {
    pub fn new(channel: A) -> Self {
        Self { channel, open: Mutex::default() }
    }

    /// A message was delivered.
    pub(crate) async fn track(&self, tag: u64) {
        self.open.lock().await.insert(tag);
    }

    /// How many messages are open.
    #[cfg(test)]
    pub(crate) async fn len(&self) -> usize {
        self.open.lock().await.len()
    }

    /// Whether none is.
    pub(crate) async fn is_empty(&self) -> bool {
        self.open.lock().await.is_empty()
    }

    /// Acknowledges messages whose effects are committed. Call it after the commit and never before.
    ///
    /// # Errors
    /// [`ChannelClosed`] when nothing was sent: the messages will be delivered again, and must be taken for open.
    pub(crate) async fn ack(&self, tags: &[u64]) -> Result<(), ChannelClosed> {
        let mut open = self.open.lock().await;
        let done: BTreeSet<u64> = tags.iter().copied().filter(|tag| open.contains(tag)).collect();
        for (tag, multiple) in plan(&open, &done) {
            let acknowledged = self.channel.ack(tag, multiple).await?;
            if !acknowledged && !failpoints::is("ignore_ack_false") {
                return Err(ChannelClosed);
            }
            if multiple {
                *open = open.split_off(&(tag + 1));
            } else {
                open.remove(&tag);
            }
        }
        Ok(())
    }
}

/// The acknowledgements to send: one for the longest run from the oldest open message that is done throughout, then one
/// each.
fn plan(open: &BTreeSet<u64>, done: &BTreeSet<u64>) -> Vec<(u64, bool)> {
    if failpoints::is("ack_over_open") {
        return done.last().map(|last| (*last, true)).into_iter().collect();
    }
    let run: Vec<u64> = open.iter().copied().take_while(|tag| done.contains(tag)).collect();
    let mut acks = Vec::new();
    if let Some(last) = run.last() {
        acks.push((*last, run.len() > 1));
    }
    acks.extend(done.iter().filter(|tag| run.last().is_none_or(|last| *tag > last)).map(|tag| (*tag, false)));
    acks
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[derive(Default)]
    struct Channel {
        sent: std::sync::Mutex<Vec<(u64, bool)>>,
        poisoned: AtomicBool,
    }

    #[async_trait]
    impl AckChannel for Arc<Channel> {
        async fn ack(&self, tag: u64, multiple: bool) -> Result<bool, ChannelClosed> {
            if self.poisoned.load(Ordering::SeqCst) {
                return Ok(false);
            }
            self.sent.lock().unwrap().push((tag, multiple));
            Ok(true)
        }
    }

    async fn acker(tags: std::ops::RangeInclusive<u64>) -> (Arc<Channel>, Acker<Arc<Channel>>) {
        let channel = Arc::new(Channel::default());
        let acker = Acker::new(Arc::clone(&channel));
        for tag in tags {
            acker.track(tag).await;
        }
        (channel, acker)
    }

    #[tokio::test]
    async fn a_whole_batch_costs_one_acknowledgement() {
        let (channel, acker) = acker(1..=32).await;
        acker.ack(&(1..=32).collect::<Vec<_>>()).await.unwrap();
        assert_eq!(*channel.sent.lock().unwrap(), [(32, true)]);
        assert!(acker.is_empty().await);
    }

    #[tokio::test]
    async fn what_is_open_is_never_covered_and_blocks_no_other() {
        let (channel, acker) = acker(1..=6).await;
        acker.ack(&[1, 2, 4, 6]).await.unwrap();
        assert_eq!(*channel.sent.lock().unwrap(), [(2, true), (4, false), (6, false)]);
        acker.ack(&[3, 5]).await.unwrap();
        assert_eq!(channel.sent.lock().unwrap()[3..], [(5, true)]);
    }

    #[tokio::test]
    async fn a_message_is_acknowledged_once() {
        let (channel, acker) = acker(1..=2).await;
        acker.ack(&[1]).await.unwrap();
        acker.ack(&[1]).await.unwrap();
        assert_eq!(*channel.sent.lock().unwrap(), [(1, false)]);
    }

    #[tokio::test]
    async fn an_acknowledgement_that_was_not_sent_leaves_the_message_open() {
        let (channel, acker) = acker(1..=2).await;
        channel.poisoned.store(true, Ordering::SeqCst);
        assert_eq!(acker.ack(&[1, 2]).await, Err(ChannelClosed));
        assert_eq!(acker.len().await, 2);
    }

    proptest::proptest! {
        /// Whatever is done in whatever order: an acknowledgement covers done messages only, and in the end all.
        #[test]
        fn acknowledgements_cover_what_is_done_and_nothing_else(order in proptest::collection::vec(0usize..40, 0..40)) {
            let mut open: BTreeSet<u64> = (1..=40).collect();
            let mut settled: BTreeSet<u64> = BTreeSet::new();
            for chunk in order.chunks(5) {
                let done: BTreeSet<u64> =
                    chunk.iter().map(|n| *n as u64 + 1).filter(|tag| open.contains(tag)).collect();
                for (tag, multiple) in plan(&open, &done) {
                    let covered: Vec<u64> =
                        open.iter().copied().filter(|t| if multiple { *t <= tag } else { *t == tag }).collect();
                    proptest::prop_assert!(covered.iter().all(|t| done.contains(t)));
                    open.retain(|t| !covered.contains(t));
                    settled.extend(covered);
                }
                proptest::prop_assert!(done.iter().all(|t| settled.contains(t)));
            }
        }
    }
}
