package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// remedyFile writes a remedy of placements.
func (s *movedSite) remedyFile(name, args string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name+".json")
	text := `[{"kind": "topology", "target": "` + strings.Split(name, "-")[0] + `", "says": "` + name + `", "args": {` + args + `}}]`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// works are the machines on which a service used the CPU in a run that passed.
func (s *movedSite) works(service string) (on []string) {
	s.t.Helper()
	for _, u := range s.run().Usage {
		if u.Who == service && u.User+u.System > 30*time.Millisecond {
			on = append(on, u.Host)
		}
	}
	return on
}

// TestUpSpreadUnderLoad: on the site of iikanji up --hosts 3, which init describes, the app gets
// a second instance by two applies although it listens at 127.0.0.1, the database then goes to
// the third machine with both instances as its clients, the benchmark passes, and the undo
// leaves all machines as they were.
func TestUpSpreadUnderLoad(t *testing.T) {
	tier.Long(t, "three machines boot and the app runs on two of them; TestSpread has the same change without an arena")
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	key, err := lab.NewKey(t.Context(), filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	withAgent(t, key)
	s := newMovedSite(t, upOnHosts(t, "--hosts", "3", "--key", key.Path+".pub"))
	before := s.state()
	spread := s.remedyFile("isucondition.go-spread", `"act": "spread", "service": "isucondition.go", "over": "isu1,isu3"`)
	move := s.remedyFile("mariadb-move", `"act": "move", "service": "mariadb", "to": "isu2"`)
	for _, file := range []string{spread, spread} {
		t.Log(s.must("apply", s.dir, "--dir", s.work, "--file", file))
	}
	if on := s.works("isucondition.go"); len(on) != 2 || on[0] == on[1] {
		t.Errorf("spread, the app works on %q", on)
	}
	for _, file := range []string{move, move} {
		t.Log(s.must("apply", s.dir, "--dir", s.work, "--file", file))
	}
	if on := s.works("mariadb"); len(on) != 1 || on[0] != "isu2" {
		t.Errorf("moved, the database works on %q", on)
	}
	if got := s.inside("isu3", "sudo -n systemctl show -p Environment -p EnvironmentFiles isucondition.go; sudo -n cat /etc/systemd/system/isucondition.go.service.d/*iikanji*"); !strings.Contains(got, "MYSQL_HOST="+s.addresses[1]) || !strings.Contains(got, "SERVER_APP_HOST=0.0.0.0") {
		t.Errorf("the second instance has\n%s", got)
	}
	s.must("revert", s.dir, "--all", "--dir", s.work)
	s.same(before, "after the undo")
	if on := s.works("isucondition.go"); len(on) != 1 || on[0] != "isu1" {
		t.Errorf("back, the app works on %q", on)
	}
}
