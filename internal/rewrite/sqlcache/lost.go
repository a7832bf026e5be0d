package sqlcache

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Questions that MySQL and MariaDB of every supported version answer without
// further rights: a user sees the threads of the same user.
const (
	askNumber  = "SELECT CONNECTION_ID(), @@autocommit"
	askThreads = "SELECT ID FROM information_schema.PROCESSLIST"
	askUptime  = "SHOW GLOBAL STATUS LIKE 'Uptime'"
)

// identify asks the server for the connection's number, and whether statements
// are committed one by one.
func (k *conn) identify(ctx context.Context) error {
	rows, err := ask(ctx, k.base, askNumber)
	if err != nil {
		return err
	}
	if len(rows) != 1 || len(rows[0]) != 2 {
		return fmt.Errorf("%d rows instead of one", len(rows))
	}
	number, ok := integer(rows[0][0])
	if !ok {
		return fmt.Errorf("%v is no number", rows[0][0])
	}
	k.number = number
	if auto, ok := integer(rows[0][1]); !ok || auto != 1 {
		k.open, k.unsure = true, true
	}
	return nil
}

// ask sends a query without arguments.
func ask(ctx context.Context, base driver.Conn, text string) (_ [][]driver.Value, err error) {
	q, ok := base.(driver.QueryerContext)
	if !ok {
		return nil, errors.New("the driver has no QueryContext")
	}
	rows, err := q.QueryContext(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = firstError(err, rows.Close()) }()
	var all [][]driver.Value
	for {
		row := make([]driver.Value, len(rows.Columns()))
		switch err := rows.Next(row); {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, err
		}
		for i := range row {
			row[i] = own(row[i])
		}
		all = append(all, row)
	}
}

// lostWrites are the writes of connections that were lost before the answer.
// Their slots stay in doubt until the server has ended the connection.
type lostWrites struct {
	mu      sync.Mutex
	waiting []lostWrite
	running bool
}

type lostWrite struct {
	connector driver.Connector
	number    int64
	slots     []*slot
	at        time.Time
}

// Pauses between two questions of whether lost connections have ended.
const (
	firstPause = 2 * time.Millisecond
	mostPause  = time.Second
	askLimit   = 5 * time.Second
)

func (l *lostWrites) add(c driver.Connector, number int64, slots []*slot) {
	if len(slots) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, lostWrite{c, number, slots, time.Now()})
	if !l.running {
		l.running = true
		go l.resolve()
	}
}

// resolve asks until no lost write is left. It is the only goroutine of a cache.
func (l *lostWrites) resolve() {
	pause := firstPause
	for {
		time.Sleep(pause)
		if pause *= 2; pause > mostPause {
			pause = mostPause
		}
		l.mu.Lock()
		waiting := append([]lostWrite{}, l.waiting...)
		l.mu.Unlock()
		gone := endedOf(waiting)
		l.mu.Lock()
		kept := l.waiting[:0]
		for i, w := range l.waiting {
			// New ones were appended behind those that were asked for.
			if i < len(gone) && gone[i] {
				settle(w.slots)
				continue
			}
			kept = append(kept, w)
		}
		for i := len(kept); i < len(l.waiting); i++ {
			l.waiting[i] = lostWrite{}
		}
		l.waiting = kept
		if len(kept) == 0 {
			l.running = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
	}
}

// endedOf returns which connections the servers have ended. One that cannot be
// asked about has not.
func endedOf(waiting []lostWrite) []bool {
	gone := make([]bool, len(waiting))
	asked := map[driver.Connector]*threads{}
	for i, w := range waiting {
		t, done := asked[w.connector]
		if !done {
			t = threadsOf(w.connector)
			asked[w.connector] = t
		}
		if t != nil {
			gone[i] = !t.numbers[w.number] || t.started.After(w.at)
		}
	}
	return gone
}

// threads are the connections of a server at one moment. After a restart the
// numbers begin anew.
type threads struct {
	numbers map[int64]bool
	started time.Time
}

func threadsOf(c driver.Connector) *threads {
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	base, err := c.Connect(ctx)
	if err != nil {
		return nil
	}
	defer base.Close()
	self, err := ask(ctx, base, askNumber)
	if err != nil || len(self) != 1 {
		return nil
	}
	rows, err := ask(ctx, base, askThreads)
	if err != nil {
		return nil
	}
	t := &threads{numbers: map[int64]bool{}}
	for _, r := range rows {
		if n, ok := integer(r[0]); ok {
			t.numbers[n] = true
		}
	}
	// A list without the connection that asked is cut off: the server ends a killed
	// question without an error.
	if own, ok := integer(self[0][0]); !ok || !t.numbers[own] {
		return nil
	}
	up, err := ask(ctx, base, askUptime)
	if err != nil || len(up) != 1 || len(up[0]) != 2 {
		return t
	}
	if n, ok := integer(up[0][1]); ok {
		// Uptime has whole seconds: the server did not start later than this.
		t.started = time.Now().Add(-time.Duration(n) * time.Second).Add(-time.Second)
	}
	return t
}
