#!/bin/sh
# Makes the tables once, before the app starts for the first time. They are empty: all data
# comes with the load.
set -eu
cd "$(dirname "$0")"

export MYSQL_PWD="${MYSQL_PASS-isucon}"
mariadb --no-defaults --protocol=tcp --default-character-set=utf8mb4 \
	--host="${MYSQL_HOSTNAME:-127.0.0.1}" --port="${MYSQL_PORT:-3306}" \
	--user="${MYSQL_USER:-isucon}" "${MYSQL_DATABASE:-xsuportal}" <schema.sql
