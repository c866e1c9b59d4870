#!/bin/sh
# Runs the agent of the cluster network from a pod, in the namespaces of the node. The agent serves only callers that live in
# its own namespaces, so it has to leave those of its container; its files are put on the node before.
set -eu

host=${HEDDLE_HOST_ROOT:-/host}
home=/opt/heddle

# Written under another name, then renamed: an agent that runs keeps what it has open.
mkdir -p "$host$home"
draft=$host$home/.draft.$$
rm -rf "$draft"
mkdir -p "$draft"
trap 'rm -rf "$draft"' EXIT
cp -R $home/build "$draft/build"
cp "$(command -v node)" "$draft/node"
release=$host$home/release-$(cat "$draft/build/heddle/lib/heddle.js" "$draft/node" | sha256sum | cut -c1-16)
[ -d "$release" ] || mv "$draft" "$release"
inside=${release#"$host"}

run() {
  nsenter --target 1 --mount --net --uts --ipc --cgroup -- \
    env MALLOC_ARENA_MAX=1 "$inside/node" --min-semi-space-size=2 --max-semi-space-size=2 --memory-saver-mode "$inside/build/heddle/lib/heddle.js" "$@"
}

case ${1:-agent} in
agent)
  # Writes the configuration of the node and of its network, and the plugins: in this order, the network last.
  run up --no-start --name "${HEDDLE_NODE_NAME:?}" --store "${HEDDLE_STORE:?}" ${HEDDLE_UP_FLAGS:-}
  trap - EXIT
  rm -rf "$draft"
  exec nsenter --target 1 --mount --net --uts --ipc --cgroup -- \
    env MALLOC_ARENA_MAX=1 "$inside/node" --min-semi-space-size=2 --max-semi-space-size=2 --memory-saver-mode \
    "$inside/build/heddle/lib/heddle.js" agent --node /etc/heddle/node.json
  ;;
*)
  run "$@"
  ;;
esac
