package window

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// File is the name of the window in its folder, List that of the list of files.
const (
	File = "window.json"
	List = "CONTENTS.txt"
)

// Is reports whether a path is a folder with a window.
func Is(path string) bool {
	info, err := os.Stat(filepath.Join(path, File))
	return err == nil && info.Mode().IsRegular()
}

// Save writes the window into a folder.
func (w *Window) Save(dir string) error {
	w.Version = Version
	b, err := json.MarshalIndent(w, "", " ")
	if err != nil {
		return fmt.Errorf("writing the window: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, File), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the window: %w", err)
	}
	return nil
}

// Load reads the window of a folder. The profiles are not in it.
func Load(dir string) (*Window, error) {
	b, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		return nil, fmt.Errorf("reading the window: %w", err)
	}
	w := new(Window)
	if err := json.Unmarshal(b, w); err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Join(dir, File), err)
	}
	if w.Version > Version {
		return nil, fmt.Errorf("reading %s: it is of version %d, this is %d", filepath.Join(dir, File), w.Version, Version)
	}
	return w, nil
}

// meanings are what the files of a folder hold, by name or by the beginning of the
// name.
var meanings = []struct{ name, says string }{
	{File, "the time that was watched, and the CPU of each service by second"},
	{List, "this list"},
	{"run.json", "the machine, CPU time by service, what else used it"},
	{"access", "routes with counts, times, statuses and sizes; no lines of the log"},
	{"slow", "statements by fingerprint with counts, times and rows; no literals"},
	{"host.json", "CPU, memory, disk and network, summed up"},
	{"host", "samples of the machine, one a second"},
	{"errors", "kinds of messages in error logs, without their values"},
	{"facts", "schema, sizes, index statistics, variables, counters, plans, configuration, units"},
	{"sensors", "what proves that each source saw the whole time"},
	{"target", "the services, their addresses and files"},
	{"journal", "the record of this folder"},
	{"config-", "a configuration file without comments and without values of secrets"},
}

// Contents writes the list of the files in a folder, and what was removed.
// left are the topics of facts that were left out.
func Contents(dir string, left []string) error {
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == List || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%9d  %-28s  %s", info.Size(), rel, meaning(d.Name())))
		return nil
	})
	if err != nil {
		return fmt.Errorf("listing the folder: %w", err)
	}
	slices.Sort(lines)
	text := "Bytes, file, and what is in it:\n\n" + strings.Join(lines, "\n") + "\n\nRemoved before anything was written: literals of statements, lines of logs, queries of URLs,\n" +
		"accounts and addresses of clients, values of settings whose names or contents look like secrets,\ncomments in configuration files, environments of processes.\n"
	if len(left) > 0 {
		text += "Left out, because they may hold values of rows or answers: " + strings.Join(left, ", ") + ".\n"
	}
	text += "Names of tables, columns, routes, services and files are kept.\n"
	if err := os.WriteFile(filepath.Join(dir, List), []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing the list of files: %w", err)
	}
	return nil
}

func meaning(name string) string {
	for _, m := range meanings {
		if strings.HasPrefix(name, m.name) {
			return m.says
		}
	}
	return ""
}

// Configs writes configuration files into a folder, redacted. The error joins those
// of files that cannot be read.
func Configs(dir string, files map[string][]string) error {
	var errs []error
	for service, paths := range files {
		for i, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				errs = append(errs, fmt.Errorf("reading the configuration of %s: %w", service, err))
				continue
			}
			name := fmt.Sprintf("config-%s-%d-%s", plain(service), i+1, plain(filepath.Base(path)))
			if err := os.WriteFile(filepath.Join(dir, name), []byte(Config(string(b))), 0o600); err != nil {
				return fmt.Errorf("writing a configuration: %w", err)
			}
		}
	}
	return errors.Join(errs...)
}

// plain keeps the characters of a name that are plain in a file's name.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, s)
}

// Add adds the profiles of an observation to the window.
func (w *Window) Add(profiles []iikanji.Profile) {
	for _, p := range profiles {
		switch p.Source {
		case iikanji.Access:
			w.Access = append(w.Access, p)
		case iikanji.Slow:
			w.Slow = append(w.Slow, p)
		}
	}
}
