package slowlog

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

// TestDoneCountsAllBytes: the progress of reading ends at the size of the log.
func TestDoneCountsAllBytes(t *testing.T) {
	const entry = "# User@Host: isu[isu] @ localhost []\n# Thread_id: 1  Schema: isu  QC_hit: No\n" +
		"# Query_time: 0.000005  Lock_time: 0.000002  Rows_sent: 1  Rows_examined: 3\nSET timestamp=1795238650;\nSELECT 1;\n"
	name := filepath.Join(t.TempDir(), "slow.log")
	if err := os.WriteFile(name, []byte(strings.Repeat(entry, 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := lines.Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	done := new(atomic.Int64)
	if _, err := Read(t.Context(), []*lines.Input{in}, Options{BlockSize: 4 << 10, Done: done}); err != nil {
		t.Fatal(err)
	}
	if got := done.Load(); got != int64(1000*len(entry)) {
		t.Errorf("%d bytes done of %d", got, 1000*len(entry))
	}
}
