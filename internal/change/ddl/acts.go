package ddl

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// indexActs are the acts that this kind can plan.
var indexActs = []change.DeclaredAct{
	change.Declare[addArgs](change.Act{
		Name: "add index", Help: "add an index, or replace one by it",
		Belief: change.Belief{Chance: 0.6, Gain: 0.08}, Worth: change.WorthIndex, Lasts: change.LastsInSchemaFile,
	}),
	change.Declare[columnArgs](change.Act{
		Name: "add column", Help: "add a column that the server computes from others, with an index",
		Belief: change.Belief{Chance: 0.4, Gain: 0.05}, Worth: change.WorthState, Lasts: change.LastsInSchemaFile,
	}),
	change.Declare[dropArgs](change.Act{
		Name: "drop index", Help: "drop an index",
		Belief: change.Belief{Chance: 0.3, Gain: 0.02}, Worth: change.WorthIndex, Lasts: change.LastsInSchemaFile, Simplifies: true,
	}),
}

// tableArgs are the arguments that all acts share.
type tableArgs struct {
	Schema plainName `arg:"schema,required" help:"the database"`
	Table  plainName `arg:"table,required" help:"the table"`
	Into   string    `arg:"into" oneof:"schema file" help:"schema file, for an index that initialize would wipe out"`
	File   string    `arg:"file" help:"the schema file, where several create the table"`
}

func (a *tableArgs) common() *tableArgs { return a }

// addArgs are the arguments of "add index".
type addArgs struct {
	tableArgs
	Columns string `arg:"columns,required" help:"key parts as DDL has them: a, b DESC, c(10)"`
	Index   string `arg:"index" oneof:"btree,spatial" default:"btree" help:"btree or spatial"`
	Name    string `arg:"name" help:"the new index's name"`
	Drop    string `arg:"drop" help:"an index that the new one replaces, in the same statement"`
	SRID    string `arg:"srid" help:"the SRID that a spatial column must declare"`
	NotNull string `arg:"not null" oneof:"true" help:"true: a finding's remark that a spatial column must become NOT NULL first, which this act does not do"`
}

// dropArgs are the arguments of "drop index".
type dropArgs struct {
	tableArgs
	Name string `arg:"name,required" help:"the index"`
}

// An indexAct holds the decoded arguments of an act.
type indexAct interface {
	common() *tableArgs
	alter(d definition) (alter, error)
	onFile(t fileTable) (fileAlter, error)
}

func match(r iikanji.Remedy) (change.Act, indexAct, error) {
	return change.MatchAct[indexAct](indexActs, r)
}

// Help implements change.Kind.
func (Kind) Help() string {
	return "Indexes, and computed columns for them. The target is the database's service. Tried on an empty copy first; kept only if it is still there after the benchmark's initialize. Of a service of SQLite files: in all of its files, in the originals that initialize copies and in the schema file."
}

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(indexActs) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	act, _, err := match(r)
	return act, err
}

// A plainName is the name of a schema or a table. It has no characters with a
// meaning in an op's place, which is split at "/" and ".".
type plainName string

// mostPlain is the longest name of a table that the server takes, in characters.
const mostPlain = 64

// isPlain reports whether a text is a plainName: letters, numbers, "_", "$" and "-". A
// regular expression for it takes 2.5 MB, at every start of iikanji.
func isPlain(name string) bool {
	other := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && r != '$' && r != '-'
	}
	n := utf8.RuneCountInString(name)
	return n >= 1 && n <= mostPlain && strings.IndexFunc(name, other) < 0
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *plainName) UnmarshalText(b []byte) error {
	if !isPlain(string(b)) {
		return errors.New("want plain names of a schema and a table")
	}
	*n = plainName(b)
	return nil
}

func alterFor(before string, act indexAct) (alter, error) {
	d, ok := parseDefinition(before)
	if !ok {
		return alter{}, fmt.Errorf("the definition is not understood (a view?):\n%s", before)
	}
	return act.alter(d)
}

func (a *dropArgs) alter(d definition) (alter, error) { return dropIndex(d, a.Name) }
