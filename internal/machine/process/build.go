package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// A Build makes the program of a folder of source.
type Build struct {
	Words []string // the command, with the path of Out among them
	// Run runs a command in the folder of the source. The error of a source that does not
	// build is a *BuildError.
	Run func(ctx context.Context, words []string) error
	// Out takes the place of Program once the whole build has succeeded; "" for a command that
	// makes Program itself.
	Out, Program string
}

// Make makes the program. It is no error if the command makes none, as a check of a script's
// syntax.
func (b Build) Make(ctx context.Context) error {
	if err := b.Run(ctx, b.Words); err != nil {
		return errors.Join(err, b.clear())
	}
	if _, err := os.Lstat(b.Out); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return Install(b.Out, b.Program)
}

// Try builds the source and keeps no program. A go build only compiles, see CompileOnly;
// another command runs as it is.
func (b Build) Try(ctx context.Context) error {
	if compile, ok := CompileOnly(b.Words, b.Out); ok {
		return b.Run(ctx, compile)
	}
	return errors.Join(b.Run(ctx, b.Words), b.clear())
}

// clear removes what a build has left.
func (b Build) clear() error {
	if err := os.Remove(b.Out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clearing after a build: %w", err)
	}
	return nil
}

// A BuildError is a source that does not build.
type BuildError struct {
	Service string
	Source  string
	Lines   []string // the compiler's output
	Log     string   // file with the whole output; "" for none
	// Network: modules are missing from the module cache and could not be fetched.
	Network bool
	// Toolchain: go.mod requires a newer Go than the installed one.
	Toolchain bool
	// Layable: the source is laid out by iikanji, which can do so again.
	Layable bool
}

// compilerLines are the lines of a compiler's output that are shown.
const compilerLines = 20

// networkSigns and toolchainSigns match the go command's output when it cannot
// get modules and when it is too old. An old one cannot even parse "go 1.26.0".
var (
	networkSigns   = regexp.MustCompile(`dial tcp|: lookup |disabled by GOPROXY=off|i/o timeout|missing go\.sum entry`)
	toolchainSigns = regexp.MustCompile(`requires go >= |toolchain not available|invalid go version`)
)

// NewBuildError makes the error of a build from its output. clean makes a line printable.
func NewBuildError(service, source, output, status string, clean func(string) string) *BuildError {
	e := &BuildError{Service: service, Source: source}
	for line := range strings.Lines(output) {
		if line = clean(line); line != "" && !strings.HasPrefix(line, "# ") && len(e.Lines) < compilerLines {
			e.Lines = append(e.Lines, line)
		}
	}
	if len(e.Lines) == 0 {
		e.Lines = []string{"the build command: " + status}
	}
	e.Network, e.Toolchain = networkSigns.MatchString(output), toolchainSigns.MatchString(output)
	return e
}

func (e *BuildError) Error() string {
	return fmt.Sprintf("building the %s in %s:\n  %s", e.Service, e.Source, strings.Join(e.Lines, "\n  "))
}

// Hints names the source folder, or the command that fetches modules.
func (e *BuildError) Hints() []string {
	switch {
	case e.Toolchain:
		return []string{"the Go toolchain is older than " + e.Source +
			"/go.mod requires: install a newer one from https://go.dev/dl/"}
	case e.Network:
		return []string{"the app's modules are not in the module cache: run go mod download in " +
			e.Source + " once with a network"}
	case e.Layable:
		return []string{"edit " + e.Source + ", or restore the arena's source with --fresh"}
	}
	return []string{"edit " + e.Source}
}

// CompileOnly is the command that compiles the packages of "go build … -o OUT …" with its
// flags and links no program, which takes as long as compiling an app. It prints nothing
// about packages that compile. What only the linker sees, as a missing main, fails the real
// build. ok is false for another command than a go build of out.
func CompileOnly(words []string, out string) (compile []string, ok bool) {
	i := slices.Index(words, "-o")
	if i < 2 || filepath.Base(words[0]) != "go" || words[1] != "build" || i+1 >= len(words) || words[i+1] != out {
		return nil, false
	}
	return slices.Concat(words[:1], []string{"list", "-export", "-f", `{{""}}`}, words[2:i], words[i+2:]), true
}

// OwnerOf is the user that owns a folder of source, with an environment for its commands: a
// source that another user can write must not run code as root. It is nil, with the
// environment of this process, for the user of this process.
func OwnerOf(dir string) (*syscall.Credential, []string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 || st.Uid == 0 {
		return nil, os.Environ(), nil
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	home := dir
	if u, err := user.LookupId(strconv.Itoa(int(st.Uid))); err == nil {
		home, env = u.HomeDir, append(env, "USER="+u.Username)
	}
	if home, err = homeFor(home, homes, int(st.Uid), int(st.Gid)); err != nil {
		return nil, nil, err
	}
	env = append(env, "HOME="+home)
	for _, name := range []string{"GOPROXY", "GOFLAGS", "GONOSUMDB", "GOPRIVATE", "GONOSUMCHECK", "GOSUMDB"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return &syscall.Credential{Uid: st.Uid, Gid: st.Gid}, env, nil
}

// homes is the folder with the homes of users that have none. Only root makes any.
const homes = "/var/cache/iikanji/homes"

// homeFor is a folder for the caches of a user's builds: the user's home, or where the user
// cannot write there, as www-data in /var/www, one in the folder homes that only the user may
// enter.
func homeFor(home, homes string, uid, gid int) (string, error) {
	if info, err := os.Stat(home); err == nil && info.IsDir() {
		st, ok := info.Sys().(*syscall.Stat_t)
		mode := info.Mode().Perm()
		if ok && (st.Uid == uint32(uid) && mode&0o200 != 0 || st.Gid == uint32(gid) && mode&0o020 != 0 || mode&0o002 != 0) {
			return home, nil
		}
	}
	dir := filepath.Join(homes, strconv.Itoa(uid))
	if err := os.MkdirAll(homes, 0o755); err != nil {
		return "", fmt.Errorf("making a home for the builds of user %d: %w", uid, err)
	}
	err := os.Mkdir(dir, 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) { // also one of a process that was killed before this
		err = os.Lchown(dir, uid, gid)
	}
	if err != nil {
		return "", fmt.Errorf("making a home for the builds of user %d: %w", uid, err)
	}
	return dir, nil
}

// Install puts a new file in the place of a program, with its owner and mode. The running
// program keeps the old file.
func Install(made, program string) error {
	mode := os.FileMode(0o755)
	if info, e := os.Stat(program); e == nil {
		mode = info.Mode().Perm()
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			_ = os.Chown(made, int(st.Uid), int(st.Gid)) // only root may
		}
	}
	f, err := os.Open(made)
	if err == nil { // on disk before its name is
		err = errors.Join(f.Sync(), f.Close(), os.Chmod(made, mode))
	}
	if err == nil {
		err = os.Rename(made, program)
	}
	if err != nil {
		return fmt.Errorf("replacing %s: %w", program, err)
	}
	return nil
}
