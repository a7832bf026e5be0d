#!/bin/sh
# Installs missing Debian packages and prints their names. Without root it only
# prints them and fails. With "go" it only looks for Go. Usage: scripts/setup.sh go|demo|check
set -eu

if ! command -v go >/dev/null 2>&1; then
	echo "iikanji: Go 1.26 or newer is needed to build, and go is not in PATH" >&2
	exit 1
fi
[ "${1:-demo}" != go ] || exit 0

need=""
want() { # want COMMAND PACKAGE
	PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1 && return
	case " $need " in *" $2 "*) ;; *) need="$need $2" ;; esac
}

want mariadbd mariadb-server
want mariadb mariadb-client
want nginx nginx
if [ "${1:-demo}" = check ]; then
	want chromium chromium
	want memcached memcached
	want redis-server redis-server
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || need="$need postgresql"
	want varnishd varnish
	want apache2 apache2-bin # sites behind other web servers
	want lighttpd lighttpd
	want caddy caddy
	want tcc tcc # compiles the programs of Varnish in the tests of httpcache
	want sqlite3 sqlite3
	want ruby ruby
	want puma puma
	want unicorn unicorn
	ls /usr/sbin/php-fpm[0-9]* >/dev/null 2>&1 || need="$need php-fpm"
	[ -x /usr/bin/uvicorn ] || need="$need uvicorn" # with Debian's Python
	for library in sinatra/base mysql2 sqlite3 jwt; do
		ruby -e "require '$library'" >/dev/null 2>&1 || need="$need ruby-${library%/base}"
	done
	want zip zip # packs the submissions of isucholar
	want git git
	want patch patch
	want tmux tmux
	want python3 python3-minimal
	want node nodejs
	want npm npm # installs the packages of the arenas' apps in JavaScript
	[ -x /usr/bin/gunicorn ] || need="$need gunicorn" # with the libraries of Debian's Python
	for library in flask pymysql pymemcache; do
		/usr/bin/python3 -c "import $library" >/dev/null 2>&1 || need="$need python3-$library"
	done
	if [ -n "${IIKANJI_SOAK:-}" ]; then # installs chDB
		python3 -m pip --version >/dev/null 2>&1 || need="$need python3-pip"
	fi
	want systemctl systemd # machines in namespaces
	want ip iproute2
	want curl curl
	want zsh zsh
	want fish fish
fi
[ -n "$need" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "iikanji: missing Debian packages:$need" >&2
	echo "hint: sudo apt-get install --no-install-recommends$need" >&2
	exit 1
fi
echo "iikanji: installing missing Debian packages:$need"
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -q && apt-get install -yq --no-install-recommends $need; } >.setup.log 2>&1; then
	tail -n 20 .setup.log >&2
	echo "iikanji: apt-get could not install:$need (its output is above and in .setup.log)" >&2
	exit 1
fi
rm -f .setup.log
