package work

import (
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/day/work/store"
)

// TestNewlyUnread: a place that cannot be read is named at the first run, not at the next ones, and
// again when it could be read in between. Places of other machines have the machine's name.
func TestNewlyUnread(t *testing.T) {
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &Day{Store: st}
	for run, c := range []struct {
		here, db map[string]string
		want     []string
	}{
		{nil, map[string]string{"/etc/a": "permission denied"}, []string{"db:/etc/a: permission denied"}},
		{map[string]string{"/etc/b": "it is damaged"}, map[string]string{"/etc/a": "permission denied"}, []string{"/etc/b: it is damaged"}},
		{map[string]string{"/etc/b": "it is damaged"}, nil, nil},
		{nil, map[string]string{"/etc/a": "permission denied"}, []string{"db:/etc/a: permission denied"}},
	} {
		s := &state.State{Version: state.Version, Run: iikanji.RunID(run + 1), At: time.Unix(int64(run), 0), Hosts: []state.Host{{Unread: c.here}, {Name: "db", Unread: c.db}}}
		if err := st.SaveState(s); err != nil {
			t.Fatal(err)
		}
		if got := d.NewlyUnread(s); !slices.Equal(got, c.want) {
			t.Errorf("run %d: %q, want %q", run+1, got, c.want)
		}
	}
}
