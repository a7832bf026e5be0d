package servertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Postgres runs a private PostgreSQL until the test ends, with the options of its command
// line that follow. It returns a folder that the server's user may write to, which is also
// the folder of its socket. The test is skipped where PostgreSQL is not installed.
func Postgres(t testing.TB, options func(folder string) []string) (folder string) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		t.Skip("PostgreSQL is not installed")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir, err := os.MkdirTemp("", "iikanji-pg-") // short: the path of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	asUser := func(args ...string) *exec.Cmd {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{}
		if os.Getuid() == 0 { // PostgreSQL refuses to run as root
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		}
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := asUser(filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	args := []string{filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off"}
	if options != nil {
		args = append(args, options(dir)...)
	}
	server := asUser(args...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Signal(syscall.SIGINT); server.Wait() })
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); {
		if exec.Command("psql", "-h", dir, "-U", "postgres", "-c", "select 1").Run() == nil {
			return dir
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("PostgreSQL is not ready after 3 minutes")
	return ""
}
