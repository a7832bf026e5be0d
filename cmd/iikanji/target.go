package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A namedTarget is what the name of a target on the command line means: an
// arena, or a site that runs already and has an iikanji.toml.
type namedTarget struct {
	Name  string         // as it was given
	arena *arena.Arena   // nil for a site
	file  *target.File   // nil for an arena
	hosts livesite.Hosts // the site's other machines while they are connected, see withMachines

	grants map[string][]string // what this command may write on other machines besides the policy's folders

	mu       sync.Mutex
	expected map[string]bool // machines that iikanji has down, which nobody is told of
}

// findTargetOrHere is findTarget; without a name it returns the site whose iikanji.toml is
// in the working folder.
func findTargetOrHere(name string) (*namedTarget, error) {
	if name != "" {
		return findTarget(name)
	}
	path, ok := target.Find(".")
	if !ok {
		return nil, errNoTarget()
	}
	return findTarget(filepath.Dir(path)) // hints with this name hold in every folder
}

// errNoTarget is the error of a command that needs a target where none is named.
func errNoTarget() error {
	return usageError("a target is missing: name an arena, or a folder with an %s (iikanji init writes one)", target.Name)
}

// findTarget returns the target of a name: an arena, or the folder or the path of
// an iikanji.toml.
func findTarget(name string) (*namedTarget, error) {
	if a, ok := arena.Find(name); ok {
		return &namedTarget{Name: a.Name, arena: a}, nil
	}
	if path, ok := target.Find(name); ok {
		f, err := target.Load(path)
		if err != nil {
			return nil, &exitError{Status: exitUsage, Err: err}
		}
		return &namedTarget{Name: name, file: f}, nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		if path := filepath.Join(name, target.Name); isThere(path) {
			return nil, usageError("%s is not a file that can be read: it is a folder, a device, or a link that leads nowhere", path)
		}
		return nil, usageError("the folder %s has no %s: iikanji init writes one", name, target.Name)
	}
	return nil, usageError("unknown target %q; the targets are: %s; and any folder with an %s (iikanji init writes one)", name, strings.Join(arena.Names(), ", "), target.Name)
}

// isThere reports whether a path exists, also as a link that leads nowhere.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// findArena returns the arena of a name.
func findArena(name string) (*arena.Arena, error) {
	t, err := findTarget(name)
	if err == nil && t.arena == nil {
		err = usageError("%s is a site that runs already; the command is for arenas: %s", name, strings.Join(arena.Names(), ", "))
	}
	if err != nil {
		return nil, err
	}
	return t.arena, nil
}

// defaultDir is the target's work folder below the user's state folder. That of
// a site has its name and a digest of the path of its file.
func (t *namedTarget) defaultDir() (string, error) {
	if t.arena != nil {
		return stack.DefaultDir(t.arena.Name)
	}
	return stack.DefaultDir(fmt.Sprintf("site-%s-%.4x", plainWord(t.file.Site), sha256.Sum256([]byte(t.file.Path))))
}

// plainWord keeps letters, digits, dots, hyphens and underscores.
func plainWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_", r) {
			return r
		}
		return '-'
	}, s)
}

// answers are the known causes of an arena; a site has none.
func (t *namedTarget) answers() string {
	if t.arena == nil {
		return ""
	}
	return t.arena.Answers
}

// limits are what is not done for parts of a site; of an arena everything is.
func (t *namedTarget) limits() []target.Limit {
	if t.file != nil {
		return t.file.Limits()
	}
	return nil
}

// policy is what changes of the target are permitted.
func (t *namedTarget) policy() iikanji.Policy {
	if t.arena == nil {
		return t.file.Target().Policy
	}
	return t.arena.Policy()
}
