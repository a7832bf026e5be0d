package slowlog

import (
	"bytes"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// A collector counts the entries of logs in their order: digests, transactions,
// repetition. A sequencer calls it under a lock, so it needs no lock itself.
type collector struct {
	opt   Options
	since int64 // Unix time in ns
	until int64
	files []string
	file  int

	digests  map[uint64]*digest
	order    []*digest
	overflow digest
	over     int64 // events in overflow
	texts    int   // bytes left for texts
	fp       Fingerprinter

	intake            iikanji.Intake
	lines             int64 // lines before the current batch
	tail              int64 // time of the first event of the next batch, 0 for none
	db                []byte
	first             int64
	last              int64
	edges             int64             // bad entries at the ends of logs, which were cut off
	allFirst, allLast int64             // times of all entries, including those left out
	cutEnd            bool              // the last entry so far is bad
	queryPlans        bool              // an entry has fields of the query plan
	durations         *durations        // for inputs of PostgreSQL; nil for others
	errors            int64             // statements that failed, which have no duration
	untimed           int64             // statements of PostgreSQL without a duration
	loneDurations     int64             // durations of PostgreSQL without a statement
	logins            map[uint64]*login // by thread, for general logs; nil for others
	generalAt         int64             // time of the line before in a general log
	tracing           bool              // the current input is a SQLite trace
	traceReads        bool              // a SQLite trace has a SELECT
	formats           []string          // of the inputs, each once
	cutOff            []string          // errors of inputs that ended early
	carried           []string          // what carried the logs: unwrapped
	counts            [32]int64         // events by flag

	groups  groups
	sums    sums // digests that a server has summed
	threads threads
	shapes  shapes
	batch   *batch
	counted struct{ at, lines int64 } // number of newlines of the batch before at
}

func newCollector(opt Options) *collector {
	c := &collector{opt: opt, since: -1 << 63, until: 1<<63 - 1, digests: map[uint64]*digest{}, texts: maxTexts, groups: groups{by: opt.By}}
	c.fp.FoldTables, c.sums.foldTables, c.sums.where = opt.FoldTables, opt.FoldTables, opt.Where
	c.overflow.text, c.overflow.label = overflowKey, overflowKey
	c.threads.init(c)
	c.shapes.init()
	return c
}

// add counts a batch.
func (c *collector) add(b *batch) {
	c.batch = b
	c.counted.at, c.counted.lines = 0, 0
	bad := b.bad
	for i := range b.events {
		ev := &b.events[i]
		for len(bad) > 0 && bad[0].before <= i {
			c.addBad(&bad[0])
			bad = bad[1:]
		}
		if i == 0 && c.tail != 0 {
			ev.at = c.tail
		}
		switch {
		case ev.flags&flagNone != 0:
		case c.durations != nil:
			c.durations.event(ev)
		default:
			c.event(ev)
		}
		if ev.flags&flagRestart != 0 {
			c.threads.reset()
			c.db = nil
		}
	}
	for i := range bad {
		c.addBad(&bad[i])
	}
	c.cutEnd = false
	if n := len(b.bad); n > 0 {
		why := b.bad[n-1].why
		c.cutEnd = (why == whyCut || why == whyNone) && int(b.bad[n-1].to) == len(b.data)
	}
	c.tail = b.tail
	if b.lines >= 0 {
		c.lines += b.lines
	} else {
		c.lines += int64(bytes.Count(b.data, []byte{'\n'}))
	}
	c.errors += b.errors
	c.intake.Bytes += iikanji.Bytes(b.end - b.offset)
	c.batch = nil
}

// lineOf returns the line number of an event in its file.
func (c *collector) lineOf(ev *event) int64 {
	switch {
	case ev.fileLine > 0:
		return ev.fileLine
	case ev.line > 0:
		return c.lines + int64(ev.line)
	}
	return c.lineAt(ev.start)
}

// lineAt returns the line number of a position in the batch. It is fast for rising
// positions.
func (c *collector) lineAt(at int32) int64 {
	if int64(at) >= c.counted.at {
		c.counted.lines += int64(bytes.Count(c.batch.data[c.counted.at:at], []byte{'\n'}))
		c.counted.at = int64(at)
		return c.lines + c.counted.lines + 1
	}
	return c.lines + int64(bytes.Count(c.batch.data[:at], []byte{'\n'})) + 1
}

func (c *collector) addBad(b *badEvent) {
	c.intake.Bad++
	if b.why == whyLead {
		c.edges++
	}
	if len(c.intake.BadLines) < tally.MaxBadLines {
		line := c.lines + int64(b.line)
		if b.line == 0 {
			line = c.lineAt(b.from)
		}
		c.intake.BadLines = append(c.intake.BadLines, iikanji.BadLine{File: c.files[c.file], Line: line,
			Text: quote(c.batch.data[b.from:b.to]), Why: b.why})
	}
}

// quote returns the beginning of a bad entry.
func quote(b []byte) string {
	return plain.CutBytes(string(bytes.ToValidUTF8(b[:min(len(b), 200)], []byte("\uFFFD"))), 160)
}

// event counts one entry.
func (c *collector) event(ev *event) {
	data := c.batch.data
	user, host, db := ev.user.of(data), ev.host.of(data), ev.db.of(data)
	if c.logins != nil {
		user, host, db = c.resolve(ev)
	} else if ev.flags&flagUse != 0 {
		c.db = append(c.db[:0], db...)
	} else if len(db) == 0 {
		db = c.db
	}
	c.intake.Lines++
	c.queryPlans = c.queryPlans || ev.flags&flagQueryPlan != 0
	addTime(&c.allFirst, &c.allLast, ev.at)
	if !c.wanted(ev, user, host, db) {
		c.intake.Left++
		return
	}
	addTime(&c.first, &c.last, ev.at)
	c.note(ev.flags)
	c.traceReads = c.traceReads || c.tracing && ev.kind == kindRead
	d := c.digestOf(ev)
	d.add(ev)
	c.groups.add(ev, d, user, host, db)
	if c.opt.PerSecond && ev.at != 0 {
		d.seconds.Add(ev.at)
	}
	if c.opt.Ticks != nil {
		c.tick(ev, d)
	}
	if c.opt.Each != nil {
		c.each(ev)
	}
	d.dbs.add(db)
	d.users.add(user)
	d.hosts.add(host)
	c.examples(d, ev)
	c.threads.event(ev, d)
}

// note counts flags for the notes of the profile.
func (c *collector) note(fl flags) {
	if fl&(flagRoutine|flagRate|flagOpen|flagClock) == 0 {
		return
	}
	for i := range c.counts {
		c.counts[i] += int64(fl >> i & 1)
	}
}

func (c *collector) examples(d *digest, ev *event) {
	if d.wantsWorst(ev) {
		d.worst.keep(ev.sql.of(c.batch.data), c.file, c.lineOf(ev), ev.query, &c.texts)
	}
	if d.wantsTypical(ev) {
		d.typical.keep(ev.sql.of(c.batch.data), c.file, c.lineOf(ev), ev.query, &c.texts)
	}
}

// digestOf returns the digest of an event and creates it if it is new.
func (c *collector) digestOf(ev *event) *digest {
	if d := c.digests[ev.digest]; d != nil {
		return d
	}
	if len(c.order) >= maxDigests {
		c.over++
		return &c.overflow
	}
	sql := ev.sql.of(c.batch.data)
	d := &digest{id: uint32(len(c.order) + 1), key: ev.digest}
	if bytes.HasPrefix(sql, adminLine) {
		d.text = adminPrefix + string(bytes.TrimSuffix(sql[len(adminLine):], []byte{';'}))
	} else {
		d.text = string(bytes.ToValidUTF8(c.fp.Fingerprint(sql), []byte("\uFFFD")))
		d.tables = tablesOf(d.text, sql)
	}
	if c.texts <= 0 {
		d.text = plain.CutBytes(d.text, shortExample)
	}
	c.texts -= len(d.text)
	d.label = labelOf(d.text, d.tables)
	c.digests[ev.digest] = d
	c.order = append(c.order, d)
	return d
}

// wanted reports whether the times and the filter select an event.
func (c *collector) wanted(ev *event, user, host, db []byte) bool {
	if ev.at != 0 && (ev.at < c.since || ev.at >= c.until) {
		return false
	}
	return len(c.opt.Where) == 0 || c.opt.Where.holds(&Entry{collector: c, ev: ev, user: user, host: host, db: db})
}

// profile ends all threads and returns the profile.
func (c *collector) profile() *iikanji.Profile {
	p := &iikanji.Profile{Version: iikanji.ProfileVersion, Source: iikanji.Slow, Intake: c.intake}
	p.Intake.Files = c.files
	p.Intake.First, p.Intake.Last = unixTime(c.first), unixTime(c.last)
	p.First, p.Last = p.Intake.First, p.Intake.Last
	p.Rows = c.rows()
	c.markUnknown(p.Rows)
	tally.SortRows(p.Rows)
	tally.Share(p.Rows)
	c.threads.reset()
	p.Transactions = c.shapes.list(c.files)
	p.Repeats = c.repeats()
	p.Notes = c.notes()
	return p
}

// markUnknown marks the rows of logs that do not count rows sent and examined.
func (c *collector) markUnknown(rows []iikanji.Row) {
	for _, format := range c.formats {
		switch format {
		case formatPostgres, formatCSVLog, formatJSONLog, formatGeneral:
		default:
			return
		}
	}
	for i := range rows {
		if q := rows[i].Query; q != nil && q.Sent == 0 && q.Examined == 0 && len(c.formats) > 0 {
			q.NoSent, q.NoExamined = true, true
		}
	}
}

// rows returns the rows of digests, or of the groups of Options.By, without nil for none.
func (c *collector) rows() []iikanji.Row {
	rows := []iikanji.Row{}
	if c.opt.By != ByStatement {
		return c.groups.rows(c.files)
	}
	for _, d := range c.order {
		rows = append(rows, d.row(c.files, c.opt.Ticks))
	}
	if c.over > 0 {
		rows = append(rows, c.overflow.row(c.files, c.opt.Ticks))
	}
	return append(rows, c.sums.rows()...)
}
