package discover

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A lengthFlag is the option of a benchmarker that sets the length of its load.
type lengthFlag struct {
	name string // as in --duration
	unit string // "s" if its values are durations, as in 60s; "" if they are seconds
	had  string // its default, "" if unknown
}

// lengthOptions are the options of known load tools; their values are durations but for
// those of ab and siege.
var lengthOptions = map[string]lengthFlag{"wrk": {"-d", "s", "10s"}, "wrk2": {"-d", "s", "10s"}, "hey": {"-z", "s", ""}, "oha": {"-z", "s", ""},
	"vegeta": {"-duration", "s", ""}, "k6": {"--duration", "s", ""}, "ab": {"-t", "", ""}, "siege": {"-t", "s", ""}}

var (
	// optionLine is a line of a help text: an option, its type or placeholder, the rest.
	optionLine = regexp.MustCompile(`^\s*(?:-\w,\s+)?(--?[A-Za-z][\w-]*)(?:[= ]+([<\[]?[A-Za-z_]+[>\]]?))?(.*)$`)
	lengthName = regexp.MustCompile(`(?i)^-+(?:(?:load|run|test|bench|benchmark|attack)[-_]?)?(?:duration|seconds?|secs?|time|length)$`)
	defaultIs  = regexp.MustCompile(`(?i)default[: =]*"?([0-9][0-9hms.]*)`)
)

// lengthFlagIn finds the option in a help text that sets the length of a load. A name that
// means it exactly is enough; a general one, as -time, needs a type or a default that is a
// length of time.
func lengthFlagIn(help string) (lengthFlag, bool) {
	lines := strings.Split(help, "\n")
	for i, line := range lines {
		m := optionLine.FindStringSubmatch(strings.TrimRight(line, "\r"))
		if m == nil || !lengthName.MatchString(m[1]) {
			continue
		}
		about := m[3]
		if i+1 < len(lines) && optionLine.FindStringSubmatch(lines[i+1]) == nil {
			about += " " + lines[i+1] // Go's package flag writes what an option is on the next line
		}
		f := lengthFlag{name: m[1]}
		if d := defaultIs.FindStringSubmatch(about); d != nil {
			f.had = d[1]
		}
		_, number := strconv.Atoi(f.had)
		typ := strings.Trim(m[2], "<>[]") // a placeholder is in capitals, Go's type is not
		switch {
		case typ == "duration" || number != nil && f.had != "":
			f.unit = "s"
		case typ == "int" || typ == "uint" || typ == "n" || typ == "float" || strings.Contains(strings.ToLower(m[1]+about), "sec") || number == nil:
		case strings.Contains(m[1], "duration"):
			f.unit = "s"
		default:
			continue
		}
		return f, true
	}
	return lengthFlag{}, false
}

// with is a command whose load has the length that iikanji asks for.
func (f lengthFlag) with(command string) string {
	value := "${IIKANJI_SECONDS}" + f.unit
	words := strings.Fields(command)
	for i, w := range words {
		if name, _, ok := strings.Cut(w, "="); ok && name == f.name {
			words[i] = f.name + "=" + value
			return strings.Join(words, " ")
		}
		if w == f.name && i+1 < len(words) {
			words[i+1] = value
			return strings.Join(words, " ")
		}
	}
	program := 1 // the option follows the program, before addresses and a subcommand's own words
	if slices.Contains([]string{"vegeta", "k6"}, filepath.Base(words[0])) && len(words) > 1 {
		program = 2
	}
	if strings.HasPrefix(f.name, "--") {
		return strings.Join(slices.Insert(words, program, f.name+"="+value), " ")
	}
	return strings.Join(slices.Insert(words, program, f.name, value), " ")
}

// length is how long the load of a command is: the option's value in it, or its default.
func (f lengthFlag) length(command string) (time.Duration, bool) {
	value := f.had
	words := strings.Fields(command)
	for i, w := range words {
		if name, given, ok := strings.Cut(w, "="); ok && name == f.name {
			value = given
		} else if w == f.name && i+1 < len(words) {
			value = words[i+1]
		}
	}
	if n, err := strconv.Atoi(value); err == nil {
		return time.Duration(n) * time.Second, n > 0
	}
	d, err := time.ParseDuration(value)
	return d, err == nil && d >= time.Second
}

// askTime bounds the question for a benchmarker's options: one that does not know
// --help may begin its load.
const askTime = 2 * time.Second

// benchLength offers a command with the length of the load, where the command of the
// benchmarker can be asked for one: a command of one program, without the shell's signs.
func (s *search) benchLength(ctx context.Context) {
	words := strings.Fields(s.Bench)
	if len(words) == 0 || strings.Contains(s.Bench, "IIKANJI_SECONDS") || strings.ContainsAny(s.Bench, "|&;<>()`\n") {
		return
	}
	flag, ok := lengthOptions[filepath.Base(words[0])]
	if !ok {
		if flag, ok = lengthFlagIn(s.helpOf(ctx, words[0])); !ok {
			return
		}
	}
	if length, ok := flag.length(s.Bench); ok {
		s.out.File.Bench.Length = target.Duration(length)
	}
	line := fmt.Sprintf("command = %q", flag.with(s.Bench))
	s.out.Notes["bench.command"] = "The benchmarker has an option for the length of its load, " + flag.name + ". With\n" + line +
		"\na run of the search can take 10 s in place of a minute: some five times as many runs in the same time."
	s.note(nil, "the benchmarker's load can be shortened", Likely, "it has the option %s; %s in %s makes runs of the search short", flag.name, line, "iikanji.toml")
}

// helpOf is what a program prints with --help; "" if it prints nothing in askTime.
func (s *search) helpOf(ctx context.Context, program string) string {
	if strings.ContainsAny(program, "$'\"=") {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	dir, err := filepath.Abs(s.Dir) // the command runs in the folder of the file
	if err != nil {
		return ""
	}
	c := host.Command{Path: "/usr/bin/env", Args: []string{program, "--help"}, Env: os.Environ(), Dir: dir}
	r, _ := s.host.Exec(ctx, c) // many programs exit with a status of their own after their help
	return string(r.Output)
}
