#!/usr/bin/env bash
# An authority of one's own and a server's certificate under it, for tests: good for two days.
#   scripts/certificates.sh FOLDER HOST   writes ca.pem, server.pem and server.key; the certificate is HOST's
. "$(dirname "$0")/lib.sh"

[ $# = 2 ] || die "usage: scripts/certificates.sh FOLDER HOST"
folder=$1 host=$2
system_package openssl openssl

key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }
request() { openssl req -new -key "$1" -subj "/CN=$2" -out "$folder/request" 2>/dev/null; }
sign() { openssl x509 -req -in "$folder/request" -days 2 -extfile "$folder/extensions" "$@" 2>/dev/null; }

key "$folder/ca.key"
request "$folder/ca.key" "authority of tests"
printf 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n' >"$folder/extensions"
sign -signkey "$folder/ca.key" -out "$folder/ca.pem"

key "$folder/server.key"
request "$folder/server.key" "$host"
printf 'basicConstraints=critical,CA:FALSE\nsubjectAltName=DNS:%s\n' "$host" >"$folder/extensions"
sign -CA "$folder/ca.pem" -CAkey "$folder/ca.key" -CAcreateserial -out "$folder/server.pem"

rm -f "$folder/request" "$folder/extensions" "$folder/ca.srl"
