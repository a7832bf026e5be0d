package rewrite

import (
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/packages"
)

// A module may have several programs, and packages that only tests use. What one of them does
// is of no interest to another one.

// servedBy are the packages of a list that a program imports, by itself or through others of
// the list, with its own.
func servedBy(program *packages.Package, pkgs []*packages.Package) (out []*packages.Package) {
	seen := map[string]bool{}
	var visit func(p *packages.Package)
	visit = func(p *packages.Package) {
		if seen[p.ID] {
			return
		}
		seen[p.ID] = true
		for _, i := range p.Imports {
			visit(i)
		}
	}
	visit(program)
	for _, p := range pkgs {
		if seen[p.ID] {
			out = append(out, p)
		}
	}
	return out
}

// programIn is the program in a folder of the module, nil if none of the packages is it.
func programIn(dir, folder string, pkgs []*packages.Package) *packages.Package {
	for _, p := range pkgs {
		if p.Name == "main" && len(p.GoFiles) > 0 && filepath.Dir(p.GoFiles[0]) == filepath.Join(dir, folder) {
			return p
		}
	}
	return nil
}

// runsWith are, for each package of a list, those that run in a program with it. A package
// that no program has is alone, and so it is no part of what is served if there are programs.
func runsWith(pkgs []*packages.Package) map[*packages.Package][]*packages.Package {
	out := map[*packages.Package][]*packages.Package{}
	for _, program := range pkgs {
		if program.Name != "main" {
			continue
		}
		all := servedBy(program, pkgs)
		for _, p := range all {
			for _, q := range all {
				if !slices.Contains(out[p], q) {
					out[p] = append(out[p], q)
				}
			}
		}
	}
	return out
}
