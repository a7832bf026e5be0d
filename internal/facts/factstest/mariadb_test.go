package factstest

import (
	"context"
	"os"
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
