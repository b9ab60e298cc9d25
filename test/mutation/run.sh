#!/usr/bin/env bash
# Mutation testing of the packages whose defects cost money, data or rights: each
# mutant is a small change of their code (< becomes <=, + becomes -), and their own
# tests have to notice it. Run by hand; all of it takes about an hour.
#
#   test/mutation/run.sh                      all of them
#   test/mutation/run.sh ./vote ./internal/budget
#
# It fails where fewer than 90 % of a package's mutants are noticed, those apart that
# equivalent.txt lists with the reason why no test could.
set -euo pipefail
cd "$(dirname "$0")/../.."

gremlins=github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0

packages=("$@")
if [ ${#packages[@]} = 0 ]; then
  packages=(
    ./internal/budget ./vote ./internal/ballot ./internal/limiter ./internal/retry
    ./internal/effect ./internal/local ./internal/approval ./internal/secret
    ./internal/runlog ./internal/history ./internal/sandbox
  )
fi

bin=$(mktemp -d)
group=
cleanup() {
  rm -rf "$bin"
  if [ -n "$group" ]; then
    # What a mutant of the sandbox failed to kill ends here, and only that.
    while read -r pid; do kill -KILL "$pid" 2>/dev/null || true; done <"$group/cgroup.procs"
    for _ in 1 2 3 4 5; do rmdir "$group" 2>/dev/null && break || sleep 1; done
  fi
}
trap cleanup EXIT
GOBIN=$bin go install "$gremlins"
go build -o "$bin/mutation" ./test/mutation

# A mutant of the sandbox may set no limits and kill nothing, so whatever its tests
# start could stay, and multiply. Those tests run in a group of processes that the
# kernel keeps small, or not at all; and the bombs among them are left out.
confine() {
  local root
  for root in /sys/fs/cgroup/pids /sys/fs/cgroup; do
    [ -w "$root/cgroup.procs" ] || continue
    group=$root/maker-mutation-$$
    if mkdir "$group" 2>/dev/null && echo 400 >"$group/pids.max" 2>/dev/null; then return 0; fi
    rmdir "$group" 2>/dev/null || true
    group=
  done
  return 1
}

failed=0
for package in "${packages[@]}"; do
  options=()
  case $package in
  *sandbox)
    if ! confine; then
      echo "$package: left out: it is tested only where a cgroup can limit its processes (as root, with the pids controller)" >&2
      failed=1
      continue
    fi
    options=(-skip 'ForkBomb|ChainOfForks')
    (
      echo "$BASHPID" >"$group/cgroup.procs"
      exec "$bin/mutation" -gremlins "$bin/gremlins" "${options[@]}" "$package"
    ) || failed=1
    ;;
  *)
    "$bin/mutation" -gremlins "$bin/gremlins" "$package" || failed=1
    ;;
  esac
done
exit $failed
