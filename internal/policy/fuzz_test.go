package policy_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z0-9_]*)\(`)

// maxFuzzInput bounds committed inputs, whose replay is a part of each check.
const maxFuzzInput = 64 << 10

// fuzzTargets are the folders of the committed inputs of all fuzz targets.
func fuzzTargets(t *testing.T) (folders []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || path == "bin" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range fuzzFunc.FindAllSubmatch(text, -1) {
			folders = append(folders, filepath.Join(filepath.Dir(path), "testdata", "fuzz", string(m[1])))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return folders
}

// TestFuzzCorpus checks that each fuzz target has committed inputs, and that each
// folder of inputs has a target: go test ignores a folder without one.
func TestFuzzCorpus(t *testing.T) {
	targets := map[string]bool{}
	for _, folder := range fuzzTargets(t) {
		targets[folder] = true
		inputs, err := os.ReadDir(folder)
		if err != nil || len(inputs) == 0 {
			t.Errorf("%s has no input: run make fuzz-grow FUZZ_ONLY=%s", folder, filepath.Base(folder))
		}
		for _, in := range inputs {
			if info, err := in.Info(); err != nil || info.Size() > maxFuzzInput {
				t.Errorf("%s: %v, or longer than %d bytes", filepath.Join(folder, in.Name()), err, maxFuzzInput)
			}
		}
	}
	if len(targets) < 50 {
		t.Errorf("only %d fuzz targets were found", len(targets))
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && path == "bin" {
			return fs.SkipDir
		}
		if err == nil && d.IsDir() && filepath.Base(filepath.Dir(path)) == "fuzz" && strings.Contains(path, "testdata") && !targets[path] {
			t.Errorf("%s has inputs of no fuzz target", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
