package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestParserFor: the parser of one command tells about it, about its subcommands and
// about a wrong use of them what the parser of all commands tells.
func TestParserFor(t *testing.T) {
	var out strings.Builder
	e := &env{Stdout: &out, Stderr: &out}
	every := newParser(t.Context(), e)
	nodes := everyNode(every.Model.Node)
	if len(nodes) < 30 {
		t.Errorf("there are only %d commands", len(nodes))
	}
	for _, n := range nodes {
		words := strings.Fields(pathOf(n))
		alone := parserFor(t.Context(), e, words)
		if few := len(alone.Model.Children) == 1; few == slices.Contains(arenaCommandNames(), words[0]) {
			t.Errorf("iikanji %s: the parser has %d commands", words[0], len(alone.Model.Children))
		}
		for _, more := range []string{"--help", "--no-such-flag", "no-such-argument"} {
			args := append(words[:len(words):len(words)], more)
			if got, want := told(&out, alone, args), told(&out, every, args); got != want {
				t.Errorf("iikanji %q: alone\n%s\namong all commands\n%s", args, got, want)
			}
		}
	}
}

// everyNode lists all commands below one, with those that only have subcommands.
func everyNode(n *kong.Node) (all []*kong.Node) {
	for _, child := range n.Children {
		all = append(append(all, child), everyNode(child)...)
	}
	return all
}

// told is what a parser prints about arguments, its error and its exit status.
func told(out *strings.Builder, parser *kong.Kong, args []string) (text string) {
	out.Reset()
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprintf("%s\nstatus %v", out, r)
		}
	}()
	k, err := parser.Parse(args)
	if err != nil {
		return fmt.Sprintf("%s\n%v, see%s", out, err, commandOf(err))
	}
	return fmt.Sprintf("%s\n%s", out, k.Command())
}
