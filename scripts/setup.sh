#!/usr/bin/env bash
# What building needs: a Rust toolchain and a C compiler (SQLite and the cryptography library are C).
. "$(dirname "$0")/lib.sh"

have cargo || die "a Rust toolchain is needed: see https://rustup.rs"
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
found=$(rustc --version | sed -E 's/^rustc ([0-9]+\.[0-9]+).*/\1/')
if [ "$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n 1)" != "$wanted" ]; then
    die "Rust $wanted or newer is needed, this is $found: rustup update stable"
fi
system_package cc gcc
