package discover

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// askLimit bounds the time of one program that is asked.
const askLimit = 10 * time.Second

// web makes a service of an nginx, and of the apps behind it; nil for another
// process.
func (s *search) web(ctx context.Context, p *process.Process, address string) *service {
	if !isNginx(p) {
		return nil
	}
	if svc := s.byPID[p.PID]; svc != nil {
		return svc
	}
	svc := s.add(p, iikanji.RoleWeb, iikanji.EngineNginx, "nginx")
	s.listens(svc, address)
	s.note(svc, "nginx at "+address, Sure, "process %d, %s, listens there", p.PID, p.Program)
	conf, err := Dump(ctx, s.host, p)
	if err != nil {
		s.note(svc, "its configuration is not known", Guess, "%v", err)
		s.todo("service %s: fill in config, the main configuration file of nginx", svc.Name)
		return svc
	}
	svc.Config = conf.Files[0].Path
	s.note(svc, fmt.Sprintf("configuration %s, %d files", svc.Config, len(conf.Files)), Sure, "nginx -T of this nginx")
	s.folders(conf)
	site := &server{conf: conf, port: address[strings.LastIndexByte(address, ':')+1:]}
	if len(s.order) == 1 { // it is the front
		s.siteURL(svc, site)
	}
	s.logsOf(ctx, svc, site)
	if root := site.root(); root != "" {
		if _, err := s.host.Stat(root); err == nil {
			svc.Public = root
			s.note(svc, "files in "+root, Likely, "directive root")
		}
	}
	for _, to := range site.upstreams() {
		s.behind(ctx, svc, to)
	}
	return svc
}

// behind follows one address that an nginx passes requests to.
func (s *search) behind(ctx context.Context, svc *service, to string) {
	p := s.m.Owner(to)
	switch {
	case strings.Contains(to, "$"):
		s.note(svc, "passes requests to "+to, Guess, "the address is a variable")
		s.todo("service %s passes requests to %s: add the services behind it", svc.Name, to)
	case p == nil && s.elsewhere(svc, to, "nginx passes requests to it"):
	case p == nil:
		s.note(svc, "passes requests to "+to, Guess, "no process of this machine listens there")
		s.todo("no process listens at %s, where service %s passes requests to", to, svc.Name)
	case isNginx(p):
		if p != svc.proc {
			s.web(ctx, p, to)
		}
	default:
		s.app(p, to)
	}
}

// Dump asks a running nginx for its whole configuration: the same program with
// the same options.
func Dump(ctx context.Context, h host.Host, p *process.Process) (*nginx.Config, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	r, err := h.Exec(ctx, host.Command{Path: p.Program, Args: append([]string{"-T", "-q"}, process.NginxOptions(p)...), Dir: cmp.Or(p.Dir, "/")})
	if err != nil {
		return nil, err
	}
	if r.Status != 0 {
		return nil, fmt.Errorf("nginx -T ends with status %d: %.300s", r.Status, r.Output)
	}
	text := string(r.Output)
	if len(text) == host.MaxOutput {
		return nil, fmt.Errorf("the configuration of nginx is larger than %d bytes", host.MaxOutput)
	}
	if i := strings.Index(text, "# configuration file "); i > 0 {
		text = text[i:] // behind warnings
	}
	return nginx.SplitDump(text).Config()
}

// folders are where edits of the configuration are written: those of the main file and
// of files with parts that are edited. A file such as mime.types, with one table that
// nobody edits, opens no folder: it may be the system's beside a site's own configuration.
func (s *search) folders(conf *nginx.Config) {
	for i, f := range conf.Files {
		if i > 0 && !hasSettings(f) {
			continue
		}
		path := f.Path
		if real, err := s.host.RealPath(path); err == nil {
			path = real // a link is edited at its end
		}
		s.mayWrite(filepath.Dir(path))
	}
}

// tables are directives of files that only list values: types of files, parameters of a
// protocol, modules.
var tables = []string{"types", "fastcgi_param", "uwsgi_param", "scgi_param", "load_module"}

// hasSettings reports whether a file of a configuration has more than tables.
func hasSettings(f *nginx.File) bool {
	return slices.ContainsFunc(f.Root.Items, func(d *nginx.Directive) bool { return !slices.Contains(tables, d.Name()) })
}

// mayWrite adds a folder to the policy, unless one above it is there.
func (s *search) mayWrite(dir string) {
	folders := &s.out.File.Policy.Folders
	inside := func(path, of string) bool { return path == of || strings.HasPrefix(path, of+"/") }
	if dir == "" || dir == "/" || slices.ContainsFunc(*folders, func(f string) bool { return inside(dir, f) }) {
		return
	}
	*folders = append(slices.DeleteFunc(*folders, func(f string) bool { return inside(f, dir) }), dir)
}

// A server is the part of a configuration that serves one port.
type server struct {
	conf *nginx.Config
	port string
	name string // of the site; "" where its default server answers
}

// servers are the server blocks of the port, that of the site first; all if none has the
// port.
func (v *server) servers() []nginx.Place {
	all := v.conf.Find("server", "http")
	own := slices.DeleteFunc(slices.Clone(all), func(p nginx.Place) bool { return !v.serves(p) })
	if len(own) == 0 {
		return all
	}
	if i := slices.IndexFunc(own, v.isSite); i > 0 {
		own = slices.Concat(own[i:i+1], own[:i], own[i+1:])
	}
	return own
}

// isSite reports whether a server block is the one that answers requests for the site.
func (v *server) isSite(srv nginx.Place) bool {
	if v.name != "" {
		return slices.ContainsFunc(v.conf.Get(srv.Directive, "server_name"), func(d nginx.Place) bool { return slices.Contains(d.Args(), v.name) })
	}
	return slices.ContainsFunc(v.conf.Get(srv.Directive, "listen"), func(l nginx.Place) bool {
		return v.listensAt(l) && (l.Has("default_server") || l.Has("default"))
	})
}

func (v *server) serves(p nginx.Place) bool {
	listens := v.conf.Get(p.Directive, "listen")
	if len(listens) == 0 {
		return v.port == "80" || v.port == "8000" // nginx's default, as root and not
	}
	return slices.ContainsFunc(listens, v.listensAt)
}

// listensAt reports whether a directive listen is for the port.
func (v *server) listensAt(l nginx.Place) bool { return nginx.ParseAddress(l.Arg(0)).Port == v.port }

// passes are the directives that name what is behind nginx.
var passes = []string{"proxy_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "grpc_pass"}

// upstreams are the addresses behind the server blocks, as HOST:PORT or the path
// of a socket.
func (v *server) upstreams() []string {
	groups := map[string][]string{}
	for _, u := range v.conf.Find("upstream", "http") {
		for _, member := range v.conf.Get(u.Directive, "server") {
			groups[u.Arg(0)] = append(groups[u.Arg(0)], addressOf(member.Arg(0), "80"))
		}
	}
	var out []string
	for _, srv := range v.servers() {
		for _, p := range v.passing(srv) {
			to, port := p.Arg(0), "80"
			if scheme, rest, ok := strings.Cut(to, "://"); ok {
				to, port = rest, map[string]string{"https": "443", "grpcs": "443"}[scheme]
				port = cmp.Or(port, "80")
			}
			if !strings.HasPrefix(to, "unix:") {
				to, _, _ = strings.Cut(to, "/")
			}
			list := groups[to]
			if list == nil {
				list = []string{addressOf(to, port)}
			}
			for _, a := range list {
				if !slices.Contains(out, a) {
					out = append(out, a)
				}
			}
		}
	}
	return out
}

// passing are the directives of a server block that name what is behind it.
func (v *server) passing(srv nginx.Place) (out []nginx.Place) {
	v.conf.Walk(srv.Block, nil, func(p nginx.Place) {
		if slices.Contains(passes, p.Name()) {
			out = append(out, p)
		}
	})
	return out
}

// sites are the first names of the server blocks that pass requests to places of their own:
// several sites behind one port.
func (v *server) sites() (names []string) {
	seen := map[string]bool{}
	for _, srv := range v.servers() {
		key, first := "", "without a name"
		for _, p := range v.passing(srv) {
			key += p.Arg(0) + " "
		}
		for _, d := range v.conf.Get(srv.Directive, "server_name") {
			if first = d.Arg(0); first == "_" || first == "" {
				first = "without a name"
			}
			break
		}
		if key != "" && !seen[key] {
			names = append(names, first)
		}
		seen[key] = true
	}
	return names
}

// addressOf is an address of nginx's configuration as HOST:PORT or a path.
func addressOf(text, port string) string {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		path, _, _ = strings.Cut(path, ":")
		return path
	}
	if _, _, err := net.SplitHostPort(text); err == nil || strings.Contains(text, "$") {
		return text
	}
	return net.JoinHostPort(strings.Trim(text, "[]"), port)
}

// root is the folder of the site's files: of the server block with its name, or of any.
func (v *server) root() string {
	all := v.servers()
	if v.name != "" && len(all) > 0 && v.isSite(all[0]) {
		all = all[:1]
	}
	for _, srv := range all {
		for _, r := range v.conf.Get(srv.Directive, "root") {
			return r.Arg(0)
		}
		root := ""
		v.conf.Walk(srv.Block, nil, func(p nginx.Place) {
			if p.Name() == "root" && root == "" && !strings.Contains(p.Arg(0), "$") {
				root = p.Arg(0)
			}
		})
		if root != "" {
			return root
		}
	}
	return ""
}

// setting returns the arguments of a directive where it is in force for the
// site: in its server block, else in http, else in the main block, else in another server
// block of the port.
func (v *server) setting(name string) [][]string {
	var out [][]string
	take := func(places []nginx.Place) bool {
		for _, p := range places {
			out = append(out, p.Args())
		}
		return len(places) > 0
	}
	all := v.servers()
	if len(all) > 0 && take(v.conf.Get(all[0].Directive, name)) || take(v.conf.Find(name, "http")) || take(v.conf.Find(name)) {
		return out
	}
	for _, srv := range all {
		if take(v.conf.Get(srv.Directive, name)) {
			break
		}
	}
	return out
}

// logsOf finds the logs of an nginx.
func (s *search) logsOf(ctx context.Context, svc *service, site *server) {
	prefix, access := Compiled(ctx, s.host, svc.proc)
	full := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(prefix, path)
	}
	logs := site.setting("access_log")
	if len(logs) == 0 {
		svc.Logs.Access = full(access)
		s.note(svc, "access log "+svc.Logs.Access, Likely, "nginx's default: no access_log is configured")
	}
	for _, args := range logs {
		if path := args[0]; svc.Logs.Access == "" && path != "off" && !strings.HasPrefix(path, "syslog:") && !strings.Contains(path, "$") {
			svc.Logs.Access = full(path)
			s.note(svc, "access log "+svc.Logs.Access, Sure, "directive access_log")
		}
	}
	if svc.Logs.Access == "" {
		s.note(svc, "no access log", Sure, "it is turned off: iikanji turns one on while it observes")
	}
	for _, args := range site.setting("error_log") {
		if path := args[0]; svc.Logs.Error == "" && path != "stderr" && !strings.HasPrefix(path, "syslog:") {
			svc.Logs.Error = full(path)
		}
	}
}

// Compiled returns the prefix of a running nginx, and the access log that it
// writes without being configured to, which may be relative to the prefix.
func Compiled(ctx context.Context, h host.Host, p *process.Process) (prefix, access string) {
	prefix, access = "/usr/local/nginx", "logs/access.log"
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	if r, err := h.Exec(ctx, host.Command{Path: p.Program, Args: []string{"-V"}, Dir: "/"}); err == nil {
		for w := range strings.FieldsSeq(string(r.Output)) {
			if v, ok := strings.CutPrefix(w, "--prefix="); ok {
				prefix = v
			}
			if v, ok := strings.CutPrefix(w, "--http-log-path="); ok {
				access = v
			}
		}
	}
	options := process.NginxOptions(p)
	if i := slices.Index(options, "-p"); i >= 0 {
		prefix = options[i+1]
	}
	return prefix, access
}

// serviceAt is the service at an address, nil if none was found there.
func (s *search) serviceAt(address string) *service {
	p := s.m.Owner(address)
	if p == nil {
		return nil
	}
	return s.byPID[p.PID]
}
