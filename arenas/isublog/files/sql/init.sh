#!/bin/sh
# Loads schema and initial data anew.
set -eu
cd "$(dirname "$0")"
cat 0_Schema.sql 1_InitData.sql | ./client.sh
