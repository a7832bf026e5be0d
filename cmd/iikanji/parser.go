package main

import (
	"cmp"
	"context"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// newParser builds the parser of the command line.
func newParser(ctx context.Context, e *env) *kong.Kong {
	return parserOf(ctx, e, new(cli), arenaCommands()...)
}

// parserFor builds a parser of arguments. If the first one is a command of cli, the
// parser has no other: many commands run in less time than the parser of all takes to
// build.
func parserFor(ctx context.Context, e *env, args []string) *kong.Kong {
	if len(args) > 0 {
		if grammar, known := grammarOf(args[0]); known {
			return parserOf(ctx, e, grammar)
		}
	}
	return newParser(ctx, e)
}

// grammarOf returns a struct that has only one command of cli.
func grammarOf(command string) (grammar any, known bool) {
	fields := reflect.TypeFor[cli]()
	for i := range fields.NumField() {
		f := fields.Field(i)
		if cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)) == command { // as kong names it
			return reflect.New(reflect.StructOf([]reflect.StructField{f})).Interface(), true
		}
	}
	return nil, false
}

// parserOf builds the parser of a grammar. The options add to it.
func parserOf(ctx context.Context, e *env, grammar any, options ...kong.Option) *kong.Kong {
	parser, err := kong.New(grammar, append(options, kong.Name("iikanji"), kong.Description(description),
		kong.Writers(e.Stdout, e.Stderr), kong.Exit(func(code int) { panic(exitCode(code)) }),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 80}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(e))...)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return parser
}
