#!/bin/sh
# Builds a developer's tool at an exact version into .cache/bin. It uses a scratch
# module, so that the product's go.mod does not require the tool.
# Usage: scripts/tool.sh NAME MODULE VERSION PACKAGE
set -eu

name=$1 module=$2 version=$3 package=$4
bin="$PWD/.cache/bin/$name-$version"
[ -x "$bin" ] && exit 0
dir="$PWD/.cache/tools/$name"
rm -rf "$dir" && mkdir -p "$dir" "$PWD/.cache/bin"
cd "$dir"
printf 'module tool\n\ngo 1.26\n' >go.mod
go mod edit -require "$module@$version"
echo "iikanji: building $name $version"
go build -mod=mod -o "$bin.tmp" "$package"
mv "$bin.tmp" "$bin"
