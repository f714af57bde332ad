//! How the program reaches other hosts over HTTP: one constructor of clients, one rule for addresses, one kind of token.
//!
//! The named hosts are the configured URLs themselves: a client is made for one URL, refuses to send to any other origin,
//! follows no redirect and never asks the environment for a proxy. Beyond this machine it speaks https only.

mod address;
mod client;
mod token;

pub use address::{AddressError, Endpoint, apart, is_protected};
pub use client::{Client, ClientError, HttpResponse, Options, SendError, authority};
pub use token::ApiToken;
