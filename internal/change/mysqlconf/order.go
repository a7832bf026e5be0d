package mysqlconf

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// An overridden is a setting that a file sets after the drop-in file, so that it
// would be lost at the next start of the server.
type overridden struct {
	name, value, file string
	line              int
	dropIn            string
}

func (e *overridden) Error() string {
	return fmt.Sprintf("%s:%d sets %s = %s, and the server reads it after %s: the setting would be lost at the next start", e.file, e.line, e.name, e.value, e.dropIn)
}

// Hints implements the hints of errors.
func (e *overridden) Hints() []string { return []string{"remove the line from " + e.file} }

// overriding refuses settings that a file sets to another value after the drop-in
// file. A configuration that does not include the drop-in file is not judged:
// reading the values back after the restart shows what it does.
func overriding(s *change.Site, svc change.Service, wanted map[string]string) error {
	if svc.Config == "" {
		return nil
	}
	h, err := s.On(svc.Host)
	if err != nil {
		return err
	}
	o := &optionFiles{host: h, dropIn: svc.DropIn, wanted: wanted, lost: map[string]*overridden{}}
	if err := o.read(svc.Config, 0); err != nil {
		return fmt.Errorf("reading the order of the server's files: %w", err)
	}
	if !o.passed {
		return nil
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(o.lost)) {
		errs = append(errs, o.lost[name])
	}
	return errors.Join(errs...)
}

// optionFiles reads option files in the server's order.
type optionFiles struct {
	host   host.Host
	dropIn string
	wanted map[string]string
	passed bool // the drop-in file was read
	lost   map[string]*overridden
}

// maxDepth bounds files that include each other; the server's limit is the same.
const maxDepth = 10

func (o *optionFiles) read(path string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: more than %d files include each other", path, maxDepth)
	}
	if o.isDropIn(path) {
		o.passed, o.lost = true, map[string]*overridden{} // it sets them anew
		return nil
	}
	text, err := o.host.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	ours, n := false, 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		n++
		left, value, _ := strings.Cut(line, "=")
		switch name := variableOf(strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(left), "-", "_"), "loose_")); {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			ours = serverSection(line)
		case strings.HasPrefix(line, "!includedir"):
			err = o.folder(strings.TrimSpace(strings.TrimPrefix(line, "!includedir")), depth+1)
		case strings.HasPrefix(line, "!include"):
			err = o.read(strings.TrimSpace(strings.TrimPrefix(line, "!include")), depth+1)
		case ours:
			o.sets(name, strings.Trim(strings.TrimSpace(value), `"'`), path, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sets notes a setting that may come after the drop-in file.
func (o *optionFiles) sets(name, value, path string, line int) {
	want, asked := o.wanted[name]
	if !asked {
		return
	}
	delete(o.lost, name)
	if plain(value) != plain(want) {
		o.lost[name] = &overridden{name: name, value: value, file: path, line: line, dropIn: o.dropIn}
	}
}

// folder reads the files of a folder as the server does: those that end in .cnf,
// sorted by name. The drop-in file may not exist yet.
func (o *optionFiles) folder(dir string, depth int) error {
	entries, err := o.host.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if o.isDropIn(filepath.Join(dir, filepath.Base(o.dropIn))) && !slices.Contains(names, filepath.Base(o.dropIn)) {
		names = append(names, filepath.Base(o.dropIn))
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasSuffix(name, ".cnf") {
			if err := o.read(filepath.Join(dir, name), depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *optionFiles) isDropIn(path string) bool {
	return filepath.Clean(path) == filepath.Clean(o.dropIn)
}

// serverSection reports whether some server reads a section, of any version.
func serverSection(line string) bool {
	name, _, _ := strings.Cut(strings.Trim(line, "[]"), "-")
	return slices.Contains(serverSections, "["+strings.TrimSpace(name)+"]") || name == "galera"
}
