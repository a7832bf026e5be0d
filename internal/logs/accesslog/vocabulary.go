package accesslog

import "bytes"

// A vocabulary has the names that are values at some position of the log. The same
// values often occur at several positions: "/users/alice", "/api/alice/posts".
type vocabulary map[string]bool

// maxVocabulary bounds the names that are kept.
const maxVocabulary = 20000

// add adds the names of a position that holds values. Common words of routes are left
// out: they may be values here and routes elsewhere.
func (v vocabulary) add(names []name) {
	for _, n := range names {
		if text := string(n.b.shape.text); !n.b.own && len(v) < maxVocabulary && !isRouteWord(text) {
			v[text] = true
		}
	}
}

// recurring scores names that are values at another position.
func (s *siblings) recurring(ref reference) evidence {
	n := 0
	for _, v := range s.names {
		if ref.known[string(v.b.shape.text)] {
			n++
		}
	}
	switch share := float64(n) / float64(len(s.names)); {
	case n >= minNames && share >= 0.6:
		return 2.5
	case n >= minNames && share >= 0.3:
		return 1
	}
	return 0
}

// minUniform is how many names of one form are no chance.
const minUniform = 6

// uniform scores names of one form, such as codes of currencies, airports and articles:
// capitals only, or as many letters and digits between the same signs.
func (s *siblings) uniform() evidence {
	forms := map[string]int{}
	most := 0
	for _, v := range s.names {
		if mask := maskOf(v.b.shape.text); mask&cDigit == 0 && mask&^cUpper != 0 {
			continue // words may have as many letters by chance
		}
		f := formOf(v.b.shape.text)
		forms[f]++
		most = max(most, forms[f])
	}
	if most >= minUniform && 10*most >= 9*len(s.names) {
		return 1.5
	}
	return 0
}

// formOf replaces each letter and digit by its class.
func formOf(text []byte) string {
	form := make([]byte, len(text))
	for i, c := range text {
		switch k := classOf[c]; {
		case k == cDigit:
			form[i] = '0'
		case k&cLower != 0:
			form[i] = 'a'
		case k&cUpper != 0:
			form[i] = 'A'
		default:
			form[i] = c
		}
	}
	return string(form)
}

// codes scores names that are codes of languages, months, or single letters.
func (s *siblings) codes() evidence {
	if s.areCodes() {
		return 6
	}
	return 0
}

// areCodes reports whether all names are of a kind of which few are enough to be values.
func (s *siblings) areCodes() bool {
	all := func(is func([]byte) bool) bool {
		for _, v := range s.names {
			if !is(v.b.shape.text) {
				return false
			}
		}
		return true
	}
	switch n := len(s.names); {
	case n >= 2 && all(isLanguage):
		return s.alike == n && len(s.bulk) > 1
	case n >= 3 && all(isMonth):
		return !s.differ()
	default:
		return n >= minUniform && all(func(text []byte) bool { return len(text) == 1 && classOf[text[0]]&cLetter != 0 })
	}
}

// months are the names of months in English, whole and short.
var months = wordSet(`january february march april may june july august september october november december
	jan feb mar apr jun jul aug sep sept oct nov dec`)

func isMonth(text []byte) bool { return len(text) <= 9 && months[string(bytes.ToLower(text))] }

// languages are the codes of ISO 639-1 that sites are written in.
var languages = wordSet(`ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id is it ja ka ko lt lv ms nb nl no pl pt ro ru sk sl sr sv sw ta
	th tr uk ur uz vi zh`)

// isLanguage reports whether a text is the code of a language, perhaps with a country or a
// script: pt, pt-BR, zh_hant.
func isLanguage(text []byte) bool {
	if len(text) < 2 || !languages[string(text[:2])] {
		return false
	}
	if len(text) == 2 {
		return true
	}
	return (len(text) == 5 || len(text) == 7) && classOf[text[2]]&cJoin != 0 && maskOf(text[3:])&^cLetter == 0
}
