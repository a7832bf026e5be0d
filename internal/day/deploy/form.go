package deploy

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Form is how an app is made from its source.
type Form struct {
	Name string // go, rust, make, command, ruby, node, python, php, perl
	// Program: the build makes a program, which takes the place of the one that runs.
	// Otherwise the source itself is what runs.
	Program bool
	// Live: each request reads the source, so that a broken one is in service before it is
	// deployed.
	Live bool
	// Build makes the program or what the source needs, by sh -c in the folder of the source;
	// $OUT is where a Go program is written. "" builds nothing.
	Build string
	// Check checks the syntax of one file; "$@" are the files. "" checks nothing.
	Check   string
	Endings []string // of the files that are checked
	Each    bool     // Check takes one file at a time
	// Lock is the file with the versions of the dependencies, Install installs them. "" for
	// none.
	Lock, Install string
}

// An App is an app as it is deployed.
type App struct {
	Name    string
	Engine  iikanji.Engine
	Source  string
	Program string // "" for an interpreted app
	Package string // of Go
	Build   string // build command of the site's file
	// Interpreter is the program that runs the source, "" for that in PATH.
	Interpreter string
}

// Detect tells the form of an app. The build command of the site's file comes first.
func Detect(h host.Host, a *App) (Form, error) {
	if _, err := h.Stat(a.Source); err != nil {
		return Form{}, fmt.Errorf("reading the source of %s: %w", a.Name, err)
	}
	has := func(names ...string) string {
		for _, name := range names {
			if _, err := h.Stat(filepath.Join(a.Source, name)); err == nil {
				return name
			}
		}
		return ""
	}
	var f Form
	switch kindOf(a.Engine, has) {
	case "go":
		f = Form{Name: "go", Program: true, Build: `go build -buildvcs=false -o "$OUT" ` + host.Quote(or(a.Package, "."))}
	case "rust":
		f = Form{Name: "rust", Program: true, Build: "cargo build --release"}
	case "ruby":
		f = a.ruby(has)
	case "php":
		f = a.php(has)
	case "node":
		f = a.node(h, has)
	case "python":
		f = a.python(has)
	case "perl":
		f = a.perl(has)
	case "make":
		f = Form{Name: "make", Program: true, Build: makeCommand(h, filepath.Join(a.Source, has(makefiles...)))}
	}
	if a.Build != "" {
		if f.Name == "" {
			f.Name = "command"
		}
		f.Build, f.Program = a.Build, f.Program || a.Program != "" && below(a.Source, a.Program)
	}
	if f.Name == "" {
		return f, &UnknownError{a.Name, a.Source}
	}
	if f.Program && a.Program == "" {
		return f, fmt.Errorf("the program of %s is not known: write program below its [[service]]", a.Name)
	}
	return f, nil
}

// makefiles are the names of a Makefile, in make's order.
var makefiles = []string{"GNUmakefile", "makefile", "Makefile"}

// signs are files that tell what a source is made with, in the order in which they count.
var signs = []struct {
	kind  string
	files []string
}{
	{"go", []string{"go.mod"}},
	{"rust", []string{"Cargo.toml"}},
	{"ruby", []string{"Gemfile", "config.ru"}},
	{"php", []string{"composer.json", "index.php"}},
	{"node", []string{"package.json"}},
	{"python", []string{"pyproject.toml", "uv.lock", "poetry.lock", "requirements.txt"}},
	{"perl", []string{"cpanfile", "app.psgi"}},
	{"make", makefiles},
}

// kindOf is what a source is made with: the engine of the service, if it is one of these,
// else what the files tell; "" if nothing does.
func kindOf(engine iikanji.Engine, has func(...string) string) string {
	for _, s := range signs {
		if string(engine) == s.kind {
			return s.kind
		}
	}
	for _, s := range signs {
		if has(s.files...) != "" {
			return s.kind
		}
	}
	return ""
}

// An UnknownError is a source of which nothing is known.
type UnknownError struct{ Service, Source string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("how %s is built is not known: %s has no file that tells", e.Service, e.Source)
}

// Hints tells what to write.
func (e *UnknownError) Hints() []string {
	return []string{"write build = \"COMMAND\" below [service.app]"}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// below reports whether a path is in a folder.
func below(dir, path string) bool {
	return strings.HasPrefix(filepath.Clean(path), strings.TrimSuffix(filepath.Clean(dir), "/")+"/")
}

func (a *App) interpreter(name string) string { return host.Quote(or(a.Interpreter, name)) }

func (a *App) ruby(has func(...string) string) Form {
	f := Form{Name: "ruby", Check: a.interpreter("ruby") + ` -c "$@"`, Each: true, Endings: []string{".rb", ".ru"}}
	if f.Lock = has("Gemfile.lock"); f.Lock != "" {
		f.Install = "bundle install"
	}
	return f
}

func (a *App) php(has func(...string) string) Form {
	f := Form{Name: "php", Live: true, Check: `php -l "$@"`, Each: true, Endings: []string{".php"}}
	if f.Lock = has("composer.lock"); f.Lock != "" {
		f.Install = "composer install --no-interaction"
	}
	return f
}

// buildScript matches the script "build" of a package.json.
var buildScript = regexp.MustCompile(`(?s)"scripts"\s*:\s*\{[^}]*"build"\s*:`)

func (a *App) node(h host.Host, has func(...string) string) Form {
	f := Form{Name: "node", Check: a.interpreter("node") + ` --check "$@"`, Each: true, Endings: []string{".js", ".mjs", ".cjs"}}
	switch f.Lock = has("package-lock.json", "yarn.lock", "pnpm-lock.yaml"); f.Lock {
	case "package-lock.json":
		f.Install = "npm ci"
	case "yarn.lock":
		f.Install = "yarn install --frozen-lockfile"
	case "pnpm-lock.yaml":
		f.Install = "pnpm install --frozen-lockfile"
	}
	if b, err := h.Read(filepath.Join(a.Source, "package.json")); err == nil && buildScript.Match(b) {
		f.Build = "npm run build"
	}
	return f
}

// pythonCheck parses files without writing their compiled form.
const pythonCheck = ` -c 'import ast,sys
for f in sys.argv[1:]: ast.parse(open(f,"rb").read(),f)' "$@"`

func (a *App) python(has func(...string) string) Form {
	f := Form{Name: "python", Check: a.interpreter("python3") + pythonCheck, Endings: []string{".py"}}
	switch f.Lock = has("uv.lock", "poetry.lock", "requirements.txt"); f.Lock {
	case "uv.lock":
		f.Install = "uv sync --frozen"
	case "poetry.lock":
		f.Install = "poetry install --no-interaction"
	case "requirements.txt":
		f.Install = a.interpreter("python3") + " -m pip install -r requirements.txt"
	}
	return f
}

func (a *App) perl(has func(...string) string) Form {
	f := Form{Name: "perl", Check: a.interpreter("perl") + ` -Ilib -Ilocal/lib/perl5 -c "$@"`, Each: true, Endings: []string{".pl", ".pm", ".psgi"}}
	switch f.Lock = has("cpanfile.snapshot", "cpanfile"); f.Lock {
	case "cpanfile.snapshot":
		f.Install = "carton install --deployment"
	case "cpanfile":
		f.Install = "cpanm --installdeps --notest -L local ."
	}
	return f
}

// makeTarget matches a target "build" of a Makefile.
var makeTarget = regexp.MustCompile(`(?m)^build\s*:`)

func makeCommand(h host.Host, path string) string {
	if b, err := h.Read(path); err == nil && makeTarget.Match(b) {
		return "make build"
	}
	return "make"
}

// checked lists the files of a tree whose syntax is checked, in order.
func (f *Form) checked(t *tree, than *tree) []string {
	var out []string
	for path, e := range t.Files {
		if slices.Contains(f.Endings, filepath.Ext(path)) && e.Link == "" && (than == nil || than.Files[path] != e) {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}
