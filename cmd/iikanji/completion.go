package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/host"
)

type completionCmd struct {
	Shell string `arg:"" help:"bash, zsh or fish." enum:"bash,zsh,fish"`
}

// Help returns the long help of the command.
func (completionCmd) Help() string {
	return `Prints a script that completes commands, flags, their values and targets. It is
made from the command line's own description.

Examples:
  iikanji completion bash > ~/.local/share/bash-completion/completions/iikanji
  iikanji completion zsh > ~/.zfunc/_iikanji
  iikanji completion fish > ~/.config/fish/completions/iikanji.fish

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *completionCmd) Run(ctx context.Context, e *env) error {
	commands := completionsOf(newParser(ctx, e).Model.Node)
	write := map[string]func([]completed) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	_, err := fmt.Fprint(e.Stdout, write(commands))
	return err
}

// A completed is one command with what can follow it.
type completed struct {
	path  string // as in "history show"; "" for the program
	words []word // its commands and targets
	files bool   // it takes files
	flags []completedFlag
}

// A word is a word with its description.
type word struct{ text, help string }

// A completedFlag is a flag with the values that it takes.
type completedFlag struct {
	name, help string
	short      rune
	value      bool     // it takes a value
	values     []string // the only ones; nil for any
	file       bool     // the value is a file or a folder
}

// completionsOf lists a command and all commands below it.
func completionsOf(n *kong.Node) (all []completed) {
	at := completed{path: pathOf(n)}
	for _, child := range n.Children {
		if !child.Hidden {
			at.words = append(at.words, word{child.Name, child.Help})
		}
	}
	with := []*kong.Node{n}
	if n.DefaultCmd != nil { // its arguments and flags follow without its name
		with = append(with, n.DefaultCmd)
	}
	for _, node := range with {
		for _, p := range node.Positional {
			switch p.Name {
			case "target", "arena":
				for _, name := range arena.Names() {
					at.words = append(at.words, word{name, "target"})
				}
			case "topic":
				for _, name := range slices.Concat(topics("."), topics("findings")) {
					at.words = append(at.words, word{name, "page"})
				}
			default:
				at.files = at.files || p.Tag.Type != "" || strings.Contains(p.Name, "file") || p.IsSlice()
				for _, v := range enumOf(p) {
					at.words = append(at.words, word{v, p.Help})
				}
			}
		}
		at.flags = append(at.flags, flagsOf(node)...)
	}
	all = append(all, at)
	for _, child := range n.Children {
		if !child.Hidden {
			all = append(all, completionsOf(child)...)
		}
	}
	return all
}

// pathOf names a command without the program.
func pathOf(n *kong.Node) string {
	if n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(pathOf(n.Parent) + " " + n.Name)
}

func flagsOf(n *kong.Node) (flags []completedFlag) {
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			flags = append(flags, completedFlag{name: f.Name, help: f.Help, short: f.Short, value: !f.IsBool(), values: enumOf(f.Value), file: f.Tag.Type != ""})
		}
	}
	return flags
}

// enumOf lists the values that a flag or an argument can have, nil for any.
func enumOf(v *kong.Value) (values []string) {
	if v.Enum == "" {
		return nil
	}
	for _, word := range strings.Split(v.Enum, ",") {
		if word = strings.TrimSpace(word); word != "" {
			values = append(values, word)
		}
	}
	return values
}

// steps are the cases of a script that finds the command: each pair of a path and a
// next word leads to a longer path.
func steps(commands []completed) (cases [][3]string) {
	for _, c := range commands {
		if c.path == "" {
			continue
		}
		before, last := "", c.path
		if i := strings.LastIndex(c.path, " "); i >= 0 {
			before, last = c.path[:i], c.path[i+1:]
		}
		cases = append(cases, [3]string{before, last, c.path})
	}
	return cases
}

// flagWords are the flags of a command as they are typed.
func (c completed) flagWords() (words []string) {
	for _, f := range c.flags {
		words = append(words, "--"+f.name)
	}
	return slices.Compact(slices.Sorted(slices.Values(words)))
}

// forms are the ways to type a flag.
func (f completedFlag) forms() []string {
	if f.short != 0 {
		return []string{"--" + f.name, "-" + string(f.short)}
	}
	return []string{"--" + f.name}
}

// writeCases writes what the scripts for bash and zsh share: the cases that follow
// the words to a command, and those of a flag's value. files completes a file
// name, words one of a flag's values.
func writeCases(b *strings.Builder, commands []completed, files string, words func(values []string) string) {
	for _, s := range steps(commands) {
		fmt.Fprintf(b, "      %s) at=%s ;;\n", host.Quote(s[0]+"|"+s[1]), host.Quote(s[2]))
	}
	b.WriteString("    esac\n  done\n  case \"$at|$prev\" in\n")
	for _, c := range commands {
		for _, f := range c.flags {
			if !f.value {
				continue
			}
			complete := ""
			switch {
			case f.values != nil:
				complete = words(f.values) + "; "
			case f.file:
				complete = files + "; "
			}
			for _, form := range f.forms() {
				fmt.Fprintf(b, "    %s) %sreturn ;;\n", host.Quote(c.path+"|"+form), complete)
			}
		}
	}
}

func bashCompletion(commands []completed) string {
	var b strings.Builder
	b.WriteString("# bash completion of iikanji, written by: iikanji completion bash\n_iikanji() {\n" +
		"  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at= i\n  COMPREPLY=()\n" +
		"  for ((i = 1; i < COMP_CWORD; i++)); do\n    case \"$at|${COMP_WORDS[i]}\" in\n")
	writeCases(&b, commands, `COMPREPLY=($(compgen -f -- "$cur"))`, func(values []string) string {
		return `COMPREPLY=($(compgen -W ` + host.Quote(strings.Join(values, " ")) + ` -- "$cur"))`
	})
	b.WriteString("  esac\n  case \"$at|$cur\" in\n")
	for _, c := range commands {
		var words []string
		for _, w := range c.words {
			words = append(words, w.text)
		}
		fmt.Fprintf(&b, "    %s-*) COMPREPLY=($(compgen -W %s -- \"$cur\")) ;;\n", host.Quote(c.path+"|"), host.Quote(strings.Join(c.flagWords(), " ")))
		files := ""
		if c.files {
			files = " $(compgen -f -- \"$cur\")"
		}
		fmt.Fprintf(&b, "    %s*) COMPREPLY=($(compgen -W %s -- \"$cur\")%s) ;;\n", host.Quote(c.path+"|"), host.Quote(strings.Join(words, " ")), files)
	}
	b.WriteString("  esac\n}\ncomplete -o filenames -F _iikanji iikanji\n")
	return b.String()
}

// described quotes a word with its help for zsh's _describe.
func described(w word) string {
	return host.Quote(strings.ReplaceAll(w.text, ":", `\:`) + ":" + firstSentence(w.help))
}

// firstSentence is the beginning of a help text: completion menus have room for
// one sentence.
func firstSentence(help string) string {
	help = strings.Join(strings.Fields(help), " ")
	if i := strings.IndexAny(help, ".;("); i > 0 {
		help = help[:i]
	}
	return strings.TrimSpace(help)
}

func zshCompletion(commands []completed) string {
	var b strings.Builder
	b.WriteString("#compdef iikanji\n# zsh completion of iikanji, written by: iikanji completion zsh\n_iikanji() {\n" +
		"  local at='' prev=${words[CURRENT-1]} cur=${words[CURRENT]}\n  local -a found\n  local -i i\n" +
		"  for ((i = 2; i < CURRENT; i++)); do\n    case \"$at|${words[i]}\" in\n")
	writeCases(&b, commands, "_files", func(values []string) string { return "compadd -- " + strings.Join(values, " ") })
	b.WriteString("  esac\n  case \"$at|$cur\" in\n")
	for _, c := range commands {
		var flags, words []string
		for _, f := range c.flags {
			flags = append(flags, described(word{"--" + f.name, f.help}))
		}
		for _, w := range c.words {
			words = append(words, described(w))
		}
		fmt.Fprintf(&b, "    %s-*) found=(%s); _describe flag found ;;\n", host.Quote(c.path+"|"), strings.Join(slices.Compact(slices.Sorted(slices.Values(flags))), " "))
		files := ""
		if c.files {
			files = "; _files"
		}
		fmt.Fprintf(&b, "    %s*) found=(%s); _describe word found%s ;;\n", host.Quote(c.path+"|"), strings.Join(words, " "), files)
	}
	b.WriteString("  esac\n}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n  _iikanji \"$@\"\nelse\n  compdef _iikanji iikanji\nfi\n")
	return b.String()
}

func fishCompletion(commands []completed) string {
	var b strings.Builder
	b.WriteString("# fish completion of iikanji, written by: iikanji completion fish\nfunction __iikanji_at\n  set -l at ''\n" +
		"  for word in (commandline -opc)[2..-1]\n    switch \"$at|$word\"\n")
	quote := func(text string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
	}
	for _, s := range steps(commands) {
		fmt.Fprintf(&b, "      case %s\n        set at %s\n", quote(s[0]+"|"+s[1]), quote(s[2]))
	}
	b.WriteString("    end\n  end\n  test \"$at\" = \"$argv[1]\"\nend\ncomplete -c iikanji -f\n")
	for _, c := range commands {
		at := fmt.Sprintf("complete -c iikanji -n %s", quote("__iikanji_at "+quote(c.path)))
		for _, w := range c.words {
			fmt.Fprintf(&b, "%s -a %s -d %s\n", at, quote(w.text), quote(firstSentence(w.help)))
		}
		if c.files {
			fmt.Fprintf(&b, "%s -F\n", at)
		}
		seen := map[string]bool{}
		for _, f := range c.flags {
			if seen[f.name] {
				continue
			}
			seen[f.name] = true
			line := fmt.Sprintf("%s -l %s -d %s", at, f.name, quote(firstSentence(f.help)))
			if f.short != 0 {
				line += " -s " + string(f.short)
			}
			switch {
			case !f.value:
			case f.values != nil:
				line += " -x -a " + quote(strings.Join(f.values, " "))
			case f.file:
				line += " -r -F"
			default:
				line += " -x"
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
