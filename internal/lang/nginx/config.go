package nginx

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Files is where a configuration is loaded from.
type Files interface {
	// Read returns the content of a file, and an error if there is none.
	Read(path string) ([]byte, error)
	// Glob lists the paths that a pattern of Go's path.Match matches, in any
	// order.
	Glob(pattern string) ([]string, error)
}

// A File is one file of a configuration.
type File struct {
	Path string
	Text string // as it was read
	Root *Block // with the edits since
}

// A Config is a main file and the files that it includes, in the order in which
// nginx reads them. A file that is included in several places is there once.
type Config struct {
	Files    []*File
	dir      string             // of the main file: includes are relative to it
	includes map[string][]*File // by the argument of the include
}

// Limits of includes.
const (
	maxFiles = 1000
	// maxExpanded bounds the bytes that are read when each include is followed,
	// a file counting as minCost at least: in a chain of files that include the
	// next one twice, the number of reads doubles with each file.
	maxExpanded = 256 << 20
	minCost     = 4 << 10
)

// Load reads the main file and everything that it includes.
func Load(main string, files Files) (*Config, error) {
	l := &loader{files: files, cost: map[*File]int{}, Config: &Config{dir: path.Dir(main), includes: map[string][]*File{}}}
	if _, err := l.file(main); err != nil {
		return nil, err
	}
	return l.Config, nil
}

// A loader is a Config that is being loaded.
type loader struct {
	*Config
	files Files
	// cost is how many bytes are read when a file and its includes are read; 0
	// while the file is being loaded.
	cost map[*File]int
}

// file loads a file and its includes, unless it is loaded already.
func (l *loader) file(name string) (*File, error) {
	if f := l.File(name); f != nil {
		if l.cost[f] == 0 {
			return nil, fmt.Errorf("%s: the file includes itself", name)
		}
		return f, nil
	}
	if len(l.Files) == maxFiles {
		return nil, fmt.Errorf("%s: more than %d files are included", name, maxFiles)
	}
	text, err := l.files.Read(name)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	root, err := Parse(name, string(text))
	if err != nil {
		return nil, err
	}
	f := &File{name, string(text), root}
	l.Files = append(l.Files, f)
	cost := max(len(text), minCost)
	err = eachDirective(root, func(d *Directive) error {
		included, err := l.include(d)
		for _, in := range included {
			cost += l.cost[in]
		}
		if err == nil && cost > maxExpanded {
			err = fmt.Errorf("%s:%d: the includes add up to more than %d bytes", d.File, d.Line, maxExpanded)
		}
		return err
	})
	l.cost[f] = cost
	return f, err
}

// include loads what a directive includes, if it is an include.
func (l *loader) include(d *Directive) ([]*File, error) {
	if !isInclude(d) {
		return nil, nil
	}
	name := d.Arg(0)
	full := name
	if !path.IsAbs(full) {
		full = path.Join(l.dir, full)
	}
	paths := []string{path.Clean(full)}
	if isPattern(name) {
		var err error
		if paths, err = expand(full, l.files); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", d.File, d.Line, err)
		}
	}
	var found []*File
	for _, p := range paths {
		f, err := l.file(p)
		if err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	l.includes[name] = found
	return found, nil
}

func isInclude(d *Directive) bool {
	return d.Block == nil && len(d.Words) == 2 && d.Name() == "include"
}

// eachDirective calls f for the directives of a block and of all blocks inside.
func eachDirective(b *Block, f func(*Directive) error) error {
	for _, d := range b.Items {
		if err := f(d); err != nil {
			return err
		}
		if d.Block != nil {
			if err := eachDirective(d.Block, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// Root is the main file's block.
func (c *Config) Root() *Block { return c.Files[0].Root }

// File is the file of a path, or nil.
func (c *Config) File(path string) *File {
	i := slices.IndexFunc(c.Files, func(f *File) bool { return f.Path == path })
	if i < 0 {
		return nil
	}
	return c.Files[i]
}

// Included lists the files that a directive includes. It is false unless the
// directive is an include that was loaded; a pattern may match no file.
func (c *Config) Included(d *Directive) ([]*File, bool) {
	if !isInclude(d) {
		return nil, false
	}
	files, ok := c.includes[d.Arg(0)]
	return files, ok
}

// included is [Config.Included] where it does not matter whether there is an include.
func (c *Config) included(d *Directive) []*File {
	files, _ := c.Included(d)
	return files
}

// A Place is a directive and where it stands: its block, and the directives
// around it, outermost first. An included directive stands where its include
// stands.
type Place struct {
	*Directive
	In     *Block
	Around []*Directive
}

// Within reports whether the place is directly inside a block of the name, in
// the main context; "" is the main context itself.
func (p Place) Within(context string) bool {
	if context == "" {
		return len(p.Around) == 0
	}
	return len(p.Around) == 1 && p.Around[0].Name() == context
}

// Walk calls f for each directive of a block, of all blocks inside and of what
// they include, in reading order. around are the directives around the block,
// which may be nil.
func (c *Config) Walk(b *Block, around []*Directive, f func(Place)) {
	if b == nil || len(around) > maxDepth {
		return
	}
	for _, d := range b.Items {
		f(Place{d, b, around})
		for _, in := range c.included(d) {
			c.Walk(in.Root, around, f)
		}
		if d.Block != nil {
			c.Walk(d.Block, append(slices.Clip(around), d), f)
		}
	}
}

// Find lists directives of a name in reading order. around are the names of the
// blocks around them, as in Find("location", "http", "server").
func (c *Config) Find(name string, around ...string) []Place {
	var found []Place
	c.Walk(c.Root(), nil, func(p Place) {
		if p.Name() == name && slices.EqualFunc(p.Around, around, func(d *Directive, n string) bool { return d.Name() == n }) {
			found = append(found, p)
		}
	})
	return found
}

// Get lists the directives of a name directly inside a block directive, through
// includes.
func (c *Config) Get(d *Directive, name string) []Place {
	var found []Place
	c.each(d.Block, func(in *Block, d *Directive) {
		if d.Name() == name {
			found = append(found, Place{d, in, nil})
		}
	})
	return found
}

// each calls f for the directives directly inside a block, through includes, each
// with the block in which it is written.
func (c *Config) each(b *Block, f func(*Block, *Directive)) {
	if b == nil {
		return
	}
	for _, d := range b.Items {
		f(b, d)
		for _, in := range c.included(d) {
			c.each(in.Root, f)
		}
	}
}

// Reads counts how often nginx reads each included file.
func (c *Config) Reads() map[*File]int {
	n := map[*File]int{}
	c.Walk(c.Root(), nil, func(p Place) {
		for _, f := range c.included(p.Directive) {
			n[f]++
		}
	})
	return n
}

// Changed lists the files that an edit has changed.
func (c *Config) Changed() []*File {
	return slices.DeleteFunc(slices.Clone(c.Files), func(f *File) bool { return f.Root.String() == f.Text })
}

// Flat is the configuration as one text, with each include replaced by what it
// includes, so that nginx can test edits of any file without writing them.
func (c *Config) Flat() string {
	var out strings.Builder
	c.flatten(&out, c.Root())
	return out.String()
}

func (c *Config) flatten(out *strings.Builder, b *Block) {
	out.WriteString(b.Lua)
	for _, d := range b.Items {
		if isInclude(d) {
			out.WriteString(d.Words[0].Before)
			for _, in := range c.included(d) {
				c.flatten(out, in.Root)
				out.WriteByte('\n')
			}
			continue
		}
		d.head(out)
		if d.Block == nil {
			out.WriteByte(';')
			continue
		}
		out.WriteByte('{')
		c.flatten(out, d.Block)
		out.WriteByte('}')
	}
	out.WriteString(b.Tail)
}
