package sysctl

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// standardFolders are those of sysctl.d(5), the first one first: of files of the same
// name in several of them only the first counts. sysctlConf is read after all.
var standardFolders = []string{"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"}

const sysctlConf = "/etc/sysctl.conf"

// An OverriddenError is a kernel variable that a file sets to another value after the
// drop-in file, so that the setting would be lost at the next start of the machine.
type OverriddenError struct {
	Name, Value string
	File        string
	Line        int
	DropIn      string
}

func (e *OverriddenError) Error() string {
	return fmt.Sprintf("%s:%d sets %s = %s, and is read after %s: the setting would be lost at the next start of the machine", e.File, e.Line, e.Name, e.Value, e.DropIn)
}

// Hints implements the hints of errors.
func (e *OverriddenError) Hints() []string { return []string{"remove the line from " + e.File} }

// overriding refuses variables that a file sets to another value after the drop-in
// file.
func overriding(h host.Host, dropIn string, wanted map[string]string) error {
	files, err := later(h, dropIn)
	if err != nil {
		return fmt.Errorf("reading the files of kernel variables: %w", err)
	}
	lost := map[string]*OverriddenError{}
	for _, file := range files {
		text, err := h.Read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return fmt.Errorf("reading the files of kernel variables: %w", err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			pattern, value, ok := assignment(line)
			if !ok {
				continue
			}
			for name, want := range wanted {
				if same, err := path.Match(pattern, strings.ReplaceAll(name, ".", "/")); err != nil || !same {
					continue
				}
				delete(lost, name)
				if plain(value) != plain(want) {
					lost[name] = &OverriddenError{name, plain(value), file, n, dropIn}
				}
			}
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		errs = append(errs, lost[name])
	}
	return errors.Join(errs...)
}

// assignment reads a line "name = value". The name may have slashes instead of dots, a
// "-" before it, and wildcards; it is returned with slashes.
func assignment(line string) (pattern, value string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' || line[0] == ';' {
		return "", "", false
	}
	name, value, ok := strings.Cut(strings.TrimPrefix(line, "-"), "=")
	name = strings.TrimSpace(name)
	if i := strings.IndexAny(name, "./"); i >= 0 && name[i] == '.' {
		name = strings.NewReplacer(".", "/", "/", ".").Replace(name)
	}
	return name, value, ok && name != ""
}

// later lists the files that are read after the drop-in file, in their order. A drop-in
// file outside of the standard folders is compared with those beside it.
func later(h host.Host, dropIn string) (files []string, err error) {
	dropIn = filepath.Clean(dropIn)
	folders := []string{filepath.Dir(dropIn)}
	standard := slices.Contains(standardFolders, folders[0])
	if standard {
		folders = standardFolders
	}
	byName := map[string]string{}
	for _, dir := range folders {
		entries, err := h.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if _, known := byName[e.Name()]; !known && strings.HasSuffix(e.Name(), ".conf") {
				byName[e.Name()] = filepath.Join(dir, e.Name())
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if name > filepath.Base(dropIn) {
			files = append(files, byName[name])
		}
	}
	if standard {
		files = append(files, sysctlConf)
	}
	return files, nil
}
