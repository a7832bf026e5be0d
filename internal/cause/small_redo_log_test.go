package cause_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// TestCheckpointAge checks that a full log is reported only if the run wrote as much
// as it holds and the last checkpoint is old.
func TestCheckpointAge(t *testing.T) {
	const mega = 1 << 20
	for _, c := range []struct {
		name         string
		written, age float64
		want         bool
	}{
		{"full", 60 * mega, 33 * mega, true},
		{"room left", 60 * mega, 25 * mega, false},
		{"not once round", 38 * mega, 37 * mega, false},
		{"unknown age", 60 * mega, 0, false},
	} {
		in := cause.Input{Profiles: []iikanji.Profile{statements("UPDATE t SET a = 1", 5000, 4*time.Second, 0)}, Facts: []iikanji.Fact{
			variable("innodb_log_file_size", strconv.Itoa(48*mega)), status("innodb_os_log_written", strconv.FormatFloat(c.written, 'f', 0, 64)),
			factOf(string(fact.TopicInnoDB), "checkpoint_age", fact.Moved{Before: 5, After: c.age})}}
		f, ok := found(t, in, "DB202")
		if ok != c.want || ok && f.Remedies[0].Args["innodb_log_file_size"] != strconv.Itoa(128*mega) {
			t.Errorf("%s: found %v: %+v", c.name, ok, f)
		}
	}
}

// TestLogBuffer checks that the remedy for waits for the log buffer is a larger
// buffer, not a larger log; that MySQL 8.0.30 and later get innodb_redo_log_capacity;
// and that waits for pages do not count.
func TestLogBuffer(t *testing.T) {
	const mega = 1 << 20
	old := []iikanji.Fact{variable("innodb_log_file_size", "50331648"), variable("innodb_log_files_in_group", "2"), variable("innodb_log_buffer_size", "1048576"),
		status("innodb_os_log_written", strconv.Itoa(200*mega))}
	capacity := func(n int) iikanji.Fact { return variable("innodb_redo_log_capacity", strconv.Itoa(n)) }
	behind := func(n float64) iikanji.Fact {
		return factOf(string(fact.TopicInnoDB), "checkpoint_age", fact.Moved{After: n})
	}
	for _, c := range []struct {
		name  string
		took  time.Duration
		facts []iikanji.Fact
		want  map[string]string // what the remedy sets; nil for no finding
	}{
		{"a small buffer", 4 * time.Second, append(slices.Clone(old), status("innodb_log_waits", "400")), map[string]string{"innodb_log_buffer_size": strconv.Itoa(64 * mega)}},
		{"a small buffer beside a large log of MySQL 8", 4 * time.Second, append(slices.Clone(old), capacity(8<<30), status("innodb_log_waits", "400")), map[string]string{"innodb_log_buffer_size": strconv.Itoa(64 * mega)}},
		{"waits without effect", 4 * time.Millisecond, append(slices.Clone(old), status("innodb_log_waits", "400")), nil},
		{"waits for a free page", 4 * time.Second, append(slices.Clone(old), status("innodb_buffer_pool_wait_free", "400")), nil},
		{"a full log of MySQL 8", 4 * time.Second, append(slices.Clone(old), capacity(100*mega), behind(70*mega)), map[string]string{"innodb_redo_log_capacity": strconv.Itoa(512 * mega)}},
		{"two files that are full", 4 * time.Second, append(slices.Clone(old), behind(70*mega)), map[string]string{"innodb_log_file_size": strconv.Itoa(256 * mega)}},
	} {
		in := cause.Input{Profiles: []iikanji.Profile{statements("UPDATE t SET a = 1", 5000, c.took, 0)}, Facts: c.facts}
		f, ok := found(t, in, "DB202")
		if ok != (c.want != nil) || ok && !maps.Equal(f.Remedies[0].Args, c.want) {
			t.Errorf("%s: found %v: %+v, want %v", c.name, ok, f, c.want)
		}
	}
}

// TestRedoLogForReal makes the same writes on a server with a small log and on one
// with a large log. Only the checkpoint age differs: no counter of waits grows.
func TestRedoLogForReal(t *testing.T) {
	tier.Slow(t)
	for _, c := range []struct {
		size string
		want bool
	}{{"4M", true}, {"64M", false}} {
		in := redoRun(t, c.size)
		if f, ok := found(t, in, "DB202"); ok != c.want {
			t.Errorf("a log of %s: found %v: %+v\n%+v", c.size, ok, f, in.Facts)
		}
	}
}

// redoRun writes rows until a small log is full, or three times its size, and
// returns the state of the server before and after.
func redoRun(t *testing.T, size string) cause.Input {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	srv, err := factstest.Start(ctx, "", "--innodb-log-file-size="+size)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	db, err := srv.Open(ctx, "redo")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	asker, err := facts.Connect(ctx, db, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	if _, err := db.ExecContext(ctx, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(500)); INSERT INTO t SELECT seq, '' FROM seq_1_to_5000"); err != nil {
		t.Fatal(err)
	}
	read := func() (facts.InnoDB, map[string]string) {
		in, err := asker.InnoDB(ctx)
		if err != nil {
			t.Fatal(err)
		}
		status, err := asker.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return in, status
	}
	const small, pressed = 3 << 20, 2.1e6 // a log of 4 MiB holds at most 2.7 million between two checkpoints
	before, was := read()
	for n := 1; ; n++ {
		if _, err := db.ExecContext(ctx, "UPDATE t SET v = REPEAT(CHAR(97 + ? MOD 26), 400)", n); err != nil {
			t.Fatal(err)
		}
		after, is := read()
		wrote := after.Numbers["log_sequence"] - before.Numbers["log_sequence"]
		if wrote < 3*small || size == "4M" && after.Numbers["checkpoint_age"] < pressed {
			continue // the progress of the page cleaner depends on the machine: ctx ends the loop
		}
		known := append(facts.InnoDBFacts("database", before, after), facts.StatusFacts("database", was, is)...)
		vars, err := asker.Variables(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return cause.Input{Facts: append(known, variable("innodb_log_file_size", vars["innodb_log_file_size"])),
			Profiles: []iikanji.Profile{statements("UPDATE t SET v = 'a'", int64(n), 5*time.Second, 0)}}
	}
}
