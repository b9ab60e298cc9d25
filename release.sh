#!/usr/bin/env bash
# Builds the program for every system that we release for, static and reproducible: the
# same source, version and Go give the same bytes, on any machine and in any folder.
#
#   ./release.sh 1.2.3            into dist/
#   ./release.sh 1.2.3 FOLDER     elsewhere
#   ./release.sh 1.2.3 FOLDER linux/amd64 windows/arm64
#
# It writes maker_VERSION_SYSTEM_PROCESSOR[.exe] for each, and SHA256SUMS, which
# `sha256sum -c` checks.
set -euo pipefail

version=${1:-}
version=${version#v}
if ! [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[a-z]+\.?[0-9]*)?$ ]]; then
  echo "usage: ./release.sh VERSION [FOLDER [SYSTEM/PROCESSOR...]], with a version such as 1.2.3 or 1.2.3-rc.1" >&2
  exit 2
fi
out=${2:-dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
shift $(($# < 2 ? $# : 2))
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  targets=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64)
fi
cd "$(dirname "$0")"

# The commit is in the version that the source has, not in the bytes: a build from an
# archive of the source is the same as one from a clone.
export CGO_ENABLED=0 GOFLAGS= GOAMD64=v1 GOARM64=v8.0 GOEXPERIMENT=
files=()
for target in "${targets[@]}"; do
  os=${target%/*} arch=${target#*/}
  file=maker_${version}_${os}_${arch}
  [ "$os" = windows ] && file+=.exe
  GOOS=$os GOARCH=$arch go build -trimpath -buildvcs=false -o "$out/$file" \
    -ldflags "-s -w -buildid= -X github.com/maker-mdap/maker/internal/version.number=$version" ./cmd/maker
  files+=("$file")
done
cd "$out"
if command -v sha256sum >/dev/null; then sha256sum -- "${files[@]}"; else shasum -a 256 -- "${files[@]}"; fi >SHA256SUMS
cat SHA256SUMS
