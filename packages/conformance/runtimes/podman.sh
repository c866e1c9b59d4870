#!/bin/sh
# Podman as a runtime under test: podman.sh VERB NETWORK NETNS IFNAME, with the variables of cnitool, where VERB is add, del
# or clean. Needs podman with the CNI backend, runc, a static busybox, and jq for capability arguments.
set -eu
verb=$1 network=$2 ifname=$4
container=$(basename "$3")-$ifname
directory=$(dirname "$NETCONFPATH")
state=$directory/podman

export CONTAINERS_CONF="$state/containers.conf"
if ! [ -e "$CONTAINERS_CONF" ]; then
  mkdir -p "$state/rootfs/bin" "$state/rootfs/etc"
  cp "$(command -v busybox)" "$state/rootfs/bin/busybox"
  cat >"$CONTAINERS_CONF" <<END
[containers]
default_ulimits = []
[engine]
runtime = "runc"
[network]
network_backend = "cni"
cni_plugin_dirs = ["${CNI_PATH:-}"]
network_config_dir = "$NETCONFPATH"
END
fi
podman() {
  # Podman takes no long path there.
  command podman --root "$state/root" --runroot "/run/podman-$(basename "$directory")" "$@"
}

case $verb in
  add)
    set -- --network "$network:interface_name=$ifname"
    for port in $(printf '%s' "${CAP_ARGS:-{\}}" | jq -r '.portMappings[]? | "\(.hostPort):\(.containerPort)/\(.protocol)"'); do
      set -- "$@" --publish "$port"
    done
    podman run --detach --name "$container" "$@" --rootfs "$state/rootfs" /bin/busybox sleep 3600
    ;;
  del) podman rm --force --ignore --time 0 "$container" ;;
  clean) podman rm --all --force --time 0 >/dev/null ;;
  *)
    echo "podman has nothing that leads to $verb" >&2
    exit 1
    ;;
esac
