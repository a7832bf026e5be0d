package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestHeads(t *testing.T) {
	dir := t.TempDir()
	h := newHeadSampler(dir)
	head := func(fields string) []byte {
		return []byte("GET /x HTTP/1.1\r\nHost: h\r\nUser-Agent: a\r\n" + fields + "\r\nbody: no header")
	}
	h.add(1, head("Cookie: s=1\r\n"))
	h.add(2, head("Cookie: s=2\r\nX-Session: bob\r\n"))
	h.add(3, head(""))
	h.add(headClients+1, head("X-Late: 1\r\n"))
	for range headRequests + 5 {
		h.add(4, head("X-Many: 1\r\nIf-None-Match: z\r\n"))
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, HeadsFile))
	if err != nil {
		t.Fatal(err)
	}
	var got Heads
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if want := "map[cookie:[s=1 s=2] x-many:[1] x-session:[bob]]"; fmt.Sprint(got.Varied) != want {
		t.Errorf("varied %v, want %s", got.Varied, want)
	}
	if want := "[[[User-Agent a] [Cookie s=1]] [[User-Agent a] [Cookie s=2] [X-Session bob]] [[User-Agent a] [X-Many 1]]]"; fmt.Sprint(got.Clients) != want {
		t.Errorf("clients %v, want %s", got.Clients, want)
	}
	if info, err := os.Stat(filepath.Join(dir, HeadsFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	var none *headSampler
	none.add(1, nil)
	if err := none.close(); err != nil {
		t.Error(err)
	}
}
