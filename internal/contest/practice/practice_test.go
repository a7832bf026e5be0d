package practice

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/lab"
)

// TestLimits: machines share what core 0 leaves, by their sizes; one machine of three is as large as
// each of three.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		n, cores int
		o        Options
		want     float64
	}{
		{0, 4, Options{Hosts: 3}, 0.9},
		{2, 4, Options{Hosts: 3}, 0.9},
		{0, 4, Options{Hosts: 1, Of: 3}, 0.9},
		{0, 4, Options{Hosts: 1}, 2.7},
		{0, 2, Options{Hosts: 1}, 0.9},
		{1, 2, Options{Hosts: 3}, 0.45},
		{0, 2, Options{Hosts: 1, Of: 3}, 0.45},
		{2, 5, Options{Hosts: 3, Sizes: []int{1, 1, 2}}, 1.8},
		{0, 1, Options{Hosts: 3}, 0},
	} {
		is := limits(c.n, c.o, c.cores)
		if math.Abs(is.CPU-c.want) > 1e-9 || (c.cores == 1) != (is == lab.Limits{}) {
			t.Errorf("%+v: %+v, want %g cores", c, is, c.want)
		}
	}
}

// TestPackedModes: the modes in an archive are not those that the umask of its maker left: tar gives
// them to /etc of the machine.
func TestPackedModes(t *testing.T) {
	dir := t.TempDir()
	etc := filepath.Join(dir, "etc")
	if err := errors.Join(os.Mkdir(etc, 0o700), os.WriteFile(filepath.Join(etc, "my.cnf"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "setup.sh"), nil, 0o700), os.Symlink("etc", filepath.Join(dir, "to"))); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "opt"), 0o700), os.Chmod(filepath.Join(dir, "opt"), 0o777)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := errors.Join(pack(w, dir), w.Close()); err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"etc/": 0o755, "etc/my.cnf": 0o644, "opt/": 0o755, "setup.sh": 0o755, "to": 0o777}
	for r := tar.NewReader(&out); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if mode, known := want[h.Name]; !known || h.Mode != mode || h.Uid != 0 {
			t.Errorf("%s has mode %o of user %d, want %o", h.Name, h.Mode, h.Uid, mode)
		}
		delete(want, h.Name)
	}
	if len(want) > 0 {
		t.Errorf("not packed: %v", want)
	}
}

// TestPlacesOfFiles: SQLite files lie in the site's folder and have no port, the main app has the
// first one, and an arena without an app cannot be put onto machines.
func TestPlacesOfFiles(t *testing.T) {
	a := &arena.Arena{Name: "tenants", Entry: "nginx", Services: []arena.Service{
		{Name: "database", Engine: iikanji.EngineMariaDB},
		{Name: "files", Engine: iikanji.EngineSQLite, Data: "tenant_db", Logs: []arena.Log{{Kind: "slow", File: "trace.log"}}},
		{Name: "login", Engine: iikanji.EngineGo},
		{Name: "app", Engine: iikanji.EngineGo},
		{Name: "nginx", Engine: iikanji.EngineNginx, Logs: []arena.Log{{Kind: "access", File: "access.log"}}}}}
	if err := Check(a); err != nil {
		t.Fatal(err)
	}
	p := (&site{arena: a}).places("10.0.0.1")
	files := p.Service("files")
	if files.Data != "/home/isucon/webapp/tenant_db" || files.Port != 0 || files.Log("slow") != "/home/isucon/trace.log" {
		t.Errorf("the files: %+v", files)
	}
	if p.Service("app").Port != 3000 || p.Service("login").Port != 3001 || p.Service("nginx").Log("access") != "/var/log/nginx/access.log" {
		t.Errorf("the apps: %+v %+v", p.Service("app"), p.Service("login"))
	}
	a.Services = a.Services[:2]
	if err := Check(a); err == nil {
		t.Error("without apps and a web server")
	}
}
