package mysqlconf

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func init() { change.Register(Kind{}) }

// Kind plans settings of a database server. Remedy.Target is its service;
// Args are variables and their values, as {"innodb_flush_log_at_trx_commit": "2"}.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "mysqlconf" }

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	svc := s.Services[r.Target]
	if svc.DropIn == "" || svc.DB == nil || svc.Check == nil {
		return nil, fmt.Errorf("no database %q with a folder for further settings", r.Target)
	}
	if len(r.Args) == 0 {
		return nil, fmt.Errorf("no variable to set")
	}
	now, err := variables(ctx, svc.DB)
	if err != nil {
		return nil, err
	}
	weakens, err := check(r.Args, now)
	if err != nil {
		return nil, err
	}
	if err := different(r.Args, now); err != nil {
		return nil, err
	}
	if err := budget(s, now, r.Args); err != nil {
		return nil, err
	}
	old, err := s.ReadOld(svc.DropIn)
	if err != nil {
		return nil, err
	}
	edited := edit(old, r.Args)
	if err := test(ctx, svc, edited); err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: "set " + says(r.Args), Weakens: weakens, Risk: iikanji.RiskRestart}
	change.FromEdits(c, iikanji.Restart, change.Edit{Path: svc.DropIn, Old: old, New: edited})
	return c, nil
}

func says(args map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		parts = append(parts, name+" = "+args[name])
	}
	return strings.Join(parts, ", ")
}

// variables reads the server's global variables.
func variables(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, fmt.Errorf("reading the server's variables: %w", err)
	}
	defer rows.Close()
	vars := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("reading the server's variables: %w", err)
		}
		vars[name] = value
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the server's variables: %w", err)
	}
	return vars, nil
}

// different wants variables that this server has, and some other value.
func different(wanted, now map[string]string) error {
	same := true
	for name, value := range wanted {
		is, known := now[name]
		if !known {
			return fmt.Errorf("the server has no variable %q", name)
		}
		same = same && plain(is) == plain(value)
	}
	if same {
		return change.ErrNothing
	}
	return nil
}

func budget(s *change.Site, now, wanted map[string]string) error {
	info, err := s.Host.Read("/proc/meminfo")
	if err != nil {
		return fmt.Errorf("reading the machine's memory: %w", err)
	}
	memory, err := machineMemory(info)
	if err != nil {
		return err
	}
	then := maps.Clone(now)
	maps.Copy(then, wanted)
	return fits(now, then, memory)
}

// test has the server's program read the edited file, under a name that the
// running server does not read at a restart (it wants ".cnf").
func test(ctx context.Context, svc change.Service, edited []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(svc.DropIn), ".iikanji-test-*.tmp")
	if err != nil {
		return fmt.Errorf("testing the settings: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(edited)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("testing the settings: %w", err)
	}
	if err := svc.Check(ctx, f.Name()); err != nil {
		return fmt.Errorf("the server refuses the settings: %w", err)
	}
	return nil
}
