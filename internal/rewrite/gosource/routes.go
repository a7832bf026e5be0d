package gosource

import (
	"context"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// Routes are the routes that the Go source in a folder registers, as routers write
// them, each once: "GET /a/:id", and "/a/:id" where every method is served.
func Routes(ctx context.Context, dir string) (all []string, err error) {
	pkgs, err := goapp.Load(ctx, dir, "./...")
	if err != nil {
		return nil, err
	}
	routes, _ := goapp.Routes(pkgs, nil)
	seen := map[string]bool{}
	for _, r := range routes {
		text := strings.TrimPrefix(r.Route, "ANY ")
		if !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	return all, nil
}
