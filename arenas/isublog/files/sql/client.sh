#!/bin/sh
# Sends the statements of its standard input to the app's database.
set -eu

client=mariadb
command -v "$client" >/dev/null 2>&1 || client=mysql

export MYSQL_PWD="${DB_PASS-isublog}"
exec "$client" --no-defaults --protocol=tcp --default-character-set=utf8mb4 \
	--host="${DB_HOST:-127.0.0.1}" --port="${DB_PORT:-3306}" \
	--user="${DB_USER:-isuconapp}" "${DB_NAME:-isublog}"
