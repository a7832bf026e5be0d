package livesite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestPIDFiles: after a restart, every file beside the service's that held its id has the
// new one: that of the site's supervisor, too. Files of other services stay.
func TestPIDFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("nginx.pid", "222\n") // nginx has written it itself
	write("nginx.unit.pid", "111")
	write("other.pid", "1111\n")
	s := placedAs(&Subject{hosts: map[string]host.Host{"": host.Local{}}})
	r := &running{host: host.Local{}, Service: &target.Service{Name: "nginx", Engine: iikanji.EngineNginx, PIDFile: filepath.Join(dir, "nginx.pid")}, filed: 111}
	for _, pid := range []int{222, 222, 333} {
		r.proc = &process.Process{}
		r.proc.PID = pid
		if err := s.writePID(r); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"nginx.pid": "333\n", "nginx.unit.pid": "333", "other.pid": "1111\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v; want %q", name, b, err, want)
		}
	}
}
