package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// benchSettings returns the settings of the arenas' benchmarkers: those of one
// arena, or of all if name is not an arena's.
func benchSettings(name string) (settings []arena.Setting) {
	if a, ok := arena.Find(name); ok {
		return a.Settings
	}
	for _, n := range arena.Names() {
		a, _ := arena.Find(n)
		settings = append(settings, a.Settings...)
	}
	return settings
}

// settingFlags rewrites "--NAME VALUE" and "--NAME=VALUE" of settings to
// "--set NAME=VALUE". A path may begin with "~/".
func settingFlags(args []string, settings []arena.Setting) ([]string, error) {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...), nil
		}
		flag, isFlag := strings.CutPrefix(args[i], "--")
		name, value, hasValue := strings.Cut(flag, "=")
		at := slices.IndexFunc(settings, func(s arena.Setting) bool { return s.Name == name })
		if !isFlag || at < 0 {
			out = append(out, args[i])
			continue
		}
		if !hasValue {
			if i++; i == len(args) {
				return nil, usageError("--%s: want a value, %s", name, settings[at].Kind.Placeholder())
			}
			value = args[i]
		}
		if settings[at].Kind == arena.File && value != "" {
			value = kong.ExpandPath(value)
		}
		out = append(out, "--set", name+"="+value)
	}
	return out, nil
}

// declaredFor returns the settings that a command line can have.
func declaredFor(args []string) []arena.Setting {
	if len(args) == 0 {
		return nil
	}
	if args[0] == "bench" {
		at := slices.IndexFunc(args, func(arg string) bool { _, ok := arena.Find(arg); return ok })
		return benchSettings(args[max(at, 0)])
	}
	var settings []arena.Setting
	_, commands := declaring(args[0])
	for _, c := range commands {
		settings = append(settings, c.Settings...)
	}
	return settings
}

// settingsHelp describes the settings of every arena's benchmarker, once for an arena and
// its variants.
func settingsHelp() string {
	var b strings.Builder
	described := map[string]bool{}
	for _, name := range arena.Names() {
		if described[name] {
			continue
		}
		a, _ := arena.Find(name)
		names := a.Targets() // an arena sorts before its variants, which have its settings
		for _, n := range names {
			described[n] = true
		}
		writeSettings(&b, strings.Join(names, " and "), a.Settings)
	}
	return b.String()
}

// writeSettings describes the settings of an arena, three lines each.
func writeSettings(w io.Writer, arenaName string, settings []arena.Setting) {
	if len(settings) == 0 {
		return
	}
	fmt.Fprintf(w, "Settings of %s:\n", arenaName)
	for _, s := range settings {
		fmt.Fprintf(w, "  --%s %s\n      %s", s.Name, s.Kind.Placeholder(), s.Help)
		if s.Default != "" {
			fmt.Fprintf(w, "\n      Default: %s", s.Default)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}
