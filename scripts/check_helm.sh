#!/usr/bin/env bash
# The chart, rendered by the real Helm engine with each of its ci/*-values.yaml, against strict Kubernetes schemas and
# against the product: its jobs, its configuration keys, its drain time.
. "$(dirname "$0")/lib.sh"

# The script of the chart's policies Job is run as well.
system_package curl curl
python=$(scripts/python.sh)
helm=$(scripts/helm.sh)
exec "$python/python" scripts/check_helm.py "$helm"
