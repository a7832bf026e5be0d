package accesslog

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
