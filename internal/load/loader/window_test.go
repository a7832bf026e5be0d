package loader

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestLogWatch: the load begins with the first request that is not initialize, or some
// time after the last initialize: a slow site logs its first answer late.
func TestLogWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Unix(1_700_000_000, 0)
	watch := func() *logWatch {
		t.Helper()
		w, err := watchLog(host.Local{}, path, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.file.Close() })
		return w
	}
	write("old GET /\n")
	w := watch()
	expect := func(when string, want bool) {
		t.Helper()
		if got := w.load(); got != want {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	now = now.Add(time.Minute)
	expect("before any request", false)
	write("POST /initialize 200\n")
	expect("at initialize", false)
	now = now.Add(afterInitialize / 2)
	write("POST /api/setup 200\n")
	expect("at a second initialize", false)
	now = now.Add(afterInitialize / 2)
	expect("soon after the second", false)
	now = now.Add(afterInitialize / 2)
	expect("some time after the second", true)
	expect("with nothing new", false)

	w = watch()
	write("POST /initialize 200\nGET / 200\n")
	expect("at the first other request", true)
}
