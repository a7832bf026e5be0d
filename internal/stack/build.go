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

const builder = "build" // the process's name

// sourceSum is a hash over the app's source folder: names and contents.
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

// build compiles the app from its source as it is. The running app's binary is
// replaced by a rename, and only when everything compiled.
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

// buildSpec is the compiler as a process.
func (f folder) buildSpec(name, gobin, dir, out, log string) spec {
	return spec{Name: name, Path: gobin, Dir: dir, Log: f.path(logDir, log), Rank: rankJob,
		Args: []string{"build", "-mod=readonly", "-buildvcs=false", "-o", out, "."}, Env: f.buildEnv(dir)}
}

// buildEnv is ours, for the module cache and the proxy settings in it, but
// free of what would let the folder's place matter. The toolchain is the one
// that is there: a line of a go.mod, which a patch may have written, does not
// make the go command fetch and run another.
func (f folder) buildEnv(dir string) []string {
	env := append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "PWD="+dir, "GOTMPDIR="+f.path(binDir))
	if os.Getenv("CGO_ENABLED") == "" {
		env = append(env, "CGO_ENABLED=0") // the same binary with and without a C compiler
	}
	return env
}

const compilerLines = 20

// What the go command says when it cannot have modules, or is too old; an old
// one does not even understand the line "go 1.26.0".
var (
	networkSigns   = regexp.MustCompile(`dial tcp|: lookup |disabled by GOPROXY=off|i/o timeout|missing go\.sum entry`)
	toolchainSigns = regexp.MustCompile(`requires go >= |toolchain not available|invalid go version`)
)

// buildError reads the compiler's output back.
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

// ensureApp builds the app unless bin/app was built from this source.
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
