package facts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestKeptPages reads the file of an app whose folder a root of nginx names.
func TestKeptPages(t *testing.T) {
	folder, err := os.MkdirTemp(filepath.Dir(generationFolder), filepath.Base(generationFolder)+"test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	conf, err := nginx.Dump{{Path: "nginx.conf", Text: "http { root /var/www; root " + folder + "/x; root " + folder + "/$iikanji_link; }"}}.Config()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := KeptPages(host.Local{}, "nginx", conf); err != nil || len(got) != 0 {
		t.Errorf("without a file: %v %v", got, err)
	}
	const text = `{"kept":["/a/:id"],"pairs":[{"write":"POST /a/:1","page":"/a/:1","changed":3,"same":0}],"stale":[{"page":"/a/1","write":"POST /b/1"}]}`
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, learnedFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	got, err := KeptPages(host.Local{}, "nginx", conf)
	if err != nil || len(got) != 1 || fact.Text(got[0]) != text || !got[0].Moves {
		t.Errorf("%+v %v", got, err)
	}
	if says := StalePages(got); len(says) != 1 || !strings.Contains(says[0], "/a/1 changed after POST /b/1 and was not dropped") {
		t.Errorf("%q", says)
	}
	source := t.TempDir()
	plan := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Join(source, "pagegen"), 0o755), os.WriteFile(filepath.Join(source, keptPlanFile), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]int{"": 0, "package pagegen\n": 0, keptPlanMark + "{": 0, keptPlanMark + `{"Folder": "` + folder + `/../x"}`: 0,
		"// x\n" + keptPlanMark + `{"Folder": "` + folder + `"}` + "\n\npackage pagegen\n": 1} {
		plan(text)
		if says := StaleIn(host.Local{}, source); len(says) != want {
			t.Errorf("%q: %q", text, says)
		}
	}
	for _, bad := range []string{"{", strings.Repeat(" ", maxLearned+1)} {
		write(bad)
		if _, err := KeptPages(host.Local{}, "nginx", conf); err == nil {
			t.Errorf("%.10q was read", bad)
		}
	}
}
