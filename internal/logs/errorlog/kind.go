package errorlog

import "strings"

// Kinds of messages with a known meaning. Rules of package diagnose use them.
const (
	BodySpilled     = "body-spilled"           // nginx wrote a request body to a temporary file
	AnswerSpilled   = "answer-spilled"         // nginx wrote an answer of the app to a temporary file
	NoConnections   = "connections-exhausted"  // worker_connections are used up
	NoDescriptors   = "descriptors-exhausted"  // EMFILE, ENFILE
	NoPorts         = "ports-exhausted"        // EADDRNOTAVAIL
	BacklogFull     = "backlog-full"           // EAGAIN of a unix socket: the app's queue was full
	UpstreamTimeout = "upstream-timeout"       // the app did not answer in time: 504
	UpstreamRefused = "upstream-refused"       // the app did not listen: 502
	UpstreamClosed  = "upstream-closed"        // the app closed the connection: 502
	NoUpstream      = "upstream-none"          // all upstreams were marked as failed: 502
	HeaderTooBig    = "answer-header-too-big"  // 502
	BodyTooBig      = "request-body-too-large" // 413
	DiskFull        = "disk-full"              // ENOSPC
	TooManyClients  = "database-connections"   // the database refused a connection
	Deadlock        = "deadlock"
	LockTimeout     = "lock-timeout"
	Panic           = "panic"
	Request         = "request" // one line for each request: an access log
)

// requestLine is the message of lines that only log a request.
const requestLine = "a request"

// known maps words of messages to kinds. The order matters: a cause comes before
// its consequence.
var known = []struct{ words, kind string }{
	{"a client request body is buffered to a temporary file", BodySpilled},
	{"an upstream response is buffered to a temporary file", AnswerSpilled},
	{"worker_connections are not enough", NoConnections},
	{"worker_connections exceed open file resource limit", NoDescriptors},
	{"oo many open files", NoDescriptors},
	{"annot assign requested address", NoPorts},
	{"failed (11: Resource temporarily unavailable)", BacklogFull},
	{"upstream timed out", UpstreamTimeout},
	{"failed (111: Connection refused)", UpstreamRefused},
	{"upstream prematurely closed connection", UpstreamClosed},
	{"no live upstreams", NoUpstream},
	{"upstream sent too big header", HeaderTooBig},
	{"client intended to send too large body", BodyTooBig},
	{"o space left on device", DiskFull},
	{"Too many connections", TooManyClients},
	{"Deadlock found when trying to get lock", Deadlock},
	{"Lock wait timeout exceeded", LockTimeout},
	{"panic: ", Panic},
	{"panic recovered", Panic},
}

// kindOf returns the kind of an unfolded message, "" for none.
func kindOf(p parsed) string {
	for _, k := range known {
		if strings.Contains(p.message, k.words) {
			return k.kind
		}
	}
	if p.message == requestLine || p.request != "" && p.request == p.message {
		return Request
	}
	return ""
}
