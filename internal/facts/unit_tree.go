package facts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/host"
)

// mostUnitBytes is how much of one file is read: systemd's own limit of a line.
const mostUnitBytes = 1 << 20

// A unitTree is the folders of systemd's units, listed. Units are read when
// they are asked for. Names come from files and are only ever looked up in the
// listing, so that none leads out of the folders.
type unitTree struct {
	host    host.Host
	files   map[string]string    // path of a unit's file by its name, of the first folder that has one
	links   map[string]string    // what the file of a name is a link to, by its last element
	folders map[string][]unitDir // "app.service.d", "multi-user.target.wants": where they are, the first folder first
	others  map[string][]string  // aliases of a name
	loaded  map[string]*loadedUnit
}

// A unitDir is a folder that belongs to a unit.
type unitDir struct {
	rank int // of the folder that it is in
	path string
}

// A loadedUnit is a unit with its drop-ins.
type loadedUnit struct {
	iikanji.Unit
	there bool // it has a file of its own, masked or not
}

// openUnits lists folders. One that is not there has no units.
func openUnits(h host.Host, folders []string) (*unitTree, error) {
	t := &unitTree{host: h, files: map[string]string{}, links: map[string]string{}, folders: map[string][]unitDir{}, others: map[string][]string{}, loaded: map[string]*loadedUnit{}}
	for rank, folder := range folders {
		entries, err := h.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("listing systemd's units: %w", err)
		}
		for _, e := range entries {
			t.list(rank, filepath.Join(folder, e.Name()), e)
		}
	}
	for name := range t.links {
		if to := t.canonical(name); to != name {
			t.others[to] = append(t.others[to], name)
		}
	}
	for _, names := range t.others {
		slices.Sort(names)
	}
	return t, nil
}

func (t *unitTree) list(rank int, path string, e fs.DirEntry) {
	name := e.Name()
	if e.IsDir() {
		t.folders[name] = append(t.folders[name], unitDir{rank, path})
		return
	}
	if _, ok := t.files[name]; ok {
		return
	}
	t.files[name] = path
	to, err := t.host.Readlink(path)
	if base := filepath.Base(to); err == nil && base != name && base != templateOf(name) && filepath.Ext(base) == filepath.Ext(name) {
		t.links[name] = base
	}
}

// canonical follows aliases: links to another unit of the folders. A link out
// of them is a unit of its own, whatever the file is called there.
func (t *unitTree) canonical(name string) string {
	for range 8 { // a circle of links is no unit
		to, ok := t.links[name]
		if _, there := t.files[to]; !ok || !there {
			break
		}
		name = to
	}
	return name
}

// templateOf is "app@.service" of "app@1.service", or "".
func templateOf(name string) string {
	prefix, rest, ok := strings.Cut(name, "@")
	if ext := filepath.Ext(rest); ok && len(rest) > len(ext) {
		return prefix + "@" + ext
	}
	return ""
}

// load reads a unit with its drop-ins. What cannot be read is as if it were not there.
func (t *unitTree) load(name string) *loadedUnit {
	name = t.canonical(name)
	if u, ok := t.loaded[name]; ok {
		return u
	}
	u := &loadedUnit{Unit: iikanji.Unit{Name: name, Aliases: t.others[name]}}
	t.loaded[name] = u
	path, ok := t.files[name]
	if !ok {
		path, ok = t.files[templateOf(name)]
	}
	var all []iikanji.Setting
	if text, err := readUnit(t.host, path); ok && err == nil {
		u.there = true
		if text == "" { // a link to /dev/null, or nothing in it
			u.Masked = path
		}
		u.Files, all = append(u.Files, path), append(all, ParseUnit(path, text)...)
	}
	for _, path := range t.dropIns(u) {
		if text, err := readUnit(t.host, path); err == nil && text != "" {
			u.Files, all = append(u.Files, path), append(all, ParseUnit(path, text)...)
		}
	}
	u.Settings = effective(all)
	return u
}

// dropIns are the files that are read after a unit's own, by their names. Of
// two with one name that of the earlier folder counts, and within a folder that
// of the longer name of the unit.
func (t *unitTree) dropIns(u *loadedUnit) []string {
	var dirs []unitDir
	for _, name := range append([]string{u.Name}, u.Aliases...) {
		for _, n := range dropInNames(name) {
			dirs = append(dirs, t.folders[n+".d"]...)
		}
	}
	slices.SortStableFunc(dirs, func(a, b unitDir) int { return a.rank - b.rank })
	return confFiles(t.host, dirs)
}

// confFiles are the drop-ins of some folders, sorted by their names; of a name
// that several have, that of the first.
func confFiles(h host.Host, dirs []unitDir) []string {
	paths := map[string]string{}
	for _, d := range dirs {
		entries, err := h.ReadDir(d.path)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if name := e.Name(); strings.HasSuffix(name, ".conf") && paths[name] == "" {
				paths[name] = filepath.Join(d.path, name)
			}
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		out = append(out, paths[name])
	}
	return out
}

// dropInNames are the names whose ".d" a unit takes part in: its own, that of
// its template, those cut after each dash, and that of its type.
func dropInNames(name string) []string {
	ext := filepath.Ext(name)
	out := []string{name}
	if t := templateOf(name); t != "" {
		out = append(out, t)
	}
	stem := strings.TrimSuffix(name, ext)
	for i := len(stem) - 1; i > 0; i-- {
		if stem[i] == '-' && i < len(stem)-1 {
			out = append(out, stem[:i+1]+ext)
		}
	}
	return append(out, strings.TrimPrefix(ext, "."))
}

// readUnit reads a file; of /dev/null the text is empty. Nothing that could
// block or has no end is read.
func readUnit(h host.Host, path string) (string, error) {
	st, err := h.Stat(path)
	if err != nil {
		return "", err
	}
	if !st.Mode().IsRegular() {
		if real, err := h.RealPath(path); err == nil && real == os.DevNull {
			return "", nil
		}
		return "", fmt.Errorf("%s is no file", path)
	}
	f, err := h.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostUnitBytes))
	return string(text), err
}
