package work

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/day/work/store"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// twoStates are states of one host: a unit of the app has a drop-in in the first one, in a folder
// that is gone now, and another one in the second.
func twoStates(t *testing.T, st *store.Store, on string) (now, then *state.State) {
	t.Helper()
	of := func(run iikanji.RunID, path, text string) *state.State {
		sha, err := st.Put([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return &state.State{Version: state.Version, Run: run, Hosts: []state.Host{{Name: on, Services: []state.Service{{Name: "app", Unit: "app"}},
			Files: []state.File{{Path: path, Class: state.Text, SHA: sha, Mode: 0o644}}}}}
	}
	return of(2, change.UnitsFolder+"/app.service", "[Service]\nExecStart=/b\n"), of(1, change.UnitsFolder+"/app.service.d/a.conf", "[Service]\nRestart=always\n")
}

// TestBackUnits: files of units are brought back, systemd reads them before the service of the
// unit is started with them, and the undo does the same.
func TestBackUnits(t *testing.T) {
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, change.UnitsFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	running := struct{ change.Running }{}
	d := &Day{Store: st, Site: &change.Site{Hosts: map[string]host.Host{"app2": &host.Fake{Root: root, Host: "app2"}},
		Target:   iikanji.Target{Services: []iikanji.Service{{Name: "app", Host: "app2", Unit: "app"}}},
		Services: map[string]change.Service{"app": {Host: "app2", Running: running}}, Roots: []string{"app2:" + change.UnitsFolder}}}
	now, then := twoStates(t, st, "app2")
	b, err := d.PlanBack(t.Context(), now, then, nil)
	if err != nil || len(b.Stays) > 0 {
		t.Fatalf("%+v, %v", b, err)
	}
	var did []string
	for _, op := range b.Change.Do {
		did = append(did, op.Verb.String()+" "+op.Location())
	}
	want := []string{"remove app2:/etc/systemd/system/app.service", "write app2:/etc/systemd/system/app.service.d/a.conf", "reload app2:systemd", "restart app2:app"}
	if !slices.Equal(did, want) {
		t.Errorf("it does %q, want %q", did, want)
	}
	if op := b.Change.Do[1]; !op.Folder {
		t.Errorf("the folder of the drop-in is not made: %+v", op)
	}
	here, before := twoStates(t, st, "")
	d.Site.Roots = []string{"/etc"}
	if b, err = d.PlanBack(t.Context(), here, before, nil); err != nil || b.Change != nil || len(b.Stays) != 2 {
		t.Errorf("without systemd in the policy of this machine: %+v, %v", b, err)
	}
}

// TestBackOverMove: a state in which a service ran on another host is not brought back before its
// move is undone. A twin that runs on both hosts is no move.
func TestBackOverMove(t *testing.T) {
	at := func(homes ...string) *state.State {
		s := &state.State{Run: 7}
		for _, name := range []string{"isu1", "isu2"} {
			svc := state.Service{Name: "mariadb"}
			if slices.Contains(homes, name) {
				svc.Tables = map[string]string{}
			}
			s.Hosts = append(s.Hosts, state.Host{Name: name, Services: []state.Service{svc}})
		}
		return s
	}
	b, err := new(Day).PlanBack(t.Context(), at("isu2"), at("isu1"), nil)
	if err != nil || b.Change != nil || len(b.Stays) != 1 || !b.Stays[0].Matters || !strings.Contains(b.Stays[0].Why, "it runs on isu2 and ran on isu1 in run 7") {
		t.Errorf("%+v, %v", b, err)
	}
	for _, homes := range [][]string{{"isu1"}, {"isu2"}, {"isu1", "isu2"}} {
		if s := overMove(at(homes...), at(homes...)); s != nil {
			t.Errorf("%q: %+v", homes, s)
		}
	}
}
