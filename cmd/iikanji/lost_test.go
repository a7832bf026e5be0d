package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/site/target"
)

// toldTitles is a receiver of notices. It returns the titles so far.
func toldTitles(t *testing.T, variable string) (titles func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n struct{ Kind, Title, Text string }
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, n.Kind+": "+n.Title)
	}))
	t.Cleanup(s.Close)
	t.Setenv(variable, s.URL)
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// TestLostMachines: one notice is sent when a machine is lost, however many commands see it, and
// one when it is back. No notice is sent of a machine that iikanji itself reboots.
func TestLostMachines(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	titles := toldTitles(t, "LOST_HOOK")
	now := time.Unix(1000, 0)
	e := &env{Stderr: &strings.Builder{}, Now: func() time.Time { return now }}
	site := func() *namedTarget {
		return &namedTarget{Name: "shop", file: &target.File{Site: "shop", Path: "/srv/shop/iikanji.toml", Team: target.Team{Notify: []target.Ref{"env:LOST_HOOK"}}}}
	}
	first := watchLost(t.Context(), e, site())
	first.changed("db", nil)
	first.changed("db", errors.New("no answer"))
	first.changed("db", errors.New("no answer"))
	first.sending.Wait()
	now = now.Add(90 * time.Second)
	second := watchLost(t.Context(), e, site())
	second.changed("db", errors.New("no answer"))
	second.changed("db", nil)
	second.changed("db", nil)
	second.sending.Wait()
	reboots := site()
	reboots.expect([]string{"db"}, true)
	third := watchLost(t.Context(), e, reboots)
	third.changed("db", errors.New("it reboots"))
	third.changed("db", nil)
	reboots.expect([]string{"db"}, false)
	third.sending.Wait()
	if want := []string{"host: machine db is lost", "host: machine db is back after 90.0s"}; !slices.Equal(titles(), want) {
		t.Errorf("told %q, want %q", titles(), want)
	}
	silent := site()
	silent.file.Team.Notify = nil
	none := watchLost(t.Context(), e, silent)
	none.changed("db", errors.New("no answer"))
	none.sending.Wait()
	if len(titles()) != 2 {
		t.Errorf("a team without receivers: %q", titles())
	}
}
