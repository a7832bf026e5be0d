package nginxconf

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// fallback is the named location that passes requests for other paths than
// files on to the app.
const fallback = "@iikanji_app"

var expiresForm = regexp.MustCompile(`^([0-9]{1,6}[smhd]|max|-1|epoch|off)$`)

// checkExpires refuses what is not a value of expires.
func checkExpires(v string) error {
	if v != "" && !expiresForm.MatchString(v) {
		return fmt.Errorf("expires %q: want a time, as 1d or max", v)
	}
	return nil
}

// staticFiles serves the files of a location from disk. Requests for other
// paths, and requests other than GET and HEAD, are passed on to the app by the
// location that answered before: nothing that was answered stops being answered.
type staticFiles struct {
	Path    string `arg:"path,required" help:"a folder of URLs, /assets (/ is all paths), or one path: = /favicon.ico"`
	Root    string `arg:"root" help:"the folder on disk: the public folder of the app (the default) or one in it"`
	From    string `arg:"from" help:"where the public folder of the app is not known: the folder on disk below which the files of same are, which a run proved to be the app's answers"`
	Same    string `arg:"same" help:"these files, as paths with semicolons between them: /css/a.css;/js/a.js"`
	File    string `arg:"file" help:"the file for pages that are not on disk, /index.html"`
	Expires string `arg:"expires" help:"how long clients may keep the files, as 1d; weakens freshness"`
	Server  string `arg:"server" help:"server_name or listen address of a server block"`
}

// Validate is called by change.Decode.
func (a *staticFiles) Validate() error {
	if strings.Contains(a.Path, "/:") {
		return fmt.Errorf("path %q: want a folder or one path", a.Path)
	}
	return checkExpires(a.Expires)
}

func (a *staticFiles) Refine(act *change.Act) {
	if !slices.Contains(promise.RevalidatedValues, a.Expires) {
		act.Worth, act.Simplifies = change.WorthState, false
	}
}

func (a *staticFiles) edit(t *task) error {
	if t.Svc.Public == "" && a.From != "" {
		return a.proven(t)
	}
	root, err := t.publicRoot(a.Root)
	if err != nil {
		return err
	}
	return a.serve(t, root)
}

// proven serves the files that a run proved to be the app's answers. Each file is served
// at its own path only: other files of its folder may not be public.
func (a *staticFiles) proven(t *task) error {
	if !t.Proves(iikanji.SameAsFile) {
		return fmt.Errorf("from %q: the public folder of the service is unknown, and no run proved that the app answers with these files", a.From)
	}
	if !filepath.IsAbs(a.From) || strings.ContainsAny(a.From, "\x00\r\n$") {
		return fmt.Errorf("from %q: want an absolute path", a.From)
	}
	paths := strings.Split(a.Same, ";")
	served := 0
	for _, path := range paths {
		one := &staticFiles{Path: "= " + path, Expires: a.Expires, Server: a.Server}
		err := one.serve(t, filepath.Clean(a.From))
		if err != nil && !errors.Is(err, change.ErrNothing) {
			return err
		}
		if err == nil {
			served++
		}
	}
	if served == 0 {
		return change.ErrNothing
	}
	t.Says = fmt.Sprintf("serve %s from the files in %s, which the app answered with, and from the app where there is no file", strings.Join(paths, ", "), a.From)
	return nil
}

// serve serves a path from the files below a root.
func (a *staticFiles) serve(t *task, root string) error {
	path := a.Path
	if !strings.HasPrefix(path, "= ") {
		path = folderPath(path)
	}
	s, err := t.Spot(path, a.Server)
	if err != nil {
		return err
	}
	files, err := t.publicFiles(root, a.Path, a.File, s.Want)
	if err != nil {
		return err
	}
	t.Weaken(promise.Kept{Expires: a.Expires}.Promises()...)
	if a.File != "" {
		t.Weaken(promise.Page(t.Proves(iikanji.SameAsFile))...)
	}
	t.Says = fmt.Sprintf("serve %s from the files in %s, and from the app where there is no file", s.Want.What, root)
	if !t.Passes(s.Last()) {
		return a.already(t, s)
	}
	static, app, err := t.staticLocation(s, root, a.Expires, files)
	if err != nil {
		return err
	}
	return t.putStatic(s, static, app)
}

// already is the edit for a path that nginx serves from disk.
func (a *staticFiles) already(t *task, s nginxedit.Spot) error {
	if len(s.Chain) == 2 {
		return fmt.Errorf("path %q: no location passes it on to the app", a.Path)
	}
	for _, d := range s.Last().Block.Items {
		if d.Name() == "return" || strings.HasSuffix(d.Name(), "_pass") {
			return fmt.Errorf("path %q: location %s answers by %s", a.Path, nginx.PatternOf(s.Last()), d.Name())
		}
	}
	tries := t.Get(s.Last(), "try_files")
	if a.File != "" && (len(tries) == 0 || !tries[0].Has(a.File)) {
		return fmt.Errorf("file %q: location %s serves files already, but not this one", a.File, nginx.PatternOf(s.Last()))
	}
	if a.Expires == "" || t.Value(s.Chain, "expires") == a.Expires {
		return change.ErrNothing
	}
	if !s.Is() {
		return fmt.Errorf(`expires %q: location %s serves the files already; want the act "expires"`, a.Expires, nginx.PatternOf(s.Last()))
	}
	t.Ensure(s.Chain, "expires", a.Expires)
	return nil
}

var (
	// aboutProxying are directives without a meaning for files.
	aboutProxying = regexp.MustCompile(`^(proxy_.*|location|client_body_.*|client_max_body_size)$`)
	// notCopied are directives whose copy would have another effect.
	notCopied = []string{"rewrite", "return", "break", "if", "try_files", "root", "alias", "internal", "limit_except", "error_page"}
)

// staticLocation makes the location that serves files, and the named one that
// passes the other requests on to the app.
func (t *task) staticLocation(s nginxedit.Spot, root, expires string, files publicFiles) (static, app *nginx.Directive, err error) {
	from := s.Last()
	name := fallbackName(nginx.PatternOf(from))
	static = s.Want.NewLocation()
	for _, d := range t.Copies(from) { // access rules and headers, as for the app's answers
		switch {
		case slices.Contains(notCopied, d.Name()):
			return nil, nil, fmt.Errorf("location %s has %s: its files may not be public", nginx.PatternOf(from), d.Name())
		case d.Name() != "expires" && !aboutProxying.MatchString(d.Name()):
			static.Put(d)
		}
	}
	tries := []string{"$uri"}
	if files.page != "" {
		tries = append(tries, files.page)
	}
	static.Put(nginx.New("root", root), nginx.New("disable_symlinks", "on", "from=$document_root"),
		nginx.New("try_files", append(tries, name)...))
	old, _ := t.Effective(s.Chain, "error_page")
	for _, p := range old {
		static.Put(p.Clone())
	}
	static.Put(nginx.New("error_page", "405", "=", name)) // other methods than GET and HEAD
	if expires != "" {
		static.Put(nginx.New("expires", expires))
	} else if v := t.Get(from, "expires"); len(v) > 0 {
		static.Put(v[0].Clone())
	}
	if types := t.missingTypes(s.Chain, files.endings); types != nil {
		static.Put(types)
	}
	for _, p := range t.Get(from, "proxy_pass") {
		if pass, ok := nginxedit.PassOf(p.Arg(0)); ok && pass.URI != "" {
			return nil, nil, fmt.Errorf("proxy_pass %s has a path, which a named location cannot have", p.Arg(0))
		}
	}
	return static, nginx.Pattern{How: "@", What: strings.TrimPrefix(name, "@")}.NewLocation(), nil
}

// fallbackName is the name of the copy of a location that passes requests on.
func fallbackName(from nginx.Pattern) string {
	if from.What == "/" {
		return fallback
	}
	return fallback + "_" + strings.Trim(nginxedit.NameOf(from.What), "_")
}

// putStatic inserts both locations. If the new location replaces the app's own,
// that one becomes the named location, and keeps its lines and comments; else
// the named location is a copy.
func (t *task) putStatic(s nginxedit.Spot, static, app *nginx.Directive) error {
	from, server := s.Last(), s.Server()
	nested := len(t.Get(from, "location")) > 0
	if s.Is() {
		if nested || len(s.Chain) > 3 {
			return fmt.Errorf("location %s has or is a location inside", nginx.PatternOf(from))
		}
		from.SetArgs(app.Args()...)
		server.Add(static)
		return nil
	}
	if len(s.Chain) > 3 {
		return fmt.Errorf("location %s is inside another", nginx.PatternOf(from))
	}
	there := slices.ContainsFunc(t.Get(server, "location"), func(l nginx.Place) bool { return slices.Equal(l.Args(), app.Args()) })
	if !there {
		server.Add(app.Put(t.Copies(from)...))
	}
	_, err := t.InsertLocation(s, static)
	return err
}
