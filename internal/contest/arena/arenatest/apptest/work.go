package apptest

import (
	"fmt"
	"testing"
)

// Work is the work of a MariaDB.
type Work struct {
	Selects, Inserts, Prepares, Commits, Scanned int
}

// WorkOf counts the database's work during do. No other client may use the
// database.
func (s *Site) WorkOf(t *testing.T, do func()) Work {
	t.Helper()
	before := s.counters(t)
	do()
	after := s.counters(t)
	grown := func(names ...string) (n int) {
		for _, name := range names {
			n += after[name] - before[name]
		}
		return n
	}
	return Work{
		Selects: grown("Com_select"), Inserts: grown("Com_insert"), Prepares: grown("Com_stmt_prepare"),
		Commits: grown("Com_commit"), Scanned: grown("Handler_read_rnd_next", "Handler_read_next"),
	}
}

// counters reads the server's status variables that are whole numbers.
func (s *Site) counters(t *testing.T) map[string]int {
	t.Helper()
	n := map[string]int{}
	rows, err := s.DB.Query("SHOW GLOBAL STATUS")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, value string
		var k int
		if err := rows.Scan(&name, &value); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(value, &k); err == nil {
			n[name] = k
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}
