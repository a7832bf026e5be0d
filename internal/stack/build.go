package stack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const builder = "build" // process name

// sourceSum hashes the names and contents of the files in the app's source folder.
func (f folder) sourceSum(source string) (string, error) {
	root := f.path(webappDir, source)
	h := sha256.New()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") && file != root { // .git, editors' swap files
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		content, err := os.Open(file)
		if err != nil {
			return err
		}
		sum, err := sumOf(content)
		fmt.Fprintf(h, "%s\x00%s\n", file[len(root):], sum)
		return errors.Join(err, content.Close())
	})
	if err != nil {
		return "", fmt.Errorf("reading the app's source: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// build compiles the app from its current source. A rename replaces the binary
// of the running app, and only after the whole build succeeded.
func (f folder) build(ctx context.Context, c *control, source string, o Options) error {
	gobin, ok := find(searchPath(o), "go")
	if !ok {
		return &MissingError{Program: "the Go toolchain (go)"}
	}
	dir, out := f.path(webappDir, source), f.path(binDir, "app.new")
	if err := f.emptyLog(buildLog); err != nil {
		return f.full(fmt.Errorf("building the app: %w", err), "")
	}
	p, err := c.run(ctx, f.buildSpec(builder, gobin, dir, out, buildLog))
	if err != nil {
		return fmt.Errorf("building the app: %w", err)
	}
	if !p.ok {
		return errors.Join(f.buildError(dir, buildLog, p.status), removeFile(out))
	}
	if err := errors.Join(os.Chmod(out, 0o755), os.Rename(out, f.path(binDir, "app"))); err != nil {
		return fmt.Errorf("building the app: %w", err)
	}
	return nil
}

// buildSpec describes the compiler's process.
func (f folder) buildSpec(name, gobin, dir, out, log string) spec {
	return spec{Name: name, Path: gobin, Dir: dir, Log: f.path(logDir, log), Rank: rankJob,
		Args: []string{"build", "-mod=readonly", "-buildvcs=false", "-o", out, "."}, Env: f.buildEnv(dir)}
}

// buildEnv is the caller's environment, which has the module cache and the proxy
// settings. Variables that would make the folder's location matter are overridden.
// GOTOOLCHAIN=local keeps the installed toolchain: a patch may have edited
// go.mod, and such a line must not make the go command fetch and run another one.
func (f folder) buildEnv(dir string) []string {
	env := append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "PWD="+dir, "GOTMPDIR="+f.path(binDir))
	if os.Getenv("CGO_ENABLED") == "" {
		env = append(env, "CGO_ENABLED=0") // the same binary with and without a C compiler
	}
	return env
}

const compilerLines = 20

// networkSigns and toolchainSigns match the go command's output when it cannot
// get modules and when it is too old. An old one cannot even parse "go 1.26.0".
var (
	networkSigns   = regexp.MustCompile(`dial tcp|: lookup |disabled by GOPROXY=off|i/o timeout|missing go\.sum entry`)
	toolchainSigns = regexp.MustCompile(`requires go >= |toolchain not available|invalid go version`)
)

// buildError makes a *BuildError from the compiler's log.
func (f folder) buildError(dir, log, status string) error {
	b, _ := f.read(logDir, log)
	text := string(b)
	e := &BuildError{Source: dir, Log: f.path(logDir, log)}
	for line := range strings.Lines(text) {
		if line = printable([]byte(line)); line != "" && !strings.HasPrefix(line, "# ") && len(e.Lines) < compilerLines {
			e.Lines = append(e.Lines, line)
		}
	}
	if len(e.Lines) == 0 {
		e.Lines = []string{"go build: " + status}
	}
	e.Network, e.Toolchain = networkSigns.MatchString(text), toolchainSigns.MatchString(text)
	return f.full(e, text)
}

// ensureApp builds the app unless bin/app was built from the current source.
func (f folder) ensureApp(ctx context.Context, c *control, source string, o Options, built string, progress func(string)) (sum string, err error) {
	if sum, err = f.sourceSum(source); err != nil {
		return "", err
	}
	if _, err := os.Stat(f.path(binDir, "app")); err == nil && sum == built {
		return sum, nil
	}
	progress("building the app")
	return sum, f.build(ctx, c, source, o)
}
