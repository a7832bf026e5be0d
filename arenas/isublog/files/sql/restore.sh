#!/bin/sh
# Removes what was added to the initial data, as initialize of the app does.
set -eu
cd "$(dirname "$0")"
./client.sh <2_Restore.sql
