package stack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A search builds the same few sources again and again: each undo of an edit, and each
// run of a pair, brings an earlier source back. The latest programs of a service are
// kept, and the one that was built from the same files is offered to the go command as
// the program of an earlier build. The go command compares the build ID in it with its
// own digest of the compiler, the flags, the environment and all sources. It links
// anew unless they are equal, so a kept program is used only if it is what the build
// would make. It does not read the rest of the program: a digest in the name of the
// kept one shows whether it is whole.
const (
	keptDir  = ".kept" // in bin/; no service has this name
	mostKept = 4       // programs of a service: the original, the best one so far and those on trial
)

// keptAs is where a program of a digest is kept, by the hash of its source.
func (f folder) keptAs(service, sum, digest string) string {
	return f.path(binDir, keptDir, service+"@"+sum+"@"+digest) // no service has "@" in its name
}

// offer puts the kept program of a source, if there is one, where the build will write.
// A copy that fails only costs the time of a link.
func (f folder) offer(service, sum, out string) {
	for _, path := range f.kept(service, sum) {
		digest, err := copyProgram(path, out)
		if err == nil && path == f.keptAs(service, sum, digest) {
			return
		}
		_, _ = os.Remove(out), os.Remove(path) // a part of a program, and one that is damaged
	}
}

// keep keeps the program that was built from a source, and removes the oldest ones. A
// program that cannot be kept only costs the time of a link later.
func (f folder) keep(service, sum string) {
	program := f.path(binDir, service)
	digest, err := copyProgram(program, os.DevNull)
	if err != nil || makeAll(f.path(binDir, keptDir)) != nil {
		return
	}
	for _, path := range f.kept(service, sum) { // of this source one is enough
		_ = os.Remove(path)
	}
	if os.Link(program, f.keptAs(service, sum, digest)) != nil {
		return
	}
	paths := f.kept(service, "*")
	for _, path := range paths[min(mostKept, len(paths)):] {
		_ = os.Remove(path) // the next build tries it again
	}
}

// kept are the kept programs of a source, the latest first; "*" stands for all sources.
// The go command also sets the time of a program that it need not link.
func (f folder) kept(service, sum string) []string {
	paths, _ := filepath.Glob(f.keptAs(service, sum, "*")) // the pattern is well formed
	times := map[string]time.Time{}
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil {
			times[path] = info.ModTime()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return times[b].Compare(times[a]) })
	return paths
}

// copyProgram copies a program and returns its digest.
func copyProgram(from, to string) (digest string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(h, out), in)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, out.Close())
}

// A goBuild is a rendered build command "go build … -o PROGRAM …".
type goBuild struct {
	before, after []string // the other arguments, as far as they follow "build"
}

// goBuildOf reads the words of a build command whose program is out; ok is false for
// another command than "go build".
func goBuildOf(words []string, out string) (b goBuild, ok bool) {
	i := slices.Index(words, "-o")
	if i < 2 || filepath.Base(words[0]) != "go" || words[1] != "build" || i+1 >= len(words) || words[i+1] != out {
		return b, false
	}
	return goBuild{words[2:i], words[i+2:]}, true
}

// compileOnly are the arguments of the go command that compile the same packages with
// the same flags and link no program. It prints nothing about packages that compile.
func (b goBuild) compileOnly() []string {
	return slices.Concat([]string{"list", "-export", "-f", `{{""}}`}, b.before, b.after)
}
