#!/usr/bin/env bash
# The library that gives a program another wall clock. Prints its path, unpacked from Debian's package into the cache
# (nothing is installed). Prints nothing where it cannot be had.
. "$(dirname "$0")/lib.sh"

find_library() { find "$CACHE/faketime" -name libfaketime.so.1 2>/dev/null | head -n 1 || true; }

library=$(find_library)
if [ -z "$library" ]; then
    have apt-get && have dpkg-deb || exit 0
    say "fetching libfaketime"
    debian_package libfaketime "$CACHE/faketime"
    library=$(find_library)
fi
printf '%s\n' "$library"
