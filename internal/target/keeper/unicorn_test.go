package keeper

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/host"
	"github.com/iikanji/iikanji/internal/target/machine"
)

// TestReplaceUnicorn starts a real unicorn again as it was found, though it has written a
// title over its command line.
func TestReplaceUnicorn(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"config.ru": "run ->(e) { [200, {}, [ENV['WHO'].to_s]] }\n", "uni.rb": "worker_processes 1\nlisten '" + address + "'\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("unicorn", "-c", "uni.rb", "-E", "deployment", "config.ru")
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, append(os.Environ(), "WHO=first"), &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: scripts/setup.sh check installs it", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	answers(t, address, "first")
	p, err := machine.ReadProcess(host.Local{}, cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	spec, files, _, err := Found(p)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(files)
	if want := []string{"-c", "uni.rb", "-E", "deployment", "config.ru"}; len(spec.Args) != 7 || !slices.Equal(spec.Args[2:], want) || filepath.Base(spec.Args[1]) != "unicorn" {
		t.Fatalf("found as %q", spec.Args)
	}
	end := &End{PID: p.PID, Started: p.Started, Signal: syscall.SIGTERM, Wait: 10 * time.Second}
	pid, _, err := Replace(t.Context(), end, spec.WithEnv([]string{"WHO=second"}), files)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGTERM) })
	answers(t, address, "second")
}

// answers waits for the body of an answer.
func answers(t *testing.T, address, want string) {
	t.Helper()
	var got string
	err := fmt.Errorf("not asked")
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var r *http.Response
		if r, err = http.Get("http://" + address); err != nil {
			continue
		}
		b, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if got = string(b); got == want {
			return
		}
	}
	t.Fatalf("it answers %q, %v; want %q", got, err, want)
}
