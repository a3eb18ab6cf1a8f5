// Package openai is the provider of chat models and embedders that use the protocol of OpenAI: the
// OpenAI API, compatible endpoints of other vendors, and servers such as Ollama, vLLM and TEI.
//
// New checks the Options and returns a Provider, which is a model.Chat. Provider.Embedder returns a
// model.Embedder. Requests that fail with the status 429 or 5xx are retried within the deadline,
// with backoff and jitter. The size of answers is limited. Redirects to other hosts are not
// followed, and the proxy settings of the environment have no effect.
package openai
