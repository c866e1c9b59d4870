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
checked=$(of_config -rs --argjson speaks "$speaks" '
  if length != 1 or (.[0] | type) != "object" then "6 1.1.0 the configuration is not a JSON object"
  else .[0] | .cniVersion as $wanted | .name as $name |
    if ($wanted | type) != "string" then "6 1.1.0 cniVersion is not a text"
    elif any($speaks[]; . == $wanted) | not then "1 1.1.0 incompatible CNI versions"
    elif ($name | type) != "string" or ($name | test("^[a-zA-Z0-9][a-zA-Z0-9_.-]*$") | not) then "7 \($wanted) the name is not valid"
    else "0 \($wanted) \($name)" end
  end')
[ -n "$checked" ] || fail 6 'the configuration is not JSON'
code=${checked%% *} checked=${checked#* }
version=${checked%% *} network=${checked#* }
[ "$code" = 0 ] || fail "$code" "$network"
case $CNI_COMMAND in
  GC | STATUS) [ "$version" = 1.1.0 ] || fail 1 "this version has no $CNI_COMMAND";;
esac
