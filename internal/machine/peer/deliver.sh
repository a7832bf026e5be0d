main() {
	mask=$(umask) d=
	umask 077
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	export PATH
	for dir in /run/iikanji /var/lib/iikanji; do # the first may be on a file system without programs
		[ -z "$d" ] || break
		mkdir -m 700 "$dir" 2>/dev/null
		[ -d "$dir" ] && [ ! -L "$dir" ] && [ "$(stat -c %u "$dir")" = "$(id -u)" ] && chmod 700 "$dir" || continue
		printf '#!/bin/sh\n' >"$dir/probe.$$" && chmod 700 "$dir/probe.$$" && "$dir/probe.$$" 2>/dev/null && d=$dir
		rm -f "$dir/probe.$$"
	done
	[ -n "$d" ] || { echo "$nonce nowhere"; exit 1; }
	f=$d/iikanji-$sum
	if [ ! -f "$f" ] || [ -L "$f" ] || [ "$(sha256sum <"$f" | cut -c1-64)" != "$sum" ]; then
		z=cat
		for p in gzip zstd; do command -v $p >/dev/null && z="$p -dc"; done
		echo "$nonce need $(uname -m) ${z% -dc}"
		read -r size
		rm -f "$f" "$f.$$"
		head -c "$size" | $z >"$f.$$"
		if [ "$(sha256sum <"$f.$$" | cut -c1-64)" != "$sum" ]; then
			rm -f "$f.$$"
			echo "$nonce broken"
			exit 1
		fi
		chmod 700 "$f.$$" && mv -f "$f.$$" "$f"
		for old in "$d"/iikanji-*; do [ "$old" = "$f" ] || rm -f "$old"; done
	fi
	umask "$mask"
	cd /
	echo "$nonce run"
	exec "$f" peer
}
main
