package policy_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// namedEngines are the places where what starts, tests, reloads and ends services names an
// engine, each with what it does. Everything else asks the table in
// internal/machine/process/engines.go, so that a further engine is one line there.
var namedEngines = map[string]string{
	"contest/stack/lay.go EngineGo":        "its module is downloaded",
	"contest/stack/stack.go EngineSQLite":  "its data are files",
	"site/livesite/build.go EngineGo":      "the go command builds it without a command in the file",
	"site/livesite/running.go EngineRedis": "it is asked how it was started",
	"site/livesite/sensors.go EngineNginx": "a change of its configuration writes a log",
}

func TestEnginesAreOneTable(t *testing.T) {
	found := map[string]bool{}
	name := regexp.MustCompile(`\biikanji\.(Engine[A-Z]\w*)`)
	for _, dir := range []string{"contest/stack", "site/livesite", "site/arenasite"} {
		files, err := filepath.Glob(filepath.Join("internal", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("files of %s: %v", dir, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range name.FindAllStringSubmatch(string(text), -1) {
				found[dir+"/"+filepath.Base(file)+" "+m[1]] = true
			}
		}
	}
	if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(namedEngines)); !slices.Equal(got, want) {
		t.Errorf("places that name an engine:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
