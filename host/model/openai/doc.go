// Package openai is the provider of chat models and embedders that use the protocol of OpenAI: the
// OpenAI API, compatible endpoints of other vendors, and servers such as Ollama, vLLM and TEI.
//
// New checks the Options and returns a Provider, which is a model.Chat. Provider.Embedder returns a
// model.Embedder. Status 429 and 5xx are retried with backoff and jitter within the deadline. The
// size of answers is limited. Redirects to other hosts are not followed, and the proxy settings of
// the environment have no effect.
package openai
