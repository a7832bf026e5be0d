// Gocache is a build cache for the go command (GOCACHEPROG) that keeps in memory what
// was read or written, in front of the go command's own cache on disk. `make check` runs
// hundreds of go commands: on a slow disk they wait for the same files again and again.
//
// Both folders are left in a state that any go command can use: entries are written to
// the disk, too, and in the format of the go command's own cache.
//
// Usage: GOCACHEPROG='gocache -memory FOLDER -disk FOLDER' go build ./...
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

func main() {
	memory := flag.String("memory", "", "folder in memory")
	disk := flag.String("disk", "", "folder of the go command's own cache")
	flag.Parse()
	if *memory == "" || *disk == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: gocache -memory FOLDER -disk FOLDER")
		os.Exit(2)
	}
	c := &cache{memory: folder(*memory), disk: folder(*disk)}
	if err := serve(c, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gocache:", err)
		os.Exit(1)
	}
}

// A request is one line of the go command, in the form of GOCACHEPROG (Go 1.24 and newer).
// The body of a put follows on a line of its own, as a JSON string in base64.
type request struct {
	ID       int64
	Command  string
	ActionID []byte
	OutputID []byte
	BodySize int64
}

type response struct {
	ID            int64
	Err           string     `json:",omitempty"`
	KnownCommands []string   `json:",omitempty"`
	Miss          bool       `json:",omitempty"`
	OutputID      []byte     `json:",omitempty"`
	Size          int64      `json:",omitempty"`
	Time          *time.Time `json:",omitempty"`
	DiskPath      string     `json:",omitempty"`
}

// serve answers requests until one closes the cache, or the input ends. Requests are
// answered in any order: a read from a slow disk delays no other.
func serve(c *cache, in io.Reader, out io.Writer) error {
	var mu sync.Mutex
	var failed error
	enc := json.NewEncoder(out)
	send := func(r response) {
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, enc.Encode(r))
	}
	send(response{KnownCommands: []string{"get", "put", "close"}})
	var running sync.WaitGroup
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		var r request
		text, err := line(lines)
		if errors.Is(err, io.EOF) {
			text, err = []byte(`{"Command":"close"}`), nil
		}
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		var body []byte
		if r.Command == "put" && r.BodySize > 0 {
			if body, err = readBody(lines); err != nil {
				return fmt.Errorf("reading the body of a request: %w", err)
			}
		}
		if r.Command == "close" {
			running.Wait()
			c.writes.Wait()
			send(response{ID: r.ID})
			return failed
		}
		running.Go(func() { send(c.answer(r, body)) })
	}
}

// line reads the next line that is not empty.
func line(r *bufio.Reader) ([]byte, error) {
	for {
		text, err := r.ReadBytes('\n')
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readBody reads the line of a body. The go command escapes nothing in it, so a reader of
// JSON, which takes several times longer, has nothing to do.
func readBody(r *bufio.Reader) ([]byte, error) {
	text, err := line(r)
	if err != nil {
		return nil, err
	}
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return nil, errors.New("it is no JSON string")
	}
	text = text[1 : len(text)-1]
	n, err := base64.StdEncoding.Decode(text, text)
	return text[:n], err
}

func (c *cache) answer(r request, body []byte) response {
	switch r.Command {
	case "get":
		e, path, ok := c.get(r.ActionID)
		if !ok {
			return response{ID: r.ID, Miss: true}
		}
		return response{ID: r.ID, OutputID: e.output, Size: e.size, Time: &e.time, DiskPath: path}
	case "put":
		if len(r.ActionID) == 0 || len(r.OutputID) == 0 {
			return response{ID: r.ID, Err: "the ids of the action and of its output are needed"}
		}
		if int64(len(body)) != r.BodySize {
			return response{ID: r.ID, Err: fmt.Sprintf("the body has %d bytes in place of %d", len(body), r.BodySize)}
		}
		path, err := c.put(r.ActionID, entry{output: r.OutputID, size: r.BodySize, time: time.Now()}, body)
		if err != nil {
			return response{ID: r.ID, Err: err.Error()}
		}
		return response{ID: r.ID, DiskPath: path}
	}
	return response{ID: r.ID, Err: fmt.Sprintf("unknown command %.20q", r.Command)}
}
