#!/bin/sh
# Makes the key of Web Push. The services read it at the next request that needs it.
set -eu
cd "$(dirname "$0")"
[ -e vapid_private.pem ] || openssl ecparam -name prime256v1 -genkey -noout -out vapid_private.pem
