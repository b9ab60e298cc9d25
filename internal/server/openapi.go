package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/runs"
)

// An operation describes a route.
type operation struct {
	summary string
	query   []queryParam
	body    any // of the type that it takes; nil if it takes none
	status  int // of success
	answer  any // of the type that it gives; nil if it gives none
	media   string
	also    []int // of what else it may answer, beside 400 and 404 for what is about a run
}

// A queryParam is a part of the address.
type queryParam struct{ name, kind, help string }

var (
	fromParam  = queryParam{"from", "integer", "how many to pass over"}
	limitParam = queryParam{"limit", "integer", "how many at most"}
	rangeParam = []queryParam{{"from", "integer", "number of the first step"}, {"to", "integer", "number of the first step behind; 0: no end"}}
)

// operations describe all routes.
var operations = map[string]operation{
	"GET /api/runs": {summary: "List runs: those first that wait for a person, then the newest; of a long task the first 1,000 characters", answer: RunList{}, query: []queryParam{
		{"state", "string", "only these states, separated by commas"}, {"q", "string", "words that are in the name, kind, task, model or owner"}, fromParam, limitParam,
	}, also: []int{400}},
	"POST /api/runs":         {summary: "Start a run", body: order{}, status: 201, answer: StartedRun{}, also: []int{400, 403, 413, 415, 503}},
	"POST /api/preview":      {summary: "The command line that does what an order asks for; nothing is started", body: order{}, answer: Preview{}, also: []int{400, 403, 413, 415}},
	"GET /api/kinds":         {summary: "The kinds of run that can be started, with their settings", answer: KindList{}},
	"GET /api/runs/{run}":    {summary: "A run as it stands; quick however long it is", answer: RunView{}},
	"DELETE /api/runs/{run}": {summary: "Remove a run that nobody writes", status: 204, also: []int{403, 409}},
	"GET /api/runs/{run}/strip": {summary: "How the steps were decided, in so many cells: counts, lowest margins, contested ones, discarded answers", answer: runs.Strip{},
		query: append([]queryParam{{"width", "integer", "how many cells, at most 10,000; 1,000 if it is not said"}}, rangeParam...)},
	"GET /api/runs/{run}/steps": {summary: "Committed steps", answer: StepList{}, query: append([]queryParam{
		{"contested", "boolean", "only those with more than one answer"}, {"order", "string", "step, or margin: those first that were won most closely"}, limitParam,
	}, rangeParam...)},
	"GET /api/runs/{run}/steps/{step}": {summary: "A step: rival answers, who voted for which, samples with their flags, what was asked, calls", answer: runs.StepDetail{}},
	"GET /api/runs/{run}/shape":        {summary: "How parts hang together: a plan's graph, the tree of solve, the list of an outline", answer: Shape{}},
	"GET /api/runs/{run}/records": {summary: "Rows of a run of maker map", answer: RecordList{}, query: []queryParam{
		{"status", "string", "only those that are decided, undecided, failed, flagged_out or open"}, {"q", "string", "words that are in the row"}, fromParam, limitParam,
	}, also: []int{409}},
	"GET /api/runs/{run}/effects":       {summary: "Calls that won a vote, and what came of them", answer: EffectList{}},
	"GET /api/runs/{run}/questions":     {summary: "What the run has asked people, with what a call would change", answer: QuestionList{}},
	"GET /api/runs/{run}/certificate":   {summary: "What the votes of the run prove, and what not; reads the whole log", answer: runs.Certificate{}},
	"GET /api/runs/{run}/result":        {summary: "What the run did", answer: runs.Result{}},
	"GET /api/runs/{run}/replay":        {summary: "The result derived from the log again, and what does not fit", answer: runs.Replay{}},
	"GET /api/runs/{run}/values/{hash}": {summary: "A large value, which stands elsewhere as {\"$sha256\": ...}", answer: json.RawMessage{}},
	"POST /api/runs/{run}/answers":      {summary: "Answer what the run asks, in at most 4 MB", body: givenAnswer{}, status: 204, also: []int{403, 409, 413, 415}},
	"POST /api/runs/{run}/pause":        {summary: "End the process of the run, to go on later; returns when it has ended", answer: runs.Summary{}, also: []int{403, 409, 503}},
	"POST /api/runs/{run}/cancel":       {summary: "End the run; returns when it has ended", answer: runs.Summary{}, also: []int{403, 409, 503}},
	"POST /api/runs/{run}/resume":       {summary: "Go on with the run here", body: resumption{}, answer: runs.Summary{}, also: []int{403, 409, 413, 415, 503}},
	"GET /api/runs/{run}/events": {summary: "Events of the run as they come: id is the sequence number, data the line of the log, and an event named end is the last. A request for an upgrade gets a WebSocket with one message an event. 204 if there is nothing to come", media: "text/event-stream", answer: "",
		query: []queryParam{{"from", "integer", "the first event that is wanted; the header Last-Event-ID names the one before"}}, also: []int{204}},
	"GET /api/events":       {summary: "A summary whenever one has changed, and an event named removed for a run that is gone", media: "text/event-stream", answer: ""},
	"GET /api/me":           {summary: "Who asks, and what they may", answer: MeHere{}},
	"GET /api/openapi.json": {summary: "This document", answer: map[string]any{}},
	"GET /metrics":          {summary: "Figures for Prometheus", media: "text/plain", answer: "", also: []int{403}},
	"GET /healthz":          {summary: "The server is there", answer: Health{}},
	"GET /readyz":           {summary: "The server can start runs", answer: Health{}, also: []int{503}},
}

// document is the OpenAPI document.
var document = sync.OnceValues(func() ([]byte, error) {
	paths := map[string]map[string]any{}
	for name, o := range operations {
		method, path, _ := strings.Cut(name, " ")
		described, err := o.describe(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if path == "/healthz" {
			described["security"] = []any{}
		}
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][strings.ToLower(method)] = described
	}
	return json.Marshal(map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]any{"title": "MAKER", "version": maker.Version, "description": "Runs of maker serve. Errors are problems as in RFC 9457, with the field that is to blame."},
		"paths":   paths,
		// Without a token or a session nothing but /healthz is answered.
		"security": []any{map[string]any{"token": []string{}}, map[string]any{"session": []string{}}},
		"components": map[string]any{
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}, "session": map[string]any{"type": "apiKey", "in": "cookie", "name": "maker-7433", "description": "The name ends with the port of the server, and begins with __Host- where it has TLS. GET /login sets it, by a link that works once."}},
		},
	})
})

func (s *Server) describe(w http.ResponseWriter, _ *http.Request) error {
	data, err := document()
	if err != nil {
		return err
	}
	return give(w, http.StatusOK, json.RawMessage(data))
}

func (o operation) describe(path string) (map[string]any, error) {
	out := map[string]any{"summary": o.summary}
	var params []any
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			params = append(params, map[string]any{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": map[string]any{"type": "string"}})
		}
	}
	for _, q := range o.query {
		params = append(params, map[string]any{"name": q.name, "in": "query", "description": q.help, "schema": map[string]any{"type": q.kind}})
	}
	if params != nil {
		out["parameters"] = params
	}
	if o.body != nil {
		schema, err := schemaOf(o.body)
		if err != nil {
			return nil, err
		}
		out["requestBody"] = map[string]any{"content": content("application/json", schema)}
	}
	status := o.status
	if status == 0 {
		status = http.StatusOK
	}
	good := map[string]any{"description": http.StatusText(status)}
	if o.answer != nil {
		schema, err := schemaOf(o.answer)
		if err != nil {
			return nil, err
		}
		media := o.media
		if media == "" {
			media = "application/json"
		}
		good["content"] = content(media, schema)
	}
	answers := map[string]any{strconv.Itoa(status): good}
	problem, err := schemaOf(Problem{})
	if err != nil {
		return nil, err
	}
	also := o.also
	if strings.Contains(path, "{run}") {
		also = append([]int{400, 404}, also...)
	}
	for _, code := range also {
		one := map[string]any{"description": http.StatusText(code)}
		if code >= http.StatusBadRequest {
			one["content"] = content("application/problem+json", problem)
		}
		answers[strconv.Itoa(code)] = one
	}
	out["responses"] = answers
	return out, nil
}

func content(media string, schema *jsonschema.Schema) map[string]any {
	return map[string]any{media: map[string]any{"schema": schema}}
}

// schemaOf is the schema of what a value of this type looks like as JSON.
func schemaOf(v any) (*jsonschema.Schema, error) {
	anything := func() *jsonschema.Schema { return &jsonschema.Schema{} }
	return jsonschema.ForType(reflect.TypeOf(v), &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[event.Value]():     {Description: "any value; a large one stands as {\"$sha256\": ..., \"bytes\": ...}, and can be got by its hash"},
		reflect.TypeFor[json.RawMessage](): anything(),
		reflect.TypeFor[map[string]int]():  {Types: []string{"null", "object"}, AdditionalProperties: &jsonschema.Schema{Type: "integer"}},
		reflect.TypeFor[config.Config]():   {Type: "object", Description: "what the run was begun with, by the names that its log has"},
	}})
}
