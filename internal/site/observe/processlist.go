package observe

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
)

const (
	// listEvery is the time between two readings of the process list. A reading
	// costs the server less than a millisecond.
	listEvery = 50 * time.Millisecond
	// leastReadings is the share of the readings that must have succeeded.
	leastReadings = 0.8
	// runningSlack is the share by which the statements in the list may differ from
	// the server's count of running threads, besides one thread.
	runningSlack = 0.3
)

// A listWatch estimates where a database spends its time without changing a
// setting: it reads the list of running statements at a fixed interval. Each
// sighting of a statement stands for one interval of execution. The mean of what
// a sighting shows (elapsed time, rows examined) is half of that of a whole
// execution of constant length, because a reading falls on any instant of it.
type listWatch struct {
	db      *sql.DB
	service string

	quit chan struct{} // nil when it does not run
	done sync.WaitGroup

	conn     *sql.Conn
	mariadb  bool
	began    time.Time
	took     time.Duration
	readings int
	failed   int
	seen     float64 // sightings of statements
	running  float64 // sum of the server's counts of running threads, without this one
	asked    float64 // statements of this watch
	rows     map[string]*sightings
	fp       slowlog.Fingerprinter
	err      error // the first
}

// sightings are those of one fingerprint.
type sightings struct {
	count    int64
	elapsed  float64 // sum, in seconds
	examined float64 // sum
	db       string
	example  iikanji.Sighting
}

// begin starts the watch. Its own statements are never in the slow log.
func (w *listWatch) begin(ctx context.Context) {
	if w == nil || w.db == nil {
		return
	}
	w.rows = map[string]*sightings{}
	if w.conn, w.err = w.db.Conn(ctx); w.err != nil {
		return
	}
	var version string
	if w.err = w.conn.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); w.err != nil {
		return
	}
	w.mariadb = strings.Contains(strings.ToLower(version), "mariadb")
	if _, w.err = w.conn.ExecContext(ctx, "SET SESSION long_query_time = 31536000"); w.err != nil {
		return
	}
	w.asked = 2
	w.began, w.quit = time.Now(), make(chan struct{})
	quit := w.quit
	w.done.Go(func() { w.run(quit) })
}

func (w *listWatch) run(quit chan struct{}) {
	tick := time.NewTicker(listEvery)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), askLimit)
		err := w.read(ctx)
		cancel()
		if w.readings++; err != nil {
			if w.failed++; w.err == nil {
				w.err = fmt.Errorf("reading the process list: %w", err)
			}
			return
		}
	}
}

// read takes down what runs now.
func (w *listWatch) read(ctx context.Context) error {
	w.asked += 2
	var name, running string
	if err := w.conn.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Threads_running'").Scan(&name, &running); err != nil {
		return err
	}
	n, err := strconv.ParseFloat(running, 64)
	if err != nil {
		return err
	}
	w.running += max(0, n-1)
	text := "SELECT IFNULL(DB, ''), TIME, 0, INFO FROM information_schema.PROCESSLIST WHERE INFO IS NOT NULL AND ID <> CONNECTION_ID() AND COMMAND IN ('Query', 'Execute')"
	if w.mariadb {
		text = strings.Replace(text, "TIME, 0,", "TIME_MS / 1000, EXAMINED_ROWS,", 1)
	}
	rows, err := w.conn.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var db, info string
		var elapsed, examined float64
		if err := rows.Scan(&db, &elapsed, &examined, &info); err != nil {
			return err
		}
		w.note(db, info, elapsed, examined)
	}
	return rows.Err()
}

func (w *listWatch) note(db, text string, elapsed, examined float64) {
	w.seen++
	key := strings.ToValidUTF8(string(w.fp.Fingerprint([]byte(text))), "\uFFFD")
	s := w.rows[key]
	if s == nil {
		s = &sightings{db: db}
		w.rows[key] = s
	}
	s.count++
	s.elapsed += max(0, elapsed)
	s.examined += examined
	if took := time.Duration(elapsed * float64(time.Second)); s.example.Text == "" || took > s.example.Took {
		s.example = iikanji.Sighting{Text: strings.ToValidUTF8(text, "\uFFFD"), Took: took}
	}
}

// end stops the watch; it may be called again.
func (w *listWatch) end() {
	if w == nil || w.quit == nil {
		return
	}
	close(w.quit)
	w.quit = nil
	w.done.Wait()
	w.took = time.Since(w.began)
}

func (w *listWatch) close() error {
	if w == nil || w.conn == nil {
		return nil
	}
	w.end()
	defer func() { w.conn = nil }()
	// The session's limit must not go back to the pool.
	if _, err := w.conn.ExecContext(context.Background(), "SET SESSION long_query_time = DEFAULT"); err != nil {
		_ = w.conn.Close()
		return nil
	}
	return w.conn.Close()
}

// profile is the estimate; nil without a reading.
func (w *listWatch) profile() *iikanji.Profile {
	if w == nil || w.readings == 0 {
		return nil
	}
	p := &iikanji.Profile{Version: iikanji.ProfileVersion, Source: iikanji.Slow, Target: w.service, First: w.began, Last: w.began.Add(w.took),
		Notes: []string{fmt.Sprintf("estimated from %d readings of the process list: times, counts and rows are estimates, and statements that are much shorter than their share of the time are rare in it", w.readings)}}
	p.Intake = iikanji.Intake{Format: iikanji.ProcessList, Lines: int64(w.readings), Bad: int64(w.failed), First: p.First, Last: p.Last}
	every := w.took / time.Duration(w.readings)
	total := time.Duration(w.seen) * every
	for key, s := range w.rows {
		p.Rows = append(p.Rows, s.row(key, every, total))
	}
	slices.SortFunc(p.Rows, func(a, b iikanji.Row) int {
		if a.Total != b.Total {
			return int(min(max(b.Total-a.Total, -1), 1))
		}
		return strings.Compare(a.Key, b.Key)
	})
	return p
}

// row is the estimate for one fingerprint.
func (s *sightings) row(key string, every, total time.Duration) iikanji.Row {
	r := iikanji.Row{Key: key, Total: time.Duration(s.count) * every, Example: s.example}
	mean := 2 * s.elapsed / float64(s.count)
	if r.Count = s.count; mean > 0 {
		r.Count = max(1, int64(math.Round(r.Total.Seconds()/mean)))
	}
	r.Mean = r.Total / time.Duration(r.Count)
	r.P50, r.Max = r.Mean, max(r.Mean, s.example.Took)
	if total > 0 {
		r.Share = float64(r.Total) / float64(total)
	}
	r.Query = &iikanji.SQLRow{Digest: fmt.Sprintf("%016x", slowlog.Digest([]byte(key))), Fingerprint: key, DB: s.db,
		Tables: slowlog.TablesOf(key, []byte(s.example.Text)), Typical: s.example}
	r.Query.Examined = int64(2 * s.examined / float64(s.count) * float64(r.Count))
	return r
}

// prove compares the estimate with the server's own counters: the number of
// threads that it counted as running at the same instants, and its questions.
func (w *listWatch) prove(questions float64) Sensor {
	s := Sensor{Source: iikanji.Slow, Name: "process list"}
	if w == nil || w.readings == 0 {
		err := error(nil)
		if w != nil {
			err = w.err
		}
		return s.settle(orElse(err, "the process list was not read"))
	}
	n := float64(w.readings)
	due := w.took.Seconds() / listEvery.Seconds()
	seen, running := w.seen/n, w.running/n
	slack := 1 + runningSlack*max(seen, running)
	executed := 0.0
	for key, x := range w.rows {
		executed += float64(x.row(key, w.took/time.Duration(w.readings), 0).Count)
	}
	limit := (1+runningSlack)*questions + 1
	s.Proofs = []Proof{
		{fmt.Sprintf("%.0f readings of %.0f that were due", n-float64(w.failed), due), fmt.Sprintf("%.0f %% or more", 100*leastReadings), n-float64(w.failed) >= leastReadings*due-1},
		{fmt.Sprintf("%.2f statements ran at a time, %.2f threads by the server's count", seen, running), fmt.Sprintf("a difference of %.2f or less", slack), math.Abs(seen-running) <= slack},
		{fmt.Sprintf("%.0f executions estimated", executed), fmt.Sprintf("%.0f or less, what the server counted", limit), executed <= limit},
	}
	return s.settle(nil)
}

func orElse(err error, text string) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%s", text)
}
