package snapshot

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/day/work/store"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/peer"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// take takes a snapshot of a folder and returns how many files were read.
func take(t *testing.T, st *store.Store, folders ...string) (state.Host, int) {
	t.Helper()
	return takeOn(t, host.Local{}, st, folders...)
}

// takeOn is take of a machine.
func takeOn(t *testing.T, on host.Host, st *store.Store, folders ...string) (state.Host, int) {
	t.Helper()
	tk := &taker{Options: Options{Host: on, Folders: folders, Now: time.Now}, ctx: t.Context(), store: st, out: state.Host{Unread: map[string]string{}}, seen: map[string]bool{}}
	tk.loadIndex()
	if err := tk.files(); err != nil {
		t.Fatal(err)
	}
	if err := tk.saveIndex(time.Now()); err != nil {
		t.Fatal(err)
	}
	return tk.out, tk.read
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// farEnd is this machine at the far end of a connection.
func farEnd(t *testing.T) host.Host {
	t.Helper()
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- peer.Serve(context.Background(), far, host.Local{}, peer.Options{}) }()
	p, err := peer.Connect(t.Context(), near, peer.Setup{Name: "app2"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
	return p
}

// TestReadsOnlyChanges: of 5,000 files, the second snapshot reads none, and the third one
// only those that were edited, whatever the editor did to their times; here and on another machine.
func TestReadsOnlyChanges(t *testing.T) {
	tier.Slow(t)
	t.Run("here", func(t *testing.T) { readsOnlyChanges(t, host.Local{}) })
	t.Run("far", func(t *testing.T) { readsOnlyChanges(t, farEnd(t)) })
}

func readsOnlyChanges(t *testing.T, on host.Host) {
	dir := t.TempDir()
	for i := range 5000 {
		write(t, filepath.Join(dir, fmt.Sprint(i%100), fmt.Sprintf("%d.conf", i)), fmt.Sprintf("value = %d\n", i))
	}
	time.Sleep(racy + 100*time.Millisecond)
	st, err := store.Open(filepath.Join(t.TempDir(), "work"))
	if err != nil {
		t.Fatal(err)
	}
	first, read := takeOn(t, on, st, dir)
	if read != 5000 || len(first.Files) != 5000 {
		t.Fatalf("the first snapshot read %d files and has %d", read, len(first.Files))
	}
	began := time.Now()
	_, read = takeOn(t, on, st, dir)
	t.Logf("a snapshot of 5,000 unchanged files took %v", time.Since(began).Round(time.Millisecond))
	if read != 0 {
		t.Errorf("the second snapshot read %d files", read)
	}
	same := filepath.Join(dir, "7", "7.conf") // the same size, and the times of before
	old, err := os.Stat(same)
	if err != nil {
		t.Fatal(err)
	}
	write(t, same, "value = 8\n")
	if err := os.Chtimes(same, old.ModTime(), old.ModTime()); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "new.conf"), "x = 1\n")
	third, read := takeOn(t, on, st, dir)
	if read != 2 {
		t.Errorf("the third snapshot read %d files, want 2", read)
	}
	f, _ := third.File(same)
	if text, err := st.Get(f.SHA); err != nil || string(text) != "value = 8\n" {
		t.Errorf("%q %v", text, err)
	}
}

// TestClasses: what of a file is kept.
func TestClasses(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want state.Class
	}{
		"/etc/nginx/nginx.conf":        {"events {}\n", state.Text},
		"/etc/shadow":                  {"root:$6$x:1::::::\n", state.Secret},
		"/etc/ssl/private/a.txt":       {"x", state.Secret},
		"/etc/nginx/tls/site.key":      {"x", state.Secret},
		"/etc/nginx/cert":              {"-----BEGIN CERTIFICATE-----\n", state.Secret},
		"/etc/ssh/ssh_host_rsa_key":    {"x", state.Secret},
		"/etc/ssh/sshd_config":         {"Port 22\n", state.Text},
		"/srv/sql/dump.sql":            {"-- MariaDB dump 10.19\nCREATE TABLE t (a int);\nINSERT INTO t VALUES (1);\n", state.Secret},
		"/srv/sql/schema.sql":          {"-- MariaDB dump 10.19\nCREATE TABLE t (a int);\n", state.Text},
		"/etc/blob":                    {"a\x00b", state.Digest},
		"/etc/big":                     {strings.Repeat("x", MaxText+1), state.Digest},
		"/etc/mysql/debian.cnf":        {"password = x\n", state.Secret},
		"/home/isucon/.ssh/id_ed25519": {"x", state.Secret},
	} {
		if got := classOf(name, []byte(c.text)); got != c.want {
			t.Errorf("%s is %s, want %s", name, got, c.want)
		}
	}
}

// TestLinksAndUnreadable: a link is kept with where it leads, a file that cannot be read is
// named, and neither ends the snapshot.
func TestLinksAndUnreadable(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "x\n")
	if err := os.Symlink("a", filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(filepath.Join(t.TempDir(), "work"))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := take(t, st, dir, filepath.Join(dir, "missing"))
	if f, ok := got.File(filepath.Join(dir, "c")); !ok || f.Class != state.Link || f.Target != "nowhere" {
		t.Errorf("%+v", f)
	}
	if len(got.Files) != 3 || len(got.Unread) != 0 {
		t.Errorf("%+v %v", got.Files, got.Unread)
	}
}

// TestStoreKeepsStates: a state that was kept is read back, and equal contents are kept
// once.
func TestStoreKeepsStates(t *testing.T) {
	st, err := store.Open(filepath.Join(t.TempDir(), "work"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "x\n")
	h, _ := take(t, st, dir)
	h.Sysctl, h.Packages = map[string]string{"vm.swappiness": "60"}, map[string]string{"nginx": "1"}
	h.Services = []state.Service{{Name: "db", Engine: "mariadb", Variables: map[string]state.Variable{"a": {Value: "1", Origin: "sql"}}, Tables: map[string]string{"s.t": "CREATE"}}}
	s := &state.State{Version: state.Version, Run: 3, At: time.Unix(1, 0), Hosts: []state.Host{h}}
	if err := s.Fingerprinted(); err != nil {
		t.Fatal(err)
	}
	if err := st.SaveState(s); err != nil {
		t.Fatal(err)
	}
	got, err := st.LoadState(3)
	if err != nil {
		t.Fatal(err)
	}
	again := *got
	if err := again.Fingerprinted(); err != nil || again.Fingerprint != s.Fingerprint || len(got.Hosts[0].Files) != 1 {
		t.Errorf("%+v %v", got, err)
	}
	if runs, err := st.Runs(); err != nil || !slices.Equal(runs, []iikanji.RunID{3}) {
		t.Errorf("%v %v", runs, err)
	}
	info, err := os.Stat(st.Dir())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the store has mode %v: %v", info.Mode(), err)
	}
}

// TestParsers: dpkg's status and systemctl's show.
func TestParsers(t *testing.T) {
	got := parseDpkg("Package: nginx\nStatus: install ok installed\nVersion: 1.22-1\n\nPackage: gone\nStatus: deinstall ok config-files\nVersion: 2\n")
	if fmt.Sprint(got) != "map[nginx:1.22-1]" {
		t.Error(got)
	}
	units := parseShow("Id=app.service\nUnitFileState=enabled\nActiveState=active\nNeedDaemonReload=yes\n\nId=db.service\nUnitFileState=disabled\nNeedDaemonReload=no\n")
	if units["app.service"] != (state.Unit{Enabled: "enabled", Active: "active", Stale: true}) || units["db.service"].Enabled != "disabled" {
		t.Error(units)
	}
}
