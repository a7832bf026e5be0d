package discover

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestAskSaysWhatIsNotSupported: of an idle site in Python on PostgreSQL, init says first
// that PostgreSQL is not diagnosed, and asks whether the server is the site's.
func TestAskSaysWhatIsNotSupported(t *testing.T) {
	tier.Slow(t)
	folder := servertest.Postgres(t, nil)
	address := servertest.FreeAddress(t)
	host4, port, _ := strings.Cut(address, ":")
	cmd := exec.Command("python3", "-m", "http.server", port, "--bind", host4)
	cmd.Dir = t.TempDir()
	servertest.Start(t, cmd, address)
	found, err := Ask(t.Context(), host.Local{}, Options{URL: "http://" + address, Self: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Limits) < 2 || found.Limits[0].Engine != target.EnginePostgreSQL || !strings.Contains(found.Limits[0].Service, folder) ||
		!strings.Contains(found.Limits[0].Text(), "was seen; for its slowest statements type: iikanji slow --dsn postgres:///DATABASE?host="+folder+" ") {
		t.Errorf("the limits are %+v", found.Limits)
	}
	if last := found.Limits[len(found.Limits)-1]; last.Engine != "python" {
		t.Errorf("the last limit is %+v", last)
	}
	if all := strings.Join(found.Todo, "\n"); !strings.Contains(all, "postgresql runs at "+folder) {
		t.Errorf("to do: %s", all)
	}
}

// TestAskOtherWebServer: a web server that is no nginx is no app: init says first that it is
// not supported.
func TestAskOtherWebServer(t *testing.T) {
	tier.Slow(t)
	python, err := exec.LookPath("/usr/bin/python3") // a shim in PATH would be a script
	if err != nil {
		t.Fatal(err)
	}
	// A program that this process writes could not be executed while another test forks.
	path := filepath.Join(t.TempDir(), "lighttpd")
	if out, err := exec.Command("cp", "-L", python, path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address := servertest.FreeAddress(t)
	ip, port, _ := strings.Cut(address, ":")
	cmd := exec.Command(path, "-m", "http.server", port, "--bind", ip)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PYTHONHOME=/usr")
	servertest.Start(t, cmd, address)
	found, err := Ask(t.Context(), host.Local{}, Options{URL: "http://" + address, Self: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	if s := found.File.Services; len(s) != 1 || s[0].Role != iikanji.RoleWeb || s[0].Engine != "lighttpd" || s[0].Listen != address {
		t.Errorf("the services are %+v", s)
	}
	if l := found.Limits; len(l) != 1 || l[0].Engine != "lighttpd" || !strings.Contains(l[0].Text(), "lighttpd at "+address+" was seen; no access log of it is known: have it write one with times, ") {
		t.Errorf("the limits are %+v", l)
	}
	if all := strings.Join(found.Todo, "\n"); !strings.Contains(all, "no app behind it was found") {
		t.Errorf("to do: %s", all)
	}
}
