#!/bin/sh
# Starts the ferry company's site in this folder: sh start.sh PORT APP_PORT
set -eu
cd "$(dirname "$0")"
dir=$(pwd)
mkdir -p run log tmp data conf/my.cnf.d public
chmod 755 "$dir" log
for f in conf/my.cnf conf/nginx.conf conf/site-ferry.conf; do
	sed -i "s|@DIR@|$dir|g; s|@USER@|$(id -un)|g; s|@PORT@|$1|g; s|@APP@|$2|g" $f
done
if [ ! -d data/mysql ]; then
	TMPDIR="$dir/tmp" mariadb-install-db --no-defaults --datadir="$dir/data" --auth-root-authentication-method=socket \
		--skip-test-db --skip-name-resolve --user="$(id -un)" >log/install.log 2>&1
fi
nohup mariadbd --defaults-file="$dir/conf/my.cnf" >>log/db.log 2>&1 </dev/null &
n=0
until mariadb --no-defaults -S run/db.sock -e 'SELECT 1' >/dev/null 2>&1; do
	n=$((n + 1))
	[ $n -lt 300 ]
	sleep 0.1
done
mariadb --no-defaults -S run/db.sock -e "CREATE DATABASE IF NOT EXISTS ferry; CREATE USER IF NOT EXISTS ferryman@localhost IDENTIFIED BY 'tide-9-secret'; GRANT ALL ON ferry.* TO ferryman@localhost"
mariadb --no-defaults -S run/db.sock ferry <sql/schema.sql
mariadb --no-defaults -S run/db.sock ferry <sql/data.sql

FERRY_DSN="ferryman:tide-9-secret@unix($dir/run/db.sock)/ferry?parseTime=true"
export FERRY_DSN
echo 'no ferry today' >public/timetable.txt
cd app
ulimit -n 4000
umask 027
FERRY_LISTEN="127.0.0.1:$2" nohup "$dir/bin/ferry" serve >>../log/counter.log 2>&1 </dev/null &
echo $! >../run/counter.pid
nohup "$dir/bin/ferry" tidy >>../log/tidy.log 2>&1 </dev/null &
echo $! >../run/tidy.pid
cd ..
nginx -c "$dir/conf/nginx.conf" -p "$dir/"
