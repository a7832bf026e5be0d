package appenv

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/promise"
)

// A param is one parameter of a DSN.
type param struct {
	name, value string
	socket      bool // name and value are unused; the value is the path of a socket
}

var (
	truth  = regexp.MustCompile(`^(true|false)$`)
	number = regexp.MustCompile(`^[0-9]{1,9}$`)
)

// dsnParams are the parameters that may be set. They change how values are
// transmitted. They do not change the values, the account or the address.
var dsnParams = map[string]struct {
	form  *regexp.Regexp
	field string // of mysql.Config
}{
	"interpolateParams": {truth, "InterpolateParams"},
	"checkConnLiveness": {truth, "CheckConnLiveness"},
	"maxAllowedPacket":  {number, "MaxAllowedPacket"},
}

// dsnParts are the parts that the DSN must have afterwards.
type dsnParts struct {
	params []param
	socket bool // the database's unix socket
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *dsnParts) UnmarshalText(b []byte) error {
	for part := range strings.SplitSeq(string(b), "&") {
		if part == "socket" || part == "socket=true" {
			d.socket = true
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		kind, ok := dsnParams[name]
		if !ok {
			return fmt.Errorf("dsn parameter %q is not one that may be set; there are %s and socket", name, strings.Join(slices.Sorted(maps.Keys(dsnParams)), ", "))
		}
		if !kind.form.MatchString(value) {
			return fmt.Errorf("dsn parameter %s = %q: want %s", name, value, kind.form)
		}
		if slices.ContainsFunc(d.params, func(p param) bool { return p.name == name }) {
			return fmt.Errorf("dsn parameter %s is given twice", name)
		}
		d.params = append(d.params, param{name: name, value: value})
	}
	return nil
}

// socketForm matches a path that needs no quoting in a DSN or in Go.
var socketForm = regexp.MustCompile(`^/[A-Za-z0-9._/-]{1,106}$`)

// params returns the parameters to set, with the path of the database's socket.
func (w *wanted) params(s *change.Site) ([]param, error) {
	if !w.DSN.socket {
		return w.DSN.params, nil
	}
	var paths []string
	for _, svc := range s.Target.Services {
		if svc.Engine.MySQLFamily() && svc.Socket != "" {
			paths = append(paths, svc.Socket)
		}
	}
	if len(paths) != 1 {
		return nil, fmt.Errorf("dsn socket: the target has %d databases with a unix socket, want 1", len(paths))
	}
	if path := paths[0]; !socketForm.MatchString(path) || filepath.Clean(path) != path {
		return nil, fmt.Errorf("dsn socket: the path %q cannot be in a DSN", path)
	}
	return append(slices.Clone(w.DSN.params), param{value: paths[0], socket: true}), nil
}

// reservedConnections is the number of connections that must stay free in the
// database, for administrators.
const reservedConnections = 5

// affordable checks the pool size against max_connections of the site's
// databases.
func (w *wanted) affordable(ctx context.Context, s *change.Site) error {
	for name, svc := range s.Services {
		if w.Pool == 0 || svc.DB() == nil {
			continue
		}
		var most int
		if err := svc.DB().QueryRowContext(ctx, "SELECT @@GLOBAL.max_connections").Scan(&most); err != nil {
			return fmt.Errorf("asking %s how many connections it takes: %w", name, err)
		}
		if w.Pool > most-reservedConnections {
			return fmt.Errorf("pool = %d: %s takes %d connections (max_connections)", w.Pool, name, most)
		}
	}
	return nil
}

// weakened returns the promises that the change weakens. now are the variables
// before the change.
func (w *wanted) weakened(now map[string]string) []iikanji.Promise {
	var all []iikanji.Promise
	for name, value := range w.Env {
		all = append(all, promise.Variable(name, now[name], value)...)
	}
	for _, p := range w.DSN.params {
		all = append(all, promise.Connection.Of(p.name, "", p.value)...)
	}
	if w.quiet() || w.unprofiled() {
		all = append(all, promise.QuietApp()...)
	}
	return promise.Join(all)
}

// says describes the change in words.
func (w *wanted) says() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(w.Env)) {
		parts = append(parts, "set "+name+" = "+w.Env[name])
	}
	for _, p := range w.DSN.params {
		parts = append(parts, "connect with "+p.name+" = "+p.value)
	}
	if w.DSN.socket {
		parts = append(parts, "connect by the unix socket")
	}
	if w.Pool > 0 {
		parts = append(parts, fmt.Sprintf("a pool of at least %d connections", w.Pool))
	}
	if w.quiet() {
		parts = append(parts, "no debug log and no line per request")
	}
	if w.unprofiled() {
		parts = append(parts, "no profiler")
	}
	return strings.Join(parts, ", ")
}
