//! Sleeping as a dependency: the runtime's timer in production, a recorder in tests.

use std::time::Duration;

use futures::future::BoxFuture;

/// Waits for a duration.
pub(crate) trait Sleep: Send + Sync + 'static {
    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()>;
}

/// The runtime's timer.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Timer;

impl Sleep for Timer {
    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(wait))
    }
}

#[cfg(test)]
pub(crate) mod recorder {
    //! A pause that takes no time and remembers what was asked.
    use std::sync::{Arc, Mutex};

    use super::*;

    type Effect = Box<dyn Fn(Duration) + Send + Sync>;

    #[derive(Default, Clone)]
    pub(crate) struct Recorder(Arc<Mutex<Vec<Duration>>>, Option<Arc<Effect>>);

    impl Recorder {
        /// Also does `effect`, such as moving a test clock.
        pub(crate) fn and(effect: impl Fn(Duration) + Send + Sync + 'static) -> Self {
            Self(Arc::default(), Some(Arc::new(Box::new(effect))))
        }

        pub(crate) fn waits(&self) -> Vec<Duration> {
            self.0.lock().unwrap().clone()
        }
    }

    impl Sleep for Recorder {
        fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()> {
            self.0.lock().unwrap().push(wait);
            if let Some(effect) = &self.1 {
                effect(wait);
            }
            Box::pin(std::future::ready(()))
        }
    }
}
