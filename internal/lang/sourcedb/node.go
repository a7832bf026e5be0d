package sourcedb

// An op is the kind of a node.
type op int

const (
	opUnknown op = iota
	opText       // text: a string or number
	opBool       // text: "true" or "false"
	opNull
	opName   // text
	opField  // kids[0].text
	opIndex  // kids[0][kids[1]]
	opCall   // kids[0](kids[1:]...)
	opPair   // text or kids[1]: kids[0]; a named argument or an entry of a table
	opSpread // ...kids[0]
	opTable  // entries are opPair and opSpread; text is the type
	opList
	opJoin   // the texts of kids, one behind another
	opFormat // kids[0] % kids[1]
	opOr     // text is "||", "??" or "?:"
	opAnd
	opNot
	opEqual // text is "==" or "!="
	opCond  // kids[0] ? kids[1] : kids[2]
	opFunc  // text is the name; params, body; of a method, kids[0].text is its type
	// Statements.
	opAssign // kids[0] = kids[1]; text is "=", ":=" (declares) or "||="
	opIf     // kids[0], body, other
	opBlock  // body, with variables of its own
	opReturn // kids[0], or none
	opImport // text: the module; params: the names in it and here
	opStruct // text is the name of a type; kids are its fields: opPair with the tag in kids[0]
	opExport // kids[0] is what the module gives to others
)

// A node is an expression or a statement.
type node struct {
	op          op
	text        string
	kids        []*node
	params      []param
	body, other []*node
	line        int
}

// A param is a parameter of a function, or an imported name.
type param struct {
	name     string
	original string // of an import: its name in the module
	value    *node  // default
	rest     bool
}

func text(s string, line int) *node { return &node{op: opText, text: s, line: line} }

func name(s string, line int) *node { return &node{op: opName, text: s, line: line} }

// path is the dotted form of a name and its fields, such as os.environ.get; "" for
// another expression.
func (n *node) path() string {
	switch {
	case n.op == opName:
		return n.text
	case n.op == opField:
		if p := n.kids[0].path(); p != "" {
			return p + "." + n.text
		}
	}
	return ""
}

// last is the last name of a callee.
func (n *node) last() string {
	if n.op == opName || n.op == opField {
		return n.text
	}
	return ""
}
