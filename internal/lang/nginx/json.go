package nginx

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A plainDirective is a directive in JSON: values instead of words, so comments and
// spacing are lost, and what an include includes instead of it.
type plainDirective struct {
	Name  string           `json:"name"`           // may be "": the quoted empty key of an entry of a map
	Args  []string         `json:"args,omitempty"` // without their quotes
	Block []plainDirective `json:"block,omitempty"`
	File  string           `json:"file,omitempty"`
	Line  int              `json:"line,omitempty"`
	Start int              `json:"start"`
	End   int              `json:"end"`
}

// MarshalJSON writes the directives as a list, each include replaced by the content of
// its files. This is the form of a configuration in a history.
func (c *Config) MarshalJSON() ([]byte, error) {
	if len(c.Files) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal(c.plain(c.Root()))
}

func (c *Config) plain(b *Block) []plainDirective {
	var out []plainDirective
	for _, d := range b.Items {
		if files, ok := c.Included(d); ok {
			for _, f := range files {
				out = append(out, c.plain(f.Root)...)
			}
			continue
		}
		p := plainDirective{Name: d.Name(), File: d.File, Line: d.Line, Start: d.Start, End: d.End}
		if len(d.Words) > 1 {
			p.Args = d.Args()
		}
		if d.Block != nil {
			p.Block = c.plain(d.Block)
		}
		out = append(out, p)
	}
	return out
}

// UnmarshalJSON reads what MarshalJSON wrote. The configuration has one file.
func (c *Config) UnmarshalJSON(text []byte) error {
	var all []plainDirective
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("decoding the configuration of nginx: %w", err)
	}
	root := &Block{}
	for _, p := range all {
		root.Items = append(root.Items, p.directive(""))
	}
	file := &File{Root: root}
	if len(all) > 0 {
		file.Path = all[0].File
	}
	*c = Config{Files: []*File{file}}
	return nil
}

// blocks are the directives that have a block even if it is empty: JSON does not tell.
var blocks = []string{"http", "events", "location", "if", "limit_except", "types", "map"}

// directive is the directive in a block of another one; around is the name of that.
func (p plainDirective) directive(around string) *Directive {
	d := New(p.Name, p.Args...)
	d.File, d.Line, d.Start, d.End = p.File, p.Line, p.Start, p.End
	if len(p.Block) > 0 || slices.Contains(blocks, p.Name) || p.Name == "server" && around == "http" {
		d.Block = &Block{}
	}
	for _, inner := range p.Block {
		d.Block.Items = append(d.Block.Items, inner.directive(p.Name))
	}
	return d
}
