#!/bin/sh
# Builds Flannel's daemon into build/reference, for test/cluster/flanneld.test.ts. It takes minutes, so no test's set-up does it.
set -eu
cd "$(dirname "$0")/.."
version=v0.27.4
reference=build/reference

if ! command -v go >/dev/null 2>&1 || ! command -v cc >/dev/null 2>&1; then
  echo 'Go and a C compiler are needed' >&2
  exit 1
fi
if [ "$(cat "$reference/flanneld.version" 2>/dev/null)" = "$version" ] && [ -x "$reference/flanneld" ]; then
  echo "flanneld $version is there"
  exit 0
fi
echo "building flanneld $version (some minutes)"
mkdir -p "$reference"
# Its program has the name of the plugin, which is another one and may stand beside it.
made=$(mktemp -d "$reference/flanneld.XXXXXX")
trap 'rm -rf "$made"' EXIT
GOBIN="$PWD/$made" GOFLAGS=-modcacherw go install "github.com/flannel-io/flannel@$version"
mv "$made/flannel" "$reference/flanneld"
echo "$version" >"$reference/flanneld.version"
