package goprofile

import (
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"path/filepath"
	"strconv"
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
	path = filepath.Join(source, FileName)
	for _, name := range p.GoFiles {
		if name == FileName {
			return "", nil, fmt.Errorf("profiling %s: %s: %w", source, FileName, fs.ErrExist)
		}
	}
	return path, []byte(fmt.Sprintf(probe, strconv.Quote(socket))), nil
}

const probe = `package main

// iikanji added this file for one observed run, and removes it after the run.

import (
	iikanjiBytes "bytes"
	iikanjiIO "io"
	iikanjiNet "net"
	iikanjiOS "os"
	iikanjiPprof "runtime/pprof"
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
				_, _ = iikanjiIO.Copy(iikanjiIO.Discard, c)
				iikanjiPprof.StopCPUProfile()
				_, _ = c.Write(profile.Bytes())
			}
			_ = c.Close()
		}
	}()
}
`
