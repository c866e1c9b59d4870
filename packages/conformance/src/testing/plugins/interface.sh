# A correct plugin that makes an interface, as small as can be: a pair of links, and an address.
claimer=interface
. claims.sh
inside() { nsenter --net="$CNI_NETNS" "$@" 2>/dev/null; }
end_of() { printf 'kp%s' "$(printf %s "$network $1" | cksum | cut -d ' ' -f 1)"; }
mac_of() { jq -r '.[0].address'; }
gone() { ip link del "$(end_of "$1")" 2>/dev/null; }
take_back() {
  gone "$key"
  release
  fail "$1" "$2"
}
here=$(end_of "$key")

case $CNI_COMMAND in
  ADD)
    inside true || fail 8 'CNI_NETNS is no namespace'
    [ "$(stat -L -c %i "$CNI_NETNS")" != "$(stat -L -c %i /proc/self/ns/net)" ] || fail 8 'CNI_NETNS is the own namespace'
    ! inside ip link show "$CNI_IFNAME" >/dev/null || fail 141 'there is such an interface'
    claim
    address="10.231.0.$n/24"
    ip link add "$here" type veth peer name "$CNI_IFNAME" netns "$CNI_NETNS" 2>/dev/null || take_back 110 'no link'
    ip link set "$here" up 2>/dev/null && inside ip link set "$CNI_IFNAME" up || take_back 110 'not up'
    inside ip address add "$address" dev "$CNI_IFNAME" || take_back 110 'no address'
    case $version in 0.*) family='{"version":"4"}';; *) family='{}';; esac
    of_config -c --arg here "$here" --arg mac "$(ip -j link show "$here" | mac_of)" --arg there "$CNI_IFNAME" \
      --arg itsMac "$(inside ip -j link show "$CNI_IFNAME" | mac_of)" --arg netns "$CNI_NETNS" --arg address "$address" \
      --argjson family "$family" '(.prevResult // {}) as $before | ($before.interfaces // []) as $links | $before + {
        cniVersion: .cniVersion,
        interfaces: ($links + [{name: $here, mac: $mac}, {name: $there, mac: $itsMac, sandbox: $netns}]),
        ips: (($before.ips // []) + [$family + {address: $address, interface: (($links | length) + 1)}])
      }';;
  DEL)
    gone "$key"
    release;;
  CHECK)
    of_config -e '.prevResult | type == "object"' >/dev/null || fail 7 'there is no previous result'
    told=$(of_config -r --arg there "$CNI_IFNAME" '.prevResult | . as $all |
      .interfaces[] | select(.name == $there) | .mac' | head -n 1)
    seen=$(inside ip -j address show "$CNI_IFNAME") || fail 150 'there is no such interface'
    [ "$(printf %s "$seen" | mac_of)" = "$told" ] || fail 150 'it has another hardware address'
    printf %s "$seen" | jq -e '.[0].flags | any(. == "UP")' >/dev/null || fail 150 'it is down'
    printf %s "$seen" | jq -e '.[0].addr_info | any(.local | startswith("10.231."))' >/dev/null ||
      fail 150 'it has lost its address'
    [ -n "$(mine)" ] || fail 150 'its number is lost';;
  GC) collect;;
  STATUS) ;;
esac
exit 0
