package web

import (
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// nginx mentions a temporary file as a warning, and many sites log errors only. What the
// configuration and the sizes of the run show is used in place of the lines.

const (
	// nginx's buffers where none is set, on machines with pages of 4 KiB.
	bodyBuffer   = 16 << 10
	answerHeader = 4 << 10
	answerPieces = 8
	answerPiece  = 4 << 10
)

// An unlogged has the requests of a route of which nginx wrote one part to temporary files
// without a line in its log.
type unlogged struct {
	route  string
	count  float64
	size   iikanji.Bytes // mean
	buffer iikanji.Bytes
	from   string // the source of the size
}

// evidence is the evidence of one route.
func (u unlogged) evidence(directive string) []iikanji.Evidence {
	return []iikanji.Evidence{{Source: u.from, Text: fmt.Sprintf("%s: %s requests of %s on average", u.route, cause.Number(u.count), u.size)},
		{Source: "nginx -T", Text: fmt.Sprintf("%s holds %s; the error log has no warnings", directive, u.buffer)}}
}

// quietly lists the routes of the run that nginx passes on by proxy_pass from a place whose error
// log has no warnings, and whose buffer is smaller than the mean size. buffer is the buffer of a
// place, 0 if it spills nothing; size is what a route needs of it, and its source.
func quietly(v *cause.View, buffer func(nginx.Scope) iikanji.Bytes, size func(iikanji.Row) (iikanji.Bytes, string)) []unlogged {
	http, ok := nginxHTTP(v)
	if !ok {
		return nil
	}
	var out []unlogged
	for _, r := range v.Access() {
		for _, s := range serving(v, http) {
			a, passes := passed(v, s, r.Key)
			if !passes || a.By.Name() != "proxy_pass" || !a.Config.Quiet(a.Chain) {
				continue
			}
			n, from := size(r)
			if b := buffer(a.Scope); b > 0 && n > b {
				out = append(out, unlogged{r.Key, float64(r.Count), n, b, from})
			}
			break
		}
	}
	return out
}

// unloggedBodies is the finding about bodies that are larger than their buffer: nginx always
// writes these to a temporary file.
func unloggedBodies(v *cause.View) []iikanji.Finding {
	found := quietly(v, func(s nginx.Scope) iikanji.Bytes {
		if s.Value("proxy_request_buffering") == "off" {
			return 0
		}
		return sizeIn(s, "client_body_buffer_size", bodyBuffer)
	}, func(r iikanji.Row) (iikanji.Bytes, string) { return meanBody(v, r) })
	count, size := 0.0, iikanji.Bytes(0)
	var evidence []iikanji.Evidence
	for _, u := range found {
		count, size = count+u.count, max(size, u.size)
		evidence = append(evidence, u.evidence("client_body_buffer_size")...)
	}
	f := iikanji.Finding{Code: "WEB103", Where: v.Self.Name, Evidence: evidence,
		Claim: fmt.Sprintf("nginx writes the bodies of %s requests to temporary files: they are larger than its buffer", cause.Number(count)),
		Gain:  iikanji.Range{Lo: cause.Round(count * spilled.Lo), Hi: cause.Round(count * spilled.Hi)}}
	if count == 0 || !v.Worth(f.Gain) {
		return nil
	}
	f.Remedies = holdBodies(v, 2*size) // some are larger than the mean
	return []iikanji.Finding{f}
}

// unloggedAnswers is the finding about answers that are larger than the buffers. Whether nginx
// writes them to files depends on how fast clients read, so the gain begins at 0. Scripts,
// styles and pictures are left to WEB101 and WEB106: sent from disk, or kept by clients, they
// need no buffer.
func unloggedAnswers(v *cause.View) []iikanji.Finding {
	found := quietly(v, answerBuffers, func(r iikanji.Row) (iikanji.Bytes, string) {
		if _, static := cause.StaticPath(r); static {
			return 0, ""
		}
		return r.Web.Bytes / iikanji.Bytes(max(1, r.Count)), "access log"
	})
	count, size := 0.0, iikanji.Bytes(0)
	var evidence []iikanji.Evidence
	for _, u := range found {
		count, size = count+u.count, max(size, u.size)
		evidence = append(evidence, u.evidence("proxy_buffers")...)
	}
	f := iikanji.Finding{Code: "WEB104", Where: v.Self.Name, Evidence: evidence, Gain: iikanji.Range{Hi: cause.Round(count * spilled.Hi)},
		Claim: fmt.Sprintf("%s answers are larger than nginx's buffers: it writes to temporary files what a client has not read yet", cause.Number(count))}
	if count == 0 || !v.Worth(f.Gain) {
		return nil
	}
	f.Remedies = holdAnswers(v, 2*size)
	return []iikanji.Finding{f}
}

// answerBuffers is how much of an answer nginx holds in memory; 0 if it writes no answer to a file.
func answerBuffers(s nginx.Scope) iikanji.Bytes {
	if s.Value("proxy_buffering") == "off" || s.Value("proxy_max_temp_file_size") == "0" {
		return 0
	}
	pieces, piece := int64(answerPieces), int64(answerPiece)
	if set := s.Effective("proxy_buffers"); len(set) > 0 {
		n, err := strconv.ParseInt(set[0].Arg(0), 10, 32)
		of, ok := nginx.Size(set[0].Arg(1))
		if err != nil || !ok {
			return 0
		}
		pieces, piece = n, of
	}
	return sizeIn(s, "proxy_buffer_size", answerHeader) + iikanji.Bytes(pieces*piece)
}

// sizeIn is a size in effect; 0 if it cannot be read.
func sizeIn(s nginx.Scope, directive string, byDefault iikanji.Bytes) iikanji.Bytes {
	set := s.Effective(directive)
	if len(set) == 0 {
		return byDefault
	}
	n, _ := nginx.Size(set[0].Arg(0))
	return iikanji.Bytes(n)
}

// meanBody is the mean size of a route's bodies, by the access log or by what the load generator
// sent. The heads of the requests are left out.
func meanBody(v *cause.View, r iikanji.Row) (iikanji.Bytes, string) {
	if r.Web.ReqBytes > 0 && r.Count > 0 {
		return r.Web.ReqBytes/iikanji.Bytes(r.Count) - headSize, "access log"
	}
	if v.Input.Run != nil {
		for _, s := range v.Input.Run.Steps {
			if cause.SameRoute(s.Step, r.Key) && s.Count > 0 {
				return s.Sent/iikanji.Bytes(s.Count) - headSize, "generator"
			}
		}
	}
	return 0, ""
}
