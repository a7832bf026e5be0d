package pagegen

import (
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// A Memcached is where an app stores the pages that it computes. The web server reads
// them by a key that begins with the generation of the page, so that a request that
// begins after the answer to a write finds no page from before the write, also not one
// that is stored later.
type Memcached struct {
	Address string
	// Type is the Content-Type with which the web server sends stored pages. A page with
	// another one, or with any other header, is not stored.
	Type    string
	Seconds int      // how long a page is stored
	Headers []string // of requests: pages with other values have other keys
	Private []string // a page for a request that has one of these headers is not stored
}

const (
	// MaxKey bounds a key before its escapes, in bytes. memcached's limit is 250 with them.
	MaxKey      = 220
	longestKey  = 250
	maxStored   = 1<<20 - 4<<10 // memcached's largest item has 1 MiB with its key
	storeWithin = time.Second
	storePause  = 100 * time.Millisecond // after a failure
	maxIdle     = 8                      // connections
)

// key is the key of the page of a request; "" for a page that is not stored.
func (m *Memcached) key(generation string, r *http.Request) string {
	if generation == "" {
		return ""
	}
	for _, name := range m.Private {
		if len(r.Header.Values(name)) > 0 {
			return ""
		}
	}
	parts := []string{generation, r.Host, r.RequestURI}
	for _, name := range m.Headers {
		if len(r.Header.Values(name)) > 1 {
			return "" // the web server has the first value in the key, the app may use another
		}
		parts = append(parts, r.Header.Get(name))
	}
	key := strings.Join(parts, " ")
	if len(key) > MaxKey {
		return ""
	}
	if key = escapeKey(key); len(key) > longestKey {
		return ""
	}
	return key
}

// escapeKey escapes a key as nginx does it for memcached.
func escapeKey(key string) string {
	var b strings.Builder
	for i := range len(key) {
		if c := key[i]; c <= ' ' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// sendable reports whether the web server can send a stored page in place of an answer
// with a header: it sends nothing but the type, the length and the date.
func (m *Memcached) sendable(header http.Header) bool {
	for name, values := range header {
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "Content-Length", "Date":
		case "Content-Type":
			if len(values) != 1 || !strings.EqualFold(values[0], m.Type) {
				return false
			}
		default:
			return false
		}
	}
	return len(header["Content-Type"]) == 1
}

// A memcachedClient stores pages. Several requests may use it at once.
type memcachedClient struct {
	to     *Memcached
	idle   chan *textproto.Conn
	failed atomic.Int64 // when the last attempt failed, in nanoseconds of the clock
}

func newMemcachedClient(to *Memcached) *memcachedClient {
	return &memcachedClient{to: to, idle: make(chan *textproto.Conn, maxIdle)}
}

// store stores a page. A failure costs computations only: the app answers requests for
// pages that the web server does not find.
func (c *memcachedClient) store(key string, body []byte) {
	if time.Since(time.Unix(0, c.failed.Load())) < storePause {
		return
	}
	if err := c.set(key, body); err != nil {
		c.failed.Store(time.Now().UnixNano())
		fmt.Fprintln(os.Stderr, "pagegen: storing a page in memcached:", err)
	}
}

// set stores a page on an idle connection, or on a new one: memcached may have been
// restarted since an idle one was used.
func (c *memcachedClient) set(key string, body []byte) error {
	for {
		select {
		case conn := <-c.idle:
			if c.setOn(conn, key, body) == nil {
				return nil
			}
		default:
			conn, err := net.DialTimeout("tcp", c.to.Address, storeWithin)
			if err != nil {
				return err
			}
			return c.setOn(textproto.NewConn(limited{conn}), key, body)
		}
	}
}

// setOn stores a page on a connection, which is idle afterwards, or closed.
func (c *memcachedClient) setOn(conn *textproto.Conn, key string, body []byte) error {
	w := conn.Writer.W
	fmt.Fprintf(w, "set %s 0 %d %d\r\n", key, c.to.Seconds, len(body))
	_, _ = w.Write(body)
	_, _ = w.WriteString("\r\n")
	err := w.Flush() // has the errors of the writes before
	var reply string
	if err == nil {
		reply, err = conn.ReadLine()
	}
	if err == nil && reply != "STORED" {
		err = fmt.Errorf("the reply is %.100q", reply)
	}
	if err != nil {
		conn.Close()
		return err
	}
	select {
	case c.idle <- conn:
	default:
		conn.Close()
	}
	return nil
}

// limited bounds each read and write in time.
type limited struct{ net.Conn }

// Read implements io.Reader.
func (l limited) Read(b []byte) (int, error) {
	if err := l.SetReadDeadline(time.Now().Add(storeWithin)); err != nil {
		return 0, err
	}
	return l.Conn.Read(b)
}

// Write implements io.Writer.
func (l limited) Write(b []byte) (int, error) {
	if err := l.SetWriteDeadline(time.Now().Add(storeWithin)); err != nil {
		return 0, err
	}
	return l.Conn.Write(b)
}

// generation is the present generation of a link with the name of the folder, as the web
// server has it in its keys; "" if there is none.
func (s *Store) generation(link string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name := s.present[link]; name != "" {
		return filepath.Base(s.plan.Folder) + "/" + name
	}
	return ""
}

// linkOf is the link of a kept page.
func (p *Plan) linkOf(path string) string {
	if len(p.Table) == 0 {
		return Common
	}
	return BucketOf(path)
}
