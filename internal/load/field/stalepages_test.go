package field

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// sited is a Subject that has a Site only.
type sited struct {
	Subject
	site *change.Site
}

func (s sited) Site() *change.Site { return s.site }

// TestStalePages: a page that changed without being dropped fails the run in which it did,
// and not the later ones.
func TestStalePages(t *testing.T) {
	folder, err := os.MkdirTemp("/dev/shm", "iikanji-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	source := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(source, "pagegen"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(source, "pagegen/app_plan.go"), `// plan: {"Folder":"`+folder+`"}`+"\n")
	f := &Field{Subject: sited{site: &change.Site{Services: map[string]change.Service{"app": {Source: source}, "nginx": {}}}}}
	before := f.stalePages()
	write(filepath.Join(folder, "learned.json"), `{"kept":["/list"],"pairs":null,"stale":[{"page":"/list","write":"POST /hidden/1"}]}`)
	after := f.stalePages()
	if len(before) != 0 || len(after) != 1 {
		t.Fatalf("before: %q, after: %q", before, after)
	}
	run := &iikanji.Run{Outcome: iikanji.Passed, Score: 7, Reasons: []string{"why"}}
	failByPages(run, after, after)
	if run.Outcome != iikanji.Passed || run.Score != 7 {
		t.Errorf("a fault of an earlier run: %+v", run)
	}
	failByPages(run, before, after)
	if run.Outcome != iikanji.Failed || run.Score != 0 || !slices.Equal(run.Reasons, []string{after[0], "why"}) {
		t.Errorf("a fault of the run: %+v", run)
	}
}
