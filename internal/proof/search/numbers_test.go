package search_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// arithmetic are the numbers that decide nothing by themselves: none, one, the two sides of a
// comparison and the halves of an interval.
var arithmetic = []string{"0", "1", "2", "0.0", "1.0"}

// outside are the other numbers of the packages of a search that are not in the table of
// constants, by file and declaration, with the reason.
var outside = map[string]string{
	"attempt.go doubtOf 1.":               "nothing is known: as likely as not",
	"budget.go Took 10":                   "the unit of a constant",
	"forecast.go provablePower 0.8":       "announced only",
	"forecast.go provableTrials 400":      "announced only",
	"forecast.go provableMost 1.4":        "announced only",
	"forecast.go provableSteps 9":         "announced only",
	"forecast.go trials 1000":             "a score, whose scale cancels",
	"groups.go shareUp 1e-9":              "the rounding of a product",
	"timeplan.go aFew 10":                 "announced only",
	"../tune/aatrials.go pair 20":         "trials without a change, which are no search",
	"../tune/aatrials.go Bound 0.05":      "the error of an interval",
	"../tune/aatrials.go Bound 60":        "the steps of a bisection, to the last digit",
	"../tune/answers.go recordLoad 6":     "the bound of a load",
	"../tune/answers.go leastCompared 20": "derived from a share and its confidence",
	"../tune/measuring.go measured 100":   "percent",
	"../tune/screening.go endScreen 100":  "percent",
	"../trial/order.go MostRest 5":        "the bound of a rest, which is drawn at random",
}

// TestNumbers: a number that decides is a constant of the table, where a recorded state shows
// what it decides. The test sees literals only: not a named one or two, and no constant of
// another package.
func TestNumbers(t *testing.T) {
	used := map[string]bool{}
	for _, dir := range []string{".", "../tune", "../trial"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("files of %s: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || file == "constants.go" {
				continue
			}
			for _, at := range numbersOf(t, file) {
				if used[at] = true; outside[at] == "" {
					t.Errorf("%s: a number set by hand belongs into the table of constants, with a recorded state", at)
				}
			}
		}
	}
	for at := range outside {
		if !used[at] {
			t.Errorf("%s: there is no such number", at)
		}
	}
}

// numbersOf are the numbers of a file beyond arithmetic, with the declaration that has them.
func numbersOf(t *testing.T, file string) (all []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string, node ast.Node) {
		ast.Inspect(node, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if ok && (lit.Kind == token.INT || lit.Kind == token.FLOAT) && !slices.Contains(arithmetic, lit.Value) {
				all = append(all, filepath.ToSlash(file)+" "+name+" "+lit.Value)
			}
			return true
		})
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			in(d.Name.Name, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				name := ""
				switch s := spec.(type) {
				case *ast.ValueSpec:
					name = s.Names[0].Name
				case *ast.TypeSpec:
					name = s.Name.Name
				}
				in(name, spec)
			}
		}
	}
	return all
}
