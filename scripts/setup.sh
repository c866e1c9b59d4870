#!/bin/sh
# Installs what the project needs on this machine: `setup.sh base` for the demo and the build,
# `setup.sh test` for every peer that the tests talk to as well. Prints one line for what it could not.
set -eu
cd "$(dirname "$0")/.."
level=${1:-base}

say() { printf 'setup: %s\n' "$*"; }

if ! command -v npm >/dev/null 2>&1; then
  say 'npm is missing: install Node.js 20 or newer (on Debian: apt-get install nodejs npm)' >&2
  exit 1
fi

# Debian packages, by a program that each brings.
want='cc:gcc cc:libc6-dev pip3:python3-pip ip:iproute2 ping:iputils-ping unshare:util-linux'
if [ "$level" = test ]; then
  want="$want nft:nftables iptables:iptables conntrack:conntrack dbus-daemon:dbus-daemon curl:curl jq:jq
    strace:strace iperf3:iperf3 podman:podman containerd:containerd runc:runc busybox:busybox-static
    dnsmasq:dnsmasq-base etcd:etcd-server openssl:openssl dhcpd:isc-dhcp-server kea-dhcp4:kea-dhcp4-server
    /usr/lib/cni/bridge:containernetworking-plugins qemu-system-x86_64:qemu-system-x86 depmod:kmod xz:xz-utils"
fi
missing=''
for pair in $want; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done
if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "installing$missing"
    log=$(mktemp)
    # shellcheck disable=SC2086 # a list of words
    if ! { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing; } >"$log" 2>&1; then
      tail -n 20 "$log" >&2
      rm -f "$log"
      exit 1
    fi
    rm -f "$log"
  else
    say "not installed, and this is not root on Debian:$missing" >&2
    [ -z "${CI:-}" ] || exit 1
  fi
fi

stamp=node_modules/.heddle-lock
if ! cmp -s package-lock.json "$stamp"; then
  say 'npm ci (a minute or so the first time)'
  npm ci --loglevel=error --no-progress >/dev/null
  cp package-lock.json "$stamp"
fi
node_modules/.bin/node scripts/build-native.ts
node_modules/.bin/node --conditions=source scripts/build-driver.ts
node_modules/.bin/node --conditions=source scripts/build-crash.ts
node_modules/.bin/node scripts/setup-quickjs.ts

[ "$level" != test ] || node_modules/.bin/node scripts/setup-lab.ts

# The current reference plugins and cnitool, to be compared with; only where Go is installed.
if [ "$level" = test ] && command -v go >/dev/null 2>&1; then
  reference=build/reference
  cni=v1.3.1 plugins=v1.10.0
  if [ "$(cat "$reference/version" 2>/dev/null)" != "$cni $plugins" ]; then
    say "building the reference plugins $plugins and cnitool $cni"
    mkdir -p "$reference"
    from=github.com/containernetworking
    export GOBIN="$PWD/$reference" CGO_ENABLED=0 GOFLAGS=-modcacherw
    if go install "$from/cni/cnitool@$cni" && (
      for plugin in main/bridge main/loopback main/ptp main/macvlan main/ipvlan main/vlan main/host-device main/dummy \
        main/tap ipam/host-local ipam/static ipam/dhcp meta/portmap meta/bandwidth meta/firewall meta/tuning meta/sbr meta/vrf; do
        set -- "$@" "$from/plugins/plugins/$plugin@$plugins"
      done
      shift
      go install "$@"
    ) then
      echo "$cni $plugins" >"$reference/version"
    else
      say 'the reference plugins could not be built; tests against them will be skipped' >&2
    fi
  fi
fi
