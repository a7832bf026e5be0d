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

// tenantsApp is an app with a file of SQLite for each of two tenants, and a log.
const tenantsApp = `
import http.server, sqlite3, sys
open_files = []
for tenant in ("a", "b"):
    db = sqlite3.connect(sys.argv[2] + "/" + tenant + ".db")
    db.execute("CREATE TABLE score (id INTEGER PRIMARY KEY, points INTEGER)")
    db.commit()
    open_files.append(db)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
`

// TestAskOpenFiles: the SQLite files that an app has open are a service, and the file that
// it writes its output to is a log.
func TestAskOpenFiles(t *testing.T) {
	tier.Slow(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "tenants")
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	program, output := filepath.Join(dir, "app.py"), filepath.Join(dir, "app.log")
	if err := os.WriteFile(program, []byte(tenantsApp), 0o644); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(output)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	address := servertest.FreeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	cmd := exec.Command("python3", program, port, data)
	cmd.Dir, cmd.Stdout = dir, log
	servertest.Start(t, cmd, address)
	found, err := Ask(t.Context(), host.Local{}, Options{URL: "http://" + address, Dir: dir, Self: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := target.Parse(filepath.Join(dir, target.Name), []byte(found.Text()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, found.Text())
	}
	var app, files *target.Service
	for i := range f.Services {
		switch s := &f.Services[i]; {
		case s.InFiles():
			files = s
		case s.Role == iikanji.RoleApp:
			app = s
		}
	}
	if files == nil || len(files.Database.Files) != 1 || files.Database.Files[0] != data {
		t.Errorf("the files are %+v in\n%s", files, found.Text())
	}
	if app == nil || app.Logs.Output != output {
		t.Errorf("the app is %+v", app)
	}
	if todo := strings.Join(found.Todo, "\n"); !strings.Contains(todo, "trace") || strings.Contains(todo, "no database") {
		t.Errorf("to do: %s", todo)
	}
}
