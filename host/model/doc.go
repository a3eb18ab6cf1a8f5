// Package model defines the interfaces of language models and embedding models. The package
// contains no provider; see package openai.
//
// A Chat answers a ChatRequest with a text, with an object that is valid for a JSON Schema, or with
// calls to the offered tools. ChatRequest.Canonical encodes equal requests as equal bytes, for the
// journal of a run. ChatRequest.Answer checks the answer that a model returned. An Embedder
// converts texts to vectors.
//
// ReadConfig reads models.yaml, in which the operator lists the models and the tenants that can use
// them. A Set contains the configured models.
//
// The error of a request is always an *abi.Fault. The error contains neither credentials nor the
// address of a provider. If a provider returns an error, the fault contains only a short part of
// its text, without control characters.
package model
