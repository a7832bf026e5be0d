package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A yard is a portal with hosts that send to it, on a clock of its own.
type yard struct {
	t       *testing.T
	service *Service
	token   string
	mu      sync.Mutex
	at      time.Time
	down    bool // the portal takes nothing
}

var staff = api.Who{Account: "s", Role: api.Viewer}

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{t: t, at: time.Date(2027, 2, 6, 10, 0, 0, 0, time.UTC)}
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "y.db"), store.Options{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	core := lead.New(lead.Options{Store: s, Carry: carry.NewMemory(y.now), Now: y.now})
	y.service = New(core)
	if y.token, err = AddSite(t.Context(), core, "shop", time.Hour*24*30); err != nil {
		t.Fatal(err)
	}
	return y
}

func (y *yard) now() time.Time {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.at
}

func (y *yard) pass(d time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.at = y.at.Add(d)
}

// send is how an agent sends: each part twice, as after a lost answer.
func (y *yard) send(ctx context.Context, p api.FleetPart) error {
	if y.down {
		return errors.New("down")
	}
	p.Token = y.token
	return errors.Join(y.service.KeepPart(ctx, p), y.service.KeepPart(ctx, p))
}

func (y *yard) agent(host, dir string, logs ...Log) *Agent {
	y.t.Helper()
	a, err := NewAgent(Options{Host: host, Logs: logs, Dir: dir, Send: y.send, Now: y.now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Access: accesslog.Options{}})
	if err != nil {
		y.t.Fatal(err)
	}
	return a
}

// close ends the minute on a host and sends it.
func (y *yard) close(a *Agent) {
	y.t.Helper()
	if err := a.Close(y.t.Context(), y.now().Truncate(time.Minute)); err != nil {
		y.t.Fatal(err)
	}
	if err := a.Deliver(y.t.Context()); err != nil && !y.down {
		y.t.Fatal(err)
	}
}

func (y *yard) ask(kind string) *api.FleetProfile {
	y.t.Helper()
	out, err := y.service.Fleet(y.t.Context(), staff, api.FleetAsk{Site: "shop", Kind: kind, Since: y.now().Add(-2 * time.Hour), Until: y.now().Add(time.Hour)})
	if err != nil {
		y.t.Fatal(err)
	}
	return out
}

// add appends to a log.
func (y *yard) add(path, text string) {
	y.t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err != nil {
		y.t.Fatal(err)
	}
	f.Close()
}

// lineOf is a line of an access log.
func lineOf(r *rand.Rand, at time.Time) string {
	paths := []string{"/", "/items/%d", "/items/%d/photo", "/login", "/users/%d/orders/%d"}
	path := paths[r.IntN(len(paths))]
	for strings.Contains(path, "%d") {
		path = strings.Replace(path, "%d", fmt.Sprint(1000+r.IntN(9000)), 1)
	}
	return fmt.Sprintf("10.0.0.1 - - [%s] \"GET %s HTTP/1.1\" %d %d \"-\" \"x\" %.6f\n", at.Format("02/Jan/2006:15:04:05 -0700"), path, []int{200, 200, 404, 500}[r.IntN(4)], r.IntN(9000), 0.001+r.Float64())
}

// entryOf is an entry of a slow log.
func entryOf(r *rand.Rand, at time.Time) string {
	statement := fmt.Sprintf([]string{"SELECT * FROM a WHERE id = %d", "UPDATE c SET n = n + %d"}[r.IntN(2)], r.IntN(1000))
	return fmt.Sprintf("# Time: %s\n# User@Host: isu[isu] @ localhost []\n# Thread_id: %d  Schema: isu  QC_hit: No\n# Query_time: %.6f  Lock_time: 0.000010  Rows_sent: %d  Rows_examined: %d\n# Rows_affected: 0  Bytes_sent: 10\nSET timestamp=%d;\n%s;\n",
		at.Format("060102 15:04:05"), r.IntN(5), 0.001+r.Float64(), r.IntN(50), r.IntN(5000), at.Unix(), statement)
}

// TestFleet: twenty hosts that send each part twice, are restarted, write half lines, rotate their
// logs and lose the portal for a while: the sums are those of one reading of all logs, percentiles
// within 1 %.
func TestFleet(t *testing.T) {
	const hosts, minutes, perMinute = 20, 6, 120
	for _, kind := range []string{"access", "slow"} {
		t.Run(kind, func(t *testing.T) {
			y, r := newYard(t), rand.New(rand.NewPCG(1, 2))
			record := lineOf
			if kind == "slow" {
				record = entryOf
			}
			dir, all := t.TempDir(), strings.Builder{}
			agents, paths := make([]*Agent, hosts), make([]string, hosts)
			open := func(i int) {
				agents[i] = y.agent(fmt.Sprintf("host%02d", i), filepath.Join(dir, fmt.Sprint("agent", i)), Log{kind, paths[i]})
			}
			for i := range hosts {
				paths[i] = filepath.Join(dir, fmt.Sprint(i, ".log"))
				y.add(paths[i], record(r, y.now())) // before the agent: not counted
				open(i)
			}
			for m := range minutes {
				y.down = m == 2
				for i := range hosts {
					var text strings.Builder
					for k := range perMinute {
						text.WriteString(record(r, y.now().Add(time.Duration(k)*time.Minute/perMinute)))
					}
					all.WriteString(text.String())
					whole := text.String()
					cut := len(whole) / 3
					y.add(paths[i], whole[:cut])
					if m == 3 && i%2 == 0 {
						open(i) // a restart in mid-record
					}
					y.close(agents[i])
					y.add(paths[i], whole[cut:])
					if m == 4 && i%3 == 0 {
						if err := os.Rename(paths[i], paths[i]+".1"); err != nil {
							t.Fatal(err)
						}
						y.add(paths[i], "")
					}
				}
				y.pass(time.Minute)
				for _, a := range agents {
					y.close(a)
				}
			}
			y.end(kind, paths, record(r, y.now()))
			for range 3 { // a log that was renamed is read for one more window
				y.pass(time.Minute)
				for _, a := range agents {
					y.close(a)
				}
			}
			got := y.ask(kind)
			compare(t, kind, got.Profile, readAll(t, kind, all.String()))
			if len(got.Hosts) != hosts || slices.ContainsFunc(got.Hosts, func(h api.FleetHost) bool { return h.Missing > 0 || h.Trouble != "" || h.Offset != 0 }) {
				t.Errorf("hosts %+v", got.Hosts)
			}
		})
	}
}

// end begins a further entry in each slow log: the one before is whole then. It is not counted.
func (y *yard) end(kind string, paths []string, entry string) {
	if kind != "slow" {
		return
	}
	for _, path := range paths {
		y.add(path, entry)
	}
}

// readAll reads all logs as one.
func readAll(t *testing.T, kind, text string) (p *iikanji.Profile) {
	t.Helper()
	var err error
	in := []*lines.Input{lines.Bytes("all", []byte(text))}
	if kind == "slow" {
		p, err = slowlog.Read(t.Context(), in, slowlog.Options{})
	} else {
		p, err = accesslog.Read(t.Context(), in, accesslog.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// compare requires equal sums by row, and percentiles within 1 %.
func compare(t *testing.T, kind string, got, want *iikanji.Profile) {
	t.Helper()
	if got == nil || len(got.Rows) != len(want.Rows) {
		t.Fatalf("the rows are %s, want %s", keys(got), keys(want))
	}
	if got.Intake.Bad != 0 || got.Intake.Lines != want.Intake.Lines {
		t.Errorf("%d lines, %d bad, want %d", got.Intake.Lines, got.Intake.Bad, want.Intake.Lines)
	}
	for i := range want.Rows {
		w := &want.Rows[i]
		j := slices.IndexFunc(got.Rows, func(r iikanji.Row) bool { return r.Key == w.Key })
		if j < 0 {
			t.Errorf("the row %s is missing in %s", w.Key, keys(got))
			continue
		}
		g := &got.Rows[j]
		if g.Count != w.Count || g.Errors != w.Errors || g.Total != w.Total || g.Max != w.Max {
			t.Errorf("%s: %+v, want %+v", w.Key, g, w)
		}
		if kind == "access" && (g.Web.Bytes != w.Web.Bytes || g.Web.Status != w.Web.Status) || kind == "slow" && (g.Query.Examined != w.Query.Examined || g.Query.Sent != w.Query.Sent) {
			t.Errorf("%s: other sums", w.Key)
		}
		if a, b := float64(g.P99), float64(w.P99); a < 0.99*b || a > 1.01*b {
			t.Errorf("%s: p99 %v, want %v", w.Key, g.P99, w.P99)
		}
	}
}

func keys(p *iikanji.Profile) (out []string) {
	if p == nil {
		return nil
	}
	for _, r := range p.Rows {
		out = append(out, r.Key)
	}
	slices.Sort(out)
	return out
}

// TestMergeOrder: parts merge to the same in any order and grouping.
func TestMergeOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var parts []*iikanji.Profile
	for range 9 {
		var text strings.Builder
		for range 60 {
			text.WriteString(entryOf(r, time.Unix(1795255200, 0)))
		}
		parts = append(parts, readAll(t, "slow", text.String()))
	}
	whole := merged(t, parts...)
	for range 20 {
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		k := 1 + r.IntN(len(parts)-1)
		compare(t, "slow", merged(t, merged(t, parts[:k]...), merged(t, parts[k:]...)), whole)
	}
}

func merged(t *testing.T, parts ...*iikanji.Profile) *iikanji.Profile {
	t.Helper()
	p, err := tally.Merge(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestGaps: a host that was silent has missing minutes, one whose clock is off or whose log cannot
// be read says so, and a full spool drops the oldest parts.
func TestGaps(t *testing.T) {
	y, dir := newYard(t), t.TempDir()
	path := filepath.Join(dir, "a.log")
	y.add(path, "")
	a, b := y.agent("a", filepath.Join(dir, "a"), Log{"access", path}), y.agent("b", filepath.Join(dir, "b"), Log{"access", filepath.Join(dir, "none.log")})
	b.o.Now = func() time.Time { return y.now().Add(-90 * time.Second) }
	r := rand.New(rand.NewPCG(5, 6))
	for m := range 5 {
		y.add(path, lineOf(r, y.now()))
		y.close(a)
		if m == 1 {
			y.close(b)
		}
		y.pass(time.Minute)
	}
	y.add(path, strings.Repeat("\x00junk\n", 20))
	y.close(a)
	got := y.ask("access")
	if h := got.Hosts; len(h) != 2 || h[0].Missing != 0 || h[1].Missing != 5 || h[1].Offset != -90*time.Second || h[0].Trouble == "" {
		t.Errorf("hosts %+v", h)
	}
	y.down = true
	a.spool.most = 2000
	for range 40 {
		y.add(path, lineOf(r, y.now()))
		y.close(a)
		y.pass(time.Minute)
	}
	if names, err := a.spool.names(); err != nil || len(names) == 0 || len(names) > 10 {
		t.Errorf("%d parts are spooled, %v", len(names), err)
	}
	y.down = false
	y.close(a)
	if got := y.ask("access").Hosts[0]; got.Missing < 25 || got.Missing > 40 {
		t.Errorf("after a full spool: %+v", got)
	}
}

// TestEmptied: a log that was made shorter is read from its begin, and nothing twice.
func TestEmptied(t *testing.T) {
	y, dir := newYard(t), t.TempDir()
	path, r := filepath.Join(dir, "a.log"), rand.New(rand.NewPCG(7, 8))
	y.add(path, "")
	a := y.agent("a", filepath.Join(dir, "a"), Log{"access", path})
	total := 0
	for i := range 4 {
		for range 10 {
			y.add(path, lineOf(r, y.now()))
			total++
		}
		for range 2 {
			y.close(a)
			y.pass(time.Minute)
		}
		if i == 1 {
			a = y.agent("a", filepath.Join(dir, "a"), Log{"access", path})
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		y.close(a)
		y.pass(time.Minute)
	}
	if got := y.ask("access").Profile.Intake.Lines; got != int64(total) {
		t.Errorf("%d lines, want %d", got, total)
	}
}

// TestRefused: who has no token of a site sends nothing, and what is no part is refused; a part
// that differs from the kept one of the same bytes is, too.
func TestRefused(t *testing.T) {
	y := newYard(t)
	good := api.FleetPart{Token: y.token, Kind: "access", Host: "a", Minute: y.now(), File: "f", From: 0, To: 0, Sent: y.now()}
	if err := y.service.KeepPart(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*api.FleetPart){
		"token":    func(p *api.FleetPart) { p.Token += "x" },
		"kind":     func(p *api.FleetPart) { p.Kind = "errors" },
		"host":     func(p *api.FleetPart) { p.Host = " " },
		"file":     func(p *api.FleetPart) { p.File = strings.Repeat("x", 101) },
		"bytes":    func(p *api.FleetPart) { p.To = -1 },
		"minute":   func(p *api.FleetPart) { p.Minute = p.Minute.Add(time.Second) },
		"old":      func(p *api.FleetPart) { p.Minute = p.Minute.Add(-24 * time.Hour) },
		"profile":  func(p *api.FleetPart) { p.Profile = []byte("junk") },
		"large":    func(p *api.FleetPart) { p.Profile = make([]byte, maxPart+1) },
		"conflict": func(p *api.FleetPart) { p.To = 1 },
	} {
		p := good
		spoil(&p)
		if err := y.service.KeepPart(t.Context(), p); err == nil {
			t.Errorf("%s: it was kept", name)
		}
	}
	ask := api.FleetAsk{Site: "shop", Kind: "access", Since: y.now(), Until: y.now().Add(time.Minute)}
	if _, err := y.service.Fleet(t.Context(), api.Who{Account: "u", Role: api.Leader, Team: "t"}, ask); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("a team sees the profiles of a site: %v", err)
	}
	got, err := y.service.Fleet(t.Context(), staff, ask)
	if err != nil || got.Parts != 1 || got.Profile != nil {
		t.Errorf("%+v, %v", got, err)
	}
	ask.Site = "another"
	if _, err := y.service.Fleet(t.Context(), staff, ask); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("another site: %v", err)
	}
}

// TestNoToken: the profile of one who has no token is not even read.
func TestNoToken(t *testing.T) {
	y := newYard(t)
	p := api.FleetPart{Token: "x", Kind: "access", Host: "a", Minute: y.now(), File: "f", To: 1, Sent: y.now(), Profile: []byte("junk")}
	if err := y.service.KeepPart(t.Context(), p); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("%v, want %v", err, api.ErrForbidden)
	}
}

// TestHosts: a token cannot make more hosts than a site has.
func TestHosts(t *testing.T) {
	y := newYard(t)
	p := api.FleetPart{Token: y.token, Kind: "access", Host: "a", Minute: y.now(), File: "f", Sent: y.now()}
	if err := y.service.KeepPart(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	err := y.service.core.Write(t.Context(), "test", func(tx *store.Tx) error {
		for n := range maxHosts - 1 {
			if _, err := tx.Exec("INSERT INTO fleet_hosts (site, host, seen, clock_off, trouble) VALUES (?, ?, ?, 0, '')", "shop", fmt.Sprint(n), y.now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Minute = p.Minute.Add(-time.Minute)
	if err := y.service.KeepPart(t.Context(), p); err != nil {
		t.Errorf("a host that is known: %v", err)
	}
	p.Host = "b"
	if err, refused := y.service.KeepPart(t.Context(), p), (*api.RefusedError)(nil); !errors.As(err, &refused) {
		t.Errorf("a further host: %v", err)
	}
}

// TestExcess: a profile with more than a reader of logs makes is refused, and a row weighs what it
// needs in memory, not what its text has.
func TestExcess(t *testing.T) {
	many := make([]iikanji.Row, 20_001) // as many digests as a reader keeps, and the others
	for i := range many {
		many[i].Key = fmt.Sprint(i)
	}
	for name, c := range map[string]struct {
		kind  string
		p     iikanji.Profile
		taken bool
	}{
		"most rows":       {"slow", iikanji.Profile{Rows: many}, true},
		"rows":            {"slow", iikanji.Profile{Rows: make([]iikanji.Row, 25_001)}, false},
		"shapes":          {"slow", iikanji.Profile{Transactions: make([]iikanji.Transaction, 6001)}, false},
		"repeats":         {"slow", iikanji.Profile{Repeats: make([]iikanji.Repeat, 25_001)}, false},
		"slowest":         {"access", iikanji.Profile{Slowest: make([]iikanji.Sighting, 1001)}, false},
		"notes":           {"access", iikanji.Profile{Notes: make([]string, 201)}, false},
		"format":          {"access", iikanji.Profile{Intake: iikanji.Intake{Format: strings.Repeat("x", 1001)}}, false},
		"segments":        {"access", iikanji.Profile{Rows: []iikanji.Row{{Key: "GET " + strings.Repeat("/", 101)}}}, false},
		"names":           {"slow", iikanji.Profile{Rows: []iikanji.Row{{Query: &iikanji.SQLRow{Users: make([]iikanji.Named, 2001)}}}}, false},
		"a usual segment": {"access", iikanji.Profile{Rows: []iikanji.Row{{Key: "GET " + strings.Repeat("/a", 16)}}}, true},
	} {
		c.p.Version, c.p.Source = iikanji.ProfileVersion, sources[c.kind]
		packed, err := pack(&c.p)
		if err != nil {
			t.Fatal(err)
		}
		_, weight, err := unpack(packed, c.kind)
		if (err == nil) != c.taken || c.taken && weight < int64(rowWeight*len(c.p.Rows)) {
			t.Errorf("%s: it weighs %d, %v", name, weight, err)
		}
	}
}

// TestHole: a piece of a log without the end of a record does not stand still for ever.
func TestHole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := openTail(Log{"access", path}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	line := "\na line\n"
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(line), 2*mostRecord); err != nil {
		t.Fatal(err)
	}
	pieces, err := l.read()
	if err != nil || len(pieces) != 3 || pieces[2].to != 2*mostRecord+int64(len(line)) {
		t.Errorf("%d pieces, %v", len(pieces), err)
	}
}

// FuzzPart: no packed profile panics, and what is taken can be merged with itself.
func FuzzPart(f *testing.F) {
	p, err := pack(&iikanji.Profile{Version: 1, Source: iikanji.Slow, Rows: []iikanji.Row{{Key: "x", Count: 1}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p, "slow")
	f.Add([]byte{0x1f, 0x8b}, "access")
	f.Fuzz(func(t *testing.T, packed []byte, kind string) {
		if sources[kind] == iikanji.SourceUnknown {
			return
		}
		if mergeable(packed, kind) != nil {
			return
		}
		p, _, err := unpack(packed, kind)
		q, _, again := unpack(packed, kind)
		if err := errors.Join(err, again); err != nil {
			t.Fatalf("taken, and not read: %v", err)
		}
		if _, err := kinds[kind](p, q); err != nil {
			t.Errorf("taken, and not merged: %v", err)
		}
	})
}

// FuzzRecords: a cut is at the end of a line, within the text, and what is left begins a record.
func FuzzRecords(f *testing.F) {
	f.Add("a\nb", "access")
	f.Add("# Time: 1\n# User@Host: x\nselect 1;\n# User@Host: y\nsel", "slow")
	f.Fuzz(func(t *testing.T, text, kind string) {
		end := wholeRecords([]byte(text), kind)
		switch {
		case end < 0 || end > len(text):
			t.Fatalf("%d of %d", end, len(text))
		case end > 0 && text[end-1] != '\n':
			t.Errorf("%q is cut after %q", text, text[:end])
		case kind == "slow" && end > 0 && !strings.HasPrefix(text[end:], "# "):
			t.Errorf("%q goes on with %q", text, text[end:])
		}
	})
}
