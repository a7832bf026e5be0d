package factstest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestStartAnswersAndLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := Start(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	db, err := s.Open(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil || version == "" {
		t.Errorf("version %q, %v", version, err)
	}
	db.Close()
	s.Stop()
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there", s.dir)
	}
	if s.cmd.ProcessState == nil {
		t.Error("mariadbd still runs")
	}
}

func TestStartSaysWhyNot(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if s, err := Start(ctx, "", "--no-such-option"); err == nil {
		s.Stop()
		t.Error("started with an unknown option")
	}
}

// TestDataFolders checks that two data folders share no file that can be written.
func TestDataFolders(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	if err := errors.Join(DataFolder(ctx, one), DataFolder(ctx, two)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(one, "ibdata1"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(two, "ibdata1")); err != nil || info.Size() < 1<<20 {
		t.Errorf("the other folder has changed too: %v %v", info, err)
	}
}
