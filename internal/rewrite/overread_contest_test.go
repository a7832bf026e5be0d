package rewrite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// TestContestOverreads checks what APP213 and APP214 find in the app of an arena:
// the history that is read for one day, the page that is cut from the whole
// history, and the share of reports that is dropped.
func TestContestOverreads(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../arenas/isucondition/files/_go")); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"go.mod", "go.sum"} {
		if err := os.Rename(filepath.Join(dir, f+".txt"), filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	res, err := Run(t.Context(), dir, []string{"."}, Facts{}, []*Lever{&overread, &throttlingConstant})
	if err != nil || len(res.Problems) > 0 {
		t.Fatal(res, err)
	}
	type found struct {
		code, function string
		proof          Proof
		promise        Promise
		variants       int
	}
	var got []found
	for _, h := range res.Hits {
		got = append(got, found{h.Code, h.Func, h.Proof, h.Promise, len(h.Variants)})
	}
	want := []found{
		{"APP214", "(*app).postIsuCondition", Tested, Behaviour, 2},
		{"APP213", "(*app).conditions", Proven, RowOrder, 1},
		{"APP213", "graphHours", Tested, TestedOnly, 1},
		{"APP214", "newApp", Tested, Behaviour, 2},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, h := range res.Hits {
		for _, fix := range h.Variants {
			after, err := goapp.Apply(res.Files, []goapp.Fix{fix})
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range after {
				if h.Code == "APP213" {
					compareGolden(t, filepath.Join("testdata", "contest", filepath.Base(name)+".golden"), text)
				}
			}
		}
	}
}
