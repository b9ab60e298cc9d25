// Package httpclient is the part of a provider's client that all providers have
// in common: one JSON request, one bounded answer, and errors sorted by kind.
//
// It sends each request once. What to do about an error is for others to decide.
package httpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/maker-mdap/maker/internal/runtime/secret"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/model"
)

// DefaultMaxBytes bounds an answer unless the client says otherwise, however long it
// may be by what was asked for.
const DefaultMaxBytes = 32 << 20

// An answer has room for what was asked for, whatever the server says that it used:
// each token, in whatever way it is escaped, and what the protocol puts around it.
const (
	bytesAround   = 64 << 10
	bytesPerToken = 16
	defaultTokens = 1 << 17 // of an answer without a limit

	maxErrorBytes  = 64 << 10
	maxHeaderBytes = 64 << 10
)

// MaxToolCalls is how many calls of tools one answer can ask for: more than any model
// does, and few enough that a result for each is no burden.
const MaxToolCalls = 128

// Room is how many bytes the answers to a request take at most, if they have so many
// tokens together; 0 means that there is no limit on these.
func Room(tokens int) int64 {
	if tokens <= 0 {
		tokens = defaultTokens
	}
	return bytesAround + bytesPerToken*min(int64(tokens), math.MaxInt64/2/bytesPerToken)
}

// NewTransport returns a transport for many concurrent calls to few hosts. The
// standard one keeps two idle connections a host, and so opens a new one for
// nearly every call of a busy run.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxConnsPerHost:       connectionsFor(Descriptors()),
		MaxIdleConns:          manyConnections,
		MaxIdleConnsPerHost:   1024,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,

		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// A Client posts JSON to one address. It is safe for concurrent use.
type Client struct {
	Header  http.Header // that it sends with each request; not to be changed once it is in use
	Address string      // of the endpoint
	Place   string      // the address as errors show it

	model    string
	provider string
	secret   string
	from     string
	forms    *secret.Set // of the secret, if it is long enough to be told from other words
	maxBytes int64
	http     *http.Client
}

// Options configure a client.
type Options struct {
	Provider string // named in errors
	Model    string // that is asked

	BaseURL string                   // of the server; the path of its endpoint comes behind it
	Path    func(base string) string // that path, by that of the base
	Example string                   // what a base URL looks like

	// Secret never appears in an error, even if a server repeats it.
	Secret string

	// SecretFrom says where the secret is set, for errors about it.
	SecretFrom string

	Transport http.RoundTripper // nil means one of its own
	MaxBytes  int64             // 0 means DefaultMaxBytes
}

// New makes a client. It does not connect.
func New(o Options) (*Client, error) {
	if o.Model == "" {
		return nil, fmt.Errorf("%s: the model has no name", o.Provider)
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s: the base URL must look like %s", o.Provider, o.Example)
	}
	u = u.JoinPath(o.Path(u.Path))
	if strings.ContainsFunc(o.Secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New(o.Provider + ": the API key has a character that cannot be part of one, such as a line break")
	}
	c := &Client{
		Header: http.Header{}, Place: u.Host + "/" + strings.TrimPrefix(u.Path, "/"), Address: u.String(), model: o.Model,
		provider: o.Provider, secret: o.Secret, from: o.SecretFrom, forms: secret.NewSet(o.Secret), maxBytes: o.MaxBytes,
	}
	if c.maxBytes <= 0 {
		c.maxBytes = DefaultMaxBytes
	}
	transport := o.Transport
	if transport == nil {
		transport = NewTransport()
	}
	c.http = &http.Client{
		Transport: transport,
		// Following a redirect would turn POST into GET or send the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// String names the model and its place, and no secret.
func (c *Client) String() string { return c.provider + "/" + c.model + " at " + c.Place }

// GoString keeps the key out of %#v.
func (c *Client) GoString() string { return "Client(" + c.String() + ")" }

// CloseIdle closes the connections that are not in use.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// A Reply is what came back, whatever its status.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte

	// TooLong says that the server wrote more than it was asked for. Nothing of that is
	// worth reading, and the body is only its beginning: see [TooLongAnswer].
	TooLong bool
}

// TooLongAnswer stands for one that is too long. It has no text: a part of one is not
// what the model said.
func TooLongAnswer() *model.Response { return &model.Response{Stop: model.StopLength} }

// Post sends a request as JSON and reads the answer to its end, so that the connection
// can be used again. Of an answer of more than most bytes (see [Room]) only the beginning
// is read; if that does not look like an answer it is an error. Its
// errors are of type [*model.Error]; an answer with an error status is not one of them.
func (c *Client) Post(ctx context.Context, request any, most int64) (*Reply, error) {
	most = min(most, c.maxBytes)
	begin := time.Now()
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // prompts are full of < and >
	if err := encoder.Encode(request); err != nil {
		return nil, c.Error(model.Invalid, 0, "the request cannot be written as JSON: "+err.Error())
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Address, &body)
	if err != nil {
		return nil, c.Error(model.Invalid, 0, "the address is not valid")
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.broken(ctx, begin, 0, err)
	}
	defer resp.Body.Close()
	a := &Reply{Status: resp.StatusCode, Header: resp.Header}
	if a.Status >= 300 {
		most = min(most, maxErrorBytes)
	}
	a.Body, err = io.ReadAll(io.LimitReader(resp.Body, most+1))
	if ctx.Err() != nil && err != nil {
		return nil, c.broken(ctx, begin, a.Status, err)
	}
	if a.Status >= 300 {
		// The status says enough, even if its explanation is cut short.
		a.Body = a.Body[:min(int64(len(a.Body)), most)]
		return a, nil
	}
	if err != nil {
		return nil, c.broken(ctx, begin, a.Status, err)
	}
	if a.TooLong = int64(len(a.Body)) > most; a.TooLong && !answers(a.Body) {
		return nil, c.Error(model.Transient, a.Status, fmt.Sprintf("the answer is larger than %d bytes, which is room enough for the tokens that were asked for (max_output)", most))
	}
	return a, nil
}

// answers reports whether a body begins like an answer of a model. Both protocols have its
// words behind that name.
func answers(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) && bytes.Contains(body, []byte(`"content"`))
}

// CheckCalls returns an error if an answer asks for more calls of tools than any
// model does.
func (c *Client) CheckCalls(n int) error {
	if n <= MaxToolCalls {
		return nil
	}
	return c.Error(model.Transient, http.StatusOK, fmt.Sprintf("the answer asks for %d calls of tools; %d are the most", n, MaxToolCalls))
}

// broken explains why there is no answer.
func (c *Client) broken(ctx context.Context, begin time.Time, status int, err error) *model.Error {
	switch ctx.Err() {
	case nil:
	case context.DeadlineExceeded:
		e := c.Error(model.Transient, status, "no answer within "+time.Since(begin).Round(time.Millisecond).String())
		e.Err = context.DeadlineExceeded
		return e
	default:
		e := c.Error(model.Cancelled, status, context.Cause(ctx).Error())
		e.Err = context.Canceled
		return e
	}
	// The wrapper would add the address, which may hold secrets of its own.
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	e := c.Error(model.Transient, status, "the connection broke: "+err.Error())
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		e.NotSent = true
	}
	if c.Redact(err.Error()) == err.Error() { // else the cause is not safe to show
		e.Err = err
	}
	return e
}

// CheckUsage returns an error if what the provider says about its answers cannot be
// true. It has the status of an answer that came: it may be billed.
func (c *Client) CheckUsage(req *model.Request, n int, answers ...*model.Response) error {
	bad := model.CheckUsage(req, n, answers...)
	if bad == nil {
		return nil
	}
	return c.Error(bad.Kind, http.StatusOK, bad.Message)
}

// maxMessage bounds the text of an error: a server may explain itself at length,
// and errors end in logs.
const maxMessage = 500

// Error makes an error without the secret in its text.
func (c *Client) Error(kind model.Kind, status int, message string) *model.Error {
	message = clip.Text(c.Redact(message), maxMessage)
	if next := c.next(kind, status); next != "" {
		message += "; " + next
	}
	return &model.Error{
		Kind: kind, Provider: c.provider, Status: status, Message: message,
		TimedOut: status == http.StatusGatewayTimeout,
	}
}

// next is what to do about an error that asking again does not mend; empty if only the
// server's own words help.
func (c *Client) next(kind model.Kind, status int) string {
	switch {
	case kind == model.Auth && c.from != "" && c.secret == "":
		return c.from + " is not set: set it to your key"
	case kind == model.Auth && c.from != "" && status == http.StatusForbidden:
		return "the key is that of " + c.from + ": see with its provider what it may do"
	case kind == model.Auth && c.from != "":
		return "the key is that of " + c.from + ": set it to one that is valid there; `maker doctor --online` tries it"
	case status == http.StatusPaymentRequired && c.from != "":
		return "the account is that of " + c.from + ": see with its provider that it has means"
	case status == http.StatusNotFound:
		return "see that --model and the address are right; `maker doctor --online` asks the server for its models"
	}
	return ""
}

// Redact replaces the secret in a text.
func (c *Client) Redact(text string) string {
	if c.secret == "" {
		return text
	}
	return c.forms.Redact(strings.ReplaceAll(text, c.secret, "[key]"))
}

// widest is how many bytes one of a secret takes at most in the forms in which it is
// found.
const widest = len(`\u0000`)

// Excerpt shows the beginning of a body in one line, for errors about bodies that
// are not what they should be. The secret goes first: half of one, at the end of
// an excerpt, would not be found any more.
func (c *Client) Excerpt(body []byte) string {
	const most = 200
	text := c.Redact(string(body[:min(len(body), 4*most+widest*len(c.secret))]))
	text = strings.ToValidUTF8(text[:min(len(text), 4*most)], "?")
	return clip.Text(strings.Join(strings.Fields(text), " "), most)
}

// Warning is what to tell a user about a part of requests that the server does not take,
// with what it said about it, if it did.
func (c *Client) Warning(text, why string) string {
	if why = c.Excerpt([]byte(why)); why != "" {
		text += ", because the server said: " + why
	}
	return c.Redact(c.provider + ": " + c.model + ": " + text)
}

// KindOf sorts the statuses on which providers agree.
func KindOf(status int) model.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return model.Auth
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return model.Transient
	case http.StatusRequestEntityTooLarge:
		return model.TooLong
	case http.StatusTooManyRequests:
		return model.RateLimited
	case http.StatusServiceUnavailable, 529: // 529 is Anthropic's word for it
		return model.Overloaded
	}
	if status >= 500 {
		return model.Transient
	}
	return model.Invalid
}

// RetryAfter returns how long a server asks to wait: by retry-after-ms, or by
// Retry-After in seconds or as a date. It asks for nothing if it says nothing that
// makes sense, or names a time that is over: its clock may be wrong.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, asked bool) {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil {
		return duration(ms, time.Millisecond)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return duration(s, time.Second)
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return at.Sub(now), true
	}
	return 0, false
}

func duration(n float64, unit time.Duration) (time.Duration, bool) {
	d := n * float64(unit)
	if d > math.MaxInt64/2 {
		return math.MaxInt64 / 2, true
	}
	if !(d >= 0) { // also if it is not a number
		return 0, false
	}
	return time.Duration(d), true
}
