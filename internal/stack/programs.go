package stack

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/arena"
)

// programs are the paths of the programs.
type programs struct {
	mariadbd, installDB, nginx string
	path                       string // the services' PATH
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

// findPrograms finds the programs that every start needs. Its error names all
// missing ones at once. The Go toolchain is searched only when a build is needed.
func findPrograms(a *arena.Arena, o Options) (programs, error) {
	dirs := searchPath(o)
	p := programs{path: strings.Join(dirs, ":")}
	wants := []want{{&p.mariadbd, "mariadbd", "mariadb-server"},
		{&p.installDB, "mariadb-install-db", "mariadb-server"}, {&p.nginx, "nginx", "nginx"}}
	for _, name := range a.App.Programs {
		wants = append(wants, want{new(string), name, packageOf(name)})
	}
	var names, packages []string
	for _, w := range wants {
		var ok bool
		if *w.to, ok = find(dirs, w.program); ok {
			continue
		}
		names = append(names, w.program)
		if !slices.Contains(packages, w.deb) {
			packages = append(packages, w.deb)
		}
	}
	if names != nil {
		return p, &MissingError{Program: strings.Join(names, ", "), Package: strings.Join(packages, " ")}
	}
	return p, nil
}

// A want is a program to find, with its Debian package.
type want struct {
	to           *string
	program, deb string
}

// packageOf returns the Debian package of a program that an app calls.
func packageOf(program string) string {
	if program == "mysql" || program == "mariadb" {
		return "mariadb-client"
	}
	return program
}
