// Package sdk has no code, only tests: the vendors' clients against the simulator.
package sdk

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/model/sim/simserver"
)

// script is an agent that looks at the weather. The input of the second call has
// what is easily broken on its way.
const script = `
- match: 'weather in (\w+) and (\w+)'
  after: 0
  answers:
    - text: 'Let me look at both.'
      tool_calls:
        - {name: weather, input: {city: '${1}', days: 2}}
        - {name: weather, input: {city: '${2}', note: "<&> ü€𝄞 \"\\ \n", deep: {list: ['${1}', 1.5, true, null]}}}
- match: 'weather in (\w+)'
  after: 0
  answers: [{tool_calls: [{name: weather, input: {city: '${1}'}}]}]
- match: weather
  match_result: '(\d+) degrees\n(\d+) degrees'
  answers: [{text: '${result.1} here and ${result.2} there.'}]
- match: weather
  match_result: '(\d+) degrees'
  answers: [{text: 'It has ${result.1} degrees.'}]
- match: secret
  answers: [{text: 'I will not say.', stop: refusal}]
- match: say nothing
  answers: [{text: ''}]
- match: unicode
  answers: [{text: "Zwölf Boxkämpfer, 十二, 🏆🏆🏆 and a lone ‘quote’.\n\n\ttabs\r\nand <b>tags</b> & \\ \" \0 too"}]
`

const (
	perfect = "sim/default?p=1"

	// Calls of the script, as JSON.
	paris  = `{"city":"Paris","days":2}`
	berlin = `{"city":"Berlin","deep":{"list":["Paris",1.5,true,null]},"note":"<&> ü€𝄞 \"\\ \n"}`
)

// serve starts a simulator whose own settings have the script. It returns its
// address.
func serve(t *testing.T, o simserver.Options) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if o.Default == (sim.Settings{}) {
		o.Default = sim.Default()
	}
	o.Default.Script = file
	s, err := simserver.Handler(o)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewUnstartedServer(s)
	ts.Config.BaseContext = func(net.Listener) context.Context { return t.Context() }
	ts.Start()
	t.Cleanup(ts.Close)
	return ts.URL
}

// faultThenAnswer finds a question whose first attempt gets a 429 and whose
// second one is answered, and the name of the model to ask.
func faultThenAnswer(t *testing.T) (name, prompt string) {
	t.Helper()
	settings := sim.Default()
	settings.P, settings.F429, settings.RetryAfter = 1, 0.5, time.Second
	for i := range 100 {
		m, err := sim.New(settings)
		if err != nil {
			t.Fatal(err)
		}
		prompt := fmt.Sprintf("Task %d\nCompute: 20 + 22", i)
		req := &model.Request{Messages: []model.Message{{Role: model.User, Text: prompt}}}
		if m.Draw(req).Fault == sim.F429 && m.Draw(req).Fault == sim.NoFault {
			return settings.String(), prompt
		}
	}
	t.Fatal("no question among 100 has a 429 first and then an answer")
	return "", ""
}

// check compares what a client read.
func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s = %#v, want %#v", what, got, want)
	}
}

// complete checks that an answer has every field that the client calls required,
// and none that it does not know, but for fields of our own.
func complete(t *testing.T, answer any, own ...string) {
	t.Helper()
	for _, problem := range problems(reflect.ValueOf(answer), reflect.TypeOf(answer).String(), own) {
		t.Error(problem)
	}
}

// A field is what the clients know about a field of an answer beside its value.
type field interface {
	Valid() bool
	Raw() string
}

func problems(v reflect.Value, path string, own []string) []string {
	var found []string
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return problems(v.Elem(), path, own)
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = append(found, problems(v.Index(i), fmt.Sprintf("%s[%d]", path, i), own)...)
		}
	case reflect.Struct:
		meta := v.FieldByName("JSON")
		if !meta.IsValid() || meta.Kind() != reflect.Struct {
			return nil
		}
		if variant := v.MethodByName("AsAny"); variant.IsValid() {
			// Of a union only one variant is there.
			return problems(variant.Call(nil)[0].Elem(), path, own)
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			known := meta.FieldByName(f.Name)
			if !f.IsExported() || !known.IsValid() {
				continue
			}
			is := known.Interface().(field)
			if strings.Contains(f.Tag.Get("api"), "required") && is.Raw() == "" {
				found = append(found, fmt.Sprintf("%s.%s is missing", path, f.Name))
			}
			if is.Valid() {
				found = append(found, problems(v.Field(i), path+"."+f.Name, own)...)
			}
		}
		if extra := meta.FieldByName("ExtraFields"); extra.IsValid() {
			for _, name := range extra.MapKeys() {
				if slices.Contains(own, name.String()) {
					continue
				}
				found = append(found, fmt.Sprintf("%s has a field %s that the client does not know", path, name))
			}
		}
	}
	return found
}
