#!/bin/sh
# Loads schema and initial data once, before the app starts. initialize does not do
# this again: it removes what users have left.
set -eu
cd "$(dirname "$0")"

export MYSQL_PWD="${MYSQL_PASSWORD-isutrain}"
cat 01_schema.sql 9*.sql | mariadb --no-defaults --protocol=tcp --default-character-set=utf8mb4 \
	--host="${MYSQL_HOSTNAME:-127.0.0.1}" --port="${MYSQL_PORT:-3306}" \
	--user="${MYSQL_USER:-isutrain}" "${MYSQL_DATABASE:-isutrain}"
