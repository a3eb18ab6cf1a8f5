// Package model defines interfaces for language models and embedding models. The package does not
// implement a provider; see package openai.
//
// A Chat answers a ChatRequest. The answer is a text, an object that matches a JSON Schema, or
// calls of the offered tools. ChatRequest.Canonical encodes equal requests as equal bytes. The
// journal of a run uses this encoding. ChatRequest.Answer checks the answer that a model returned.
// An Embedder converts texts to vectors.
//
// ReadConfig reads models.yaml. In this file, the operator lists the models and the tenants that
// can use each model. A Set contains the configured models.
//
// If a request fails, the error is always an *abi.Fault. The error never contains credentials or
// the address of a provider. If a provider returns an error, the fault contains only a short part
// of the provider's text. Control characters are removed.
package model
