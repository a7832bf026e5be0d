package judging

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestFlags: what two teams share is one flag for each set of teams; boots of the judges, and those
// during play, are none.
func TestFlags(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2027, 2, 6, 10, minute, 0, 0, time.UTC) }
	e := Evidence{
		Machines: []Machine{{"a", "s1", "10.0.0.1", "boot1", []string{"key1", "key2"}}, {"a", "s2", "10.0.0.2", "boot2", nil}, {"b", "s1", "10.0.0.1", "boot1", []string{"key2"}},
			{"c", "s1", "10.0.0.3", "", []string{""}}, {"d", "s1", "10.0.0.4", "", nil}, {"a", "s3", "10.0.0.2", "boot2", nil}},
		People:  []Person{{"a", "aoi@example.com"}, {"c", "Aoi@example.com"}, {"d", ""}, {"b", ""}},
		Events:  []MachineEvent{{"a", "s1", at(20), true}, {"b", "s1", at(10), false}, {"b", "s1", at(31), false}, {"b", "s2", at(41), false}, {"c", "s1", at(59), false}, {"d", "s1", at(59), false}},
		Answers: []Answers{{"c", at(25), []string{"/about"}}},
		Ends:    map[string]time.Time{"a": at(30), "b": at(30), "c": at(30)}, HandsOff: map[string]time.Time{"b": at(40)},
	}
	say := func(e Evidence) string {
		var out []string
		for _, f := range Flags(e) {
			minute := -1
			if !f.At.IsZero() {
				minute = f.At.Minute()
			}
			out = append(out, fmt.Sprint(f.Kind, f.Teams, append(f.Hosts, f.Pages...), minute))
		}
		return strings.Join(out, "\n")
	}
	want := "machine[a b] [s1] -1\naddress[a b] [s1] -1\nmail[a c] [] -1\nkeys[a] [s1] 20\nanswers[c] [/about] 25\nboot[b] [s1] 31\nboot[c] [s1] 59"
	if got := say(e); got != want {
		t.Errorf("flags:\n%s\nwant\n%s", got, want)
	}
	if e.Local = true; say(e) != want[strings.Index(want, "mail"):] {
		t.Errorf("on one machine:\n%s", say(e))
	}
	if got := Flags(Evidence{}); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}
