package stack

import (
	"maps"
	"os"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// owner is not the name of a service.
const owner = "the owner"

// TestRunningSeesRestarts calls Running as another process would.
func TestRunningSeesRestarts(t *testing.T) {
	dir := shared(t)
	s := bring(t, tiny(), Options{Dir: dir})
	ask := func() map[string]int {
		t.Helper()
		running, err := Running(dir)
		if err != nil {
			t.Fatal(err)
		}
		pids := map[string]int{}
		for _, p := range running.Services {
			pids[p.Name] = p.PID
		}
		if running.Owner != 0 {
			pids[owner] = running.Owner
		}
		return pids
	}
	want := func() map[string]int {
		all := map[string]int{owner: os.Getpid()}
		for name, pids := range s.Groups() {
			all[name] = pids[0]
		}
		return all
	}
	before := ask()
	if len(before) != 4 || !maps.Equal(before, want()) {
		t.Fatalf("running: %v, want %v", before, want())
	}
	if err := s.Restart(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	after := ask()
	if !maps.Equal(after, want()) || after[app] == before[app] || after[database] != before[database] {
		t.Errorf("after a restart of the app: %v, before %v, want %v", after, before, want())
	}
	down(t, s)
	if pids := ask(); len(pids) != 0 {
		t.Errorf("a stack that is down runs %v", pids)
	}
	if running, err := Running(t.TempDir()); running.Up() || len(running.Services) != 0 || err != nil {
		t.Errorf("a folder that is none: %v, %v", running, err)
	}
}

// TestPassIsGoneAfterwards asserts that a drop-in of Pass is in force after a
// restart. A stack that never removed it must leave nothing of it to the next stack.
func TestPassIsGoneAfterwards(t *testing.T) {
	tier.Slow(t)
	dir := shared(t)
	s := bring(t, tiny(), Options{Dir: dir})
	was := value(t, s, "long_query_time")
	if err := s.Pass(database, "[mariadbd]\nlong_query_time = 3\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	if now := value(t, s, "long_query_time"); now == was || now != "3.000000" {
		t.Errorf("long_query_time is %s, was %s: what was passed is not in force", now, was)
	}
	if err := s.Pass(nginx, "access_log off;\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context(), nginx); err != nil {
		t.Fatal(err)
	}
	before := s.dir.size(accessLog)
	page(t, s.Places().URL()+"/")
	if after := s.dir.size(accessLog); after != before {
		t.Errorf("the access log grew by %d bytes while it was off", after-before)
	}
	if err := s.Pass(app, "x"); err == nil {
		t.Error("the app took a drop-in")
	}
	down(t, s)
	places := []string{passingPlace(s.arena.Service(database)), passingPlace(s.arena.Service(nginx))}
	for _, place := range places {
		mustExist(t, s.dir.path(place), true) // otherwise the next lines prove nothing
	}
	next := bring(t, tiny(), Options{Dir: dir})
	if now := value(t, next, "long_query_time"); now != was {
		t.Errorf("long_query_time is %s in the next stack, want %s", now, was)
	}
	for _, place := range places {
		mustExist(t, next.dir.path(place), false)
	}
}
