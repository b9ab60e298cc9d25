package route

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/maker-mdap/maker/internal/runtime/secret"
)

// Ping asks a provider for its list of models, which costs nothing and shows
// whether its address answers and its key is taken.
func (p Provider) Ping(ctx context.Context, opts Options) error {
	base, err := p.Base(opts)
	if err != nil {
		return err
	}
	key, err := p.Key(opts.Env)
	if err != nil {
		return err
	}
	base = strings.TrimSuffix(base, "/")
	if p.Name == "anthropic" {
		base = strings.TrimSuffix(base, "/v1") + "/v1"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return err
	}
	switch {
	case p.Name == "anthropic":
		req.Header.Set("x-api-key", key)
		req.Header.Set("anthropic-version", anthropicVersion)
	case key != "":
		req.Header.Set("Authorization", "Bearer "+key)
	}
	client := &http.Client{
		Transport:     opts.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		text := secret.NewSet(key).Redact(strings.Join(strings.Fields(string(body)), " "))
		if len(text) > 200 {
			text = text[:200] + "…"
		}
		if from := p.keyFrom(opts.Env); resp.StatusCode == http.StatusUnauthorized && from != "" {
			text += "; the key is that of " + from
		}
		return fmt.Errorf("HTTP %d: %s", resp.StatusCode, text)
	}
	return nil
}

// anthropicVersion is the version of the protocol that Ping speaks.
const anthropicVersion = "2023-06-01"
