package web

import (
	"cmp"
	"fmt"
	urlpath "path"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// leastText is the mean size from which on compression helps: smaller texts
	// fit into one packet.
	leastText = 256
	// leastSaved is the least number of saved bytes in a run.
	leastSaved = 1 << 20
	// usualPacked is the assumed compression ratio of scripts, styles and JSON.
	usualPacked = 0.35
)

// textEndings are the extensions of text files.
var textEndings = []string{".js", ".mjs", ".css", ".map", ".svg", ".html", ".htm", ".json", ".txt", ".xml"}

// textual reports whether a media type is compressible.
func textual(mediaType string) bool {
	if strings.HasPrefix(mediaType, "text/") {
		return true
	}
	for _, end := range []string{"json", "javascript", "xml", "x-ndjson", "wasm", "manifest"} {
		if strings.HasPrefix(mediaType, "application/") && strings.HasSuffix(mediaType, end) {
			return true
		}
	}
	return mediaType == "image/svg+xml"
}

var noCompression = cause.Declare(cause.PerNginx, findNoCompression,
	cause.Cause{Code: "WEB105", Title: "no compression", Of: iikanji.OfCPU, Relieves: cause.NoLimit,
		Line:     "text is sent uncompressed",
		Remedies: []cause.Way{cause.Plan("nginxconf", "gzip", iikanji.RoleWeb)}})

// findNoCompression reports texts that are sent uncompressed although the client accepts
// gzip.
func findNoCompression(v *cause.View) []iikanji.Finding {
	answers := cause.FactsOf(v, fact.TopicAnswer)
	http, ok := nginxHTTP(v)
	off := !ok || http.Value("gzip") != "on"
	type candidate struct {
		route       string
		sent, saved float64
		how         string
	}
	var all []candidate
	sent, saved := 0.0, 0.0
	for _, r := range v.Access() {
		if r.Web.Status[2] == 0 || float64(r.Web.Bytes) < leastText*float64(r.Count) {
			continue
		}
		share, how := usualPacked, ""
		a, asked := answers[v.Self.Name+" "+r.Key]
		switch {
		case asked && a.Status == 200 && a.Bytes > 0:
			if a.Encoding != "" || !textual(a.Type) || a.Packed == 0 {
				continue
			}
			share = float64(a.Packed) / float64(a.Bytes)
			how = fmt.Sprintf("%s, uncompressed in spite of Accept-Encoding: gzip; gzip reduces it to %s of %s", a.Type, a.Packed, a.Bytes)
		case !asked && off && slices.Contains(textEndings, strings.ToLower(urlpath.Ext(r.Key))):
			how = "text by its ending, and nginx has no gzip on"
		default: // unknown type
			continue
		}
		if share > 0.9 {
			continue
		}
		c := candidate{r.Key, float64(r.Web.Bytes), float64(r.Web.Bytes) * (1 - share), how}
		all = append(all, c)
		sent, saved = sent+c.sent, saved+c.saved
	}
	if saved*v.Speedup() < leastSaved {
		return nil
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.saved, a.saved) })
	f := iikanji.Finding{Code: "WEB105", Where: v.Self.Name,
		Claim: fmt.Sprintf("%s of text is sent uncompressed, and gzip would save %s (the gain is time on a link of 1 Gbit/s; on one machine gzip only costs CPU)",
			iikanji.Bytes(sent), iikanji.Bytes(saved)),
		Gain:     iikanji.Range{Lo: 0, Hi: cause.Round(saved / cause.LinkSpeed)},
		Remedies: v.NginxConf("turn gzip on for text, at level 1, with gzip_proxied any", map[string]string{"act": "gzip", "level": "1"})}
	for _, c := range all[:min(len(all), 5)] {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log", Text: fmt.Sprintf("%s: %s (%s)", c.route, iikanji.Bytes(c.sent), c.how)})
	}
	return []iikanji.Finding{f}
}
