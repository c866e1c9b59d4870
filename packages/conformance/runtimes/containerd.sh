#!/bin/sh
# containerd as a runtime under test, through its command ctr: containerd.sh VERB NETWORK NETNS IFNAME, with the variables of
# cnitool, where VERB is add, del or clean. Needs containerd, ctr, runc, unshare and a static busybox.
set -eu
verb=$1 network=$2
container=$(basename "$3")
state=$(dirname "$NETCONFPATH")/containerd
socket=$state/containerd.sock

start() {
  mkdir -p "$state/rootfs/bin" "$state/rootfs/etc" "$state/net.d"
  cp "$(command -v busybox)" "$state/rootfs/bin/busybox"
  cat >"$state/config.toml" <<END
version = 2
root = "$state/root"
state = "$state/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "$socket"
[plugins."io.containerd.internal.v1.opt"]
  path = "$state/opt"
END
  setsid containerd --config "$state/config.toml" >"$state/log" 2>&1 </dev/null &
  echo $! >"$state/pid"
  until ctr --address "$socket" version >/dev/null 2>&1; do
    kill -0 "$(cat "$state/pid")" || { cat "$state/log" >&2; exit 1; }
    sleep 0.2
  done
}

# ctr looks for plugins and networks in fixed places, and takes the first network.
command_ctr() {
  rm -f "$state"/net.d/*
  cp "$NETCONFPATH/$network.conflist" "$state/net.d/"
  # shellcheck disable=SC2016 # for the inner shell
  unshare --mount --propagation private sh -c '
    set -eu
    state=$1 socket=$2
    shift 2
    mkdir -p /etc/cni/net.d
    mount --bind "$state/net.d" /etc/cni/net.d
    mount -t tmpfs tmpfs /opt
    mkdir -p /opt/cni/bin
    mount --bind "$CNI_PATH" /opt/cni/bin
    exec ctr --address "$socket" "$@"' sh "$state" "$socket" "$@"
}

# ctr takes a container's network down when its own foreground command ends: that waits in the background, and its exit code
# is what del ends with. The container tells when it runs, which is when the network is up.
run='trap "exit 0" TERM; echo up; while :; do sleep 1; done'

case $verb in
  add)
    [ -e "$state/pid" ] || start
    rm -f "$state/$container".*
    {
      command_ctr run --rm --cni --rootfs "$state/rootfs" "$container" /bin/busybox sh -c "$run" && code=0 || code=$?
      echo "$code" >"$state/$container.new"
      mv "$state/$container.new" "$state/$container.code"
    } >"$state/$container.out" 2>"$state/$container.err" </dev/null &
    until grep -q '^up$' "$state/$container.out"; do
      if [ -e "$state/$container.code" ]; then
        cat "$state/$container.err" >&2
        exit "$(cat "$state/$container.code")"
      fi
      sleep 0.2
    done
    ;;
  del)
    [ -e "$state/$container.out" ] && ! [ -e "$state/$container.code" ] || exit 0
    ctr --address "$socket" tasks kill --signal TERM "$container"
    until [ -e "$state/$container.code" ]; do sleep 0.2; done
    cat "$state/$container.err" >&2
    exit "$(cat "$state/$container.code")"
    ;;
  clean)
    [ -e "$state/pid" ] || exit 0
    for each in "$state"/*.out; do
      each=$(basename "$each" .out)
      [ -e "$state/$each.out" ] && ! [ -e "$state/$each.code" ] || continue
      ctr --address "$socket" tasks kill --signal KILL "$each" || true
      until [ -e "$state/$each.code" ]; do sleep 0.2; done
    done
    # What ctr could not give a network stays behind.
    for each in $(ctr --address "$socket" tasks ls -q); do ctr --address "$socket" tasks rm --force "$each" || true; done
    kill "$(cat "$state/pid")"
    ;;
  *)
    echo "ctr has nothing that leads to $verb" >&2
    exit 1
    ;;
esac
