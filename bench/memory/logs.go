package main

import (
	"bufio"
	"math/rand/v2"
	"strconv"
	"time"
)

// perSecond is the number of entries per second of the logs' time.
const perSecond = 1000

var logStart = time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)

// A writer appends the entries of a log.
type writer struct {
	r *rand.Rand
	b []byte
}

func newWriter() *writer { return &writer{r: rand.New(rand.NewPCG(3, 5))} }

// entries calls one until size bytes are written.
func (w *writer) entries(out *bufio.Writer, size int64, one func(at time.Time, newSecond bool)) (n int64, err error) {
	for done := int64(0); done < size; n++ {
		w.b = w.b[:0]
		one(logStart.Add(time.Duration(n/perSecond)*time.Second), n%perSecond == 0)
		if _, err := out.Write(w.b); err != nil {
			return n, err
		}
		done += int64(len(w.b))
	}
	return n, nil
}

func (w *writer) text(s string) { w.b = append(w.b, s...) }

func (w *writer) number(below int) { w.b = strconv.AppendInt(w.b, w.r.Int64N(int64(below)), 10) }

func (w *writer) hex(digits int) {
	for i := 0; i < digits; i += 16 {
		v := w.r.Uint64()
		for range min(digits-i, 16) {
			w.b = append(w.b, "0123456789abcdef"[v&15])
			v >>= 4
		}
	}
}

// trace appends a traceparent header's value.
func (w *writer) trace() {
	w.text("00-")
	w.hex(32)
	w.text("-")
	w.hex(16)
	w.text("-01")
}

// seconds appends a time of 1 to 400 ms.
func (w *writer) seconds() {
	ms := 1 + w.r.IntN(400)
	w.text("0.")
	for below := 100; below > ms && below > 1; below /= 10 {
		w.text("0")
	}
	w.b = strconv.AppendInt(w.b, int64(ms), 10)
}

// target appends a request target. A third has a trace id in its path, a third
// in its query string.
func (w *writer) target() {
	switch w.r.IntN(6) {
	case 0:
		w.text("/api/traces/")
		w.hex(32)
	case 1:
		w.text("/api/orders/")
		w.number(1e9)
		w.text("/events/")
		w.hex(16)
	case 2:
		w.text("/api/search?q=")
		w.number(1e6)
		w.text("&traceparent=")
		w.trace()
	case 3:
		w.text("/callback?trace_id=")
		w.hex(32)
	case 4:
		w.text("/users/")
		w.number(1e8)
		w.text("/profile")
	default:
		w.text("/")
	}
}

func writeCombined(out *bufio.Writer, size int64) (int64, error) {
	w := newWriter()
	var stamp []byte
	return w.entries(out, size, func(at time.Time, newSecond bool) {
		if newSecond {
			stamp = at.AppendFormat(stamp[:0], "02/Jan/2006:15:04:05 -0700")
		}
		w.text("10.0.")
		w.number(256)
		w.text(".7 - - [")
		w.b = append(w.b, stamp...)
		w.text("] \"GET ")
		w.target()
		w.text(" HTTP/1.1\" 200 ")
		w.number(60000)
		w.text(" \"-\" \"client/1.0\" ")
		w.seconds()
		w.text("\n")
	})
}

func writeLTSV(out *bufio.Writer, size int64) (int64, error) {
	w := newWriter()
	var stamp []byte
	return w.entries(out, size, func(at time.Time, newSecond bool) {
		if newSecond {
			stamp = at.AppendFormat(stamp[:0], "02/Jan/2006:15:04:05 -0700")
		}
		w.text("time:")
		w.b = append(w.b, stamp...)
		w.text("\thost:10.0.0.7\tmethod:GET\turi:")
		w.target()
		w.text("\tstatus:200\tsize:")
		w.number(60000)
		w.text("\ttraceparent:")
		w.trace()
		w.text("\treqtime:")
		w.seconds()
		w.text("\n")
	})
}

// statements returns functions that append one statement with new values each.
func (w *writer) statements() []func() {
	return []func(){
		func() { w.text("SELECT * FROM orders WHERE id = "); w.number(1e9) },
		func() {
			w.text("SELECT name, price FROM items WHERE shop = '")
			w.hex(12)
			w.text("' ORDER BY price LIMIT 20")
		},
		func() {
			w.text("INSERT INTO events (order_id, token, body) VALUES (")
			w.number(1e9)
			w.text(", '")
			w.hex(32)
			w.text("', 'created')")
		},
		func() { w.text("UPDATE stock SET n = n - 1 WHERE item = "); w.number(1e7) },
		func() { w.text("COMMIT") },
	}
}

func writeSlow(out *bufio.Writer, size int64) (int64, error) {
	w := newWriter()
	all := w.statements()
	return w.entries(out, size, func(at time.Time, newSecond bool) {
		if newSecond {
			w.text("# Time: ")
			w.b = at.AppendFormat(w.b, "060102 15:04:05\n")
		}
		w.text("# User@Host: shop[shop] @ localhost [127.0.0.1]\n# Thread_id: ")
		w.number(64)
		w.text("  Schema: shop  QC_hit: No\n# Query_time: ")
		w.seconds()
		w.text("  Lock_time: 0.000010  Rows_sent: 1  Rows_examined: ")
		w.number(1000)
		w.text("\n# Rows_affected: 0  Bytes_sent: 100\nSET timestamp=")
		w.b = strconv.AppendInt(w.b, at.Unix(), 10)
		w.text(";\n")
		all[w.r.IntN(len(all))]()
		w.comment()
		w.text(";\n")
	})
}

// comment appends what tracing libraries add to a statement.
func (w *writer) comment() {
	if w.r.IntN(2) == 0 {
		w.text(" /* controller='orders',traceparent='")
		w.trace()
		w.text("' */")
		return
	}
	w.text(" /* POST /api/orders/")
	w.hex(8)
	w.text("-0000-4000-8000-")
	w.hex(12)
	w.text(" */")
}
