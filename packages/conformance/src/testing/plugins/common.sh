#!/bin/sh
# What every plugin needs: the environment and the configuration, checked. Then `version`, `network` and `config` are set.
PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C IFS=' '; export PATH LC_ALL
unset IFS
speaks='["0.4.0","1.0.0","1.1.0"]'

fail() {
  printf '{"cniVersion":"%s","code":%s,"msg":"%s"}\n' "${version:-1.1.0}" "$1" "$2"
  exit 1
}
need() {
  for name; do
    eval "value=\${$name:-}"
    [ -n "$value" ] || fail 4 "$name is missing"
  done
}
of_config() { printf '%s' "$config" | jq "$@" 2>/dev/null; }

case ${CNI_COMMAND:-} in
  VERSION)
    asked=$(jq -r '.cniVersion // empty' 2>/dev/null)
    printf '{"cniVersion":"%s","supportedVersions":%s}\n' "${asked:-1.1.0}" "$speaks"
    exit 0;;
  ADD | CHECK) need CNI_CONTAINERID CNI_NETNS CNI_IFNAME;;
  DEL) need CNI_CONTAINERID CNI_IFNAME;;
  GC | STATUS) ;;
  '') fail 4 'CNI_COMMAND is missing';;
  *) fail 4 'CNI_COMMAND is unknown';;
esac
case $CNI_COMMAND in
  ADD | CHECK | DEL)
    case $CNI_CONTAINERID in [!a-zA-Z0-9]* | *[!a-zA-Z0-9_.-]*) fail 4 'CNI_CONTAINERID is not valid';; esac
    case $CNI_IFNAME in . | .. | */* | *:* | *' '*) fail 4 'CNI_IFNAME is not valid';; esac
    [ ${#CNI_IFNAME} -le 15 ] || fail 4 'CNI_IFNAME is too long';;
esac

config=$(cat)
of_config -es 'length == 1 and (.[0] | type == "object")' >/dev/null || fail 6 'the configuration is not a JSON object'
of_config -e '.cniVersion | type == "string"' >/dev/null || fail 6 'cniVersion is not a text'
wanted=$(of_config -r .cniVersion)
of_config -e --argjson speaks "$speaks" '.cniVersion as $it | any($speaks[]; . == $it)' >/dev/null ||
  fail 1 'incompatible CNI versions'
version=$wanted
of_config -e '.name | type == "string" and test("^[a-zA-Z0-9][a-zA-Z0-9_.-]*$")' >/dev/null || fail 7 'the name is not valid'
network=$(of_config -r .name)
case $CNI_COMMAND in
  GC | STATUS) [ "$version" = 1.1.0 ] || fail 1 "this version has no $CNI_COMMAND";;
esac
