package stack

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// programs is what the services' environment has about programs.
type programs struct {
	path string // the services' PATH
}

// systemDirs are searched after PATH. Debian omits the sbin folders from a
// user's PATH, and the default folder of the Go archive is in no default PATH.
var systemDirs = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/go/bin"}

// searchPath returns the folders to search for programs.
func searchPath(o Options) []string {
	if o.Path != "" {
		return filepath.SplitList(o.Path)
	}
	return append(filepath.SplitList(os.Getenv("PATH")), systemDirs...)
}

// find looks for a program as a shell does, but in absolute folders only.
func find(dirs []string, name string) (string, bool) {
	for _, d := range dirs {
		if !filepath.IsAbs(d) {
			continue
		}
		path := filepath.Join(d, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

// findPrograms looks for the programs of every service that is to be started. Its
// error names all missing ones at once. Programs that only a build needs are
// searched when something has to be built.
func findPrograms(services []arena.Service, o Options) (programs, error) {
	dirs := searchPath(o)
	var wants []string
	for _, svc := range services {
		if len(svc.Start) > 0 {
			wants = append(wants, svc.Start[0])
		}
		if words := process.EngineOf(svc.Engine).SetUp; words != nil {
			wants = append(wants, words[0])
		}
	}
	for _, svc := range services {
		wants = append(wants, svc.Programs...)
	}
	var names, packages []string
	for _, name := range wants {
		if strings.ContainsAny(name, "/{") || slices.Contains(names, name) { // built, or in the arena's files
			continue
		}
		if _, ok := find(dirs, name); ok {
			continue
		}
		names = append(names, name)
		if deb := packageOf(name); !slices.Contains(packages, deb) {
			packages = append(packages, deb)
		}
	}
	if names != nil {
		return programs{}, &MissingError{Program: strings.Join(names, ", "), Package: strings.Join(packages, " ")}
	}
	return programs{path: strings.Join(dirs, ":")}, nil
}

// missing is the error for one program.
func missing(program string) error {
	if program == "go" {
		return &MissingError{Program: "the Go toolchain (go)"}
	}
	return &MissingError{Program: program, Package: packageOf(program)}
}

// packages are the Debian packages of programs with another name.
var packages = map[string]string{
	"mysql": "mariadb-client", "mariadb": "mariadb-client", "mariadbd": "mariadb-server", "mariadb-install-db": "mariadb-server",
	"redis-cli": "redis-tools", "varnishd": "varnish", "node": "nodejs", "bundle": "ruby-bundler",
}

// packageOf returns the Debian package of a program.
func packageOf(program string) string {
	if deb, ok := packages[program]; ok {
		return deb
	}
	return program
}

// forAll is a program of the same name that every user can reach, if not everybody can reach path:
// the services of a stack that root started run as the user nobody.
func forAll(dirs []string, path string) string {
	if reachable(path) {
		return path
	}
	for _, d := range dirs {
		if other, ok := find([]string{d}, filepath.Base(path)); ok && reachable(other) {
			return other
		}
	}
	return path
}

// reachable reports whether every user may execute a file: each folder above it lets them
// through.
func reachable(path string) bool {
	for {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		parent := filepath.Dir(path)
		if parent == path {
			return true
		}
		path = parent
	}
}
