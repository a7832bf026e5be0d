package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// An arenaCommandCmd is a command that one or more arenas declare.
type arenaCommandCmd struct {
	Name string `kong:"-"`

	Arena string   `arg:"" optional:"" help:"Arena that declares the command (needed only if several arenas do)."`
	Set   []string `help:"Setting of the command; also --NAME VALUE." placeholder:"NAME=VALUE" sep:"none"`
}

// arenaCommands returns the options that add the arenas' commands to the command line.
func arenaCommands() []kong.Option {
	var options []kong.Option
	for _, name := range arenaCommandNames() {
		_, c := declaring(name)
		options = append(options, kong.DynamicCommand(name, c[0].Help, "", &arenaCommandCmd{Name: name}))
	}
	return options
}

// arenaCommandNames lists the names of the arenas' commands.
func arenaCommandNames() []string {
	var names []string
	for _, name := range arena.Names() {
		a, _ := arena.Find(name)
		for _, c := range a.Commands {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// declaring returns the arenas that declare a command, and their commands.
func declaring(command string) (arenas []string, commands []arena.Command) {
	for _, name := range arena.Names() {
		a, _ := arena.Find(name)
		for _, c := range a.Commands {
			if c.Name == command {
				arenas, commands = append(arenas, name), append(commands, c)
			}
		}
	}
	return arenas, commands
}

// Help returns the long help of the command: that of each arena that declares it.
func (c *arenaCommandCmd) Help() string {
	arenas, commands := declaring(c.Name)
	var b strings.Builder
	for i, d := range commands {
		fmt.Fprintf(&b, "%s\n\n", d.Detail)
		writeSettings(&b, arenas[i], d.Settings)
	}
	return b.String() + "Exit status: 0 stopped, 1 failed to run, 2 usage."
}

// Run runs the command.
func (c *arenaCommandCmd) Run(ctx context.Context, e *env) error {
	declared, err := c.find()
	if err != nil {
		return err
	}
	set, err := arena.Resolve(declared.Settings, c.Set)
	if err != nil {
		return usageError("--set: %w", err)
	}
	var mu sync.Mutex // Run may print from several goroutines
	err = declared.Run(ctx, set, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(e.Stdout, line)
	})
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	for _, s := range declared.Settings {
		if s.Kind == arena.Address {
			return hinted(err, "end the program that uses the address, or choose another address with --"+s.Name)
		}
	}
	return err
}

// find returns the command of the chosen arena, or of the only arena that declares it.
func (c *arenaCommandCmd) find() (arena.Command, error) {
	arenas, commands := declaring(c.Name)
	if c.Arena == "" && len(commands) == 1 {
		return commands[0], nil
	}
	if c.Arena == "" {
		return arena.Command{}, usageError("several arenas have a command %s: name one of %s", c.Name, strings.Join(arenas, ", "))
	}
	if _, err := findArena(c.Arena); err != nil {
		return arena.Command{}, err
	}
	if i := slices.Index(arenas, c.Arena); i >= 0 {
		return commands[i], nil
	}
	return arena.Command{}, usageError("arena %s has no command %s; it is a command of %s", c.Arena, c.Name, strings.Join(arenas, ", "))
}
