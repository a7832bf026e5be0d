package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/site/target"
)

// hereTarget puts the site of the working folder into a command line that names no target,
// as in iikanji history, iikanji revert --all and iikanji apply DB101. A target is the first
// argument, and others may follow: the parser alone could not tell which one is missing.
func hereTarget(model *kong.Node, args []string) ([]string, error) {
	node, at, positions := positionsIn(model, args)
	if len(node.Positional) == 0 || node.Positional[0].Name != "target" || !node.Positional[0].Required {
		return args, nil
	}
	if len(positions) > 0 {
		if at = positions[0]; namesTarget(args[at]) || !mayFollowTarget(args[at]) && len(positions) >= required(node) {
			return args, nil
		}
	}
	if path, ok := target.Find("."); ok {
		return slices.Insert(slices.Clone(args), at, filepath.Dir(path)), nil // hints with this name hold in every folder
	}
	if len(positions) == 0 && !slices.Contains(args, "--help") && !slices.Contains(args, "-h") {
		return nil, errNoTarget()
	}
	return args, nil
}

// positionsIn walks a command line. It returns the command that it runs, the place behind
// the words of that command, and the places of its arguments that are no flags.
func positionsIn(node *kong.Node, args []string) (command *kong.Node, at int, positions []int) {
	flagsEnd := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case flagsEnd:
			positions = append(positions, i)
		case arg == "--":
			flagsEnd = true
		case strings.HasPrefix(arg, "-") && arg != "-":
			if takesNext(node, arg) {
				i++
			}
		default:
			if child := childOf(node, arg); child != nil && len(positions) == 0 {
				node, at = child, i+1
				continue
			}
			positions = append(positions, i)
		}
	}
	if node.DefaultCmd != nil { // of a command with commands of its own, as history
		node = node.DefaultCmd
	}
	return node, at, positions
}

func childOf(node *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(node.Children, func(c *kong.Node) bool { return c.Name == name || slices.Contains(c.Aliases, name) })
	if i < 0 {
		return nil
	}
	return node.Children[i]
}

// takesNext reports whether the value of a flag is the argument behind it.
func takesNext(node *kong.Node, arg string) bool {
	if strings.Contains(arg, "=") {
		return false
	}
	groups := node.AllFlags(false)
	if node.DefaultCmd != nil {
		groups = append(groups, node.DefaultCmd.Flags)
	}
	for _, group := range groups {
		for _, f := range group {
			if arg == "--"+f.Name || f.Short != 0 && arg == "-"+string(f.Short) {
				return !f.IsBool() && !f.IsCounter()
			}
		}
	}
	return false
}

// required is how many arguments a command needs.
func required(node *kong.Node) (n int) {
	for _, p := range node.Positional {
		if p.Required {
			n++
		}
	}
	return n
}

// namesTarget reports whether an argument is the name of a target.
func namesTarget(arg string) bool {
	if _, ok := arena.Find(arg); ok {
		return true
	}
	_, ok := target.Find(arg)
	return ok
}

// codeForm is a number, or the code of a finding with or without the number of a remedy.
var codeForm = regexp.MustCompile(`^([0-9]+|[A-Za-z]+[0-9]+(\.[0-9]+)?)$`)

// mayFollowTarget reports whether an argument has the form of what stands behind a target:
// the number of a run or a change, the code of a finding, a kind of change.
func mayFollowTarget(arg string) bool {
	_, kind := change.Lookup(arg)
	return kind || codeForm.MatchString(arg)
}
