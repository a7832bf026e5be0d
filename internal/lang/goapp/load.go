package goapp

import (
	"context"
	"fmt"
	"go/token"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Load loads the packages of a module folder with their syntax and types, without the
// network. Dependencies are read as export data, which the go command takes from its
// build cache or makes from the module cache.
func Load(ctx context.Context, dir string, patterns ...string) ([]*packages.Package, error) {
	return load(ctx, dir, patterns, packages.NeedName|packages.NeedFiles|packages.NeedCompiledGoFiles|packages.NeedImports|
		packages.NeedTypes|packages.NeedSyntax|packages.NeedTypesInfo|packages.NeedTypesSizes|
		packages.NeedModule|packages.NeedExportFile) // without NeedDeps, types of imports come from export data
}

// Imports loads the names and folders of packages and of all that they import.
func Imports(ctx context.Context, dir string, patterns ...string) ([]*packages.Package, error) {
	return load(ctx, dir, patterns, packages.NeedName|packages.NeedFiles|packages.NeedImports|packages.NeedDeps)
}

func load(ctx context.Context, dir string, patterns []string, mode packages.LoadMode) ([]*packages.Package, error) {
	pkgs, err := packages.Load(&packages.Config{Context: ctx, Dir: dir, Fset: token.NewFileSet(), Mode: mode,
		Env: append(os.Environ(), "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -buildvcs=false"))}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("loading %s in %s: %w", strings.Join(patterns, " "), dir, err)
	}
	return pkgs, ctx.Err()
}
