package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/discover"
	"github.com/iikanji/iikanji/internal/site/target"
)

type initCmd struct {
	Where []string `arg:"" optional:"" help:"Address of the site, as in http://127.0.0.1:8080 (default: that of the only nginx), and its machines: ssh://[USER@]NAME[:PORT], or local for this one (default: this one)." placeholder:"URL|MACHINE"`

	Via       map[string]string `help:"A machine that a command reaches when sh is put behind it, as in db='docker exec -i db'; may be repeated." placeholder:"NAME=COMMAND"`
	AcceptNew bool              `help:"Write host keys that are not known into known_hosts beside iikanji.toml."`

	Bench  string               `help:"Command that loads the site once and prints its score." placeholder:"COMMAND"`
	Into   string               `help:"Folder for iikanji.toml." type:"path" default:"." placeholder:"FOLDER"`
	Print  bool                 `help:"Print iikanji.toml instead of writing it."`
	Force  bool                 `help:"Replace an iikanji.toml that is there."`
	Policy target.PolicyProfile `help:"What changes may weaken: production (the order of rows that no query asked for), staging (also durability and logs; rewrites may be proven by tests only), or contest (also freshness, isolation and rules in the app: what the benchmarker's checks let pass)." enum:"production,staging,contest" default:"production" placeholder:"production|staging|contest"`
	Schema bool                 `help:"Print the JSON Schema of iikanji.toml, for editors, and end."`
	JSON   bool                 `help:"Print what was found as one JSON document."`
}

// Help returns the long help of the command.
func (initCmd) Help() string {
	return `Asks this machine what a running site consists of, and writes it as a commented
iikanji.toml: the web server and its configuration, the apps behind it with their
source, databases, caches and background jobs, and how each can be restarted. It
changes nothing else. It says how sure each finding is, and what you must fill
in; on a usual site that is the command of the benchmarker alone. Of that it asks
the options (--help): one for the length of its load makes a search's runs short,
with ${IIKANJI_SECONDS} as its value.

A site on several machines is asked through SSH, as your own ssh reaches them, or
through commands (--via): which services are where, what is installed and not
used (spares), and which ports the machines reach of each other. systemd is the
source on other machines. See docs/machines.md.

Run it as root, or as the user of the site: the environment of other users'
processes cannot be read otherwise. Secrets are neither printed nor written: the
file refers to the place where they were found.

Examples:
  iikanji init
  iikanji init http://127.0.0.1:8080 --bench './bench --target $IIKANJI_URL'
  iikanji init --policy contest --bench ./bench
  iikanji init ssh://isucon@web ssh://app2 ssh://db --bench './bench -target $IIKANJI_URL'
  iikanji init --into /srv/shop && iikanji doctor /srv/shop

Exit status: 0 written, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *initCmd) Run(ctx context.Context, e *env) error {
	if c.Schema {
		schema, err := target.Schema()
		if err == nil {
			_, err = e.Stdout.Write(schema)
		}
		return err
	}
	path := filepath.Join(c.Into, target.Name)
	if _, err := os.Stat(path); err == nil && !c.Force && !c.Print {
		return &exitError{Status: exitUsage, Err: fmt.Errorf("%s exists", path), Hints: []string{"--force replaces it, --print shows what would be written"}}
	}
	url, hosts, err := c.machines()
	if err != nil {
		return err
	}
	var site *discover.Site
	var found *discover.Found
	if len(hosts) > 0 {
		if path, err = filepath.Abs(path); err != nil {
			return fmt.Errorf("finding the folder: %w", err)
		}
		if site, err = c.several(ctx, e, path, url, hosts); err != nil {
			return err
		}
		found = site.Found
	} else if found, err = c.alone(ctx, e, url); err != nil {
		return err
	}
	text := found.Text()
	if _, err := target.Parse(path, []byte(text)); err != nil {
		return fmt.Errorf("BUG: the file that was made cannot be read: %w", err)
	}
	if c.Print {
		_, err := fmt.Fprint(e.Stdout, text)
		return err
	}
	if err := os.MkdirAll(c.Into, 0o755); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	if err := (host.Local{}).Write(path, []byte(text), 0o644); err != nil {
		return err
	}
	switch {
	case c.JSON && site != nil:
		return writeJSON(e.Stdout, struct {
			File string `json:"file"`
			*discover.Site
		}{path, site})
	case c.JSON:
		return writeJSON(e.Stdout, struct {
			File string `json:"file"`
			*discover.Found
		}{path, found})
	case site != nil:
		return c.printSite(e, site, path)
	}
	return c.print(e, found, path)
}

// alone asks this machine.
func (c *initCmd) alone(ctx context.Context, e *env, url string) (*discover.Found, error) {
	progress := report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	defer progress.Done()
	progress.Say("asking the machine")
	return discover.Ask(ctx, host.Local{}, discover.Options{URL: url, Bench: c.Bench, Dir: c.Into, Self: os.Getpid(), Policy: c.Policy})
}

// print lists what was found and what is to do.
func (c *initCmd) print(e *env, found *discover.Found, path string) error {
	out := &output{w: e.Stdout}
	out.limits(found.Limits, e.Cols)
	of := func(service, title string) {
		for _, f := range found.Findings {
			if f.Service != service {
				continue
			}
			if title != "" {
				out.line("%s", title)
			}
			title = ""
			out.line("  %-6s  %s: %s", f.Sure, report.Clean(f.What), report.Clean(f.How))
		}
	}
	for _, s := range found.File.Services {
		of(s.Name, s.Name)
	}
	of("", "the site")
	out.line("\n%s describes the site at %s", path, found.File.URL)
	for _, todo := range found.Todo {
		out.line("to do: %s", report.Clean(todo))
	}
	name := targetName(path)
	out.line("then: iikanji doctor %s", name)
	if len(found.Todo) == 0 {
		out.line("and:  iikanji diagnose %s", name)
	}
	return out.err
}

// targetName is a short name of a target for commands: its folder.
func targetName(path string) string {
	dir := filepath.Dir(path)
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, dir); err == nil && !strings.HasPrefix(rel, "..") {
			return cmp.Or(rel, ".")
		}
	}
	return dir
}
