package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"

	_ "github.com/iikanji/iikanji/arenas/all"
)

// cli is the command line. Each command is a struct in a file of its own with a
// method Run(ctx, *env) error.
type cli struct {
	Init     initCmd     `cmd:"" help:"Describe a running site in an iikanji.toml; change nothing."`
	Doctor   doctorCmd   `cmd:"" help:"Check an iikanji.toml against the running machine."`
	Hosts    hostsCmd    `cmd:"" help:"Show, measure, accept or clean the machines of a site."`
	Up       upCmd       `cmd:"" help:"Bring a target up and keep it up until Ctrl-C."`
	Bench    benchCmd    `cmd:"" help:"Load a target, check every answer, and score it."`
	Load     loadCmd     `cmd:"" help:"Load a site by several generators, on one machine or more."`
	Diagnose diagnoseCmd `cmd:"" help:"Load a target under observation; show what is slow, why, and what to do."`
	Collect  collectCmd  `cmd:"" help:"Watch a site's own traffic; write a folder to diagnose elsewhere."`
	Plan     planCmd     `cmd:"" help:"Show the changes that the findings allow; apply none."`
	Turn     turnCmd     `cmd:"" help:"Show, take or give back the turn to measure and change a site."`
	Deploy   deployCmd   `cmd:"" help:"Put a new version of an app into service, or the former one back."`
	Score    scoreCmd    `cmd:"" help:"Give the score of a run that a person started in a portal."`
	Notify   notifyCmd   `cmd:"" help:"Test the notices to the team."`
	Apply    applyCmd    `cmd:"" help:"Apply one change; it can be undone."`
	Judge    judgeCmd    `cmd:"" help:"Try one change: measure it, keep it if proven, else undo it."`
	Revert   revertCmd   `cmd:"" help:"Undo one change, or all changes."`
	Recover  recoverCmd  `cmd:"" help:"Undo changes that were half done when iikanji was killed."`
	History  historyCmd  `cmd:"" help:"List the changes with their evidence, or the runs."`
	Work     workCmd     `cmd:"" help:"Show what changed by hand; keep, bring back and prove states."`
	Report   reportCmd   `cmd:"" help:"Write one file with all that was measured and changed."`
	Choose   chooseCmd   `cmd:"" help:"Show which state to end a contest with, by what each risks."`
	Rehearse rehearseCmd `cmd:"" help:"Show whether a site comes back after a reboot; change no file."`
	Finalize finalizeCmd `cmd:"" help:"Bring a site into the state in which it may be left: READY or not."`
	UI       uiCmd       `cmd:"" name:"ui" help:"Serve pages about what was measured, and what runs now."`
	Export   exportCmd   `cmd:"" help:"Write the kept changes as files for another machine."`
	Tune     tuneCmd     `cmd:"" help:"Make a target fast: try changes, keep proven ones, undo the rest."`
	Ladder   ladderCmd   `cmd:"" help:"Repeat a contest team's changes on an arena; judge each."`
	Arena    arenaCmd    `cmd:"" help:"List arenas, or write the files of one."`
	Top      topCmd      `cmd:"" help:"Show the load of this machine and its services, live."`
	Selftest selftestCmd `cmd:"" help:"Test the judge of changes on simulated trials."`
	Access   accessCmd   `cmd:"" help:"Show where the time in access logs went, by route."`
	Slow     slowCmd     `cmd:"" help:"Show where the time in a slow log went, by digest and transaction."`
	Diff     diffCmd     `cmd:"" help:"Compare two logs, or two saved profiles, row by row."`
	Merge    mergeCmd    `cmd:"" help:"Join saved profiles of several hosts or hours into one."`
	Sqlcache sqlcacheCmd `cmd:"" help:"Make a query cache for a Go app from its statements and its schema."`
	Lint     lintCmd     `cmd:"" help:"Find slow uses of a database in Go source, and rewrite proven ones."`
	Fleet    fleetCmd    `cmd:"" help:"Make one profile of the logs of many hosts."`
	Portal   portalCmd   `cmd:"" help:"Run a contest: teams, a queue of runs, workers, a board."`
	MCP      mcpCmd      `cmd:"" name:"mcp" help:"Serve a target to programs with language models."`
	Version  versionCmd  `cmd:"" help:"Print the version, the commit, its date and the compiler."`

	Help       helpCmd       `cmd:"" help:"Explain a command, a finding or a topic."`
	Completion completionCmd `cmd:"" help:"Print a completion script for bash, zsh or fish."`
}

const description = `iikanji makes a web stack fast, and proves it.

Exit status: 0 done, 1 failed to run, 2 usage, 3 checks failed.`

// exitCode is the panic value that carries kong's exit status (after --help) out of Parse.
type exitCode int

// run parses the arguments, runs the command and returns the exit status.
func run(ctx context.Context, e *env, args []string) (status int) {
	bare := len(args) == 0 // show the list of commands
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exitCode:
			if status = int(r); bare {
				status = exitUsage
			}
		default:
			panic(r)
		}
	}()
	if bare {
		args = []string{"--help"}
	}
	if args[0] == "--version" {
		args = slices.Concat([]string{"version"}, args[1:])
	}
	args, err := translateArgs(e, args)
	if err != nil {
		return explain(e.Stderr, err)
	}
	args = lintFlags(args)
	if args, err = chooseApp(args); err != nil {
		return explain(e.Stderr, err)
	}
	if args, err = settingFlags(args, declaredFor(args)); err != nil {
		return explain(e.Stderr, err)
	}
	parser := parserFor(ctx, e, args)
	if bare {
		parser.Stdout = e.Stderr
	}
	if args, err = hereTarget(parser.Model.Node, args); err != nil {
		return explain(e.Stderr, err)
	}
	k, err := parser.Parse(args)
	var unwritten *fs.PathError // the text of --help
	if errors.As(err, &unwritten) {
		return explain(e.Stderr, quiet(err))
	}
	if err != nil {
		return explain(e.Stderr, &exitError{Status: exitUsage, Err: err, Hints: []string{"see iikanji" + commandOf(err) + " --help"}})
	}
	return explain(e.Stderr, quiet(interrupted(ctx, k.Run())))
}

// commandOf returns the command that a usage error is about, as in " arena files";
// "" for none.
func commandOf(err error) (text string) {
	var mistake *kong.ParseError
	if !errors.As(err, &mistake) {
		return ""
	}
	for _, p := range mistake.Context.Path {
		if p.Command != nil {
			text += " " + p.Command.Name
		}
	}
	return text
}

// interrupted replaces the error of a command that was interrupted by one message,
// whichever call returned it.
func interrupted(ctx context.Context, err error) error {
	var complete *exitError // has its own message
	if err == nil || ctx.Err() == nil || errors.As(err, &complete) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)) {
		return &exitError{Status: exitFailed, Err: errors.New("interrupted")}
	}
	return err
}

// quiet drops the error of a reader that went away: `iikanji access log | head` is a success.
func quiet(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}
