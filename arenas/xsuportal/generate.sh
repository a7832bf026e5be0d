#!/bin/sh
# Writes the Go code of the messages from files/proto: for the benchmarker (pb) and for the
# app (files/_go/proto). It needs protoc (Debian: protobuf-compiler) and, from the Go module
# proxy, the two plugins below. The code is committed; only who changes a .proto runs this.
set -eu
cd "$(dirname "$0")"
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
GOBIN=$plugins GOFLAGS= go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.11
GOBIN=$plugins GOFLAGS= go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.0

# generate MODULE FOLDER PLUGIN...
generate() {
	module=$1 to=$2
	shift 2
	rm -rf "$to"
	mkdir -p "$to"
	map=
	for file in $(cd files/proto && find . -name '*.proto' | sed 's|^\./||' | sort); do
		case $file in
		xsuportal/error.proto) package=errorpb ;;
		*) package=$(dirname "${file#xsuportal/}") ;;
		esac
		map=$map,M$file=$module/$package
	done
	for plugin; do
		PATH=$plugins:$PATH protoc -I files/proto --"$plugin"_out="$to" --"$plugin"_opt="module=$module$map" \
			$(cd files/proto && find . -name '*.proto' | sed 's|^\./||' | sort)
	done
}
generate github.com/iikanji/iikanji/arenas/xsuportal/pb pb go
generate xsuportal/proto files/_go/proto go go-grpc
