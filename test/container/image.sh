#!/bin/bash
# Builds the image for the container tests from programs of this machine.
# Usage: test/container/image.sh docker|podman
set -euo pipefail
engine=${1:?docker or podman}
root=$(mktemp -d)
chmod 755 "$root"
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{tmp,proc,dev,sys,etc,run,var,usr/bin,usr/lib,usr/lib64}
ln -s usr/bin "$root/bin"; ln -s usr/lib "$root/lib"; ln -s usr/lib64 "$root/lib64"
echo 'root:x:0:0:root:/:/bin/bash' > "$root/etc/passwd"
programs='bash sh sleep cat ls env touch mkdir rm mv cp ln id seq grep chmod readlink setsid mount unshare mknod git'
for name in $programs; do
  file=$(readlink -f "$(command -v "$name")")
  cp -L "$file" "$root/usr/bin/$name"
  for library in $(ldd "$file" 2> /dev/null | grep -o '/[^ ]*'); do
    mkdir -p "$root${library%/*}"
    [ -e "$root$library" ] || cp -L "$library" "$root$library"
  done
done
tar -C "$root" -c . | "$engine" import - tireless-test
