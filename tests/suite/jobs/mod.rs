//! Nightly jobs against a real store: the same end whatever is killed, repeated, late or raced.

mod app;
mod boundaries;
mod decay;
mod kills;
mod verbs;
