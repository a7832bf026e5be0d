package process

import (
	"strings"
	"testing"
)

// TestEngines holds that the line of each engine has all that its parts need.
func TestEngines(t *testing.T) {
	for name, e := range engines {
		setUp, trial := strings.Join(e.SetUp, " "), strings.Join(e.Trial, " ")
		for what, wrong := range map[string]bool{
			"a reload without a test":               e.Reload != 0 && e.TestFile == nil && e.test == nil,
			"a title that nothing reads":            e.title != "" && e.arguments == nil && e.again == 0,
			"a new start without a test before it":  e.again != 0 && e.test == nil,
			"a way to read no title":                e.title == "" && (e.arguments != nil || e.test != nil || e.overwrites),
			"a set-up without its room":             (e.SetUp != nil) != (e.Room > 0),
			"a set-up that fills no folder":         e.SetUp != nil && !strings.Contains(setUp, "{{.Self.Data}}"),
			"several questions of readiness":        e.SQL && (e.Path != "" || e.Expect != "") || e.Path != "" && e.Expect != "",
			"a text to send and no answer":          (e.Send != "") != (e.Expect != ""),
			"a trial that is never ready":           e.Trial != nil && !e.SQL,
			"a trial whose log is not read":         (e.Trial != nil) != (e.Adjusted != nil),
			"a trial with the real configuration":   e.Trial != nil && !strings.Contains(trial, "={{.Self.Config}}"),
			"a trial with the real socket":          e.Trial != nil && !strings.Contains(trial, "socket={{.Self.Socket}}"),
			"a trial with the real data":            e.Trial != nil && !strings.Contains(trial, "datadir={{.Self.Data}}"),
			"a file of SQL, and takes no SQL":       e.InitSQL && !e.SQL,
			"nothing that a supervisor needs":       e.Start == nil && e.Send == "" && e.title == "" && e.TestFile == nil,
			"a test for arenas, and none for sites": e.Check != nil && e.Reload != 0 && e.TestFile == nil,
		} {
			if wrong {
				t.Errorf("%s has %s", name, what)
			}
		}
		for _, s := range e.Stop {
			if s.Signal == 0 || s.Wait <= 0 {
				t.Errorf("%s: a step of its end is %+v", name, s)
			}
		}
	}
}
