package sim

import "github.com/maker-mdap/maker/model"

// minCached is how many tokens a prefix needs to be cached: the least that both
// providers ask for with most of their models.
const minCached = 1024

// cacheable returns what a request wants cached, tools, system prompt and the shared
// beginning of the first message: a key for it and its tokens. There are none if it is too short, or if nobody asked.
func (m *Model) cacheable(req *model.Request) (key uint64, tokens int) {
	if m.prefixes == nil || !req.CachePrefix {
		return 0, 0
	}
	size := len(req.System)
	key = hash(req.System)
	for i := range req.Tools {
		t := &req.Tools[i]
		size += len(t.Name) + len(t.Description) + len(t.Schema)
		for _, text := range [...]string{t.Name, t.Description, string(t.Schema)} {
			key = mix(key + golden ^ hash(text))
		}
	}
	if len(req.Messages) > 0 {
		if shared := req.Messages[0].Shared; shared > 0 && shared <= len(req.Messages[0].Text) {
			size += shared
			key = mix(key + golden ^ hash(req.Messages[0].Text[:shared]))
		}
	}
	if tokens = estimate(size); tokens < minCached {
		return 0, 0
	}
	return key, tokens
}

// remember puts the prefix of an answered request into the cache. That is done
// when the answer is out and not before: as with the providers, requests which
// are sent at the same time as the first one find nothing yet.
func (m *Model) remember(req *model.Request) {
	if key, tokens := m.cacheable(req); tokens > 0 {
		m.prefixes.sample(key, 0)
	}
}
