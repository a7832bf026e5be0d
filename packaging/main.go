// Command packaging makes a release from the commit that is checked out; `make dist` runs it.
//
//  1. It clones the commit into a scratch folder, so that nothing that is not committed gets
//     in, and go records tag, commit and date in the program (clone.go).
//  2. It builds static programs for amd64 and arm64 (build.go), and for each a Debian package
//     with manual page, completions and the licences of all linked modules (deb.go,
//     licences.go), and a list of what is linked (bom.go, CycloneDX).
//  3. It does all of this again from a second clone in another folder, and compares every
//     file. A difference is an error: a release can be repeated to the byte.
//  4. It installs the package for this machine in a scratch root and runs it (installed.go).
//
// With -fresh each build has an empty build cache of its own: that takes minutes, and proves
// the compiler's part as well as the linker's.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	into := flag.String("into", "dist", "folder of the release; it is replaced")
	fresh := flag.Bool("fresh", false, "compile everything twice, each time with an empty build cache")
	only := flag.String("only", "", "one architecture in place of all")
	flag.Parse()
	archs := architectures
	if *only != "" {
		archs = []string{*only}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := release(ctx, *into, archs, *fresh); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		stop()
		os.Exit(1)
	}
}

// release makes a release twice, compares both, tries it, and leaves it in a folder.
func release(ctx context.Context, into string, archs []string, fresh bool) error {
	scratch, err := os.MkdirTemp("", "iikanji-dist")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	c, err := checkedOut(ctx)
	if err != nil {
		return err
	}
	var made [2]string
	for i, name := range []string{"first", "the-second-clone"} { // paths of two lengths
		at := filepath.Join(scratch, name)
		made[i] = filepath.Join(at, "dist")
		if err := makeOnce(ctx, c, at, made[i], archs, fresh); err != nil {
			return err
		}
	}
	sums, err := sameFiles(made[0], made[1])
	if err != nil {
		return err
	}
	version, err := tryInstalled(ctx, made[0], scratch)
	if err != nil {
		return fmt.Errorf("trying the package: %w", err)
	}
	if err := os.RemoveAll(into); err != nil {
		return fmt.Errorf("replacing %s: %w", into, err)
	}
	if err := os.CopyFS(into, os.DirFS(made[0])); err != nil {
		return fmt.Errorf("writing %s: %w", into, err)
	}
	fmt.Printf("%s%s\nbuilt twice, the same bytes; installed in a scratch root and run; in %s\n", sums, version, into)
	return nil
}

// makeOnce makes all files of a release from a clone of its own in the folder at.
func makeOnce(ctx context.Context, c commit, at, into string, archs []string, fresh bool) error {
	src := filepath.Join(at, "src")
	if err := clone(ctx, c, src); err != nil {
		return err
	}
	for _, dir := range []string{into, filepath.Join(at, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	b := &builder{commit: c, archs: archs, src: src, scratch: filepath.Join(at, "tmp"), into: into}
	if fresh {
		b.cache = filepath.Join(at, "cache")
	}
	if err := b.makeAll(ctx); err != nil {
		return err
	}
	return writeSums(into)
}
