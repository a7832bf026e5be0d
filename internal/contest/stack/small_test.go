package stack

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/machine/freeport"
)

func TestTelling(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, c := range []struct{ name, log, want string }{
		{"last lines", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "3|4|5|6|7|8|9|10|11|12"},
		{"panic", "hello\npanic: no chairs\n\ngoroutine 1 [running]:\n" + strings.Repeat("\tmain.go:1\n", 30), "panic: no chairs|goroutine 1 [running]:|" + strings.Repeat("\tmain.go:1|", 7) + "\tmain.go:1"},
		{"errors first", "0 [Note] a\n0 [ERROR] Can't\n0 [ERROR] Aborting\n0 [Note] bye\n", "0 [ERROR] Can't|0 [ERROR] Aborting"},
		{"hostile", "\x1b[2J\xff\u202e!\r\n", "·[2J?·!"},
		{"long", long + "\n", long[:lineBytes] + "…"},
		{"no newline", "cut o", "cut o"},
		{"empty", "\n\n", ""},
	} {
		if got := strings.Join(failureLines([]byte(c.log)), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestQuoting(t *testing.T) {
	if got := sqltext.MySQL.Quote("a`b"); got != "`a``b`" {
		t.Error(got)
	}
	if got := quoteText("a'b\\c\nd"); got != `'a\'b\\c\nd'` {
		t.Error(got)
	}
}

func TestDefaultDir(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/x/state")
	if dir, err := DefaultDir("tiny"); err != nil || dir != "/x/state/iikanji/tiny" {
		t.Error(dir, err)
	}
	t.Setenv("XDG_STATE_HOME", "relative") // the XDG specification says to ignore it
	t.Setenv("HOME", "/home/somebody")
	want := "/home/somebody/.local/state/iikanji/tiny"
	if os.Geteuid() == 0 {
		want = "/var/lib/iikanji/tiny"
	}
	if dir, err := DefaultDir("tiny"); err != nil || dir != want {
		t.Error(dir, err)
	}
	for _, bad := range []string{"", "..", "a/b", "."} {
		if dir, err := DefaultDir(bad); err == nil {
			t.Errorf("%q: %s", bad, dir)
		}
	}
}

// TestChoosePorts asserts that ports are below the ephemeral range, distinct, the
// same for the same folder, and kept.
func TestChoosePorts(t *testing.T) {
	low, high := freeport.Range()
	keys := []portKey{{nginx, nginx}, {app, app}, {database, database}, {furtherPort(app, "admin"), app}}
	p, err := choosePorts("/a/folder", keys, portChoice{entry: nginx})
	must(t, err)
	all := slices.Collect(maps.Values(p))
	slices.Sort(all)
	if len(slices.Compact(all)) != 4 || all[0] < low || all[3] > high {
		t.Errorf("ports %v in %d to %d", all, low, high)
	}
	if again, err := choosePorts("/another", keys, portChoice{last: p, entry: nginx}); err != nil || !maps.Equal(again, p) {
		t.Errorf("ports moved: %v, were %v (%v)", again, p, err)
	}
	moved, err := choosePorts("/a/folder", keys, portChoice{last: p, entry: nginx, avoid: map[int]bool{p["app"]: true}})
	if err != nil || moved["app"] == p["app"] || moved["nginx"] != p["nginx"] || moved["database"] != p["database"] {
		t.Errorf("ports %v, were %v (%v)", moved, p, err)
	}
}

func TestLostPort(t *testing.T) {
	for line, want := range map[string]bool{
		"2024/01/01 [emerg] 1#1: bind() to 127.0.0.1:80 failed (98: Address already in use)":                true,
		"listen tcp 127.0.0.1:3000: bind: address already in use":                                           true,
		"2024-01-01 [ERROR] Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use": true,
		"2024-01-01 [ERROR] Can't start server: Bind on unix socket. Got error: 13: Permission denied":      false,
		"panic: no chairs": false,
	} {
		if lostPort([]string{"before", line, "after"}) != want {
			t.Error(line)
		}
	}
}
