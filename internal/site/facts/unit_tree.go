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

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// mostUnitBytes limits the bytes read of one file; it is systemd's limit for a line.
const mostUnitBytes = 1 << 20

// A unitTree is the listing of systemd's unit folders. Units are read on demand.
// Names come from untrusted files. They are only looked up in the listing, so that
// no name leads out of the folders.
type unitTree struct {
	host    host.Host
	files   map[string]string    // path of a unit's file by its name, in the first folder that has it
	links   map[string]string    // last path element of the link target, by name of the link
	folders map[string][]unitDir // paths of "app.service.d", "multi-user.target.wants", in order of precedence
	others  map[string][]string  // aliases of a name
	loaded  map[string]*loadedUnit
}

// A unitDir is a folder that belongs to a unit.
type unitDir struct {
	rank int // precedence of the parent folder, 0 is the highest
	path string
}

// A loadedUnit is a unit with its drop-ins.
type loadedUnit struct {
	fact.Unit
	there bool // the unit has a file, masked or not
}

// openUnits lists folders. A missing folder has no units.
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

// canonical resolves aliases: links to another unit in the folders. A link to a
// file outside the folders is a separate unit, regardless of that file's name.
func (t *unitTree) canonical(name string) string {
	for range 8 { // a cycle of links is not a unit
		to, ok := t.links[name]
		if _, there := t.files[to]; !ok || !there {
			break
		}
		name = to
	}
	return name
}

// templateOf is "app@.service" for "app@1.service", or "".
func templateOf(name string) string {
	prefix, rest, ok := strings.Cut(name, "@")
	if ext := filepath.Ext(rest); ok && len(rest) > len(ext) {
		return prefix + "@" + ext
	}
	return ""
}

// load reads a unit with its drop-ins. A file that cannot be read counts as missing.
func (t *unitTree) load(name string) *loadedUnit {
	name = t.canonical(name)
	if u, ok := t.loaded[name]; ok {
		return u
	}
	u := &loadedUnit{Unit: fact.Unit{Name: name, Aliases: t.others[name]}}
	t.loaded[name] = u
	path, ok := t.files[name]
	if !ok {
		path, ok = t.files[templateOf(name)]
	}
	var all []fact.Setting
	if text, err := readUnit(t.host, path); ok && err == nil {
		u.there = true
		if text == "" { // a link to /dev/null, or an empty file
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

// dropIns are the files that are read after a unit's own file, sorted by name. Of
// two files with the same name, the one in the earlier folder counts; within one
// folder, the one for the longer name of the unit.
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

// confFiles are the drop-ins in folders, sorted by name. If several folders have a
// name, the first one counts.
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

// dropInNames are the names whose ".d" folders apply to a unit: its own name, that of
// its template, its name cut off after each dash, and its type.
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

// readUnit reads a file; the text of /dev/null is empty. It reads no file that
// could block or has no end.
func readUnit(h host.Host, path string) (string, error) {
	st, err := h.Stat(path)
	if err != nil {
		return "", err
	}
	if !st.Mode().IsRegular() {
		if real, err := h.RealPath(path); err == nil && real == os.DevNull {
			return "", nil
		}
		return "", fmt.Errorf("%s is not a file", path)
	}
	f, err := h.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostUnitBytes))
	return string(text), err
}
