package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/rewrite/gosource"
	"github.com/iikanji/iikanji/internal/site/target"
)

// routesFrom reads the routes of --routes: a file of routes, an OpenAPI description, the
// folder of an app's Go source, or a target whose apps have such a source.
func routesFrom(ctx context.Context, name string) ([]accesslog.Pattern, error) {
	if file, ok := target.Find(name); ok {
		return routesOfTarget(ctx, file)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return routesOfSource(ctx, name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the routes: %w", err)
	}
	all, err := accesslog.ParseRoutes(string(text))
	if err != nil {
		return nil, fmt.Errorf("reading the routes in %s: %w", name, err)
	}
	return all, nil
}

// routesOfTarget reads the routes of all apps of a target.
func routesOfTarget(ctx context.Context, file string) (all []accesslog.Pattern, err error) {
	f, err := target.Load(file)
	if err != nil {
		return nil, err
	}
	for _, s := range f.Services {
		if s.App.Source == "" {
			continue
		}
		more, err := routesOfSource(ctx, s.App.Source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		all = append(all, more...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("reading the routes: no app of %s has Go source with routes", file)
	}
	return all, nil
}

// routesOfSource reads the routes that Go source registers.
func routesOfSource(ctx context.Context, dir string) (all []accesslog.Pattern, err error) {
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the routes: %w", err)
	}
	texts, err := gosource.Routes(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("reading the routes in the source: %w", err)
	}
	for _, text := range texts {
		if p, err := accesslog.Route(text); err == nil { // not a route of one host, or a method of the app's own
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil, hinted(fmt.Errorf("reading the routes: the source in %s registers none", dir), "--routes takes the folder of a Go module, a target, a file of routes or an OpenAPI description")
	}
	return all, nil
}
