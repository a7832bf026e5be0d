package discover

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/lang/settings"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// sources are the names of the files in which an app's connections are looked for, by
// engine; "" is PHP.
var sources = map[iikanji.Engine][]string{
	iikanji.EngineGo:     {"*.go"},
	iikanji.EngineNode:   {"*.js", "*.ts", "*.mjs", "*.cjs", "*.mts", "*.cts", "*.prisma", "config.json"},
	iikanji.EngineRuby:   {"*.rb", "*.ru", "database.yml", "database.yaml"},
	iikanji.EnginePython: {"*.py"},
	"":                   {"*.php"},
}

// A layer is an environment from which an app's source reads variables.
type layer struct {
	settings.Layer
	path string // of a file with lines NAME=value; "" for another environment
}

// layersOf are the environments of an app: that of the process, then the files with
// variables near it.
func (s *search) layersOf(svc *service) []layer {
	own := layer{Layer: settings.Layer{Name: "its environment", Values: map[string]string{}}}
	for _, kv := range svc.env {
		if name, value, ok := strings.Cut(kv, "="); ok {
			own.Values[name] = value
		}
	}
	out := []layer{own}
	for _, path := range s.envFiles(svc) {
		if b, ok := s.small(path); ok {
			out = append(out, layer{settings.Layer{Name: path, Values: settings.Dotenv(b)}, path})
		}
	}
	for _, dir := range near(svc) {
		for _, name := range []string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"} {
			path := filepath.Join(dir, name)
			if b, ok := s.small(path); ok {
				out = append(out, layer{Layer: settings.Layer{Name: path, Values: settings.ComposeEnv(b)}})
			}
		}
	}
	return out
}

// small reads a file that may be one with variables: a regular file that is not long.
func (s *search) small(path string) (string, bool) {
	info, err := s.host.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxEnvFile {
		return "", false
	}
	b, err := s.host.Read(path)
	return string(b), err == nil && len(b) <= maxEnvFile
}

// unitFiles are the files that the systemd unit of a service names in EnvironmentFile=.
func (s *search) unitFiles(svc *service) []string {
	if svc.Unit == "" || strings.ContainsAny(svc.Unit, "/*?[\\") {
		return nil
	}
	template := svc.Unit // of name@instance.service
	if i := strings.IndexByte(template, '@'); i >= 0 {
		template = template[:i+1] + ".service"
	}
	var out []string
	for _, dir := range []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"} {
		for _, pattern := range []string{svc.Unit + ".d/*.conf", svc.Unit, template} {
			paths, _ := s.host.Glob(filepath.Join(dir, pattern)) // the pattern is well formed
			for _, path := range paths {
				if b, ok := s.small(path); ok {
					out = append(out, environmentFiles(b)...)
				}
			}
		}
	}
	return out
}

// environmentFiles are the absolute paths of the lines EnvironmentFile= of a unit; the
// last one decides a variable, so it is first.
func environmentFiles(unit string) []string {
	var out []string
	for line := range strings.Lines(unit) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), "EnvironmentFile=")
		path := strings.Trim(strings.TrimPrefix(strings.TrimSpace(value), "-"), `"`)
		switch {
		case ok && path == "":
			out = nil
		case ok && filepath.IsAbs(path) && !strings.ContainsAny(path, "*?[%"):
			out = append(out, filepath.Clean(path))
		}
	}
	slices.Reverse(out)
	return out
}

// sourceFiles reads the files below a folder in which connections are looked for.
func (s *search) sourceFiles(root string, names []string) []settings.File {
	var out []settings.File
	real, err := s.host.RealPath(root)
	if err != nil {
		return nil
	}
	all := 0
	for _, path := range s.find(root, names...) {
		rel, err := filepath.Rel(root, path)
		if err != nil || !reads(rel) {
			continue
		}
		info, err := s.host.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > settings.MaxFile {
			continue
		}
		if all += int(info.Size()); all > settings.MaxAll || len(out) >= settings.MaxFiles {
			break
		}
		if b, err := s.host.ReadBeneath(real, filepath.Join(real, rel)); err == nil {
			out = append(out, settings.File{Path: rel, Text: string(b)})
		}
	}
	return out
}

// reads reports whether a file of an app is read for connections.
func reads(rel string) bool {
	return filepath.Ext(rel) == ".go" && !settings.IsTest(rel) || settings.Reads(rel)
}

// connections are those in the source of an app: of Go files, scripts and settings.
func connections(files []settings.File, layers []settings.Layer) []settings.Connection {
	return append(goapp.Connections(files, layers), settings.Read(files, layers)...)
}

// mostConnections bounds the connections of one app that are tried.
const mostConnections = 8

// sourceDSN looks for connections to databases in the source of an app. They are tried
// before what is guessed from the names of variables.
func (s *search) sourceDSN(svc *service, root string, names []string) {
	layers := s.layersOf(svc)
	plain := make([]settings.Layer, len(layers))
	for i, l := range layers {
		plain[i] = l.Layer
	}
	var found []dsn
	for _, c := range connections(s.sourceFiles(root, names), plain) {
		if !c.Complete() {
			svc.asks = append(svc.asks, fmt.Sprintf("%s connects to a database, and %s cannot be known from it", filepath.Join(root, c.Where()), strings.Join(c.Missing(), " and ")))
			continue
		}
		d := s.ofConnection(svc, root, &c, layers)
		same := func(o dsn) bool { return o.address == d.address && o.user == d.user && o.schema == d.schema }
		if len(found) >= mostConnections || slices.ContainsFunc(found, same) {
			continue
		}
		found = append(found, d)
	}
	svc.dsns = append(found, svc.dsns...)
	for _, d := range found {
		s.needed(svc, d.address, "its "+d.where)
	}
}

// ofConnection is a connection of the source as a DSN, with the place of its password.
func (s *search) ofConnection(svc *service, root string, c *settings.Connection, layers []layer) dsn {
	path := filepath.Join(root, c.Path)
	d := dsn{user: c.User.Value, password: c.Password.Value, schema: c.Schema.Value, where: fmt.Sprintf("source %s:%d", path, c.Line)}
	if names := c.Variables(); len(names) > 0 {
		d.where += " with " + strings.Join(names, ", ")
	}
	if d.address = net.JoinHostPort(c.Host.Value, c.Port.Value); c.Socket.Value != "" {
		if d.address = c.Socket.Value; !filepath.IsAbs(d.address) {
			d.address = filepath.Join(svc.proc.Dir, d.address)
		}
	}
	if d.password == "" {
		return d
	}
	if from, ok := c.Password.Variable(); ok {
		d.ref = refTo(svc, layers[from.Layer], from.Name, d.password)
	} else if c.Password.Literal() {
		if again, ok := SourcePassword(s.host, path); ok && again == d.password {
			d.ref = target.Ref("source:" + path)
		}
	}
	return d
}

// refTo refers to a variable that is the password, or a DSN with it; "" if it cannot be
// referred to.
func refTo(svc *service, l layer, name, password string) target.Ref {
	value := l.Values[name]
	inDSN, isDSN := Password(value)
	if !isDSN && value != password || isDSN && inDSN != password {
		return ""
	}
	var ref target.Ref
	kind := "process:"
	if isDSN {
		kind = "dsn:"
	}
	text := kind + svc.Name + ":" + name
	if l.path != "" {
		text = "file:" + l.path + ":" + name
	} else if l.Name != "its environment" {
		return ""
	}
	if ref.UnmarshalText([]byte(text)) != nil {
		return ""
	}
	return ref
}

// SourcePassword returns the password of the first connection in a source file that has
// one. Constants and functions of the files beside it count, variables do not.
func SourcePassword(h host.Host, path string) (string, bool) {
	s := &search{host: h}
	for engine, names := range sources {
		if !slices.ContainsFunc(names, func(n string) bool { ok, _ := filepath.Match(n, filepath.Base(path)); return ok }) {
			continue
		}
		dir := filepath.Dir(path)
		for _, root := range []string{dir, s.above(dir, marks[engine])} {
			rel, err := filepath.Rel(root, path)
			if root == "" || err != nil {
				continue
			}
			for _, c := range connections(s.sourceFiles(root, names), nil) {
				if c.Path == rel && c.Password.Value != "" {
					return c.Password.Value, true
				}
			}
		}
	}
	b, err := h.Read(path)
	if err != nil || len(b) > maxSource {
		return "", false
	}
	_, password, _, _, ok := DSNInSource(string(b))
	return password, ok
}

// phpSource reads the connections of an app in PHP: below its folder, or below the root
// of the web server in front of it.
func (s *search) phpSource(svc *service) {
	if !strings.HasPrefix(filepath.Base(svc.proc.Program), "php") || svc.Role != iikanji.RoleApp {
		return
	}
	roots := []string{svc.proc.Dir}
	for _, web := range s.order {
		if web.Role != iikanji.RoleWeb || web.Public == "" {
			continue
		}
		root := web.Public
		if slices.Contains([]string{"public", "web", "webroot", "htdocs"}, filepath.Base(root)) {
			root = filepath.Dir(root)
		}
		roots = append(roots, root)
	}
	slices.Sort(roots)
	for _, root := range slices.Compact(roots) {
		s.sourceDSN(svc, root, sources[""])
	}
}

// questions are what the source leaves open where no database was reached.
func (s *search) questions() {
	if slices.ContainsFunc(s.order, func(svc *service) bool { return svc.reached }) {
		return
	}
	isDatabase := func(svc *service) bool { return svc.Role == iikanji.RoleDatabase }
	for _, svc := range s.order {
		if svc.App.Source != "" && len(svc.asks) == 0 && len(svc.dsns) == 0 && slices.ContainsFunc(s.order, isDatabase) {
			s.todo("service %s: the app's database was not found in its environment, in the files with variables near it, or in %s: set database.user and database.password of the database that it uses", svc.Name, svc.App.Source)
		}
		for i, ask := range svc.asks {
			if i == mostConnections {
				break
			}
			s.todo("service %s: %s: run iikanji init as root or as the user of the site, or add the database as a service with database.user and database.password", svc.Name, ask)
		}
	}
}
