#!/usr/bin/env bash
# Installs what Headwall needs and what is missing: GDAL, SQLite, pkg-config, a C compiler. Asks nothing, changes nothing else.
set -euo pipefail

say() { printf '%s\n' "$*"; }
has() { command -v "$1" >/dev/null 2>&1; }

needs_nothing() {
  has pkg-config && has ogrinfo && { has cc || has gcc || has clang; } && pkg-config --exists gdal sqlite3
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif has sudo; then
    sudo "$@"
  else
    say "This needs the rights of root, and sudo is not here. Please run as root: $*" >&2
    exit 1
  fi
}

if ! needs_nothing; then
  if has apt-get; then
    wanted=()
    has pkg-config || wanted+=(pkg-config)
    has cc || has gcc || has clang || wanted+=(build-essential)
    has ogrinfo || wanted+=(gdal-bin)
    { has pkg-config && pkg-config --exists gdal; } || wanted+=(libgdal-dev)
    { has pkg-config && pkg-config --exists sqlite3; } || wanted+=(libsqlite3-dev)
    say "== install ${wanted[*]}"
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${wanted[@]}" ca-certificates
  elif [ "$(uname -s)" = Darwin ] && has brew; then
    say "== install gdal sqlite pkg-config"
    brew install gdal sqlite pkg-config
    # Homebrew keeps its SQLite out of the way of the system's.
    say "If pkg-config does not find sqlite3: export PKG_CONFIG_PATH=\"$(brew --prefix sqlite)/lib/pkgconfig\""
  elif [ "$(uname -s)" = Darwin ]; then
    say "Please install Homebrew (https://brew.sh), then run this again; it installs gdal, sqlite and pkg-config." >&2
    exit 1
  else
    say "Please install with your system's package manager: GDAL 3.4 or newer with its headers and command-line tools," >&2
    say "SQLite 3 with its headers, pkg-config and a C compiler. Then run this again." >&2
    exit 1
  fi
  if ! needs_nothing; then
    say "Something is still missing; 'pkg-config --modversion gdal sqlite3' and 'ogrinfo --version' should both answer." >&2
    exit 1
  fi
fi

if ! has cargo; then
  say "Rust is missing. Install it from https://rustup.rs (one command, no root), open a new shell, and run this again." >&2
  exit 1
fi
say "== $(cargo --version), GDAL $(pkg-config --modversion gdal), SQLite $(pkg-config --modversion sqlite3)"
