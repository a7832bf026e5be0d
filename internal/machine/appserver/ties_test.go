package appserver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/ties"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestTies: what a host shows of an app besides its source: files that its process has open to
// change them, and jobs. Logs and files of others are none.
func TestTies(t *testing.T) {
	fake := &host.Fake{Root: t.TempDir()}
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(fake.Root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("/home/isu/app/app.py", "count = 0\n\ndef f():\n    global count\n    count += 1\n    open('x', 'w')\n")
	put("/home/isu/app/node_modules/x/index.js", "fs.writeFileSync('x')\n")
	put("/etc/cron.d/isu", "# /home/isu/app\n* * * * * isu /home/isu/app/rank.sh\n* * * * * root /usr/bin/true\n")
	for fd, file := range map[string]string{"3": "/home/isu/app/data.db", "4": "/home/isu/app/trace", "5": "/home/isu/app/kept", "6": "/home/isu/app/read", "7": "/var/log/app.log"} {
		put("/proc/7/fdinfo/"+fd, "pos:\t0\nflags:\t"+map[string]string{"3": "0100002", "4": "0102001", "5": "0100002", "6": "0100000", "7": "0100002"}[fd]+"\n")
		put(file, "")
		if err := os.MkdirAll(filepath.Join(fake.Root, "/proc/7/fd"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(file, filepath.Join(fake.Root, "/proc/7/fd", fd)); err != nil {
			t.Fatal(err)
		}
	}
	see := func(a App) (got []string) {
		t.Helper()
		all, _, err := Ties(fake, a)
		if err != nil {
			t.Fatal(err)
		}
		for _, tie := range all {
			got = append(got, fmt.Sprintf("%s %s", tie.Kind, tie.Place()))
		}
		return got
	}
	if got, want := see(App{Source: "/home/isu/app", PID: 7}), []string{"cron /etc/cron.d/isu:2", "sqlite /home/isu/app/data.db", "memory app.py:1", "files app.py:6"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := see(App{PID: 7}), []string{"sqlite /home/isu/app/data.db", "files /home/isu/app/kept"}; !slices.Equal(got, want) {
		t.Errorf("without source: %q, want %q", got, want)
	}
	if _, known, err := Ties(fake, App{Source: "/etc/cron.d"}); known || err != nil {
		t.Errorf("a folder without source is known: %v", err)
	}
	if _, _, err := Ties(fake, App{Source: "/nowhere"}); err == nil || !strings.Contains(err.Error(), "reading the source in /nowhere") {
		t.Errorf("no folder: %v", err)
	}
	if !changes("flags:\t0100002\n", ties.Files) || changes("flags:\t0102001\n", ties.Files) || changes("flags:\tx\n", ties.Files) || changes("", ties.Files) {
		t.Error("flags of descriptors are misread")
	}
}
