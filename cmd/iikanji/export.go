package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/export"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/report"
)

type exportCmd struct {
	Target string `arg:"" help:"Target whose changes to take elsewhere: the name of an arena, as in isucondition."`
	Into   string `arg:"" name:"dir" help:"Folder to write; it must be empty or not there." type:"path"`

	JSON bool `help:"Print one JSON document: what was written."`
	placeFlags
}

// Help is the long help of the command.
func (exportCmd) Help() string {
	return `Writes the changes that are kept as files for another machine: each changed file
whole and as a patch, statements with their undo, a README.md with every change's
claim, effect and diff, and two scripts. sh apply.sh shows what it would do and
asks for the places by variables (NGINX_CONF, MARIADB_CONF_DIR, WEBAPP …); with
--yes it does it, but for the changes whose numbers are in SKIP, as SKIP='3 7'.
sh undo.sh takes it back.

It reads the history only; nothing is started.

Examples:
  iikanji export isucondition ./tuned
  cd tuned && NGINX_CONF=/etc/nginx/nginx.conf sh apply.sh

Exit status: 0 written, 1 failed to run (also: no change is kept), 2 usage.`
}

// elsewhere are the parts of a stack's folder that another machine has at
// other places, each under a name of its own.
var elsewhere = []export.Place{
	{Path: "conf/nginx.conf", Var: "NGINX_CONF", Says: "nginx's configuration file, as /etc/nginx/nginx.conf"},
	{Path: "conf/nginx.d", Var: "NGINX_CONF_DIR", Says: "a folder that it includes, as /etc/nginx/conf.d"},
	{Path: "conf/my.cnf", Var: "MARIADB_CONF", Says: "the database's configuration file, as /etc/mysql/my.cnf"},
	{Path: "conf/mariadb.d", Var: "MARIADB_CONF_DIR", Says: "a folder that it includes, as /etc/mysql/mariadb.conf.d"},
	{Path: "conf/app.env", Var: "APP_ENV", Says: "a file of K=V lines that the app's service reads (systemd: EnvironmentFile=)"},
	{Path: "conf/limits", Var: "LIMITS_DIR", Says: "a folder for notes of limits; set them in the services' units (systemd: LimitNOFILE= and others)"},
	{Path: "webapp", Var: "WEBAPP", Says: "the folder of the web application, with its source, public files and SQL"},
	{Path: "run", Var: "RUN_DIR", Says: "the folder of sockets, as /run/app"},
	{Path: "log", Var: "LOG_DIR", Says: "the folder of logs, as /var/log"},
}

// Run is the command.
func (c *exportCmd) Run(_ context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	dir, hist, err := c.folders(a)
	if err != nil {
		return err
	}
	h, err := history.View(hist)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := refuseHalfDoneOrAway(h, a, c.placeFlags); err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // places are told by their real paths
		return fmt.Errorf("finding the work folder: %w", err)
	}
	r, err := export.Write(c.Into, h, export.Options{Name: a.Name, Root: dir, Places: elsewhere})
	if errors.Is(err, export.ErrNothing) {
		return hinted(err, fmt.Sprintf("iikanji history %s%s shows what was tried", a.Name, c.flags()))
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, r)
	}
	out := &output{w: e.Stdout}
	out.line("%s and %s are in %s", report.Number(len(r.Changes), "change"), report.Number(len(r.Files), "file"), report.Clean(r.Dir))
	out.line("begin with README.md; sh apply.sh shows what it would do elsewhere")
	return out.err
}
