# A correct chained plugin, as small as can be: it sets the length of the interface's queue.
inside() { nsenter --net="$CNI_NETNS" "$@" 2>/dev/null; }
queue() { inside ip -j link show "$CNI_IFNAME" | jq '.[0].txqlen'; }
is_own() { [ "$(stat -L -c %i "$CNI_NETNS")" = "$(stat -L -c %i /proc/self/ns/net)" ]; }

case $CNI_COMMAND in
  ADD)
    of_config -e '.prevResult | type == "object"' >/dev/null || fail 7 'there is no previous result'
    ! is_own || fail 8 'CNI_NETNS is the namespace of the plugin'
    inside ip link set "$CNI_IFNAME" txqueuelen 123 || fail 140 'there is no such interface'
    of_config -c .prevResult;;
  DEL) [ -z "${CNI_NETNS:-}" ] || is_own || inside ip link set "$CNI_IFNAME" txqueuelen 1000;;
  CHECK) [ "$(queue)" = 123 ] || fail 150 'the queue has another length';;
  GC) ;;
  STATUS) ;;
esac
exit 0
