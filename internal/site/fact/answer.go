package fact

import (
	"time"

	"github.com/iikanji/iikanji"
)

// An Answer is a web server's answer to one GET without cookies that accepts
// gzip. The request is sent twice, after the load.
type Answer struct {
	URL      string        `json:"url"`            // path and query
	Host     string        `json:"host,omitempty"` // host of the URL, with its port
	Status   int           `json:"status"`
	Type     string        `json:"type,omitempty"`     // media type without parameters
	Encoding string        `json:"encoding,omitempty"` // as in gzip
	Bytes    iikanji.Bytes `json:"bytes"`              // of the body, as sent
	// Packed is the gzip size of a body that was sent uncompressed; 0 otherwise.
	Packed       iikanji.Bytes `json:"packed,omitempty"`
	ETag         bool          `json:"etag,omitempty"`
	LastModified bool          `json:"last_modified,omitempty"`
	CacheControl string        `json:"cache_control,omitempty"`
	Expires      bool          `json:"expires,omitempty"`
	Vary         string        `json:"vary,omitempty"`
	Cookie       bool          `json:"cookie,omitempty"` // the answer sets a cookie
	Same         bool          `json:"same,omitempty"`   // both answers had the same bytes
	// SameForAll: Users clients of the run, which sent headers of their own, and a
	// client without any got the same answer, and so did a client with each header
	// that varied in the run.
	SameForAll bool `json:"same_for_all,omitempty"`
	Users      int  `json:"users,omitempty"`
	// Alive: the sessions of these clients were alive, because another URL had another
	// answer for each of them than without a session.
	Alive bool `json:"alive,omitempty"`
	// URLs is the number of URLs of the route that were asked for. SameForAll is true
	// only if it holds for each of them.
	URLs int           `json:"urls,omitempty"`
	Took time.Duration `json:"took_ns"` // the shorter of both times
	// Again is the time after which the answer tells its client to ask again: by a header, a
	// member of its JSON object, or an element of its page; 0 for none.
	Again time.Duration `json:"again_ns,omitempty"`
	// Unchanged is the time of a 304 answer to a request with the answer's ETag; 0
	// if there was no 304.
	Unchanged time.Duration `json:"unchanged_ns,omitempty"`
	// File is a file on disk with the same bytes as the body, at the path that
	// the URL names; "" if none was found.
	File string `json:"file,omitempty"`
	// MD5 is the digest of a body of 4 KiB or more that is not text, in hexadecimal: it
	// is compared with values in databases.
	MD5 string `json:"md5,omitempty"`
}

// A StoredValue is a value in a database that is an answer, byte for byte.
type StoredValue struct {
	URL    string `json:"url"`
	Schema string `json:"schema"`
	Table  string `json:"table"`
	Column string `json:"column"`
	ID     int64  `json:"id"` // value of the primary key, which the URL contains
}

// A Series describes the sizes of the answers to the successful GETs of one
// route during the load: by URL from the access log, by client from the samples
// of the load generator.
type Series struct {
	URLs    int64 `json:"urls"`    // number of different URLs
	Repeats int64 `json:"repeats"` // answers beyond the first to each URL
	// Again counts the URLs that were requested more than once, Fixed those of
	// them whose answers all had one size. FixedRepeats and FixedBytes are the
	// answers of the fixed URLs, without the first answer of each. A URL with a
	// single answer is in neither count.
	Again        int64         `json:"again"`
	Fixed        int64         `json:"fixed"`
	FixedRepeats int64         `json:"fixed_repeats"`
	FixedBytes   iikanji.Bytes `json:"fixed_bytes"`
	Sizes        int64         `json:"sizes"` // different sizes among the fixed URLs
	// Heaviest is the URL with the most bytes sent, Others are the most requested ones
	// besides.
	Heaviest string    `json:"heaviest,omitempty"`
	Others   [3]string `json:"others,omitzero"`
	// Crowded counts the answers beyond one per second of the load for each URL.
	Crowded int64 `json:"crowded,omitempty"`

	// Clients is the number of clients. Pairs counts pairs of consecutive answers
	// to two different clients, Alike the pairs in which both answers had the
	// same size.
	Clients int64 `json:"clients,omitempty"`
	Pairs   int64 `json:"pairs,omitempty"`
	Alike   int64 `json:"alike,omitempty"`
	// Changes counts how often the size changed to a new value and stayed there.
	Changes int64 `json:"changes,omitempty"`
	// Least and Most are the smallest and largest size of an answer near the end
	// of the load, headers included.
	Least iikanji.Bytes `json:"least,omitempty"`
	Most  iikanji.Bytes `json:"most,omitempty"`
}

// An AgentUse is the requests of one User-Agent in the access log.
type AgentUse struct {
	Requests int64         `json:"requests"`
	Took     time.Duration `json:"took_ns"` // 0 in a log without times
}
