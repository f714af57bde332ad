//! Jobs against a real store: the same result after kills, repetitions, delays and races.

mod app;
mod boundaries;
mod decay;
mod kills;
mod verbs;
