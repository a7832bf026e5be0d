package observe

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestExecuted checks that the statements executed by a real database meanwhile are
// returned, including those of several lines and without earlier or later ones, and
// that the database's settings are restored.
func TestExecuted(t *testing.T) {
	_, db := openDatabase(t, "told")
	run := func(statements ...string) { runAll(t, db, statements...) }
	settings := func() string {
		var file, output, on string
		if err := db.QueryRowContext(t.Context(), "SELECT @@GLOBAL.general_log_file, @@GLOBAL.log_output, @@GLOBAL.general_log").Scan(&file, &output, &on); err != nil {
			t.Fatal(err)
		}
		return file + " " + output + " " + on
	}
	beside := filepath.Join(t.TempDir(), "slow.log")
	if err := errors.Join(os.WriteFile(beside, nil, 0o666), os.Chmod(filepath.Dir(beside), 0o777)); err != nil {
		t.Fatal(err)
	}
	before := settings()
	run("CREATE TABLE a (n int)")
	create := "CREATE TABLE b (\n  n int, -- 7 Query\tno entry\n\n  s varchar(9) DEFAULT 'x'\n)"
	got, err := Executed(t.Context(), host.Local{}, db, beside, func() error {
		run("DROP TABLE IF EXISTS b", create, "INSERT INTO b (n) VALUES (1)")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	run("CREATE TABLE c (n int)")
	if !slices.Contains(got, create) || !slices.Contains(got, "DROP TABLE IF EXISTS b") {
		t.Errorf("executed:\n%s", strings.Join(got, "\n--\n"))
	}
	if all := strings.Join(got, "\n"); strings.Contains(all, "TABLE a") || strings.Contains(all, "TABLE c") {
		t.Errorf("statements from before or after are included:\n%s", all)
	}
	if now := settings(); now != before {
		t.Errorf("the settings are %s, they were %s", now, before)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(beside), "*")); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
	no := errors.New("no")
	if _, err := Executed(t.Context(), host.Local{}, db, beside, func() error { return no }); !errors.Is(err, no) || settings() != before {
		t.Errorf("%v, the settings are %s", err, settings())
	}
}

// TestParseExecuted parses the formats of both servers.
func TestParseExecuted(t *testing.T) {
	log := "/usr/sbin/mariadbd, Version: 10.11\nTcp port: 0\nTime\t\t    Id Command\tArgument\n" +
		"261121 16:20:01\t     5 Connect\troot@localhost on x\n\t\t     5 Query\tSELECT 1\n\t\t     6 Init DB\tx\n\t\t     5 Prepare\tSELECT ?\n\t\t     5 Execute\tSELECT 2\n\t\t     5 Close stmt\t\n" +
		"2026-11-21T16:20:01.000001Z\t    9 Query\tCREATE TABLE t (\n  a int\n)\n2026-11-21T16:20:02.000001Z\t    9 Quit\t\n"
	got, err := parseExecuted(bufio.NewScanner(strings.NewReader(log)))
	if want := []string{"SELECT 1", "SELECT 2", "CREATE TABLE t (\n  a int\n)"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q %v, want %q", got, err, want)
	}
}

func FuzzParseExecuted(f *testing.F) {
	f.Add("\t\t     5 Query\tSELECT 1\nx\n")
	f.Fuzz(func(t *testing.T, log string) {
		got, err := parseExecuted(bufio.NewScanner(strings.NewReader(log)))
		if err == nil && len(strings.Join(got, "")) > len(log)+len(got) {
			t.Errorf("%d bytes of statements in a log of %d", len(strings.Join(got, "")), len(log))
		}
	})
}

// TestEmptyLike makes the observed log on the database's own host, in place of that
// of the last observation, and never through a link.
func TestEmptyLike(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &host.Fake{Root: root, Host: "db1"}
	if err := errors.Join(h.Write("/own.log", []byte("own"), 0o640), h.Write("/target", []byte("kept"), 0o644), h.Symlink("/target", "/new.log")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := emptyLike(h, "/new.log", "/own.log"); err != nil {
			t.Fatal(err)
		}
		if info, err := h.Lstat("/new.log"); err != nil || !info.Mode().IsRegular() || info.Size() != 0 {
			t.Errorf("%v, %v", info, err)
		}
	}
	if b, err := h.Read("/target"); err != nil || string(b) != "kept" {
		t.Errorf("%q, %v", b, err)
	}
	if err := emptyLike(h, "/new.log", "/none.log"); err != nil {
		t.Errorf("like a log that the server has not made yet: %v", err)
	}
	if err := emptyLike(h, "/new.log", "/none/own.log"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("like a file in a folder that is not there: %v", err)
	}
}
