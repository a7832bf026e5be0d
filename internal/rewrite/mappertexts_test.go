package rewrite

import (
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// chains are calls of gorm and xorm, each with a statement that it sends.
var chains = map[string]string{
	"ByKey":       "SELECT * FROM `boats` WHERE `boats`.`id` = ? AND `boats`.`deleted_at` IS NULL ORDER BY `boats`.`id` LIMIT ?",
	"ByKeyOlder":  "SELECT * FROM `boats` WHERE `boats`.`id` = ? AND `boats`.`deleted_at` IS NULL ORDER BY `boats`.`id` LIMIT 1",
	"ByText":      "SELECT * FROM `berth` WHERE quay = ? ORDER BY `berth`.`number` LIMIT ?",
	"Several":     "SELECT * FROM `berth` WHERE quay = ? AND (width > ? OR deep = ?) ORDER BY width desc",
	"Fields":      "SELECT * FROM `berth` WHERE `berth`.`quay_code` = ? LIMIT ?",
	"Map":         "SELECT * FROM `berth` WHERE `depth` = ? AND `quay_code` = ?",
	"Counts":      "SELECT count(*) FROM `berth` WHERE quay = ?",
	"Plucks":      "SELECT `number` FROM `berth` WHERE quay = ?",
	"Tables":      "SELECT count(*) FROM `stays` WHERE boat_id = ?",
	"Unscoped":    "SELECT * FROM `boats` WHERE name = ?",
	"XormID":      "SELECT `id`, `name`, `owner_id` FROM `skipper` WHERE `id`=? LIMIT 1",
	"XormWhere":   "SELECT `id`, `name`, `owner_id` FROM `skipper` WHERE (owner_id = ?) AND (name <> ?) ORDER BY name",
	"XormBean":    "SELECT `id`, `name`, `owner_id` FROM `skipper` WHERE `owner_id`=? LIMIT 1",
	"XormCount":   "SELECT count(*) FROM `skipper` WHERE owner_id = ?",
	"List":        "", // the length of the list is in the text
	"Computed":    "",
	"NamedValues": "",
	"Scopes":      "",
}

// TestMapperTexts: the statements that chains of gorm and xorm send, as far as the source
// shows them.
func TestMapperTexts(t *testing.T) {
	root, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	p := loadGoldens(t, root, nil, []string{"mappertexts"})["mappertexts"]
	found := map[string][]string{}
	a := &analysis.Analyzer{Name: "mappertexts", Doc: "list the statements of mappers", Requires: []*analysis.Analyzer{indexAnalyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			for _, s := range mapperStatements(indexOf(pass)) {
				name := funcNameAt(p, s)
				found[name] = append(found[name], s.Text)
			}
			return nil, nil
		}}
	if _, err := checker.Analyze([]*analysis.Analyzer{a}, []*packages.Package{p}, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range chains {
		if want == "" && len(found[name]) > 0 || want != "" && !slices.Contains(found[name], want) {
			t.Errorf("%s: %q, want %q", name, found[name], want)
		}
	}
}

// funcNameAt is the function around the line of a statement.
func funcNameAt(p *packages.Package, s Statement) string {
	for _, f := range p.Syntax {
		for _, d := range f.Decls {
			if p.Fset.Position(d.Pos()).Line <= s.Line && s.Line <= p.Fset.Position(d.End()).Line {
				return funcName(p, d.Pos())
			}
		}
	}
	return ""
}
