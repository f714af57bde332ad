//! The one integration binary: one `mod` line per file.

#![allow(clippy::unwrap_used)] // a test says that it failed by panicking, its helpers too

mod architecture;
mod backup;
mod bench;
mod broker;
mod broker_tls;
mod canary;
mod commands;
mod contract;
mod crash;
mod dashboards;
mod dated;
mod deployment;
mod endpoints;
mod extraction_model;
mod generated_docs;
mod ingest;
mod intake_alarm;
mod intake_amqp;
mod intake_weather;
mod jobs;
mod key_services;
mod keys;
mod meaning;
mod not_yet;
mod profile_log;
mod readers;
mod readme;
mod recall;
mod redaction;
mod redaction_fuzz;
mod redaction_services;
mod relay;
mod risk_heard;
mod rules;
mod secrets;
mod server;
mod simulation;
mod spool;
mod store;
mod support;
mod transport;
mod uploaded;
mod worker;
mod year;
