#!/usr/bin/env bash
# The library that draws the pictures of the dashboards (Apache ECharts). Prints the path of its script, fetched from the
# package index into the cache the first time.
. "$(dirname "$0")/lib.sh"

version=5.6.0
sum=e1b82487dd7f8d9f0438eec1f1433051148e0095ac7a15d4db890afda45cf610
script=$CACHE/charts/echarts-$version.min.js
if [ ! -f "$script" ]; then
    system_package npm npm
    say "fetching ECharts"
    work=$(mktemp -d "$CACHE/charts.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && npm pack --silent "echarts@$version" >/dev/null)
    echo "$sum  $work/echarts-$version.tgz" | sha256sum --check --quiet >&2 || die "the package has another checksum than the pinned one"
    tar -xzf "$work/echarts-$version.tgz" -C "$work" package/dist/echarts.min.js
    mkdir -p "$CACHE/charts"
    mv "$work/package/dist/echarts.min.js" "$script"
fi
printf '%s\n' "$script"
