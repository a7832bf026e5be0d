package accesslog

import (
	"bytes"
	"strings"
)

// A segment may have two parts, which the tree holds like two segments with a glue
// between them:
//
//   - a namespace and a name: Talk:Tundra;
//   - a member and a verb: 42:publish;
//   - a collection and a key: Orders(1), Customers('ALFKI').
//
// So the learner decides for each namespace and each member which names are values.

// parts divides a segment. glue is literal if the segment is whole.
func parts(seg []byte) (first []byte, glue kind, second []byte) {
	if i := bytes.IndexByte(seg, ';'); i >= 0 { // matrix parameters
		seg = seg[:i]
	}
	if i := bytes.IndexByte(seg, '('); i > 0 && seg[len(seg)-1] == ')' && len(seg) > i+2 {
		// A title such as Lagoon_(film) has a join before the parenthesis.
		if first, second = seg[:i], seg[i+1:len(seg)-1]; isIdentifier(first) && classOf[seg[i-1]]&cJoin == 0 && !bytes.ContainsAny(second, "()") {
			return first, paren, second
		}
		return nil, literal, nil
	}
	i := bytes.IndexByte(seg, ':')
	if i <= 0 || i == len(seg)-1 {
		return nil, literal, nil
	}
	first, second = seg[:i], seg[i+1:]
	namespace := isIdentifier(first) && classOf[second[0]]&(cLetter|cDigit) != 0
	verb := len(second) >= 2 && maskOf(second)&^cLetter == 0
	if namespace || verb {
		return first, colon, second
	}
	return nil, literal, nil
}

// isIdentifier reports whether a text begins with a letter and has only letters, digits and
// joins.
func isIdentifier(text []byte) bool {
	return classOf[text[0]]&cLetter != 0 && maskOf(text)&^(cLetter|cDigit|cJoin|cDot) == 0
}

// writePart writes a glue, or the part behind it with what ends it.
func writePart(b *strings.Builder, segs []shape, i int) {
	switch s := segs[i]; {
	case s.kind == colon:
		b.WriteByte(':')
	case s.kind == paren:
		b.WriteByte('(')
	default:
		b.WriteString(kindNames[s.kind])
		b.Write(s.text)
		if segs[i-1].kind == paren {
			b.WriteByte(')')
		}
	}
}

// parseParts reads a segment of a template, which may have two parts.
func parseParts(seg string) []segment {
	if whole := parseShape(seg); whole.kind != literal {
		return []segment{{shape: whole}}
	}
	if first, glue, second := templateParts(seg); glue != literal {
		return []segment{{shape: parseShape(first)}, {shape: shape{kind: glue}}, {shape: parseShape(second)}}
	}
	return []segment{{shape: shape{literal, []byte(seg)}}}
}

// templateParts divides a segment of a template: each part may be a placeholder,
// which begins with a colon itself.
func templateParts(seg string) (first string, glue kind, second string) {
	head := 0 // of a placeholder
	for _, name := range kindNames {
		if strings.HasPrefix(seg, name) {
			head = max(head, len(name))
		}
	}
	i := head + max(strings.IndexAny(seg[head:], ":("), 0)
	if i > 0 && i+1 < len(seg) {
		switch first, second = seg[:i], seg[i+1:]; {
		case seg[i] == '(' && strings.HasSuffix(second, ")") && (head > 0 || parseShape(second[:len(second)-1]).kind != literal):
			return first, paren, second[:len(second)-1]
		case seg[i] == ':' && (head > 0 || parseShape(second).kind != literal):
			return first, colon, second
		}
	}
	f, glue, s := parts([]byte(seg))
	return string(f), glue, string(s)
}
