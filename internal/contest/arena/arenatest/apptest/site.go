// Package apptest runs an arena's app with its own servers, for the tests of its
// answers, of its work and of its pages.
package apptest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // the servers' database is reached through database/sql

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
)

// A Site is an arena that is up.
type Site struct {
	Stack *stack.Stack
	// DB has one connection to the arena's MariaDB.
	DB *sql.DB
	*Browser
}

// Up starts an arena and stops it when t is over. The test binary must call
// [stack.MaybeSupervise] in an init, because the stack's supervisor is the same
// binary.
func Up(t *testing.T, name string) *Site {
	t.Helper()
	a, ok := arena.Find(name)
	if !ok {
		t.Fatalf("there is no arena %s", name)
	}
	dir, err := os.MkdirTemp("", "iikanji-"+name+"-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // the services' user needs access
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	began := time.Now()
	up, err := stack.Up(ctx, a, stack.Options{Dir: filepath.Join(dir, "stack")})
	if err != nil {
		t.Fatalf("bringing the contest up: %v", err)
	}
	t.Logf("the contest is up after %v", time.Since(began).Round(10*time.Millisecond))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := up.Down(ctx); err != nil {
			t.Errorf("taking the contest down: %v", err)
		}
	})
	return On(t, up)
}

// On returns an arena that is up already.
func On(t *testing.T, up *stack.Stack) *Site {
	t.Helper()
	s := &Site{Stack: up, Browser: NewBrowser(t)}
	s.connect(t)
	return s
}

// connect opens the arena's MariaDB, if it has one.
func (s *Site) connect(t *testing.T) {
	t.Helper()
	for _, svc := range s.Stack.Arena().Services {
		if svc.Engine != iikanji.EngineMariaDB {
			continue
		}
		p := s.Stack.Places().Service(svc.Name)
		db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(127.0.0.1:%d)/%s?parseTime=true", p.User, p.Password, p.Port, p.Schema))
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { db.Close() })
		s.DB = db
		return
	}
}

// URL is the base URL of the arena's web server.
func (s *Site) URL() string { return s.Stack.Places().URL() }
