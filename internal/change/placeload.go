package change

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/tree"
)

// dumpEnd ends the names of the folders with a dump, on both hosts, beside the place. The copy's
// folder is there as long as they are, so that an undo knows of them.
const dumpEnd = ".dump"

// A loading makes the data of a MariaDB anew on another host, from the statements of one that
// runs.
type loading struct {
	from, to host.Host
	server   *sql.DB // the one that runs
	socket   string  // of it
	place    string
	order    PlaceOrder
	unit     string // of the server that reads the statements
}

// load makes the content of a place beside it: an empty database of the host's own server, with
// the schemas and accounts of the one on the order's host. An earlier attempt is begun anew.
func (s *Site) load(ctx context.Context, on tree.Host, op iikanji.Op, o PlaceOrder) (err error) {
	l := &loading{place: op.Place, order: o, unit: loadUnit(o)}
	if l.to, err = s.On(op.Host); err != nil {
		return err
	}
	if l.from, err = s.On(o.Host); err != nil {
		return err
	}
	if !missing(l.to, o.Beside+formerEnd) { // it was complete when the renames began
		return nil
	}
	source, err := tree.On(l.from)
	if err != nil {
		return err
	}
	if l.socket, err = s.socketOn(l.from, s.mysqlService()); err != nil {
		return err
	}
	if l.server, err = l.from.SQL(host.Login{Socket: l.socket}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.server.Close()) }()
	if err := s.clearLoad(ctx, l.to, o); err != nil {
		return err
	}
	if err := l.begin(); err != nil {
		return err
	}
	want, err := l.dump(ctx)
	if err != nil {
		return fmt.Errorf("dumping the database of %s: %w", o.Source, err)
	}
	dump := o.Beside + dumpEnd
	if _, err := copyFolder(ctx, source, on, PlaceOrder{Source: dump, Beside: dump, Directly: o.Directly}); err != nil {
		return fmt.Errorf("sending the dump of %s: %w", o.Source, err)
	}
	if err := l.read(ctx, want); err != nil {
		return fmt.Errorf("loading the dump of %s: %w", o.Source, err)
	}
	return errors.Join(l.from.RemoveAll(dump), l.to.RemoveAll(dump))
}

// loadUnit is the transient unit of the server that reads the statements.
func loadUnit(o PlaceOrder) string {
	return "iikanji-load-" + o.Beside[strings.LastIndexByte(o.Beside, '-')+1:]
}

// mysqlService is the name of the site's database with the MySQL protocol, "" for none.
func (s *Site) mysqlService() string {
	for _, svc := range s.Target.Services {
		if svc.Engine.MySQLFamily() {
			return svc.Name
		}
	}
	return ""
}

// clearLoad ends what an attempt to load has left running, and removes its dump from both hosts.
func (s *Site) clearLoad(ctx context.Context, h host.Host, o PlaceOrder) error {
	if o.Loader == "" || missing(h, o.Beside) {
		return nil
	}
	for _, unit := range []string{loadUnit(o), loadUnit(o) + newEnd} {
		is, err := ShowUnit(ctx, h, unit+".service", "LoadState")
		if err == nil && is["LoadState"] == "loaded" {
			_, err = Systemctl(ctx, h, "stop", unit)
		}
		if err != nil {
			return err
		}
	}
	from, err := s.On(o.Host)
	if err != nil {
		return err
	}
	for _, one := range []host.Host{from, h} {
		if err := one.RemoveAll(o.Beside + dumpEnd); err != nil {
			return fmt.Errorf("removing a dump: %w", err)
		}
	}
	return nil
}

// begin makes the folder of the data, empty.
func (l *loading) begin() error {
	if err := l.to.RemoveAll(l.order.Beside); err != nil {
		return fmt.Errorf("removing an earlier attempt: %w", err)
	}
	perm := os.FileMode(0o700)
	if info, err := l.to.Stat(l.place); err == nil {
		perm = info.Mode().Perm()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return l.to.Mkdir(l.order.Beside, perm)
}

// mostDumps bounds how often a database is dumped that is written meanwhile.
const mostDumps = 3

// dump writes the statements into a folder of the server's host, and returns the digests of
// what they have.
func (l *loading) dump(ctx context.Context) (map[string]string, error) {
	schemas, err := textLines(l.server.QueryContext(ctx, "SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN ("+systemSchemas+") ORDER BY 1"))
	if err != nil {
		return nil, err
	}
	before, err := dataDigests(ctx, l.server)
	if err != nil {
		return nil, err
	}
	for range mostDumps {
		if err := run(ctx, l.from, dumpScript, append([]string{l.order.Beside + dumpEnd, l.socket}, schemas...)...); err != nil {
			return nil, err
		}
		after, err := dataDigests(ctx, l.server)
		if err != nil {
			return nil, err
		}
		if maps.Equal(before, after) {
			return after, nil
		}
		before = after
	}
	return nil, errors.New("it is written all the time: end what writes to it")
}

// dumpScript writes the statements of schemas into a folder.
const dumpScript = `set -e
umask 077
dir=$1 socket=$2
shift 2
rm -rf "$dir"
mkdir "$dir"
: >"$dir/data.sql"
[ $# = 0 ] && exit
dump=$(command -v mariadb-dump || command -v mysqldump)
"$dump" --no-defaults --user=root --socket="$socket" --single-transaction --quick --routines --triggers --events --hex-blob --skip-dump-date --default-character-set=utf8mb4 --databases "$@" >"$dir/data.sql"`

// newEnd ends the name of the unit that makes the empty database.
const newEnd = "-new"

// startScript makes an empty database and starts a server on it that nobody else reaches. It
// sees the folder at its final place: a profile of AppArmor knows that path only.
const startScript = `set -e
beside=$1 place=$2 unit=$3 program=$4
log=$beside.dump/log
chown mysql:mysql "$beside"
new='install=$(command -v mariadb-install-db || command -v mysql_install_db); TMPDIR="$1" exec "$install" --user=mysql --datadir="$1" --skip-test-db --auth-root-authentication-method=socket >"$2" 2>&1'
systemd-run --quiet --collect --unit="$unit-new" -p Type=oneshot -p TimeoutStartSec=600 -p "BindPaths=$beside:$place" /bin/sh -c "$new" sh "$place" "$log" || { tail -n 5 "$log"; exit 1; }
systemd-run --quiet --collect --unit="$unit" -p Type=notify -p TimeoutStartSec=600 -p RuntimeMaxSec=21600 -p "BindPaths=$beside:$place" "$program" --user=mysql --datadir="$place" \
	--skip-networking --socket="$place/iikanji.sock" --pid-file="$place/iikanji.pid" --skip-log-bin --event-scheduler=OFF || { journalctl -u "$unit" -n 5 --no-pager -o cat; exit 1; }`

// readScript has that server read the statements. A newer client's first line is none for an
// older one.
const readScript = `set -e
client=$(command -v mariadb || command -v mysql)
sed '1{/enable the sandbox mode/d}' "$1.dump/data.sql" | "$client" --no-defaults --user=root --socket="$1/iikanji.sock"`

// read loads the statements and the accounts, and checks that all is there.
func (l *loading) read(ctx context.Context, want map[string]string) (err error) {
	beside := l.order.Beside
	if err := run(ctx, l.to, startScript, beside, l.place, l.unit, l.order.Loader); err != nil {
		return err
	}
	if err := run(ctx, l.to, readScript, beside); err != nil {
		return err
	}
	db, err := l.to.SQL(host.Login{Socket: beside + "/iikanji.sock"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := l.accounts(ctx, db); err != nil {
		return err
	}
	got, err := dataDigests(ctx, db)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			return fmt.Errorf("%s is not as it was: %q, and was %q", name, got[name], want[name])
		}
	}
	_, err = Systemctl(ctx, l.to, "stop", l.unit)
	return err
}

// siteAccounts are the accounts but those that each server makes for itself. An app may log in as
// root: that root of other hosts is not the server's own.
const siteAccounts = "SELECT CONCAT(User, '@', Host) FROM mysql.user WHERE User NOT IN ('', 'root', 'mysql', 'mariadb.sys', 'debian-sys-maint', 'PUBLIC')" +
	" OR User = 'root' AND Host NOT IN ('localhost', '127.0.0.1', '::1', LOWER(@@hostname)) ORDER BY 1"

// accounts makes the accounts of the server that runs in the new one. Their secrets are in no
// file and no change.
func (l *loading) accounts(ctx context.Context, db *sql.DB) error {
	roles, err := textLines(l.server.QueryContext(ctx, "SELECT User FROM mysql.user WHERE is_role = 'Y'"))
	if err != nil {
		return fmt.Errorf("reading the roles: %w", err)
	}
	if len(roles) > 0 {
		return fmt.Errorf("it has the role %s: roles are not carried by a dump", roles[0])
	}
	names, err := textLines(l.server.QueryContext(ctx, siteAccounts))
	if err != nil {
		return fmt.Errorf("reading the accounts: %w", err)
	}
	for _, name := range names {
		a, err := ParseAccount(name)
		if err != nil {
			return err
		}
		statements, err := AccountStatements(ctx, l.server, a)
		if err != nil {
			return err
		}
		for _, statement := range statements {
			if _, err := db.ExecContext(ctx, strings.ReplaceAll(statement, "@", a.sql())); err != nil {
				return fmt.Errorf("making account %s: %w", a, scrubbed(err))
			}
		}
	}
	return nil
}

// run runs a shell script on a host. Its error has the last lines of the output.
func run(ctx context.Context, h host.Host, script string, args ...string) error {
	r, err := h.Exec(ctx, host.Command{Path: "/bin/sh", Args: append([]string{"-c", script, "sh"}, args...), Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}, Dir: "/"})
	if err == nil && r.Status != 0 {
		err = fmt.Errorf("exit status %d: %.500s", r.Status, strings.TrimSpace(string(r.Output)))
	}
	return err
}
