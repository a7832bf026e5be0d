package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// portalCmd runs contests.
type portalCmd struct {
	Up      portalUpCmd      `cmd:"" help:"Run a portal; with --practice also an arena and a worker."`
	Worker  portalWorkerCmd  `cmd:"" help:"Run the jobs of a portal on this machine."`
	Contest portalContestCmd `cmd:"" help:"Check a contest file, compare two, or keep one in a portal."`
	Team    portalTeamCmd    `cmd:"" help:"Make a team with its host and its login link."`
	Account portalAccountCmd `cmd:"" help:"Make accounts of staff, or forget a person."`
	Export  portalExportCmd  `cmd:"" help:"Write a contest as plain files."`
	Import  portalImportCmd  `cmd:"" help:"Rebuild a contest of an export."`
	Noise   portalNoiseCmd   `cmd:"" help:"Measure how far runs of an unchanged site differ."`
	Doctor  portalDoctorCmd  `cmd:"" help:"Ask a portal whether a round can begin."`
	Backup  portalBackupCmd  `cmd:"" help:"Write all of a portal into one file, while it runs."`
	Restore portalRestoreCmd `cmd:"" help:"Make a portal of a backup, and check it."`
	Job     portalJobCmd     `cmd:"" help:"Enqueue, list or cancel runs."`
	Pool    portalPoolCmd    `cmd:"" help:"List the workers, hold one or let it work again."`
	Join    portalJoinCmd    `cmd:"" help:"Prove that this machine is a team's, and tell how it is."`
	Check   portalCheckCmd   `cmd:"" help:"Show what join would tell of this machine, with remedies."`
	Host    portalHostCmd    `cmd:"" help:"Register a team's machines, or list them."`
	Judge   portalJudgeCmd   `cmd:"" help:"Final judging, rejudging, disqualifications, the results."`
	Ghost   portalGhostCmd   `cmd:"" help:"Add past courses of scores to a round, list or remove them."`
	Award   portalAwardCmd   `cmd:"" help:"Give a prize that staff decides on."`
	Plan    portalPlanCmd    `cmd:"" help:"Show how many workers a contest needs."`
	Sim     portalSimCmd     `cmd:"" help:"Simulate a whole contest in seconds."`

	Clock    portalClockCmd    `cmd:"" help:"Pause, resume, extend or shift a round."`
	State    portalStateCmd    `cmd:"" help:"Move a round to another state, as from draft to ready."`
	Rehearse portalRehearseCmd `cmd:"" help:"Play a contest with virtual teams on this machine: whether it carries yours."`
}

// portalDir is the folder of a portal.
type portalDir struct {
	Dir string `help:"Folder of the portal (default: portal below the user's state folder)." type:"path" placeholder:"FOLDER"`
	DB  string `name:"db" help:"Database (default: SQLite in the folder), as in mysql://USER@HOST/NAME or postgres://USER@HOST/NAME; IIKANJI_PORTAL_DB has one with a password." placeholder:"ADDRESS"`
}

// open finds and makes the folder.
func (d *portalDir) open() error {
	if d.Dir == "" {
		dir, err := stack.DefaultDir("portal")
		if err != nil {
			return err
		}
		d.Dir = dir
	}
	if err := privateFolder(d.Dir); err != nil {
		return fmt.Errorf("making the portal's folder: %w", err)
	}
	return nil
}

// privateFolder makes a folder that is for this user alone. Those above it are for everyone: an
// arena beside it has servers that run as another user.
func privateFolder(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// database is the address of the portal's database.
func (d *portalDir) database() string {
	if d.DB != "" {
		return d.DB
	}
	if address := os.Getenv("IIKANJI_PORTAL_DB"); address != "" {
		return address
	}
	return filepath.Join(d.Dir, "portal.db")
}

// core opens the database for a command that ends soon.
func (d *portalDir) core(ctx context.Context, e *env) (*lead.Core, func() error, error) {
	if err := d.open(); err != nil {
		return nil, nil, err
	}
	s, err := store.Open(ctx, d.database(), store.Options{})
	if err != nil {
		return nil, nil, err
	}
	return lead.New(lead.Options{Store: s, Now: e.Now, Check: checkShards}), s.Close, nil
}

// kept reads a secret of the folder, made at the first time.
func (d *portalDir) kept(name string, make func() (string, error)) (string, error) {
	path := filepath.Join(d.Dir, name)
	text, err := os.ReadFile(path)
	if err == nil && len(text) > 0 {
		return strings.TrimSpace(string(text)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading a secret of the portal: %w", err)
	}
	secret, err := make()
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keeping a secret of the portal: %w", err)
	}
	return secret, nil
}

func randomSecret() (string, error) { return rand.Text() + rand.Text(), nil }

// year is how long tokens of machines are valid.
const year = 365 * 24 * time.Hour

// tokens are the secrets of a portal's folder.
type tokens struct{ secret, worker, admin string }

// tokens reads or makes the secrets of the folder.
func (d *portalDir) tokens(ctx context.Context, core *lead.Core) (t tokens, err error) {
	if t.secret, err = d.kept("secret", randomSecret); err != nil {
		return t, err
	}
	t.worker, err = d.kept("worker.token", func() (string, error) { return core.AddToken(ctx, lead.ScopeWorker, "", year) })
	if err != nil {
		return t, err
	}
	t.admin, err = d.kept("admin.token", func() (string, error) {
		id, err := core.AddAccount(ctx, "organiser", api.Organiser, "")
		if err != nil {
			return "", err
		}
		return core.AddToken(ctx, lead.ScopeRun, id, year)
	})
	return t, err
}

// access is the file that tells other commands where the portal of a folder is.
type access struct {
	URL    string `json:"url"`
	Public string `json:"public,omitempty"` // its address for people, if that is another one
}

// link is a path of the portal as people reach it: with its address, if it has been up.
func (d *portalDir) link(path string) string {
	var a access
	text, err := os.ReadFile(filepath.Join(d.Dir, "access.json"))
	if err != nil || json.Unmarshal(text, &a) != nil {
		return path
	}
	return cmp.Or(a.Public, a.URL) + path
}

func (d *portalDir) writeAccess(url, public string) error {
	text, err := json.Marshal(access{url, public})
	if err == nil {
		err = os.WriteFile(filepath.Join(d.Dir, "access.json"), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("noting the portal's address: %w", err)
	}
	return nil
}

// Help returns the long help of the command.
func (portalCmd) Help() string {
	return `A portal runs a contest: teams start runs of a benchmark against their hosts, workers
make them, and a board ranks the teams. Everything is in one process and one
folder; SQL is the truth.

Examples:
  iikanji portal up --help
  iikanji portal plan --teams 1000 --run 75s --per-hour 6

Exit status: 0 done, 1 failed to run, 2 usage.`
}
