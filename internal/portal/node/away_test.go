package node_test

import (
	"database/sql"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver of the portal's own database
)

// lockDatabase takes the lock of the portal's SQLite file as another process would, until it is
// given back.
func (s *system) lockDatabase() (free func()) {
	s.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.dir, "portal.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		s.t.Fatal(err)
	}
	conn, err := db.Conn(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := conn.ExecContext(s.t.Context(), "BEGIN IMMEDIATE"); err != nil {
		s.t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(s.t.Context(), "ROLLBACK"); err != nil {
			s.t.Error(err)
		}
		conn.Close()
		db.Close()
	}
}
