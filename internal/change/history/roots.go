package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// RootsName is the file that maps the names of roots to folders of this machine. It
// is the only file that has their paths, and it is never committed.
const RootsName = "roots.json"

// rootsVersion is the version of roots.json; readers refuse a larger one.
const rootsVersion = 1

// A Root is a folder of this machine that the other files name by {root:NAME}.
type Root struct {
	Name string `json:"name"`
	Path string `json:"path"` // absolute, without a slash at its end
}

// rootsDoc is roots.json.
type rootsDoc struct {
	Version int    `json:"version"`
	Roots   []Root `json:"roots"`
}

// rootMark begins the name of a root in a file. In a text that has it already, it is
// written as rootLiteral.
const (
	rootMark    = "{root:"
	rootLiteral = "{root:}"
)

// roots are the known roots, the longest path first: a root may be in another one.
type roots []Root

// readRoots reads the roots of a history; a history without the file has none.
func readRoots(dir string) (roots, error) {
	var doc rootsDoc
	err := readJSON(filepath.Join(dir, RootsName), rootsVersion, &doc)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	for _, r := range doc.Roots {
		if r.Name == "" || r.Name != rootName(r.Name) || !isRoot(r.Path) {
			return nil, fmt.Errorf("reading %s: root %q with the path %q: want a name of letters, digits, dots and hyphens, and an absolute path", RootsName, r.Name, r.Path)
		}
	}
	return roots(nil).with(doc.Roots...), nil
}

// isRoot reports whether a path can be a root.
func isRoot(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == path && path != "/"
}

// with returns the roots with further ones, sorted.
func (rs roots) with(more ...Root) roots {
	all := slices.Concat(rs, more)
	slices.SortStableFunc(all, func(a, b Root) int { return len(b.Path) - len(a.Path) })
	return all
}

// rootName returns a name without characters that end a mark.
func rootName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_", r) {
			return r
		}
		return '-'
	}, s)
}

// freeName returns a name that no root has: name itself, or name with a number.
func (rs roots) freeName(name string) string {
	taken := func(name string) bool { return slices.ContainsFunc(rs, func(r Root) bool { return r.Name == name }) }
	free := name
	for n := 2; taken(free); n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}

// holds reports whether a path is a root or below one.
func (rs roots) holds(path string) bool {
	return slices.ContainsFunc(rs, func(r Root) bool { return r.Path == path || strings.HasPrefix(path, r.Path+"/") })
}

// NameRoots gives folders names, which stand for their paths in all files that are
// written from then on. A path keeps the first name that it was given. A name that
// another path has gets a number: files that were written before stay as they were
// meant.
func (h *History) NameRoots(named ...Root) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.nameRoots(named...)
}

func (h *History) nameRoots(named ...Root) error {
	if h.j == nil {
		return fmt.Errorf("naming the roots: %w", errNotWritable)
	}
	all := h.roots()
	for _, r := range named {
		if !isRoot(r.Path) || slices.ContainsFunc(all, func(o Root) bool { return o.Path == r.Path }) {
			continue
		}
		all = all.with(Root{all.freeName(rootName(r.Name)), r.Path})
	}
	if len(all) == len(h.roots()) {
		return nil
	}
	if err := writeJSON(filepath.Join(h.dir, RootsName), rootsDoc{rootsVersion, all}); err != nil {
		return err
	}
	h.known.Store(&all)
	return nil
}

// NamePlaces names the folder of each path that is below no root.
func (h *History) NamePlaces(paths ...string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.namePlaces(paths...)
}

func (h *History) namePlaces(paths ...string) error {
	for _, path := range paths {
		if !filepath.IsAbs(path) || h.roots().holds(path) {
			continue
		}
		dir := filepath.Dir(filepath.Clean(path))
		if err := h.nameRoots(Root{filepath.Base(dir), dir}); err != nil {
			return err
		}
	}
	return nil
}

// NameChanges names the folders of the places of all changes. Versions before
// encodedChange did not name them.
func (h *History) NameChanges() error {
	all, err := h.Changes()
	if err != nil {
		return err
	}
	for _, c := range all {
		if err := h.NamePlaces(placesOf(c)...); err != nil {
			return err
		}
	}
	return nil
}

// placesOf are the places of a change.
func placesOf(c *iikanji.Change) (paths []string) {
	for _, op := range slices.Concat(c.Do, c.Undo) {
		paths = append(paths, op.Place)
	}
	return paths
}

// roots are the known roots.
func (h *History) roots() roots {
	if p := h.known.Load(); p != nil {
		return *p
	}
	return nil
}

// Resolved returns an error if a place of a change is below a root that this history
// does not know, as in a clone: such a change cannot be applied or undone.
func Resolved(c *iikanji.Change) error {
	for _, place := range placesOf(c) {
		rest, is := strings.CutPrefix(place, rootMark)
		if !is {
			continue
		}
		name, _, _ := strings.Cut(rest, "}")
		return &hintError{fmt.Errorf("the path of the root %q is not known: %s", name, place),
			[]string{fmt.Sprintf("%s in the folder of the history gives each root its path; it is not committed: copy it from where the change was made", RootsName)}}
	}
	return nil
}

// Portable returns a file of this history as it may be committed: without paths of
// this machine. name is relative to the folder. Files that the present version wrote
// have none.
func (h *History) Portable(name string, data []byte) ([]byte, error) {
	form := textForm
	if isJSON(name) {
		form = jsonForm
	}
	if filepath.Base(name) == changeFile {
		if old, err := h.upgrade(data); old != nil || err != nil {
			return old, err
		}
	}
	return h.roots().encode(data, form, false), nil
}

// upgrade encodes a change.json of version 1, and returns nil for any other.
func (h *History) upgrade(data []byte) ([]byte, error) {
	doc := changeDoc{Change: new(iikanji.Change)}
	if err := json.Unmarshal(data, &doc); err != nil || doc.Version >= 2 {
		return nil, nil // a damaged file is committed as text
	}
	doc.Version = changeVersion
	data, err := marshal(doc)
	return h.roots().encode(data, jsonForm, true), err
}

func isJSON(name string) bool {
	ending := filepath.Ext(name)
	return ending == ".json" || ending == ".jsonl"
}

// Forms of a path in a file.
func textForm(path string) []string { return []string{path} }

// jsonForm returns a path as it is in a JSON string, with and without the escapes of
// HTML.
func jsonForm(path string) []string {
	html, err := json.Marshal(path)
	if err != nil {
		panic("BUG: a path has no JSON form: " + err.Error())
	}
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(path); err != nil {
		panic("BUG: a path has no JSON form: " + err.Error())
	}
	trim := func(b []byte) string { return strings.TrimSuffix(strings.TrimPrefix(string(b), `"`), `"`) }
	return slices.Compact([]string{trim(bytes.TrimSuffix(plain.Bytes(), []byte("\n"))), trim(html)})
}

// encode replaces the paths of roots by their names. With exact, decode restores the
// text; without, a mark in the text stays as it is.
func (rs roots) encode(text []byte, form func(string) []string, exact bool) []byte {
	type written struct{ path, mark string }
	var all []written
	for _, r := range rs {
		for _, path := range form(r.Path) {
			if bytes.Contains(text, []byte(path)) {
				all = append(all, written{path, rootMark + r.Name + "}"})
			}
		}
	}
	if len(all) == 0 && (!exact || !bytes.Contains(text, []byte(rootMark))) {
		return text
	}
	var b bytes.Buffer
	for len(text) > 0 {
		i := bytes.IndexAny(text, "/{")
		if i < 0 {
			break
		}
		b.Write(text[:i])
		text = text[i:]
		at := slices.IndexFunc(all, func(w written) bool {
			return bytes.HasPrefix(text, []byte(w.path)) && endsPath(text[len(w.path):])
		})
		switch {
		case at >= 0:
			b.WriteString(all[at].mark)
			text = text[len(all[at].path):]
		case exact && bytes.HasPrefix(text, []byte(rootMark)):
			b.WriteString(rootLiteral)
			text = text[len(rootMark):]
		default:
			b.WriteByte(text[0])
			text = text[1:]
		}
	}
	b.Write(text)
	return b.Bytes()
}

// endsPath reports whether the name of a folder ends before rest: /srv/shop is not
// the root of /srv/shop2.
func endsPath(rest []byte) bool {
	word := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 || c == '_' || c == '-'
	}
	if len(rest) > 1 && rest[0] == '.' {
		rest = rest[1:]
	}
	return len(rest) == 0 || !word(rest[0])
}

// decode is the inverse of encode. A name that is not known stays as it is.
func (rs roots) decode(text []byte, form func(string) []string) []byte {
	if !bytes.Contains(text, []byte(rootMark)) {
		return text
	}
	paths := map[string]string{"": rootMark}
	for _, r := range rs {
		paths[r.Name] = form(r.Path)[0]
	}
	var b bytes.Buffer
	for {
		before, rest, found := bytes.Cut(text, []byte(rootMark))
		b.Write(before)
		if !found {
			return b.Bytes()
		}
		name, after, ended := bytes.Cut(rest, []byte("}"))
		path, known := paths[string(name)]
		if !ended || !known {
			b.WriteString(rootMark)
			text = rest
			continue
		}
		b.WriteString(path)
		text = after
	}
}
