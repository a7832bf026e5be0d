package appserver

import (
	"slices"
	"strconv"
	"strings"
)

// options are the names of command line options for a setting, by server. The long
// name comes first.
var options = map[Server]struct{ workers, threads, config []string }{
	Gunicorn: {[]string{"--workers", "-w"}, []string{"--threads"}, []string{"--config", "-c"}},
	Uvicorn:  {workers: []string{"--workers"}},
	Puma:     {[]string{"--workers", "-w"}, []string{"--threads", "-t"}, []string{"--config", "-C"}},
	Unicorn:  {config: []string{"--config-file", "-c"}},
}

// option finds the last of the options in a command line. from and to are the indexes
// of its words; value is its text.
func option(args []string, names []string) (from, to int, value string, found bool) {
	for i, a := range args {
		for _, name := range names {
			switch {
			case a == name && i+1 < len(args):
				from, to, value, found = i, i+2, args[i+1], true
			case strings.HasPrefix(name, "--") && strings.HasPrefix(a, name+"="):
				from, to, value, found = i, i+1, a[len(name)+1:], true
			case !strings.HasPrefix(name, "--") && strings.HasPrefix(a, name) && len(a) > len(name):
				from, to, value, found = i, i+1, a[len(name):], true
			}
		}
	}
	return from, to, value, found
}

// withOption is a command line in which the option has a value. A new one is added
// after the program's own word at index after.
func withOption(args []string, names []string, value string, after int) []string {
	from, to, _, found := option(args, names)
	if found {
		return slices.Concat(args[:from], []string{names[0], value}, args[to:])
	}
	after = min(after+1, len(args))
	return slices.Concat(args[:after], []string{names[0], value}, args[after:])
}

// threadsMost is the larger number of an option of puma, as in "1:5".
func threadsMost(text string) (int, bool) {
	_, most, ok := strings.Cut(text, ":")
	if !ok {
		most = text
	}
	n, err := strconv.Atoi(strings.TrimSpace(most))
	return n, err == nil && n >= 0
}

// WithArgs is the command line with other numbers of processes and threads; 0 leaves
// one as it is.
func WithArgs(s Server, args []string, workers, threads int) []string {
	return withOptions(s, args, workers, threads, programIndex(args, s))
}

// WithOptions is WithArgs for options without a program ahead of them.
func WithOptions(s Server, words []string, workers, threads int) []string {
	return withOptions(s, words, workers, threads, -1)
}

func withOptions(s Server, args []string, workers, threads, program int) []string {
	o := options[s]
	if workers > 0 && len(o.workers) > 0 {
		args = withOption(args, o.workers, strconv.Itoa(workers), program)
	}
	if threads > 0 && len(o.threads) > 0 {
		text := strconv.Itoa(threads)
		if s == Puma {
			text += ":" + text
		}
		args = withOption(args, o.threads, text, program)
	}
	return args
}

// Words splits the value of GUNICORN_CMD_ARGS. ok is false for one with quotes or
// escapes.
func Words(text string) (words []string, ok bool) {
	return strings.Fields(text), !strings.ContainsAny(text, `'"\`)
}
