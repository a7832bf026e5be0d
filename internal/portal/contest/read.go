package contest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (d *decoder) contest(top map[string]any) *Contest {
	t := d.table("", top)
	c := &Contest{Zone: t.text("zone", "UTC")}
	zone, err := time.LoadLocation(c.Zone)
	if err != nil || c.Zone == "Local" {
		d.at("zone", "zone: want a name such as Asia/Tokyo, not %q", c.Zone)
		zone = time.UTC
	}
	d.zone = zone
	c.ID, c.Name, c.Local = t.text("id", d.stem), t.words("name"), t.bool("local", false)
	c.Registration = d.registration(t.below("registration"))
	t.each("divisions", func(t *table) {
		c.Divisions = append(c.Divisions, Division{t.text("id", ""), t.words("title"), t.text("rule", ""), t.bool("unranked", false)})
	})
	t.each("rounds", func(t *table) { c.Rounds = append(c.Rounds, d.round(t)) })
	problems := t.below("problem")
	for _, id := range slices.Sorted(maps.Keys(problems.data)) {
		c.Problems = append(c.Problems, d.problem(id, problems.below(id)))
	}
	c.Targets = d.targets(t.below("targets"))
	t.done()
	return c
}

func (d *decoder) registration(t *table) Registration {
	defer t.done()
	r := Registration{Open: t.instant("open"), Close: t.instant("close"), JoinClose: t.instant("join_close"), EditClose: t.instant("edit_close"),
		Teams: t.number("teams", 0, 0, 100000), Reserved: t.number("reserved", 0, 0, 100000), Members: t.number("members", 3, 1, 100),
		Entry: oneOf(t, "entry", AdmitAll, AdmitAll, AdmitCode, AdmitList), Approval: t.bool("approval", false), Waiting: t.bool("waiting", true),
		Terms: t.words("terms")}
	t.each("questions", func(t *table) {
		r.Questions = append(r.Questions, Question{t.text("id", ""), t.words("text"), t.bool("required", false)})
	})
	if r.JoinClose.IsZero() {
		r.JoinClose = r.Close
	}
	if r.EditClose.IsZero() {
		r.EditClose = r.Close
	}
	return r
}

func (d *decoder) round(t *table) Round {
	r := Round{ID: t.text("id", ""), Title: t.words("title"), Kind: oneOf(t, "kind", Live, Live, Window, Open), Problem: t.text("problem", ""),
		Start: t.instant("start"), Until: t.instant("until"), Freeze: t.duration("freeze", 0)}
	r.Length = time.Duration(t.float("hours", 0) * float64(time.Hour))
	rules := t.below("rules")
	r.Rules = Rules{Standing: oneOf(rules, "standing", Last, Last, Best),
		CountsIf: oneOf(rules, "counts_if", "enqueued", "enqueued", "finished"), Tail: rules.duration("tail", 20*time.Minute),
		Hosts: rules.number("hosts", 3, 1, 10), Profiling: rules.bool("profiling", false), StopOwnRun: rules.bool("stop_own_run", true)}
	for _, tie := range rules.list("ties") {
		r.Rules.Ties = append(r.Rules.Ties, Tie(tie))
	}
	if _, given := rules.data["ties"]; !given {
		r.Rules.Ties = []Tie{TieBest, TieEarlier}
	}
	rules.done()
	show := t.below("show")
	r.Show = Show{Points: show.bool("points", true), Faults: show.number("faults", 20, 0, 1000), Steps: show.bool("steps", false), Log: d.size(show, "log", 64<<10)}
	show.done()
	r.Queue = d.queue(t.below("queue"))
	final := t.below("final")
	r.Final = Final{Reboot: final.bool("reboot", false), Order: oneOf(final, "order", "together", "together", "listed", "reverse"),
		BackIn: final.duration("back_in", 5*time.Minute), Runs: final.number("runs", 0, 0, 100), Pass: final.number("pass", 1, 1, 100),
		Counts: oneOf(final, "counts", "median", "median", "best", "last", "mean"), VoidRetries: final.number("void_retries", 2, 0, 20)}
	final.done()
	t.each("prizes", func(t *table) {
		r.Prizes = append(r.Prizes, Prize{ID: t.text("id", ""), Title: t.words("title"),
			Kind: oneOf(t, "kind", "manual", "best_of", "first_above", "first_pass", "biggest_jump", "longest_clean", "manual"),
			Of:   t.text("of", ""), At: t.float("at", 0)})
	})
	t.each("hints", func(t *table) {
		r.Hints = append(r.Hints, Hint{ID: t.text("id", ""), Title: t.words("title"), Text: t.words("text"), After: t.duration("after", 0), Above: t.float("above", 0)})
	})
	return r
}

func (d *decoder) queue(t *table) Queue {
	defer t.done()
	q := Queue{Order: oneOf(t, "order", "fair", "fair", "fifo"), Budgets: map[string]Budget{}}
	v, ok := t.get("budget")
	if !ok {
		return q
	}
	if text, ok := v.(string); ok {
		q.Budgets[""] = d.budget(join(t.path, "budget"), text)
		return q
	}
	in := t.below("budget")
	for division := range in.data {
		q.Budgets[division] = d.budget(join(in.path, division), in.text(division, ""))
	}
	return q
}

// budget reads a text such as "40 runs, 6 an hour, cool-down 1m, saturated".
func (d *decoder) budget(path, text string) (b Budget) {
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		ok := false
		switch {
		case len(words) == 2 && words[1] == "runs":
			b.Runs, ok = positive(words[0])
		case len(words) == 3 && words[1] == "an" && words[2] == "hour":
			b.PerHour, ok = positive(words[0])
		case len(words) == 2 && words[0] == "cool-down":
			v, err := time.ParseDuration(words[1])
			b.CoolDown, ok = v, err == nil && v >= 0
		case len(words) == 1 && words[0] == "saturated":
			b.Saturated, ok = true, true
		}
		if !ok {
			d.at(path, `budget: want parts such as "40 runs, 6 an hour, cool-down 1m, saturated", not %q`, strings.TrimSpace(part))
		}
	}
	return b
}

func positive(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0 && n < 1e6
}

// size reads a text such as "64KiB", in bytes.
func (d *decoder) size(t *table, key string, or int) int {
	text := t.text(key, "")
	if text == "" {
		return or
	}
	for suffix, unit := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20} {
		if n, err := strconv.Atoi(strings.TrimSuffix(text, suffix)); err == nil && strings.HasSuffix(text, suffix) && n >= 0 && n*unit <= 1<<20 {
			return n * unit
		}
	}
	d.at(join(t.path, key), `%s: want a size up to "1MiB", such as "64KiB", not %q`, key, text)
	return or
}

func (d *decoder) problem(id string, t *table) Problem {
	defer t.done()
	p := Problem{ID: id, Arena: t.text("arena", ""), Command: t.list("command"), Report: oneOf(t, "report", "", "", "lines", "isuxbench"),
		Load: t.duration("load", time.Minute), Timeout: t.duration("timeout", 0), Seed: t.text("seed", "per-job"),
		FinalSeed: t.text("final_seed", "secret"), Set: map[string]string{}}
	if p.Timeout == 0 {
		p.Timeout = p.Load + 90*time.Second
	}
	set := t.below("set")
	for name := range set.data {
		p.Set[name] = set.text(name, "")
	}
	p.Callbacks = t.ports("callbacks")
	p.Shards = t.number("shards", 0, 0, 64)
	shadow := t.below("shadow")
	p.Shadow = Shadow{Pages: shadow.list("pages"), Agent: shadow.text("agent", "")}
	shadow.done()
	return p
}

func (d *decoder) targets(t *table) Targets {
	defer t.done()
	return Targets{Allow: t.list("allow"), Ports: t.ports("ports")}
}
