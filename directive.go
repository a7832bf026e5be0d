package iikanji

// TopicNginx is the topic of a Fact whose Value is the effective configuration
// of an nginx as JSON: a list of Directives, with each include replaced by the
// content of its files. Key is the path of the main file.
const TopicNginx = "nginx"

// TopicNginxFile is the topic of a Fact whose Value is the text of one file of
// that configuration, byte for byte; Key is its path. With the positions of
// the Directives, an editor can change the files and leave all other bytes as
// they are.
const TopicNginxFile = "nginx_file"

// TopicNginxVersion is the topic of a Fact whose Value is the name and version
// that a program prints, as in "nginx/1.22.1".
const TopicNginxVersion = "nginx_version"

// A Directive is one directive of an nginx configuration, with its block.
type Directive struct {
	Name  string      `json:"name"`           // may be "": the quoted empty key of an entry of a map
	Args  []string    `json:"args,omitempty"` // without their quotes
	Block []Directive `json:"block,omitempty"`
	File  string      `json:"file,omitempty"`
	Line  int         `json:"line,omitempty"` // from 1
	// Start and End are the byte offsets of the directive in its file, its
	// semicolon or braces included. An editor replaces only these bytes.
	Start int `json:"start"`
	End   int `json:"end"`
}

// All returns the directives with a name in the block, in order.
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
