package sqltext

// A Cursor reads tokens one after another. It passes over comments, and over the marks of
// those that a server executes.
type Cursor struct {
	Tokens []Token
	At     int
}

// Peek returns the next token; of kind Space after the last one.
func (c *Cursor) Peek() Token {
	for c.At < len(c.Tokens) && (c.Tokens[c.At].Kind == Executed || c.Tokens[c.At].Kind == Comment) {
		c.At++
	}
	if c.At == len(c.Tokens) {
		return Token{Kind: Space}
	}
	return c.Tokens[c.At]
}

// Ended reports whether no token follows.
func (c *Cursor) Ended() bool { return c.Peek().Kind == Space }

// Take moves past a sequence of words and marks if all of them follow.
func (c *Cursor) Take(words ...string) bool {
	was := c.At
	for _, w := range words {
		if !c.Any(w) {
			c.At = was
			return false
		}
	}
	return true
}

// Any moves past one of these words or marks if it follows.
func (c *Cursor) Any(words ...string) bool {
	found := c.Peek().Spells(words...)
	if found {
		c.At++
	}
	return found
}

// Name moves past a name: a word, a quoted name, or "name" where that is a string of MySQL,
// which it is not in sql_mode ANSI_QUOTES.
func (c *Cursor) Name() (string, bool) {
	name, ok := c.Peek().named()
	if ok {
		c.At++
	}
	return name, ok
}

func (t Token) named() (string, bool) {
	if t.Kind == String && t.Text[0] == '"' {
		t.Kind = Quoted
	}
	return t.Name(), t.Kind == Word || t.Kind == Quoted && !t.Open && len(t.Text) > 2
}

// Brackets moves past a pair of parentheses and returns what is between them.
func (c *Cursor) Brackets() ([]Token, bool) {
	if !c.Peek().Spells("(") {
		return nil, false
	}
	for i, depth := c.At, 0; i < len(c.Tokens); i++ {
		switch {
		case c.Tokens[i].Spells("("):
			depth++
		case c.Tokens[i].Spells(")"):
			depth--
		}
		if depth == 0 {
			inside := c.Tokens[c.At+1 : i]
			c.At = i + 1
			return inside, true
		}
	}
	return nil, false
}
