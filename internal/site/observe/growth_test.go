package observe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestGrowthWatch writes to a log while it is watched: each record's times must
// contain the moment in which it was written.
func TestGrowthWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := growthWatch{}
	l := w.watch(host.Local{}, path)
	w.begin()
	type record struct{ offset, before, after int64 }
	var records []record
	at := int64(0)
	for range 20 {
		before := time.Now().UnixNano()
		n, err := f.WriteString(strings.Repeat("x", 50) + "\n")
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record{at, before, time.Now().UnixNano()})
		at += int64(n)
		time.Sleep(5 * time.Millisecond)
	}
	w.end()
	w.end() // as Close does after a run
	known := 0
	for _, r := range records {
		from, to := l.growth.Written(r.offset)
		if from > r.after || to != 0 && to < r.before {
			t.Errorf("written between %d and %d, as watched between %d and %d", r.before, r.after, from, to)
		}
		if from != 0 && to != 0 {
			known++
		}
	}
	if known == 0 {
		t.Error("the times of no record are known")
	}
	if other := (&growthWatch{}).watch(host.Local{}, ""); other != nil {
		t.Error("a log without a path is watched")
	}
}
