package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// peersDir is the folder of built peers, relative to the module's root, where
// make runs.
const peersDir = ".cache/peers"

// module returns a function that builds a command at an exact version in a
// scratch module, so that the product's go.mod does not list it. source is a main
// package to build against the module, "" to build pkg itself.
func module(name, path, version, pkg, source string) func() (string, error) {
	return func() (string, error) {
		dir, err := filepath.Abs(filepath.Join(peersDir, name+"-"+version))
		if err != nil {
			return "", fmt.Errorf("finding the folder of peers: %w", err)
		}
		bin := filepath.Join(dir, name)
		if _, err := os.Stat(bin); err == nil {
			return bin, nil
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", fmt.Errorf("making the folder of peers: %w", err)
		}
		files := map[string]string{"go.mod": "module peer\n\ngo 1.26\n\nrequire " + path + " " + version + "\n"}
		if source != "" {
			files["main.go"], pkg = source, "."
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				return "", fmt.Errorf("writing the module of %s: %w", name, err)
			}
		}
		fmt.Fprintf(os.Stderr, "building %s %s\n", name, version)
		cmd := exec.Command("nice", "go", "build", "-mod=mod", "-o", bin+".part", pkg)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s: %w: %s", name, err, lastLine(out))
		}
		return bin, os.Rename(bin+".part", bin)
	}
}

func lastLine(out []byte) string {
	end := len(out)
	for end > 0 && out[end-1] == '\n' {
		end--
	}
	start := end
	for start > 0 && out[start-1] != '\n' {
		start--
	}
	return string(out[start:end])
}

func isucandar() *tool {
	return &tool{name: "isucandar agent", checks: true, count: pattern(`requests (\d+)`),
		build: module("isucandar", "github.com/isucon/isucandar", "v0.0.0-20220322062028-6dd56dc57d72", "", isucandarMain),
		args:  func(j *job) []string { return []string{j.url, j.want, j.time.String(), fmt.Sprint(conns)} }}
}

// isucandarMain runs one closed loop per agent and compares the body, like fetch.
const isucandarMain = `package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/isucon/isucandar/agent"
)

func main() {
	want, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	d, _ := time.ParseDuration(os.Args[3])
	conns, _ := strconv.Atoi(os.Args[4])
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var n atomic.Int64
	var wg sync.WaitGroup
	for i := 0; i < conns; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			a, err := agent.NewAgent(agent.WithNoCache(), agent.WithTimeout(time.Second), agent.WithDefaultTransport())
			if err != nil {
				panic(err)
			}
			for ctx.Err() == nil {
				req, err := a.GET(os.Args[1])
				if err != nil {
					panic(err)
				}
				res, err := a.Do(ctx, req)
				if err != nil {
					continue
				}
				body, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil {
					continue
				}
				if res.StatusCode != 200 || !bytes.Equal(body, want) {
					panic("another body")
				}
				n.Add(1)
			}
		}()
	}
	wg.Wait()
	fmt.Println("requests", n.Load())
}
`
