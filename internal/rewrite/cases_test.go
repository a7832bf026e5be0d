package rewrite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// A caseApp is the packages of one case among others of a module.
type caseApp struct {
	dir  string
	path string // import path of the folder, in the place of caseModule
	pkgs []*packages.Package
}

const caseModule = "example.org/app"

// loadCases writes the files of each case into a folder of its own and loads all of them
// at once: to start the go command takes longer than to read a case. The folders are of one
// module, which has the modules in the folders below shared. In the files, caseModule
// stands for the folder of the case.
func loadCases(t *testing.T, cases, shared map[string]map[string]string) map[string]caseApp {
	t.Helper()
	root := t.TempDir()
	apps := map[string]caseApp{}
	for name, files := range cases {
		folder := fmt.Sprintf("c%d", len(apps))
		app := caseApp{dir: filepath.Join(root, folder), path: caseModule + "/" + folder}
		for file, text := range files {
			writeFile(t, filepath.Join(app.dir, file), strings.ReplaceAll(text, `"`+caseModule+"/", `"`+app.path+"/"))
		}
		apps[name] = app
	}
	module := "module " + caseModule + "\n\ngo 1.24\n"
	for path, files := range shared {
		folder := fmt.Sprintf("m%d", strings.Count(module, "replace "))
		version := "v1.0.0"
		if major := path[strings.LastIndexByte(path, '/')+1:]; len(major) == 2 && major[0] == 'v' {
			version = major + ".0.0"
		}
		module += fmt.Sprintf("\nrequire %s %s\n\nreplace %s => ./%s\n", path, version, path, folder)
		writeFile(t, filepath.Join(root, folder, "go.mod"), "module "+path+"\n\ngo 1.24\n")
		for file, text := range files {
			writeFile(t, filepath.Join(root, folder, file), text)
		}
	}
	writeFile(t, filepath.Join(root, "go.mod"), module)
	reload(t, apps)
	return apps
}

// loadEach is loadCases for rows of a table, with the files of each.
func loadEach[C any](t *testing.T, cases map[string]C, files func(name string, c C) map[string]string) map[string]caseApp {
	t.Helper()
	sources := map[string]map[string]string{}
	for name, c := range cases {
		sources[name] = files(name, c)
	}
	return loadCases(t, sources, nil)
}

// reload loads the packages of all cases from their files.
func reload(t *testing.T, apps map[string]caseApp) {
	t.Helper()
	root := ""
	for _, app := range apps {
		root = filepath.Dir(app.dir)
	}
	pkgs, err := goapp.Load(t.Context(), root, "./...")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for name, app := range apps {
		app.pkgs = nil
		for _, p := range pkgs {
			if p.PkgPath == app.path || strings.HasPrefix(p.PkgPath, app.path+"/") {
				app.pkgs, found = append(app.pkgs, p), found+1
			}
		}
		if len(app.pkgs) == 0 {
			t.Fatalf("%s: no package was loaded", name)
		}
		apps[name] = app
	}
	if found != len(pkgs) {
		t.Fatalf("%d of %d packages are of a case", found, len(pkgs))
	}
}

// cache reads the case for a query cache in its folder sqlcache.
func (a caseApp) cache() (*CacheSource, error) { return cacheOf(a.dir, a.pkgs, a.path+"/sqlcache") }

// text is source of the case with the import paths of an app that stands alone.
func (a caseApp) text(source []byte) []byte {
	return bytes.ReplaceAll(source, []byte(`"`+a.path+"/"), []byte(`"`+caseModule+"/"))
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
