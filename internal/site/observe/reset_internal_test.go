package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestResets finds the request that made the data anew: it is logged before the load, or
// right behind its begin.
func TestResets(t *testing.T) {
	line := func(method, path string, status int) string {
		return fmt.Sprintf("127.0.0.1 - - [22/Nov/2026:10:00:00 +0000] \"%s %s HTTP/1.1\" %d 17 \"-\" \"bench\"\n", method, path, status)
	}
	ltsv := func(method, path string, status int) string {
		return fmt.Sprintf("time:2026-11-22T10:00:00+00:00\thost:127.0.0.1\tmethod:%s\turi:%s\tstatus:%d\tsize:17\treqtime:0.1\n", method, path, status)
	}
	for name, c := range map[string]struct{ old, before, after, want string }{
		"before":    {line("POST", "/reset", 200), line("POST", "/api/initialize", 200), line("GET", "/a", 200), "[POST /api/initialize 1]"},
		"late line": {line("GET", "/x", 200), "", line("POST", "/initialize?n=1", 200) + line("GET", "/a", 200), "[POST /initialize 1]"},
		"twice":     {"", line("GET", "/initialize", 200) + line("GET", "/initialize", 200), "", "[GET /initialize 2]"},
		"failed":    {"", line("POST", "/initialize", 500) + line("POST", "/initialize", 204), line("GET", "/a", 200), "[]"},
		"labels":    {"", ltsv("POST", "/initialize", 200), ltsv("GET", "/a", 200), "[POST /initialize 1]"},
		"none":      {"", line("GET", "/", 200), line("GET", "/a", 200), "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "access.log")
			if err := os.WriteFile(path, []byte(c.old+c.before+c.after), 0o600); err != nil {
				t.Fatal(err)
			}
			in, err := openLog(host.Local{}, path)
			if err != nil {
				t.Fatal(err)
			}
			w := &webWatch{service: iikanji.Service{Name: "edge"}, path: path, before: int64(len(c.old)), from: int64(len(c.old + c.before)), log: in}
			t.Cleanup(func() { _ = w.close() })
			got := []string{}
			for _, f := range w.resets() {
				if f.Target != "edge" || !fact.TopicReset.Is(f) || !f.Moves {
					t.Errorf("%+v", f)
				}
				got = append(got, f.Key+" "+fact.Text(f))
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("%s, want %s", fmt.Sprint(got), c.want)
			}
		})
	}
}
