package livesite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/site/target"
)

// placedAs gives a subject of a test the placement of its file, without services.
func placedAs(s *Subject) *Subject {
	if s.options.File == nil {
		s.options.File = &target.File{}
	}
	s.at.Store(&placement{s.options.File, map[string]*running{}})
	return s
}

// TestHomeOfMoved: the folders with the SQL of initialize are on the machine that the file names,
// wherever the database is now.
func TestHomeOfMoved(t *testing.T) {
	f := &target.File{Services: []target.Service{{Name: "mariadb", Host: "web"}, {Name: "app", Host: "app2"}}}
	s := placedAs(&Subject{options: Options{File: f}})
	if s.home("mariadb") != "web" || s.home("app") != "app2" || s.home("other") != "" {
		t.Errorf("%q, %q", s.home("mariadb"), s.home("app"))
	}
	f.Services[0].Database.Loads = []string{"/sql"}
	if svc := Files(nil, f, "/w").Services["mariadb"]; svc.LoadsOn != "web" {
		t.Errorf("%+v", svc)
	}
}

// TestOverlaid: a placement changes where a service is and where it is spare, and nothing of
// the file itself.
func TestOverlaid(t *testing.T) {
	dir := t.TempDir()
	f := &target.File{Services: []target.Service{{Name: "mariadb", Host: "web", Spare: []string{"app2", "db"}, Listen: "127.0.0.1:3306"}, {Name: "app", Host: "web"}}}
	if over, err := Placed(f, dir); err != nil || over != f {
		t.Fatalf("without a placement: %v, %v", over, err)
	}
	text := `{"version": 1, "services": {"mariadb": {"host": "db", "address": "10.0.0.13:3306"}}}`
	if err := os.WriteFile(filepath.Join(dir, placementName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	over, err := Placed(f, dir)
	if err != nil {
		t.Fatal(err)
	}
	if s := over.Services[0]; s.Host != "db" || s.Listen != "10.0.0.13:3306" || !slices.Equal(s.Spare, []string{"web", "app2"}) {
		t.Errorf("%+v", s)
	}
	if s := over.Services[1]; s.Host != "web" {
		t.Errorf("%+v", s)
	}
	if s := f.Services[0]; s.Host != "web" || len(s.Spare) != 2 || s.Spare[1] != "db" {
		t.Errorf("the file itself: %+v", s)
	}
	if err := os.WriteFile(filepath.Join(dir, placementName), []byte(`{"version": 9}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Placed(f, dir); err == nil {
		t.Error("a newer version is read")
	}
}
