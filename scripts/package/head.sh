#!/bin/sh
# kvdrive @VERSION@ in one file. Behind this head comes an archive of the runtime and the program. It is unpacked at the
# first start, into KVDRIVE_RUNTIME_DIR or the cache of the user who starts it, and checked and used there afterwards.
set -eu

if [ -n "${ZSH_VERSION:-}" ]; then emulate sh; fi

archive=@SHA256@
sums=@SUMS_SHA256@

fail() {
  printf 'kvdrive: %s\n' "$1" >&2
  exit 1
}

# Sets "self" to the path of this file.
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
  else find_temporary
  fi
  case $base in /*) ;; *) base=$(pwd)/$base ;; esac
}

# Sets "base" to a folder of this user among the temporary files of all users. Others may have taken any name there.
find_temporary() {
  temporary=$(cd "${TMPDIR:-/tmp}" && pwd -P) || fail "Cannot use the folder ${TMPDIR:-/tmp}"
  for base in "$temporary/kvdrive-$me" "$temporary/kvdrive-$me"-*; do
    if is_own "$base"; then return; fi
  done
  base=$temporary/kvdrive-$me
  if mkdir -m 700 "$base" 2> /dev/null || is_own "$base"; then return; fi
  base=$(mktemp -d "$temporary/kvdrive-$me-XXXXXXXX" 2>&1) ||
    fail "Cannot make a folder in $temporary: $base; name another one with KVDRIVE_RUNTIME_DIR"
}

# Makes "base" if it is not there, and sets it to the same folder without symbolic links. Every folder above it is one
# that no other user can change, so what was checked stays as it is.
settle_base() {
  above=$base
  below=
  until [ -d "$above/." ]; do
    below=/${above##*/}$below
    above=${above%/*}
  done
  require_safe "$(cd "$above/." && pwd -P)"
  [ -z "$below" ] || check_archive
  found=$( (umask 077 && mkdir -p "$above$below") 2>&1) ||
    fail "Cannot make the folder $base: $found; name another one with KVDRIVE_RUNTIME_DIR"
  base=$(cd "$base" && pwd -P) || fail "Cannot use the folder $base"
  require_safe "$base"
  require_own "$base"
}

# Refuses a folder where another user could change or replace a folder on its path. The path has no links.
require_safe() {
  step=$1
  while [ -n "$step" ]; do
    look_at "$step"
    case $owner in
      0 | "$me") ;;
      *) fail "The folder $step belongs to another user, who decides what lies in it: name another one with KVDRIVE_RUNTIME_DIR" ;;
    esac
    case $mode in
      # In a sticky folder, users cannot remove or rename files of other users.
      d????????[tT]*) ;;
      d????????*) ! others_write || fail "Others may write to the folder $step: take that right from them (chmod go-w), or name another one with KVDRIVE_RUNTIME_DIR" ;;
      *) fail "The folder $step was replaced while the program started" ;;
    esac
    step=${step%/*}
  done
}

# Sets what "ls" tells of a path itself, not of what a link leads to.
look_at() {
  found=$(LC_ALL=C ls -ldn "$1" 2>&1) || fail "Cannot read the folder $1: $found"
  read -r mode _ owner group _ << END
$found
END
}

# Whether users other than the owner may write, as looked at. The group of a user's own name has no other members.
others_write() {
  case $mode in
    ????????w*) return 0 ;;
    ?????w*) [ "$group" != "$(id -g)" ] || [ "$(id -gn)" != "$(id -un)" ] ;;
    *) return 1 ;;
  esac
}

# Refuses a folder that is another user's, or that others may write to: they would decide what runs from it.
require_own() {
  look_at "$1"
  [ "$owner" = "$me" ] || fail "The folder $1 belongs to another user: name another one with KVDRIVE_RUNTIME_DIR"
  case $mode in
    d????w* | d???????w*) fail "Others may write to the folder $1: take that right from them (chmod go-w), or name another one with KVDRIVE_RUNTIME_DIR" ;;
    d*) ;;
    *) fail "$1 is no folder: remove it" ;;
  esac
}

# Whether there is a folder of that name, of this user alone.
is_own() {
  (require_own "$1") 2> /dev/null
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

# Whether every file unpacked into a folder has the checksum that the archive names. Those that were checked before and are not
# changed since are not read again.
is_whole() {
  [ -x "$1/deno" ] || return 1
  changed=$( (cd "$1" && find . -path ./cache -prune -o -newer .checked -print) 2>&1) || changed=all
  [ -n "$changed" ] || return 0
  [ -f "$1/SHA256SUMS" ] || return 1
  found=$(sha256 < "$1/SHA256SUMS")
  [ "${found%% *}" = "$sums" ] || return 1
  (
    umask 077
    cd "$1"
    if command -v sha256sum; then sha256sum -c SHA256SUMS
    elif command -v shasum; then shasum -a 256 -c SHA256SUMS
    else cut -d ' ' -f 3 SHA256SUMS | xargs openssl dgst -sha256 -r | sed 's/ \*/  /' | cmp - SHA256SUMS
    fi && mkdir -p cache && : > .checked && touch .checked
  ) > /dev/null 2>&1
}

# Removes what others left half-made: processes of this machine that are gone, and what is older than a day.
clear_old() {
  rm -rf "$base"/.gone-*
  for old in "$base"/.new-*; do
    [ -d "$old" ] || continue
    maker=${old##*/.new-}
    pid=${maker%%-*}
    if [ "${maker#*-}" = "$(uname -n)" ] && ! kill -0 "${pid%%.*}" 2> /dev/null; then :
    elif [ -n "$(find "$old" -prune -mtime +0 2> /dev/null)" ]; then :
    else continue
    fi
    # A maker that does live finds nothing to publish any more.
    mv "$old" "$base/.gone-$maker" 2> /dev/null && rm -rf "$base/.gone-$maker"
  done
}

# Makes the folder "new", of a name that is not there: a process that was killed may have had the same number.
make_new() {
  tries=0
  new=$base/.new-$$.$tries-$(uname -n)
  until found=$(mkdir "$new" 2>&1); do
    [ -e "$new" ] && [ "$tries" -lt 100 ] ||
      fail "Cannot write to the folder $base: $found; name another one with KVDRIVE_RUNTIME_DIR"
    tries=$((tries + 1))
    new=$base/.new-$$.$tries-$(uname -n)
  done
}

# Refuses a file whose archive is not the one that its head was made for.
check_archive() {
  found=$(behind_head | sha256)
  [ "${found%% *}" != none ] || fail "One of sha256sum, shasum and openssl is needed to check the archive"
  [ "${found%% *}" = "$archive" ] || fail "The file $self is damaged: its archive is not the one it was made with"
}

# Makes the folder "room" appear whole, at once. Another start that does the same at the same time loses nothing.
unpack() {
  check_archive
  umask_before=$(umask)
  umask 077
  clear_old
  make_new
  trap 'rm -rf "$new"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  found=$(mkdir "$new/$archive" 2>&1) ||
    fail "Cannot write to the folder $base: $found; name another one with KVDRIVE_RUNTIME_DIR"
  found=$( (cd "$new/$archive" && behind_head | gzip -dc | tar -xof -) 2>&1) ||
    fail "Cannot unpack @MEGABYTES@ MB into the folder $base: ${found%%"$newline"*}"
  "$new/$archive/deno" --version > /dev/null 2>&1 ||
    fail "The runtime, which is for @SYSTEM@, does not start on this machine from the folder $base"
  is_whole "$new/$archive" || fail "The files that were written to $base are not those of the archive: check its disk"
  # The name comes after the bytes, also when the power fails.
  sync
  # Only a damaged one is removed: a missing one may be created by another start at this moment.
  [ ! -d "$room" ] || is_whole "$room" || mv "$room" "$new/damaged" 2> /dev/null || :
  mv "$new/$archive" "$base/" 2> /dev/null || is_whole "$room" ||
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
settle_base
room=$base/$archive
is_whole "$room" || unpack
require_own "$room"

# A server of several processes starts itself for each of them. These, and other servers, may start no program.
several=
if [ -z "${KVDRIVE_WORKER:-}" ]; then
  several=${KVDRIVE_PROCESSES:-}
  for word; do
    case $word in --processes | --processes=*) several=yes ;; esac
  done
fi

# Each connection needs a descriptor, and the usual limit is 1024.
ulimit -n "$(ulimit -H -n)" 2> /dev/null || :

export DENO_DIR="$room/cache" DENO_NO_UPDATE_CHECK=1 DENO_NO_PACKAGE_JSON=1
export DENO_TLS_CA_STORE="${DENO_TLS_CA_STORE:-mozilla,system}"
export KVDRIVE_PACKED="$self"
exec "$room/deno" run --quiet @OPTIONS@ ${several:+"--allow-run=$self"} --no-remote --cached-only \
  --config "$room/app/deno.json" "$room/app/main.ts" "$@"
