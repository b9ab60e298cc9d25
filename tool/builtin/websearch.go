package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/tool"
)

type searchInput struct {
	Query string `json:"query" jsonschema:"What to search for."`
}

// Check refuses an empty search.
func (in searchInput) Check() error {
	if strings.TrimSpace(in.Query) == "" {
		return errors.New("query: it is empty")
	}
	return nil
}

const (
	searchTime    = 20 * time.Second
	searchBytes   = 2 << 20
	searchResults = 10
)

// A backend searches the web.
type backend struct {
	template string
	client   *http.Client
}

// newSearcher returns the back end, and why it cannot be used if it cannot. The
// user chose the address, so it may be on this machine, but it cannot send us
// elsewhere.
func newSearcher(template string) (backend, string) {
	b := backend{template, &http.Client{
		Timeout:       searchTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if template == "" {
		return b, "no search back end is configured"
	}
	u, err := url.Parse(strings.ReplaceAll(template, "{query}", "x"))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return b, "the address of the search back end is not a URL"
	case !strings.Contains(template, "{query}"):
		return b, "the address of the search back end has no {query}"
	}
	return b, ""
}

func (b backend) search(ctx context.Context, in searchInput) (tool.Result, error) {
	address := strings.ReplaceAll(b.template, "{query}", url.QueryEscape(in.Query))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return tool.Failed("the search back end: %v", err), nil
	}
	req.Header.Set("Accept", "application/json")
	resp, err := b.client.Do(req)
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	if err != nil {
		// The address may hold a key.
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return tool.Failed("the search back end does not answer: %v", err), nil
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return tool.Failed("the search back end answered %s", resp.Status), nil
	}
	var found struct {
		Results []struct{ Title, URL, Content string }
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, searchBytes)).Decode(&found); err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		return tool.Failed("the search back end did not answer with JSON results: %v", err), nil
	}
	var out strings.Builder
	for i, r := range found.Results {
		if i == searchResults {
			fmt.Fprintf(&out, "[cut: the first %d of %d results are shown]\n", i, len(found.Results))
			break
		}
		fmt.Fprintf(&out, "%d. [%s](%s)\n", i+1, clip.Output(oneLine(r.Title), 300), clip.Output(oneLine(r.URL), 2000))
		if content := oneLine(r.Content); content != "" {
			fmt.Fprintf(&out, "   %s\n", clip.Output(content, 1000))
		}
	}
	if out.Len() == 0 {
		return tool.Result{Text: "[no results]"}, nil
	}
	return tool.Result{Text: out.String()}, nil
}

// oneLine keeps a text from looking like more than one result.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
