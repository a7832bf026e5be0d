package rewrite

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

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestArena runs the levers over the app of a contest until nothing changes any
// more: they fire at the known places, and the app compiles and passes go vet.
func TestArena(t *testing.T) {
	tier.Slow(t)
	dir, facts := arenaSource(t, "isucondition", "sql/0_Schema.sql")
	fixed := rewriteArena(t, dir, facts, func(h Hit) bool { return h.Code <= "APP205" && h.Proof == Proven && h.Promise == NoPromise })
	want := []string{
		"APP201 trend.go (*app).trendOf", "APP203 isu.go (*app).getIsu", "APP203 isu.go (*app).getIsuList", "APP203 isu.go (*app).postIsu",
		"APP203 trend.go (*app).trendOf", "APP204 condition.go (*app).postIsuCondition", "APP205 isu.go (*app).getIsuList", "APP205 trend.go (*app).trendOf",
	}
	if !slices.Equal(fixed, want) {
		t.Errorf("fixed\n%s\nwant\n%s", strings.Join(fixed, "\n"), strings.Join(want, "\n"))
	}
	buildArena(t, dir)
}

// TestArenaFiles does so for an app with SQLite files, with the rewrites that answers
// must test. A query cache is possible afterwards: the opening of the files is still
// known to be one of files.
func TestArenaFiles(t *testing.T) {
	tier.Slow(t)
	dir, facts := arenaSource(t, "isuports", "sql/admin/10_schema.sql", "sql/tenant/10_schema.sql")
	fixed := rewriteArena(t, dir, facts, func(h Hit) bool { return h.Code != "APP214" && h.Promise != Freshness })
	want := []string{
		"APP203 admin.go (*app).tenantYen", "APP203 billing.go (*app).organizerBilling", "APP203 organizer.go (*app).organizerPlayers",
		"APP203 organizer.go answerCompetitions", "APP203 player.go (*app).playerDetail", "APP203 player.go readRanks",
		"APP204 score.go replaceScores", "APP205 player.go (*app).playerDetail", "APP205 player.go readRanks", "APP205 score.go (*app).readScores",
		"APP217 admin.go (*app).dispenseID", "APP229 tenantdb.go (*app).connectTenant",
	}
	if !slices.Equal(fixed, want) {
		t.Errorf("fixed\n%s\nwant\n%s", strings.Join(fixed, "\n"), strings.Join(want, "\n"))
	}
	score, err := os.ReadFile(filepath.Join(dir, "score.go"))
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, filepath.Join("testdata", "arenas", "isuports_score.go.golden"), score)
	use, err := Cache(t.Context(), dir, "isuports/sqlcache", "")
	if err != nil || len(use.Blockers) > 0 || use.Opens != 1 {
		t.Errorf("query cache: %v, %+v", err, use)
	}
	buildArena(t, dir)
}

// TestArenaUpdates: an app that sends an UPDATE of two tables for each score, and locks the row of
// each course, does both for many rows at once.
func TestArenaUpdates(t *testing.T) {
	tier.Slow(t)
	dir, facts := arenaSource(t, "isucholar", "sql/1_schema.sql")
	fixed := rewriteArena(t, dir, facts, func(h Hit) bool { return h.Code == "APP204" || h.Code == "APP205" && h.Promise == Isolation })
	want := []string{
		"APP204 announcement.go (*app).postAnnouncement", "APP204 assignment.go (*app).putScores", "APP204 registration.go (*app).putRegisteredCourses",
		"APP205 registration.go registrable",
	}
	if !slices.Equal(fixed, want) {
		t.Errorf("fixed\n%s\nwant\n%s", strings.Join(fixed, "\n"), strings.Join(want, "\n"))
	}
	buildArena(t, dir)
}

// arenaSource copies the Go app of an arena and reads its schema.
func arenaSource(t *testing.T, arena string, schemas ...string) (dir string, facts Facts) {
	t.Helper()
	files := "../../arenas/" + arena + "/files/"
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(files+"_go")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := os.Rename(filepath.Join(dir, name+".txt"), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	var texts []string
	for _, name := range schemas {
		text, err := os.ReadFile(files + name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return dir, Schema(texts...)
}

// rewriteArena applies the first fixes of the wanted places until nothing changes any
// more, and lists the places.
func rewriteArena(t *testing.T, dir string, facts Facts, wanted func(Hit) bool) []string {
	t.Helper()
	fixed := map[string]bool{}
	for range 6 {
		res, err := Run(context.Background(), dir, []string{"./..."}, facts, nil)
		if err != nil || len(res.Problems) > 0 {
			t.Fatal(err, res)
		}
		var fixes []goapp.Fix
		for _, h := range res.Hits {
			if why := withoutReason(h); why != "" {
				t.Error(why)
			}
			if len(h.Variants) == 0 || !wanted(h) {
				continue
			}
			if _, err := goapp.Apply(res.Files, append(slices.Clone(fixes), h.Variants[0])); err == nil {
				fixes = append(fixes, h.Variants[0])
				fixed[fmt.Sprintf("%s %s %s", h.Code, filepath.Base(h.File), h.Func)] = true
			}
		}
		after, err := goapp.Apply(res.Files, fixes)
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
	return slices.Sorted(maps.Keys(fixed))
}

// buildArena compiles the app, without a program to link, and runs go vet.
func buildArena(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"list", "-export", "-f", `{{""}}`, "."}, {"vet", "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", args[0], err, out)
		}
	}
}
