#!/usr/bin/env bash
# Mutation testing of the packages whose defects cost money, data or rights: each
# mutant is a small change of their code (< becomes <=, + becomes -), and their own
# tests have to notice it. Run by hand; all of it takes about an hour.
#
#   test/mutation/run.sh                      all of them
#   test/mutation/run.sh ./vote ./internal/runtime/budget
#   MAKER_MUTATION_ONLY='run_.*\.go' test/mutation/run.sh ./internal/process/sandbox
#
# It fails where fewer than 90 % of a package's mutants are noticed, those apart that
# equivalent.txt lists with the reason why no test could.
set -euo pipefail
cd "$(dirname "$0")/../.."

gremlins=github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0

packages=("$@")
if [ ${#packages[@]} = 0 ]; then
  packages=(
    ./internal/runtime/budget ./vote ./internal/runtime/ballot ./internal/runtime/limiter ./internal/runtime/retry
    ./internal/runtime/effect ./internal/runtime/local ./internal/runtime/approval ./internal/runtime/secret
    ./internal/runtime/runlog ./internal/runtime/history ./internal/process/sandbox
  )
fi

bin=$(mktemp -d)
group=
cleanup() {
  rm -rf "$bin"
  if [ -n "$group" ]; then # all of its processes ended with their namespace
    rmdir "$group"/*/ 2>/dev/null || true
    rmdir "$group" || true
  fi
}
trap cleanup EXIT
GOBIN=$bin go install "$gremlins"
go build -o "$bin/mutation" ./test/mutation

# A mutant of the sandbox may set no limits, kill nobody or kill the wrong ones, mount
# things, or let a test's attacks through. So its tests run as root in namespaces of
# processes and mounts of their own, which end with them, and in a group of processes
# that the kernel keeps small; or not at all. The fork bombs among them are left out.
confined() {
  local root
  for root in /sys/fs/cgroup/pids /sys/fs/cgroup; do
    [ -w "$root/cgroup.procs" ] || continue
    group=$root/mutants-$$
    if mkdir "$group" 2>/dev/null && echo 400 2>/dev/null >"$group/pids.max"; then break; fi
    rmdir "$group" 2>/dev/null || true
    group=
  done
  if [ -z "$group" ] || ! unshare --pid --fork --kill-child --mount --mount-proc true; then
    echo "$1: left out: its mutants run only where a cgroup and namespaces confine them (as root, with the pids controller)" >&2
    return 1
  fi
  (
    echo "$BASHPID" >"$group/cgroup.procs"
    # With cgo the Landlock library looks for its own process in the /proc of another
    # namespace, where it is only found on a machine with many processes.
    export CGO_ENABLED=0
    # The shell stays: it is the first process in there, and waits for orphans.
    unshare --pid --fork --kill-child --mount --mount-proc bash -c '"$@"; exit $?' bash \
      "$bin/mutation" -gremlins "$bin/gremlins" -only "${MAKER_MUTATION_ONLY:-}" -children -skip 'ForkBomb|ChainOfForks' "$1"
  )
}

failed=0
for package in "${packages[@]}"; do
  case $package in
  *sandbox) confined "$package" || failed=1 ;;
  *) "$bin/mutation" -gremlins "$bin/gremlins" -only "${MAKER_MUTATION_ONLY:-}" "$package" || failed=1 ;;
  esac
done
exit $failed
