package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

// A cache is a folder in memory in front of one on disk.
type cache struct {
	memory, disk folder
	writes       sync.WaitGroup // to the disk
}

// get returns the entry of an action and the path of its data. What was only on disk is
// in memory afterwards, if there is room.
func (c *cache) get(action []byte) (entry, string, bool) {
	if e, ok := c.memory.find(action); ok {
		return e, c.memory.data(e.output), true
	}
	e, ok := c.disk.find(action)
	if !ok {
		return e, "", false
	}
	c.disk.used(action, e)
	body, err := os.ReadFile(c.disk.data(e.output))
	if err != nil || int64(len(body)) != e.size {
		return e, "", false
	}
	if c.memory.write(action, e, body) != nil {
		return e, c.disk.data(e.output), true
	}
	return e, c.memory.data(e.output), true
}

// put keeps an entry and returns the path of its data. The entry is written to the disk
// later, but at once if memory has no room.
func (c *cache) put(action []byte, e entry, body []byte) (string, error) {
	if c.memory.write(action, e, body) != nil {
		return c.disk.data(e.output), c.disk.write(action, e, body)
	}
	// A full disk loses entries, and no build.
	c.writes.Go(func() { _ = c.disk.write(action, e, body) })
	return c.memory.data(e.output), nil
}

// A folder has entries in the format of the go command's cache: a file "…-a" for each
// action, and its output in a file "…-d".
type folder string

// An entry is the output of an action.
type entry struct {
	output []byte // its id
	size   int64  // in bytes
	time   time.Time
}

func (f folder) path(id []byte, kind string) string {
	name := hex.EncodeToString(id)
	return filepath.Join(string(f), name[:min(2, len(name))], name+kind)
}

func (f folder) data(output []byte) string { return f.path(output, "-d") }

// find returns the entry of an action if its data is there in full.
func (f folder) find(action []byte) (entry, bool) {
	text, err := os.ReadFile(f.path(action, "-a"))
	if err != nil {
		return entry{}, false
	}
	e, ok := parseEntry(string(text), action)
	if !ok {
		return entry{}, false
	}
	info, err := os.Stat(f.data(e.output))
	return e, err == nil && info.Size() == e.size
}

// parseEntry reads the file of an action: "v1", the ids of the action and of its output,
// the size and the time in nanoseconds.
func parseEntry(text string, action []byte) (entry, bool) {
	words := strings.Fields(text)
	if len(words) != 5 || words[0] != "v1" || words[1] != hex.EncodeToString(action) {
		return entry{}, false
	}
	output, err := hex.DecodeString(words[2])
	size, err2 := strconv.ParseInt(words[3], 10, 64)
	nanos, err3 := strconv.ParseInt(words[4], 10, 64)
	if err != nil || err2 != nil || err3 != nil || len(output) == 0 || size < 0 {
		return entry{}, false
	}
	return entry{output: output, size: size, time: time.Unix(0, nanos)}, true
}

// write writes the data before the file of the action, which refers to it.
func (f folder) write(action []byte, e entry, body []byte) error {
	if err := files.WriteBytes(f.data(e.output), body); err != nil {
		return err
	}
	line := fmt.Sprintf("v1 %x %x %20d %20d\n", action, e.output, e.size, e.time.UnixNano())
	return files.WriteBytes(f.path(action, "-a"), []byte(line))
}

// usedEvery is how often the go command notes that an entry was used. It removes
// entries that were not used for days.
const usedEvery = time.Hour

// used notes that an entry was used.
func (f folder) used(action []byte, e entry) {
	for _, path := range []string{f.path(action, "-a"), f.data(e.output)} {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > usedEvery {
			_ = os.Chtimes(path, time.Time{}, time.Now()) // an entry may be removed early, then
		}
	}
}
