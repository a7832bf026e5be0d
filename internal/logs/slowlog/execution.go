package slowlog

import "fmt"

// An Execution is one counted entry. Its Statement is valid during the call.
type Execution struct {
	Offset    int64 // of the entry in the log
	At        int64 // Unix time in nanoseconds, often of a whole second; 0 if the entry has none
	Took      int64 // in nanoseconds
	Thread    uint64
	Digest    string
	Examined  int64
	Sent      int64
	Statement []byte
}

// each calls the function of the options for an event.
func (c *collector) each(ev *event) {
	c.opt.Each(&Execution{Offset: c.batch.offset + int64(ev.start), At: ev.at, Took: ev.query, Thread: ev.thread, Digest: fmt.Sprintf("%016x", ev.digest),
		Examined: ev.examined, Sent: ev.sent, Statement: ev.sql.of(c.batch.data)})
}
