// Package openai implements chat models and embedders with the protocol of OpenAI. The package
// supports the OpenAI API, compatible endpoints of other vendors, and servers such as Ollama, vLLM
// and TEI.
//
// New checks the Options and returns a Provider. The Provider implements model.Chat.
// Provider.Embedder returns a model.Embedder. If a request fails with the status 429 or 5xx, the
// provider retries the request until the deadline. The delays between tries have backoff and
// jitter. The size of answers is limited. The provider does not follow redirects to other hosts.
// Proxy settings in the environment have no effect.
package openai
