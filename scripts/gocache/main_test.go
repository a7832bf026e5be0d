package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asProgram makes this test's binary the program.
const asProgram = "IIKANJI_TEST_GOCACHE"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A build builds a package without imports, with a cache of its own.
type build struct {
	t                    *testing.T
	module, memory, disk string
}

func newBuild(t *testing.T) *build {
	b := &build{t: t, module: t.TempDir(), memory: t.TempDir(), disk: t.TempDir()}
	for name, text := range map[string]string{"go.mod": "module tea\n", "tea.go": "package tea\n\n// Cups is a number.\nconst Cups = 3\n"} {
		if err := os.WriteFile(filepath.Join(b.module, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// compiled reports whether a build had to compile the package.
func (b *build) compiled(program string) bool {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "go", "build", "-x", ".")
	cmd.Dir = b.module
	cmd.Env = append(os.Environ(), "GOCACHE="+b.disk, "GOCACHEPROG="+program, "GOFLAGS=", "GOWORK=off", asProgram+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("go build: %v\n%s", err, out)
	}
	return bytes.Contains(out, []byte("/compile"))
}

func (b *build) program() string {
	return os.Args[0] + " -memory " + b.memory + " -disk " + b.disk
}

func TestBuilds(t *testing.T) {
	const none = ""
	t.Run("written to the disk", func(t *testing.T) {
		b := newBuild(t)
		if !b.compiled(b.program()) || b.compiled(none) {
			t.Error("a go command without the program does not find what one with it has built")
		}
	})
	t.Run("read from the disk", func(t *testing.T) {
		b := newBuild(t)
		if !b.compiled(none) || b.compiled(b.program()) {
			t.Error("a go command with the program does not find what one without it has built")
		}
	})
	t.Run("kept in memory", func(t *testing.T) {
		b := newBuild(t)
		b.compiled(none)
		b.compiled(b.program()) // reads it from the disk
		if err := os.RemoveAll(b.disk); err != nil {
			t.Fatal(err)
		}
		if b.compiled(b.program()) {
			t.Error("what was read from the disk is not in memory")
		}
	})
	t.Run("no room in memory", func(t *testing.T) {
		b := newBuild(t)
		b.memory = filepath.Join(b.module, "tea.go") // no folder: each write fails
		if !b.compiled(b.program()) || b.compiled(b.program()) {
			t.Error("without room in memory, the cache on disk is not used")
		}
	})
	t.Run("damaged entries", func(t *testing.T) {
		b := newBuild(t)
		b.compiled(none)
		damaged := 0
		err := filepath.WalkDir(b.disk, func(path string, d os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "-d") {
				return err
			}
			damaged++
			return os.Truncate(path, 1)
		})
		if err != nil || damaged == 0 {
			t.Fatalf("%d files were cut: %v", damaged, err)
		}
		if !b.compiled(b.program()) {
			t.Error("a file of 1 byte was taken for a compiled package")
		}
	})
}

func TestServe(t *testing.T) {
	for name, in := range map[string]string{
		"no JSON":       "get\n",
		"no body":       `{"ID":1,"Command":"put","ActionID":"AA==","OutputID":"AA==","BodySize":3}` + "\n",
		"half a body":   `{"ID":1,"Command":"put","ActionID":"AA==","OutputID":"AA==","BodySize":3}` + "\n\"AA",
		"half a line":   `{"ID":1,"Comm`,
		"no number":     `{"Command":"close","ID":"x"}` + "\n",
		"body, no text": `{"ID":1,"Command":"put","ActionID":"AA==","OutputID":"AA==","BodySize":3}` + "\n7\n",
	} {
		if err := serve(&cache{memory: folder(t.TempDir()), disk: folder(t.TempDir())}, strings.NewReader(in), &bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	in := strings.Join([]string{
		`{"ID":1,"Command":"get","ActionID":"AQ=="}`,
		`{"ID":2,"Command":"drop"}`,
		`{"ID":3,"Command":"put","ActionID":"AQ==","OutputID":"Ag==","BodySize":9}`, `"YWJj"`,
		`{"ID":4,"Command":"put","ActionID":"AQ==","BodySize":0}`,
		`{"ID":5,"Command":"close"}`,
	}, "\n")
	var out bytes.Buffer
	if err := serve(&cache{memory: folder(t.TempDir()), disk: folder(t.TempDir())}, strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	answers := map[int64]response{}
	for dec := json.NewDecoder(&out); dec.More(); {
		var r response
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		answers[r.ID] = r
	}
	if len(answers) != 6 || !answers[1].Miss || answers[2].Err == "" || answers[3].Err == "" || answers[4].Err == "" || answers[5].Err != "" {
		t.Errorf("answers: %+v", answers)
	}
}

func FuzzParseEntry(f *testing.F) {
	f.Add("v1 01 02                    3                    4\n")
	f.Add("v1 01 zz 3 4")
	f.Add("v1 01 02 -3 4")
	f.Add("v2 01 02 3 4")
	f.Fuzz(func(t *testing.T, text string) {
		e, ok := parseEntry(text, []byte{1})
		if ok && (len(e.output) == 0 || e.size < 0) {
			t.Errorf("%q is %+v", text, e)
		}
	})
}
