#!/bin/sh
# kvdrive @VERSION@ in one file. Behind this head comes an archive of the runtime and the program. It is unpacked at the
# first start, into KVDRIVE_RUNTIME_DIR or the cache of whoever starts it, and used from there afterwards.
set -eu

archive=@SHA256@

fail() {
  printf 'kvdrive: %s\n' "$1" >&2
  exit 1
}

# Sets "self": where this file lies, whichever way it was called.
find_self() {
  case $0 in
    /*) self=$0 ;;
    */*) self=$(pwd)/$0 ;;
    *) if [ -f "$0" ]; then self=$(pwd)/$0; else self=$(command -v "$0"); fi ;;
  esac
}

# Sets "base": the folder that archives are unpacked into.
find_base() {
  if [ -n "${KVDRIVE_RUNTIME_DIR:-}" ]; then base=$KVDRIVE_RUNTIME_DIR
  elif [ -n "${XDG_CACHE_HOME:-}" ]; then base=$XDG_CACHE_HOME/kvdrive
  elif [ -n "${HOME:-}" ]; then base=$HOME/.cache/kvdrive
  else base=${TMPDIR:-/tmp}/kvdrive-$me
  fi
  case $base in /*) ;; *) base=$(pwd)/$base ;; esac
}

# Whoever may write to a folder decides what runs from it.
demand_own() {
  found=$(LC_ALL=C ls -ldn "$1/." 2>&1) || fail "Cannot read the folder $1: $found"
  read -r mode _ owner _ << END
$found
END
  [ "$owner" = "$me" ] || fail "The folder $1 belongs to somebody else: name another one with KVDRIVE_RUNTIME_DIR"
  case $mode in
    ?????w* | ????????w*) fail "Others may write to the folder $1: take that right from them (chmod go-w), or name another one with KVDRIVE_RUNTIME_DIR" ;;
  esac
}

behind_head() {
  tail -n "+@FIRST_LINE@" "$self"
}

sha256() {
  if command -v sha256sum > /dev/null; then sha256sum
  elif command -v shasum > /dev/null; then shasum -a 256
  elif command -v openssl > /dev/null; then openssl dgst -sha256 -r
  else echo "none"
  fi
}

# Removes what others left half-made: processes of this machine that are gone, and whatever is older than a day.
clear_old() {
  rm -rf "$base"/.gone-*
  for old in "$base"/.new-*; do
    [ -d "$old" ] || continue
    maker=${old##*/.new-}
    if [ "${maker#*-}" = "$(uname -n)" ] && ! kill -0 "${maker%%-*}" 2> /dev/null; then :
    elif [ -n "$(find "$old" -prune -mtime +0 2> /dev/null)" ]; then :
    else continue
    fi
    # A maker that does live finds nothing to publish any more.
    mv "$old" "$base/.gone-$maker" 2> /dev/null && rm -rf "$base/.gone-$maker"
  done
}

# Makes the folder "room" appear whole, at once. Whoever does the same at the same time loses nothing.
unpack() {
  found=$(behind_head | sha256)
  [ "${found%% *}" != none ] || fail "One of sha256sum, shasum and openssl is needed to check the archive"
  [ "${found%% *}" = "$archive" ] || fail "The file $self is damaged: its archive is not the one it was made with"
  umask_before=$(umask)
  umask 077
  found=$(mkdir -p "$base" 2>&1) ||
    fail "Cannot make the folder $base: $found; name another one with KVDRIVE_RUNTIME_DIR"
  demand_own "$base"
  clear_old
  new=$base/.new-$$-$(uname -n)
  trap 'rm -rf "$new"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  found=$(mkdir "$new" "$new/$archive" 2>&1) ||
    fail "Cannot write to the folder $base: $found; name another one with KVDRIVE_RUNTIME_DIR"
  found=$( (cd "$new/$archive" && behind_head | gzip -dc | tar -xof -) 2>&1) ||
    fail "Cannot unpack @MEGABYTES@ MB into the folder $base: ${found%%"$newline"*}"
  "$new/$archive/deno" --version > /dev/null 2>&1 ||
    fail "The runtime, which is for @SYSTEM@, does not start on this machine from the folder $base"
  # The name comes after the bytes, also when the power fails.
  sync
  mv -f "$new/$archive" "$base/" 2> /dev/null || [ -x "$room/deno" ] ||
    fail "Cannot write to the folder $base: name another one with KVDRIVE_RUNTIME_DIR"
  rm -rf "$new"
  trap - EXIT HUP INT TERM
  umask "$umask_before"
}

newline='
'
me=$(id -u)
find_self
find_base
room=$base/$archive
[ -x "$room/deno" ] || unpack
demand_own "$base"
demand_own "$room"

# Each connection needs a descriptor, and the usual limit is 1024.
ulimit -n "$(ulimit -H -n)" 2> /dev/null || :

export DENO_DIR="$room/cache" DENO_NO_UPDATE_CHECK=1 DENO_NO_PACKAGE_JSON=1
export DENO_TLS_CA_STORE="${DENO_TLS_CA_STORE:-mozilla,system}"
export KVDRIVE_PACKED="$self"
exec "$room/deno" run --quiet @OPTIONS@ --no-remote --cached-only \
  --config "$room/app/deno.json" "$room/app/main.ts" "$@"
