#!/bin/sh
# Loads schema and initial data anew, as initialize of the app does.
set -eu
cd "$(dirname "$0")"

client=mariadb
command -v "$client" >/dev/null 2>&1 || client=mysql

export MYSQL_PWD="${MYSQL_PASS-isucon}"
cat 0_Schema.sql 1_InitData.sql | "$client" --no-defaults --protocol=tcp \
	--default-character-set=utf8mb4 \
	--host="${MYSQL_HOST:-127.0.0.1}" --port="${MYSQL_PORT:-3306}" \
	--user="${MYSQL_USER:-isucon}" "${MYSQL_DBNAME:-isucondition}"
