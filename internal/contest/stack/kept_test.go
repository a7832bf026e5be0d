package stack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestKept edits the source and takes the edits back. The program is each time what a
// build without kept programs makes, to the byte. It is not linked again where it was
// kept, and a kept program of another build is not used.
func TestKept(t *testing.T) {
	tier.Slow(t)
	s := bring(t, tiny(), Options{Dir: shared(t)})
	main := filepath.Join(s.Source(app), "main.go")
	good, err := os.ReadFile(main)
	must(t, err)
	t.Cleanup(func() { must(t, os.WriteFile(main, good, 0o644)) })
	edit := func(greeting string) {
		t.Helper()
		must(t, os.WriteFile(main, []byte(strings.Replace(string(good), `"hello"`, `"`+greeting+`"`, 1)), 0o644))
	}
	program := func() []byte {
		t.Helper()
		b, err := os.ReadFile(s.dir.path(binDir, app))
		must(t, err)
		return b
	}
	must(t, os.RemoveAll(s.dir.path(binDir, keptDir)))
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -x")) // the log of a build has its commands
	rebuilt := func() (links int) {
		t.Helper()
		must(t, s.Rebuild(t.Context(), app))
		log, err := s.dir.read(logDir, buildLog)
		must(t, err)
		return bytes.Count(log, []byte("/link -o "))
	}
	edit("hello")
	if n := rebuilt(); n != 1 {
		t.Fatalf("the first build linked %d times: the test would prove nothing", n)
	}
	original := program()

	edit("good day")
	if n := rebuilt(); n != 1 || bytes.Equal(program(), original) {
		t.Errorf("another source: linked %d times", n)
	}
	edited := program()
	edit("hello")
	if n := rebuilt(); n != 0 || !bytes.Equal(program(), original) {
		t.Errorf("the first source again: linked %d times, equal %v", n, bytes.Equal(program(), original))
	}
	if got := page(t, s.Places().URL()); got != "hello 3" {
		t.Errorf("page: %q", got)
	}

	// A kept program that is damaged, and the whole program of another source.
	sum, err := s.dir.sourceSum(s.arena.Service(app))
	must(t, err)
	whole := sha256.Sum256(edited)
	for path, wrong := range map[string][]byte{
		s.dir.kept().Kept(app, sum)[0]:                            original[:len(original)/2],
		s.dir.kept().Path(app, sum, hex.EncodeToString(whole[:])): edited,
	} {
		for _, path := range s.dir.kept().Kept(app, sum) {
			must(t, os.Remove(path))
		}
		must(t, os.WriteFile(path, wrong, 0o755))
		if n := rebuilt(); n != 1 || !bytes.Equal(program(), original) {
			t.Errorf("a wrong kept program of %d bytes: linked %d times, equal %v", len(wrong), n, bytes.Equal(program(), original))
		}
	}

	// Other flags make another program of the same source.
	flags := os.Getenv("GOFLAGS")
	t.Setenv("GOFLAGS", flags+" -ldflags=-w") // which keeps the symbols
	if n := rebuilt(); n != 1 || len(program()) <= len(original) {
		t.Errorf("with other flags: linked %d times, %d bytes, were %d", n, len(program()), len(original))
	}
	t.Setenv("GOFLAGS", flags)
	if n := rebuilt(); n != 1 || !bytes.Equal(program(), original) {
		t.Errorf("with the first flags: linked %d times", n)
	}

	for i := range mostKept { // of other sources
		other := s.dir.kept().Path(app, fmt.Sprintf("source%d", i), "none")
		must(t, errors.Join(os.WriteFile(other, nil, 0o755), os.Chtimes(other, time.Time{}, time.Unix(int64(i), 0))))
	}
	edit("a")
	rebuilt()
	if n := len(s.dir.kept().Kept(app, "*")); n != mostKept {
		t.Errorf("%d programs are kept, want the latest %d", n, mostKept)
	}
	edit("hello")
	if rebuilt(); !bytes.Equal(program(), original) {
		t.Error("the first source is another program now")
	}
}
