package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"syscall"

	"github.com/alecthomas/kong"

	_ "github.com/iikanji/iikanji/arenas/all"
)

// cli is the whole command line; each command is a struct in its own file with
// a method Run(ctx, *env) error.
type cli struct {
	Up       upCmd       `cmd:"" help:"Bring an arena up and keep it up until Ctrl-C."`
	Bench    benchCmd    `cmd:"" help:"Load an arena with every answer checked, and score it."`
	Diagnose diagnoseCmd `cmd:"" help:"Load an arena observed, and tell what is slow, why, and what to do."`
	Plan     planCmd     `cmd:"" help:"Show what could be done about what was found, and change nothing."`
	Apply    applyCmd    `cmd:"" help:"Make one change by hand; it can be undone."`
	Revert   revertCmd   `cmd:"" help:"Undo one change, or all."`
	Recover  recoverCmd  `cmd:"" help:"Undo what was half done when iikanji was killed."`
	History  historyCmd  `cmd:"" help:"List changes with their proof, or runs."`
	Export   exportCmd   `cmd:"" help:"Write the kept changes as files to take elsewhere."`
	Tune     tuneCmd     `cmd:"" help:"Make an arena fast: try what may help, keep what is proven, undo the rest."`
	Arena    arenaCmd    `cmd:"" help:"List arenas, or write the files of one."`
	Top      topCmd      `cmd:"" help:"Show live what this machine and its services are doing."`
	Selftest selftestCmd `cmd:"" help:"Hold the judge of changes against simulated trials."`
	Access   accessCmd   `cmd:"" help:"Tell where the time of access logs went, by route."`
	Slow     slowCmd     `cmd:"" help:"Tell where the time of a slow log went, by digest and transaction."`
	Diff     diffCmd     `cmd:"" help:"Compare two logs, or two saved profiles, row by row."`
	Merge    mergeCmd    `cmd:"" help:"Join saved profiles of several hosts or hours into one."`
	Version  versionCmd  `cmd:"" help:"Print the version and what it was built with."`
}

const description = `iikanji makes a web stack fast, and proves it.

Exit status: 0 done, 1 failed to run, 2 usage, 3 checks failed.`

// exitCode carries kong's wish to end the process (after --help) out of Parse.
type exitCode int

// run parses the arguments, runs the command and returns the exit status.
func run(ctx context.Context, e *env, args []string) (status int) {
	bare := len(args) == 0 // somebody who asks what there is
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
	var c cli
	parser, err := kong.New(&c, append(arenaCommands(), kong.Name("iikanji"), kong.Description(description),
		kong.Writers(e.Stdout, e.Stderr), kong.Exit(func(code int) { panic(exitCode(code)) }),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 80}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(e))...)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	if bare {
		args, parser.Stdout = []string{"--help"}, e.Stderr
	}
	if args, err = translateArgs(e, args); err != nil {
		return explain(e.Stderr, err)
	}
	if args, err = settingFlags(args, declaredFor(args)); err != nil {
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

// commandOf is the command that a mistake is in, as in " arena files"; "" for none.
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

// interrupted says in one way that a person ended a command, however deep in it
// the wait was that was cut.
func interrupted(ctx context.Context, err error) error {
	var said *exitError
	if err == nil || ctx.Err() == nil || errors.As(err, &said) {
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
