package loader

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// This file finds a score without patterns, in the forms that benchmarkers usually print:
// a JSON document, or a line of a log in English or Japanese. Such a benchmarker often ends
// with status 0 after a failed run. Its words for the result are read too.

// scoreKeys are the keys of a score in a JSON document, in order of preference.
var scoreKeys = []string{"score", "total_score", "totalScore", "final_score", "finalScore"}

// maxNesting is how deep a score may be in a JSON document, as in {"result": {"score": 1}}.
const maxNesting = 3

// usual finds a score in a JSON document, or in a line. A document that is the end of a log
// line may be a part of a larger one, and so comes after those that begin a line.
func usual(text []byte, docs []any) Result {
	for _, try := range []struct {
		docs  []any
		depth int
	}{{docs, 1}, {docs, maxNesting}, {inline(text), maxNesting}} {
		for _, doc := range try.docs {
			if path, score, ok := scored(doc, try.depth); ok {
				return documentResult(path, score)
			}
		}
	}
	return usualLine(plainText(text))
}

// scored finds the score of a document. path are the objects that contain it, the
// innermost one first. Keys are followed in order, so that the result is always the same.
func scored(doc any, depth int) (path []map[string]any, score float64, ok bool) {
	object, is := doc.(map[string]any)
	if !is || depth == 0 {
		return nil, 0, false
	}
	for _, key := range scoreKeys {
		if score, ok = numberOf(object[key]); ok {
			return []map[string]any{object}, score, true
		}
	}
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if path, score, ok = scored(object[key], depth-1); ok {
			return append(path, object), score, true
		}
	}
	return nil, 0, false
}

// documentResult reads whether the run of a score passed, and its messages. The result may
// be in an object around the one with the score.
func documentResult(path []map[string]any, score float64) Result {
	r := Result{By: "the JSON document with a score", Score: score, Scored: true}
	for _, object := range path {
		for _, key := range []string{"pass", "passed", "ok", "success", "result", "status"} {
			if v, has := object[key]; has && denies(key, v) {
				r.Failed = append(r.Failed, fmt.Sprintf("%s is %s in the output", key, textOf(v)))
			}
		}
		for _, key := range []string{"messages", "errors", "faults"} {
			if list, ok := object[key].([]any); ok {
				for _, m := range list {
					r.Faults = append(r.Faults, textOf(m))
				}
			}
		}
	}
	return r
}

// denies reports whether the value of a key means that the run failed. A number may be a
// count, as in "success": 1434: only 0 means a failure. result and status may be anything:
// only words for a failure count.
func denies(key string, v any) bool {
	switch n := v.(type) {
	case json.Number:
		f, err := n.Float64()
		return key != "result" && key != "status" && err == nil && f == 0
	case string:
		if key == "result" || key == "status" {
			return isFailure(n)
		}
	}
	return key != "result" && key != "status" && !truth(v)
}

// isFailure reports whether a word means that a run failed.
func isFailure(word string) bool {
	return slices.Contains([]string{"false", "no", "ng", "0", "fail", "failed", "failure", "failing", "不合格", "失敗", "失格"}, strings.ToLower(word))
}

var (
	// scoreLine matches a line such as "score: 12,345". The first group and the second
	// one mark the score of the whole run.
	scoreLine = regexp.MustCompile(`(?i)(?:(?:(final|total|overall)[ _-]?|\b|_)score\b|(最終|総合|合計)?の?(?:獲得)?(?:スコア|得点|点数))` +
		`(?:\s*\([^()\n]{0,60}\))?["'】\]]*\s*(?:is|は|[ .]*[:=|])?\s*["']?([+-]?[0-9][0-9_,]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)([^\n]*)`)
	// scoreFailed matches what stands behind a score, as in "score: 0 : fail". A number
	// behind the word makes it a count.
	scoreFailed = regexp.MustCompile(`(?i)(?:^|[^a-z])(fail|failed|ng|失格|不合格|失敗)\s*(?:$|[)\]"]|:\s*[^0-9\s])`)
	// passLine matches a statement about the run, as in "PASSED: false".
	passLine = regexp.MustCompile(`(?i)\b(pass|passed)["']?\s*[:=]\s*["']?(true|false|yes|no|ok|ng|[01])\b`)
	// resultLine matches another one, as in "result: FAIL".
	resultLine = regexp.MustCompile(`(?i)(?:\b(?:result|verdict|outcome)\b|結果|判定)["']?\s*[:=]\s*["']?(\pL+)`)
	// aloneLine matches a line that consists of the result.
	aloneLine = regexp.MustCompile(`(?im)^[\s\[\]*=#!-]*(pass|passed|ok|合格|成功|fail|failed|ng|不合格|失格|失敗)[\s\[\]*=#!.-]*$`)
	// colours matches the sequences by which terminals show colours.
	colours = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
)

// wide replaces the wide forms of digits and signs that Japanese texts have.
var wide = strings.NewReplacer("０", "0", "１", "1", "２", "2", "３", "3", "４", "4", "５", "5", "６", "6", "７", "7", "８", "8", "９", "9",
	"：", ":", "＝", "=", "，", ",", "．", ".", "（", "(", "）", ")", "＋", "+", "－", "-", "\r", "\n")

// plainText is an output without colours and wide digits.
func plainText(text []byte) string { return wide.Replace(string(colours.ReplaceAll(text, nil))) }

// usualLine finds the score in a line: the last one of the whole run, else the last one.
func usualLine(text string) Result {
	var line []string
	whole := false
	for _, m := range scoreLine.FindAllStringSubmatch(text, -1) {
		of := m[1]+m[2] != ""
		if line == nil || of || !whole {
			line, whole = m, of
		}
	}
	if line == nil {
		return Result{}
	}
	r := Result{By: "the last line with a score"}
	r.Score, r.Scored = parseNumber(line[3])
	if scoreFailed.MatchString(line[4]) {
		r.Failed = append(r.Failed, fmt.Sprintf("%q is in the output", oneLine(line[0])))
	}
	last := func(re *regexp.Regexp, group int, text string) {
		all := re.FindAllStringSubmatch(text, -1)
		if n := len(all); n > 0 && isFailure(all[n-1][group]) {
			r.Failed = append(r.Failed, fmt.Sprintf("%q is in the output", oneLine(all[n-1][0])))
		}
	}
	last(passLine, 2, text)
	last(resultLine, 1, text)
	last(aloneLine, 1, text)
	return r
}
