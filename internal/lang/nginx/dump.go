package nginx

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// dumpMark begins the line before each file in the output of nginx -T; a colon
// ends that line.
const dumpMark = "# configuration file "

// A Dump is what nginx -T printed: the files that nginx has read, the main file
// first. It implements Files. A file that is not in it is read as empty: a dump
// may be incomplete.
type Dump []DumpFile

// A DumpFile is one file of a dump.
type DumpFile struct{ Path, Text string }

// SplitDump splits the output of nginx -T into its files. nginx adds a line
// feed to each; it is removed, so that Text has the bytes of the file. Paths are
// in their shortest form; a file that nginx has read by two names is there once.
func SplitDump(out string) Dump {
	var dump Dump
	seen := map[string]bool{}
	from := 0 // of the current file's text
	end := func(at int) {
		if len(dump) > 0 {
			dump[len(dump)-1].Text = strings.TrimSuffix(out[from:at], "\n")
		}
	}
	for at := 0; at < len(out); {
		next := len(out)
		if n := strings.IndexByte(out[at:], '\n'); n >= 0 {
			next = at + n + 1
		}
		line := strings.TrimRight(out[at:next], "\r\n")
		if name, ok := strings.CutPrefix(line, dumpMark); ok && strings.HasSuffix(name, ":") {
			end(at)
			dump = append(dump, DumpFile{Path: path.Clean(strings.TrimSuffix(name, ":"))})
			from = next
		}
		at = next
	}
	end(len(out))
	return slices.DeleteFunc(dump, func(f DumpFile) bool {
		if seen[f.Path] {
			return true
		}
		seen[f.Path] = true
		return false
	})
}

// Config is the configuration of the dump.
func (d Dump) Config() (*Config, error) {
	if len(d) == 0 {
		return nil, errors.New("there is no file in it")
	}
	return Load(d[0].Path, d)
}

// Read implements Files.
func (d Dump) Read(name string) ([]byte, error) {
	for _, f := range d {
		if f.Path == name {
			return []byte(f.Text), nil
		}
	}
	return nil, nil
}

// Glob implements Files.
func (d Dump) Glob(pattern string) ([]string, error) {
	var found []string
	for _, f := range d {
		if matches(pattern, f.Path) {
			found = append(found, f.Path)
		}
	}
	return found, nil
}
