package change

import (
	"cmp"
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The arguments of an act are the fields of a struct with these tags:
//
//	arg:"name"           the argument; arg:"name,required" if it must be given
//	help:"one line"
//	default:"value"      of an argument that is not given
//	range:"from,to"      bounds of an int
//	oneof:"word,word"    the words that a string may be
//	arg:"env.NAME,many"  any number of arguments that begin with "env."
//
// A field is a string, an int, a pointer to one of them (nil if the argument is
// not given), or of a type whose pointer implements encoding.TextUnmarshaler.
// A field with "many" is a map[string]string; its keys are the names without
// what stands ahead of NAME, and arguments that another field declares are not
// among them. If the struct has a method Validate() error, it is called last.
// Fields of embedded structs count; fields without the tag are left alone.

// ArgsOf lists the arguments that a struct, or a pointer to one, declares.
func ArgsOf(of any) []Arg {
	t := reflect.TypeOf(of)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var args []Arg
	for _, f := range reflect.VisibleFields(t) {
		if a, ok := argOf(f); ok {
			args = append(args, a)
		}
	}
	return args
}

func argOf(f reflect.StructField) (Arg, bool) {
	tag, ok := f.Tag.Lookup("arg")
	if !ok {
		return Arg{}, false
	}
	name, option, _ := strings.Cut(tag, ",")
	return Arg{Name: name, Help: f.Tag.Get("help"), Required: option == "required", Many: option == "many", Default: f.Tag.Get("default")}, true
}

// prefix begins the names of the arguments of an Arg that stands for many.
func (a Arg) prefix() string { return strings.TrimSuffix(a.Name, "NAME") }

// declares reports whether an argument of this name is declared.
func declares(declared []Arg, name string) bool {
	return slices.ContainsFunc(declared, func(a Arg) bool {
		return a.Name == name && !a.Many || a.Many && strings.HasPrefix(name, a.prefix())
	})
}

// Decode fills the struct that into points to with the arguments of a remedy
// and validates them. An empty argument is one that is not given. The argument
// "act" is not decoded; any other that the struct does not declare is an error.
func Decode(args map[string]string, into any) error {
	declared := ArgsOf(into)
	if err := CheckNames(args, declared); err != nil {
		return err
	}
	v := reflect.ValueOf(into).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		a, ok := argOf(f)
		if !ok {
			continue
		}
		if a.Many {
			v.FieldByIndex(f.Index).Set(reflect.ValueOf(manyOf(args, a, declared)))
			continue
		}
		text := cmp.Or(args[a.Name], a.Default)
		if text == "" {
			continue
		}
		if err := decodeField(v.FieldByIndex(f.Index), f.Tag, text); err != nil {
			return fmt.Errorf("%s %.200q: %w", a.Name, text, err)
		}
	}
	if valid, ok := into.(interface{ Validate() error }); ok {
		return valid.Validate()
	}
	return nil
}

// manyOf are the arguments that an Arg that stands for many takes.
func manyOf(args map[string]string, a Arg, declared []Arg) map[string]string {
	many := map[string]string{}
	single := slices.DeleteFunc(slices.Clone(declared), func(a Arg) bool { return a.Many })
	for name, value := range args {
		if rest, ok := strings.CutPrefix(name, a.prefix()); ok && name != "act" && !declares(single, name) {
			many[rest] = value
		}
	}
	return many
}

// CheckNames refuses arguments that are not declared, and required ones that
// are missing.
func CheckNames(args map[string]string, declared []Arg) error {
	var names []string
	for _, a := range declared {
		names = append(names, a.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if name != "act" && !declares(declared, name) {
			return unknownArg(name, names)
		}
	}
	for _, a := range declared {
		if a.Required && args[a.Name] == "" {
			return fmt.Errorf("argument %s is missing: %s", a.Name, a.Help)
		}
	}
	return nil
}

func unknownArg(name string, known []string) error {
	if near := Nearest(name, known); near != "" {
		return fmt.Errorf("unknown argument %.100q: did you mean %q?", name, near)
	}
	return fmt.Errorf("unknown argument %.100q: there are %s", name, strings.Join(known, ", "))
}

func decodeField(v reflect.Value, tag reflect.StructTag, text string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeField(v.Elem(), tag, text)
	case reflect.String:
		if words := tag.Get("oneof"); words != "" && !slices.Contains(strings.Split(words, ","), text) {
			return fmt.Errorf("want %s", strings.ReplaceAll(words, ",", " or "))
		}
		v.SetString(text)
		return nil
	case reflect.Int:
		n, err := strconv.Atoi(text)
		from, to, bounded := strings.Cut(tag.Get("range"), ",")
		if err != nil || bounded && (n < mustInt(from) || n > mustInt(to)) {
			return fmt.Errorf("want a whole number%s", map[bool]string{true: " from " + from + " to " + to}[bounded])
		}
		v.SetInt(int64(n))
		return nil
	}
	panic(fmt.Sprintf("BUG: an argument cannot be a %s", v.Type()))
}

// mustInt reads a bound of a range tag.
func mustInt(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("BUG: range tag: " + err.Error())
	}
	return n
}

// Nearest is the known name with the fewest edits from name; "" if none is near
// enough to be meant.
func Nearest(name string, known []string) string {
	best, least := "", len(name)/3+2
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two strings, in bytes.
func distance(a, b string) int {
	if len(a) > 100 {
		a = a[:100]
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
