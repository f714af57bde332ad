//! Nightly jobs against a real store: the same end whatever is killed, repeated, late or raced.

mod boundaries;
mod fading;
mod kills;
mod verbs;
mod world;
