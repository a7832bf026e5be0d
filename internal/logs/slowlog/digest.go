package slowlog

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/show/plain"
)

const (
	// maxDigests limits the digests with a row of their own. A log with more is
	// hostile, or its program writes values into names. The first ones of the log
	// are kept; all others share the overflow row.
	maxDigests = 20_000
	// maxExample limits one example statement and maxTexts all texts, in bytes.
	// Above maxTexts, examples are cut to shortExample.
	maxExample   = 16 << 10
	shortExample = 256
	maxTexts     = 64 << 20
	// overflowKey is the key of the overflow row.
	overflowKey = "(other statements: more digests than are kept)"
)

// A digest holds all counts of one fingerprint.
type digest struct {
	id        uint32
	key       uint64
	text      string // the fingerprint
	label     string // verb and tables, for transaction shapes
	tables    []string
	time      tally.Sketch
	spreads   [5]tally.Sketch // in the order of spreadNames
	count     int64
	errors    int64
	decades   [8]int64
	queryPlan [5]int64 // full scan, full join, filesort, temporary table, on disk
	worst     example
	typical   example
	median    int64 // running estimate
	nextLook  int64 // count at which median is estimated again
	dbs       names
	users     names
	hosts     names

	prepares int64 // Prepare commands directly before an execution
	prepTime int64 // of Prepare and Close stmt
	repeat   repeatSum
	seconds  tally.Seconds
	cached   int64 // answered by the query cache
	ticks    tally.Ticks
}

// spreadNames are the quantities measured per statement besides its time.
var spreadNames = [5]string{"lock", "rows_sent", "rows_examined", "rows_affected", "bytes_sent"}

// An example is one statement with its values.
type example struct {
	text []byte
	file int
	line int64
	took int64
	set  bool
	cut  bool
}

// names counts up to maxNames names. Further names share one count.
type names struct {
	list  []iikanji.Named
	last  int
	other int64
}

const maxNames = 8

func (n *names) add(name []byte) {
	if len(name) == 0 {
		return
	}
	if n.last < len(n.list) && n.list[n.last].Name == string(name) {
		n.list[n.last].Count++
		return
	}
	for i := range n.list {
		if n.list[i].Name == string(name) {
			n.list[i].Count++
			n.last = i
			return
		}
	}
	if len(n.list) == maxNames {
		n.other++
		return
	}
	n.list = append(n.list, iikanji.Named{Name: strings.ToValidUTF8(string(name[:min(len(name), 128)]), "\uFFFD"), Count: 1})
	n.last = len(n.list) - 1
}

// sorted returns the names by count, "other" last.
func (n *names) sorted() []iikanji.Named {
	out := slices.Clone(n.list)
	slices.SortStableFunc(out, func(a, b iikanji.Named) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	if n.other > 0 {
		out = append(out, iikanji.Named{Name: "(other)", Count: n.other})
	}
	return out
}

// add counts an event of the digest. The collector keeps the examples.
func (d *digest) add(ev *event) {
	d.count++
	if ev.flags&flagCached != 0 {
		d.cached++
	}
	if ev.flags&flagNoTimes == 0 {
		d.decades[decade(ev.query)]++
		d.time.Add(time.Duration(ev.query))
	}
	d.spreads[0].Add(time.Duration(ev.lock))
	d.spreads[1].Add(time.Duration(ev.sent))
	d.spreads[2].Add(time.Duration(ev.examined))
	d.spreads[3].Add(time.Duration(ev.affected))
	d.spreads[4].Add(time.Duration(ev.bytes))
	if f := ev.flags; f&(flagFullScan|flagFullJoin|flagFilesort|flagTmpTable|flagTmpDisk|flagError) != 0 {
		for i := range d.queryPlan {
			d.queryPlan[i] += int64(f >> i & 1)
		}
		if f&flagError != 0 {
			d.errors++
		}
	}
}

// decade is the index of a time in SQLRow.Decades.
func decade(ns int64) int {
	i := 0
	for bound := int64(10_000); i < 7 && ns >= bound; bound *= 10 {
		i++
	}
	return i
}

// wantsWorst reports whether an event becomes the worst example.
func (d *digest) wantsWorst(ev *event) bool { return !d.worst.set || ev.query > d.worst.took }

// wantsTypical reports whether an event becomes the typical example: the statement
// nearest to the median. The median is estimated again each time the count has
// grown by half, so one pass over the log is enough.
func (d *digest) wantsTypical(ev *event) bool {
	if d.count >= d.nextLook {
		d.median = int64(d.time.Quantile(0.5))
		d.nextLook = d.count + d.count/2 + 1
	}
	return !d.typical.set || distance(ev.query, d.median) < distance(d.typical.took, d.median)
}

func distance(a, b int64) int64 {
	if a > b {
		return a - b
	}
	return b - a
}

// row turns the digest into a row of a profile.
func (d *digest) row(files []string, w *tally.Window) iikanji.Row {
	r := iikanji.Row{Key: d.text, Count: d.count, Errors: d.errors, PerSecond: d.seconds.Counts()}
	if w != nil {
		r.Ticks = d.ticks.Counts(w)
	}
	d.time.Fill(&r)
	q := &iikanji.SQLRow{Digest: fmt.Sprintf("%016x", d.key), Fingerprint: d.text, Tables: d.tables,
		Lock: d.spreads[0].Sum(), Sent: int64(d.spreads[1].Sum()), MaxSent: int64(d.spreads[1].Max()),
		Examined: int64(d.spreads[2].Sum()), MaxExamined: int64(d.spreads[2].Max()),
		Affected: int64(d.spreads[3].Sum()), BytesSent: iikanji.Bytes(d.spreads[4].Sum()),
		FullScan: d.queryPlan[0], FullJoin: d.queryPlan[1], Filesort: d.queryPlan[2], TmpTable: d.queryPlan[3], TmpDisk: d.queryPlan[4],
		VM: d.time.VarianceToMean(), Decades: d.decades, Users: d.users.sorted(), Hosts: d.hosts.sorted(), DBs: d.dbs.sorted(),
		Cached: d.cached, Prepares: d.prepares, PrepareTime: time.Duration(d.prepTime)}
	if len(q.DBs) > 0 {
		q.DB = q.DBs[0].Name
	}
	if d.key == 0 {
		q.Digest = ""
	}
	for i := range d.spreads {
		q.Spreads = append(q.Spreads, tally.SpreadOf(spreadNames[i], &d.spreads[i]))
	}
	r.Query = q
	r.Example, q.Typical = d.worst.sighting(files), d.typical.sighting(files)
	return r
}

func (e *example) sighting(files []string) iikanji.Sighting {
	if !e.set {
		return iikanji.Sighting{}
	}
	text := strings.ToValidUTF8(string(e.text), "\uFFFD")
	if e.cut {
		text += " …"
	}
	return iikanji.Sighting{Text: text, File: files[e.file], Line: e.line, Took: time.Duration(e.took)}
}

// labelOf returns the name of a digest in a transaction shape: verb and tables.
func labelOf(text string, tables []string) string {
	verb, _, _ := strings.Cut(text, " ")
	if strings.HasPrefix(text, adminPrefix) || len(tables) == 0 {
		return plain.CutBytes(text, 100)
	}
	return verb + " " + strings.Join(tables, ",")
}

// keep makes e the example sql. budget is the number of bytes left for texts.
func (e *example) keep(sql []byte, file int, line, took int64, budget *int) {
	limit := maxExample
	if *budget <= 0 {
		limit = shortExample
	}
	cut := len(sql) > limit
	sql = sql[:min(len(sql), limit)]
	before := cap(e.text)
	*e = example{text: append(e.text[:0], bytes.TrimSpace(sql)...), file: file, line: line, took: took, set: true, cut: cut}
	*budget -= cap(e.text) - before
}
