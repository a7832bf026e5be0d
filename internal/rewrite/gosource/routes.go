package gosource

import (
	"context"
	"strings"
)

// Routes are the routes that the Go source in a folder registers, as routers write
// them, each once: "GET /a/:id", and "/a/:id" where every method is served.
func Routes(ctx context.Context, dir string) (all []string, err error) {
	handlers, err := Handlers(ctx, dir)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, h := range handlers {
		text := strings.TrimSuffix(strings.TrimPrefix(h.Route, "ANY "), "{$}")
		if !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	return all, nil
}
