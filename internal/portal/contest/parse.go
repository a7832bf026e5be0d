package contest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// MaxFile is the largest contest file, in bytes.
const MaxFile = 1 << 20

// A Mistake is one error in a file.
type Mistake struct {
	Line int // 0 for the file as a whole
	Text string
}

// An Error lists the mistakes in a contest file.
type Error struct {
	Path     string
	Mistakes []Mistake
}

func (e *Error) Error() string {
	var lines []string
	for _, m := range e.Mistakes {
		at := e.Path
		if m.Line > 0 {
			at += ":" + strconv.Itoa(m.Line)
		}
		lines = append(lines, at+": "+m.Text)
	}
	return strings.Join(lines, "\n")
}

// Parse reads a contest file. path is for messages. Mistakes are an *Error.
func Parse(path string, text []byte) (*Contest, error) {
	if len(text) > MaxFile {
		return nil, &Error{path, []Mistake{{Text: fmt.Sprintf("the file is larger than %d bytes", MaxFile)}}}
	}
	top := map[string]any{}
	if err := toml.Unmarshal(text, &top); err != nil {
		m := Mistake{Text: err.Error()}
		if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
			m.Line, _ = at.Position()
		}
		return nil, &Error{path, []Mistake{m}}
	}
	d := &decoder{lines: linesOf(text), stem: stemOf(path)}
	c := d.contest(top)
	sum := sha256.Sum256(text)
	c.Digest = hex.EncodeToString(sum[:])
	if len(d.mistakes) == 0 {
		d.rules(c)
	}
	if len(d.mistakes) > 0 {
		slices.SortStableFunc(d.mistakes, func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
		return nil, &Error{path, d.mistakes}
	}
	return c, nil
}

// stemOf is the id of a contest by the name of its file: that of cup.toml is cup.
func stemOf(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	return strings.ToLower(strings.TrimSuffix(name, ".toml"))
}

// linesOf is the line of each key by its path, as in "rounds.1.rules.standing". A table has
// the line of its header.
func linesOf(text []byte) map[string]int {
	x := &indexer{lines: map[string]int{}, count: map[string]int{}}
	x.parser.Reset(text)
	table := ""
	for x.parser.NextExpression() {
		e := x.parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = x.header(e)
		case unstable.KeyValue:
			x.pair(table, e)
		}
	}
	return x.lines
}

// An indexer notes lines of keys.
type indexer struct {
	parser unstable.Parser
	lines  map[string]int
	count  map[string]int // elements of each array of tables
}

func (x *indexer) line(n *unstable.Node) int {
	if n.Raw.Length == 0 {
		return 0
	}
	return x.parser.Shape(n.Raw).Start.Line
}

// header is the path of a table's header, as in "rounds.2.rules".
func (x *indexer) header(e *unstable.Node) (path string) {
	for it := e.Key(); it.Next(); {
		path = join(path, string(it.Node().Data))
		if it.IsLast() && e.Kind == unstable.ArrayTable {
			x.count[path]++
		}
		if n := x.count[path]; n > 0 {
			path = join(path, strconv.Itoa(n))
		}
		if _, known := x.lines[path]; !known {
			x.lines[path] = x.line(it.Node())
		}
	}
	return path
}

// pair notes a key and the keys of inline tables in its value.
func (x *indexer) pair(path string, e *unstable.Node) {
	for it := e.Key(); it.Next(); {
		path = join(path, string(it.Node().Data))
		x.lines[path] = x.line(it.Node())
	}
	x.inside(path, e.Value())
}

func (x *indexer) inside(path string, v *unstable.Node) {
	switch v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			x.pair(path, it.Node())
		}
	case unstable.Array:
		n := 0
		for it := v.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				n++
				x.inside(join(path, strconv.Itoa(n)), it.Node())
			}
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
