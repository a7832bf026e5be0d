package goprofile

import (
	"errors"
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// FileName is the name of the file in the app's main package.
const FileName = "iikanji_profile.go"

// ErrNoMain is the error of a source folder that is not itself a main package.
var ErrNoMain = errors.New("the source folder is not a main package")

// Probe returns the file that profiles the app whose main package is the folder
// source, by a socket at a path. The imports have names of their own, so that they
// do not meet declarations of the package.
func Probe(source, socket string) (path string, body []byte, err error) {
	p, err := build.Default.ImportDir(source, 0)
	if err != nil {
		return "", nil, fmt.Errorf("reading the package in %s: %w", source, err)
	}
	if p.Name != "main" {
		return "", nil, fmt.Errorf("profiling %s: %w", source, ErrNoMain)
	}
	added := goapp.Addition{Files: map[string][]byte{FileName: nil}}
	if err := added.Fits(p.GoFiles); err != nil {
		return "", nil, fmt.Errorf("profiling %s: %w", source, err)
	}
	text := probe
	if hasQueryCache(source) {
		// Only then: the import of expvar adds a handler to the app's default mux, which
		// the package of the cache has added already.
		text = strings.NewReplacer("// EXPVAR", `iikanjiExpvar "expvar"`, "// COUNTERS", `if v := iikanjiExpvar.Get("sqlcache"); v != nil {
		return v.String()
	}`).Replace(text)
	}
	text = strings.NewReplacer("\t// EXPVAR\n", "", "\t// COUNTERS\n", "").Replace(text)
	return filepath.Join(source, FileName), []byte(fmt.Sprintf(text, strconv.Quote(socket))), nil
}

// hasQueryCache reports whether the module of a folder has the package that iikanji
// sqlcache generates, in the folder that tune gives it.
func hasQueryCache(source string) bool {
	_, err := os.Stat(filepath.Join(moduleOf(source), "sqlcache", "app_plan.go"))
	return err == nil
}

// moduleOf is the nearest folder with a go.mod, from a folder upwards. Without such a folder,
// it is the root of the file system.
func moduleOf(folder string) string {
	for dir := folder; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
}

const probe = `package main

// iikanji added this file for one observed run, and removes it after the run.

import (
	iikanjiBytes "bytes"
	// EXPVAR
	iikanjiIO "io"
	iikanjiNet "net"
	iikanjiOS "os"
	iikanjiPprof "runtime/pprof"
	iikanjiStrconv "strconv"
)

func init() {
	const socket = %s
	_ = iikanjiOS.Remove(socket)
	l, err := iikanjiNet.Listen("unix", socket)
	if err != nil {
		return // the app itself must not fail
	}
	_ = iikanjiOS.Chmod(socket, 0o666)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			var profile iikanjiBytes.Buffer
			if iikanjiPprof.StartCPUProfile(&profile) == nil {
				before := iikanjiCounters()
				_, _ = iikanjiIO.WriteString(c, "begun\n")
				_, _ = iikanjiIO.Copy(iikanjiIO.Discard, c)
				iikanjiPprof.StopCPUProfile()
				_, _ = iikanjiIO.WriteString(c, iikanjiStrconv.Itoa(profile.Len())+"\n")
				_, _ = c.Write(profile.Bytes())
				_, _ = iikanjiIO.WriteString(c, before+"\n"+iikanjiCounters()+"\n")
			}
			_ = c.Close()
		}
	}()
}

// iikanjiCounters are the counters of the app's query cache as JSON, if it has one.
func iikanjiCounters() string {
	// COUNTERS
	return ""
}
`
