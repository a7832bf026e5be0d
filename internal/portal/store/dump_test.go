package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTables: the tables and columns that a backup has are those of the database.
func TestTables(t *testing.T) {
	engines(t, func(t *testing.T, address string) {
		s := opened(t, address)
		all, err := tables(len(migrations))
		if err != nil {
			t.Fatal(err)
		}
		var have, want []string
		query := map[dialect]string{
			sqlite:   "SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' ORDER BY m.name, p.cid",
			mariadb:  "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position",
			postgres: "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position",
		}[s.dialect]
		err = s.Read(t.Context(), func(tx *Tx) error {
			return tx.Each(query, nil, func(scan func(...any) error) error {
				table, column := "", ""
				err := scan(&table, &column)
				if table != "portal_schema" {
					have = append(have, table+"."+column)
				}
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			for _, c := range x.columns {
				want = append(want, x.name+"."+c.name)
			}
		}
		slices.Sort(have)
		slices.Sort(want)
		if !slices.Equal(have, want) {
			t.Errorf("the database has\n%v\nthe backup\n%v", have, want)
		}
	})
}

// filled writes rows whose values are hard to keep.
func filled(t *testing.T, s *Store) {
	t.Helper()
	err := s.Write(t.Context(), "fill", func(tx *Tx) error {
		for i, score := range []float64{0, 0.1, 1e300, -5e-324, 310.25, 1.0 / 3} {
			id := fmt.Sprint("z", i)
			if _, err := tx.Exec("INSERT INTO results (job, round, team, number, at, outcome, score, digest, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
				id, "cup_final", "t", i, time.Unix(1, 2000), "passed", score, "d", `{"log":"<a> & \"b\" \\ ?`+"\u2028\n\t"+`"}`); err != nil {
				return err
			}
		}
		for _, id := range []string{"Z", "a", "ä", "日本", "\U0001F600", ""} { // orders differ by locale
			if _, err := tx.Exec("INSERT INTO contests (id, file, digest, created) VALUES (?, ?, ?, ?)", id, strings.Repeat("x", 100<<10), id, int64(1)<<62); err != nil {
				return err
			}
		}
		_, err := tx.Exec("UPDATE leader_term SET term = 7")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func dumped(t *testing.T, s *Store) ([]byte, Sums) {
	t.Helper()
	var b bytes.Buffer
	sums, err := s.Dump(t.Context(), &b, Head{Program: "test", At: time.Unix(1, 0).UTC(), Files: map[string]string{"secret": "s"}})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), sums
}

// TestDump: a backup fills a new database of the same engine and of another with the same rows, and
// no database that has some.
func TestDump(t *testing.T) {
	first := opened(t, filepath.Join(t.TempDir(), "first.db"))
	filled(t, first)
	text, sums := dumped(t, first)
	if sums["contests"].Rows != 6 || sums["results"].Rows != 6 || sums["leader_term"].Rows != 1 || sums["teams"].Rows != 0 {
		t.Fatalf("the backup has %v", sums)
	}
	engines(t, func(t *testing.T, address string) {
		h, got, err := Load(t.Context(), address, bytes.NewReader(text))
		if err != nil || !maps.Equal(got, sums) || h.Files["secret"] != "s" || h.Program != "test" {
			t.Fatalf("%+v, %v, %v", h, got, err)
		}
		if _, _, err := Load(t.Context(), address, bytes.NewReader(text)); !errors.Is(err, ErrNotEmpty) {
			t.Errorf("a second time: %v", err)
		}
		other := opened(t, address)
		again, sums2 := dumped(t, other)
		if !bytes.Equal(unzip(t, again), unzip(t, text)) || !maps.Equal(sums2, sums) {
			t.Error("the backup of the restored database is another one")
		}
	})
}

func unzip(t *testing.T, text []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDumpWhileWritten: a backup is one state, also while others write.
func TestDumpWhileWritten(t *testing.T) {
	engines(t, func(t *testing.T, address string) {
		s := opened(t, address)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := 0; ctx.Err() == nil && i < 200; i++ { // two tables, always with as many rows
				err := s.Write(context.WithoutCancel(ctx), "both", func(tx *Tx) error {
					if err := insert(tx, "r", fmt.Sprint(i), "x"); err != nil {
						return err
					}
					_, err := tx.Exec("INSERT INTO windows (round, team, began) VALUES (?, ?, 1)", "r", fmt.Sprint(i))
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		}()
		for range 5 {
			if _, sums := dumped(t, s); sums["open_jobs"].Rows != sums["windows"].Rows {
				t.Errorf("%d and %d rows", sums["open_jobs"].Rows, sums["windows"].Rows)
			}
		}
		stop()
		<-done
	})
}

// TestDamaged: a backup that is cut, changed or of a newer program is refused, and the database
// stays empty.
func TestDamaged(t *testing.T) {
	first := opened(t, filepath.Join(t.TempDir(), "first.db"))
	filled(t, first)
	text, _ := dumped(t, first)
	plain := string(unzip(t, text))
	zip := func(text string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	lines := strings.SplitAfter(plain, "\n")
	address := filepath.Join(t.TempDir(), "second.db")
	for name, bad := range map[string][]byte{
		"nothing":            nil,
		"no gzip":            []byte(plain),
		"cut":                text[:len(text)-9],
		"cut in the sum":     text[:len(text)-2],
		"without an end":     zip(strings.Join(lines[:len(lines)-2], "")),
		"another key":        zip(strings.Replace(plain, `["z0"`, `["z9"`, 1)),
		"a row less":         zip(strings.Join(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasPrefix(l, `["z0"`) }), "")),
		"another value":      zip(strings.Replace(plain, "310.25", "310.26", 1)),
		"another table":      zip(strings.Replace(plain, `{"table":"results"`, `{"table":"portal_schema"`, 1)),
		"another column":     zip(strings.Replace(plain, `"outcome"`, `"out; DROP TABLE jobs"`, 1)),
		"a wrong type":       zip(strings.Replace(plain, "310.25", `"310.25"`, 1)),
		"a null":             zip(strings.Replace(plain, "310.25", "null", 1)),
		"a row of no table":  zip(lines[0] + `["x"]` + "\n"),
		"more after its end": zip(plain + lines[1]),
		"a newer schema":     zip(strings.Replace(plain, fmt.Sprintf(`"schema":%d`, len(migrations)), `"schema":99`, 1)),
		"a newer form":       zip(strings.Replace(plain, `"backup":1`, `"backup":2`, 1)),
	} {
		if _, _, err := Load(t.Context(), address, bytes.NewReader(bad)); err == nil {
			t.Errorf("%s: the backup was taken", name)
		}
	}
	if _, _, err := Load(t.Context(), address, bytes.NewReader(text)); err != nil {
		t.Errorf("the whole backup after the damaged ones: %v", err)
	}
}

// TestOlder: a backup of an older schema fills a database of that schema, which the next opening
// brings up to date; a SQLite file is copied before.
func TestOlder(t *testing.T) {
	old := filepath.Join(t.TempDir(), "old.db")
	s := &Store{point: func(string) {}, closed: make(chan struct{}), done: make(chan struct{})}
	if err := s.connect(old, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := s.start(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	err := s.Write(t.Context(), "old", func(tx *Tx) error {
		if _, err := tx.Exec("INSERT INTO teams (id, contest, name, folded, division, gone, gone_at, created) VALUES ('t', 'c', 'T', 't', 'general', '', 0, 1)"); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT INTO accounts (id, name, role, team, created) VALUES ('a', 'A', 'leader', 't', 1)")
		return err
	})
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	err = errors.Join(err, writeLine(w, Head{Form: form, Schema: 1}))
	sums, bad := s.rows(t.Context(), w, 1)
	if err := errors.Join(err, bad, writeLine(w, end{sums}), w.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	now := opened(t, old)
	kept, err := os.Stat(old + ".schema-1")
	if err != nil || kept.Mode().Perm() != 0o600 {
		t.Errorf("no copy of the older database: %v", err)
	}
	members := 0
	if err := now.Read(t.Context(), func(tx *Tx) error {
		return tx.Row("SELECT COUNT(*) FROM members WHERE account = 'a' AND leads = 1", nil, &members)
	}); err != nil || members != 1 {
		t.Errorf("%d members, %v", members, err)
	}
	target := filepath.Join(t.TempDir(), "target.db")
	if _, _, err := Load(t.Context(), target, bytes.NewReader(b.Bytes())); err != nil {
		t.Fatal(err)
	}
	restored := opened(t, target)
	members = 0
	if err := restored.Read(t.Context(), func(tx *Tx) error {
		return tx.Row("SELECT COUNT(*) FROM members WHERE account = 'a' AND leads = 1", nil, &members)
	}); err != nil || members != 1 {
		t.Errorf("%d members after the restore, %v", members, err)
	}
}
