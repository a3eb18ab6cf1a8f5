// Package model is the contract of language models and embedding models. The package contains no
// provider; see package openai.
//
// A Chat answers a ChatRequest with a text, with an object that fits a JSON schema, or with calls of
// offered tools. ChatRequest.Canonical encodes equal requests as equal bytes, for the journal of a
// run. ChatRequest.Answer checks what a model returned. An Embedder returns vectors of texts.
//
// ReadConfig reads models.yaml, in which the operator lists the models and the tenants that can use
// them. A Set contains the configured models.
//
// All errors of requests are an *abi.Fault. They contain no credentials and no address of a
// provider. If a provider returns an error, they contain only a short text of it, without control
// characters.
package model
