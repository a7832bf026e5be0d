package lever

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestArena runs the levers over the app of a contest until nothing changes any
// more: they fire at the known places, and the app compiles and passes go vet.
func TestArena(t *testing.T) {
	const files = "../../arenas/isucondition/files/"
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(files+"_go")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := os.Rename(filepath.Join(dir, name+".txt"), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	schema, err := os.ReadFile(files + "sql/0_Schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	fixed := map[string]int{}
	for range 4 {
		res, err := Run(context.Background(), dir, []string{"./..."}, Schema(string(schema)), nil)
		if err != nil || len(res.Problems) > 0 {
			t.Fatal(err, res)
		}
		var fixes []Fix
		for _, h := range res.Hits {
			if h.Code > "APP205" || h.Proof != Proven || h.Promise != NoPromise {
				continue
			}
			if _, err := Apply(res.Files, append(slices.Clone(fixes), h.Variants[0])); err == nil {
				fixes = append(fixes, h.Variants[0])
				fixed[fmt.Sprintf("%s %s %s", h.Code, filepath.Base(h.File), h.Func)]++
			}
		}
		after, err := Apply(res.Files, fixes)
		if err != nil {
			t.Fatal(err)
		}
		if len(after) == 0 {
			break
		}
		for name, text := range after {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{
		"APP201 trend.go (*app).trendOf", "APP203 isu.go (*app).getIsu", "APP203 isu.go (*app).getIsuList", "APP203 isu.go (*app).postIsu",
		"APP203 trend.go (*app).trendOf", "APP204 condition.go (*app).postIsuCondition", "APP205 isu.go (*app).getIsuList", "APP205 trend.go (*app).trendOf",
	}
	if got := slices.Sorted(maps.Keys(fixed)); !slices.Equal(got, want) {
		t.Errorf("fixed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, args := range [][]string{{"build", "-o", os.DevNull, "."}, {"vet", "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", args[0], err, out)
		}
	}
}
