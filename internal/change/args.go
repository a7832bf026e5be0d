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
//
// A field is a string, an int, a pointer to one of them (nil if the argument is
// not given), or of a type whose pointer implements encoding.TextUnmarshaler.
// If the struct has a method Validate() error, it is called last. Fields
// without the tag are left alone.

// ArgsOf lists the arguments that a struct, or a pointer to one, declares.
func ArgsOf(of any) []Arg {
	t := reflect.TypeOf(of)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var args []Arg
	for i := range t.NumField() {
		if a, ok := argOf(t.Field(i)); ok {
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
	return Arg{Name: name, Help: f.Tag.Get("help"), Required: option == "required", Default: f.Tag.Get("default")}, true
}

// Decode fills the struct that into points to with the arguments of a remedy
// and validates them. An empty argument is one that is not given. The argument
// "act" is not decoded; any other that the struct does not declare is an error.
func Decode(args map[string]string, into any) error {
	if err := CheckNames(args, ArgsOf(into)); err != nil {
		return err
	}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		a, ok := argOf(f)
		if !ok {
			continue
		}
		text := cmp.Or(args[a.Name], a.Default)
		if text == "" {
			continue
		}
		if err := decodeField(v.Field(i), f.Tag, text); err != nil {
			return fmt.Errorf("%s %.200q: %w", a.Name, text, err)
		}
	}
	if valid, ok := into.(interface{ Validate() error }); ok {
		return valid.Validate()
	}
	return nil
}

// CheckNames refuses arguments that are not declared, and required ones that
// are missing.
func CheckNames(args map[string]string, declared []Arg) error {
	var names []string
	for _, a := range declared {
		names = append(names, a.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if name != "act" && !slices.Contains(names, name) {
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
