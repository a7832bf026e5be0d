package stack

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestSeal: the services' account cannot change the source that root compiles: no
// file of it, no new one, and no other folder in its place. It can still create
// files elsewhere in the webapp.
func TestSeal(t *testing.T) {
	as := serviceAccount()
	if !as.drop {
		t.Skip("the services run as the calling user, who owns the source")
	}
	dir, err := os.MkdirTemp("/tmp", "iikanji-seal-") // reachable by the account
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	f := folder{root: dir, as: as}
	for _, path := range []string{"webapp/go/sub", "webapp/public"} {
		must(t, os.MkdirAll(filepath.Join(dir, path), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(dir, "webapp/go/go.mod"), []byte("module x\n"), 0o664))
	for _, path := range []string{"webapp", "webapp/go", "webapp/go/sub", "webapp/go/go.mod", "webapp/public"} {
		at := filepath.Join(dir, path)
		must(t, as.share(at))
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			must(t, os.Chmod(at, 0o775|os.ModeSetgid))
		}
	}
	try := func(script string) bool {
		t.Helper()
		r, err := host.Local{}.Exec(context.Background(), host.Command{Path: "/bin/sh", Args: []string{"-c", "cd " + dir + "/webapp && " + script}, Dir: "/", As: as.credential()})
		must(t, err)
		return r.Status == 0
	}
	attacks := []string{"echo 'replace y => /tmp' >>go/go.mod", "echo x >go/x.s", "echo x >go/sub/x.go", "mv go away", "rm go/go.mod"}
	if !try("echo x >go/probe && rm go/probe") {
		t.Fatal("the account could not write before: the test proves nothing")
	}
	must(t, f.seal("go"))
	for _, a := range attacks {
		if try(a) {
			t.Errorf("the account of the services could: %s", a)
		}
	}
	if !try("echo x >public/upload && echo x >upload") {
		t.Error("the app cannot create a file beside its source")
	}
	if info, err := os.Stat(filepath.Join(dir, "webapp/go")); err != nil || info.Mode()&os.ModeSetgid == 0 {
		t.Errorf("the setgid bit is gone: %v %v", info.Mode(), err)
	}
	must(t, os.Lchown(filepath.Join(dir, "webapp/go/go.mod"), as.uid, as.gid))
	if err := f.seal("go"); err == nil || !strings.Contains(err.Error(), "belongs to "+as.name) {
		t.Errorf("a file of the account: %v", err)
	}
}
