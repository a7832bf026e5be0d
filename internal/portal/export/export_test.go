package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

const cup = `name = { ja = "冬の大会", en = "Cup" }
[registration]
open = 2027-01-10T10:00:00Z
[[rounds]]
id = "final"
problem = "p"
start = 2027-02-06T10:00:00Z
hours = 8
freeze = "1h"
[[rounds.prizes]]
id = "jump"
kind = "biggest_jump"
of = "ratio"
[[rounds.prizes]]
id = "jury"
kind = "manual"
[[rounds.hints]]
id = "h"
text = "s3cr3t-hint"
[problem.p]
command = ["bench", "--key", "s3cr3t-command"]
seed = "777000777"
load = "10s"
shadow.pages = ["/s3cr3t-page"]
shadow.agent = "s3cr3t-agent"
[targets]
allow = ["10.20.0.0/16"]
`

// A hall is a portal with a contest of teams, runs, messages and secrets.
type hall struct {
	core    *lead.Core
	carrier carry.Carrier
	at      time.Time
	teams   []string
	tokens  []string
	secrets []string
}

func newCore(t *testing.T, now func() time.Time) *lead.Core {
	t.Helper()
	core, _ := carried(t, now)
	return core
}

// carried is a core with its carrier.
func carried(t *testing.T, now func() time.Time) (*lead.Core, carry.Carrier) {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "e.db"), store.Options{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c := carry.NewMemory(now)
	return lead.New(lead.Options{Store: s, Carry: c, Now: now, Secret: []byte("x")}), c
}

func newHall(t *testing.T) *hall {
	t.Helper()
	h := &hall{at: time.Date(2027, 2, 6, 10, 30, 0, 0, time.UTC)}
	h.core, h.carrier = carried(t, func() time.Time { return h.at })
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	_, err := h.core.AddContest(ctx, []byte(cup), "cup.toml")
	ok(err)
	for i, name := range []string{"=HYPERLINK(1)", "<b>冬</b>", "'quoted", "three"} {
		made, err := h.core.NewTeam(ctx, lead.NewTeam{Contest: "cup", Name: name}, fmt.Sprintf("http://10.20.0.%d", i+1))
		ok(err)
		h.teams, h.secrets = append(h.teams, made.Team), append(h.secrets, made.Login, made.Token)
		h.tokens = append(h.tokens, made.Token)
	}
	ok(h.core.Move(ctx, "o", "cup_final", contest.Ready))
	l, err := h.core.Elect(ctx, slog.New(slog.DiscardHandler))
	ok(err)
	ok(l.Timers(ctx))
	ok(h.core.Register(ctx, api.Register{Worker: "w", Name: "w", Kinds: []string{"confined"}, Slots: 1, Boot: "1"}))
	for i := range 12 {
		h.at = h.at.Add(36 * time.Minute) // the last ones are after the freeze
		team := i % 3
		_, err := h.core.Enqueue(ctx, "u", false, api.Enqueue{Round: "cup_final", Team: h.teams[team], Note: "note-of-a-team | <i>"})
		ok(err)
		ok(h.core.Waits(ctx, "w", []string{"confined"}, 1))
		ok(l.Tick(ctx, false))
		offer, err := h.take(t)
		ok(err)
		a, err := h.core.Claim(ctx, offer.Data, "w")
		ok(err)
		ok(offer.Ack(ctx))
		claimed := api.Claimed{Worker: "w", Job: a.Job, Epoch: a.Epoch, Handle: a.Handle}
		_, err = h.core.Beat(ctx, api.Beat{Claimed: claimed})
		ok(err)
		r := api.Report{Outcome: iikanji.Passed, Score: float64(100 + 37*i), Seed: 1234567890123456789, Log: "log of a run", Stderr: "s3cr3t-stderr"}
		if i%5 == 4 {
			r.Outcome, r.Score = iikanji.Failed, 0
		}
		_, err = h.core.Finish(ctx, api.Finish{Claimed: claimed, Report: r})
		ok(err)
		h.secrets = append(h.secrets, a.Handle)
	}
	who := api.Who{Account: "u", Name: "aoi", Role: api.Leader, Team: h.teams[0]}
	q, err := h.core.Say(ctx, who, api.Say{Round: "cup_final", Kind: "question", Text: "a private question"})
	ok(err)
	judge := api.Who{Account: "j", Name: "judge", Role: api.Judge}
	_, err = h.core.Say(ctx, judge, api.Say{Round: "cup_final", Kind: "answer", To: q.ID, Text: "a published answer", Public: true})
	ok(err)
	_, err = h.core.Say(ctx, judge, api.Say{Round: "cup_final", Kind: "announcement", Text: "# to all\n<script>"})
	ok(err)
	ok(h.core.Act(ctx, "staff-account", "cup_final", contest.Act{Kind: contest.Extend, By: 10 * time.Minute, Reason: "the network"}))
	ghost := []board.GhostPoint{{Minute: 0, Score: 10, Label: "=x"}, {Minute: 90.5, Score: 20}}
	for i, name := range []string{"'last <b>year", "secret-ghost"} {
		_, err = h.core.AddGhost(ctx, "o", "cup_final", api.NewGhost{Name: name, Source: "a source", Public: i == 0, Points: ghost})
		ok(err)
		h.at = h.at.Add(time.Second)
	}
	h.training(t)
	ok(h.core.Award(ctx, "o", "cup_final", api.Award{Prize: "jury", Team: h.teams[2], Reason: "hidden-award"})) // the board is frozen
	h.secrets = append(h.secrets, "s3cr3t-command", "777000777", "1234567890123456789", "s3cr3t-stderr")
	return h
}

// training opens a hint, and reboots a machine twice.
func (h *hall) training(t *testing.T) {
	t.Helper()
	if err := h.core.OpenHint(t.Context(), api.Who{Account: "account-of-a-hint", Team: h.teams[1]}, "cup_final", "h"); err != nil {
		t.Fatal(err)
	}
	made, err := h.core.RegisterHost(t.Context(), "u", "cup_final", api.NewHost{Team: h.teams[0], Name: "machine-of-a-team", Address: "http://10.20.1.1"})
	if err != nil {
		t.Fatal(err)
	}
	h.secrets = append(h.secrets, made.Token)
	for _, boot := range []string{"boot-1", "boot-2", "boot-3"} {
		if _, err := h.core.HostBeat(t.Context(), api.HostBeat{Token: made.Token, Port: 8790, Boot: boot}, netip.MustParseAddr("10.20.1.1")); err != nil {
			t.Fatal(err)
		}
		h.at = h.at.Add(time.Second)
	}
}

func (h *hall) take(t *testing.T) (*carry.Taken, error) {
	t.Helper()
	return h.carrier.Take(t.Context(), carry.Tasks, lead.TaskSubject("confined"), time.Second)
}

func (h *hall) write(t *testing.T, form Form) fstest.MapFS {
	t.Helper()
	files, err := Write(t.Context(), h.core, "cup", form)
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: text, Mode: 0o600}
	}
	return out
}

// views are the boards of the round for each reader at some instants.
func views(t *testing.T, core *lead.Core, readers ...board.Reader) (out []string) {
	t.Helper()
	var h lead.History
	if _, err := core.Follow(t.Context(), "cup_final", &h); err != nil {
		t.Fatal(err)
	}
	for hour := range 10 {
		for _, reader := range readers {
			text, err := json.Marshal(h.View(reader, time.Date(2027, 2, 6, 10+hour, 59, 0, 0, time.UTC)))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(text))
		}
	}
	return out
}

// TestEqual: what was exported and imported has the same boards, for every reader of the form,
// and is exported to the same bytes again.
func TestEqual(t *testing.T) {
	h := newHall(t)
	for form, readers := range map[Form][]board.Reader{Public: {{Role: board.Public}}, Staff: {{Role: board.Public}, {Role: board.Staff}, {Role: board.Member, Team: h.teams[1]}}} {
		files := h.write(t, form)
		other := newCore(t, func() time.Time { return h.at })
		id, differ, err := Import(t.Context(), other, files)
		if err != nil || id != "cup" || len(differ) > 0 {
			t.Fatalf("%s: %s, differ %v, %v", form, id, differ, err)
		}
		if was, got := views(t, h.core, readers...), views(t, other, readers...); !slices.Equal(was, got) {
			t.Errorf("%s: the boards differ", form)
		}
		again, err := Write(t.Context(), other, "cup", form)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"contest.toml", "teams.tsv", "rounds.jsonl", "results.jsonl", "questions.jsonl", "announcements.md", "boards/cup_final-provisional.json", "history/cup_final.tsv", "history/cup_final.svg", "ghosts/cup_final.tsv", "hints.jsonl", "machines.jsonl"} {
			if f := files[name]; (f == nil) != (again[name] == nil) || f != nil && string(again[name]) != string(f.Data) {
				t.Errorf("%s: %s is another file after the import:\n%v\n%s", form, name, f, again[name])
			}
		}
		if _, _, err := Import(t.Context(), other, files); err == nil {
			t.Errorf("%s: it was imported twice", form)
		}
	}
}

// TestFinals: verdicts that are shown come back, and the board of the form is the final one.
func TestFinals(t *testing.T) {
	h := newHall(t)
	err := h.core.Write(t.Context(), "verdicts", func(tx *store.Tx) error {
		for i, team := range h.teams[:3] {
			if _, err := tx.Exec("INSERT INTO verdicts (round, team, passed, score, reason, at) VALUES ('cup_final', ?, ?, ?, '', ?)", team, i != 1, float64(1000+i), h.at); err != nil {
				return err
			}
		}
		_, err := tx.Exec("UPDATE rounds SET published = ?, version = version + 1 WHERE id = 'cup_final'", h.at)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	h.at = h.at.Add(time.Minute)
	for _, form := range []Form{Public, Staff} {
		files := h.write(t, form)
		if files["boards/cup_final-final.json"] == nil {
			t.Errorf("%s: there is no final board", form)
		}
		other := newCore(t, func() time.Time { return h.at })
		if _, differ, err := Import(t.Context(), other, files); err != nil || len(differ) > 0 {
			t.Fatalf("%s: differ %v, %v", form, differ, err)
		}
		if was, got := views(t, h.core, form.reader()), views(t, other, form.reader()); !slices.Equal(was, got) {
			t.Errorf("%s: the boards differ", form)
		}
	}
}

// TestTraining: opened hints and boots of machines come back, and so do the flags of machines; lines
// of other contests are refused.
func TestTraining(t *testing.T) {
	h := newHall(t)
	h.at = h.at.Add(24 * time.Hour)
	err := h.core.Write(t.Context(), "late", func(tx *store.Tx) error { // a boot after the end, for a flag
		_, err := tx.Exec("INSERT INTO host_events (id, host, team, at, what, detail) VALUES ('late', 'x', ?, ?, 'boot', '')", h.teams[1], h.at)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.core.DropHost(t.Context(), "u", "", hostOf(t, h.core)); err != nil { // its events stay
		t.Fatal(err)
	}
	files := h.write(t, Staff)
	if got := strings.Count(string(files["machines.jsonl"].Data), `"what":"boot"`); got != 3 {
		t.Errorf("%d boots:\n%s", got, files["machines.jsonl"].Data)
	}
	other := newCore(t, func() time.Time { return h.at })
	if _, _, err := Import(t.Context(), other, files); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(*lead.Core) (any, error){
		"boots": func(c *lead.Core) (any, error) { return c.Boots(t.Context(), "cup") },
		"hints": func(c *lead.Core) (any, error) { return c.HintUses(t.Context(), "cup_final", "") },
		"flags": func(c *lead.Core) (any, error) { return c.Flags(t.Context(), "cup_final") },
	} {
		was, err := read(h.core)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := read(other); err != nil || fmt.Sprint(got) != fmt.Sprint(was) {
			t.Errorf("%s: %v, were %v, %v", name, got, was, err)
		}
	}
	for name, line := range map[string]string{
		"hints.jsonl":    `{"round":"cup_final","team":"` + h.teams[0] + `","hint":"none","at":"2027-02-06T12:00:00Z"}`,
		"machines.jsonl": `{"team":"` + h.teams[0] + `","host":"x","what":"other","at":"2027-02-06T12:00:00Z"}`,
	} {
		files := h.write(t, Staff)
		files[name].Data = []byte(line + "\n")
		remade(t, files)
		if _, _, err := Import(t.Context(), newCore(t, func() time.Time { return h.at }), files); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s of another contest: %v", name, err)
		}
	}
}

// hostOf is the machine with an agent.
func hostOf(t *testing.T, core *lead.Core) string {
	t.Helper()
	all, err := core.Hosts(t.Context(), "cup_final", "")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(x api.Host) bool { return x.Name == "machine-of-a-team" })
	return all[i].ID
}

// remade writes the digests of changed files into the manifest.
func remade(t *testing.T, files fstest.MapFS) {
	t.Helper()
	var m manifest
	if err := json.Unmarshal(files["manifest.json"].Data, &m); err != nil {
		t.Fatal(err)
	}
	for name := range m.Files {
		sum := sha256.Sum256(files[name].Data)
		m.Files[name] = hex.EncodeToString(sum[:])
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	files["manifest.json"] = &fstest.MapFile{Data: text}
}

// TestSecrets: no form has a secret, and the public one has nothing that is not for everyone.
func TestSecrets(t *testing.T) {
	h := newHall(t)
	for _, form := range []Form{Public, Staff} {
		files := h.write(t, form)
		private := slices.Clone(h.secrets)
		if form == Staff {
			private = slices.DeleteFunc(private, func(s string) bool { return s == "s3cr3t-command" || s == "777000777" }) // of the contest file, which staff wrote
		} else {
			private = append(private, "note-of-a-team", "a private question", "staff-account", "10.20.0.", "log of a run", "secret-ghost", "hidden-award", "s3cr3t-hint", "s3cr3t-page", "s3cr3t-agent", "account-of-a-hint", "machine-of-a-team", "boot-2", "aoi", "judge", "507") // 507: the last score, which is frozen
		}
		for name, f := range files {
			for _, secret := range private {
				if name != "manifest.json" && strings.Contains(string(f.Data), secret) {
					t.Errorf("%s: %s has %q", form, name, secret)
				}
			}
		}
		for _, want := range Files {
			want = strings.NewReplacer("ROUND", "cup_final", "TEAM", h.teams[0]).Replace(want)
			_, has := files[want]
			staff := slices.Contains([]string{"people.tsv", "audit.jsonl", "hints.jsonl", "machines.jsonl", "writeup/" + h.teams[0] + ".md"}, want)
			if !strings.Contains(want, "JOB") && has != (form == Staff || !staff) {
				t.Errorf("%s: it has %s: %v", form, want, has)
			}
		}
		for name, bad := range map[string]string{"boards/cup_final-provisional.html": "<b>冬", "announcements.md": "\n<script>", "teams.tsv": "\t=HYPER"} {
			if strings.Contains(string(files[name].Data), bad) {
				t.Errorf("%s: %s has %q", form, name, bad)
			}
		}
	}
}

// TestDamaged: an export that was changed, is not whole, or names other paths is refused, and
// nothing of it is kept.
func TestDamaged(t *testing.T) {
	h := newHall(t)
	remake := func(files fstest.MapFS, edit func(*manifest)) {
		var m manifest
		if err := json.Unmarshal(files["manifest.json"].Data, &m); err != nil {
			t.Fatal(err)
		}
		edit(&m)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		files["manifest.json"] = &fstest.MapFile{Data: text}
	}
	for name, spoil := range map[string]func(fstest.MapFS){
		"a changed file":  func(f fstest.MapFS) { f["results.jsonl"].Data = append(f["results.jsonl"].Data, '\n') },
		"a missing file":  func(f fstest.MapFS) { delete(f, "teams.tsv") },
		"no manifest":     func(f fstest.MapFS) { delete(f, "manifest.json") },
		"a newer version": func(f fstest.MapFS) { remake(f, func(m *manifest) { m.Version = 99 }) },
		"another contest": func(f fstest.MapFS) { remake(f, func(m *manifest) { m.Contest = "../x" }) },
		"junk":            func(f fstest.MapFS) { f["manifest.json"].Data = []byte("{") },
	} {
		files := h.write(t, Staff)
		spoil(files)
		core := newCore(t, func() time.Time { return h.at })
		if id, _, err := Import(t.Context(), core, files); err == nil {
			t.Errorf("%s: %s was imported", name, id)
		}
		if ids, err := core.RoundIDs(t.Context()); err != nil || len(ids) > 0 {
			t.Errorf("%s: rounds %v are left, %v", name, ids, err)
		}
	}
}

// FuzzRows: a table is read, or refused, without a panic; cells come back as they were written.
func FuzzRows(f *testing.F) {
	f.Add("team\tname\n1\t'=x\n", "=x")
	f.Add("", "'")
	f.Fuzz(func(t *testing.T, text, name string) {
		if out, err := rows([]byte(text), 2); err == nil {
			for _, r := range out {
				if len(r) != 2 {
					t.Errorf("%q", r)
				}
			}
		}
		if got := uncell(cell(name)); got != name {
			t.Errorf("%q came back as %q", name, got)
		}
		if c := cell(name); c != "" && strings.ContainsRune("=+-@", rune(c[0])) {
			t.Errorf("%q is a formula", c)
		}
	})
}
