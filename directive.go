package iikanji

// TopicNginx is the topic of a Fact whose Value is the effective configuration
// of an nginx as JSON: a list of Directives with includes put in. Key is the
// path of the main file.
const TopicNginx = "nginx"

// TopicNginxFile is the topic of a Fact whose Value is the text of one file of
// that configuration, byte for byte; Key is its path. With the places of the
// Directives, the files can be edited and all else stay as it is.
const TopicNginxFile = "nginx_file"

// TopicNginxVersion is the topic of a Fact whose Value is what a program says
// that it is, as in "nginx/1.22.1".
const TopicNginxVersion = "nginx_version"

// A Directive is one directive of a configuration with blocks, as nginx has it.
type Directive struct {
	Name  string      `json:"name"`           // "" in quotes is a name, too: of a map's entry
	Args  []string    `json:"args,omitempty"` // without their quotes
	Block []Directive `json:"block,omitempty"`
	File  string      `json:"file,omitempty"`
	Line  int         `json:"line,omitempty"` // from 1
	// Start and End are the bytes of the directive in its file, its semicolon
	// or braces included: what an editor replaces leaves all else as it was.
	Start int `json:"start"`
	End   int `json:"end"`
}

// All returns the directives of a block with a name, in order.
func (d Directive) All(name string) []Directive {
	var out []Directive
	for _, c := range d.Block {
		if c.Name == name {
			out = append(out, c)
		}
	}
	return out
}

// Arg is the i-th argument, or "".
func (d Directive) Arg(i int) string {
	if i < len(d.Args) {
		return d.Args[i]
	}
	return ""
}
