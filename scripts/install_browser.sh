#!/bin/sh
# Chromium and a Chinese font for the browser tests, from the distribution's packages.
# Without the rights to install them it says so and the browser tests skip themselves.
set -eu
if command -v chromium >/dev/null 2>&1 && fc-list 2>/dev/null | grep -qi 'Noto Sans CJK'; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing chromium and fonts-noto-cjk for the browser tests …"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null
    apt-get install -y -qq chromium fonts-noto-cjk fontconfig >/dev/null
    exit 0
fi
echo "No chromium with a CJK font here and no rights to install them: browser tests are skipped." >&2
