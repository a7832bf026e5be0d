package nginx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Request is what decides how nginx answers.
type Request struct {
	Address string // at which it arrives, as "127.0.0.1:80" (see [ParseAddress])
	Host    string // the header; "" for a request without one
	Method  string // "" for GET
	URI     string // path and query, as the client sends them
	// Headers are the other headers, with their names in lower case; nil if they are
	// not known.
	Headers map[string]string
}

// An Answer is what answers a request.
type Answer struct {
	Scope // whose directives are in effect
	// By is the directive that answers: one that passes the request on, a return, a
	// rewrite or a location that redirects, a try_files with a status. nil: nginx
	// looks for a file.
	By     *Directive
	Path   string // after rewrites
	Status int    // if nginx decides it; 0 for that of an app or a file
	Text   string // of a return, or the address of a redirect; "" if it has variables that are not known here
	// Assumed are the "if" directives whose conditions are not known here and were
	// taken as not met.
	Assumed []*Directive
	// Files are the directives on the way that look for files. The answer takes no such
	// file to exist: try_files, "if" with -f and the like, an error_page for status 404.
	Files []*Directive
}

// maxChanges is how often nginx lets a request change its location; then it
// answers with status 500.
const maxChanges = 10

// Answer is what answers a request. It goes through nginx's phases: the server, its
// rewrites, the location, its rewrites, try_files; and from there to other locations
// by their names or paths, also by error_page. Files are taken not to exist.
// Access is not checked (allow, auth_basic and the like). The error is an *Undecided
// if the configuration is not enough to tell.
func (c *Config) Answer(r Request) (Answer, error) {
	server, err := c.Server(r.Address, r.Host)
	if err != nil {
		return Answer{}, err
	}
	return server.Answer(r)
}

// Answer is [Config.Answer] for a server that is known.
func (s Scope) Answer(r Request) (Answer, error) {
	path, ok := NormalPath(r.URI, s.mergesSlashes(r.Address))
	if !ok {
		return Answer{Scope: s, Status: 400}, nil
	}
	_, args, _ := strings.Cut(r.URI, "?")
	if r.Method == "" {
		r.Method = "GET"
	}
	run := &requestRun{Answer: Answer{Scope: s, Path: path}, server: s, request: r, method: r.Method, args: args}
	run.vars = map[string]value{}
	run.captured = s.nameCaptures(r.Host)
	err := run.fromServer()
	for err == nil && run.leaves() {
		if run.changes++; run.changes > maxChanges {
			err = run.end(nil, 500, "")
			break
		}
		err = run.next()
	}
	if run.Status == 0 {
		run.By = run.Pass()
	}
	own := run.final && run.Status != 301 && run.Status != 302 && run.Status != 500
	if run.instead > 0 && run.By != nil && (run.Status == 0 || own) {
		run.Status = run.instead
	}
	return run.Answer, err
}

// mergesSlashes reports whether nginx merges slashes in a path: it reads the path
// before it knows the server, with the settings of the default server of the address.
func (s Scope) mergesSlashes(address string) bool {
	http := Scope{s.Config, s.Chain[:1]}
	servers := http.Blocks("server")
	at := addressesFor(servers, ParseAddress(address))
	if address != "" && len(at) == 1 {
		return listening(servers, at[0]).other.Value("merge_slashes") != "off"
	}
	return http.Value("merge_slashes") != "off"
}

// nameCaptures are what an expression in server_name captures.
func (s Scope) nameCaptures(host string) *captured {
	l := listener{servers: []Scope{s}, other: s}
	chosen, err := l.choose(host)
	if err != nil {
		return nil
	}
	return chosen.captured
}

// A requestRun is a request on its way.
type requestRun struct {
	Answer
	server   Scope
	request  Request
	method   string // GET after an error_page
	args     string
	internal bool // nginx changed the path itself
	moved    bool // a rewrite changed the path: select a location again
	final    bool // the answer has its text: no error_page replaces it
	wasError bool // an error_page has answered: another is not used
	instead  int  // the status that it gives to an answer with another one
	captured *captured
	vars     map[string]value // by set and by names of groups
	changes  int
}

// fromServer goes from the rewrites of the server to the end of the location.
func (r *requestRun) fromServer() error {
	r.Scope = r.server
	if done, err := r.rewrites(r.server.Last(), false); done || err != nil {
		return err
	}
	return r.fromLocation()
}

// fromLocation selects the location and follows its rewrites.
func (r *requestRun) fromLocation() error {
	for {
		f, err := r.server.Location(r.Path)
		if err != nil {
			return &Undecided{What: err.Error()}
		}
		if r.Scope = f.Scope; f.captured != nil {
			r.capture(f.captured)
		}
		if !r.internal && r.isInternal() {
			r.Status = 404
			return nil
		}
		r.limit()
		if f.Redirects {
			return r.end(r.Last(), 301, r.withArgs(r.Path+"/", false))
		}
		again, err := r.inLocation()
		if !again || err != nil {
			return err
		}
		if r.changes++; r.changes > maxChanges {
			return r.end(nil, 500, "")
		}
	}
}

// isInternal reports whether only nginx itself may use the location.
func (r *requestRun) isInternal() bool { return len(r.Effective("internal")) > 0 }

// limit enters the limit_except of a location, if it applies to the method.
func (r *requestRun) limit() {
	for _, l := range r.Blocks("limit_except") {
		allowed := l.Last().Args()
		if !slices.Contains(allowed, r.method) && !(r.method == "HEAD" && slices.Contains(allowed, "GET")) {
			r.Scope = l
		}
	}
}

// inLocation follows the rewrites of the location; again reports whether another
// one must be selected.
func (r *requestRun) inLocation() (again bool, err error) {
	if len(r.Chain) == len(r.server.Chain) || withinLocation(r.Last()) {
		return false, nil // the rewrites of the server are done; a limit_except inherits none
	}
	r.moved = false
	done, err := r.rewrites(r.Last(), true)
	return !done && r.moved, err
}

// end is an answer of nginx itself that no error_page replaces.
func (r *requestRun) end(by *Directive, status int, text string) error {
	r.By, r.Status, r.Text, r.final = by, status, text, true
	return nil
}

// leaves reports whether the answer so far is followed by another location: by a
// try_files or an error_page.
func (r *requestRun) leaves() bool {
	if r.Status == 0 {
		if len(r.Own("try_files")) > 0 {
			return true
		}
		if r.Pass() != nil {
			return false
		}
		if !slices.Contains([]string{"GET", "HEAD", "POST"}, r.method) { // nginx sends a file
			r.Status = 405
		}
	}
	if r.Status == 0 {
		return !r.wasError && r.errorPage(404) != nil
	}
	return !r.final && !r.wasError && r.errorPage(r.Status) != nil
}

// next follows the try_files or the error_page.
func (r *requestRun) next() error {
	if tries := r.Own("try_files"); r.Status == 0 && len(tries) > 0 {
		t := tries[0]
		r.Files = append(r.Files, t)
		to := t.Arg(len(t.Words) - 2)
		if code, ok := strings.CutPrefix(to, "="); ok {
			r.Status, _ = strconv.Atoi(code)
			r.By = t
			return nil
		}
		return r.jump(t, to)
	}
	code := r.Status
	if code == 0 {
		code = 404
	}
	page := r.errorPage(code)
	if r.Status == 0 {
		r.Files = append(r.Files, page)
	}
	to := page.Arg(len(page.Words) - 2)
	if !strings.HasPrefix(to, "@") && r.method != "HEAD" {
		r.method = "GET"
	}
	r.wasError, r.instead = true, code
	if status, ok := strings.CutPrefix(page.Arg(len(page.Words)-3), "="); ok {
		r.instead, _ = strconv.Atoi(status)
	}
	return r.jump(page, to)
}

// errorPage is the error_page in effect for a status that leads to a location, or nil.
func (r *requestRun) errorPage(status int) *Directive {
	for _, d := range r.Effective("error_page") {
		args := d.Args()
		to := args[len(args)-1]
		isLocation := to != "" && strings.ContainsAny(to[:1], "/@$")
		if isLocation && slices.Contains(args[:len(args)-1], strconv.Itoa(status)) {
			return d
		}
	}
	return nil
}

// jump goes on at a named location or a path of the server.
func (r *requestRun) jump(by *Directive, to string) error {
	r.By, r.Status, r.final, r.internal = nil, 0, false, true
	if strings.HasPrefix(to, "@") {
		l, ok := r.server.named(to)
		if !ok {
			return r.end(by, 500, "")
		}
		r.Scope = l
		r.limit()
		if again, err := r.inLocation(); !again || err != nil {
			return err
		}
		return r.fromLocation()
	}
	path, known := r.expand(to)
	if !known {
		return &Undecided{fmt.Sprintf("the path %s has variables that are not known", to), by}
	}
	r.Path, r.args, _ = strings.Cut(path, "?")
	return r.fromServer()
}
