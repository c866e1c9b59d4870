# Numbers from 2 to 250, one for each attachment: a symbolic link is made by one process only, and is all or nothing.
claims=/run/kit-$claimer/$network
key="$CNI_CONTAINERID $CNI_IFNAME"

mine() {
  find "$claims" -type l -printf '%p %l\n' 2>/dev/null | while read -r each owner; do
    if [ "$owner" = "$key" ]; then echo "$each"; fi
  done
}
claim() {
  mkdir -p "$claims" 2>/dev/null || fail 5 'cannot write'
  [ -z "$(mine)" ] || fail 101 'it has a number'
  n=2
  free=0
  until ln -s "$key" "$claims/$n" 2>/dev/null; do
    # A number that is free now was let go of meanwhile; when many are, it is the writing that fails.
    [ -L "$claims/$n" ] || free=$((free + 1))
    [ $free -lt 30 ] || fail 5 'cannot write'
    n=$((n + 1))
    [ $n -le 250 ] || fail 11 'no number is left'
  done
}
release() {
  for each in $(mine); do rm -f "$each"; done
}
is_valid() { # KEY
  of_config -e --arg id "${1% *}" --arg name "${1#* }" \
    'any(."cni.dev/valid-attachments"[]; .containerID == $id and .ifname == $name)' >/dev/null
}
collect() {
  of_config -e '."cni.dev/valid-attachments" | type == "array" and all(.[]; (.containerID | type) == "string")' >/dev/null ||
    fail 7 'cni.dev/valid-attachments is missing'
  for each in "$claims"/*; do
    [ -L "$each" ] || continue
    owner=$(readlink "$each")
    is_valid "$owner" || { gone "$owner"; rm -f "$each"; }
  done
}
gone() { :; }
