#!/usr/bin/env bash
# Runs every check and every test of the project. It needs Go and nothing else:
# tools and modules are fetched by the go command. For the slow suites it installs
# Debian's nodejs, npm and chromium if they are missing and it may, and some npm packages.
#
#   ./test.sh          everything
#   ./test.sh quick    without the slow suites and the measurements
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS"; }

say "formatting"
unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
  echo "not formatted; run gofmt -w on:" >&2
  echo "$unformatted" >&2
  exit 1
fi

say "modules"
go mod verify
go mod tidy -diff

go -C test/sdk mod tidy -diff
go -C test/browser mod tidy -diff
go -C temporal mod tidy -diff

say "vet"
go vet ./...
go vet -tags slow ./test/e2e ./test/release ./tool/mcp ./agent/claudecode ./cmd/maker
go vet -tags soak ./test/e2e
go -C test/browser vet ./...
go -C temporal vet ./...
for os in windows darwin; do
  GOOS=$os go vet ./internal/runtime/runlog ./internal/process/sandbox ./tool/builtin ./tool/mcp ./agent/claudecode ./internal/process/sympy ./cmd/maker
done

say "staticcheck"
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/staticcheck" honnef.co/go/tools/cmd/staticcheck
"$bin/staticcheck" -tags slow ./...
(cd temporal && "$bin/staticcheck" ./...)

say "static binary"
CGO_ENABLED=0 go build -trimpath -o "$bin/maker" ./cmd/maker
"$bin/maker" version

say "tests with the race detector"
go test -race -timeout 25m ./... # a slow machine takes ten minutes for the scripts alone

if [ "${1:-}" = quick ]; then
  echo "quick checks passed"
  exit 0
fi

say "tests at full size, without the race detector"
go test -count=1 ./vote/... ./model/... ./domain/math/... ./internal/text/yamlclean ./internal/stats ./runs
go test -count=1 -run Adapt .

say "fork bombs, all of them and one at a time; each line says how many survived"
if ! MAKER_TEST_BOMBS=all go test -count=1 -run 'ForkBomb|ChainOfForks' -v ./internal/process/sandbox >"$bin/bombs"; then
  grep -vE '^ *(=== |--- PASS)' "$bin/bombs" >&2
  exit 1
fi
grep -E '^fork bomb:|^ok' "$bin/bombs"

say "fuzzing, a few seconds each"
go list -f '{{$p := .ImportPath}}{{range .TestGoFiles}}{{$p}} {{$.Dir}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$p}} {{$.Dir}}/{{.}}{{"\n"}}{{end}}' ./... |
  while read -r package file; do
    { grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" || true; } | sed 's/^func //' |
      while read -r target; do
        fuzz() { go test -run '^$' -fuzz "^$target\$" -fuzztime 4s -fuzzminimizetime 10x "$package"; }
        # Go's fuzzer sometimes fails when its time is over, without a failing input. An
        # input that does fail is kept as a seed, and fails the second time too.
        fuzz || fuzz
      done
  done

say "npm packages: real MCP servers, the claude program and TypeScript"
if ! command -v npm >/dev/null; then
  apt-get update -q && apt-get install -y -q nodejs npm
fi
npm ci --prefix test/npm --no-audit --no-fund

say "the page: types, modules, and all of it in a browser"
if ! command -v chromium >/dev/null; then
  apt-get update -q && apt-get install -y -q chromium
fi
test/npm/node_modules/.bin/tsc -p internal/web
node --test internal/web/test/page.test.js
go -C test/browser test -count=1 -timeout 8m ./...

say "slow suites: real MCP servers and the claude program; the real maker, killed, starved and run for a million steps"
go test -tags slow -count=1 -timeout 10m ./tool/mcp ./agent/claudecode
go test -tags slow -count=1 -timeout 5m -run TestMCPWithClaude ./cmd/maker
go test -tags slow -count=1 -timeout 40m ./test/e2e

say "a release is static, reproducible and says its version"
go test -tags slow -count=1 ./test/release

say "the vendors' SDKs judge the wire formats and the gateway (a module of its own; builds for minutes)"
go -C test/sdk test -count=1 ./...

say "runs on Temporal (a module of its own), with its real server, which is built once, for minutes, and kept"
go -C temporal test -count=1 -timeout 20m ./...

say "measurements"
# A shared machine can spoil a measurement, so it may be taken three times.
measure() {
  for _ in 1 2 3; do
    if go run ./test/bench "$@"; then return; fi
  done
  return 1
}
measure overhead -disks 17
measure adaptive -disks 17
measure latency
measure load
measure patience
measure map
measure script
measure memory
measure followers -disks 8
measure gateway

say "all checks passed"
