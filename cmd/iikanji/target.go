package main

import (
	"strings"

	"github.com/iikanji/iikanji/internal/arena"
)

// findTarget returns the target of a name. So far every target is an arena.
func findTarget(name string) (*arena.Arena, error) {
	a, ok := arena.Find(name)
	if !ok {
		return nil, usageError("unknown target %q; the targets are: %s", name, strings.Join(arena.Names(), ", "))
	}
	return a, nil
}
