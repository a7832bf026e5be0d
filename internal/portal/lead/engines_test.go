package lead

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// A maker makes a hall with some teams on a new database.
type maker func(t *testing.T, teams int) *hall

// TestEngines runs the acts on hosts and those of judges on the other two engines.
func TestEngines(t *testing.T) {
	tier.Long(t, "every check has these acts on SQLite; two servers with 14 databases take most of a minute")
	mariadb, err := factstest.Start(t.Context(), "") // a short path: it has a socket
	if err != nil {
		tier.Needs(t, "MariaDB", err.Error())
	}
	t.Cleanup(mariadb.Stop)
	folder := servertest.Postgres(t, func(string) []string { return nil })
	made := 0
	address := map[string]func(t *testing.T) string{
		"mariadb": func(t *testing.T) string {
			made++
			name := fmt.Sprint("portal", made)
			db, err := mariadb.Open(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			return "mysql://root@localhost/" + name + "?socket=" + mariadb.Socket
		},
		"postgres": func(*testing.T) string {
			made++
			return fmt.Sprintf("postgres://postgres@/postgres?host=%s&sslmode=disable&search_path=portal%d", folder, made)
		},
	}
	for engine, of := range address {
		hallOn := func(t *testing.T, teams int) *hall {
			t.Helper()
			at := of(t)
			if engine == "postgres" {
				schema(t, folder, made)
			}
			s, err := store.Open(t.Context(), at, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return newHallOn(t, teams, s)
		}
		for name, test := range map[string]func(*testing.T, maker){"hosts": hostsOn, "host ways": hostWaysOn, "foreign jobs": foreignJobsOn, "rejudge": rejudgeOn, "disqualify": disqualifyOn, "plan": planOn, "final steps": finalStepsOn,
			"ghosts": ghostsOn, "awards": awardsOn, "hints": hintsOn, "machine events": machineEventsOn, "reopen": reopenOn, "answers": answersOn} {
			t.Run(engine+" "+name, func(t *testing.T) { test(t, hallOn) })
		}
	}
}

// schema makes a schema of PostgreSQL: a database of its own for one hall.
func schema(t *testing.T, folder string, n int) {
	t.Helper()
	db, err := sql.Open("postgres", "postgres://postgres@/postgres?host="+folder+"&sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), fmt.Sprintf("CREATE SCHEMA portal%d", n)); err != nil {
		t.Fatal(err)
	}
}
