package slowlog

import (
	"bytes"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/tally"
)

// A fold takes the entries of logs in their order and holds all that is known
// of them: digests, transactions, repetition. It is used under the lock of a
// sequencer, never by two goroutines at once.
type fold struct {
	opt   Options
	files []string
	file  int

	digests  map[uint64]*digest
	order    []*digest
	overflow digest
	over     int64 // events in overflow
	texts    int   // what texts of examples may still take
	fp       Fingerprinter

	intake            iikanji.Intake
	lines             int64 // before the present batch
	tail              int64 // time for the first event of the next batch
	db                []byte
	first             int64
	last              int64
	edges             int64     // bad entries at the ends of logs: cut off, not strange
	allFirst, allLast int64     // of all entries, also those left out
	cutEnd            bool      // the last entry so far is a bad one
	cutOff            []string  // inputs that ended early
	counts            [16]int64 // events by flag

	sums    sums // of digests that were summed by a server
	threads threads
	shapes  shapes
	batch   *batch
	counted struct{ at, lines int64 } // newlines of the batch up to a place
}

func newFold(opt Options) *fold {
	f := &fold{opt: opt, digests: map[uint64]*digest{}, texts: maxTexts}
	f.overflow.text, f.overflow.label = overflowKey, overflowKey
	f.threads.init(f)
	f.shapes.init()
	return f
}

// begin starts the next file. Threads of one server are not those of another.
func (f *fold) begin(name string) {
	f.files = append(f.files, name)
	f.file = len(f.files) - 1
	f.lines, f.tail, f.db = 0, 0, nil
	f.threads.reset()
}

// add folds a batch.
func (f *fold) add(b *batch) {
	f.batch = b
	f.counted.at, f.counted.lines = 0, 0
	bad := b.bad
	for i := range b.events {
		ev := &b.events[i]
		for len(bad) > 0 && bad[0].before <= i {
			f.addBad(&bad[0])
			bad = bad[1:]
		}
		if i == 0 && f.tail != 0 {
			ev.at = f.tail
		}
		if ev.flags&flagNone == 0 {
			f.event(ev)
		}
		if ev.flags&flagRestart != 0 {
			f.threads.reset()
			f.db = nil
		}
	}
	for i := range bad {
		f.addBad(&bad[i])
	}
	f.cutEnd = false
	if n := len(b.bad); n > 0 {
		why := b.bad[n-1].why
		f.cutEnd = (why == whyCut || why == whyNone) && int(b.bad[n-1].to) == len(b.data)
	}
	f.tail = b.tail
	f.lines += int64(bytes.Count(b.data, []byte{'\n'}))
	f.intake.Bytes += iikanji.Bytes(b.end - b.offset)
	f.batch = nil
}

// lineOf is the line number of a place in the batch; places rise.
func (f *fold) lineOf(at int32) int64 {
	if int64(at) >= f.counted.at {
		f.counted.lines += int64(bytes.Count(f.batch.data[f.counted.at:at], []byte{'\n'}))
		f.counted.at = int64(at)
		return f.lines + f.counted.lines + 1
	}
	return f.lines + int64(bytes.Count(f.batch.data[:at], []byte{'\n'})) + 1
}

func (f *fold) addBad(b *badEvent) {
	f.intake.Bad++
	if b.why == whyLead {
		f.edges++
	}
	if len(f.intake.BadLines) < tally.MaxBadLines {
		f.intake.BadLines = append(f.intake.BadLines, iikanji.BadLine{File: f.files[f.file], Line: f.lineOf(b.from),
			Text: quote(f.batch.data[b.from:b.to]), Why: b.why})
	}
}

// quote is the beginning of a bad entry.
func quote(b []byte) string {
	return clip(string(bytes.ToValidUTF8(b[:min(len(b), 200)], []byte("\uFFFD"))), 160)
}

// event counts one entry.
func (f *fold) event(ev *event) {
	data := f.batch.data
	db := ev.db.of(data)
	if ev.flags&flagUse != 0 {
		f.db = append(f.db[:0], db...)
	} else if len(db) == 0 {
		db = f.db
	}
	f.intake.Lines++
	if ev.at != 0 {
		if f.allFirst == 0 || ev.at < f.allFirst {
			f.allFirst = ev.at
		}
		f.allLast = max(f.allLast, ev.at)
	}
	if !f.wanted(ev, db) {
		f.intake.Left++
		return
	}
	if ev.at != 0 {
		if f.first == 0 || ev.at < f.first {
			f.first = ev.at
		}
		f.last = max(f.last, ev.at)
	}
	f.note(ev.flags)
	d := f.digestOf(ev)
	d.add(ev)
	if f.opt.PerSecond && ev.at != 0 {
		d.seconds.Add(ev.at)
	}
	d.dbs.add(db)
	d.users.add(ev.user.of(data))
	d.hosts.add(ev.host.of(data))
	f.examples(d, ev)
	f.threads.event(ev, d)
}

// note counts the flags that notes are made of.
func (f *fold) note(fl flags) {
	if fl&(flagRoutine|flagRate|flagOpen) == 0 {
		return
	}
	for i := range f.counts {
		f.counts[i] += int64(fl >> i & 1)
	}
}

func (f *fold) examples(d *digest, ev *event) {
	if d.wantsWorst(ev) {
		d.worst.keep(ev.sql.of(f.batch.data), f.file, f.lineOf(ev.start), ev.query, &f.texts)
	}
	if d.wantsTypical(ev) {
		d.typical.keep(ev.sql.of(f.batch.data), f.file, f.lineOf(ev.start), ev.query, &f.texts)
	}
}

// digestOf finds the digest of an event, making it when it is new.
func (f *fold) digestOf(ev *event) *digest {
	if d := f.digests[ev.digest]; d != nil {
		return d
	}
	if len(f.order) >= maxDigests {
		f.over++
		return &f.overflow
	}
	sql := ev.sql.of(f.batch.data)
	d := &digest{id: uint32(len(f.order) + 1), key: ev.digest}
	if bytes.HasPrefix(sql, adminLine) {
		d.text = adminPrefix + string(bytes.TrimSuffix(sql[len(adminLine):], []byte{';'}))
	} else {
		d.text = string(bytes.ToValidUTF8(f.fp.Fingerprint(sql), []byte("\uFFFD")))
		d.tables = tablesOf(d.text, sql)
	}
	if f.texts <= 0 {
		d.text = clip(d.text, shortExample)
	}
	f.texts -= len(d.text)
	d.label = labelOf(d.text, d.tables)
	f.digests[ev.digest] = d
	f.order = append(f.order, d)
	return d
}

// wanted says whether an event is inside the window and the filter.
func (f *fold) wanted(ev *event, db []byte) bool {
	if ev.at != 0 && (ev.at < f.opt.since || ev.at >= f.opt.until) {
		return false
	}
	return f.opt.Where == nil || f.opt.Where(&Entry{fold: f, ev: ev, db: db})
}

// profile turns everything into a profile.
func (f *fold) profile() *iikanji.Profile {
	p := &iikanji.Profile{Version: iikanji.ProfileVersion, Source: iikanji.Slow, Intake: f.intake}
	p.Intake.Files = f.files
	p.Intake.First, p.Intake.Last = unixTime(f.first), unixTime(f.last)
	p.First, p.Last = p.Intake.First, p.Intake.Last
	for _, d := range f.order {
		p.Rows = append(p.Rows, d.row(f.files))
	}
	if f.over > 0 {
		p.Rows = append(p.Rows, f.overflow.row(f.files))
	}
	p.Rows = append(p.Rows, f.sums.rows()...)
	tally.SortRows(p.Rows)
	tally.Share(p.Rows)
	f.threads.reset()
	p.Transactions = f.shapes.list(f.files)
	p.Repeats = f.repeats()
	p.Notes = f.notes()
	return p
}
