package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/servertest"
)

// TestReplaceUnicorn starts a real unicorn again as it was found, though it has written a
// title over its command line.
func TestReplaceUnicorn(t *testing.T) {
	dir, address := t.TempDir(), servertest.FreeAddress(t)
	for name, text := range map[string]string{"config.ru": "run ->(e) { [200, {}, [ENV['WHO'].to_s]] }\n", "uni.rb": "worker_processes 1\nlisten '" + address + "'\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("unicorn", "-c", "uni.rb", "-E", "deployment", "config.ru")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "WHO=first")
	begin(t, cmd)
	answers(t, address, "first")
	spec, files, end := foundAgain(t, cmd)
	if want := []string{"-c", "uni.rb", "-E", "deployment", "config.ru"}; len(spec.Args) != 7 || !slices.Equal(spec.Args[2:], want) || filepath.Base(spec.Args[1]) != "unicorn" {
		t.Fatalf("found as %q", spec.Args)
	}
	child := replace(t, end, spec.WithEnv([]string{"WHO=second"}), files)
	t.Cleanup(func() { _ = syscall.Kill(child.PID, syscall.SIGTERM) })
	answers(t, address, "second")
}
