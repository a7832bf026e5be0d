package nginxconf

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A source is one file of the configuration.
type source struct {
	path string
	old  []byte
	root *block
}

// A conf is a whole configuration: the main file, then what it includes, in
// the order in which nginx reads it.
type conf struct {
	dir   string // of the main file: includes are relative to it
	files []*source
}

// maxFiles bounds includes that include each other.
const maxFiles = 1000

// load reads the main file and everything it includes. read returns nil for a
// file that is not there.
func load(path string, read func(string) ([]byte, error)) (*conf, error) {
	c := &conf{dir: filepath.Dir(path)}
	if err := c.add(path, read); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *conf) add(path string, read func(string) ([]byte, error)) error {
	if c.file(path) != nil {
		return nil // included in two places: one source
	}
	if len(c.files) == maxFiles {
		return fmt.Errorf("%s: more than %d files are included", path, maxFiles)
	}
	text, err := read(path)
	if err != nil {
		return err
	}
	if text == nil {
		return fmt.Errorf("%s: no such file", path)
	}
	root, err := parse(path, string(text))
	if err != nil {
		return err
	}
	c.files = append(c.files, &source{path, text, root})
	return eachDirective(root, func(d *directive) error {
		for _, p := range c.included(d) {
			if err := c.add(p, read); err != nil {
				return err
			}
		}
		return nil
	})
}

// root is the main file's block.
func (c *conf) root() *block { return c.files[0].root }

func (c *conf) file(path string) *source {
	i := slices.IndexFunc(c.files, func(s *source) bool { return s.path == path })
	if i < 0 {
		return nil
	}
	return c.files[i]
}

// included lists the files that an include directive names.
func (c *conf) included(d *directive) []string {
	if d.name() != "include" || d.body != nil || len(d.words) != 2 {
		return nil
	}
	pattern := d.arg(0)
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(c.dir, pattern)
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{filepath.Clean(pattern)}
	}
	paths, err := filepath.Glob(pattern) // sorted, as nginx's; a dot file needs a dot in both
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(paths, func(p string) bool { return strings.HasPrefix(filepath.Base(p), ".") })
}

// eachDirective walks a block and all blocks inside.
func eachDirective(b *block, f func(*directive) error) error {
	for _, d := range b.items {
		if err := f(d); err != nil {
			return err
		}
		if d.body != nil {
			if err := eachDirective(d.body, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// A place is a directive and where it stands: its block, and the directives
// around it, outermost first.
type place struct {
	*directive
	in     *block
	around []*directive
}

// find lists directives of a name, in reading order, through includes, with
// the names of the blocks around them, as in find("location", "http", "server").
func (c *conf) find(name string, around ...string) []place {
	var found []place
	c.walk(c.files[0].root, nil, func(p place) {
		if p.name() == name && slices.EqualFunc(p.around, around, func(d *directive, n string) bool { return d.name() == n }) {
			found = append(found, p)
		}
	})
	return found
}

func (c *conf) walk(b *block, around []*directive, f func(place)) {
	if len(around) > maxDepth {
		return
	}
	for _, d := range b.items {
		f(place{d, b, around})
		for _, p := range c.included(d) {
			if src := c.file(p); src != nil && src.root != b {
				c.walk(src.root, around, f)
			}
		}
		if d.body != nil {
			c.walk(d.body, append(slices.Clip(around), d), f)
		}
	}
}

// reads counts how often nginx reads each file that is included.
func (c *conf) reads() map[*source]int {
	n := map[*source]int{}
	c.walk(c.root(), nil, func(p place) {
		for _, path := range c.included(p.directive) {
			if src := c.file(path); src != nil {
				n[src]++
			}
		}
	})
	return n
}

// get finds the directives of a name right inside d, through includes.
func (c *conf) get(d *directive, name string) []place {
	var found []place
	c.walk(d.body, nil, func(p place) {
		if len(p.around) == 0 && p.name() == name {
			found = append(found, p)
		}
	})
	return found
}

// flat is the configuration as one text, each include replaced by what it
// includes, so that an edit of any file can be tested without touching one.
func (c *conf) flat() string {
	var out strings.Builder
	c.flatten(&out, c.files[0].root, 0)
	return out.String()
}

func (c *conf) flatten(out *strings.Builder, b *block, depth int) {
	if depth > maxDepth {
		return
	}
	out.WriteString(b.lua)
	for _, d := range b.items {
		if d.name() == "include" && d.body == nil {
			out.WriteString(d.words[0].pre)
			for _, p := range c.included(d) {
				if src := c.file(p); src != nil {
					c.flatten(out, src.root, depth+1)
					out.WriteByte('\n')
				}
			}
			continue
		}
		one := block{items: []*directive{{words: d.words, tail: d.tail}}}
		text := one.String()
		if d.body == nil {
			out.WriteString(text)
			continue
		}
		out.WriteString(strings.TrimSuffix(text, ";") + "{")
		c.flatten(out, d.body, depth+1)
		out.WriteByte('}')
	}
	out.WriteString(b.end)
}

// changed lists the files that an edit has changed.
func (c *conf) changed() []*source {
	var files []*source
	for _, f := range c.files {
		if !bytes.Equal([]byte(f.root.String()), f.old) {
			files = append(files, f)
		}
	}
	return files
}
