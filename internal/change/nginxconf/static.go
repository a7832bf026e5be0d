package nginxconf

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// fallback is the named location that asks the app for what is not on disk.
const fallback = "@iikanji_app"

var expiresForm = regexp.MustCompile(`^([0-9]{1,6}[smhd]|max|-1|epoch|off)$`)

// keepsFresh are the values of expires that let nobody keep an answer.
var keepsFresh = []string{"", "-1", "epoch", "off"}

// editStatic serves a location's files from disk. What is not there, and what
// is no GET or HEAD, is asked of the app by the location that did before:
// nothing that answered stops answering.
func editStatic(t *task) error {
	root, err := t.publicRoot()
	if err != nil {
		return err
	}
	expires := t.args["expires"]
	if expires != "" && !expiresForm.MatchString(expires) {
		return fmt.Errorf("expires %q: want a time, as 1d or max", expires)
	}
	path := t.args["path"]
	if !strings.HasPrefix(path, "= ") && !strings.HasSuffix(path, "/") {
		path += "/" // a folder: "/assets" must not take "/assets-old"
	}
	if path == "/" {
		path = everything
	}
	if strings.Contains(path, "/:") {
		return fmt.Errorf("path %q: want a folder or one path", t.args["path"])
	}
	s, err := t.spot(path)
	if err != nil {
		return err
	}
	files, err := t.publicFiles(root, s.want)
	if err != nil {
		return err
	}
	if !slices.Contains(keepsFresh, expires) {
		t.weaken(iikanji.Freshness)
	}
	t.says = fmt.Sprintf("serve %s from files in %s, by the app where there is none", s.want.what, root)
	if !t.passes(s.last()) {
		return t.alreadyStatic(s, expires, files.page)
	}
	static, app, err := t.staticLocation(s, root, expires, files)
	if err != nil {
		return err
	}
	return t.putStatic(s, static, app)
}

// alreadyStatic is for a path that nginx serves from disk.
func (t *task) alreadyStatic(s spot, expires, page string) error {
	if len(s.chain) == 2 {
		return fmt.Errorf("path %q: no location asks the app for it", t.args["path"])
	}
	for _, d := range s.last().body.items {
		if d.name() == "return" || strings.HasSuffix(d.name(), "_pass") {
			return fmt.Errorf("path %q: location %s answers by %s", t.args["path"], matches(s.last()), d.name())
		}
	}
	tries := t.get(s.last(), "try_files")
	if page != "" && (len(tries) == 0 || !tries[0].has(page)) {
		return fmt.Errorf("file %q: location %s serves files already, but not this one", page, matches(s.last()))
	}
	if expires == "" || t.value(s.chain, "expires") == expires {
		return change.ErrNothing
	}
	if !s.is() {
		return fmt.Errorf(`expires %q: location %s serves the files already; want the act "expires"`, expires, matches(s.last()))
	}
	t.holds(s.chain, "expires", expires)
	return nil
}

// publicRoot is the folder to serve: the service's public one or one in it,
// whatever a remedy says.
func (t *task) publicRoot() (string, error) {
	public := t.svc.Public
	if public == "" {
		return "", fmt.Errorf("the service's public folder is not known: nothing can be served from disk")
	}
	root := t.arg("root", public)
	if !filepath.IsAbs(root) || strings.ContainsAny(root, "\x00\r\n$") {
		return "", fmt.Errorf("root %q: want an absolute path", root)
	}
	root = filepath.Clean(root)
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", fmt.Errorf("root %q: %w", root, err)
	}
	within, err := filepath.EvalSymlinks(public)
	if err != nil {
		return "", fmt.Errorf("the public folder: %w", err)
	}
	if real != within && !strings.HasPrefix(real, within+"/") {
		return "", fmt.Errorf("root %q: want the public folder %s or one in it", root, public)
	}
	return root, nil
}

// Public files, as one look at the disk found them.
type publicFiles struct {
	page    string          // the URL path of args["file"], or ""
	endings map[string]bool // without the dot
}

// maxPublic bounds how many files are looked at.
const maxPublic = 100_000

// publicFiles looks at what would be served. Files that begin with a dot are
// no public ones, and stop the plan.
func (t *task) publicFiles(root string, want pattern) (publicFiles, error) {
	f := publicFiles{page: t.args["file"], endings: map[string]bool{}}
	see := func(path string) { f.endings[strings.TrimPrefix(filepath.Ext(path), ".")] = true }
	if f.page != "" {
		if err := cleanPath(f.page); err != nil || want.what == "/" && want.prefix() {
			return f, fmt.Errorf("file %q: want the path of a file, for less than every path", f.page)
		}
		if !regular(filepath.Join(root, f.page)) {
			return f, fmt.Errorf("file %q: there is no such file in %s", f.page, root)
		}
		see(f.page)
	}
	at := filepath.Join(root, want.what)
	if want.how == "=" {
		if see(at); f.page == "" && !regular(at) {
			return f, fmt.Errorf("path %q: there is no file %s", t.args["path"], at)
		}
		return f, nil
	}
	n := 0
	err := filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && d.Name() != ".well-known":
			return fmt.Errorf("%s is not for everyone", path)
		case n > maxPublic:
			return fmt.Errorf("there are more than %d files", maxPublic)
		case d.Type().IsRegular():
			n++
			see(path)
		}
		return t.ctx.Err()
	})
	if err == nil && n == 0 && f.page == "" {
		err = fmt.Errorf("there is no file in %s", at)
	}
	if err != nil {
		return f, fmt.Errorf("path %q: %w", t.args["path"], err)
	}
	return f, nil
}

// regular says whether there is a file, and no link.
func regular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// notStatic are directives of an app's location that have no place in one that
// serves files, and those of which a copy would not do the same.
var (
	aboutProxying = regexp.MustCompile(`^(proxy_.*|location|client_body_.*|client_max_body_size)$`)
	notCopied     = []string{"rewrite", "return", "break", "if", "try_files", "root", "alias", "internal", "limit_except", "error_page"}
)

// staticLocation makes the location that serves files, and the named one that
// asks the app.
func (t *task) staticLocation(s spot, root, expires string, files publicFiles) (static, app *directive, err error) {
	from := s.last()
	name := fallbackName(matches(from))
	static = s.want.location()
	for _, d := range t.copies(from) { // access rules and headers, as for the app's answers
		switch {
		case slices.Contains(notCopied, d.name()):
			return nil, nil, fmt.Errorf("location %s has %s: its files may not be for everyone", matches(from), d.name())
		case d.name() != "expires" && !aboutProxying.MatchString(d.name()):
			static.put(d)
		}
	}
	tries := []string{"$uri"}
	if files.page != "" {
		tries = append(tries, files.page)
	}
	static.put(newDirective("root", root), newDirective("disable_symlinks", "on", "from=$document_root"),
		newDirective("try_files", append(tries, name)...))
	old, _ := t.effective(s.chain, "error_page")
	for _, p := range old {
		static.put(p.clone())
	}
	static.put(newDirective("error_page", "405", "=", name)) // no GET: the app's
	if v := expires; v != "" {
		static.put(newDirective("expires", v))
	} else if v := t.get(from, "expires"); len(v) > 0 {
		static.put(v[0].clone())
	}
	if types := t.missingTypes(s.chain, files.endings); types != nil {
		static.put(types)
	}
	for _, p := range t.get(from, "proxy_pass") {
		if pass, ok := passOf(p.arg(0)); ok && pass.uri != "" {
			return nil, nil, fmt.Errorf("proxy_pass %s has a path, which a named location cannot have", p.arg(0))
		}
	}
	return static, pattern{"@", strings.TrimPrefix(name, "@")}.location(), nil
}

// fallbackName names the copy of a location that asks the app.
func fallbackName(from pattern) string {
	if from.what == "/" {
		return fallback
	}
	return fallback + "_" + strings.Trim(notName.ReplaceAllString(from.what, "_"), "_")
}

// putStatic puts both locations in. The app's own keeps its lines and
// comments: it becomes the named one where the new one takes its place, and is
// copied where both are needed.
func (t *task) putStatic(s spot, static, app *directive) error {
	from, server := s.last(), s.server()
	nested := len(t.get(from, "location")) > 0
	if s.is() {
		if nested || len(s.chain) > 3 {
			return fmt.Errorf("location %s has or is a location inside", matches(from))
		}
		from.setArgs(app.args()...)
		server.add(static)
		return nil
	}
	if len(s.chain) > 3 {
		return fmt.Errorf("location %s is inside another", matches(from))
	}
	there := slices.ContainsFunc(t.get(server, "location"), func(l place) bool { return slices.Equal(l.args(), app.args()) })
	if !there {
		server.add(app.put(t.copies(from)...))
	}
	_, err := t.insertLocation(s, static)
	return err
}
