package discover

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/target"
)

// marks are the files at the top of a source folder, by engine.
var marks = map[iikanji.Engine][]string{
	iikanji.EngineGo: {"go.mod"}, iikanji.EngineNode: {"package.json"}, iikanji.EngineRuby: {"Gemfile", "config.ru"},
	iikanji.EnginePython: {"pyproject.toml", "requirements.txt", "setup.py", "Pipfile"},
}

// source finds the folder with the source of an app.
func (s *search) source(svc *service) {
	if svc.Role != iikanji.RoleApp || marks[svc.Engine] == nil {
		s.phpSource(svc)
		return
	}
	if svc.Engine == iikanji.EngineGo {
		s.goSource(svc)
	} else if dir := s.above(s.entryFolder(svc), marks[svc.Engine]); dir != "" {
		svc.App.Source = dir
		s.note(svc, "source in "+dir, Likely, "the nearest %s above its entry script", strings.Join(marks[svc.Engine], " or "))
	} else if dir := svc.proc.Dir; s.hasScripts(dir, svc.Engine) {
		svc.App.Source = dir
		s.note(svc, "source in "+dir, Likely, "its process works there, and scripts in its language are there")
	} else if dir := s.entryFolder(svc); s.hasScripts(dir, svc.Engine) {
		svc.App.Source = dir
		s.note(svc, "source in "+dir, Likely, "its entry script is there")
	}
	if svc.App.Source == "" {
		s.note(svc, "its source was not found", Guess, "no %s near %s", strings.Join(marks[svc.Engine], ", "), svc.proc.Dir)
		s.todo("service %s: fill in app.source to have the source read and edited (not needed for other changes)", svc.Name)
		return
	}
	s.mayWrite(svc.App.Source)
	s.sourceDSN(svc, svc.App.Source, sources[svc.Engine])
}

// scripts are the ends of names of source files, by engine.
var scripts = map[iikanji.Engine]string{iikanji.EngineNode: ".js", iikanji.EngineRuby: ".rb", iikanji.EnginePython: ".py"}

// hasScripts reports whether a folder that is not a system folder has source files of an
// engine.
func (s *search) hasScripts(dir string, engine iikanji.Engine) bool {
	if strings.Count(filepath.Clean(dir), "/") < 2 || strings.HasPrefix(dir, "/usr/") || scripts[engine] == "" {
		return false
	}
	entries, err := s.host.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Type().IsRegular() && filepath.Ext(e.Name()) == scripts[engine]
	})
}

// entryFolder is the folder of the script that an interpreter runs.
func (s *search) entryFolder(svc *service) string {
	entry := entryOf(svc.proc)
	if !filepath.IsAbs(entry) {
		entry = filepath.Join(svc.proc.Dir, entry)
	}
	if _, err := s.host.Stat(entry); err != nil || strings.HasPrefix(entry, "/usr/") {
		return svc.proc.Dir
	}
	return filepath.Dir(entry)
}

// above is the nearest folder that has one of the files, at dir or above it.
func (s *search) above(dir string, names []string) string {
	for ; dir != "" && dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		for _, name := range names {
			if _, err := s.host.Stat(filepath.Join(dir, name)); err == nil {
				return dir
			}
		}
	}
	return ""
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)"?`)

// goSource finds the module of a Go program: the go.mod near it whose module path
// begins the path of its main package. The module that the program lies in comes first: the
// line table of the program may name another folder in which it was built, a copy that a build
// would not make it from.
func (s *search) goSource(svc *service) {
	best, module := "", ""
	built := ""
	if file := s.mainFile(svc.proc.Program); file != "" {
		built = s.above(filepath.Dir(file), marks[iikanji.EngineGo])
	}
	own := s.above(filepath.Dir(svc.proc.Program), marks[iikanji.EngineGo])
	for _, root := range []string{own, built, svc.proc.Dir, filepath.Dir(svc.proc.Program), filepath.Dir(svc.proc.Dir), filepath.Dir(filepath.Dir(svc.proc.Program)),
		filepath.Dir(filepath.Dir(svc.proc.Dir))} {
		for _, file := range s.find(root, "go.mod") {
			b, err := s.host.Read(file)
			if err != nil {
				continue
			}
			m := moduleLine.FindStringSubmatch(string(b))
			if m == nil || svc.main != m[1] && !strings.HasPrefix(svc.main, m[1]+"/") && svc.main != "command-line-arguments" {
				continue
			}
			if len(m[1]) > len(module) {
				best, module = filepath.Dir(file), m[1]
			}
		}
		if best != "" {
			break
		}
	}
	svc.App.Package = ""
	if best == "" {
		return
	}
	svc.App.Source = best
	if rel := strings.TrimPrefix(strings.TrimPrefix(svc.main, module), "/"); rel != "" && svc.main != "command-line-arguments" {
		svc.App.Package = "./" + rel
	}
	s.note(svc, "source in "+best, Sure, "its go.mod is of module %s, from which the program was built", module)
	if svc.proc.Deleted {
		s.note(svc, "the running program is older than its file", Sure, "the file was replaced since the start")
	}
}

// Limits of a search for files.
const (
	maxDepth   = 4
	maxEntries = 20_000
)

// skipped are folders that hold no source of the site.
var skipped = []string{"node_modules", "vendor", "proc", "sys", "dev"}

// find lists the files of a name below a folder, not deeper than maxDepth.
func (s *search) find(root string, names ...string) []string {
	if strings.Count(root, "/") < 2 || strings.HasPrefix(root, "/usr") { // the top of the disk has everything
		return nil
	}
	var out []string
	n := 0
	_ = s.host.Walk(root, func(path string, d fs.DirEntry, err error) error {
		switch n++; {
		case n > maxEntries:
			return fs.SkipAll
		case err != nil:
			return nil // a folder that this user may not read
		case d.IsDir() && path != root && (slices.Contains(skipped, d.Name()) || strings.HasPrefix(d.Name(), ".") || strings.Count(path[len(root):], "/") > maxDepth):
			return fs.SkipDir
		case d.Type().IsRegular() && slices.ContainsFunc(names, func(name string) bool {
			ok, err := filepath.Match(name, d.Name())
			return ok && err == nil
		}):
			out = append(out, path)
		}
		return nil
	})
	return out
}

// maxSource is the maximum size of a source file that is read, in bytes.
const maxSource = 1 << 20

var creates = regexp.MustCompile(`(?i)\bCREATE\s+TABLE\b`)

// schemaFolders finds the folders of SQL files that create tables, near the apps.
func (s *search) schemaFolders() []string {
	var out []string
	for _, svc := range s.order {
		if svc.Role != iikanji.RoleApp {
			continue
		}
		for _, root := range []string{svc.App.Source, svc.proc.Dir, filepath.Dir(svc.App.Source)} {
			for _, path := range s.find(root, "*.sql") {
				if info, err := s.host.Stat(path); err != nil || info.Size() > maxSource || slices.Contains(out, filepath.Dir(path)) {
					continue
				}
				if b, err := s.host.Read(path); err == nil && creates.Match(b) {
					out = append(out, filepath.Dir(path))
				}
			}
		}
	}
	return out
}

// finish writes what was found into the file.
func (s *search) finish(ctx context.Context) {
	f := s.out.File
	f.Bench.Command = s.Bench
	if s.Bench == "" {
		s.todo("fill in command below [bench]: the command that loads the site once and prints its score")
		s.out.Notes["bench.command"] = "FILL IN: the command that loads the site once and prints its score."
	}
	s.benchLength(ctx)
	s.out.Notes["bench.length"] = "Length of the load of one run."
	s.out.Notes["bench.score"] = "Where the score is in the output. Known load tools, a JSON document with \"score\" and a line \"score: N\" are recognized without it."
	f.Policy.Profile = cmp.Or(s.Policy, target.Production)
	s.out.Notes["policy.profile"] = policyNote()
	s.out.Notes["policy.folders"] = "iikanji writes in these folders only."
	s.out.Notes[""] = "Written by iikanji init from the running machine. iikanji doctor checks it;\ndocs/iikanji-toml.md describes every key."
	for i, svc := range f.Services {
		var lines []string
		for _, found := range s.out.Findings {
			if found.Service == svc.Name {
				lines = append(lines, fmt.Sprintf("%s (%s: %s)", found.What, found.Sure, found.How))
			}
		}
		s.out.Notes[fmt.Sprintf("service.%d", i+1)] = strings.Join(lines, "\n")
	}
}

// policyNote lists the profiles of a policy with what each permits.
func policyNote() string {
	lines := []string{"What changes may weaken, in one word:"}
	for _, p := range target.Profiles() {
		lines = append(lines, fmt.Sprintf("  %-10s  %s", p, p.Text()))
	}
	return strings.Join(append(lines, "allow = [\"...\"] adds single promises; docs/iikanji-toml.md says what each means."), "\n")
}
