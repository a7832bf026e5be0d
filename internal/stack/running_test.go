package stack

import (
	"maps"
	"os"
	"testing"
)

// TestRunningSeesRestarts calls Running as another process would.
func TestRunningSeesRestarts(t *testing.T) {
	dir := shared(t)
	s := bring(t, tiny(), Options{Dir: dir})
	ask := func() map[string]int {
		t.Helper()
		pids, err := Running(dir)
		if err != nil {
			t.Fatal(err)
		}
		return pids
	}
	want := func() map[string]int {
		all := map[string]int{Owner: os.Getpid()}
		for name, pids := range s.Groups() {
			all[name] = pids[0]
		}
		return all
	}
	before := ask()
	if len(before) != 4 || !maps.Equal(before, want()) {
		t.Fatalf("running: %v, want %v", before, want())
	}
	if err := s.Restart(t.Context(), App); err != nil {
		t.Fatal(err)
	}
	after := ask()
	if !maps.Equal(after, want()) || after[App] == before[App] || after[Database] != before[Database] {
		t.Errorf("after a restart of the app: %v, before %v, want %v", after, before, want())
	}
	down(t, s)
	if pids := ask(); len(pids) != 0 {
		t.Errorf("a stack that is down runs %v", pids)
	}
	if pids, err := Running(t.TempDir()); len(pids) != 0 || err != nil {
		t.Errorf("a folder that is none: %v, %v", pids, err)
	}
}

// TestPassIsGoneAfterwards asserts that a drop-in of Pass is in force after a
// restart. A stack that never removed it must leave nothing of it to the next stack.
func TestPassIsGoneAfterwards(t *testing.T) {
	dir := shared(t)
	s := bring(t, tiny(), Options{Dir: dir})
	was := value(t, s, "long_query_time")
	if err := s.Pass(Database, "[mariadbd]\nlong_query_time = 3\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context(), Database); err != nil {
		t.Fatal(err)
	}
	if now := value(t, s, "long_query_time"); now == was || now != "3.000000" {
		t.Errorf("long_query_time is %s, was %s: what was passed is not in force", now, was)
	}
	if err := s.Pass(Nginx, "access_log off;\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context(), Nginx); err != nil {
		t.Fatal(err)
	}
	before := s.dir.size(accessLog)
	page(t, s.Places().URL()+"/")
	if after := s.dir.size(accessLog); after != before {
		t.Errorf("the access log grew by %d bytes while it was off", after-before)
	}
	if err := s.Pass(App, "x"); err == nil {
		t.Error("the app took a drop-in")
	}
	down(t, s)
	for _, place := range passingPlaces {
		mustExist(t, s.dir.path(place), true) // otherwise the next lines prove nothing
	}
	next := bring(t, tiny(), Options{Dir: dir})
	if now := value(t, next, "long_query_time"); now != was {
		t.Errorf("long_query_time is %s in the next stack, want %s", now, was)
	}
	for _, place := range passingPlaces {
		mustExist(t, next.dir.path(place), false)
	}
}
