package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/site/target"
)

// TestHosts: machines are shown with what is known of them, measured, told from another one at
// the same address until that is accepted, and left as they were.
func TestHosts(t *testing.T) {
	machines := threeMachines(t)
	dir := t.TempDir()
	file := "version = 1\nurl = \"http://127.0.0.1\"\n"
	for _, m := range machines[:2] {
		file += fmt.Sprintf("[[host]]\nname = %q\naddress = %q\nprivate = %q\n", m.Name, address(m), m.Address())
	}
	file += "[[service]]\nname = \"app\"\nrole = \"app\"\nhost = \"app2\"\nunit = \"app.service\"\n"
	if err := os.WriteFile(filepath.Join(dir, target.Name), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	say := func(status int, args ...string) string {
		t.Helper()
		var errs lockedBuffer
		got, text := command(t.Context(), &errs, append(args, "--dir", work)...)
		if got != status {
			t.Fatalf("%q: status %d, want %d\n%s\n%s", args, got, status, text, errs.String())
		}
		if status != 0 {
			text += errs.String()
		}
		return text
	}
	if text := say(exitFailed, "hosts", dir); !strings.Contains(text, "is not known: it shows") || !strings.Contains(text, "--accept-new") || !strings.Contains(text, "2 machines not reached") {
		t.Errorf("host keys that are not known:\n%s", text)
	}
	var rows []machineRow
	if err := json.Unmarshal([]byte(say(0, "hosts", dir, "--accept-new", "--json")), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 || rows[2].Name != "app2" || len(rows[2].Services) != 1 || rows[2].Identity == rows[1].Identity || rows[2].Boot == rows[1].Boot || rows[1].Trip <= 0 {
		t.Errorf("%+v", rows)
	}
	var m measured
	if err := json.Unmarshal([]byte(say(0, "hosts", "measure", dir, "--json")), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Machines) != 3 || m.Machines[1].Spin <= 0 || len(m.Links) != 4 || m.Links[0].Why != "" || m.Links[3].Rate <= 0 {
		t.Errorf("%+v", m)
	}
	inside(t, machines[1], 0, "chmod u+w /etc/machine-id; echo 00000000000000000000000000000001 >/etc/machine-id")
	if text := say(exitFailed, "hosts", dir); !strings.Contains(text, "another machine answers as app2") {
		t.Errorf("another machine at the address:\n%s", text)
	}
	if text := say(0, "hosts", "accept", "app2", "--target", dir); !strings.Contains(text, "accepted as another machine") {
		t.Error(text)
	}
	say(0, "hosts", dir)
	if n := strings.Count(say(0, "hosts", "clean", dir), ": clean"); n != 2 {
		t.Errorf("%d machines are clean", n)
	}
	for _, m := range machines[:2] {
		inside(t, m, 0, "[ ! -e /run/iikanji ] && [ ! -e /var/lib/iikanji ]")
	}
}
