#!/bin/sh
# Starts kvdrive @VERSION@ on the Deno of the npm package "deno", in place of this process: signals reach the server itself,
# and its exit status is that of the command.
set -eu

fail() {
  printf 'kvdrive: %s\n' "$1" >&2
  exit 1
}

# Sets "self" to the path of this file, which npm links to from a folder of the PATH.
find_self() {
  self=$0
  case $self in
    */*) ;;
    *) if [ -f "$self" ]; then self=./$self; else self=$(command -v "$self"); fi ;;
  esac
  while [ -L "$self" ]; do
    target=$(readlink "$self")
    case $target in /*) self=$target ;; *) self=${self%/*}/$target ;; esac
  done
  folder=$(CDPATH='' cd -P -- "${self%/*}" && pwd)
  self=$folder/${self##*/}
}

# Sets "found" to a path below the closest "node_modules" that has it, looked for from a folder upwards, as npm, pnpm and
# yarn lay packages out.
find_package() {
  above=$1
  while :; do
    for found in "$above"/node_modules/$2; do
      [ ! -e "$found" ] || return 0
    done
    [ -n "$above" ] || return 1
    above=${above%/*}
  done
}

find_self
app=${folder%/*}
# The runtime itself is in a package that "deno" depends on, one for each system.
find_package "$app" deno || fail "The npm package \"deno\" is missing: install kvdrive again"
runtime=$found
[ ! -L "$found" ] || runtime=$(CDPATH='' cd -P -- "$found" && pwd)
find_package "$runtime" '@deno/*/deno' ||
  fail "The npm package \"deno\" has no runtime for this system ($(uname -sm)), or was installed without optional dependencies"

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

export DENO_NO_UPDATE_CHECK=1 DENO_NO_PACKAGE_JSON=1
export DENO_TLS_CA_STORE="${DENO_TLS_CA_STORE:-mozilla,system}"
export KVDRIVE_LAUNCHER="$self"
exec "$found" run --quiet @OPTIONS@ ${several:+"--allow-run=$self"} --no-remote --cached-only \
  --config "$app/deno.json" "$app/main.ts" "$@"
