package builtin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"

	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/tool"
)

type fetchInput struct {
	URL    string `json:"url" jsonschema:"The address of the page, with http or https."`
	Prompt string `json:"prompt,omitempty" jsonschema:"What you want to know. It changes nothing: the whole page is returned."`
}

// Check refuses addresses that are no web pages.
func (in fetchInput) Check() error {
	u, err := url.Parse(in.URL)
	if err == nil {
		err = checkURL(u)
	}
	if err != nil {
		return fmt.Errorf("url: %w", err)
	}
	return nil
}

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%q: only http and https can be fetched", u.Redacted())
	case u.Hostname() == "":
		return fmt.Errorf("%q names no host", u.Redacted())
	case u.User != nil:
		return fmt.Errorf("%q: a name or password is not sent", u.Redacted())
	}
	return nil
}

const (
	fetchTime      = 30 * time.Second
	fetchBytes     = 5 << 20
	fetchTextBytes = 100_000
	fetchRedirects = 5
)

type fetcher struct{ client *http.Client }

func newFetcher(o Options) fetcher {
	g := guard{allowPrivate: o.AllowPrivate, resolve: o.Resolve}
	if g.resolve == nil {
		g.resolve = resolveBySystem
	}
	return g.fetcher()
}

func (g guard) fetcher() fetcher {
	return fetcher{&http.Client{
		Timeout: fetchTime,
		Transport: &http.Transport{
			// No proxy: it would connect for us, to wherever it likes.
			DialContext:            g.dial,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 1 << 20,
			ForceAttemptHTTP2:      true,
			DisableKeepAlives:      true, // nothing outlives a call
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > fetchRedirects {
				return fmt.Errorf("more than %d redirects", fetchRedirects)
			}
			return checkURL(req.URL)
		},
	}}
}

func (f fetcher) fetch(ctx context.Context, in fetchInput) (tool.Result, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, in.URL, nil)
	if err != nil {
		return tool.Failed("%v", err), nil
	}
	req.Header.Set("User-Agent", "maker (+https://github.com/maker-mdap/maker)")
	req.Header.Set("Accept", "text/markdown, text/html, text/plain, application/json;q=0.9, */*;q=0.1")
	resp, err := f.client.Do(req)
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	if err != nil {
		return tool.Failed("%v", err), nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, fetchBytes+1))
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	if err != nil {
		return tool.Failed("%s broke off: %v", in.URL, err), nil
	}
	text, err := pageText(resp, body[:min(len(body), fetchBytes)])
	if err != nil {
		return tool.Failed("%s: %v", in.URL, err), nil
	}
	text = clip.Output(text, fetchTextBytes)
	if len(body) > fetchBytes {
		text = endLine(text) + fmt.Sprintf("[cut: only the first %d bytes of the page were read]", fetchBytes)
	}
	if final := resp.Request.URL.String(); final != in.URL {
		text = fmt.Sprintf("[redirected to %s]\n%s", final, text)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return tool.Failed("%s answered %s\n%s", in.URL, resp.Status, clip.Output(text, 2000)), nil
	}
	if strings.TrimSpace(text) == "" {
		text = "[the page is empty]"
	}
	return tool.Result{Text: text}, nil
}

// pageText makes Markdown of a page, and leaves other text as it is.
func pageText(resp *http.Response, body []byte) (string, error) {
	kind, _, err := mime.ParseMediaType(cmp.Or(resp.Header.Get("Content-Type"), http.DetectContentType(body)))
	if err != nil {
		kind = "application/octet-stream"
	}
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		return toMarkdown(body, resp.Request.URL)
	case bytes.IndexByte(body, 0) >= 0:
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "json"), strings.HasSuffix(kind, "xml"),
		strings.HasSuffix(kind, "yaml"), kind == "application/javascript":
		return valid(body), nil
	}
	return "", fmt.Errorf("it is %s, not text", kind)
}

// toMarkdown converts a page. A page can be made to break the converter.
func toMarkdown(page []byte, base *url.URL) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the page cannot be converted")
		}
	}()
	markdown, err := htmltomarkdown.ConvertReader(bytes.NewReader(page), converter.WithDomain(base.Scheme+"://"+base.Host))
	return valid(markdown), err
}
