package nginxconf

import (
	"database/sql"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
)

// TestLogIsConfined: only access logs that exist are opened. A plan does not
// open others either, although nginx tests its configuration.
func TestLogIsConfined(t *testing.T) {
	s := newTestSite(t)
	for _, path := range []string{filepath.Join(t.TempDir(), "outside.log"), filepath.Join(s.dir, "conf/sites/b.conf"), filepath.Join(s.dir, "public/a.js")} {
		_, err := change.Plan(t.Context(), s.open(s.dir), remedy("set", "directive", "access_log", "value", path+" combined buffer=64k"))
		if err == nil || !strings.Contains(err.Error(), "no access log is written there now") {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is there after the plan: %v", path, err)
		}
	}
	apply(t, s, remedy("set", "directive", "access_log", "value", filepath.Join(s.dir, "access.log")+" combined buffer=64k"))
}

// TestSocketIsConfined: the socket of another program is not opened to clients,
// even if it accepts and nginx may use it; neither is that of a database.
func TestSocketIsConfined(t *testing.T) {
	s := newTestSite(t)
	outside, link := filepath.Join(s.dir, "engine.sock"), filepath.Join(s.dir, "public/link.sock")
	ours, database := filepath.Join(s.dir, "public/app.sock"), filepath.Join(s.dir, "app.sock")
	for _, path := range []string{outside, ours, database} {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	site := s.open(s.dir)
	plan := func(path string) error {
		_, err := change.Plan(t.Context(), site, remedy("upstream socket", "socket", path))
		return err
	}
	for _, path := range []string{outside, link} {
		if err := plan(path); err == nil || !strings.Contains(err.Error(), "not one of the target's") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := plan(ours); err != nil {
		t.Errorf("in the target's folders: %v", err)
	}
	if err := plan(database); err != nil {
		t.Errorf("the app's: %v", err)
	}
	site.Services["app"] = change.Service{Running: changetest.Running{Pool: new(sql.DB)}}
	if err := plan(database); err == nil || !strings.Contains(err.Error(), "not one of the target's") {
		t.Errorf("a database's: %v", err)
	}
}

// TestSocketOfApp: a socket is named below the source of an app, and nowhere else.
func TestSocketOfApp(t *testing.T) {
	s := newTestSite(t)
	public := filepath.Join(s.dir, "public")
	l, err := net.Listen("unix", filepath.Join(public, "app.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chmod(filepath.Join(public, "app.sock"), 0o666); err != nil {
		t.Fatal(err)
	}
	site := s.open(s.dir)
	site.Services["go"] = change.Service{Source: public}
	site.Services["far"] = change.Service{Source: public, Host: "db"}
	site.Services["plain"] = change.Service{}
	c, err := change.Plan(t.Context(), site, remedy("upstream socket", "socket", "app.sock", "of", "go"))
	if err != nil || !strings.Contains(change.Diff(c), "unix:"+filepath.Join(public, "app.sock")) {
		t.Errorf("%v: %+v", err, c)
	}
	for _, args := range [][2]string{{"../app.sock", "go"}, {"/app.sock", "go"}, {"app.sock", "far"}, {"app.sock", "plain"}, {"app.sock", "none"}, {"other.sock", "go"}} {
		if _, err := change.Plan(t.Context(), site, remedy("upstream socket", "socket", args[0], "of", args[1])); err == nil {
			t.Errorf("planned: %q", args)
		}
	}
}

// TestLinkOutside: a configuration that is a link to a file outside the folders of
// the target is refused in the plan: it could neither be applied nor undone.
func TestLinkOutside(t *testing.T) {
	s := newTestSite(t)
	conf := filepath.Join(s.dir, "conf/nginx.conf")
	text, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "nginx.conf")
	if err := errors.Join(os.WriteFile(outside, text, 0o644), os.Remove(conf), os.Symlink(outside, conf)); err != nil {
		t.Fatal(err)
	}
	for _, r := range []iikanji.Remedy{remedy("workers", "connections", "2048"), remedy("access log", "log", "off")} {
		if c, err := change.Plan(t.Context(), s.open(s.dir), r); err == nil || !strings.Contains(err.Error(), "outside the folders") {
			t.Errorf("%v: %v\n%+v", r.Args, err, c)
		}
	}
}
