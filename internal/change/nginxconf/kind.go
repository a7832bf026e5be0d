package nginxconf

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func init() { change.Register(Kind{}) }

// Kind plans edits of nginx's configuration. Remedy.Target is the service's
// name; Args["act"] chooses, and takes the other arguments (those in brackets
// may be left out, with their default behind "="):
//
//	act                 arguments
//	upstream keepalive  keepalive [to] [requests] [timeout]
//	                    keep that many idle connections per worker to the app open; to is the
//	                    host:port or upstream of proxy_pass, = all; requests (count) and timeout
//	                    ("60s") are after how many requests, and idle for how long, one is closed
//	upstream socket     socket [to]
//	                    reach the app by its unix socket (an absolute path that accepts now)
//	static files        path [root=Public] [file] [expires] [server]
//	                    serve files from disk, by the app where there is none. path is a folder
//	                    ("/assets" and "/assets/" are the same, "/" is everything) or one path
//	                    ("= /favicon.ico"); file ("/index.html") is the file of the pages in path
//	                    that are not on disk; root is Service.Public or a folder in it
//	gzip                [level=1] [types] [min=256]
//	                    compress answers; types are media types, separated by spaces
//	gzip static         path [min=512] [server]
//	                    compressed copies, made now, beside the files in a folder that nginx
//	                    serves from Service.Public already (see static files)
//	expires             path expires [cache-control] [server]
//	                    how long clients may keep an answer ("1h", "365d", "max", "off", "epoch",
//	                    "-1"), and more words of Cache-Control ("public", "public, immutable"):
//	                    weakens freshness when it is a time; an answer of the app that has a
//	                    Cache-Control of its own keeps it
//	cache               path valid [key] [cookies=personal] [stale=no] [lock=on] [server]
//	                    keep answers of GET and HEAD for a time from "100ms" to "100s". No answer is
//	                    older than that: weakens freshness. cookies "personal" never keeps the answer
//	                    to a request with a cookie; "ignore" takes the cookies from requests and
//	                    answers, for what is the same for everyone, and takes no folder.
//	                    Answers to Authorization and the like are never kept, and none where
//	                    nginx asks who it is. key must have $request_uri and all that the app is
//	                    told by other headers; without key this is seen to.
//	                    stale "updating" gives others the old answer while one asks for the new one
//	                    (whole seconds, from "2s"; where hardly anybody asks, an answer may be
//	                    older than valid, but not than 10s or five times valid)
//	buffers             [body] [answer] [header] [spill]
//	                    sizes ("128k") that hold a request's body, an answer and its header in
//	                    memory; spill "off" never writes an answer to a temporary file
//	workers             [processes] [connections] [nofile]
//	                    workers ("auto" or a count), connections and descriptors of each; nofile
//	                    is raised to twice the connections where it is less
//	open file cache     [max=10000] [inactive=60s] [valid=1s]
//	                    keep descriptors of files open: weakens freshness, by valid
//	access log          log [buffer=64k] [flush=1s]
//	                    log "buffered" writes lines together; "off" writes none and weakens
//	                    observability
//	refuse user agents  patterns [status=503] [server]
//	                    regular expressions, one a line, that Go reads, too ("(?i)" at the start of
//	                    one ignores case); none may match a usual browser: weakens availability
//	set                 directive value
//	                    one of the directives in settings.go
//
// The path of "cache" and "expires" is one path ("/api/trend", "/", "= /a/"), a
// folder ("/assets/", with its slash; "/*" is everything), or a route with
// placeholders for one segment each ("/api/isu/:id/icon"). server is a server_name or the listen
// address or port of a server block, = the only one that passes requests on.
//
// A plan is change.ErrNothing when the configuration says so already.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "nginxconf" }

var editors = map[string]editor{
	"upstream keepalive": editKeepalive,
	"upstream socket":    editSocket,
	"static files":       editStatic,
	"gzip":               editGzip,
	"gzip static":        editGzipStatic,
	"expires":            editExpires,
	"cache":              editCache,
	"buffers":            editBuffers,
	"workers":            editWorkers,
	"open file cache":    editOpenFiles,
	"access log":         editAccessLog,
	"refuse user agents": editAgents,
	"set":                editSetting,
}

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	svc, ok := s.Services[r.Target]
	if !ok || svc.Config == "" {
		return nil, fmt.Errorf("no service %q with a configuration", r.Target)
	}
	edit, ok := editors[r.Args["act"]]
	if !ok {
		return nil, fmt.Errorf("no act %q", r.Args["act"])
	}
	tree, err := load(svc.Config, s.ReadOld)
	if err != nil {
		return nil, err
	}
	t := &task{ctx: ctx, site: s, name: r.Target, conf: tree, svc: svc, args: r.Args}
	if err := edit(t); err != nil {
		return nil, err
	}
	if err := t.alone(); err != nil {
		return nil, err
	}
	edits := t.edits()
	if len(edits) == 0 {
		return nil, change.ErrNothing
	}
	if err := t.test(); err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: t.says, Weakens: t.weakens, Risk: iikanji.RiskReload}
	change.FromEdits(c, iikanji.Reload, edits...)
	return c, nil
}

// edits are the files to write: those that the configuration wants to find
// first, then the configuration.
func (t *task) edits() []change.Edit {
	edits := slices.Clone(t.files)
	for _, f := range t.changed() {
		edits = append(edits, change.Edit{Path: f.path, Old: f.old, New: []byte(f.root.String())})
	}
	return edits
}

// test has nginx read the edited configuration, as one file beside the main
// one (relative paths stay what they are), before anything is touched.
// Folders that nginx makes on the way go again.
func (t *task) test() error {
	defer func() {
		for _, dir := range t.scratch {
			_ = os.Remove(dir) // stays when it is in use after all
		}
	}()
	return change.InScratchFile(filepath.Dir(t.svc.Config), ".conf", []byte(t.flat()), func(path string) error {
		if err := t.svc.Check(t.ctx, path); err != nil {
			return fmt.Errorf("nginx refuses the edited configuration: %w", err)
		}
		return nil
	})
}

// http finds the http block.
func (c *conf) http() (*directive, error) {
	found := c.find("http")
	if len(found) != 1 || found[0].body == nil {
		return nil, fmt.Errorf("%s has %d http blocks, want 1", c.files[0].path, len(found))
	}
	return found[0].directive, nil
}

// has says whether any of the words is among a directive's arguments.
func (d *directive) has(word string) bool { return slices.Contains(d.args(), word) }
