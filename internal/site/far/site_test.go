package far_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	_ "github.com/iikanji/iikanji/internal/change/all" // every kind
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/loader"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/discover"
	"github.com/iikanji/iikanji/internal/site/doctor"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/observe"
	"github.com/iikanji/iikanji/internal/site/target"
	"github.com/iikanji/iikanji/internal/site/targettest"
)

// elsewhere is the file of the ferry company with all services on the machine "far".
func elsewhere(t *testing.T, site *targettest.Site) *target.File {
	t.Helper()
	found, err := discover.Ask(t.Context(), host.Local{}, discover.Options{URL: site.URL, Self: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := target.Parse(filepath.Join(site.Dir, target.Name), []byte(found.Text()))
	if err != nil {
		t.Fatal(err)
	}
	f.Hosts = []target.Host{{Name: "far", Address: "ssh://far"}}
	for i := range f.Services {
		s := &f.Services[i]
		s.Host = "far"
		if s.Role == iikanji.RoleApp {
			again := fmt.Sprintf(`cd %s/app; env=$(tr '\0' '\n' </proc/$(cat ../run/$1.pid)/environ | sed "s/'/'\\\\''/g; s/^/'/; s/$/'/" | tr '\n' ' ')
old=$(cat ../run/$1.pid); kill $old; while kill -0 $old 2>/dev/null; do sleep 0.02; done; eval "env $env nohup ../bin/ferry $2 >>../log/$1.log 2>&1 </dev/null & echo \$! >../run/$1.pid"`, site.Dir)
			words := "serve counter"
			if s.Listen == "" {
				words = "tidy tidy"
			}
			mode, file, _ := strings.Cut(words, " ")
			s.Commands.Restart = "set -- " + file + " " + mode + "; " + again
		}
	}
	for i, dir := range f.Policy.Folders {
		f.Policy.Folders[i] = "far:" + dir
	}
	f.Bench = target.Bench{Command: site.Dir + "/bin/load " + site.URL + " 2", Length: target.Duration(2 * time.Second), Dir: site.Dir}
	if err := errors.Join(f.Bench.Score.UnmarshalText([]byte("json:score")), f.Bench.Pass.UnmarshalText([]byte("json:pass"))); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestSiteElsewhere: a site on another machine is checked, restarted, diagnosed and rewritten
// through its far end: its processes, files, logs, database, clock and source.
func TestSiteElsewhere(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	site, err := targettest.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := site.Stop(); err != nil {
			t.Error(err)
		}
	})
	f, hosts, dir := elsewhere(t, site), livesite.Hosts{"far": thisThere(t)}, t.TempDir()
	t.Run("doctor", func(t *testing.T) { checked(t, doctor.Options{File: f, Dir: dir, Hosts: hosts}) })
	err = livesite.Use(ctx, livesite.Options{File: f, Dir: dir, Hosts: hosts, Progress: func(line string) { t.Log(line) }}, func(ctx context.Context, s *livesite.Subject) error {
		for _, name := range []string{"ferry", "ferry-2"} {
			before := s.Groups()[name]
			if err := s.Restart(ctx, name); err != nil {
				t.Errorf("restart of %s: %v", name, err)
			}
			if now := s.Groups()[name]; len(now) != 1 || slices.Equal(now, before) {
				t.Errorf("%s: processes %v, before %v", name, now, before)
			}
		}
		if says, err := s.Way("mariadb"); err == nil {
			t.Errorf("a process of another machine is restarted %s", says)
		}
		t.Run("diagnose", func(t *testing.T) { diagnosed(t, s, f) })
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	t.Run("rewrite", func(t *testing.T) { rewritten(t, site, f, hosts) })
}

// checked fails for a check that failed; that services without a unit have no way to be
// restarted is a warning.
func checked(t *testing.T, o doctor.Options) {
	checks, err := doctor.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range checks {
		seen[c.Name] = true
		if c.State == doctor.Failed || c.State == doctor.Skipped {
			t.Errorf("%s: %s: %s", c.Service, c.Name, c.Says)
		}
	}
	for _, name := range []string{"process", "config", "access log", "folder of logs.slow", "schema", "health", "configuration test", "folder of changes"} {
		if !seen[name] {
			t.Errorf("no check of %s", name)
		}
	}
	lost := livesite.Hosts{"far": host.Down{Host: "far", Err: os.ErrDeadlineExceeded}}
	o.Hosts = lost
	if checks, err = doctor.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(checks, func(c doctor.Check) bool {
		return c.State == doctor.Failed && strings.Contains(c.Says, "far") && c.Name == "processes"
	}) {
		t.Errorf("a machine that is down: %+v", checks)
	}
}

// greenTries limits how often a run is observed again: on a busy machine a sensor may rightly be
// red, as one that is read too seldom.
const greenTries = 6

// diagnosedGreen observes runs until all sensors but those of hosts are green.
func diagnosedGreen(t *testing.T, fd *field.Field, load time.Duration) (*diagnose.Diagnosis, []iikanji.Fact) {
	t.Helper()
	red := func(s observe.Sensor) bool { return s.Source != iikanji.Host && !s.Green }
	for try := 1; ; try++ {
		d, known, err := fd.Diagnose(t.Context(), field.Load{Time: load}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, sensor := range d.Sensors {
			t.Logf("%s %s green=%v %s", sensor.Source, sensor.Name, sensor.Green, sensor.Why())
		}
		if i := slices.IndexFunc(d.Sensors, red); i < 0 {
			return d, known
		} else if try == greenTries {
			t.Errorf("%s is red: %s", d.Sensors[i].Name, d.Sensors[i].Why())
			return d, known
		}
	}
}

// diagnosed observes a run of the site.
func diagnosed(t *testing.T, s *livesite.Subject, f *target.File) {
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	s.Journal(h)
	l := &loader.Command{Site: f.Site, URL: f.URL, Bench: f.Bench, Now: time.Now, AccessLog: s.AccessLog, Machine: s.Front(), Prepare: s.Prepare()}
	fd := &field.Field{Subject: s, Loader: l, History: h, Now: time.Now}
	d, known := diagnosedGreen(t, fd, 2*time.Second)
	on, ok := d.Run.Host("far")
	if !ok || on.Machine == nil || on.Environment == nil || on.Clock == nil || on.Identity == "" || on.Boot == "" {
		t.Fatalf("the machine in the run: %+v", on)
	}
	if off := (on.Clock.Before.Offset - late).Abs(); off > on.Clock.Before.Within()+time.Millisecond {
		t.Errorf("its clock is %v ahead, want %v", on.Clock.Before.Offset, late)
	}
	used := map[string]string{}
	for _, u := range d.Run.Usage {
		used[u.Who] = u.Host
	}
	if used["mariadb"] != "far" || used["ferry"] != "far" || used["generator"] != "" {
		t.Errorf("the usage is of %v", used)
	}
	sources := map[string]bool{}
	ob, _, err := observe.Recall(h, d.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ob.Profiles {
		sources[p.Source.String()+" "+p.Target] = len(p.Rows) > 0
		if !p.First.IsZero() && p.Source == iikanji.Host && (p.First.Before(d.Run.Began.Add(-2*time.Second)) || p.First.After(time.Now())) {
			t.Errorf("%s of %s begins at %v, the run at %v", p.Source, p.Target, p.First, d.Run.Began)
		}
	}
	for _, want := range []string{"access nginx", "slow mariadb", "host far", "host local"} {
		if !sources[want] {
			t.Errorf("no profile %q in %v", want, sources)
		}
	}
	if !slices.ContainsFunc(known, func(k iikanji.Fact) bool { return fact.TopicTable.Is(k) && k.Host == "far" }) {
		t.Error("no table has the machine")
	}
	if n, err := livesite.SensorsInForce(h); err != nil || n != 0 {
		t.Errorf("%d sensors are in force, %v", n, err)
	}
}
