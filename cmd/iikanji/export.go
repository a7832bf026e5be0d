package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/show/export"
	"github.com/iikanji/iikanji/internal/show/report"
)

type exportCmd struct {
	Target string `arg:"" help:"Target whose changes to export, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`
	Into   string `arg:"" name:"dir" help:"Folder to write; it must be empty or missing." type:"path"`

	Literals bool `help:"Export what may be a secret too: whole files and patches as they are."`
	JSON     bool `help:"Print one JSON document that lists the written files."`
	placeFlags
}

// Help returns the long help of the command.
func (exportCmd) Help() string {
	return `Writes the kept changes as files for another machine: each changed file, complete
and as a patch, statements with their undo, a README.md with the claim, effect
and diff of each change, and two scripts. sh apply.sh prints its steps and takes
the places from variables (NGINX_CONF, MARIADB_CONF_DIR, WEBAPP …); with --yes it
applies the changes, except those whose numbers are in SKIP, as in SKIP='3 7'.
sh undo.sh undoes them.

The command only reads the history; it starts nothing.

Examples:
  iikanji export isucondition ./tuned
  cd tuned && NGINX_CONF=/etc/nginx/nginx.conf NGINX_CHECK='nginx -t' sh apply.sh

Exit status: 0 written, 1 failed to run (also: no change is kept), 2 usage.`
}

// exportPlaces are the parts of a stack's folder that lie at other places on
// another machine, each with the variable of the scripts that names its place.
var exportPlaces = []export.Place{
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

// Run runs the command.
func (c *exportCmd) Run(_ context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	if a.arena == nil {
		return usageError("export is for arenas: the changes of a site are in the site's own files")
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
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // operations name their places by real paths
		return fmt.Errorf("finding the work folder: %w", err)
	}
	r, err := export.Write(c.Into, h, export.Options{Name: a.Name, Root: dir, Places: exportPlaces, Literals: c.Literals})
	var secret *export.SecretError
	if errors.As(err, &secret) {
		return hinted(err, "--literals exports everything as it is")
	}
	if errors.Is(err, export.ErrNothing) {
		return hinted(err, fmt.Sprintf("iikanji history %s%s shows the tried changes", a.Name, c.flags()))
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, r)
	}
	out := &output{w: e.Stdout}
	out.line("%s and %s are in %s", report.Number(len(r.Changes), "change"), report.Number(len(r.Files), "file"), report.Clean(r.Dir))
	out.line("begin with README.md; sh apply.sh prints what it would do on the other machine")
	return out.err
}
